/* Quantized ONNX operators that ONNX's and ONNX Runtime's own cases do not reach, against numbers
 * worked out from the specification; and what the QDQ grouping makes of small networks. */
#include "test/support/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/onnx/onnx.h"
#include "interp/kernel/kernel.h"
#include "interp/run/program.h"
#include "opt/quantize/qdq.h"
#include "schemes/scheme.h"
#include "test/support/onnx_build.h"

static assay_graph *import(const char *text)
{
    size_t length;
    void *bytes = onnx_build(21, text, &length);
    assay_graph *g = NULL;
    assay_error err = {0};
    assay_status s = onnx_import_memory("test.onnx", bytes, length, NULL, &g, &err);

    if (s)
        print_error("%s\n", text);
    assert_ok(s, &err);
    free(bytes);
    return g;
}

static assay_scheme *scheme(const char *name)
{
    assay_scheme *s = NULL;
    assay_error err;
    assert_ok(assay_scheme_open(name, &s, &err), &err);
    return s;
}

/* An element of any kind that occurs here. */
static double element(const assay_value *v, const void *data, size_t i)
{
    if (v->type.elem.kind == ASSAY_KIND_F32)
        return (double)((const float *)data)[i];
    return (double)assay_elem_get(v->type.elem, data, i);
}

static void put(const assay_value *v, void *data, size_t i, double x)
{
    if (v->type.elem.kind == ASSAY_KIND_F32)
        ((float *)data)[i] = (float)x;
    else
        assay_elem_set(v->type.elem, data, i, (int64_t)x);
}

typedef struct sample {
    const char *text;
    double in[24], want[24]; /* first input and first output */
    double second[4];        /* second input */
    bool grouped;            /* run after the grouping */
} sample;

static void check(const sample *c)
{
    assay_graph *g = import(c->text);
    assay_scheme *s = scheme("onnxruntime");
    assay_program *p = NULL;
    assay_run *r = NULL;
    assay_error err;

    if (c->grouped)
        assert_ok(quantize_group_qdq(g, s, run_has_integer_kernel, NULL, &err), &err);
    assert_ok(assay_program_make_as_is(g, s, false, &p, &err), &err);
    assert_ok(assay_run_new(p, &r, &err), &err);
    for (int k = 0; k < g->n_inputs; k++) {
        const assay_value *v = &g->value[g->input[k]];
        for (size_t i = 0; i < (size_t)assay_shape_count(&v->type); i++)
            put(v, assay_run_data(r, g->input[k]), i, k ? c->second[i] : c->in[i]);
    }
    assert_ok(run_execute(r, NULL, false, NULL, &err), &err);
    const assay_value *y = &g->value[g->output[0]];
    for (size_t i = 0; i < (size_t)assay_shape_count(&y->type); i++) {
        double got = element(y, assay_run_data(r, g->output[0]), i);
        if (got != c->want[i])
            fail_msg("%s\nelement %zu is %.9g, expected %.9g", c->text, i, got, c->want[i]);
    }
    assay_run_free(r);
    assay_program_free(p);
    assay_scheme_free(s);
    assay_graph_free(g);
}

#define S(name, value)       "const " name " f32 - = " value "\n"
#define Z(name, kind, value) "const " name " " kind " - = " value "\n"

