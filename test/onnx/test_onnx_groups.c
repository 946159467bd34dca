/* Groups of a QDQ network: conversions around an operator become one integer node, where the target
 * has it. */
#include "test/support/support.h"

#include <stdio.h>
#include <string.h>

#include "interp/run/program.h"
#include "opt/quantize/qdq.h"
#include "test/support/onnx_form.h"
#include "test/support/onnx_sample.h"

#define S ONNX_SCALE
#define Z ONNX_ZERO

/* ---- grouping ---- */

typedef struct form {
    const char *text, *ops;
    const char *reason; /* part of the report's first reason, or NULL: nothing stays in float */
} form;

#define QDQ(from, to, s)                                                                           \
    "QuantizeLinear " from "," s ",z -> " to "q\nDequantizeLinear " to "q," s ",z -> " to "\n"
#define BEGIN S("s", "0.5") S("t", "0.25") Z("z", "u8", "0") Z("v", "i8", "0")

static void groups(void **state)
{
    static const form forms[] = {
        {"in x f32 1,1,4,4\nconst w i8 1,1,3,3\nconst b i32 1 = 3\n" S("p", "0.125")
             BEGIN QDQ("x", "a", "s") "DequantizeLinear w,t,v -> wd\nDequantizeLinear b,p -> bd\n"
                                      "Conv a,wd,bd -> c\nRelu c -> d\nClip d -> e max=6.0\n" QDQ(
                                          "e", "y", "s") "out y",
         "quantize conv dequantize", NULL},
        /* a bias in float is given codes */
        {"in x f32 1,1,4,4\nconst w i8 1,1,3,3\nconst b f32 1 = 3\n" BEGIN QDQ(
             "x", "a", "s") "DequantizeLinear w,t,v -> wd\nConv a,wd,b -> c\n" QDQ("c", "y",
                                                                                   "s") "out y",
         "quantize conv dequantize", NULL},
        /* a bias at another scale is not one of codes */
        {"in x f32 1,1,4,4\nconst w i8 1,1,3,3\nconst b i32 1 = 3\n" BEGIN QDQ(
             "x", "a", "s") "DequantizeLinear w,t,v -> wd\nDequantizeLinear b,s -> bd\nConv "
                            "a,wd,bd -> c\n" QDQ("c", "y", "s") "out y",
         "quantize dequantize dequantize dequantize conv(float) quantize dequantize",
         "its bias 'bd' is not at the scale"},
        /* seen in float elsewhere */
        {"in x f32 4\n" BEGIN QDQ("x", "a", "s") "Sigmoid a -> c\n" QDQ("c", "y",
                                                                        "t") "out y\nout c",
         "quantize dequantize sigmoid(float) quantize dequantize", "also read in float"},
        {"in x f32 4\nin u f32 4\n" BEGIN QDQ("x", "a", "s") "Add a,u -> c\n" QDQ("c", "y",
                                                                                  "t") "out y",
         "quantize dequantize add(float) quantize dequantize", "its input 'u' is in float"},
        /* movement with other parameters */
        {"in x f32 4\nin u f32 4\n" BEGIN QDQ("x", "a", "s")
             QDQ("u", "b", "t") "Concat a,b -> c axis=0\n" QDQ("c", "y", "t") "out y",
         "quantize quantize rescale concat dequantize", NULL},
        {"in x f32 2,2\n" BEGIN QDQ("x", "a", "s") "Transpose a -> c\n" QDQ("c", "y", "s") "out y",
         "quantize transpose dequantize", NULL},
        {"in x f32 2\nconst p i64 2 = 1 1\nconst k f32 - = 9\n" BEGIN QDQ(
             "x", "a", "s") "Pad a,p,k -> c\n" QDQ("c", "y", "s") "out y",
         "quantize dequantize pad(float) quantize dequantize", "other than 0"},
        /* conversions one behind the other */
        {"in x f32 4\n" BEGIN QDQ("x", "a", "s") QDQ("a", "y", "s") "out y", "quantize dequantize",
         NULL},
        {"in x f32 4\n" BEGIN QDQ("x", "a", "s") "Identity aq -> bq\n" QDQ("a", "y",
                                                                           "t") "out y\nout bq",
         "quantize reshape rescale dequantize", NULL},
        /* a product that stays in float */
        {"in x f32 1,4\nconst w i8 4,2\n" BEGIN QDQ("x", "a", "s") "DequantizeLinear w,t,v -> wd\n"
                                                                   "MatMul a,wd -> y\nout y",
         "quantize fc cast(float) mul(float)", "exact sums"},
        /* one window over the image */
        {"in x f32 1,1,4,4\n" BEGIN QDQ(
             "x", "a", "s") "AveragePool a -> c kernel_shape=[4,4]\n" QDQ("c", "y", "s") "out y",
         "quantize global_avg_pool dequantize", NULL},
        /* operands and result of two types, signed ones beside unsigned weights; tables are the
           same */
        {"in x f32 1,4\n" BEGIN QDQ("x", "a", "s") "Softmax a -> c\nQuantizeLinear c,t,v -> yq\n"
                                                   "DequantizeLinear yq,t,v -> y\nout y",
         "quantize dequantize softmax(float) quantize dequantize", "softmax between types"},
        {"in x f32 4\nin u f32 4\n" BEGIN QDQ("x", "a", "s") "QuantizeLinear u,t,v -> uq\n"
                                                             "DequantizeLinear uq,t,v -> b\n"
                                                             "Add a,b -> c\n" QDQ("c", "y",
                                                                                  "t") "out y",
         "quantize dequantize quantize dequantize add(float) quantize dequantize",
         "add between types"},
        {"in x f32 1,1,4,4\nconst w u8 1,1,3,3\n" BEGIN
         "QuantizeLinear x,s,v -> xq\nDequantizeLinear xq,s,v -> a\nDequantizeLinear w,t,z -> wd\n"
         "Conv a,wd -> c\nQuantizeLinear c,s,v -> yq\nDequantizeLinear yq,s,v -> y\nout y",
         "quantize dequantize dequantize conv(float) quantize dequantize", "conv between types"},
        {"in x f32 1,1,4,4\nconst w i8 1,1,3,3\n" BEGIN QDQ(
             "x", "a", "s") "DequantizeLinear w,t,v -> wd\nConv a,wd -> c\n"
                            "QuantizeLinear c,s,v -> yq\nDequantizeLinear yq,s,v -> y\nout y",
         "quantize dequantize dequantize conv(float) quantize dequantize", "conv between types"},
        {"in x f32 4\n" BEGIN QDQ("x", "a", "s") "Tanh a -> c\nQuantizeLinear c,t,v -> yq\n"
                                                 "DequantizeLinear yq,t,v -> y\nout y",
         "quantize tanh dequantize", NULL},
        /* nothing to group */
        {"in x f32 4\nRelu x -> y\nout y", "relu(float)", "has no conversions"},
    };
    assay_scheme *s = onnx_sample_scheme("onnxruntime");
    (void)state;

    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        assay_graph *g = onnx_form_import(21, forms[i].text, NULL);
        assay_quantize_report report;
        char ops[300];
        assay_error err;
        assert_ok(quantize_group_qdq(g, s, run_has_integer_kernel, &report, &err), &err);
        onnx_form_ops(g, ops, sizeof ops);
        if (strcmp(ops, forms[i].ops) != 0)
            print_error("%s\n", forms[i].text);
        assert_string_equal(ops, forms[i].ops);
        assert_int_equal(report.n_float > 0, forms[i].reason != NULL);
        if (forms[i].reason && !strstr(report.float_node[0].reason, forms[i].reason))
            fail_msg("%s\nreason: %s, expected: %s", forms[i].text, report.float_node[0].reason,
                     forms[i].reason);
        quantize_report_free(&report);
        assay_graph_free(g);
    }
    assay_scheme_free(s);
}

