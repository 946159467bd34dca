/* Networks with weights per block of inputs: what the quantizer makes, what a QDQ network becomes,
 * what is refused, and that the optimizer proves nothing about them. */
#include "test/support/support.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "graph/text/text.h"
#include "interp/kernel/kernel.h"
#include "interp/run/evaluate.h"
#include "opt/quantize/qdq.h"
#include "opt/rewrite/optimize.h"
#include "schemes/node/spec.h"
#include "schemes/scheme.h"
#include "test/support/net.h"
#include "test/support/quantized.h"

#define SCHEME(weights)                                                                            \
    "{scheme: t, types: {weight_bits: 4, weight_scales: " weights "}, "                            \
    "blocks: {kind: multiplier, size: 4, multiplier_bits: 6}}"
#define BLOCKS SCHEME("per-block")

static assay_scheme *parse(const char *text)
{
    assay_scheme *s;
    assay_error err;
    assert_ok(assay_scheme_parse("t", text, strlen(text), &s, &err), &err);
    return s;
}

static assay_graph *read(const char *text)
{
    assay_graph *g;
    assay_error err;
    assert_ok(text_graph_parse(text, strlen(text), "test", NULL, &g, &err), &err);
    return g;
}

/* x -> conv 1x1 of 10 channels -> depthwise -> fc, whose weights are of very different size by
 * block. */
static assay_graph *uneven_net(test_rng *rng)
{
    assay_graph *g = net_new();
    assay_attrs depthwise = {.conv = {.group = 6}}, flat = {.shape = {.shape = {2, {1, 54}}}};
    int x = net_input(g, "x", NET_SHAPE(1, 10, 3, 3));
    int w = net_constant(g, rng, "w", -1, 1, NET_SHAPE(6, 10, 1, 1));
    for (int i = 0; i < 60; i++)
        ((float *)(uintptr_t)g->value[w].data)[i] *= i % 10 < 4 ? 1 : i % 10 < 8 ? 0.1F : 0.01F;
    int b = net_constant(g, rng, "b", -900, 900, NET_SHAPE(6));
    int y = net_node(g, ASSAY_OP_CONV, "conv", NULL, x, w, b, -2);
    y = net_node(g, ASSAY_OP_CONV, "each", &depthwise, y,
                 net_constant(g, rng, "v", -1, 1, NET_SHAPE(6, 1, 1, 1)), -2);
    y = net_node(g, ASSAY_OP_RESHAPE, "flat", &flat, y, -2);
    int u = net_constant(g, rng, "u", -1, 1, NET_SHAPE(5, 54));
    net_output(g, net_node(g, ASSAY_OP_FC, "y", NULL, y, u, -2));
    return g;
}

static void quantizer_makes_blocks(void **state)
{
    double sqnr[2];
    (void)state;
    for (int blocks = 0; blocks < 2; blocks++) {
        test_rng rng = test_seed("blocks quantizer", 62);
        quantized s =
            quantized_prepare(uneven_net(&rng), &rng, blocks ? BLOCKS : SCHEME("per-channel"));
        quantized_make(&s, (assay_quantize_options){0});
        assert_int_equal(s.report.n_float, 0);
        const assay_type *w = quantized_type(&s, "w"), *b = quantized_type(&s, "b");
        assert_int_equal(w->q.granularity, blocks ? ASSAY_Q_BLOCK : ASSAY_Q_AXIS);
        assert_int_equal(w->q.count, blocks ? 18 : 6);
        assert_int_equal(b->q.count, 6);
        assert_int_equal(quantized_type(&s, "u")->q.count, blocks ? 5 * 14 : 5);
        assert_int_equal(quantized_type(&s, "v")->q.granularity, ASSAY_Q_AXIS);
        sqnr[blocks] = quantized_sqnr(&s, &rng, 0);
        quantized_drop(&s);
    }
    print_message("# 4-bit weights: %.1f dB by channel, %.1f dB by block\n", sqnr[0], sqnr[1]);
    assert_true(sqnr[1] > sqnr[0] + 0.5);
}

