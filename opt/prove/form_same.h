/* Between the files that prove FORM and LAYOUT: form_same.c compares fragments, form.c what becomes
 * of their sums. */
#ifndef ASSAY_OPT_PROVE_FORM_SAME_H
#define ASSAY_OPT_PROVE_FORM_SAME_H

#include "opt/prove/prove.h"

/* A fragment that ends in rescale(relabel(sums)), sums a matrix product's or those plus a bias: all
 * plain numbers of 32 bits. */
typedef struct prove_summed {
    const assay_node *matmul;
    int bias; /* plain numbers, or ASSAY_NO_VALUE */
} prove_summed;

/* The node that makes a value of the fragment, or NULL; its weighted node. */
const assay_node *prove_made_by(const assay_graph *f, int value);
const assay_node *prove_product_of(const assay_graph *f);
/* Sums that are plain numbers in memory; a fragment that ends in the rescale of such. */
bool prove_is_plain_i32(const assay_value *v);
bool prove_read_summed(const assay_graph *f, prove_summed *out);
/* The same products in the same order, a being the product of f; whether the two are of forms that
 * are known. */
bool prove_same_form(const assay_graph *f, const assay_node *a, const assay_graph *h);
/* The same op but for the order of axes. */
bool prove_same_op_in_layout(const assay_graph *f, const assay_node *a, const assay_graph *h);

#endif
