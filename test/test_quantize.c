/* The quantizer: names, shared parameters, fused activations, borders and their reasons, and that
 * the integer network computes what the float one does. */
#include "test/support.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "interp/evaluate.h"
#include "interp/program.h"
#include "opt/opt.h"
#include "opt/quantize.h"
#include "test/net.h"

/* A network, its profile, and what the quantizer made of it. */
typedef struct quantized {
    assay_graph *g; /* float, canonical */
    assay_profile *profile;
    assay_scheme *scheme;
    assay_graph *q; /* integer */
    assay_quantize_report report;
} quantized;

static test_rng rng_of(void **state)
{
    return *(test_rng *)*state;
}

static void profile_sample(assay_profile *p, const assay_graph *g, test_rng *rng, uint64_t sample)
{
    assay_graph *run;
    assay_error err;
    float *x[4];
    assert_ok(assay_graph_clone(g, &run, &err), &err);
    for (int i = 0; i < g->n_inputs; i++)
        x[i] = net_random_input(rng, g, i);
    net_run(run, (const float *const *)x);
    for (int v = 0; v < g->n_values; v++)
        if (g->value[v].type.elem.kind == ASSAY_KIND_F32)
            assay_profile_observe(p, v, run->value[v].data,
                                  (size_t)assay_shape_count(&g->value[v].type));
    assert_ok(assay_profile_add_sample(p, sample, &err), &err);
    for (int i = 0; i < g->n_inputs; i++)
        free(x[i]);
    assay_graph_free(run);
}

/* Takes g: canonical form, profile of 64 random samples, scheme by name or as YAML text. */
static quantized prepare(assay_graph *g, test_rng *rng, const char *scheme)
{
    quantized s = {.g = g};
    assay_error err;
    assert_ok(assay_canonicalize(g, assay_evaluate_node, &err), &err);
    assert_ok(assay_profile_new(g, &s.profile, &err), &err);
    for (uint64_t i = 0; i < 64; i++)
        profile_sample(s.profile, g, rng, i);
    if (strchr(scheme, ':'))
        assert_ok(assay_scheme_parse("test.yaml", scheme, strlen(scheme), &s.scheme, &err), &err);
    else
        assert_ok(assay_scheme_open(scheme, &s.scheme, &err), &err);
    return s;
}

static bool has_kernel(assay_op op)
{
    return assay_ref_kernel(op).run != NULL;
}

static void quantize(quantized *s, assay_quantize_options options)
{
    assay_error err;
    options.has_kernel = has_kernel;
    assert_ok(assay_quantize(s->g, s->profile, s->scheme, &options, &s->q, &s->report, &err), &err);
}

static void drop(quantized *s)
{
    assay_graph_free(s->g);
    assay_graph_free(s->q);
    assay_profile_free(s->profile);
    assay_scheme_free(s->scheme);
    assay_quantize_report_free(&s->report);
}

static const assay_type *type_of(const quantized *s, const char *name)
{
    int v = assay_graph_find_value(s->q, name);
    if (v < 0)
        fail_msg("there is no value '%s'", name);
    return &s->q->value[v].type;
}

static void assert_same_params(const quantized *s, const char *a, const char *b)
{
    if (!assay_qparams_equal(&type_of(s, a)->q, &type_of(s, b)->q))
        fail_msg("'%s' and '%s' have different parameters", a, b);
}

static const char *reason_of(const quantized *s, const char *node)
{
    for (int i = 0; i < s->report.n_float; i++)
        if (strcmp(s->report.float_node[i].node, node) == 0)
            return s->report.float_node[i].reason;
    return NULL;
}

static double real_at(const assay_value *v, const void *data, int64_t i)
{
    const assay_type *t = &v->type;
    if (t->elem.kind == ASSAY_KIND_F32)
        return (double)((const float *)data)[i];
    int64_t q = assay_elem_size(t->elem) == 1
                    ? (t->elem.is_signed ? ((const int8_t *)data)[i] : ((const uint8_t *)data)[i])
                    : ((const int16_t *)data)[i];
    return (double)t->q.scale[0] * (double)(q - t->q.zero_point[0]);
}

