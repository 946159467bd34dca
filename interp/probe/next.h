/* The next probe: nodes on which records that agree with every answer so far part. */
#ifndef ASSAY_INTERP_PROBE_NEXT_H
#define ASSAY_INTERP_PROBE_NEXT_H

#include "interp/probe/find.h"
#include "interp/probe/makers.h"

/* A node on which they part, cut to where they do. */
typedef struct probe_question {
    blame_case node;
    const void *in[BLAME_IN];
} probe_question;

typedef struct probe_questions {
    probe_question *item;
    int n;
    int records, classes;    /* so many are left, and so many kinds of answers these nodes have */
    int64_t elements, tried; /* of the nodes; networks that were looked at */
    probe_net *net;          /* of which the nodes are */
    int n_nets;
    assay_arena *arena;
} probe_questions;

/* The fewest nodes, of networks with other numbers and scales, that part what is left of a group as
 * far as any does. None (n == 0): nothing that was tried does. Free with probe_questions_free, also
 * on failure. */
assay_status probe_find_questions(const blame_device *d, const probe_op_finding *f,
                                  const probe_network *network, const probe_types *types,
                                  uint64_t seed, probe_questions *out, assay_error *err);
void probe_questions_free(probe_questions *q);

#endif
