/* Common parts of the files of test_random_layers: a network that is being drawn. */
#ifndef ASSAY_TEST_RANDOM_DRAWING_H
#define ASSAY_TEST_RANDOM_DRAWING_H

#include "test/support/random_layers.h"

enum { TEST_MAX_IN = 8, TEST_MAX_OUT = 4 };
enum { TEST_MAX_SCALES = 4096, TEST_MAX_ELEMENTS = 200000 };

typedef struct test_drawing {
    test_rng *r;
    const assay_scheme *scheme;
    assay_graph *g; /* what the attempt is made on */
    enum test_data weights;
    int n_names;
    int depth;             /* of bodies within bodies */
    bool wide;             /* codes of up to 32 bits */
    const assay_op *first; /* the first node's; NULL: any */
} test_drawing;

/* Parameters that a type points to, until the graph has its copy. */
typedef struct test_params {
    float scale[TEST_MAX_SCALES];
    int32_t zero[TEST_MAX_SCALES];
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
/* A new value, a constant, or one of both, a variable; -1: its type is none that a graph may have.
 */
int test_add_input(test_drawing *d, const assay_type *t);
int test_add_constant(test_drawing *d, const assay_type *t);
int test_add_either(test_drawing *d, const assay_type *t);
int test_add_variable(test_drawing *d, const assay_type *t);
enum test_operands { TEST_CODES, TEST_FLOATS, TEST_BOOLS };
/* Values of a rank from lo to hi: some that are there, or a new input. */
int test_draw_operand(test_drawing *d, enum test_operands kind, int lo, int hi);
/* An input of two axes whose products with the greatest weights come to 2^31, or nearly. */
int test_draw_deep_operand(test_drawing *d);

/* ---- operands of an op on value x into in[]: their number; one of them is -1 when there are none.
 * Attributes that go with operands are set. ---- */
int test_draw_operands(test_drawing *d, assay_op op, int x, assay_attrs *a, int in[TEST_MAX_IN]);
/* Of conv, conv_transpose, fc and matmul (random_weights.c). */
int test_draw_weighted(test_drawing *d, assay_op op, int x, assay_attrs *a, int in[TEST_MAX_IN]);

/* ---- random_layers.c ---- */
/* What test_random_layers does, for a body. */
assay_graph *test_draw_body(test_drawing *d, int nodes);

/* ---- random_flow.c: false when what was drawn makes no sense ---- */
bool test_add_flow(test_drawing *d, assay_op op);
/* The variable of read or assign on x, in[0]. */
int test_draw_state(test_drawing *d, assay_op op, int x, int in[TEST_MAX_IN]);

#endif
