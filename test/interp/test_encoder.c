/* A transformer encoder of BERT-tiny's size (2 layers, 128 wide, 2 heads, feed-forward 512),
 * written as ONNX and read again, quantized whole: no float node, and how near to the float network
 * it is. */
#include "test/support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "graph/onnx/export.h"
#include "graph/onnx/onnx.h"
#include "interp/kernel/kernel.h"
#include "interp/run/evaluate.h"
#include "interp/run/program.h"
#include "opt/lower/opt.h"
#include "opt/quantize/quantize.h"
#include "test/support/net.h"

enum { TOKENS = 32, WIDTH = 128, HEADS = 2, INNER = WIDTH / HEADS, CLASSES = 16 };
enum { CALIBRATION = 24, SAMPLES = 24 };

/* ---- the network ---- */

typedef struct encoder {
    assay_graph *g;
    test_rng *rng;
    int n;
    char name[32];
} encoder;

/* A name; good until the next. */
static const char *next(encoder *e, const char *what)
{
    snprintf(e->name, sizeof e->name, "%s_%d", what, e->n++);
    return e->name;
}

static int dense(encoder *e, int x, int64_t in, int64_t out)
{
    double a = sqrt(3.0 / (double)in);
    int w = net_constant(e->g, e->rng, next(e, "weight"), -a, a, NET_SHAPE(out, in));
    int b = net_constant(e->g, e->rng, next(e, "bias"), -0.1, 0.1, NET_SHAPE(out));
    return net_node(e->g, ASSAY_OP_FC, next(e, "dense"), NULL, x, w, b, -2);
}

static int norm(encoder *e, int x)
{
    const assay_attrs a = {.norm = {.axis = 2, .epsilon = 1e-12f}};
    int gamma = net_constant(e->g, e->rng, next(e, "gamma"), 0.8, 1.2, NET_SHAPE(WIDTH));
    int beta = net_constant(e->g, e->rng, next(e, "beta"), -0.2, 0.2, NET_SHAPE(WIDTH));
    return net_node(e->g, ASSAY_OP_LAYER_NORM, next(e, "norm"), &a, x, gamma, beta, -2);
}

static int reshaped(encoder *e, int x, assay_list shape)
{
    const assay_attrs a = {.shape = {.shape = shape}};
    return net_node(e->g, ASSAY_OP_RESHAPE, next(e, "reshape"), &a, x, -2);
}

static int transposed(encoder *e, int x)
{
    const assay_attrs a = {.perm = {.perm = {.n = 4, .v = {0, 2, 1, 3}}}};
    return net_node(e->g, ASSAY_OP_TRANSPOSE, next(e, "transpose"), &a, x, -2);
}

static int heads(encoder *e, int x)
{
    return transposed(
        e, reshaped(e, dense(e, x, WIDTH, WIDTH), (assay_list){4, {1, TOKENS, HEADS, INNER}}));
}

static int attention(encoder *e, int x)
{
    const assay_attrs by_rows = {.matmul = {.transpose_b = true}};
    const assay_attrs last = {.softmax = {.axis = 3, .beta = 1}};
    int q = heads(e, x), k = heads(e, x), v = heads(e, x), y;
    int root = net_constant(e->g, e->rng, next(e, "root"), 0.125, 0.125, NET_SHAPE(1));
    y = net_node(e->g, ASSAY_OP_MATMUL, next(e, "scores"), &by_rows, q, k, -2);
    y = net_node(e->g, ASSAY_OP_MUL, next(e, "scaled"), NULL, y, root, -2);
    y = net_node(e->g, ASSAY_OP_SOFTMAX, next(e, "softmax"), &last, y, -2);
    y = net_node(e->g, ASSAY_OP_MATMUL, next(e, "mixed"), NULL, y, v, -2);
    y = reshaped(e, transposed(e, y), (assay_list){3, {1, TOKENS, WIDTH}});
    return dense(e, y, WIDTH, WIDTH);
}