/* ONNX Runtime divides by the whole window where padding counts, and its NaN is the least code. */
static void groups_are_the_targets_operators(void **state)
{
    assay_scheme *s = onnx_sample_scheme("onnxruntime");
    assay_graph *g = onnx_form_import(
        21,
        "in x f32 1,1,4,4\n" BEGIN QDQ(
            "x", "a", "s") "AveragePool a -> c kernel_shape=[3,3] "
                           "strides=[2,2] ceil_mode=1 count_include_pad=1 pads=[1,0,0,0]\n" QDQ(
                               "c", "y", "s") "out y",
        NULL);
    assay_error err;
    (void)state;

    assert_ok(quantize_group_qdq(g, s, run_has_integer_kernel, NULL, &err), &err);
    const assay_attr_pool *a = &g->node[1].attr.pool;
    assert_int_equal(g->node[1].op, ASSAY_OP_AVG_POOL);
    assert_int_equal(a->pad_end.v[0], 0); /* 1 + 4 rows: windows of 3 end with them */
    assert_int_equal(a->pad_end.v[1], 1);
    assay_graph_free(g);
    assay_scheme_free(s);
    onnx_sample_check(&(onnx_sample){
        "in x i8 3\n" S("s", "1") Z("z", "i8", "0")
            Z("v", "u8",
              "7") "DequantizeLinear x,s,z -> a\nSqrt a -> b\nQuantizeLinear b,s,v -> y\nout y",
        .in = {-1, 4, 0}, .want = {0, 9, 7}, .grouped = true});
}