/* Signal to noise of the integer network's output k against the float one's, in dB. */
static double output_sqnr(const quantized *s, test_rng *rng, int k)
{
    assay_program *program;
    assay_run *run;
    assay_graph *reference;
    assay_error err;
    float *x[4];
    double signal = 1e-30, noise = 1e-30;
    assert_ok(assay_graph_clone(s->g, &reference, &err), &err);
    assert_ok(assay_program_make(s->q, s->scheme, true, &program, &err), &err);
    assert_ok(assay_run_new(program, &run, &err), &err);
    for (int i = 0; i < s->g->n_inputs; i++) {
        x[i] = net_random_input(rng, s->g, i);
        memcpy(assay_run_data(run, s->q->input[i]), x[i],
               assay_type_bytes(&s->g->value[s->g->input[i]].type));
    }
    net_run(reference, (const float *const *)x);
    assert_ok(assay_run_execute(run, NULL, false, NULL, &err), &err);
    const assay_value *a = &reference->value[reference->output[k]],
                      *b = &s->q->value[s->q->output[k]];
    for (int64_t i = 0; i < assay_shape_count(&a->type); i++) {
        double want = real_at(a, a->data, i);
        double got = real_at(b, assay_run_data(run, s->q->output[k]), i);
        signal += want * want;
        noise += (want - got) * (want - got);
    }
    for (int i = 0; i < s->g->n_inputs; i++)
        free(x[i]);
    assay_run_free(run);
    assay_program_free(program);
    assay_graph_free(reference);
    return 10 * log10(signal / noise);
}

/* ---- a small classifier ---- */

/* x -> conv1 -> relu1 -> pool -> depthwise (channels of very different size) -> up + skip -> fc ->
 * softmax */
static assay_graph *classifier(test_rng *rng)
{
    assay_graph *g = net_new();
    assay_attrs padded = {.conv = {.group = 1, .pad_begin = {2, {1, 1}}, .pad_end = {2, {1, 1}}}};
    assay_attrs depth = padded, flat = {.shape = {.shape = {2, {1, 8 * 16}}}};
    assay_attrs halve = {.pool = {.kernel = {2, {2, 2}}, .stride = {2, {2, 2}}}};
    depth.conv.group = 8;
    int x = net_input(g, "x", NET_SHAPE(1, 3, 8, 8));
    int y = net_node(g, ASSAY_OP_CONV, "conv1", &padded, x,
                     net_constant(g, rng, "w1", -1, 1, NET_SHAPE(8, 3, 3, 3)),
                     net_constant(g, rng, "b1", -1, 1, NET_SHAPE(8)), -2);
    y = net_node(g, ASSAY_OP_RELU, "relu1", NULL, y, -2);
    int pool = net_node(g, ASSAY_OP_MAX_POOL, "pool", &halve, y, -2);
    int w = net_constant(g, rng, "wd", -1, 1, NET_SHAPE(8, 1, 3, 3));
    for (int i = 0; i < 8 * 9; i++)
        ((float *)(uintptr_t)g->value[w].data)[i] *= ldexpf(1, -(i / 9));
    y = net_node(g, ASSAY_OP_CONV, "depthwise", &depth, pool, w, -2);
    y = net_node(g, ASSAY_OP_ADD, "sum", NULL, y, pool, -2);
    y = net_node(g, ASSAY_OP_RESHAPE, "flat", &flat, y, -2);
    y = net_node(g, ASSAY_OP_FC, "logits", NULL, y,
                 net_constant(g, rng, "wf", -.3, .3, NET_SHAPE(10, 128)),
                 net_constant(g, rng, "bf", -1, 1, NET_SHAPE(10)), -2);
    net_output(g, net_node(g, ASSAY_OP_SOFTMAX, "y", NULL, y, -2));
    net_output(g, y);
    return g;
}

