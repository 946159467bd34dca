/* Layer normalization in integers: each kind against a twin written from its formula, both against
 * the real function, and networks that the quantizer and the QDQ grouping make of it. */
#include "test/support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/text/text.h"
#include "interp/kernel/kernel.h"
#include "interp/run/evaluate.h"
#include "opt/lower/opt.h"
#include "opt/quantize/qdq.h"
#include "opt/quantize/quantize.h"
#include "schemes/apply/fixedpoint.h"
#include "schemes/scheme.h"
#include "test/support/net.h"
#include "test/support/scheme_unit.h"

#define MAX 300

typedef struct layer {
    const char *scheme;
    size_t n;
    int64_t dim[1];
    float scale[4]; /* x, gamma, beta, y */
    int32_t zero[4];
    assay_type type[4];
    assay_unit_spec spec;
    int32_t x[3 * MAX], y[MAX];
} layer;

/* A layer of n elements; codes of `bits` bits around the given spread. */
static void make(layer *l, test_rng *r, size_t n, unsigned bits, int spread, bool direct_beta)
{
    l->n = n;
    l->dim[0] = (int64_t)n;
    l->scale[0] = (float)(0.01 + 0.05 * test_unit(r));
    l->scale[1] = (float)(0.00005 + 0.0001 * test_unit(r));
    l->scale[2] = direct_beta ? ldexpf(l->scale[1], -10) : (float)(0.001 + 0.01 * test_unit(r));
    l->scale[3] = bits > 8 ? ldexpf(1, -12) : (float)(0.03 + 0.02 * test_unit(r));
    l->zero[0] = bits > 8 ? 0 : (int32_t)test_between(r, -20, 20);
    l->zero[1] = direct_beta ? 0 : (int32_t)test_between(r, -20, 20);
    l->zero[2] = direct_beta ? 0 : (int32_t)test_between(r, -20, 20);
    l->zero[3] = bits > 8 ? 0 : (int32_t)test_between(r, -20, 20);
    for (int i = 0; i < 4; i++) {
        unsigned b = i == 1 ? 16 : i == 2 ? 32 : bits;
        l->type[i] = code_type(b, true, &l->scale[i], &l->zero[i]);
        l->type[i].rank = 1;
        l->type[i].dim[0] = l->dim[0];
    }
    l->spec = unit_spec("layer_norm", l->type, 3, &l->type[3]);
    l->spec.depth = (int64_t)n;
    l->spec.epsilon = 1e-5;
    int64_t centre = test_between(r, -spread, spread), max = (INT64_C(1) << (bits - 1)) - 1;
    for (size_t i = 0; i < n; i++) {
        l->x[i] = (int32_t)apply_clamp_to(centre + test_between(r, -spread, spread), -max, max);
        l->x[n + i] = (int32_t)test_between(r, -15000, 15000);
        l->x[2 * n + i] = (int32_t)test_between(r, -1000, 1000) * (direct_beta ? (int32_t)1000 : 1);
    }
}

static void run(layer *l, const char *scheme)
{
    assay_scheme *s;
    assay_unit *u;
    assay_error err;
    assert_ok(assay_scheme_open(scheme, &s, &err), &err);
    assert_ok(s->vt->prepare(s, &l->spec, &u, &err), &err);
    s->vt->row(u, l->x, l->n, l->y);
    s->vt->release(u);
    assay_scheme_free(s);
}