/* Nobody sees the output: the node goes, or stands for nothing. */
static void outputs_without_a_name(void **state)
{
    static const char *const texts[] = {
        "in x f32 1\nconst w u8 1 = 3\n" S("s",
                                           "1") "DequantizeLinear w,s -> _\nRelu x -> y\nout y",
        "in x u8 1\n" S("s", "1") "DequantizeLinear x,s -> _\nDequantizeLinear x,s -> y\nout y",
        "in x f32 1\n" S("s", "1") "QuantizeLinear x,s -> _\nRelu x -> y\nout y",
        "in x f16 1\nSigmoid x -> _\nRelu x -> y\nout y",
    };
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        assay_graph *g = onnx_form_import(21, texts[i], NULL);
        assert_int_equal(g->n_outputs, 1);
        assert_string_equal(g->value[g->output[0]].name, "y");
        assay_graph_free(g);
    }
}

/* One constant may be read with as many parameters as there are nodes; each gets its own codes. */
static void a_bias_serves_several_nodes(void **state)
{
    (void)state;
    onnx_sample_check(&(onnx_sample){
        "in x i8 1,2\nconst w i8 2,2 = 1 2 3 4\nconst b i32 2 = 4 8\n" S("s", "1") S("t", "2")
            S("u", "4") "DequantizeLinear x,s -> a\nDequantizeLinear w,s -> v\n"
                        "DequantizeLinear b,s -> c\nDequantizeLinear b,t -> d\n"
                        "DequantizeLinear b,u -> e\nGemm a,v,c -> f\nGemm a,v,d -> g\n"
                        "Gemm a,v,e -> h\nSum f,g,h -> y\nout y",
        .in = {1, 2}, .want = {49, 86}});
}

/* Weights of a float product: an axis that moves takes its scales along. */
static void constant_codes_move(void **state)
{
    (void)state;
    onnx_sample_check(
        &(onnx_sample){"in x f32 1,2\nconst w i8 3,2 = 1 2 3 4 5 6\nconst s f32 3 = 1 2 -4\n"
                       "DequantizeLinear w,s -> d axis=0\nTranspose d -> t perm=[1,0]\n"
                       "MatMul x,t -> y\nout y",
                       .in = {1, 10}, .want = {21, 86, -260}});
    onnx_sample_check(&(onnx_sample){
        "in x f32 2\nconst w i8 1,2 = 1 2\nconst s f32 - = 2\n"
        "DequantizeLinear w,s -> d\nTranspose d -> y perm=[1,0]\nout y\nRelu x -> z\n"
        "out z",
        .want = {2, 4}});
}

/* What a target refuses stays as it was, and still runs. */
static void a_refused_group_is_left(void **state)
{
    assay_graph *g = onnx_form_import(
        21, "in x f32 4\n" BEGIN QDQ("x", "a", "s") "Softmax a -> c\n" QDQ("c", "y", "t") "out y",
        NULL);
    assay_scheme *s = onnx_sample_scheme("onnx-ref"); /* it has no softmax in integers */
    assay_quantize_report report;
    assay_program *p = NULL;
    assay_error err;
    char ops[200];
    (void)state;

    assert_ok(quantize_group_qdq(g, s, run_has_integer_kernel, &report, &err), &err);
    onnx_form_ops(g, ops, sizeof ops);
    assert_string_equal(ops, "quantize dequantize softmax(float) quantize dequantize");
    assert_non_null(strstr(report.float_node[0].reason, "no integer form of softmax"));
    assert_ok(assay_program_make_as_is(g, s, false, &p, &err), &err);
    assay_program_free(p);
    quantize_report_free(&report);
    assay_scheme_free(s);
    assay_graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(groups),
        cmocka_unit_test(groups_are_the_targets_operators),
        cmocka_unit_test(outputs_without_a_name),
        cmocka_unit_test(a_bias_serves_several_nodes),
        cmocka_unit_test(constant_codes_move),
        cmocka_unit_test(a_refused_group_is_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