static void test_names_and_parameters(void **state)
{
    test_rng rng = rng_of(state);
    quantized s = prepare(classifier(&rng), &rng, "tflite");
    quantize(&s, (assay_quantize_options){0});
    assert_int_equal(s.report.n_float, 0);
    assert_int_equal(s.report.n_fused, 1);
    assert_int_equal(s.report.n_rescale, 0);
    assert_int_equal(s.report.n_convert, 3); /* x:q, y:f32, logits:f32 */

    assert_int_equal(type_of(&s, "x")->elem.kind, ASSAY_KIND_F32);
    assert_int_equal(type_of(&s, "x:q")->elem.bits, 8);
    assert_string_equal(s.q->value[s.q->output[0]].name, "y:f32");
    assert_string_equal(s.q->value[s.q->output[1]].name, "logits:f32");
    assert_int_equal(assay_graph_find_value(s.q, "conv1"), -1); /* fused away */
    const assay_node *conv = net_producer(s.q, "relu1");
    assert_int_equal(conv->op, ASSAY_OP_CONV);
    assert_true(conv->act_lo == 0 && conv->act_hi == INFINITY);
    assert_int_equal(type_of(&s, "relu1")->q.zero_point[0], -128); /* behind the activation */
    assert_same_params(&s, "relu1", "pool");
    assert_same_params(&s, "sum", "flat");

    const assay_type *w = type_of(&s, "w1"), *b = type_of(&s, "b1");
    assert_int_equal(w->q.granularity, ASSAY_Q_AXIS);
    assert_int_equal(w->q.count, 8);
    assert_int_equal(b->elem.bits, 32);
    for (int o = 0; o < 8; o++) {
        assert_int_equal(w->q.zero_point[o], 0);
        assert_int_equal(b->q.zero_point[o], 0);
        assert_true(b->q.scale[o] == type_of(&s, "x:q")->q.scale[0] * w->q.scale[o]);
    }
    assert_true(type_of(&s, "y")->q.scale[0] == 1.0f / 256);
    assert_int_equal(type_of(&s, "y")->q.zero_point[0], -128);
    drop(&s);
}

static void test_accuracy(void **state)
{
    test_rng rng = rng_of(state);
    static const char *const schemes[] = {"tflite", "tflite-single", "glow-interp", "glow-cpu",
                                          "npu16"};
    for (int i = 0; i < 5; i++) {
        quantized s = prepare(classifier(&rng), &rng, schemes[i]);
        quantize(&s, (assay_quantize_options){0});
        double sqnr = output_sqnr(&s, &rng, 1);
        printf("# %s: logits %.1f dB, %d nodes in float\n", schemes[i], sqnr, s.report.n_float);
        assert_true(sqnr > (strcmp(schemes[i], "npu16") == 0 ? 18 : 24));
        drop(&s);
    }
}

/* Depthwise channels that differ by 2^7 need a scale each. */
static void test_per_channel_beats_per_tensor(void **state)
{
    test_rng rng = rng_of(state);
    quantized s = prepare(classifier(&rng), &rng, "tflite");
    const int64_t n = 8 * 9;
    double noise[2];
    for (int k = 0; k < 2; k++) {
        assay_quantize_report_free(&s.report);
        quantize(&s, (assay_quantize_options){.weights = k ? ASSAY_WEIGHTS_PER_TENSOR
                                                           : ASSAY_WEIGHTS_PER_CHANNEL});
        const assay_value *w = &s.q->value[assay_graph_find_value(s.q, "wd")];
        const float *x = s.g->value[assay_graph_find_value(s.g, "wd")].data;
        noise[k] = 0;
        for (int64_t i = n - 9; i < n; i++) { /* the smallest channel */
            size_t c = w->type.q.count == 1 ? 0 : (size_t)(i / 9);
            noise[k] += fabs((double)x[i] -
                             (double)w->type.q.scale[c] * (double)((const int8_t *)w->data)[i]);
        }
        assert_int_equal(w->type.q.count, k ? 1 : 8);
        assay_graph_free(s.q);
        s.q = NULL;
    }
    assert_true(noise[0] * 20 < noise[1]);
    drop(&s);
}

/* ---- borders ---- */