static void conversions(void **state)
{
    static const sample cases[] = {
        /* 4 bits, two a byte, the low half first: codes 1 2 15 and -1 -8 7 */
        {"in x f32 3\nconst w u4 3 = 33 15\n" S("s", "0.5")
             Z("z", "u4", "1") "DequantizeLinear w,s,z -> d\nAdd x,d -> y\nout y",
         {0, 0, 0},
         {0, 0.5, 7}},
        {"in x f32 3\nconst w i4 3 = 143 7\n" S("s", "0.5") "DequantizeLinear w,s -> d\n"
                                                            "Add x,d -> y\nout y",
         {0, 0, 0},
         {-0.5, -4, 3.5}},
        {"in x f32 4\n" S("s", "2") Z("z", "i4", "1") "QuantizeLinear x,s,z -> y\nout y",
         {-100, -3, 3, 100},
         {-8, -1, 3, 7}}, /* -1.5 and 1.5 round to even */
        {"in x u16 2\n" S("s", "2") Z("z", "u16", "40000") "DequantizeLinear x,s,z -> y\nout y",
         {40001, 65535},
         {2, 51070}},
        {"in x i32 2\n" S("s", "0.25") "DequantizeLinear x,s -> y\nout y",
         {-7, 16777216},
         {-1.75, 4194304}},
        {"in x f32 2\n" S("s", "1") "QuantizeLinear x,s -> y output_dtype=5\nout y",
         {-40000, 2.5},
         {-32768, 2}},
        /* blocks of two along the last axis, and along the first, the last one short */
        {"in x i8 2,4\nconst s f32 2,2 = 1 2 3 4\nDequantizeLinear x,s -> y axis=1 "
         "block_size=2\nout y",
         {1, 2, 3, 4, 5, 6, 7, 8},
         {1, 2, 6, 8, 15, 18, 28, 32}},
        {"in x f32 3,2\nconst s f32 2,2 = 1 2 3 4\nconst z u8 2,2 = 0 1 2 3\n"
         "QuantizeLinear x,s,z -> y axis=0 block_size=2\nout y",
         {1, 2, 3, 4, 6, 8},
         {1, 2, 3, 3, 4, 5}},
        /* constants under scales that are not above 0: 1 2 15, and by axis 1, and in blocks */
        {"in x f32 3\nconst w u4 3 = 33 15\n" S("s", "-0.5")
             Z("z", "u4", "1") "DequantizeLinear w,s,z -> d\nAdd x,d -> y\nout y",
         {0, 0, 0},
         {0, -0.5, -7}},
        {"in x f32 2,3\nconst w i8 2,3 = -128 1 2 127 4 5\nconst s f32 3 = -1 0 2\n"
         "DequantizeLinear w,s -> d axis=1\nAdd x,d -> y\nout y",
         {0},
         {128, 0, 4, -127, 0, 10}},
        {"in x f32 3,2\nconst w i4 3,2 = 33 67 135\nconst s f32 2,2 = 1 -2 -3 4\n"
         "DequantizeLinear w,s -> d axis=0 block_size=2\nAdd x,d -> y\nout y",
         {0},
         {1, -4, 3, -8, -21, -32}},
        /* parameters that arrive with the input, one for all and along an axis */
        {"in x f32 2,2\nin s f32 2\nconst z u8 2 = 3 0\nQuantizeLinear x,s,z -> y axis=0\nout y",
         {-100, 1, 3, 8},
         {0, 3, 1, 2},
         {2, 4}},
        {"in x i8 2,2\nin s f32 2\nconst z i8 2 = 3 0\nDequantizeLinear x,s,z -> y axis=-1\nout y",
         {-100, 1, 3, 8},
         {-206, 4, 0, 32},
         {2, 4}},
        {"in x f32 3\nin s f32 1\n" Z("z", "u8", "3") "QuantizeLinear x,s,z -> y\nout y",
         {-100, 1, 3},
         {0, 3, 5},
         {2}},
        {"in x i8 3\nin s f32 1\n" Z("z", "i8", "3") "DequantizeLinear x,s,z -> y\nout y",
         {-100, 1, 3},
         {-206, -4, 0},
         {2}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check(&cases[i]);
}

/* Parameters of one element have no say in the shape, whatever their own rank is. */
static void late_parameters_keep_shapes(void **state)
{
    static const struct {
        const char *text;
        int rank;
    } cases[] = {
        {"in x f32 -\nin s f32 1\nconst z u8 1 = 3\nQuantizeLinear x,s,z -> y\nout y", 0},
        {"in x i8 -\nconst s f32 1 = 2\nin z i8 1\nDequantizeLinear x,s,z -> y\nout y", 0},
        {"in x i8 2\nconst s f32 1,1 = 2\nin z i8 1,1\nDequantizeLinear x,s,z -> y\nout y", 1},
        {"in x u8 3\nin z u8 1\nconst w i8 3\nMatMulInteger x,w,z -> y\nout y", 0},
        {"in x u8 2,3\nin z u8 1,1,1\nconst w i8 3,2\nMatMulInteger x,w,z -> y\nout y", 2},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assay_graph *g = import(cases[i].text);
        if (g->value[g->output[0]].type.rank != cases[i].rank)
            fail_msg("%s\nrank %d", cases[i].text, g->value[g->output[0]].type.rank);
        assay_graph_free(g);
    }
}

static void operators(void **state)
{
    static const sample cases[] = {
        /* a zero point known in the run gives what a constant one does; padding is the zero point
         */
        {"in x u8 1,1,1,3\nin z u8 1\nconst w i8 1,1,1,2 = 1 -2\n"
         "ConvInteger x,w,z -> y pads=[0,1,0,0]\nout y",
         {10, 20, 30},
         {-16, -28, -38},
         {2}},
        {"in x u8 1,1,1,3\nconst w i8 1,1,1,2 = 1 -2\n" Z(
             "z", "u8", "2") "ConvInteger x,w,z -> y pads=[0,1,0,0]\nout y",
         {10, 20, 30},
         {-16, -28, -38}},
        {"in x i32 2,2\nconst w i32 2,2 = 1 2 3 1073741824\nMatMul x,w -> y\nout y",
         {1, 2, 3, 4},
         {7, -2147483646, 15, 6}},
        {"in x u8 2,2\nin z u8 1\nconst w i8 2,2 = 1 2 3 4\nMatMulInteger x,w,z -> y\nout y",
         {1, 2, 3, 4},
         {3, 4, 11, 16},
         {1}},
        /* 4-bit weights in blocks of 2 with zero point 8: codes 9 10 11 12, 7 6 5 4 */
        {"in x f32 1,4\nconst w u8 2,2,1 = 169 203 103 69\nconst s f32 4 = 1 2 1 2\n"
         "com.microsoft:MatMulNBits x,w,s -> y K=4 N=2 bits=4 block_size=2\nout y",
         {1, 1, 1, 1},
         {17, -17}},
        /* the same under scales of 1 -2 0 2, as symmetric quantizers write them */
        {"in x f32 1,4\nconst w u8 2,2,1 = 169 203 103 69\nconst s f32 4 = 1 -2 0 2\n"
         "com.microsoft:MatMulNBits x,w,s -> y K=4 N=2 bits=4 block_size=2\nout y",
         {1, 1, 1, 1},
         {-11, -14}},
        /* the same with groups of columns anywhere: scales 1 2 1 2 and 2 1 2 1, half precision */
        {"in x f32 1,4\nconst w u8 2,2,1 = 169 203 103 69\nconst s f16 4 = 15360 16384 16384 "
         "15360\n"
         "const g i32 4 = 0 1 0 1\n"
         "com.microsoft:MatMulNBits x,w,s,_,g -> y K=4 N=2 bits=4 block_size=2\nout y",
         {1, 1, 1, 1},
         {16, -14}},
        /* 4-bit codes in the typed list, two a byte: 1 -2 3; a scale of half precision, 0.5 */
        {"in x f32 3\nlist w i4 3 = 225 3\nconst s f16 - = 14336\nDequantizeLinear w,s -> d\n"
         "Add x,d -> y\nout y",
         {0, 0, 0},
         {0.5, -1, 1.5}},
        {"in x u8 1,4\n" S("s", "1") S("t", "2")
             Z("z", "u8", "0") "com.microsoft:QLinearReduceMean x,s,z,t,z -> y axes=[1]\nout y",
         {10, 20, 30, 42},
         {13}}, /* 25.5 / 2 = 12.75 */
        {"in x u8 3\nconst c bool 3 = 1 0 1\nconst v u8 3 = 1 2 3\n" S("s", "1") S("t", "2")
             Z("z", "u8", "0") "com.microsoft:QLinearWhere c,x,s,z,v,t,z,t,z -> y\nout y",
         {8, 9, 10},
         {4, 2, 5}},
        /* (2 * 3 + 1) with steps 0.5 * 0.25 * 0.5: 7 / 16, over 1/8 */
        {"in x u8 1,2\nconst w i8 2,1 = 3 1\nconst b i32 1 = 1\n" S("s", "0.5") S("t", "0.25")
             S("u", "0.125") Z("z", "u8", "0")
                 Z("v", "i8", "0") "com.microsoft:QGemm x,s,z,w,t,v,b,u,z -> y alpha=0.5\nout y",
         {2, 0},
         {4}}, /* 3.5 to even */
        /* a row of one overflows float32 in ONNX Runtime: INT32_MIN + zero point, cut or clamped */
        {"in x u8 2,1\n" S("s", "0.1") S("t", "0.00390625") Z("z", "u8", "0") Z(
             "v", "u8", "7") "com.microsoft:QLinearSoftmax x,s,z,t,v -> y axis=-1 opset=13\nout y",
         {7, 200},
         {7, 7}},
        {"in x i8 2,1\n" S("s", "0.1") S("t", "0.00390625") Z("z", "i8", "0")
             Z("v", "i8",
               "-128") "com.microsoft:QLinearSoftmax x,s,z,t,v -> y axis=-1 opset=13\nout y",
         {7, 100},
         {127, 127}},
        /* steps f32(f32(alpha * 0.1) * 0.1): any alpha, as the input's scale */
        {"in x u8 1,2\nconst w i8 2,1 = 100 1\n" S("s", "0.1") S("u", "1") Z("z", "u8", "0")
             Z("v", "i8", "0") "com.microsoft:QGemm x,s,z,w,s,v,_,u,z -> y alpha=0.7\nout y",
         {100, 0},
         {70}},
        /* padding counts: what ceil_mode hangs over is padding, 5 / 2 to even */
        {"in x u8 1,1,3\n" S("u", "1")
             Z("z", "u8",
               "0") "com.microsoft:QLinearAveragePool x,u,z,u,z -> y kernel_shape=[2] strides=[2] "
                    "ceil_mode=1 count_include_pad=1\nout y",
         {2, 4, 5},
         {3, 2}},
        /* codes that only moved have the parameters that are named behind */
        {"in x u8 1,2\n" S("s", "0.5")
             Z("z", "u8", "2") "Transpose x -> t perm=[1,0]\nDequantizeLinear t,s,z -> y\nout y",
         {2, 4},
         {0, 1}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check(&cases[i]);
}

/* ---- grouping ---- */

static void ops_of(const assay_graph *g, char *buf, size_t size)
{
    size_t used = 0;
    buf[0] = '\0';
    for (int i = 0; i < g->n_nodes; i++)
        used += (size_t)snprintf(buf + used, size - used, "%s%s%s", i ? " " : "",
                                 assay_op_get(g->node[i].op)->name,
                                 assay_node_is_quantized(g, &g->node[i]) ? "" : "(float)");
}

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
         "quantize dequantize sigmoid(float) quantize dequantize", "seen in float elsewhere"},
        {"in x f32 4\nin u f32 4\n" BEGIN QDQ("x", "a", "s") "Add a,u -> c\n" QDQ("c", "y",
                                                                                  "t") "out y",
         "quantize dequantize add(float) quantize dequantize", "its input 'u' comes in float"},
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
        {"in x f32 4\n" BEGIN QDQ("x", "a", "s") QDQ("a", "y", "t") "out y",
         "quantize rescale dequantize", NULL},
        /* a product that stays in float */
        {"in x f32 1,4\nconst w i8 4,2\n" BEGIN QDQ("x", "a", "s") "DequantizeLinear w,t,v -> wd\n"
                                                                   "MatMul a,wd -> y\nout y",
         "quantize fc cast(float) mul(float)", "exact sums"},
        /* one window over the image */
        {"in x f32 1,1,4,4\n" BEGIN QDQ(
             "x", "a", "s") "AveragePool a -> c kernel_shape=[4,4]\n" QDQ("c", "y", "s") "out y",
         "quantize global_avg_pool dequantize", NULL},
        /* nothing to group */
        {"in x f32 4\nRelu x -> y\nout y", "relu(float)", "has no conversions"},
    };
    assay_scheme *s = scheme("onnxruntime");
    (void)state;

    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        assay_graph *g = import(forms[i].text);
        assay_quantize_report report;
        char ops[300];
        assay_error err;
        assert_ok(quantize_group_qdq(g, s, run_has_integer_kernel, &report, &err), &err);
        ops_of(g, ops, sizeof ops);
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
    assay_scheme *s = scheme("onnxruntime");
    assay_graph *g = import("in x f32 1,1,4,4\n" BEGIN QDQ(
        "x", "a", "s") "AveragePool a -> c kernel_shape=[3,3] "
                       "strides=[2,2] ceil_mode=1 count_include_pad=1 pads=[1,0,0,0]\n" QDQ(
                           "c", "y", "s") "out y");
    assay_error err;
    (void)state;

    assert_ok(quantize_group_qdq(g, s, run_has_integer_kernel, NULL, &err), &err);
    const assay_attr_pool *a = &g->node[1].attr.pool;
    assert_int_equal(g->node[1].op, ASSAY_OP_AVG_POOL);
    assert_int_equal(a->pad_end.v[0], 0); /* 1 + 4 rows: windows of 3 end with them */
    assert_int_equal(a->pad_end.v[1], 1);
    assay_graph_free(g);
    assay_scheme_free(s);
    check(&(sample){
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
        assay_graph *g = import(texts[i]);
        assert_int_equal(g->n_outputs, 1);
        assert_string_equal(g->value[g->output[0]].name, "y");
        assay_graph_free(g);
    }
}

/* One constant may be read with as many parameters as there are nodes; each gets its own codes. */
static void a_bias_serves_several_nodes(void **state)
{
    (void)state;
    check(&(sample){
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
    check(&(sample){"in x f32 1,2\nconst w i8 3,2 = 1 2 3 4 5 6\nconst s f32 3 = 1 2 -4\n"
                    "DequantizeLinear w,s -> d axis=0\nTranspose d -> t perm=[1,0]\n"
                    "MatMul x,t -> y\nout y",
                    .in = {1, 10}, .want = {21, 86, -260}});
    check(&(sample){"in x f32 2\nconst w i8 1,2 = 1 2\nconst s f32 - = 2\n"
                    "DequantizeLinear w,s -> d\nTranspose d -> y perm=[1,0]\nout y\nRelu x -> z\n"
                    "out z",
                    .want = {2, 4}});
}

/* What a target refuses stays as it was, and still runs. */
static void a_refused_group_is_left(void **state)
{
    assay_graph *g = import(
        "in x f32 4\n" BEGIN QDQ("x", "a", "s") "Softmax a -> c\n" QDQ("c", "y", "t") "out y");
    assay_scheme *s = scheme("onnx-ref"); /* it has no softmax in integers */
    assay_quantize_report report;
    assay_program *p = NULL;
    assay_error err;
    char ops[200];
    (void)state;

    assert_ok(quantize_group_qdq(g, s, run_has_integer_kernel, &report, &err), &err);
    ops_of(g, ops, sizeof ops);
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
        cmocka_unit_test(conversions),
        cmocka_unit_test(late_parameters_keep_shapes),
        cmocka_unit_test(operators),
        cmocka_unit_test(groups),
        cmocka_unit_test(groups_are_the_targets_operators),
        cmocka_unit_test(outputs_without_a_name),
        cmocka_unit_test(a_bias_serves_several_nodes),
        cmocka_unit_test(constant_codes_move),
        cmocka_unit_test(a_refused_group_is_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
