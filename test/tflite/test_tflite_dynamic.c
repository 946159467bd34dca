/* TFLite models whose shapes depend on data: imported for one input, or refused. */
#include "test/support/support.h"

#include <stdlib.h>
#include <string.h>

#include "graph/tflite/tflite.h"
#include "interp/run/evaluate.h"
#include "test/support/sampled.h"
#include "test/support/tflite_build.h"

enum {
    RESHAPE = 22,
    SLICE = 65,
    SHAPE = 77,
    PACK = 83,
    FILL = 94,
    GATHER_ND = 107,
    WHERE = 109,
    ADD = 0
};

typedef struct fixture {
    unsigned char *file;
    assay_graph *g;
    test_sampled sampled;
} fixture;

static assay_status import(fixture *f, const tb_model *t, const void *x, assay_error *err)
{
    const assay_tflite_options o = {.sample = test_sampled_of(&f->sampled)};
    size_t size;
    *f = (fixture){.file = tb_finish(t, &size), .sampled = {.x = x}};
    return tfl_import_entry("model", NULL, f->file, size, x ? &o : NULL, &f->g, err);
}

static void done(fixture *f)
{
    assay_graph_free(f->g);
    free(f->file);
}

/* The model's only output on x; *rows is its first extent. */
static void check(const tb_model *t, const void *x, const void *want, size_t bytes, int asked)
{
    fixture f;
    assay_error err;
    unsigned char out[256];
    void *to = out;
    assert_ok(import(&f, t, x, &err), &err);
    assert_int_equal(f.sampled.asked, asked);
    assert_int_equal(f.sampled.used, asked > 0);
    assert_int_equal(assay_type_bytes(&f.g->value[f.g->output[0]].type), bytes);
    assert_ok(run_whole_graph(f.g, NULL, &x, &to, &err), &err);
    assert_memory_equal(out, want, bytes);
    done(&f);
}

static const float x[6] = {1, -2, 0, 4, 0, 6};

/* x, and the rows of what is set in it. */
static tb_model rows_of_x(void)
{
    tb_model t = {.n_inputs = 1, .input = {0}, .n_outputs = 1, .output = {1}};
    tb_add(&t, "x", TFL_FLOAT32, 2, 3, -1);
    tb_add(&t, "rows", TFL_INT64, 1, 2, -1); /* as converters write what they do not know */
    tb_outputs(tb_operator(&t, WHERE, 0, -2), 1, -2);
    return t;
}

static void test_where(void **state)
{
    static const int64_t want[8] = {0, 0, 0, 1, 1, 0, 1, 2};
    static const float zeros[6] = {0};
    tb_model t = rows_of_x();
    fixture f;
    assay_error err;
    void *out = &(int64_t[12]){0};
    const void *other = zeros;
    (void)state;
    check(&t, x, want, sizeof want, 1);
    check(&t, zeros, want, 0, 1);
    assert_int_equal(import(&f, &t, NULL, &err), ASSAY_ERR_UNSUPPORTED);
    assert_non_null(
        strstr(err.text, "WHERE: a shape depends on the contents of input 0 (operator 0)"));
    free(f.file);
    /* made for one input, it says so on another */
    assert_ok(import(&f, &t, x, &err), &err);
    assert_int_equal(run_whole_graph(f.g, NULL, &other, &out, &err), ASSAY_ERR_INPUT);
    assert_non_null(strstr(err.text, "0 elements are set"));
    done(&f);
}

static void test_where_of_a_constant(void **state)
{
    static const unsigned char mask[6] = {0, 24, 0, 0, 1, 255}; /* what is not 0 is true */
    static const float want[3] = {-2, 0, 6};
    tb_model t = {.n_inputs = 1, .input = {0}, .n_outputs = 1, .output = {3}};
    (void)state;
    tb_add(&t, "x", TFL_FLOAT32, 2, 3, -1);
    tb_add(&t, "mask", TFL_BOOL, 2, 3, -1);
    tb_data(&t, mask, sizeof mask);
    tb_add(&t, "rows", TFL_INT64, 1, 2, -1);
    tb_add(&t, "y", TFL_FLOAT32, 1, -1);
    tb_outputs(tb_operator(&t, WHERE, 1, -2), 2, -2);
    tb_outputs(tb_operator(&t, GATHER_ND, 0, 2, -2), 3, -2);
    check(&t, x, want, sizeof want, 0);
}

/* What is set, doubled, as a column; and as many ones as there are. */
static void test_shapes_follow(void **state)
{
    static const int32_t column[2] = {-1, 1};
    static const float one = 1, want[4] = {2, -4, 8, 12}, ones[4] = {1, 1, 1, 1};
    tb_model t = rows_of_x();
    tb_op *op;
    (void)state;
    tb_add(&t, "set", TFL_FLOAT32, 1, -1);
    tb_add(&t, "column", TFL_INT32, 2, -1);
    tb_data(&t, column, sizeof column);
    tb_add(&t, "tall", TFL_FLOAT32, 1, 1, -1);
    tb_add(&t, "y", TFL_FLOAT32, 1, 1, -1);
    tb_add(&t, "size", TFL_INT32, 1, -1);
    tb_add(&t, "one", TFL_FLOAT32, -1);
    tb_data(&t, &one, sizeof one);
    tb_add(&t, "ones", TFL_FLOAT32, 1, -1);
    tb_outputs(tb_operator(&t, GATHER_ND, 0, 1, -2), 2, -2);
    tb_outputs(tb_operator(&t, RESHAPE, 2, 3, -2), 4, -2);
    op = tb_operator(&t, ADD, 4, 4, -2);
    tb_outputs(op, 5, -2);
    tb_outputs(tb_operator(&t, SHAPE, 2, -2), 6, -2);
    tb_outputs(tb_operator(&t, FILL, 6, 7, -2), 8, -2);
    t.output[0] = 5;
    check(&t, x, want, sizeof want, 1);
    t.output[0] = 8;
    check(&t, x, ones, sizeof ones, 1);
}

/* SLICE from where an input says: a shape that is read from a tensor. */
static void test_computed_operand(void **state)
{
    static const int32_t all = -1, at = 2;
    static const float table[4] = {5, 6, 7, 8};
    tb_model t = {.n_inputs = 1, .input = {0}, .n_outputs = 1, .output = {3}};
    (void)state;
    tb_add(&t, "begin", TFL_INT32, 1, -1);
    tb_add(&t, "table", TFL_FLOAT32, 4, -1);
    tb_data(&t, table, sizeof table);
    tb_add(&t, "size", TFL_INT32, 1, -1);
    tb_data(&t, &all, sizeof all);
    tb_add(&t, "y", TFL_FLOAT32, 1, -1);
    tb_outputs(tb_operator(&t, SLICE, 1, 0, 2, -2), 3, -2);
    check(&t, &at, table + 2, 8, 2); /* for the shape, and for the node */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_where),
        cmocka_unit_test(test_where_of_a_constant),
        cmocka_unit_test(test_shapes_follow),
        cmocka_unit_test(test_computed_operand),
    };
    return cmocka_run_group_tests_name("tflite_dynamic", tests, NULL, NULL);
}
