/* Random networks over every op that the builder below knows: whatever the options and the target,
 * they quantize, verify, and run; names survive; the parameters obey the rules. */
#include "test/support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "interp/run/evaluate.h"
#include "interp/run/program.h"
#include "opt/lower/opt.h"
#include "opt/quantize/quantize.h"
#include "test/support/net.h"

#define NETWORKS 40
#define MAX_LIVE 40

/* A network under construction: all its values have rank 4. */
typedef struct growing {
    assay_graph *g;
    test_rng *rng;
    int live[MAX_LIVE], n_live, n_names;
    char name[16];
} growing;

static const char *next_name(growing *w)
{
    snprintf(w->name, sizeof w->name, "v%d", w->n_names++);
    return w->name;
}

static const assay_type *type(const growing *w, int v)
{
    return &w->g->value[v].type;
}

static int pick(growing *w)
{
    return w->live[test_between(w->rng, 0, w->n_live - 1)];
}

/* A living value of the same shape as v, perhaps v itself. */
static int like(growing *w, int v)
{
    for (int i = 0; i < 20; i++) {
        int u = pick(w);
        if (assay_shape_equal(type(w, u), type(w, v)))
            return u;
    }
    return v;
}

static int constant(growing *w, double lo, double hi, int rank, const int64_t *dim)
{
    char name[16];
    snprintf(name, sizeof name, "c%d", w->n_names++);
    return net_constant(w->g, w->rng, name, lo, hi, rank, dim);
}

static int convolution(growing *w, int x)
{
    int64_t c = type(w, x)->dim[1];
    bool depthwise = test_between(w->rng, 0, 1);
    assay_attrs a = {
        .conv = {.group = depthwise ? c : 1, .pad_begin = {2, {1, 1}}, .pad_end = {2, {1, 1}}}};
    int64_t out = depthwise ? c : test_between(w->rng, 1, 6);
    int k = constant(w, -1, 1, NET_SHAPE(out, depthwise ? 1 : c, 3, 3));
    int b = constant(w, -1, 1, NET_SHAPE(out));
    int y = test_between(w->rng, 0, 2)
                ? net_node(w->g, ASSAY_OP_CONV, next_name(w), &a, x, k, b, -2)
                : net_node(w->g, ASSAY_OP_CONV, next_name(w), &a, x, k, -2);
    if (test_between(w->rng, 0, 1))
        return y;
    int p[4];
    for (int i = 0; i < 4; i++)
        p[i] = constant(w, i % 3 ? -1 : 0.5, 2 - i % 3, NET_SHAPE(out));
    return net_node(w->g, ASSAY_OP_BATCH_NORM, next_name(w), NULL, y, p[0], p[1], p[2], p[3], -2);
}

static int transposed(growing *w, int x)
{
    int64_t c = type(w, x)->dim[1], out = test_between(w->rng, 1, 4);
    if (type(w, x)->dim[2] > 8)
        return x;
    assay_attrs a = {.conv = {.group = 1, .stride = {2, {2, 2}}}};
    return net_node(w->g, ASSAY_OP_CONV_TRANSPOSE, next_name(w), &a, x,
                    constant(w, -1, 1, NET_SHAPE(c, out, 2, 2)), -2);
}

static int unary(growing *w, int x)
{
    static const assay_op ops[] = {
        ASSAY_OP_RELU,       ASSAY_OP_RELU,    ASSAY_OP_RELU, ASSAY_OP_CLIP, ASSAY_OP_LEAKY_RELU,
        ASSAY_OP_SIGMOID,    ASSAY_OP_TANH,    ASSAY_OP_EXP,  ASSAY_OP_ABS,  ASSAY_OP_NEG,
        ASSAY_OP_HARD_SWISH, ASSAY_OP_SOFTMAX, ASSAY_OP_GELU, ASSAY_OP_LRN};
    assay_op op = ops[test_between(w->rng, 0, sizeof ops / sizeof *ops - 1)];
    assay_attrs a = {0}, *given = &a;
    if (op == ASSAY_OP_CLIP)
        a.clip = (assay_attr_clip){.lo = 0, .hi = 6};
    else if (op == ASSAY_OP_LRN)
        a.lrn = (assay_attr_lrn){.size = 3, .alpha = 0.01f, .beta = 0.75f, .bias = 1};
    else
        given = NULL;
    if (op == ASSAY_OP_EXP) /* bounded first, or chains of it leave every range */
        x = net_node(w->g, ASSAY_OP_TANH, next_name(w), NULL, x, -2);
    return net_node(w->g, op, next_name(w), given, x, -2);
}

