/* Passes of ONNX Runtime over a QDQ network: two pairs of conversions in a row become one, and an
 * activation that clamps more than the codes keeps its operator in float, as a Gemm's operand
 * without a zero point and floats of 16 bits do. */
#include "test/support/support.h"

#include <stdio.h>
#include <string.h>

#include "interp/run/program.h"
#include "opt/quantize/qdq.h"
#include "test/support/onnx_form.h"
#include "test/support/onnx_sample.h"

#define Z ONNX_ZERO

/* The ops without the marks of those on no codes. */
static const char *without_marks(char *ops)
{
    for (char *mark; (mark = strstr(ops, "(float)")) != NULL;)
        memmove(mark, mark + 7, strlen(mark + 7) + 1);
    return ops;
}

/* The network of a text, its conversions grouped for the scheme; its ops. */
static assay_graph *grouped(const char *text, const assay_scheme *s, assay_quantize_report *report,
                            char ops[300])
{
    assay_error err;
    assay_graph *g = onnx_form_import(21, text, NULL);
    assert_ok(quantize_group_qdq(g, s, run_has_integer_kernel, report, &err), &err);
    onnx_form_ops(g, ops, 300);
    return g;
}

/* ---- two pairs of conversions in a row ---- */

/* One pair behind another, with parameters of their own; P are those of the first, R of the second.
 */
#define PAIR(from, to, of)                                                                         \
    "QuantizeLinear " from "," of " -> " to "q\nDequantizeLinear " to "q," of " -> " to "\n"
#define MIXED                                                                                      \
    "const nought f32 - = 0\nconst one f32 - = 1\nconst s f32 - = 0.1\nconst t f32 - = 0.05\n"     \
    "const n f32 - = 0.03\nconst l f32 1 = 0.1\nconst lz u8 1 = 3\nconst z u8 - = 3\n"             \
    "const v u8 - = 40\nconst k u8 - = 10\nconst o u8 - = 0\nconst f u8 - = 255\n"                 \
    "const i i8 - = -88\n"

typedef struct pair_form {
    const char *text, *ops;
    float scale; /* of the codes of the first node, and their zero point */
    int zero;
} pair_form;