/* x -> conv -> lrn (no target has it) -> relu -> turn -> fc */
static void test_unsupported_stays_float(void **state)
{
    test_rng rng = rng_of(state);
    assay_graph *g = net_new();
    assay_attrs lrn = {.lrn = {.size = 3, .alpha = 0.1f, .beta = 0.75f, .bias = 1}};
    assay_attrs flat = {.shape = {.shape = {2, {1, 36}}}};
    int x = net_input(g, "x", NET_SHAPE(1, 4, 3, 3));
    int y = net_node(g, ASSAY_OP_CONV, "conv", NULL, x,
                     net_constant(g, &rng, "w", -1, 1, NET_SHAPE(4, 4, 1, 1)), -2);
    y = net_node(g, ASSAY_OP_LRN, "lrn", &lrn, y, -2);
    y = net_node(g, ASSAY_OP_RELU, "relu", NULL, y, -2);
    y = net_node(g, ASSAY_OP_RESHAPE, "flat", &flat, y, -2);
    net_output(g, net_node(g, ASSAY_OP_FC, "y", NULL, y,
                           net_constant(g, &rng, "v", -1, 1, NET_SHAPE(5, 36)), -2));
    quantized s = prepare(g, &rng, "tflite");
    quantize(&s, (assay_quantize_options){0});
    assert_int_equal(s.report.n_float, 2);
    assert_non_null(reason_of(&s, "lrn"));
    assert_string_equal(reason_of(&s, "relu"), "its input is computed in float");
    assert_int_equal(net_producer(s.q, "conv:f32")->op, ASSAY_OP_DEQUANTIZE);
    assert_int_equal(type_of(&s, "conv")->elem.bits, 8);
    assert_int_equal(net_producer(s.q, "lrn")->op, ASSAY_OP_LRN);
    assert_int_equal(net_producer(s.q, "relu:f32")->op, ASSAY_OP_RELU); /* codes take the name */
    assert_int_equal(net_producer(s.q, "relu")->op, ASSAY_OP_QUANTIZE);
    assert_same_params(&s, "relu", "flat");
    assert_int_equal(s.report.n_convert, 4);
    assert_true(output_sqnr(&s, &rng, 0) > 24);
    drop(&s);
}

/* Nodes that only move data between float nodes are not worth codes. */
/* Attention: scores, a mask that reaches from 0 to `masked`, softmax, values. */
static quantized masked_attention(test_rng *rng, float masked)
{
    assay_graph *g = net_new();
    int x = net_input(g, "x", NET_SHAPE(1, 6, 16));
    int q = net_node(g, ASSAY_OP_FC, "q", NULL, x,
                     net_constant(g, rng, "wq", -1, 1, NET_SHAPE(16, 16)), -2);
    assay_attrs t = {.matmul = {.transpose_b = true}}, row = {.softmax = {.axis = 2, .beta = 1}};
    int s = net_node(g, ASSAY_OP_MATMUL, "scores", &t, q, x, -2);
    int mask = net_constant(g, rng, "mask", 0, 0, NET_SHAPE(6, 6));
    for (int i = 0; i < 6; i++)
        for (int j = i + 1; j < 6; j++)
            ((float *)(uintptr_t)g->value[mask].data)[i * 6 + j] = masked;
    s = net_node(g, ASSAY_OP_ADD, "masked", NULL, s, mask, -2);
    s = net_node(g, ASSAY_OP_SOFTMAX, "attention", &row, s, -2);
    net_output(g, net_node(g, ASSAY_OP_MATMUL, "y", NULL, s, x, -2));
    quantized a = prepare(g, rng, "tflite");
    quantize(&a, (assay_quantize_options){0});
    return a;
}

static void test_masks_stay_float(void **state)
{
    static const float huge[] = {-1e4f, -1e9f, -FLT_MAX, -INFINITY};
    test_rng rng = rng_of(state);
    quantized s = masked_attention(&rng, -50);
    assert_int_equal(s.report.n_float, 0);
    drop(&s);
    for (int k = 0; k < 4; k++) {
        s = masked_attention(&rng, huge[k]);
        assert_int_equal(s.report.n_float, 2);
        assert_non_null(reason_of(&s, "masked"));
        assert_non_null(reason_of(&s, "attention"));
        assert_int_equal(type_of(&s, "scores")->elem.bits, 8);
        assert_int_equal(type_of(&s, "y")->elem.bits, 8);
        assert_true(output_sqnr(&s, &rng, 0) > 24);
        drop(&s);
    }
}

