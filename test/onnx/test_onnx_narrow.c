/* float16 and bfloat16 in ONNX models: float32 here, rounded where ONNX's operators round. Codes of
 * constants are written as integers: 0x3c00 = 15360 is 1 in float16, 0x3f80 = 16256 in bfloat16. */
#include "test/support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/core/narrow.h"
#include "graph/onnx/export.h"
#include "graph/onnx/onnx.h"
#include "graph/text/npy.h"
#include "interp/kernel/kernel.h"
#include "interp/run/program.h"
#include "opt/lower/opt.h"
#include "opt/quantize/qdq.h"
#include "schemes/scheme.h"
#include "test/support/onnx_build.h"

static assay_graph *import_bytes(const void *bytes, size_t length)
{
    assay_graph *g = NULL;
    assay_error err = {0};
    assert_ok(onnx_import_memory("test.onnx", bytes, length, NULL, &g, &err), &err);
    return g;
}

static assay_graph *import(const char *text)
{
    size_t length;
    void *bytes = onnx_build(21, text, &length);
    assay_graph *g = import_bytes(bytes, length);
    free(bytes);
    return g;
}

/* The ops in order, with what casts make. */
static const char *ops_of(const assay_graph *g, char *buf, size_t size)
{
    size_t used = 0;
    buf[0] = '\0';
    for (int i = 0; i < g->n_nodes; i++) {
        const assay_node *n = &g->node[i];
        used += (size_t)snprintf(buf + used, size - used, "%s%s", i ? " " : "",
                                 assay_op_get(n->op)->name);
        if (assay_is_narrowing(n))
            used += (size_t)snprintf(buf + used, size - used, ":%s",
                                     n->attr.cast.to == ASSAY_CAST_F16 ? "f16" : "bf16");
    }
    return buf;
}

/* The first output for one float input. */
static void run(const assay_graph *g, const float *in, double *out)
{
    assay_program *p = NULL;
    assay_run *r = NULL;
    assay_scheme *s = NULL;
    assay_error err;

    assert_ok(assay_scheme_open("onnxruntime", &s, &err), &err);
    assert_ok(assay_program_make_as_is(g, s, false, &p, &err), &err);
    assert_ok(assay_run_new(p, &r, &err), &err);
    const assay_value *x = &g->value[g->input[0]], *y = &g->value[g->output[0]];
    memcpy(assay_run_data(r, g->input[0]), in, assay_type_bytes(&x->type));
    assert_ok(run_execute(r, NULL, false, NULL, &err), &err);
    const void *data = assay_run_data(r, g->output[0]);
    for (size_t i = 0; i < (size_t)assay_shape_count(&y->type); i++)
        out[i] = y->type.elem.kind == ASSAY_KIND_F32
                     ? (double)((const float *)data)[i]
                     : (double)assay_elem_get(y->type.elem, data, i);
    assay_run_free(r);
    assay_program_free(p);
    assay_scheme_free(s);
}

/* Every float16 is itself, and what lies between two goes to the nearer, or to the even one. */
static void rounding_to_float16(void **state)
{
    (void)state;
    for (unsigned h = 0; h < 0x7bff; h++) {
        const uint16_t pair[2] = {(uint16_t)h, (uint16_t)(h + 1)};
        const float lo = (float)text_npy_get(pair, ASSAY_NPY_F2, 0);
        const float hi = (float)text_npy_get(pair, ASSAY_NPY_F2, 1), middle = (lo + hi) / 2;
        const float even = h % 2 ? hi : lo;
        assert_true(assay_round_f16(lo) == lo && assay_round_f16(-hi) == -hi);
        assert_true(assay_round_f16(middle) == even && assay_round_f16(-middle) == -even);
        assert_true(assay_round_f16(nextafterf(middle, 0)) == lo);
        assert_true(assay_round_f16(nextafterf(middle, INFINITY)) == hi);
    }
    assert_true(assay_round_f16(65519.99f) == 65504 && isinf(assay_round_f16(65520)));
    assert_true(isnan(assay_round_f16(NAN)) && isinf(assay_round_f16(-INFINITY)));
    assert_true(signbit(assay_round_f16(-0.0f)) && signbit(assay_round_f16(-1e-30f)));
    assert_true(assay_round_bf16(1.00390625f) == 1 && assay_round_bf16(1.01171875f) == 1.015625f);
    assert_true(isinf(assay_round_bf16(3.4e38f)) && isnan(assay_round_bf16(NAN)));
}

typedef struct form {
    const char *text, *ops;
    float in[4];
    double want[4];
} form;