static int block(encoder *e, int x)
{
    int y = attention(e, x), h;
    y = norm(e, net_node(e->g, ASSAY_OP_ADD, next(e, "add"), NULL, y, x, -2));
    h = dense(e, y, WIDTH, 4 * WIDTH);
    h = net_node(e->g, ASSAY_OP_GELU, next(e, "gelu"), NULL, h, -2);
    h = dense(e, h, 4 * WIDTH, WIDTH);
    return norm(e, net_node(e->g, ASSAY_OP_ADD, next(e, "add"), NULL, h, y, -2));
}

/* Embedded tokens in; the last layer's output and the scores of a classifier on the first token
 * out. */
static assay_graph *bert_tiny(test_rng *rng)
{
    const assay_attrs first = {
        .slice = {.begin = {3, {0, 0, 0}}, .step = {3, {1, 1, 1}}, .size = {3, {1, 1, WIDTH}}}};
    encoder e = {.g = net_new(), .rng = rng};
    int x = net_input(e.g, "x", NET_SHAPE(1, TOKENS, WIDTH)), pooled;
    x = block(&e, block(&e, norm(&e, x)));
    net_output(e.g, x);
    pooled = net_node(e.g, ASSAY_OP_SLICE, "first", &first, x, -2);
    pooled = net_node(e.g, ASSAY_OP_TANH, "pooled", NULL, dense(&e, pooled, WIDTH, WIDTH), -2);
    net_output(e.g, dense(&e, pooled, WIDTH, CLASSES));
    return e.g;
}

/* As ONNX and back. */
static assay_graph *through_onnx(assay_graph *g)
{
    unsigned char *bytes;
    size_t length;
    assay_graph *back;
    assay_error err;
    assert_ok(onnx_export_graph(g, &bytes, &length, &err), &err);
    assert_ok(onnx_import_memory("encoder", bytes, length, NULL, &back, &err), &err);
    free(bytes);
    assay_graph_free(g);
    return back;
}

/* ---- quantized, and compared ---- */

static assay_graph *evaluated(const assay_graph *g, const float *x)
{
    assay_graph *run;
    assay_error err;
    assert_ok(assay_graph_clone(g, &run, &err), &err);
    net_run(run, &x);
    return run;
}

static assay_graph *quantized(const assay_graph *g, const assay_scheme *scheme, test_rng *rng,
                              assay_quantize_report *report)
{
    const assay_quantize_options options = {.integer_io = true,
                                            .has_kernel = run_has_integer_kernel};
    assay_profile *profile;
    assay_graph *q;
    assay_error err;
    assert_ok(profile_new(g, &profile, &err), &err);
    for (uint64_t i = 0; i < CALIBRATION; i++) {
        float *x = net_random_input(rng, g, 0);
        assay_graph *run = evaluated(g, x);
        for (int v = 0; v < g->n_values; v++)
            if (g->value[v].type.elem.kind == ASSAY_KIND_F32)
                profile_observe(profile, v, run->value[v].data,
                                (size_t)assay_shape_count(&g->value[v].type));
        assert_ok(profile_add_sample(profile, i, &err), &err);
        assay_graph_free(run);
        free(x);
    }
    assert_ok(quantize_network(g, profile, scheme, &options, &q, report, &err), &err);
    profile_free(profile);
    return q;
}

static void put_codes(const assay_value *v, void *to, const float *x)
{
    for (int64_t i = 0; i < assay_shape_count(&v->type); i++) {
        double code = rint((double)x[i] / (double)v->type.q.scale[0]) + v->type.q.zero_point[0];
        double lo = (double)assay_elem_min(v->type.elem), hi = (double)assay_elem_max(v->type.elem);
        assay_elem_set(v->type.elem, to, (size_t)i, (int64_t)fmin(fmax(code, lo), hi));
    }
}