static int binary(growing *w, int x)
{
    static const assay_op ops[] = {ASSAY_OP_ADD, ASSAY_OP_ADD, ASSAY_OP_SUB,  ASSAY_OP_MUL,
                                   ASSAY_OP_MIN, ASSAY_OP_MAX, ASSAY_OP_PRELU};
    assay_op op = ops[test_between(w->rng, 0, 6)];
    int64_t c = type(w, x)->dim[1];
    bool fixed = op == ASSAY_OP_PRELU || test_between(w->rng, 0, 2) == 0;
    int y = fixed ? constant(w, -1, 1, NET_SHAPE(c, 1, 1)) : like(w, x);
    return net_node(w->g, op, next_name(w), NULL, x, y, -2);
}

static int pool(growing *w, int x)
{
    assay_attrs a = {.pool = {.kernel = {2, {2, 2}}, .stride = {2, {2, 2}}}};
    assay_attrs mean = {.reduce = {.axes = {2, {2, 3}}, .keepdims = true}};
    if (type(w, x)->dim[2] < 2 || type(w, x)->dim[3] < 2)
        return net_node(w->g, ASSAY_OP_REDUCE_MEAN, next_name(w), &mean, x, -2);
    return net_node(w->g, test_between(w->rng, 0, 1) ? ASSAY_OP_MAX_POOL : ASSAY_OP_AVG_POOL,
                    next_name(w), &a, x, -2);
}

static int move(growing *w, int x)
{
    const int64_t *d = type(w, x)->dim;
    assay_attrs a = {0};
    switch (test_between(w->rng, 0, 4)) {
    case 0:
        a.shape.shape = (assay_list){4, {1, d[1] * d[2], d[3], 1}};
        return net_node(w->g, ASSAY_OP_RESHAPE, next_name(w), &a, x, -2);
    case 1:
        a.perm.perm = (assay_list){4, {0, 1, 3, 2}};
        return net_node(w->g, ASSAY_OP_TRANSPOSE, next_name(w), &a, x, -2);
    case 2:
        a.pad = (assay_attr_pad){.begin = {4, {0, 0, 1, 0}}, .end = {4, {0, 0, 0, 1}}};
        a.pad.value = test_between(w->rng, 0, 1) ? 0.0f : 0.5f;
        return net_node(w->g, ASSAY_OP_PAD, next_name(w), &a, x, -2);
    case 3:
        a.slice = (assay_attr_slice){.begin = {4, {0, 0, 0, d[3] - 1}},
                                     .step = {4, {1, 1, 1, -1}},
                                     .size = {4, {1, d[1], (d[2] + 1) / 2, d[3]}}};
        return net_node(w->g, ASSAY_OP_SLICE, next_name(w), &a, x, -2);
    default:
        a.axis.axis = 1;
        if (d[1] > 24)
            return x;
        return test_between(w->rng, 0, 1)
                   ? net_node(w->g, ASSAY_OP_CONCAT, next_name(w), &a, x, like(w, x), -2)
                   : net_node(w->g, ASSAY_OP_CONCAT, next_name(w), &a, x,
                              constant(w, -3, 3, NET_SHAPE(1, 2, d[2], d[3])), -2);
    }
}

