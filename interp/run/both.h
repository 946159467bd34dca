/* Engine `both`: a node by the fast engine and by the reference, compared. */
#ifndef ASSAY_INTERP_BOTH_H
#define ASSAY_INTERP_BOTH_H

#include "interp/fast/fast.h"

/* Room for what the fast engine computed; grows to the greatest node. */
typedef struct assay_both {
    char *codes;
    int64_t *accumulators;
    size_t bytes, sums;
} assay_both;

void run_both_free(assay_both *b);

/* Leaves the reference's results. ASSAY_ERR_INTERNAL names the first element that differs: node,
 * tensor, coordinates, both values. */
assay_status run_both_engines(assay_both *b, const assay_fast *fast, const assay_kernel *ref,
                              assay_call *call, assay_error *err);

#endif
