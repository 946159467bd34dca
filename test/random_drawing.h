/* What the files of test_random_layers share: a network that is being drawn. */
#ifndef ASSAY_TEST_RANDOM_DRAWING_H
#define ASSAY_TEST_RANDOM_DRAWING_H

#include "test/random_layers.h"

enum { TEST_MOST_SCALES = 256, TEST_MOST_ELEMENTS = 200000 };

typedef struct test_drawing {
    test_rng *r;
    const assay_scheme *scheme;
    assay_graph *g; /* what the attempt is made on */
    enum test_data weights;
    int n_names;
} test_drawing;

/* Parameters that a type points to, until the graph has its copy. */
typedef struct test_params {
    float scale[TEST_MOST_SCALES];
    int32_t zero[TEST_MOST_SCALES];
} test_params;

/* Uniform in 0..n. */
int64_t test_upto(test_drawing *d, int64_t n);

/* ---- random_values.c ---- */
float test_draw_scale(test_drawing *d);
assay_elem test_draw_elem(test_drawing *d);
int32_t test_draw_zero(test_drawing *d, assay_elem e);
/* Kind and parameters, which stand in p. */
void test_draw_type(test_drawing *d, assay_type *t, test_params *p);
int64_t test_draw_extent(test_drawing *d);
void test_draw_shape(test_drawing *d, int rank, assay_type *t);
bool test_is_code(const assay_type *t);
/* A new value, a constant, or one of both; -1: its type is none that a graph may have. */
int test_add_input(test_drawing *d, const assay_type *t);
int test_add_constant(test_drawing *d, const assay_type *t);
int test_add_either(test_drawing *d, const assay_type *t);
/* Codes of a rank from lo to hi: some that are there, or a new input. */
int test_draw_operand(test_drawing *d, int lo, int hi);

/* ---- operands of an op on value x into in[]: their number; one of them is -1 when there are none.
 * Attributes that go with weights are set. ---- */
int test_draw_operands(test_drawing *d, assay_op op, int x, assay_attrs *a, int in[4]);
/* Of conv, conv_transpose, fc and matmul (random_weights.c). */
int test_draw_weighted(test_drawing *d, assay_op op, int x, assay_attrs *a, int in[4]);

#endif
