/* TFLite operators on shapes and on tensors of several parameters: what is computed when the model
 * is read, and what when it runs. */
#include "test/support/support.h"

#include <stdlib.h>
#include <string.h>

#include "graph/tflite/tflite.h"
#include "interp/run/program.h"
#include "schemes/scheme.h"
#include "test/support/tflite_build.h"

enum { CONCATENATION = 2, MUL = 18, BROADCAST_ARGS = 145 };

typedef struct machine {
    unsigned char *file;
    assay_graph *g;
    assay_scheme *s;
    assay_program *p;
    assay_run *r;
} machine;

static assay_status import(const tb_model *t, machine *m, assay_error *err)
{
    size_t size;
    m->file = tb_finish(t, &size);
    return tfl_import_memory("model", m->file, size, &m->g, err);
}

static machine start(const tb_model *t)
{
    machine m;
    assay_error err;
    assert_ok(import(t, &m, &err), &err);
    assert_ok(assay_scheme_open("tflite", &m.s, &err), &err);
    assert_ok(assay_program_make_as_is(m.g, m.s, false, &m.p, &err), &err);
    assert_ok(assay_run_new(m.p, &m.r, &err), &err);
    return m;
}

static void stop(machine *m)
{
    assay_run_free(m->r);
    assay_program_free(m->p);
    assay_scheme_free(m->s);
    assay_graph_free(m->g);
    free(m->file);
}

/* inputs: arrays in order; the first output must be `want`. */
static void check(const tb_model *t, const void *const *in, const void *want, size_t bytes)
{
    machine m = start(t);
    assay_error err;
    for (int i = 0; i < m.g->n_inputs; i++)
        memcpy(assay_run_data(m.r, m.g->input[i]), in[i],
               assay_type_bytes(&m.g->value[m.g->input[i]].type));
    assert_ok(run_execute(m.r, NULL, false, NULL, &err), &err);
    assert_int_equal(bytes, assay_type_bytes(&m.g->value[m.g->output[0]].type));
    assert_memory_equal(assay_run_data(m.r, m.g->output[0]), want, bytes);
    stop(&m);
}

static void test_broadcast_args(void **state)
{
    static const int32_t a[3] = {4, 1, 5}, b[2] = {7, 1}, want[3] = {4, 7, 5};
    const void *const both[2] = {a, b}, *const second[1] = {b};
    tb_model t = {.n_inputs = 2, .input = {0, 1}, .n_outputs = 1, .output = {2}};
    (void)state;
    tb_add(&t, "a", TFL_INT32, 3, -1);
    tb_add(&t, "b", TFL_INT32, 2, -1);
    tb_add(&t, "y", TFL_INT32, 3, -1);
    tb_outputs(tb_operator(&t, BROADCAST_ARGS, 0, 1, -2), 2, -2);
    check(&t, both, want, sizeof want);
    t.input[0] = 1; /* one of them a constant */
    t.n_inputs = 1;
    t.tensor[0].has_data = true;
    t.tensor[0].data = a;
    t.tensor[0].bytes = sizeof a;
    check(&t, second, want, sizeof want);
}

static tb_model joining(int type, float s_in, int64_t z_in, float s_out, int64_t z_out)
{
    tb_model t = {.n_inputs = 2, .input = {0, 1}, .n_outputs = 1, .output = {2}};
    tb_op *op;
    tb_add(&t, "a", type, 3, -1);
    tb_quant(&t, s_in, z_in);
    tb_add(&t, "b", type, 1, -1);
    tb_quant(&t, s_out, z_out);
    tb_add(&t, "y", type, 4, -1);
    tb_quant(&t, s_out, z_out);
    op = tb_operator(&t, CONCATENATION, 0, 1, -2);
    tb_outputs(op, 2, -2);
    tb_option_i32(op, 0, 0);
    return t;
}

/* uint8: round((q - 10) * 2) + 3 in float; int8 likewise in integers; int16 keeps its codes. */
static void test_concat(void **state)
{
    static const uint8_t a[3] = {10, 20, 255}, b[1] = {9}, y[4] = {3, 23, 255, 9};
    static const int8_t c[3] = {10, 20, -128}, d[1] = {9}, z[4] = {3, 23, -128, 9};
    static const int16_t e[3] = {10, 20, -30000}, f[1] = {9}, w[4] = {10, 20, -30000, 9};
    const void *const u8[2] = {a, b}, *const i8[2] = {c, d}, *const i16[2] = {e, f};
    tb_model t = joining(TFL_UINT8, 0.5F, 10, 0.25F, 3);
    (void)state;
    check(&t, u8, y, sizeof y);
    t = joining(TFL_INT8, 0.5F, 10, 0.25F, 3);
    check(&t, i8, z, sizeof z);
    t = joining(TFL_INT16, 0.5F, 0, 0.25F, 0);
    check(&t, i16, w, sizeof w);
}

/* A fused RELU6 on plain integers: MUL has it. */
static void test_integer_activation(void **state)
{
    static const int32_t a[4] = {-3, 0, 2, 5}, want[4] = {6, 0, 4, 6};
    const void *const in[1] = {a};
    tb_model t = {.n_inputs = 1, .input = {0}, .n_outputs = 1, .output = {1}};
    tb_op *op;
    (void)state;
    tb_add(&t, "a", TFL_INT32, 4, -1);
    tb_add(&t, "y", TFL_INT32, 4, -1);
    op = tb_operator(&t, MUL, 0, 0, -2);
    tb_outputs(op, 1, -2);
    tb_option_i8(op, 0, ACTIVATION_RELU6);
    check(&t, in, want, sizeof want);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_broadcast_args),
        cmocka_unit_test(test_concat),
        cmocka_unit_test(test_integer_activation),
    };
    return cmocka_run_group_tests_name("tflite_shapes", tests, NULL, NULL);
}