/* What ONNX Runtime 1.30 writes for each (optimizedModelFilePath). */
static void pairs_in_a_row(void **state)
{
    static const pair_form forms[] = {
        {PAIR("x", "a", "s,z") PAIR("a", "b", "t,v") "Exp b -> y\nout y", "quantize dequantize exp",
         0.04333333298563957F, 7},
        {PAIR("x", "a", "s,z") PAIR("a", "b", "t,v") PAIR("b", "c", "n,k") "Exp c -> y\nout y",
         "quantize dequantize exp", 0.030000001192092896F, 10},
        {PAIR("x", "a", "l,lz") PAIR("a", "b", "t,v") "Exp b -> y\nout y",
         "quantize dequantize exp", 0.04333333298563957F, 7},
        {PAIR("x", "a", "s,z") PAIR("a", "b", "t,v") "DequantizeLinear bq,t,v -> c\n"
                                                     "Add b,c -> y\nout y\nout c",
         "quantize dequantize dequantize add", 0.04333333298563957F, 7},
        /* what changes nothing is looked through; two ways of the first codes are not */
        {PAIR("x", "a", "s,z") "Add a,nought -> m\nMul one,m -> e\n" PAIR(
             "e", "b", "t,v") "Exp b -> y\nout y",
         "quantize dequantize exp", 0.04333333298563957F, 7},
        {PAIR("x", "a", "s,z") "Add a,one -> m\n" PAIR("m", "b", "t,v") "Exp b -> y\nout y",
         "quantize dequantize add quantize dequantize exp", 0.1F, 3},
        {PAIR("x", "a", "s,z") "Sub nought,a -> m\n" PAIR("m", "b", "t,v") "Exp b -> y\nout y",
         "quantize dequantize sub quantize dequantize exp", 0.1F, 3},
        {PAIR("x", "a", "s,z") PAIR("a", "b", "t,v")
             PAIR("a", "c", "t,v") "Exp b -> y\nSin c -> u\nout y\nout u",
         "quantize rescale dequantize rescale dequantize exp sin", 0.1F, 3},
        /* equal ones; what the network gives; what somebody else reads; no zero point; two types */
        {PAIR("x", "a", "s,z") PAIR("a", "b", "s,z") "Exp b -> y\nout y", "quantize dequantize exp",
         0.1F, 3},
        {PAIR("x", "a", "s,z") PAIR("a", "b", "t,v") "Exp b -> y\nout y\nout aq",
         "quantize rescale dequantize exp", 0.1F, 3},
        {PAIR("x", "a", "s,z") PAIR("a", "b", "t,v") "Exp b -> y\nout y\nout bq",
         "quantize rescale dequantize exp", 0.1F, 3},
        {PAIR("x", "a", "s,z") PAIR("a", "b", "t,v") "Exp b -> y\nout y\nout a",
         "quantize dequantize rescale dequantize exp", 0.1F, 3},
        {PAIR("x", "a", "s,z") PAIR("a", "b", "t,v") "Exp b -> y\nout y\nRelu aq -> r\nout r",
         "quantize rescale dequantize exp relu", 0.1F, 3},
        {PAIR("x", "a", "s") PAIR("a", "b", "t,v") "Exp b -> y\nout y",
         "quantize rescale dequantize exp", 0.1F, 0},
        {PAIR("x", "a", "s,z") PAIR("a", "b", "t") "Exp b -> y\nout y",
         "quantize rescale dequantize exp", 0.1F, 3},
        {"QuantizeLinear x,s,o -> aq\nDequantizeLinear aq,s -> a\n" PAIR("a", "b",
                                                                         "t,v") "Exp b -> y\nout y",
         "quantize rescale dequantize exp", 0.1F, 0},
        {PAIR("x", "a", "s,z") PAIR("a", "b", "t,i") "Exp b -> y\nout y",
         "quantize rescale dequantize exp", 0.1F, 3},
        /* nothing but 0 lies in both: zeros either way */
        {PAIR("x", "a", "s,o") PAIR("a", "b", "t,f") "Exp b -> y\nout y",
         "quantize rescale dequantize exp", 0.1F, 0},
        /* one pair alone */
        {PAIR("x", "a", "s,z") "Exp a -> y\nout y", "quantize dequantize exp", 0.1F, 3},
    };
    assay_scheme *s = onnx_sample_scheme("onnxruntime"), *other = onnx_sample_scheme("onnx-ref");
    (void)state;

    for (size_t i = 0; i < 2 * sizeof forms / sizeof *forms; i++) {
        const pair_form *f = &forms[i / 2];
        const bool merges = i % 2 == 0;
        char text[1024], ops[300];
        snprintf(text, sizeof text, "in x f32 4\n" MIXED "%s", f->text);
        assay_graph *g = grouped(text, merges ? s : other, NULL, ops);
        const assay_qparams *q = &g->value[g->node[0].out[0]].type.q;
        if (merges && strcmp(without_marks(ops), f->ops) != 0)
            fail_msg("%s\n%s, expected %s", f->text, ops, f->ops);
        if (merges && (q->scale[0] != f->scale || q->zero_point[0] != f->zero))
            fail_msg("%s\n%.9g %d", f->text, (double)q->scale[0], (int)q->zero_point[0]);
        if (!merges)
            assert_true(q->scale[0] == 0.1F);
        assay_graph_free(g);
    }
    assay_scheme_free(s);
    assay_scheme_free(other);
}

/* ---- activations that clamp more than the codes ---- */

static void clamping_activations(void **state)
{
    static const struct {
        const char *between, *to; /* the nodes behind the product; parameters of the codes */
        bool fused;
    } cases[] = {
        {"Relu c -> d\n", "s,o", true},
        {"Relu c -> d\n", "s,k", false},
        {"Relu c -> d\n", "l,lo", true},
        {"Clip c,zero,twenty -> d\n", "s,o", false}, /* 25.5 */
        {"Clip c,zero,twenty -> d\n", "t,o", true},  /* 12.75 */
        {"Clip c,zero,twenty -> d\n", "t,k", false},
        {"Clip c,zero,twenty -> d\n", "lt,lo", false}, /* of a list nothing is asked */
        {"Clip c,zero -> d\n", "s,o", true},
        {"Relu c -> e\nClip e,zero,twenty -> d\n", "t,o", true},
        {"Relu c -> e\nClip e,zero,twenty -> d\n", "s,o", false},
    };
    assay_scheme *s = onnx_sample_scheme("onnxruntime"), *other = onnx_sample_scheme("fbgemm");
    (void)state;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (int k = 0; k < 2; k++) {
            assay_quantize_report report;
            char text[1024], ops[300];
            snprintf(text, sizeof text,
                     "in x f32 1,4\nconst w i8 4,2\nconst zero f32 - = 0\nconst twenty f32 - = 20\n"
                     "const lo u8 1 = 0\nconst lt f32 1 = 0.05\n" MIXED Z("w0", "i8", "0")
                         PAIR("x", "a", "s,z") "DequantizeLinear w,t,w0 -> wd\nMatMul a,wd -> c\n"
                                               "%sQuantizeLinear d,%s -> yq\n"
                                               "DequantizeLinear yq,%s -> y\nout y",
                     cases[i].between, cases[i].to, cases[i].to);
            assay_graph *g = grouped(text, k ? other : s, &report, ops);
            if ((strcmp(ops, "quantize fc dequantize") == 0) != (k || cases[i].fused))
                fail_msg("%s%s: %s", cases[i].between, cases[i].to, ops);
            if (report.n_float > 0)
                assert_non_null(strstr(report.float_node[0].reason, "(clamped_unfused_ops)"));
            quantize_report_free(&report);
            assay_graph_free(g);
        }
    }
    assay_scheme_free(s);
    assay_scheme_free(other);
}