static void test_moves_between_float_nodes_stay(void **state)
{
    test_rng rng = rng_of(state);
    assay_graph *g = net_new();
    assay_attrs flat = {.shape = {.shape = {2, {1, 36}}}};
    int x = net_input(g, "x", NET_SHAPE(1, 4, 3, 3));
    int y = net_node(g, ASSAY_OP_EXP, "exp", NULL, x, -2);
    y = net_node(g, ASSAY_OP_RESHAPE, "flat", &flat, y, -2);
    net_output(g, net_node(g, ASSAY_OP_TANH, "y", NULL, y, -2));
    const assay_precision_rule rules[] = {{"exp", assay_f32()}, {"tan?", assay_f32()}};
    quantized s = prepare(g, &rng, "tflite");
    quantize(&s, (assay_quantize_options){.precision = rules, .n_precision = 2});
    assert_int_equal(s.report.n_integer, 0);
    assert_string_equal(reason_of(&s, "exp"), "kept in float on request");
    assert_string_equal(reason_of(&s, "flat"), "it only moves data between float nodes");
    assert_int_equal(s.q->n_nodes, 3);
    drop(&s);
}

/* An activation of a value that others see stays a node. */
static void test_shared_input_is_not_fused(void **state)
{
    test_rng rng = rng_of(state);
    assay_graph *g = net_new();
    int x = net_input(g, "x", NET_SHAPE(1, 6));
    int y = net_node(g, ASSAY_OP_FC, "fc", NULL, x,
                     net_constant(g, &rng, "w", -1, 1, NET_SHAPE(6, 6)), -2);
    assay_attrs clip = {.clip = {.lo = -0.5f, .hi = 0.75f}};
    int z = net_node(g, ASSAY_OP_CLIP, "clip", &clip, y, -2);
    z = net_node(g, ASSAY_OP_RELU, "relu", NULL, net_node(g, ASSAY_OP_ADD, "sum", NULL, y, z, -2),
                 -2);
    net_output(g, net_node(g, ASSAY_OP_CLIP, "y", &clip, z, -2));
    quantized s = prepare(g, &rng, "tflite");
    quantize(&s, (assay_quantize_options){0});
    assert_int_equal(s.report.n_fused, 2);
    assert_int_equal(net_producer(s.q, "clip")->op, ASSAY_OP_CLIP);
    const assay_node *sum = net_producer(s.q, "y");
    assert_int_equal(sum->op, ASSAY_OP_ADD);
    assert_true(sum->act_lo == 0 && sum->act_hi == 0.75f); /* relu, then [-0.5, 0.75] */
    assert_true(output_sqnr(&s, &rng, 0) > 24);
    drop(&s);
}

/* ---- shared parameters ---- */

/* What a concat joins shares parameters, unless a target's fixed output is too narrow. */
static void test_concat(void **state)
{
    test_rng rng = rng_of(state);
    assay_graph *g = net_new();
    assay_attrs axis = {.axis = {.axis = 1}};
    int x = net_input(g, "x", NET_SHAPE(1, 6));
    int a = net_node(g, ASSAY_OP_FC, "a", NULL, x,
                     net_constant(g, &rng, "wa", -4, 4, NET_SHAPE(6, 6)), -2);
    int b = net_node(g, ASSAY_OP_FC, "b", NULL, x,
                     net_constant(g, &rng, "wb", -1, 1, NET_SHAPE(6, 6)), -2);
    int c = net_constant(g, &rng, "c", 30, 31, NET_SHAPE(1, 2));
    int m = net_node(g, ASSAY_OP_SOFTMAX, "m", NULL, b, -2);
    net_output(g, net_node(g, ASSAY_OP_CONCAT, "y", &axis, a, b, c, m, -2));
    quantized s = prepare(g, &rng, "tflite");
    quantize(&s, (assay_quantize_options){0});
    assert_int_equal(s.report.n_rescale, 1);
    assert_same_params(&s, "a", "y");
    assert_same_params(&s, "b", "y");
    assert_same_params(&s, "c", "y");
    assert_same_params(&s, "m:as:y", "y");
    assert_true(type_of(&s, "m")->q.scale[0] == 1.0f / 256);
    assert_true(type_of(&s, "y")->q.scale[0] * 255 > 30); /* the constant is in the range */
    assert_true(output_sqnr(&s, &rng, 0) > 24);
    drop(&s);
}