static const form forms[] = {
    {"in x f32 2\nCast x -> y to=10\nout y", "cast:f16", {2049, 1e-8f}, {2048, 0}},
    {"in x f32 2\nCast x -> y to=16\nout y", "cast:bf16", {257, -1.5f}, {256, -1.5}},
    /* each result is rounded: 2048 + 1 is 2048 again, twice */
    {"in x f16 1\nconst c f16 - = 15360\nAdd x,c -> a\nAdd a,c -> y\nout y",
     "add cast:f16 add cast:f16",
     {2048},
     {2048}},
    {"in x f32 1\nconst c f16 - = 15360\nCast x -> h to=10\nAdd h,c -> a\nCast a -> y to=1\nout y",
     "cast:f16 add cast:f16 reshape",
     {2050.5f},
     {2052}}, /* 2050 + 1 is half way to 2052 */
    /* what moves or chooses needs no rounding; nor do truths */
    {"in x f16 2\nNeg x -> a\nRelu a -> b\nConcat b,x -> y axis=0\nout y",
     "neg relu concat",
     {-3, 4},
     {3, 0, -3, 4}},
    {"in x f16 2\nconst c f16 - = 15360\nGreater x,c -> t\nCast t -> y to=1\nout y",
     "greater cast",
     {1, 2},
     {0, 1}},
    /* constants are folded in their own type: 2048 + 1 */
    {"in x f16 1\nconst c f16 - = 26624\nconst d f16 - = 15360\nAdd c,d -> s\nMul x,s -> y\nout y",
     "mul cast:f16",
     {1},
     {2048}},
    {"in x f16 1\nConstant - -> c value={f16 1 15360}\nSub x,c -> y\nout y",
     "sub cast:f16",
     {0.00048828125f},
     {-0.99951171875}},
    {"in x bf16 1\nconst c bf16 - = 16256\nAdd x,c -> y\nout y", "add cast:bf16", {256}, {256}},
    {"in x f32 1\nconst c f16 - = 15360\nCastLike x,c -> y\nout y", "cast:f16", {2049}, {2048}},
    /* codes: f16 scales give f16 floats, unless output_dtype says otherwise */
    {"in x f16 2\nconst s f16 - = 11878\nQuantizeLinear x,s -> q\nDequantizeLinear q,s -> y\nout y",
     "quantize dequantize cast:f16",
     {1, 30},
     {1, 25.5}}, /* 10 and 255 steps of 0.0999755859375 */
    {"in x f16 1\nconst s f16 - = 11878\nQuantizeLinear x,s -> q\n"
     "DequantizeLinear q,s -> y output_dtype=1\nout y",
     "quantize dequantize",
     {1},
     {0.999755859375}},
    {"in x f16 1\nconst s f16 - = 11878\nconst w u8 1 = 10\nDequantizeLinear w,s -> d\n"
     "Add x,d -> y\nout y",
     "dequantize cast:f16 add cast:f16",
     {0},
     {1}},
    {"in x f16 1,2\nconst s f16 - = 15360\nQuantizeLinear x,s -> q\nout q",
     "quantize",
     {2.5f, 300},
     {2, 255}},
};

static void operators_round(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        char ops[200];
        double out[8];
        assay_graph *g = import(forms[i].text);
        assert_string_equal(ops_of(g, ops, sizeof ops), forms[i].ops);
        run(g, forms[i].in, out);
        const assay_value *y = &g->value[g->output[0]];
        for (size_t k = 0; k < (size_t)assay_shape_count(&y->type); k++)
            if (out[k] != forms[i].want[k])
                fail_msg("%s\nelement %zu is %.9g, expected %.9g", forms[i].text, k, out[k],
                         forms[i].want[k]);
        assay_graph_free(g);
    }
}

/* Groups are integer nodes whatever the width of the floats between the conversions (onnxruntime:
 * test_onnx_pairs.c). */
static void groups_look_through(void **state)
{
    assay_graph *g = import(
        "in x f16 1,4\nconst s f16 - = 14336\nconst z u8 - = 3\nconst n u8 - = 0\nconst w i8 4,2\n"
        "const t f16 - = 11264\n"
        "QuantizeLinear x,s,z -> q\nDequantizeLinear q,s,z -> a\nDequantizeLinear w,t -> wd\n"
        "MatMul a,wd -> c\nRelu c -> d\nQuantizeLinear d,s,n -> y\nSigmoid a -> e\n"
        "QuantizeLinear e,s,z -> u\nout y\nout u");
    assay_scheme *s = NULL;
    assay_quantize_report report;
    assay_error err;
    char ops[200];
    (void)state;

    assert_ok(assay_scheme_open("fbgemm", &s, &err), &err);
    assert_ok(quantize_group_qdq(g, s, run_has_integer_kernel, &report, &err), &err);
    assert_string_equal(ops_of(g, ops, sizeof ops), "quantize fc sigmoid");
    assert_int_equal(report.n_float, 0);
    assert_int_equal(report.n_fused, 1);
    quantize_report_free(&report);
    assay_scheme_free(s);
    assay_graph_free(g);
}

/* What is profiled and quantized is in float32, under the same names. */
static void narrowing_is_dropped(void **state)
{
    assay_graph *g = import("in x f16 1\nconst c f16 - = 15360\nAdd x,c -> a\nMul a,a -> y\n"
                            "Cast x -> b to=16\nout y\nout b");
    assay_error err;
    char ops[200];
    (void)state;

    assert_ok(lower_drop_narrowing(g, &err), &err);
    assert_string_equal(ops_of(g, ops, sizeof ops), "add mul cast");
    assert_true(assay_graph_find_value(g, "a") >= 0 && assay_graph_find_value(g, "b") >= 0);
    assert_ok(assay_graph_verify(g, &err), &err);
    assay_graph_free(g);
}

/* Out and in again: the same nodes. */
static void casts_are_exported(void **state)
{
    assay_graph *g =
        import("in x f32 1\nCast x -> a to=10\nAdd a,a -> b\nCast b -> y to=16\nout y");
    assay_graph *back;
    unsigned char *bytes;
    size_t length;
    assay_error err;
    char ops[200];
    (void)state;

    assert_ok(onnx_export_graph(g, &bytes, &length, &err), &err);
    back = import_bytes(bytes, length);
    assert_string_equal(ops_of(back, ops, sizeof ops), "cast:f16 add cast:f16 cast:bf16 reshape");
    free(bytes);
    assay_graph_free(back);
    assay_graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rounding_to_float16), cmocka_unit_test(operators_round),
        cmocka_unit_test(groups_look_through), cmocka_unit_test(narrowing_is_dropped),
        cmocka_unit_test(casts_are_exported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