/* |y - exact| in output steps; 1/sqrt of a narrow row is only as good as its integers. */
static double worst(const layer *l)
{
    double mean = 0, variance = 0, max = 0;
    for (size_t i = 0; i < l->n; i++)
        mean += l->x[i] / (double)l->n;
    for (size_t i = 0; i < l->n; i++)
        variance += (l->x[i] - mean) * (l->x[i] - mean) / (double)l->n;
    double s = (double)l->scale[0];
    double deviation = sqrt(variance * s * s + 1e-5);
    double top = ldexp(1, (int)l->type[3].elem.bits - 1);
    for (size_t i = 0; i < l->n; i++) {
        double gamma = (double)l->scale[1] * (l->x[l->n + i] - l->zero[1]);
        double beta = (double)l->scale[2] * (l->x[2 * l->n + i] - l->zero[2]);
        double y = (l->x[i] - mean) * s / deviation * gamma + beta;
        double code = y / (double)l->scale[3] + l->zero[3];
        max = fmax(max, fabs(fmin(fmax(code, -top), top - 1) - l->y[i]));
    }
    return max;
}

static void near_the_real_function(void **state)
{
    test_rng r = test_seed("layer_norm", 31);
    layer l;
    (void)state;
    for (int t = 0; t < 400; t++) {
        size_t n = (size_t)test_between(&r, 2, MAX);
        make(&l, &r, n, 8, (int)test_between(&r, 2, 100), t % 2);
        run(&l, t % 4 == 1 ? "npu16" : "tflite"); /* npu16 has no left shift for another beta */
        double error = worst(&l);
        if (error > 1.0)
            fail_msg("%zu elements: %g output steps from the real value", n, error);
        make(&l, &r, (size_t)1 << test_between(&r, 3, 8), 16, 20000, true); /* powers of two */
        run(&l, "tflite-int16x8");
        error = worst(&l) / 4096; /* gamma * 2^10 of a step and the variance in whole codes */
        if (error > 0.004)
            fail_msg("int16, %zu elements: %g from the real value", l.n, error);
    }
}

/* ---- twins ---- */

static assay_int128 half_away(assay_int128 n, assay_int128 d)
{
    assay_int128 size = n < 0 ? -n : n;
    assay_int128 q = (2 * size + d) / (2 * d);
    return n < 0 ? -q : q;
}

/* The multiplier and shift of a real scale as npu16 and TFLite form them (16 or 31 bits). */
static int64_t scaled(int64_t x, double real, int bits)
{
    int exponent;
    int64_t m = (int64_t)round(ldexp(frexp(real, &exponent), bits));
    if (m == INT64_C(1) << bits) {
        m /= 2;
        exponent++;
    }
    if (bits == 31)
        return apply_mbqm_double((int32_t)x, (int32_t)m, exponent);
    int64_t n = x * m, half = INT64_C(1) << (bits - exponent - 1);
    return (n + half) >> (bits - exponent);
}

static void integer_sqrt_twin(void **state)
{
    test_rng r = test_seed("layer_norm integer-sqrt", 32);
    layer l;
    (void)state;
    for (int t = 0; t < 300; t++) {
        make(&l, &r, (size_t)test_between(&r, 1, MAX), 8, (int)test_between(&r, 0, 100), true);
        run(&l, "npu16");
        int64_t n = (int64_t)l.n, sum = 0, squares = 0;
        for (size_t i = 0; i < l.n; i++)
            sum += l.x[i];
        for (size_t i = 0; i < l.n; i++)
            squares += (n * l.x[i] - sum) * (n * l.x[i] - sum); /* n^3 times the variance */
        double s = (double)l.scale[0];
        assay_int128 v = squares / n + (int64_t)rint((double)(n * n) * l.spec.epsilon / (s * s));
        assay_int128 root = (assay_int128)sqrtl((long double)(v << 16));
        while (root * root > v << 16)
            root--;
        while ((root + 1) * (root + 1) <= v << 16)
            root++;
        double real = (double)ldexpf(1, -10) * (double)l.scale[1] / (double)l.scale[3];
        for (size_t i = 0; i < l.n; i++) {
            assay_int128 z =
                root ? half_away((n * l.x[i] - sum) * ((assay_int128)1 << 18), root) : 0;
            int64_t acc = (int64_t)z * l.x[l.n + i] + l.x[2 * l.n + i];
            int64_t y = scaled(acc, real, 16) + l.zero[3];
            assert_int_equal(l.y[i], y < -128 ? -128 : y > 127 ? 127 : y);
        }
    }
}