/* Codes of 4 bits in blocks, as MatMulNBits has them, a float bias beside them. */
static const char qdq[] =
    "graph net {\n"
    "  input x: i8[2,6] q(0.05,3)\n"
    "  const w: i4[3,6] q(axis=1,block=4,[0.1,0.02,0.03,0.06,0.05,0.05],[0,0,0,0,0,0]) ="
    " [1,-2,3,4,5,-6,7,-8,1,2,3,4,-5,6,7,-8,1,2]\n"
    "  const b: f32[3] = [1,-0.5,0.25]\n"
    "  xf: f32[2,6] = dequantize(x)\n"
    "  wf: f32[3,6] = dequantize(w)\n"
    "  yf: f32[2,3] = fc(xf, wf, b)\n"
    "  y: i8[2,3] q(0.03,-7) = quantize(yf)\n"
    "  output y\n"
    "}\n";

static void qdq_network_is_grouped(void **state)
{
    assay_graph *g = read(qdq);
    assay_scheme *s = parse(BLOCKS);
    assay_quantize_report report;
    assay_error err;
    (void)state;
    assert_ok(quantize_group_qdq(g, s, run_has_integer_kernel, &report, &err), &err);
    assert_int_equal(report.n_float, 0);
    assert_int_equal(g->n_nodes, 1);
    const assay_type *b = &assay_node_in(g, &g->node[0], 2)->type;
    assert_int_equal(b->q.count, 3);
    double unit = (double)0.1F / 63; /* of the greatest of its blocks */
    assert_true(fabs((double)b->q.scale[0] / ((double)0.05F * unit) - 1) < 1e-6);
    quantize_report_free(&report);
    assay_graph_free(g);
    assay_scheme_free(s);
    g = read(qdq);
    assert_ok(assay_scheme_open("tflite", &s, &err), &err);
    assert_ok(quantize_group_qdq(g, s, run_has_integer_kernel, &report, &err), &err);
    assert_int_equal(report.n_float, 1); /* the target has no such weights */
    quantize_report_free(&report);
    assay_graph_free(g);
    assay_scheme_free(s);
}

/* Text of a network of one product, and why it cannot be run. */
static void refuse(const char *scheme, const char *net, const char *why)
{
    char text[1024];
    assay_scheme *s = parse(scheme);
    assay_program *program = NULL;
    assay_error err;
    snprintf(text, sizeof text, "graph t { %s output y }", net);
    assay_graph *g = read(text);
    assert_refused(assay_program_make_as_is(g, s, true, &program, &err), &err, why);
    assay_graph_free(g);
    assay_scheme_free(s);
}

static void refusals(void **state)
{
    (void)state;
    static const char fc[] = "input x: i8[2,4] q(0.05,3)\n"
                             "const w: i8[1,4] q(axis=1,block=2,[0.1,0.2],[0,0]) = [1,2,3,4]\n"
                             "const b: i32[1] q(0.5,0) = [5]\n"
                             "y: i8[2,1] q(0.1,0) = fc(x, w, b)\n";
    refuse(BLOCKS, fc, "channel 0 of the bias has the scale 0.5; expected");
    refuse("{scheme: t}", fc, "the target has no integer form of weights with a scale for each");
    refuse(BLOCKS,
           "input x: i8[1,2,2] q(0.05,3)\n"
           "const w: i8[2,4] q(axis=1,block=2,[0.1,0.2,0.1,0.1],[0,0,0,0]) = [1,2,3,4,5,6,7,8]\n"
           "y: i8[1,2,4] q(0.1,0) = matmul(x, w)\n",
           "value 'w' must be quantized per tensor, per output channel, or");
    refuse(BLOCKS,
           "input x: i8[1,2,3,3] q(0.05,3)\n"
           "const w: i8[2,1,1,1] q(axis=0,block=1,[0.1,0.2],[0,0]) = [1,2]\n"
           "y: i8[1,1,3,3] q(0.1,0) = conv_transpose(x, w)\n",
           "value 'w' must be quantized per tensor, per output channel, or");
    refuse(BLOCKS,
           "input x: i8[1,4] q(0.05,3)\n"
           "const w: i8[1,4] q(axis=1,block=2,[1.2e-38,1.2e-38],[0,0]) = [1,2,3,4]\n"
           "y: i8[1,1] q(0.1,0) = fc(x, w)\n",
           "block scales of channel 0 are out of reach");
}