/* ---- conversions without a zero point ---- */

/* Gemm stays in float where that of an operand has none, as in ONNX Runtime 1.30
 * (optimizedModelFilePath); the result's and the bias' need none, and MatMul's none at all. */
static void conversions_without_zero_points(void **state)
{
    static const struct {
        const char *product, *x, *w, *y; /* parameters */
        bool fused;
    } cases[] = {
        {"Gemm a,wd,b -> c", "s,o", "t,w0", "s,o", true},
        {"Gemm a,wd,b -> c", "s", "t,w0", "s,o", false},
        {"Gemm a,wd,b -> c", "s,o", "t", "s,o", false},
        {"Gemm a,wd,b -> c", "s,o", "t,w0", "s", true},
        {"Gemm a,wd -> c", "s", "t", "s", false},
        {"MatMul a,wd -> c", "s", "t", "s", true},
    };
    assay_scheme *s = onnx_sample_scheme("onnxruntime"), *other = onnx_sample_scheme("fbgemm");
    (void)state;

    for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
        const bool asks = i % 2 == 0, fused = !asks || cases[i / 2].fused;
        assay_quantize_report report;
        char text[1024], ops[300];
        snprintf(text, sizeof text,
                 "in x f32 1,4\nconst w i8 4,2\nconst bq i32 2\nconst bs f32 - = 0.005\n" MIXED Z(
                     "w0", "i8", "0") "QuantizeLinear x,%s -> aq\nDequantizeLinear aq,%s -> a\n"
                                      "DequantizeLinear w,%s -> wd\nDequantizeLinear bq,bs -> b\n"
                                      "%s\nQuantizeLinear c,%s -> yq\n"
                                      "DequantizeLinear yq,%s -> y\nout y",
                 cases[i / 2].x, cases[i / 2].x, cases[i / 2].w, cases[i / 2].product,
                 cases[i / 2].y, cases[i / 2].y);
        assay_graph *g = grouped(text, asks ? s : other, &report, ops);
        if ((strcmp(ops, "quantize fc dequantize") == 0) != fused)
            fail_msg("%s\n%s", text, ops);
        if (!fused)
            assert_non_null(strstr(report.float_node[0].reason, "(bare_unfused_ops)"));
        quantize_report_free(&report);
        assay_graph_free(g);
    }
    assay_scheme_free(s);
    assay_scheme_free(other);
}

/* Without codes behind it: what reads the activation alone keeps the product in float, as ONNX
 * Runtime 1.30 does; an output of the network, and two readers, do not. */
static void activations_without_codes(void **state)
{
    static const struct {
        const char *behind;
        bool sums;
    } cases[] = {
        {"MatMul a,wd -> c\nRelu c -> d\nExp d -> y\nout y", false},
        {"MatMul a,wd -> c\nRelu c -> y\nout y", true},
        {"MatMul a,wd -> c\nRelu c -> d\nExp d -> y\nSin d -> u\nout y\nout u", true},
        {"MatMul a,wd -> c\nExp c -> y\nout y", true},
    };
    assay_scheme *s = onnx_sample_scheme("onnxruntime");
    (void)state;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[1024], ops[300];
        snprintf(text, sizeof text,
                 "in x f32 1,4\nconst w i8 4,2\n" MIXED Z("w0", "i8", "0")
                     PAIR("x", "a", "s,z") "DequantizeLinear w,t,w0 -> wd\n%s",
                 cases[i].behind);
        assay_graph *g = grouped(text, s, NULL, ops);
        if ((strstr(ops, "fc cast(float)") != NULL) != cases[i].sums)
            fail_msg("%s: %s", cases[i].behind, ops);
        assay_graph_free(g);
    }
    assay_scheme_free(s);
}

/* ---- clips that vanish before a quantize ---- */

/* Where the bounds lie within 2^-23 of the ends of the codes, as ONNX Runtime 1.30 drops them
 * (optimizedModelFilePath): not of a network's input, not before a list or a conversion without a
 * zero point, nor where something else reads them. */