static int linear(growing *w, int x)
{
    int64_t k = type(w, x)->dim[3];
    return net_node(w->g, ASSAY_OP_MATMUL, next_name(w), NULL, x,
                    constant(w, -1, 1, NET_SHAPE(k, test_between(w->rng, 1, 5))), -2);
}

static assay_graph *random_network(test_rng *rng)
{
    static int (*const grow[])(growing *, int) = {convolution, convolution, transposed, unary,
                                                  unary,       unary,       binary,     binary,
                                                  pool,        move,        move,       linear};
    growing w = {.g = net_new(), .rng = rng};
    w.live[w.n_live++] = net_input(w.g, "x", NET_SHAPE(1, 3, 6, 6));
    for (int64_t left = test_between(rng, 4, 25); left > 0; left--) {
        int y = grow[test_between(rng, 0, 11)](&w, pick(&w));
        if (w.n_live < MAX_LIVE && assay_shape_count(type(&w, y)) < 4000)
            w.live[w.n_live++] = y;
    }
    for (int v = w.g->n_values - 1, n = 0; v > 0 && n < 4; v--)
        if (w.g->value[v].producer >= 0 && assay_graph_count_uses(w.g, v) == 0) {
            net_output(w.g, v);
            n++;
        }
    return w.g;
}

static void observe(assay_profile *p, const assay_graph *g, test_rng *rng, uint64_t sample)
{
    assay_graph *run;
    assay_error err;
    float *x = net_random_input(rng, g, 0);
    assert_ok(assay_graph_clone(g, &run, &err), &err);
    net_run(run, (const float *const[]){x});
    for (int v = 0; v < g->n_values; v++)
        profile_observe(p, v, run->value[v].data, (size_t)assay_shape_count(&g->value[v].type));
    assert_ok(profile_add_sample(p, sample, &err), &err);
    assay_graph_free(run);
    free(x);
}

static bool has_kernel(assay_op op)
{
    return ref_kernel(op).run != NULL;
}

/* Inputs and outputs of data movement have equal parameters; biases have scale in * weight. */
static void check_parameters(const assay_graph *q)
{
    for (int i = 0; i < q->n_nodes; i++) {
        const assay_node *n = &q->node[i];
        uint32_t traits = assay_op_get(n->op)->traits;
        if (!assay_node_is_quantized(q, n))
            continue;
        for (int j = 0; j < n->n_in && (traits & ASSAY_T_MOVE); j++)
            if (!assay_qparams_equal(&assay_node_in(q, n, j)->type.q,
                                     &assay_node_out(q, n, 0)->type.q))
                fail_msg("%s changes parameters", n->name);
        if (!(traits & ASSAY_T_WEIGHTED) || n->n_in < 3)
            continue;
        const assay_qparams *x = &assay_node_in(q, n, 0)->type.q;
        const assay_qparams *w = &assay_node_in(q, n, 1)->type.q;
        const assay_qparams *b = &assay_node_in(q, n, 2)->type.q;
        assert_int_equal(b->count, w->count);
        for (size_t c = 0; c < w->count; c++)
            assert_true(b->scale[c] == x->scale[0] * w->scale[c] && b->zero_point[c] == 0);
    }
}

/* The zero points are those that the target allows, and so is a power of two. */
static void check_capabilities(const assay_graph *q, const assay_scheme *scheme)
{
    assay_scheme_caps caps;
    assay_scheme_get_caps(scheme, &caps);
    for (int v = 0; v < q->n_values; v++) {
        const assay_type *t = &q->value[v].type;
        for (size_t i = 0; i < t->q.count; i++) {
            int exponent, z = t->q.zero_point[i];
            int middle = t->elem.is_signed ? 0 : 1 << (t->elem.bits - 1);
            bool any = t->elem.bits > 8 ? caps.wide_zero_point : caps.activation_zero_point;
            bool allowed = z == 0 || (any && (!caps.zero_point_middle_only || z == middle));
            if (!allowed || (caps.power_of_two && frexpf(t->q.scale[i], &exponent) != 0.5f))
                fail_msg("scheme %s, value %s: scale %g, zero point %d", scheme->name,
                         q->value[v].name, (double)t->q.scale[i], z);
        }
    }
}

