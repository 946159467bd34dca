/* Between the files that prove LINEAR: linear.c says what the rescale does to the sums,
 * linear_forms.c what that does to codes. */
#ifndef ASSAY_OPT_PROVE_LINEAR_H
#define ASSAY_OPT_PROVE_LINEAR_H

#include "opt/prove/fragment.h"
#include "opt/prove/prove.h"

/* A rescale, and the product that it goes into. */
typedef struct prove_linear_case {
    const assay_graph *g;
    const assay_node *node;
    const assay_scheme *scheme;
    const assay_type *weights;
    int64_t factor;
    double ratio;              /* sums before the bias are the present sums times 1 / ratio */
    double error_lo, error_hi; /* of one rescaled code, in codes of the rescale's output */
} prove_linear_case;

/* a / k, rounded up. */
int64_t prove_linear_ceil_div(int64_t a, int64_t k);
/* By the factor: the verdict is exact where all forms are equal, and bounded by the greatest
 * difference where they are not. */
assay_status prove_linear_compare_exactly(const prove_linear_case *l, const assay_unit *before,
                                          const assay_unit *after, assay_proof *proof,
                                          assay_error *err);
/* By the errors of the rescale, carried through the weights; was: sums before the rewrite. */
assay_status prove_linear_bound(const prove_linear_case *l, const assay_unit *before,
                                const assay_unit *after, assay_interval was, assay_proof *proof,
                                assay_error *err);

#endif
