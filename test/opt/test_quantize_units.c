/* Networks for matrix units: a constant on either side of a product, names that are taken, and
 * reductions of nothing. */
#include "test/support/support.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "graph/text/text.h"
#include "interp/run/program.h"
#include "opt/quantize/quantize.h"
#include "opt/quantize/units.h"

static assay_graph *parse(const char *text)
{
    assay_graph *g;
    assay_error err;
    assert_ok(text_graph_parse(text, strlen(text), "net", NULL, &g, &err), &err);
    return g;
}

static assay_status quantize(const char *text, const char *scheme, assay_graph **out,
                             assay_error *err)
{
    assay_graph *g = parse(text);
    assay_scheme *s;
    assay_quantize_report report = {0};
    assert_ok(assay_scheme_open(scheme, &s, err), err);
    const assay_status status = quantize_for_units(g, s, out, &report, err);
    quantize_report_free(&report);
    assay_scheme_free(s);
    assay_graph_free(g);
    return status;
}

/* Activations and weights share scales in other ways: each side has patterns of its own. */
static void constant_on_both_sides(void **state)
{
    static const char text[] = "graph c {\n  input x: f32[2,4]\n"
                               "  const k: f32[2,4] = [1,2,3,4,5,6,7,8]\n"
                               "  y: f32[2,2] = matmul(k, x) {transpose_b=true}\n"
                               "  z: f32[2,2] = fc(x, k)\n  output y\n  output z\n}\n";
    assay_graph *q;
    assay_error err;
    (void)state;
    assert_ok(quantize(text, "hopper-fp8-blocks", &q, &err), &err);
    const int as_rows = assay_graph_find_value(q, "k:a:scale"),
              as_blocks = assay_graph_find_value(q, "k:scale");
    assert_true(as_rows >= 0 && as_blocks >= 0);
    assert_int_equal(q->value[as_rows].type.dim[0], 2);
    assert_int_equal(q->value[as_blocks].type.dim[0], 1);
    assay_graph_free(q);
}

/* What a variable begins with is no constant: it shares scales as activations do. */
static void variable_is_no_weight(void **state)
{
    static const char text[] = "graph v {\n  input x: f32[2,4]\n"
                               "  var k: f32[2,4] = [1,2,3,4,5,6,7,8]\n"
                               "  y: f32[2,2] = matmul(x, k) {transpose_b=true}\n"
                               "  n: f32[2,4] = assign(k, x)\n  output y\n}\n";
    assay_graph *q;
    assay_error err;
    (void)state;
    assert_ok(quantize(text, "hopper-fp8-blocks", &q, &err), &err);
    const int as_rows = assay_graph_find_value(q, "k:b:scale");
    assert_true(as_rows >= 0);
    assert_int_equal(q->value[as_rows].type.dim[0], 2);
    assay_graph_free(q);
}

/* A name that the network has gets another behind it; where that is taken too it is said. */
static void name_that_is_taken(void **state)
{
    static const char text[] = "graph t {\n  input x: f32[2,4]\n"
                               "  \"x:%s\": f32[2,4] = relu(x)\n"
                               "  \"x:%s:made\": f32[2,4] = relu(x)\n"
                               "  z: f32[2,2] = matmul(x, \"x:%s\") {transpose_b=true}\n"
                               "  output z\n}\n";
    char both[400], first[400];
    assay_graph *q;
    assay_error err;
    (void)state;
    snprintf(both, sizeof both, text, "scale", "scale", "scale");
    assert_refused(quantize(both, "hopper-fp8", &q, &err), &err,
                   "value 'x:scale:made': the quantizer needs this name");
    assert_null(q);
    snprintf(first, sizeof first, text, "scale", "other", "scale");
    assert_ok(quantize(first, "hopper-fp8", &q, &err), &err);
    assert_true(assay_graph_find_value(q, "x:scale:made") >= 0);
    assay_graph_free(q);
}

/* The op that made input i of the last node of q. */
static const char *maker_of(const assay_graph *q, int i)
{
    const int maker = assay_node_in(q, &q->node[q->n_nodes - 1], i)->producer;
    return maker < 0 ? "none" : assay_op_get(q->node[maker].op)->name;
}

/* Patterns that were decoded for a product go in as they are, where the unit takes their format and
 * their scales; else they are decoded and made anew. Weights w [4,64] and v [64,4]. */