/* Every value that is still there has its name; those that are not were fused into a bound. */
static void check_names(const assay_graph *g, const assay_graph *q, int fused)
{
    int gone = 0;
    for (int v = 0; v < g->n_values; v++)
        gone += assay_graph_find_value(q, g->value[v].name) < 0;
    assert_int_equal(gone, fused);
}

static void run_it(const assay_graph *q, const assay_scheme *scheme, test_rng *rng)
{
    assay_program *program;
    assay_run *run;
    assay_error err;
    float *x = net_random_input(rng, q, 0);
    assert_ok(assay_program_make_as_is(q, scheme, false, &program, &err), &err);
    assert_ok(assay_run_new(program, &run, &err), &err);
    memcpy(assay_run_data(run, q->input[0]), x, assay_type_bytes(&q->value[q->input[0]].type));
    assert_ok(run_execute(run, NULL, false, NULL, &err), &err);
    for (int k = 0; k < q->n_outputs; k++) {
        const assay_type *t = &q->value[q->output[k]].type;
        const float *y = assay_run_data(run, q->output[k]);
        for (int64_t i = 0; i < assay_shape_count(t); i++)
            assert_true(isfinite(y[i]));
    }
    assay_run_free(run);
    assay_program_free(program);
    free(x);
}

static void quantize_one(test_rng *rng)
{
    const char *const *presets = assay_scheme_presets();
    int n_presets = 0;
    while (presets[n_presets])
        n_presets++;
    const assay_precision_rule rules[] = {{"v3", assay_f32()}, {"v1*", assay_int(16, true)}};
    assay_quantize_options o = {
        .calibration = {.method = (assay_calibration)test_between(rng, 0, 3)},
        .weights = (assay_weight_scales)test_between(rng, 0, 1),
        .power_of_two = test_between(rng, 0, 3) == 0,
        .has_kernel = has_kernel};
    const char *scheme_name = presets[test_between(rng, 0, n_presets - 1)];
    assay_graph *g = random_network(rng), *q;
    assay_quantize_report report;
    assay_scheme *scheme;
    assay_profile *p;
    assay_error err;
    assert_ok(lower_canonicalize(g, run_evaluate_node, &err), &err);
    if (assay_graph_find_value(g, "v3") >= 0 && test_between(rng, 0, 1)) {
        o.precision = rules;
        o.n_precision = 1 + (assay_graph_find_value(g, "v1") >= 0);
    }
    assert_ok(profile_new(g, &p, &err), &err);
    for (uint64_t i = 0; i < 4; i++)
        observe(p, g, rng, i);
    assert_ok(assay_scheme_open(scheme_name, &scheme, &err), &err);
    assay_status status = quantize_network(g, p, scheme, &o, &q, &report, &err);
    if (status == ASSAY_ERR_INPUT && strstr(err.text, "no node, op or output")) {
        o.n_precision = 0; /* the lowering took that node away */
        status = quantize_network(g, p, scheme, &o, &q, &report, &err);
    }
    assert_ok(status, &err);
    for (int i = 0; i < report.n_float; i++)
        assert_true(strlen(report.float_node[i].reason) > 0);
    check_parameters(q);
    check_capabilities(q, scheme);
    check_names(g, q, report.n_fused);
    run_it(q, scheme, rng);
    quantize_report_free(&report);
    assay_graph_free(q);
    assay_graph_free(g);
    profile_free(p);
    assay_scheme_free(scheme);
}

static void test_random_networks(void **state)
{
    (void)state;
    test_rng rng = test_seed("quantize_random", 20261121);
    for (int i = 0; i < NETWORKS; i++)
        quantize_one(&rng);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_networks)};
    return cmocka_run_group_tests_name("quantize_random", tests, NULL, NULL);
}
