/* Random integer networks of a few nodes that try every corner of a kernel: any layout, stride,
 * dilation, group, batch, broadcast, negative axes, extents of 1 and 0, codes of 1 to 16 bits,
 * extreme weights. random_codes.h has networks for rewrites; these are for comparing engines. */
#ifndef ASSAY_TEST_RANDOM_LAYERS_H
#define ASSAY_TEST_RANDOM_LAYERS_H

#include "graph/core/graph.h"
#include "schemes/scheme.h"
#include "test/support/support.h"

/* A verified network of at most so many nodes that the scheme computes, or NULL when it computed
 * nothing that was drawn. */
assay_graph *test_random_layers(test_rng *r, const assay_scheme *s, int nodes);

/* The same with codes of up to 32 bits, the first node being one of op `first`
 * (ASSAY_OP_COUNT: any): NULL when none of those drawn is computed. */
assay_graph *test_random_layers_of(test_rng *r, const assay_scheme *s, assay_op first, int nodes);

/* Attributes of an op on x, most of which make sense. */
void test_random_attrs(test_rng *r, assay_op op, const assay_type *x, assay_attrs *a);

/* How data are drawn: codes anywhere, all the least, all the greatest, alternately both. */
enum test_data { TEST_DATA_ANY, TEST_DATA_MIN, TEST_DATA_MAX, TEST_DATA_BOTH, TEST_DATA_WAYS };
/* Fills a value of type t, floats as well; once in a while another way than told. */
void test_random_data(test_rng *r, enum test_data how, const assay_type *t, void *data);

/* Gives a network's values other scales: products at or beside an integer and half of one, and some
 * beyond every range. */
void test_redraw_scales(test_rng *r, const assay_graph *g);

#endif
