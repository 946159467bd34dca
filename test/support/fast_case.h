/* Networks of one node for tests of the fast engine, with types drawn at random. */
#ifndef ASSAY_TEST_FAST_CASE_H
#define ASSAY_TEST_FAST_CASE_H

#include "test/support/support.h"

#include "interp/run/program.h"
#include "schemes/scheme.h"

/* Runs of nodes that the fast engine took or left to the reference; cases that the scheme has not.
 */
typedef struct fast_tally {
    int taken, left, refused;
} fast_tally;

typedef struct fast_net {
    assay_graph *graph;
    int in[3], n_in;
} fast_net;

fast_net fast_begin(void);
void fast_add_input(fast_net *n, const assay_type *t);
void fast_add_constant(fast_net *n, const assay_type *t, test_rng *r);
void fast_add_bias(fast_net *n, int64_t outputs, test_rng *r);
/* The node, with an output of element kind and parameters of y, sometimes with bounds. */
void fast_finish(fast_net *n, assay_op op, const assay_attrs *a, const assay_type *y, test_rng *r);

/* A conversion to an output of exactly this type. */
void fast_finish_given(fast_net *n, assay_op op, const assay_type *y);

void fast_fill_inputs(const assay_graph *g, assay_run *run, test_rng r);

/* Runs under engine `both` on every instruction set, then `fast` alone against `ref` alone. */
void fast_check(const fast_net *n, const assay_scheme *s, test_rng *r, fast_tally *t);

/* ---- under many schemes ---- */
typedef void fast_cases(const assay_scheme *s, test_rng *r, fast_tally *t);
/* Cases under every preset, each of which goes on with the numbers of r; prints and sums tallies.
 */
fast_tally fast_presets(fast_cases *cases, test_rng *r);
/* Cases under a scheme of these lines. */
fast_tally fast_scheme(const char *lines, fast_cases *cases, test_rng *r);

/* ---- types; those of one call live until the next ---- */
int32_t fast_draw(test_rng *r, assay_elem e); /* any code */
assay_qparams fast_params(size_t count, const float *scale, const int32_t *zero);
assay_type fast_activation(test_rng *r, int rank, const int64_t *dim);
assay_type fast_weights(test_rng *r, int rank, const int64_t *dim);
/* An output whose codes spread over the range for sums of `depth` products. */
assay_type fast_output(test_rng *r, int64_t depth);
/* Gives t a scale and any zero point. */
void fast_rescale(assay_type *t, float scale, test_rng *r);

/* ---- shapes ---- */
void fast_put(assay_list *l, int spatial, test_rng *r, int64_t lo, int64_t hi);
/* Dimensions a, b and the extents in their layout's order; the rank. */
int fast_shape(int64_t *dim, bool nhwc, int64_t a, int64_t b, int spatial, const int64_t *extent);

#endif