static void operands_as_given(void **state)
{
    static const struct {
        const char *scheme, *w_scale, *line;
        const char *codes; /* what makes the second operand's patterns */
    } cases[] = {
        {"hopper-fp8", "f32[4,1]", "d: f32[4,64] = float_decode(w, s) {block=[1,64]}", "none"},
        {"hopper-fp8", "f32[1,1]", "d: f32[4,64] = float_decode(w, s) {block=[4,64]}", "none"},
        {"hopper-fp8", "f32[4,2]", "d: f32[4,64] = float_decode(w, s) {block=[1,32]}", "none"},
        {"hopper-fp8", "f32[4,4]", "d: f32[4,64] = float_decode(w, s) {block=[1,16]}",
         "float_encode"}, /* steps of 32 */
        {"hopper-fp8", "f32[1,4]",
         "e: f32[64,4] = float_decode(v, s) {block=[64,1]}\n  d: f32[4,64] = transpose(e) "
         "{perm=[1,0]}",
         "transpose"},
        {"hopper-fp8", "f32[64,1]",
         "e: f32[64,4] = float_decode(v, s) {block=[1,4]}\n  d: f32[4,64] = transpose(e) "
         "{perm=[1,0]}",
         "float_encode"}, /* a scale each element of K */
        {"hopper-fp8", "f32[1,1]",
         "e: f32[64,4] = float_decode(v, s) {block=[64,4]}\n  d: f32[4,64] = reshape(e) "
         "{shape=[4,64]}",
         "reshape"},
        {"hopper-fp8", "f32[64,1]",
         "e: f32[64,4] = float_decode(v, s) {block=[1,4]}\n  d: f32[4,64] = reshape(e) "
         "{shape=[4,64]}",
         "float_encode"},
        {"blackwell-mxfp8", "f8e8m0[4,2]", "d: f32[4,64] = float_decode(w, s) {block=[1,32]}",
         "none"},
        {"blackwell-mxfp8", "f32[4,2]", "d: f32[4,64] = float_decode(w, s) {block=[1,32]}",
         "float_encode"}, /* scales of another format */
        {"blackwell-mxfp4", "f8e8m0[4,2]", "d: f32[4,64] = float_decode(w, s) {block=[1,32]}",
         "float_encode"}, /* elements of another */
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[600];
        assay_graph *q;
        assay_error err;
        snprintf(text, sizeof text,
                 "graph g {\n  input x: f32[2,64]\n  input w: f8e4m3fn[4,64]\n"
                 "  input v: f8e4m3fn[64,4]\n  input s: %s\n  %s\n"
                 "  y: f32[2,4] = matmul(x, d) {transpose_b=true}\n  output y\n}\n",
                 cases[i].w_scale, cases[i].line);
        assert_ok(quantize(text, cases[i].scheme, &q, &err), &err);
        assert_string_equal(maker_of(q, 0), "float_encode");
        if (strcmp(maker_of(q, 1), cases[i].codes) != 0)
            fail_msg("%s: %s: the patterns come from %s", cases[i].scheme, cases[i].line,
                     maker_of(q, 1));
        assay_graph_free(q);
    }
}

/* Of no elements: the sum 0, the mean no number, the greatest -Inf, the least Inf. */
static void reductions_of_nothing(void **state)
{
    static const char text[] = "graph e {\n  input x: f32[2,0]\n"
                               "  s: f32[2,1] = reduce_sum(x) {axes=[1]}\n"
                               "  m: f32[2,1] = reduce_mean(x) {axes=[1]}\n"
                               "  g: f32[2,1] = reduce_max(x) {axes=[1]}\n"
                               "  l: f32[2,1] = reduce_min(x) {axes=[1]}\n"
                               "  output s\n  output m\n  output g\n  output l\n}\n";
    static const float expected[] = {0, NAN, -INFINITY, INFINITY};
    const assay_program_options o = {.keep_all = true, .threads = 1};
    assay_graph *q;
    assay_scheme *s;
    assay_program *p;
    assay_run *run;
    assay_error err;
    (void)state;
    assert_ok(quantize(text, "hopper-fp8", &q, &err), &err);
    assert_ok(assay_scheme_open("hopper-fp8", &s, &err), &err);
    assert_ok(run_program_make_with(q, s, &o, &p, &err), &err);
    assert_ok(assay_run_new(p, &run, &err), &err);
    for (int i = 0; i < 4; i++) /* whatever stood there before */
        memset((void *)(uintptr_t)assay_run_data(run, q->output[i]), 0x55, 2 * sizeof(float));
    assert_ok(run_execute(run, NULL, false, NULL, &err), &err);
    for (int i = 0; i < (int)(sizeof expected / sizeof *expected); i++)
        for (int row = 0; row < 2; row++) {
            const float y = ((const float *)assay_run_data(run, q->output[i]))[row];
            assert_true(isnan(expected[i]) ? isnan(y) : y == expected[i]);
        }
    assay_run_free(run);
    assay_program_free(p);
    assay_scheme_free(s);
    assay_graph_free(q);
}

/* Codes in front of a unit: weights of 4 bits, blocks of 2 with scales and zero points of their
 * own, and activations of 8 bits. (code - zero point) * scale in f32, the products in order. */
