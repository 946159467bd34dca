/* A group's elements, the most telling first: whether a record gives all of them, decided early
 * where it does not. */
#ifndef ASSAY_INTERP_PROBE_WITNESS_H
#define ASSAY_INTERP_PROBE_WITNESS_H

#include "interp/probe/find.h"

typedef struct probe_part {
    int node, sample;
    bool gathers;          /* elements can be computed on their own: op of single elements */
    int64_t *at, n, count; /* those that are compared first; of so many */
} probe_part;

typedef struct probe_witness {
    const blame_device *d;
    const probe_group *g;
    probe_part *part;
    int n;
    int64_t tests;
} probe_witness;

assay_status probe_witness_open(const blame_device *d, const probe_group *g, probe_witness *w,
                                assay_error *err);
void probe_witness_close(probe_witness *w);

/* *given: the record gives every element (PROBE_TELLING: of those that are looked at first);
 * *refused: it cannot have the group's nodes. */
enum probe_depth { PROBE_TELLING, PROBE_EVERY };
assay_status probe_witness_all(probe_witness *w, const assay_record *r, enum probe_depth depth,
                               bool *given, bool *refused, assay_error *err);
/* How many of the telling elements it gives; below `least` it stops. */
assay_status probe_witness_count(probe_witness *w, const assay_record *r, int64_t least,
                                 int64_t *given, assay_error *err);
#endif