static void clips_before_codes(void **state)
{
    static const struct {
        const char *from, *bounds, *to, *more;
        bool dropped;
    } cases[] = {
        {"Exp x -> e\n", "zero,six", "s,o", "", true}, /* 255e-9 */
        {"Exp x -> e\n", "near,six", "s,o", "", true},
        {"Exp x -> e\n", "far,six", "s,o", "", false},
        {"Exp x -> e\n", "minus,far", "s,o", "", false}, /* 125e-9 short of the end */
        {"Exp x -> e\n", "minus,further", "s,o", "", true},
        {"Exp x -> e\n", "near,six", "t,o", "", true}, /* a step of 4e-8 */
        {"Exp x -> e\n", "near,six", "l,lo", "", false},
        {"Exp x -> e\n", "near,six", "s", "", false},
        {"Exp x -> e\n", "near,six", "s,o", "\nout c", false},
        {"Identity x -> e\n", "near,six", "s,o", "", false},
    };
    assay_scheme *s = onnx_sample_scheme("onnxruntime"), *other = onnx_sample_scheme("fbgemm");
    (void)state;

    for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
        const bool drops = i % 2 == 0 && cases[i / 2].dropped;
        char text[1024], ops[300];
        snprintf(
            text, sizeof text,
            "in x f32 4\nconst zero f32 - = 0\nconst six f32 - = 6\nconst near f32 - = 1.1e-7\n"
            "const far f32 - = 1.3e-7\nconst further f32 - = 1.4e-7\nconst minus f32 - = -1\n"
            "const s f32 - = 1e-9\nconst t f32 - = 4e-8\nconst o u8 - = 0\n"
            "const l f32 1 = 1e-9\nconst lo u8 1 = 0\n"
            "%sClip e,%s -> c\nQuantizeLinear c,%s -> y\nout y%s",
            cases[i / 2].from, cases[i / 2].bounds, cases[i / 2].to, cases[i / 2].more);
        assay_graph *g = grouped(text, i % 2 == 0 ? s : other, NULL, ops);
        if ((strstr(ops, "clip") == NULL) != drops)
            fail_msg("%s: %s", text, ops);
        assay_graph_free(g);
    }
    assay_scheme_free(s);
    assay_scheme_free(other);
}

/* ---- floats of 16 bits ---- */

static bool has_reason(const assay_quantize_report *report, const char *words)
{
    bool found = false;
    for (int i = 0; i < report->n_float; i++)
        found = found || strstr(report->float_node[i].reason, words) != NULL;
    return found;
}

/* Floats of 16 bits between conversions stay such floats in ONNX Runtime 1.30, which puts casts
 * around its operators of float32 (optimizedModelFilePath); other targets have codes there. */
static void conversions_of_float16(void **state)
{
    static const struct {
        const char *between, *on_codes, *in_floats; /* the ops behind the first conversion */
    } cases[] = {
        {"MatMul a,wd -> c\n", "fc", "fc(float)"},
        {"Exp a -> c\n", "exp", "exp(float)"},
        {"Relu a -> c\n", "relu", "relu(float)"},
        {"Identity a -> c\n", "rescale", "cast(float) quantize"},
    };
    assay_scheme *s = onnx_sample_scheme("onnxruntime"), *other = onnx_sample_scheme("fbgemm");
    (void)state;

    for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
        const bool asks = i % 2 == 0;
        assay_quantize_report report;
        char text[1024], ops[300];
        snprintf(text, sizeof text,
                 "in x f16 1,4\nconst w i8 4,2\nconst s f16 - = 11878\nconst t f16 - = 10854\n"
                 "const z u8 - = 3\nconst v u8 - = 40\n" Z("w0", "i8", "0")
                     PAIR("x", "a", "s,z") "DequantizeLinear w,t,w0 -> wd\n%s" PAIR("c", "y",
                                                                                    "t,v") "out y",
                 cases[i / 2].between);
        assay_graph *g = grouped(text, asks ? s : other, &report, ops);
        const char *want = asks ? cases[i / 2].in_floats : cases[i / 2].on_codes;
        if (!strstr(ops, want) || (!asks && strstr(ops, cases[i / 2].in_floats)))
            fail_msg("%s: %s, expected %s", cases[i / 2].between, ops, want);
        if (asks && strcmp(want, "cast(float) quantize") != 0)
            assert_true(has_reason(&report, "(convert.group_narrow_floats)"));
        quantize_report_free(&report);
        assay_graph_free(g);
    }
    assay_scheme_free(s);
    assay_scheme_free(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pairs_in_a_row),
        cmocka_unit_test(clamping_activations),
        cmocka_unit_test(conversions_without_zero_points),
        cmocka_unit_test(activations_without_codes),
        cmocka_unit_test(clips_before_codes),
        cmocka_unit_test(conversions_of_float16),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
