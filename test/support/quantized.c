/* A network, its profile, and its quantized form, for tests. */
#include "test/support/quantized.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "interp/run/evaluate.h"
#include "interp/run/program.h"
#include "opt/lower/opt.h"

static void profile_sample(assay_profile *p, const assay_graph *g, test_rng *rng, uint64_t sample,
                           quantized_draw draw)
{
    assay_graph *run;
    assay_error err;
    float *x[4];
    assert_ok(assay_graph_clone(g, &run, &err), &err);
    for (int i = 0; i < g->n_inputs; i++)
        x[i] = draw(rng, g, i);
    net_run(run, (const float *const *)x);
    for (int v = 0; v < g->n_values; v++)
        if (g->value[v].type.elem.kind == ASSAY_KIND_F32)
            profile_observe(p, v, run->value[v].data, (size_t)assay_shape_count(&g->value[v].type));
    assert_ok(profile_add_sample(p, sample, &err), &err);
    for (int i = 0; i < g->n_inputs; i++)
        free(x[i]);
    assay_graph_free(run);
}

static quantized prepare(assay_graph *g, test_rng *rng, const char *scheme, quantized_draw draw,
                         bool by_channel)
{
    quantized s = {.g = g};
    assay_error err;
    assert_ok(lower_canonicalize(g, run_evaluate_node, &err), &err);
    assert_ok(profile_new(g, &s.profile, &err), &err);
    if (by_channel)
        assert_ok(profile_by_channel(s.profile, g, "*", &err), &err);
    for (uint64_t i = 0; i < 64; i++)
        profile_sample(s.profile, g, rng, i, draw);
    if (strchr(scheme, ':'))
        assert_ok(assay_scheme_parse("test.yaml", scheme, strlen(scheme), &s.scheme, &err), &err);
    else
        assert_ok(assay_scheme_open(scheme, &s.scheme, &err), &err);
    return s;
}

quantized quantized_prepare_drawn(assay_graph *g, test_rng *rng, const char *scheme,
                                  quantized_draw draw)
{
    return prepare(g, rng, scheme, draw, false);
}

quantized quantized_prepare_channels(assay_graph *g, test_rng *rng, const char *scheme)
{
    return prepare(g, rng, scheme, net_random_input, true);
}

quantized quantized_prepare(assay_graph *g, test_rng *rng, const char *scheme)
{
    return quantized_prepare_drawn(g, rng, scheme, net_random_input);
}

bool quantized_has_kernel(assay_op op)
{
    return ref_kernel(op).run != NULL;
}

void quantized_make(quantized *s, assay_quantize_options options)
{
    assay_error err;
    options.has_kernel = quantized_has_kernel;
    assert_ok(quantize_network(s->g, s->profile, s->scheme, &options, &s->q, &s->report, &err),
              &err);
}

void quantized_drop(quantized *s)
{
    assay_graph_free(s->g);
    assay_graph_free(s->q);
    profile_free(s->profile);
    assay_scheme_free(s->scheme);
    quantize_report_free(&s->report);
}

const assay_type *quantized_type(const quantized *s, const char *name)
{
    int v = assay_graph_find_value(s->q, name);
    if (v < 0)
        fail_msg("there is no value '%s'", name);
    return &s->q->value[v].type;
}

void quantized_assert_same(const quantized *s, const char *a, const char *b)
{
    if (!assay_qparams_equal(&quantized_type(s, a)->q, &quantized_type(s, b)->q))
        fail_msg("'%s' and '%s' have different parameters", a, b);
}

const char *quantized_reason(const quantized *s, const char *node)
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

double quantized_sqnr(const quantized *s, test_rng *rng, int k)
{
    return quantized_sqnr_drawn(s, rng, k, net_random_input);
}

double quantized_sqnr_drawn(const quantized *s, test_rng *rng, int k, quantized_draw draw)
{
    assay_program *program;
    assay_run *run;
    assay_graph *reference;
    assay_error err;
    float *x[4];
    double signal = 1e-30, noise = 1e-30;
    assert_ok(assay_graph_clone(s->g, &reference, &err), &err);
    assert_ok(assay_program_make_as_is(s->q, s->scheme, true, &program, &err), &err);
    assert_ok(assay_run_new(program, &run, &err), &err);
    for (int i = 0; i < s->g->n_inputs; i++) {
        x[i] = draw(rng, s->g, i);
        memcpy(assay_run_data(run, s->q->input[i]), x[i],
               assay_type_bytes(&s->g->value[s->g->input[i]].type));
    }
    net_run(reference, (const float *const *)x);
    assert_ok(run_execute(run, NULL, false, NULL, &err), &err);
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

assay_graph *quantized_classifier(test_rng *rng)
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
