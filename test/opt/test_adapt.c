/* Parameters that a target cannot have, exchanged before grouping: text in, what became of it. */
#include "test/support/support.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "graph/text/text.h"
#include "interp/kernel/kernel.h"
#include "opt/quantize/adapt.h"
#include "opt/quantize/qdq.h"

/* A convolution with weights of two channels, its bias, and the conversions around. */
static const char net[] = "graph g {\n"
                          "input x: f32[1,1,4,4]\n"
                          "a: u8[1,1,4,4] q(0.1,100) = quantize(x)\n"
                          "ar: f32[1,1,4,4] = dequantize(a)\n"
                          "const w: i8[2,1,1,1] q(axis=0,[0.3,0.25],[0,0]) = [100,-50]\n"
                          "wr: f32[2,1,1,1] = dequantize(w)\n"
                          "const b: i32[2] q(axis=0,[0.03,0.025],[0,0]) = [10,20]\n"
                          "br: f32[2] = dequantize(b)\n"
                          "c: f32[1,2,4,4] = conv(ar, wr, br)\n"
                          "y: u8[1,2,4,4] q(0.5,3) = quantize(c)\n"
                          "z: f32[1,2,4,4] = dequantize(y)\n"
                          "output z\n"
                          "}\n";

static assay_graph *parse(const char *text)
{
    assay_graph *g;
    assay_error err;
    assert_ok(text_graph_parse(text, strlen(text), "test", NULL, &g, &err), &err);
    return g;
}

static assay_graph *adapted(const char *text, const char *preset, int *n_changed, int *n_float)
{
    assay_graph *g = parse(text);
    assay_scheme *s;
    assay_quantize_report report;
    assay_error err;
    assert_ok(assay_scheme_open(preset, &s, &err), &err);
    assert_ok(quantize_adapt_parameters(g, s, n_changed, &err), &err);
    assert_ok(quantize_group_qdq(g, s, run_has_integer_kernel, &report, &err), &err);
    *n_float = report.n_float;
    quantize_report_free(&report);
    assay_scheme_free(s);
    return g;
}

static const assay_value *value(const assay_graph *g, const char *name)
{
    int v = assay_graph_find_value(g, name);
    assert_true(v >= 0);
    return &g->value[v];
}

static void power_of_two(void **state)
{
    int n_changed, n_float;
    assay_graph *g = adapted(net, "pow2", &n_changed, &n_float);
    const assay_value *a = value(g, "a"), *w = value(g, "w"), *y = value(g, "y");
    (void)state;
    assert_int_equal(n_changed, 3); /* a, w, y */
    assert_int_equal(n_float, 0);
    /* [-10, 15.5] in i8 around 0: 15.5 / 127 up to a power of two */
    assert_true(a->type.elem.is_signed && a->type.q.zero_point[0] == 0);
    assert_true(a->type.q.scale[0] == 0.125f);
    /* 30 and 12.5 in [-127, 127] */
    assert_true(w->type.q.scale[0] == 0.25f && w->type.q.scale[1] == 0.125f);
    assert_int_equal(((const int8_t *)w->data)[0], 120);
    assert_int_equal(((const int8_t *)w->data)[1], -100);
    /* [-1.5, 126] */
    assert_true(y->type.elem.is_signed && y->type.q.scale[0] == 1);
    assay_graph_free(g);
}

static void without_zero_points(void **state)
{
    int n_changed, n_float;
    assay_graph *g = adapted(net, "npu16", &n_changed, &n_float);
    (void)state;
    assert_int_equal(n_changed, 2); /* the weights stay */
    assert_int_equal(n_float, 0);
    assert_int_equal(value(g, "a")->type.q.zero_point[0], 0);
    assert_true(fabsf(value(g, "a")->type.q.scale[0] - 15.5f / 127) < 1e-6f);
    assert_int_equal(((const int8_t *)value(g, "w")->data)[0], 100);
    assay_graph_free(g);
}

/* Any scale and zero point: nothing to exchange. */
static void nothing(void **state)
{
    int n_changed, n_float;
    assay_graph *g = adapted(net, "onnxruntime", &n_changed, &n_float);
    (void)state;
    assert_int_equal(n_changed, 0);
    assert_true(value(g, "a")->type.q.scale[0] == 0.1f);
    assay_graph_free(g);
}

/* A target of signed codes with zero points: the same scales, the same numbers, codes 128 less. */
static void signedness_moves_codes(void **state)
{
    int n_changed, n_float;
    assay_graph *g = adapted(net, "tosa-single", &n_changed, &n_float);
    const assay_value *a = value(g, "a"), *y = value(g, "y");
    (void)state;
    assert_int_equal(n_changed, 2); /* a, y */
    assert_int_equal(n_float, 0);
    assert_true(a->type.elem.is_signed && y->type.elem.is_signed);
    assert_int_equal(a->type.q.zero_point[0], 100 - 128);
    assert_true(a->type.q.scale[0] == 0.1f);
    assert_int_equal(((const int8_t *)value(g, "w")->data)[0], 100);
    assay_graph_free(g);
}

/* Codes that the network takes or gives are its interface. */
static void interfaces_stay(void **state)
{
    static const char text[] = "graph g {\n"
                               "input a: u8[4] q(0.1,100)\n"
                               "r: f32[4] = dequantize(a)\n"
                               "s: f32[4] = relu(r)\n"
                               "y: u8[4] q(0.1,100) = quantize(s)\n"
                               "output y\n"
                               "}\n";
    int n_changed, n_float;
    assay_graph *g = adapted(text, "pow2", &n_changed, &n_float);
    (void)state;
    assert_int_equal(n_changed, 0);
    assert_true(value(g, "a")->type.q.scale[0] == 0.1f && value(g, "y")->type.q.scale[0] == 0.1f);
    assay_graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(power_of_two),    cmocka_unit_test(without_zero_points),
        cmocka_unit_test(nothing),         cmocka_unit_test(signedness_moves_codes),
        cmocka_unit_test(interfaces_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
