/* Queries of proofs about the sums and rescales of a unit: answered from the unit of a built-in
 * scheme, or by the plugin. Internal to opt/. */
#ifndef ASSAY_OPT_FORMS_H
#define ASSAY_OPT_FORMS_H

#include "opt/prove/prove.h"
#include "schemes/rescale/thresholds.h"

/* The values that a product's accumulator takes. */
typedef struct assay_sums {
    assay_interval reach; /* at the end: the exact sums, or all that the accumulator holds */
    bool exact;           /* no sum leaves the accumulator on the way */
    int64_t greatest;     /* magnitude of the bias and all products together */
    int64_t pair;         /* of two products of raw codes */
} assay_sums;

/* Bits of a built-in accumulator decide whether sums are exact, and what else it holds; of a plugin
 * only sums that it says are exact are known (else ASSAY_ERR_UNSUPPORTED). Fills reach and exact;
 * reach comes as the exact sums. */
assay_status prove_sums_apply_overflow(const assay_scheme *s, const assay_unit *u, assay_sums *sums,
                                       assay_error *err);
/* Whether both units make the same accumulators of these sums, to which a's overflow was applied:
 * by the same rules, or exactly. */
bool prove_sums_alike(const assay_scheme *s, const assay_unit *a, const assay_unit *b,
                      const assay_sums *sums);

/* How many forms unit u has whose weights are of this type. */
size_t prove_form_count(const assay_scheme *s, const assay_unit *u, const assay_type *weights);
/* The threshold form of a unit's rescale to codes. ASSAY_ERR_UNSUPPORTED: a plugin that does not
 * declare itself monotone, over more than can be enumerated. */
assay_status prove_form_make(const assay_scheme *s, const assay_unit *u, size_t channel,
                             assay_interval r, assay_threshold_form *out, assay_error *err);

#endif
