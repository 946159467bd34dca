/* One op on given tensors, through the graph builder, shape inference and the float engine. */
#ifndef ASSAY_TEST_OP_CASE_H
#define ASSAY_TEST_OP_CASE_H

#include "graph/core/graph.h"
#include "test/support/support.h"

typedef struct op_tensor {
    assay_type type;
    void *data; /* owned; NULL for an absent input */
} op_tensor;

typedef struct op_case {
    assay_op op;
    assay_attrs attr;
    int n_in, n_out;
    op_tensor in[5], out[4];
    bool fused; /* act_lo and act_hi hold */
    float act_lo, act_hi;
} op_case;

op_tensor op_zeros(assay_elem elem, int rank, const int64_t *dim);
/* Floats in [-2, 2) at steps of 2^-10; any bits of integers; 0 or 1 for bool. */
op_tensor op_noise(test_rng *rng, assay_elem elem, int rank, const int64_t *dim);
op_tensor op_floats(int rank, const int64_t *dim, const float *values);

/* A case of the op with its default attributes; inputs are to be set. */
op_case op_begin(assay_op op, int n_in, int n_out);
/* Runs it, filling out[]; the caller then calls op_end, which frees every tensor of the case. */
assay_status op_try(op_case *c, assay_error *err);
void op_run(op_case *c); /* the same, and fails the test on an error */
void op_end(op_case *c);

/* Multi-index of element i of a shape, and back. */
void op_unravel(const assay_type *t, int64_t i, int64_t index[ASSAY_MAX_RANK]);
int64_t op_ravel(const assay_type *t, const int64_t *index);

/* Of a convolution in nchw: the input under tap t of output position p in a plane (n * channels +
 * c), or 0 outside. */
float op_under_tap(const op_case *c, int64_t plane, const int64_t *p, int64_t t);

const float *op_f32(const op_tensor *t); /* the elements of an f32 tensor */
int64_t op_count(const op_tensor *t);    /* how many there are */
float *op_wanted(const op_tensor *t);    /* zeros for a twin to fill in; the caller frees them */

/* |got - want| <= 1e-7 + 1e-4 * |want| on every element, or the test fails naming the first. */
void op_assert_close(const op_tensor *got, const float *want, const char *what);

/* Integers of 4 to 64 bits, f32 or bool; and noise of such a type in a random shape. */
assay_elem op_any_elem(test_rng *rng);
op_tensor op_any_tensor(test_rng *rng, int min_rank, int max_rank, int64_t max_extent);

/* Element i of `out` must be element j of `in`, byte for byte. */
void op_assert_moved(const op_tensor *out, int64_t i, const op_tensor *in, int64_t j);
void op_assert_shape(const op_tensor *t, int rank, const int64_t *dim);

#endif