static void impossible_records(void **state)
{
    static const struct {
        const char *text, *why;
    } bad[] = {
        {"{scheme: t, types: {weight_scales: per-block}}", "needs blocks.kind: multiplier"},
        {"{scheme: t, blocks: {kind: multiplier}, accumulator: {saturate_pairs: yes}}",
         "blocks.kind: none with accumulator.saturate_pairs"},
        {"{scheme: t, blocks: {sum_overflow: refuse}}", "expected one of: wrap, saturate"},
        {"{scheme: t, blocks: {kind: multiplier}, types: {power_of_two_scales: yes}}",
         "blocks.unit: power-of-two with"},
        {"{scheme: t, blocks: {size: 0}}", "1 to 65536"},
        {"{scheme: t, blocks: {multiplier_bits: 17}}", "1 to 16"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assay_scheme *s;
        assay_error err;
        assert_refused(assay_scheme_parse("t", bad[i].text, strlen(bad[i].text), &s, &err), &err,
                       bad[i].why);
    }
}

/* A vtable without `combine`, and a plugin's units. */
static void other_vtables(void **state)
{
    static const float scale[2] = {0.1F, 0.2F};
    static const int32_t zero[2] = {0, 0};
    assay_graph *g = read("graph t { input x: i8[1,4] q(0.05,3)\n"
                          "const w: i8[1,4] q(axis=1,block=2,[0.1,0.2],[0,0]) = [1,2,3,4]\n"
                          "y: i8[1,1] q(0.1,0) = fc(x, w) output y }");
    assay_scheme *s = parse(BLOCKS), plugin = *s;
    assay_scheme_vtable old = *s->vt;
    assay_program *program;
    assay_error err;
    (void)state;
    old.combine = NULL;
    plugin.vt = &old;
    assert_refused(assay_program_make_as_is(g, &plugin, true, &program, &err), &err,
                   "node 'y' (fc): scheme 'record' has no combine");
    plugin.record = NULL;
    assay_type in[ASSAY_SPEC_IN];
    assay_unit_spec spec;
    float unit[2];
    size_t n;
    assay_unit_spec_fill(g, &g->node[0], in, &spec);
    assert_refused(assay_scheme_weight_units(&plugin, &spec, unit, &n, &err), &err,
                   "a plugin does not say what");
    in[1].q = (assay_qparams){ASSAY_Q_AXIS, 0, 0, 2, scale, zero};
    assert_ok(assay_scheme_weight_units(&plugin, &spec, unit, &n, &err), &err);
    assert_int_equal(n, 2);
    assert_memory_equal(unit, scale, sizeof scale);
    assay_graph_free(g);
    assay_scheme_free(s);
}

/* A rescale goes into a product by channel; by block there is no proof. */
static void optimizer_keeps_away(void **state)
{
    static const char *const weights[] = {"q(axis=1,block=2,[0.1,0.2],[0,0])", "q(0.1,0)"};
    (void)state;
    for (int plain = 0; plain < 2; plain++) {
        char text[512];
        assay_scheme *s = parse(BLOCKS);
        assay_optimize_report report;
        assay_error err;
        snprintf(text, sizeof text,
                 "graph t { input x: i8[2,4] q(0.05,3)\nconst w: i8[1,4] %s = [1,2,3,4]\n"
                 "a: i8[2,1] q(0.1,0) = fc(x, w)\n"
                 "b: i8[2,1] q(0.1,0) = rescale(a) codes[-50,50]\noutput b }",
                 weights[plain]);
        assay_graph *g = read(text);
        assert_ok(rewrite_optimize(g, s, &(assay_optimize_options){.run = run_whole_graph}, &report,
                                   &err),
                  &err);
        assert_int_equal(g->n_nodes, plain ? 1 : 2);
        assay_buf_free(&report.certificate);
        assay_graph_free(g);
        assay_scheme_free(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quantizer_makes_blocks),
        cmocka_unit_test(qdq_network_is_grouped),
        cmocka_unit_test(refusals),
        cmocka_unit_test(impossible_records),
        cmocka_unit_test(other_vtables),
        cmocka_unit_test(optimizer_keeps_away),
    };
    return cmocka_run_group_tests_name("blocks_nets", tests, NULL, NULL);
}