/* Rows of a constant table chosen by an integer input: the table is quantized, nothing converts. */
static void test_embedding(void **state)
{
    test_rng rng = rng_of(state);
    assay_graph *g = net_new(), *run;
    assay_type index = {.elem = assay_int(64, true), .rank = 1, .dim = {3}};
    int64_t rows[3] = {4, 0, 2};
    int ids;
    assay_error err;
    assert_ok(assay_graph_add_value(g, "ids", &index, &ids, &err), &err);
    assert_ok(assay_graph_set_inputs(g, &ids, 1, &err), &err);
    int table = net_constant(g, &rng, "table", -2, 2, NET_SHAPE(5, 6));
    int y = net_node(g, ASSAY_OP_GATHER, "rows", NULL, table, ids, -2);
    net_output(g, net_node(g, ASSAY_OP_FC, "y", NULL, y,
                           net_constant(g, &rng, "w", -1, 1, NET_SHAPE(4, 6)), -2));
    quantized s = {.g = g};
    assert_ok(assay_profile_new(g, &s.profile, &err), &err);
    assert_ok(assay_graph_clone(g, &run, &err), &err);
    run->value[ids].data = rows;
    for (int i = 0; i < run->n_nodes; i++) {
        int out = run->node[i].out[0];
        void *data = calloc(1, assay_type_bytes(&run->value[out].type));
        assert_ok(assay_evaluate_node(run, &run->node[i], &data, &err), &err);
        run->value[out].data = data;
        assay_profile_observe(s.profile, out, data,
                              (size_t)assay_shape_count(&run->value[out].type));
    }
    for (int i = 0; i < run->n_nodes; i++)
        free((void *)(uintptr_t)run->value[run->node[i].out[0]].data);
    assay_graph_free(run);
    assert_ok(assay_scheme_open("tflite", &s.scheme, &err), &err);
    quantize(&s, (assay_quantize_options){0});
    assert_int_equal(s.report.n_float, 0);
    assert_int_equal(s.report.n_convert, 1); /* y:f32 */
    assert_int_equal(type_of(&s, "ids")->elem.bits, 64);
    assert_int_equal(type_of(&s, "table")->elem.bits, 8);
    assert_same_params(&s, "table", "rows");
    assert_true(type_of(&s, "rows")->q.scale[0] * 255 > 3.5f); /* the whole table's range */
    drop(&s);
}

static void test_precision_rules(void **state)
{
    test_rng rng = rng_of(state);
    const assay_precision_rule rules[] = {{"logits", assay_int(16, true)},
                                          {"flat", assay_int(16, true)}};
    assay_quantize_options o = {.precision = rules, .n_precision = 1};
    quantized s = prepare(classifier(&rng), &rng, "tflite");
    quantize(&s, o);
    if (!reason_of(&s, "logits")) { /* the target takes 16-bit inputs: flat widens */
        assert_int_equal(type_of(&s, "logits")->elem.bits, 16);
        assert_int_equal(type_of(&s, "flat:i16")->elem.bits, 16);
        assert_int_equal(type_of(&s, "flat")->elem.bits, 8);
        assert_true(output_sqnr(&s, &rng, 1) > 24);
    }
    drop(&s);
}