static void codes_in_front(void **state)
{
    static const char text[] =
        "graph c {\n  input x: f32[1,4]\n"
        "  const w: u4[2,4] q(axis=1,block=2,[0.5,2,1,0.25],[8,0,1,15]) = "
        "[8,9,3,15,0,1,2,15]\n"
        "  d: f32[2,4] = dequantize(w)\n"
        "  q: u8[1,4] q(0.5,3) = quantize(x)\n  e: f32[1,4] = dequantize(q)\n"
        "  y: f32[1,2] = matmul(e, d) {transpose_b=true}\n  output q\n  output y\n}\n";
    static const char scheme[] = "scheme: t\nmac: {units: [f32-fma]}\n";
    static const float x[4] = {0.25F, -3, 1.75F, 200};
    /* 0.25 / 0.5 is half way to 1; -3 ends at 0; 200 at 255. e is 0, -1.5, 2, 126 (1.75 / 0.5 = 3.5
     * is 4) d is 0 0.5 6 30 and -1 0 -3.25 0 */
    static const int codes[4] = {3, 0, 7, 255};
    static const float y[2] = {0 * 0 - 1.5F * 0.5F + 2 * 6 + 126 * 30, 0 + 0 - 2 * 3.25F + 0};
    const assay_program_options o = {.keep_all = true, .threads = 1, .engine = ASSAY_ENGINE_BOTH};
    assay_graph *g = parse(text), *n;
    assay_quantize_report report = {0};
    assay_scheme *s;
    assay_program *p;
    assay_run *r;
    assay_error err;
    (void)state;
    assert_ok(assay_scheme_parse("t", scheme, strlen(scheme), &s, &err), &err);
    assert_ok(quantize_for_units(g, s, &n, &report, &err), &err);
    assert_int_equal(report.n_float, 0);
    assert_ok(run_program_make_with(n, s, &o, &p, &err), &err);
    assert_ok(assay_run_new(p, &r, &err), &err);
    memcpy(assay_run_data(r, n->input[0]), x, sizeof x);
    assert_ok(run_execute(r, NULL, false, NULL, &err), &err);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(((const uint8_t *)assay_run_data(r, n->output[0]))[i], codes[i]);
    for (size_t i = 0; i < 2; i++)
        assert_true(((const float *)assay_run_data(r, n->output[1]))[i] == y[i]);
    assay_run_free(r);
    assay_program_free(p);
    assay_scheme_free(s);
    quantize_report_free(&report);
    assay_graph_free(n);
    assay_graph_free(g);
}

/* Elements that reach as far as the unit's results have no scale, whatever the scheme says of the
 * others; under block scales, which multiply a term, they have one. */
static void elements_too_wide(void **state)
{
    static const char text[] = "graph w {\n  input x: f32[2,64]\n  input y: f32[3,64]\n"
                               "  z: f32[2,3] = matmul(x, y) {transpose_b=true}\n  output z\n}\n";
    static const struct {
        const char *unit, *scales, *a, *b;
    } cases[] = {
        {"a: bf16, b: e5m2, acc: f32, out: f32, nan: 0x7fc00000", "row", "none", "block_scale"},
        {"a: e4m3fn, b: f32, acc: f32, out: f32, nan: 0x7fc00000", "row", "block_scale", "none"},
        {"a: tf32, b: f16, acc: f32, out: f32, nan: 0x7fc00000", "tensor", "none", "block_scale"},
        {"a: e5m2, b: e4m3fn, acc: f16, out: f16, nan: 0x7e00", "row", "none", "block_scale"},
        {"a: bf16, b: e2m1, acc: f32, out: f32, nan: 0x7fc00000, scale_block: 32", "mx",
         "block_scale", "block_scale"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char scheme[400];
        assay_quantize_report report = {0};
        assay_graph *g = parse(text), *q;
        assay_scheme *s;
        assay_error err;
        snprintf(scheme, sizeof scheme,
                 "scheme: t\nmac: {units: [{unit: u, mac: {%s, group: 32}}], activation_scales: "
                 "%s}\n",
                 cases[i].unit, cases[i].scales);
        assert_ok(assay_scheme_parse("t", scheme, strlen(scheme), &s, &err), &err);
        assert_ok(quantize_for_units(g, s, &q, &report, &err), &err);
        assert_string_equal(maker_of(q, 2), cases[i].a);
        assert_string_equal(maker_of(q, 3), cases[i].b);
        quantize_report_free(&report);
        assay_graph_free(q);
        assay_scheme_free(s);
        assay_graph_free(g);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(constant_on_both_sides), cmocka_unit_test(variable_is_no_weight),
        cmocka_unit_test(name_that_is_taken),     cmocka_unit_test(operands_as_given),
        cmocka_unit_test(reductions_of_nothing),  cmocka_unit_test(codes_in_front),
        cmocka_unit_test(elements_too_wide),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
