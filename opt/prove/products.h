/* Products: conv, fc and matmul as a proof sees them. Internal to opt/. */
#ifndef ASSAY_OPT_PRODUCTS_H
#define ASSAY_OPT_PRODUCTS_H

#include "opt/prove/forms.h"
#include "schemes/prepare/prepare.h"

/* ---- product_cut.c ---- */
/* ASSAY_ERR_UNSUPPORTED: a form without a known proof. */
assay_status prove_product_has_proof(const assay_graph *g, const assay_node *node,
                                     assay_error *err);
/* The fragment of m around product `node`, shrunk, and the unit of that node (release it with the
 * scheme's vtable). Errors as above. */
assay_status prove_product_cut(const assay_graph *g, const assay_match *m, const assay_node *node,
                               const assay_scheme *s, assay_graph **fragment, assay_unit **unit,
                               assay_error *err);
/* The unit of the one product of a fragment. */
assay_status prove_product_prepare(const assay_graph *fragment, const assay_scheme *s,
                                   assay_unit **unit, assay_error *err);

/* Whether two units of products with such weights make the same codes of all accumulators in
 * proof->reach, by threshold forms of each channel; the verdict is filled. */
assay_status prove_compare_forms(const assay_scheme *s, const assay_type *weights,
                                 const assay_unit *before, const assay_unit *after,
                                 assay_proof *proof, assay_error *err);

/* ---- products.c ---- */
/* Channels that differ in what is summed. */
int64_t prove_product_channels(const assay_graph *g, const assay_node *n);
/* The bias of a channel; false when it is not constant. No bias is a bias of 0. */
bool prove_product_bias(const assay_graph *g, const assay_node *n, int64_t channel, int64_t *bias);

/* Least and greatest of the sum over the weights of a channel of (weight * e), e in lo..hi for each
 * product on its own, or 0 (padding). The same for magnitudes. */
typedef struct assay_extremes {
    int64_t lo, hi, magnitude;
} assay_extremes;
assay_extremes prove_product_extremes(const assay_graph *g, const assay_node *n, int64_t lo,
                                      int64_t hi, int64_t channel);

/* What the accumulators of n, whose unit is u, go through. behind: numbers that a later node adds
 * to the sums of a matrix product, or ASSAY_NO_VALUE. */
assay_status prove_product_reach(const assay_graph *g, const assay_node *n, int behind,
                                 const assay_scheme *s, const assay_unit *u, assay_sums *sums,
                                 assay_error *err);

#endif