/* One bias and one weight tensor for two inputs of different scale: the bias needs a twin. */
static void test_constants_with_two_readers(void **state)
{
    test_rng rng = rng_of(state);
    assay_graph *g = net_new();
    int x = net_input(g, "x", NET_SHAPE(1, 6)), big;
    int w = net_constant(g, &rng, "w", -1, 1, NET_SHAPE(6, 6));
    int b = net_constant(g, &rng, "b", -1, 1, NET_SHAPE(6));
    int y = net_node(g, ASSAY_OP_FC, "first", NULL, x, w, b, -2);
    big = net_node(g, ASSAY_OP_FC, "second", NULL, y, w, b, -2);
    net_output(g, big);
    quantized s = prepare(g, &rng, "tflite");
    quantize(&s, (assay_quantize_options){0});
    assert_int_equal(net_producer(s.q, "first")->in[1], net_producer(s.q, "second")->in[1]);
    assert_true(assay_graph_find_value(s.q, "b") >= 0);
    assert_true(assay_graph_find_value(s.q, "b:second") >= 0);
    drop(&s);
}

/* A bias far beyond the products' range: the weight scale makes room for it. */
static void test_bias_fits(void **state)
{
    test_rng rng = rng_of(state);
    assay_graph *g = net_new();
    int x = net_input(g, "x", NET_SHAPE(1, 6));
    int w = net_constant(g, &rng, "w", -1e-6, 1e-6, NET_SHAPE(2, 6));
    int b = net_constant(g, &rng, "b", 50, 60, NET_SHAPE(2));
    net_output(g, net_node(g, ASSAY_OP_FC, "y", NULL, x, w, b, -2));
    quantized s = prepare(g, &rng, "tflite");
    quantize(&s, (assay_quantize_options){0});
    const assay_value *bias = &s.q->value[assay_graph_find_value(s.q, "b")];
    for (int o = 0; o < 2; o++) {
        int32_t code = ((const int32_t *)bias->data)[o];
        assert_true(code <= 1 << 29);
        double real = (double)bias->type.q.scale[o] * code;
        assert_true(fabs(real - (double)((const float *)g->value[b].data)[o]) < 1e-5);
    }
    drop(&s);
}

static void test_transposed_convolution_axis(void **state)
{
    test_rng rng = rng_of(state);
    for (int64_t group = 1; group <= 2; group++) {
        assay_graph *g = net_new();
        assay_attrs attr = {.conv = {.group = group}};
        int x = net_input(g, "x", NET_SHAPE(1, 4, 3, 3));
        net_output(g,
                   net_node(g, ASSAY_OP_CONV_TRANSPOSE, "y", &attr, x,
                            net_constant(g, &rng, "w", -1, 1, NET_SHAPE(4, 6 / group, 2, 2)), -2));
        quantized s = prepare(g, &rng, "tflite");
        quantize(&s, (assay_quantize_options){0});
        const assay_qparams *q = &type_of(&s, "w")->q;
        assert_int_equal(q->granularity, group == 1 ? ASSAY_Q_AXIS : ASSAY_Q_TENSOR);
        assert_int_equal(q->count, group == 1 ? 6 : 1);
        assert_int_equal(q->axis, group == 1 ? 1 : 0);
        assert_true(output_sqnr(&s, &rng, 0) > 24);
        drop(&s);
    }
}

static void test_integer_io(void **state)
{
    test_rng rng = rng_of(state);
    quantized s = prepare(classifier(&rng), &rng, "tflite");
    quantize(&s, (assay_quantize_options){.integer_io = true});
    assert_int_equal(s.report.n_convert, 0);
    assert_int_equal(type_of(&s, "x")->elem.bits, 8);
    assert_string_equal(s.q->value[s.q->output[0]].name, "y");
    assert_string_equal(s.q->value[s.q->output[1]].name, "logits");
    drop(&s);
}

static void test_power_of_two(void **state)
{
    test_rng rng = rng_of(state);
    quantized s = prepare(classifier(&rng), &rng, "tflite");
    quantize(&s, (assay_quantize_options){.has_schema = true,
                                          .activation = {.schema = ASSAY_SCHEMA_POWER_OF_TWO}});
    for (int v = 0; v < s.q->n_values; v++)
        for (size_t i = 0; i < s.q->value[v].type.q.count; i++) {
            int exponent;
            assert_true(frexpf(s.q->value[v].type.q.scale[i], &exponent) == 0.5f);
        }
    drop(&s);
}

