/* The next probe: nodes on which the records that agree with every answer so far differ. */
#ifndef ASSAY_INTERP_PROBE_NEXT_H
#define ASSAY_INTERP_PROBE_NEXT_H

#include "interp/probe/find.h"
#include "interp/probe/makers.h"

/* A node on which they differ, cut to where they do. */
typedef struct probe_question {
    blame_case node;
    const void *in[BLAME_IN];
} probe_question;

typedef struct probe_questions {
    probe_question *item;
    int n;
    int records, classes;    /* how many are left, and how many kinds of answers these nodes have */
    int64_t elements, tried; /* of the nodes; networks that were tried */
    int64_t compared;        /* elements of nodes that every record has computed */
    char refused[192];       /* why one did not compute it; "": all did */
    probe_net *net;          /* of which the nodes are */
    int n_nets;
    assay_arena *arena;
} probe_questions;

/* Records of an op that are to be distinguished. */
typedef struct probe_left {
    enum assay_op op;
    const assay_record *record;
    int n;
    bool powers, extreme; /* the networks that are tried (net.h) */
} probe_left;

/* The fewest nodes, of networks with other numbers and scales, that distinguish the rest of an op
 * as far as possible. None (n == 0): nothing that was tried does. Free with probe_questions_free,
 * also on failure. */
assay_status probe_find_questions(const assay_scheme *scheme, const probe_left *left,
                                  const probe_network *network, const probe_types *types,
                                  uint64_t seed, probe_questions *out, assay_error *err);
void probe_questions_free(probe_questions *q);
/* Adds a question's node to a network, its names prefixed by `prefix`; values that exist already
 * are the same. */
void probe_copy_node(probe_net *to, const blame_case *c, const char *prefix);

#endif