static double real_at(const assay_value *v, const void *data, int64_t i)
{
    return (double)v->type.q.scale[0] *
           (double)(assay_elem_get(v->type.elem, data, (size_t)i) - v->type.q.zero_point[0]);
}

typedef struct nearness {
    double dot, a, b; /* over all elements of all samples */
    double worst, span;
    int agreeing;
} nearness;

static void compare(nearness *n, const float *want, const assay_value *v, const void *got)
{
    for (int64_t i = 0; i < assay_shape_count(&v->type); i++) {
        double x = (double)want[i], y = real_at(v, got, i);
        n->dot += x * y;
        n->a += x * x;
        n->b += y * y;
        n->worst = fmax(n->worst, fabs(x - y));
        n->span = fmax(n->span, fabs(x));
    }
}

static bool same_class(const float *want, const assay_value *v, const void *got)
{
    int best = 0, found = 0;
    for (int i = 1; i < CLASSES; i++) {
        best = want[i] > want[best] ? i : best;
        found = real_at(v, got, i) > real_at(v, got, found) ? i : found;
    }
    return best == found;
}

/* Under one preset: nothing in float, and the measures of docs in opt/quantize/README.md. */
static void whole(const char *preset, double cosine, double worst, int agreeing)
{
    test_rng rng = test_seed("encoder", 128);
    assay_graph *g = through_onnx(bert_tiny(&rng));
    assay_scheme *scheme;
    assay_quantize_report report = {0};
    assay_program *program;
    assay_run *run;
    assay_error err;
    nearness n = {0};
    assert_ok(lower_canonicalize(g, run_evaluate_node, &err), &err);
    assert_ok(assay_scheme_open(preset, &scheme, &err), &err);
    assay_graph *q = quantized(g, scheme, &rng, &report);
    for (int i = 0; i < report.n_float; i++)
        print_error("%s: %s (%s): %s\n", preset, report.float_node[i].node, report.float_node[i].op,
                    report.float_node[i].reason);
    assert_int_equal(report.n_float, 0);
    for (int i = 0; i < q->n_nodes; i++)
        assert_true(assay_node_is_quantized(q, &q->node[i]));
    assert_ok(assay_program_make_as_is(q, scheme, false, &program, &err), &err);
    assert_ok(assay_run_new(program, &run, &err), &err);
    for (int s = 0; s < SAMPLES; s++) {
        float *x = net_random_input(&rng, g, 0);
        assay_graph *real = evaluated(g, x);
        put_codes(&q->value[q->input[0]], assay_run_data(run, q->input[0]), x);
        assert_ok(run_execute(run, NULL, false, NULL, &err), &err);
        compare(&n, real->value[real->output[0]].data, &q->value[q->output[0]],
                assay_run_data(run, q->output[0]));
        n.agreeing += same_class(real->value[real->output[1]].data, &q->value[q->output[1]],
                                 assay_run_data(run, q->output[1]));
        assay_graph_free(real);
        free(x);
    }
    double c = n.dot / sqrt(n.a * n.b);
    print_message(
        "# %s: %d integer nodes, 0 in float; cosine %.5f, greatest error %.3f of %.2f, top-1 "
        "agrees on %d of %d\n",
        preset, report.n_integer, c, n.worst, n.span, n.agreeing, SAMPLES);
    assert_true(c >= cosine);
    assert_true(n.worst <= worst * n.span);
    assert_true(n.agreeing >= agreeing);
    assay_run_free(run);
    assay_program_free(program);
    quantize_report_free(&report);
    assay_graph_free(q);
    assay_graph_free(g);
    assay_scheme_free(scheme);
}

static void tflite(void **state)
{
    (void)state;
    whole("tflite", 0.998, 0.15, SAMPLES - 2);
}

static void tflite_int16x8(void **state)
{
    (void)state;
    whole("tflite-int16x8", 0.9999, 0.1, SAMPLES - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tflite),
        cmocka_unit_test(tflite_int16x8),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