/* Unsigned activations without zero points: what is never negative starts at code 0, the rest goes
 * to the signed type of the same width. */
static void test_unsigned_without_zero_point(void **state)
{
    test_rng rng = rng_of(state);
    quantized s = prepare(classifier(&rng), &rng, "finn-threshold");
    quantize(&s, (assay_quantize_options){0});
    assert_true(type_of(&s, "x:q")->elem.is_signed);
    assert_false(type_of(&s, "relu1")->elem.is_signed);
    assert_true(type_of(&s, "sum")->elem.is_signed);
    for (int v = 0; v < s.q->n_values; v++)
        for (size_t i = 0; i < s.q->value[v].type.q.count; i++)
            assert_int_equal(s.q->value[v].type.q.zero_point[i], 0);
    assert_true(output_sqnr(&s, &rng, 1) > 8); /* 4 bits */
    drop(&s);
}

static void test_refusals(void **state)
{
    test_rng rng = rng_of(state);
    quantized s = prepare(classifier(&rng), &rng, "tflite"),
              other = prepare(classifier(&rng), &rng, "npu16");
    const assay_precision_rule nobody[] = {{"conv9", assay_f32()}},
                               wide[] = {{"*", assay_int(24, true)}};
    assay_quantize_options none = {0}, unmatched = {.precision = nobody, .n_precision = 1},
                           too_wide = {.precision = wide, .n_precision = 1},
                           asymmetric = {.has_schema = true,
                                         .activation = {.schema = ASSAY_SCHEMA_ASYMMETRIC}};
    assay_graph *q;
    assay_error err;
    assert_refused(assay_quantize(s.g, other.profile, s.scheme, &none, &q, NULL, &err), &err,
                   "other weights");
    assert_refused(assay_quantize(s.g, s.profile, s.scheme, &unmatched, &q, NULL, &err), &err,
                   "conv9");
    assert_refused(assay_quantize(s.g, s.profile, s.scheme, &too_wide, &q, NULL, &err), &err,
                   "2 to 16 bits");
    assert_refused(
        assay_quantize(other.g, other.profile, other.scheme, &asymmetric, &q, NULL, &err), &err,
        "npu16");
    ((float *)(uintptr_t)s.g->value[assay_graph_find_value(s.g, "wf")].data)[7] = NAN;
    assay_profile *p;
    assert_ok(assay_profile_new(s.g, &p, &err), &err);
    float x[1] = {1};
    for (int v = 0; v < s.g->n_values; v++)
        assay_profile_observe(p, v, x, 1);
    assert_refused(assay_quantize(s.g, p, s.scheme, &none, &q, NULL, &err), &err,
                   "constant 'wf': element 7");
    assert_null(q);
    assay_profile_free(p);
    drop(&s);
    drop(&other);
}

int main(void)
{
    test_rng rng = test_seed("quantize", 20261121);
    void *state = &rng;
#define WITH_RNG(test) cmocka_unit_test_prestate(test, state)
    const struct CMUnitTest tests[] = {
        WITH_RNG(test_names_and_parameters),
        WITH_RNG(test_accuracy),
        WITH_RNG(test_per_channel_beats_per_tensor),
        WITH_RNG(test_unsupported_stays_float),
        WITH_RNG(test_masks_stay_float),
        WITH_RNG(test_moves_between_float_nodes_stay),
        WITH_RNG(test_shared_input_is_not_fused),
        WITH_RNG(test_concat),
        WITH_RNG(test_embedding),
        WITH_RNG(test_precision_rules),
        WITH_RNG(test_constants_with_two_readers),
        WITH_RNG(test_bias_fits),
        WITH_RNG(test_transposed_convolution_axis),
        WITH_RNG(test_integer_io),
        WITH_RNG(test_power_of_two),
        WITH_RNG(test_unsigned_without_zero_point),
        WITH_RNG(test_refusals),
    };
    return cmocka_run_group_tests_name("quantize", tests, NULL, NULL);
}