/* TFLite's ApplyLayerNorm in its own order of steps, 10 fraction bits. */
static void newton_twin(void **state)
{
    test_rng r = test_seed("layer_norm newton", 33);
    layer l;
    (void)state;
    for (int t = 0; t < 300; t++) {
        make(&l, &r, (size_t)test_between(&r, 1, MAX), 16, t % 5 ? 30000 : 0, true);
        run(&l, "tflite-int16x8");
        int64_t n = (int64_t)l.n, sum = 0, squares = 0;
        for (size_t i = 0; i < l.n; i++) {
            sum += l.x[i];
            squares += (int64_t)l.x[i] * l.x[i];
        }
        int64_t mean = sum * 1024 / n, part = 1048576 / n;
        int64_t variance = (squares * part - mean * mean) / 1048576;
        int64_t guard = (int64_t)(10000 * (double)l.scale[1]);
        int shift;
        if (variance < 1)
            variance = guard < 1 ? 1 : guard;
        int32_t m = apply_fixed_inverse_sqrt((int32_t)variance, &shift);
        for (size_t i = 0; i < l.n; i++) {
            int64_t z = apply_mbqm_double((int32_t)(1024 * l.x[i] - mean), m, shift);
            int64_t v = z * l.x[l.n + i] + l.x[2 * l.n + i];
            v = (v > 0 ? v + 512 : v - 512) / 1024;
            int64_t y = scaled(v, (double)l.scale[1] / (double)l.scale[3], 31);
            assert_int_equal(l.y[i], y < -32768 ? -32768 : y > 32767 ? 32767 : y);
        }
    }
}

static void refusals(void **state)
{
    layer l;
    test_rng r = {7};
    assay_scheme *s;
    assay_unit *u;
    assay_error err;
    (void)state;
    make(&l, &r, 8, 8, 50, true);
    assert_ok(assay_scheme_open("npu16", &s, &err), &err);
    l.type[1].dim[0] = 5;
    assert_refused(s->vt->prepare(s, &l.spec, &u, &err), &err, "gamma has 5 elements");
    l.type[1].dim[0] = 8;
    l.scale[2] = -1;
    assert_refused(s->vt->prepare(s, &l.spec, &u, &err), &err, "beta is not codes");
    l.scale[2] = 1;
    l.spec.epsilon = 1e30;
    assert_refused(s->vt->prepare(s, &l.spec, &u, &err), &err, "epsilon");
    l.spec.epsilon = 0;
    l.spec.depth = 1 << 21;
    assert_refused(s->vt->prepare(s, &l.spec, &u, &err), &err, "rows of at most");
    assay_scheme_free(s);
    assert_ok(assay_scheme_open("vta", &s, &err), &err);
    assert_refused(s->vt->prepare(s, &l.spec, &u, &err), &err, "no integer form of layer norm");
    assay_scheme_free(s);
}

/* ---- networks ---- */

static const float *element(const assay_graph *g, const char *name)
{
    int64_t n;
    return net_data(g, name, &n);
}

/* Quantized, then run: no float node, and within two steps of the float network. */
static void check_quantized(test_rng *rng, const char *scheme)
{
    assay_graph *g = net_new(), *run, *q;
    assay_profile *profile;
    assay_scheme *s;
    assay_quantize_report report;
    assay_error err;
    int x = net_input(g, "x", NET_SHAPE(4, 32));
    int gamma = net_constant(g, rng, "gamma", 0.5, 1.5, NET_SHAPE(32));
    int beta = net_constant(g, rng, "beta", -1, 1, NET_SHAPE(32));
    net_output(g, net_node(g, ASSAY_OP_LAYER_NORM, "y", NULL, x, gamma, beta, -2));
    assert_ok(lower_canonicalize(g, run_evaluate_node, &err), &err);
    assert_ok(profile_new(g, &profile, &err), &err);
    float *in = net_random_input(rng, g, 0);
    assert_ok(assay_graph_clone(g, &run, &err), &err);
    net_run(run, (const float *const[]){in});
    for (int v = 0; v < g->n_values; v++)
        profile_observe(profile, v, run->value[v].data,
                        (size_t)assay_shape_count(&g->value[v].type));
    assert_ok(profile_add_sample(profile, 0, &err), &err);
    assert_ok(assay_scheme_open(scheme, &s, &err), &err);
    assay_quantize_options options = {.has_kernel = run_has_integer_kernel};
    assert_ok(quantize_network(g, profile, s, &options, &q, &report, &err), &err);
    assert_int_equal(report.n_float, 0);
    const assay_node *node = net_producer(q, "y");
    assert_int_equal(node->op, ASSAY_OP_LAYER_NORM);
    assert_int_equal(assay_node_in(q, node, 2)->type.elem.bits, 32);

    assay_program *program;
    assay_run *r;
    assert_ok(assay_program_make_as_is(q, s, true, &program, &err), &err);
    assert_ok(assay_run_new(program, &r, &err), &err);
    memcpy(assay_run_data(r, q->input[0]), in, 4 * 32 * sizeof *in);
    assert_ok(assay_execute(r, &err), &err);
    const float *got = assay_run_data(r, q->output[0]), *want = element(run, "y");
    float step = assay_node_out(q, node, 0)->type.q.scale[0];
    for (int i = 0; i < 4 * 32; i++)
        if (fabsf(got[i] - want[i]) > 2 * step)
            fail_msg("%s: element %d is %g, in float %g", scheme, i, (double)got[i],
                     (double)want[i]);
    assay_run_free(r);
    assay_program_free(program);
    assay_graph_free(q);
    assay_graph_free(run);
    assay_graph_free(g);
    profile_free(profile);
    quantize_report_free(&report);
    assay_scheme_free(s);
    free(in);
}

static void quantized_networks(void **state)
{
    test_rng r = test_seed("layer_norm networks", 34);
    (void)state;
    check_quantized(&r, "tflite");
    check_quantized(&r, "npu16");
    check_quantized(&r, "ruy");
}

/* gamma and beta may be floats in a QDQ network, as PyTorch and others leave them. */
static void grouped_networks(void **state)
{
    static const char text[] = "graph net {\n"
                               "  input x: i8[2,4] q(0.05,3)\n"
                               "  const gamma: f32[4] = [1,0.5,-2,1.25]\n"
                               "  const beta: f32[4] = [0,0.5,-0.25,1]\n"
                               "  xf: f32[2,4] = dequantize(x)\n"
                               "  yf: f32[2,4] = layer_norm(xf, gamma, beta)\n"
                               "  y: i8[2,4] q(0.03,-7) = quantize(yf)\n"
                               "  output y\n"
                               "}\n";
    assay_graph *g;
    assay_scheme *s;
    assay_quantize_report report;
    assay_error err;
    (void)state;
    assert_ok(text_graph_parse(text, strlen(text), "test", NULL, &g, &err), &err);
    assert_ok(assay_scheme_open("tflite", &s, &err), &err);
    assert_ok(quantize_group_qdq(g, s, run_has_integer_kernel, &report, &err), &err);
    assert_int_equal(report.n_float, 0);
    assert_int_equal(g->n_nodes, 1);
    assert_int_equal(g->node[0].op, ASSAY_OP_LAYER_NORM);
    quantize_report_free(&report);
    assay_scheme_free(s);
    assay_graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(near_the_real_function),
        cmocka_unit_test(integer_sqrt_twin),
        cmocka_unit_test(newton_twin),
        cmocka_unit_test(refusals),
        cmocka_unit_test(quantized_networks),
        cmocka_unit_test(grouped_networks),
    };
    return cmocka_run_group_tests_name("layer_norm", tests, NULL, NULL);
}
