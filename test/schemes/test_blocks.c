/* Weights with a scale for each block of inputs: conv (both layouts, groups), fc and matmul (both
 * orientations) under random records against sums written from the definition of the type (scale
 * of a weight = its index with the block axis divided) and of the record; refusals; what the
 * quantizer, the grouping of a QDQ network, the engines and the optimizer make of such weights. */
#include "test/support/roundings.h"
#include "test/support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/text/text.h"
#include "interp/kernel/kernel.h"
#include "interp/run/both.h"
#include "interp/run/program.h"
#include "opt/quantize/qdq.h"
#include "schemes/round.h"
#include "schemes/scheme.h"
#include "test/support/net.h"
#include "test/support/op_case.h"
#include "test/support/quantized.h"

#define MAX 256

/* ---- the record ---- */

typedef struct record {
    int bits, block_bits, shift, sum_bits, lanes;
    bool pow2, wraps_sum, bias_first;
    const char *overflow, *order;
    enum assay_rounding multiplier_round, round;
} record;

static record draw_record(test_rng *r)
{
    static const char *const overflows[] = {"wrap", "saturate-each-step", "saturate-at-end"};
    static const char *const orders[] = {"forward", "reverse", "lanes"};
    int order = (int)test_between(r, 0, 2);
    return (record){
        .bits = (int)test_between(r, 12, 40),
        .block_bits = (int)test_between(r, 1, 12),
        .shift = (int)test_between(r, 0, 8),
        .sum_bits = test_between(r, 0, 1) ? (int)test_between(r, 10, 18) : 0,
        .lanes = order == 2 ? (int)test_between(r, 2, 3) : 1,
        .pow2 = test_between(r, 0, 1),
        .wraps_sum = test_between(r, 0, 1),
        .bias_first = test_between(r, 0, 1),
        .overflow = overflows[test_between(r, 0, 2)],
        .order = orders[order],
        .multiplier_round = (enum assay_rounding)test_between(r, 0, ASSAY_ROUND_COUNT - 1),
        .round = (enum assay_rounding)test_between(r, 0, ASSAY_ROUND_COUNT - 1),
    };
}

static assay_scheme *open_record(const record *k)
{
    char text[640];
    assay_scheme *s;
    assay_error err;
    snprintf(text, sizeof text,
             "scheme: t\ntypes: {weight_scales: per-block, weight_zero_point: any}\n"
             "accumulator: {bits: %d, overflow: %s, order: %s, lanes: %d, bias: %s}\n"
             "blocks: {kind: multiplier, size: 4, unit: %s, multiplier_bits: %d, "
             "multiplier_round: %s, sum_bits: %d, sum_overflow: %s, shift: %d, round: %s}\n"
             "rescale: {multiplier_bits: 16, left_shift: product, round: [half-up]}\n",
             k->bits, k->overflow, k->order, k->lanes, k->bias_first ? "first" : "last",
             k->pow2 ? "power-of-two" : "largest", k->block_bits,
             assay_rounding_name(k->multiplier_round), k->sum_bits,
             k->sum_bits > 0 && k->wraps_sum ? "wrap" : "saturate", k->shift,
             k->shift > 0 ? assay_rounding_name(k->round) : "half-up");
    assert_ok(assay_scheme_parse("t.yaml", text, strlen(text), &s, &err), &err);
    return s;
}

/* ---- its arithmetic, once more ---- */

static int64_t floor_of(long double v)
{
    return (int64_t)floorl(v);
}

static int64_t narrow(int64_t v, int bits, bool wraps)
{
    int64_t size = INT64_C(1) << bits, half = size / 2;
    if (!wraps)
        return v < -half ? -half : v >= half ? half - 1 : v;
    int64_t rest = (v + half) % size;
    return rest < 0 ? rest + half : rest - half;
}

static int64_t add(const record *k, int64_t acc, int64_t term)
{
    return narrow(acc + term, k->bits, strcmp(k->overflow, "wrap") == 0);
}

/* Terms in order under the accumulator's policy. */
static int64_t gather(const record *k, const int64_t *term, int n, int64_t bias)
{
    int64_t acc = 0, sum = bias;
    if (strcmp(k->overflow, "saturate-each-step") != 0) {
        for (int i = 0; i < n; i++)
            sum += term[i];
        return add(k, 0, sum);
    }
    acc = k->bias_first ? add(k, 0, bias) : 0;
    for (int lane = 0; lane < k->lanes; lane++) {
        int64_t part = k->lanes > 1 ? 0 : acc;
        for (int i = lane; i < n; i += k->lanes)
            part = add(k, part, term[strcmp(k->order, "reverse") == 0 ? n - 1 - i : i]);
        acc = k->lanes > 1 ? add(k, acc, part) : part;
    }
    return k->bias_first ? acc : add(k, acc, bias);
}

/* ---- networks of one node ---- */

typedef struct product {
    const char *what, *line; /* the node in text form */
    int64_t x[4], w[4], y[4];
    struct {
        int x, w, y;
    } rank;
    int axis, channel; /* of the weights */
    int64_t block, outputs;
    bool has_bias;
} product;

static const product products[] = {
    {"conv",
     "conv(x, w, b) {group=2}",
     {1, 10, 3, 3},
     {4, 5, 2, 2},
     {1, 4, 2, 2},
     {4, 4, 4},
     1,
     0,
     2,
     4,
     true},
    {"conv nhwc",
     "conv(x, w, b) {layout=nhwc}",
     {1, 3, 3, 7},
     {3, 2, 2, 7},
     {1, 2, 2, 3},
     {4, 4, 4},
     3,
     0,
     3,
     3,
     true},
    {"conv along the kernel",
     "conv(x, w, b)",
     {1, 3, 4, 4},
     {2, 3, 3, 2},
     {1, 2, 2, 3},
     {4, 4, 4},
     2,
     0,
     2,
     2,
     true},
    {"fc", "fc(x, w, b)", {3, 11}, {5, 11}, {3, 5}, {2, 2, 2}, 1, 0, 4, 5, true},
    {"matmul", "matmul(x, w)", {2, 3, 9}, {9, 4}, {2, 3, 4}, {3, 2, 3}, 0, 1, 2, 4, false},
    {"matmul transposed",
     "matmul(x, w) {transpose_b=true}",
     {2, 9},
     {4, 9},
     {2, 4},
     {2, 2, 2},
     1,
     0,
     9,
     4,
     false},
};

typedef struct filled {
    assay_graph *g;
    const assay_type *tw;
    int64_t x[MAX], w[MAX], bias[8];
    int64_t n_scales, scale_dim[4];
    double unit[8];
} filled;

static assay_type typed(unsigned bits, const int64_t *dim, int rank)
{
    assay_type t = {.elem = assay_int(bits, true), .rank = rank};
    for (int i = 0; i < rank; i++)
        t.dim[i] = dim[i];
    return t;
}

static int64_t count(const int64_t *dim, int rank)
{
    const assay_type t = typed(8, dim, rank);
    return assay_shape_count(&t);
}

/* The channel's unit as section `blocks` of record.def says. */
static double unit_of(const record *k, const filled *f, const product *p, const float *scale,
                      int64_t channel)
{
    float largest = 0;
    assay_type st = typed(8, f->scale_dim, p->rank.w);
    for (int64_t i = 0; i < f->n_scales; i++) {
        int64_t index[ASSAY_MAX_RANK];
        op_unravel(&st, i, index);
        if (index[p->channel] == channel && scale[i] > largest)
            largest = scale[i];
    }
    double exact = k->pow2 ? exp2(floor(log2((double)largest)) + 1 - k->block_bits)
                           : (double)largest / (exp2(k->block_bits) - 1);
    return (double)(float)exact;
}

static void draw_values(filled *f, const product *p, const record *k, test_rng *r, float *scale,
                        int32_t *zero)
{
    memset(f, 0, sizeof *f);
    memcpy(f->scale_dim, p->w, sizeof f->scale_dim);
    f->scale_dim[p->axis] = (p->w[p->axis] + p->block - 1) / p->block;
    f->n_scales = count(f->scale_dim, p->rank.w);
    for (int64_t i = 0; i < f->n_scales; i++) {
        scale[i] = (float)(0.01 + 0.04 * test_unit(r));
        zero[i] = (int32_t)test_between(r, -2, 2);
    }
    for (int64_t i = 0; i < count(p->x, p->rank.x); i++)
        f->x[i] = test_between(r, -128, 127);
    for (int64_t i = 0; i < count(p->w, p->rank.w); i++)
        f->w[i] = test_between(r, -16, 15);
    for (int64_t i = 0; i < p->outputs; i++) {
        f->bias[i] = p->has_bias ? test_between(r, -3000, 3000) : 0;
        f->unit[i] = unit_of(k, f, p, scale, i);
    }
}

static void add_constants(filled *f, const product *p, const assay_type *w, int *v)
{
    const assay_type b = typed(32, &p->outputs, 1);
    assay_error err;
    int8_t codes[MAX];
    int32_t bias[8];
    for (int64_t i = 0; i < count(p->w, p->rank.w); i++)
        codes[i] = (int8_t)f->w[i];
    for (int64_t i = 0; i < p->outputs; i++)
        bias[i] = (int32_t)f->bias[i];
    assert_ok(assay_graph_add_constant(f->g, "w", w, codes, &v[1], &err), &err);
    if (p->has_bias)
        assert_ok(assay_graph_add_constant(f->g, "b", &b, bias, &v[2], &err), &err);
}

/* The op that the product's line names, and its attributes. */
static assay_op op_of(const product *p, assay_attrs *a)
{
    char text[128];
    snprintf(text, sizeof text, "%s", p->line);
    const assay_op op = assay_op_find(strtok(text, "("));
    assay_attrs_defaults(assay_op_get(op)->attrs, a);
    if (op == ASSAY_OP_CONV) {
        a->conv.group = strstr(p->line, "group=2") ? 2 : 1;
        a->conv.layout = strstr(p->line, "nhwc") ? ASSAY_LAYOUT_NHWC : ASSAY_LAYOUT_NCHW;
    } else if (op == ASSAY_OP_MATMUL) {
        a->matmul.transpose_b = strstr(p->line, "transpose_b") != NULL;
    }
    return op;
}

static void fill(filled *f, const product *p, const record *k, test_rng *r)
{
    static float scale[MAX];
    static int32_t zero[MAX];
    static const float x_scale = 0.05F, y_scale = 0.4F;
    static const int32_t x_zero = 3, y_zero = -5;
    assay_error err;
    assay_attrs a;
    const assay_op op = op_of(p, &a);
    int v[4], node;
    draw_values(f, p, k, r, scale, zero);
    assay_type x = typed(8, p->x, p->rank.x), w = typed(5, p->w, p->rank.w);
    assay_type y = typed(8, p->y, p->rank.y);
    x.q = (assay_qparams){ASSAY_Q_TENSOR, 0, 0, 1, &x_scale, &x_zero};
    w.q = (assay_qparams){ASSAY_Q_BLOCK, p->axis, p->block, (size_t)f->n_scales, scale, zero};
    y.q = (assay_qparams){ASSAY_Q_TENSOR, 0, 0, 1, &y_scale, &y_zero};
    f->g = net_new();
    assert_ok(assay_graph_add_value(f->g, "x", &x, &v[0], &err), &err);
    assert_ok(assay_graph_set_inputs(f->g, v, 1, &err), &err);
    add_constants(f, p, &w, v);
    assert_ok(assay_graph_add_value(f->g, "y", &y, &v[3], &err), &err);
    assert_ok(
        assay_graph_add_node(f->g, op, "y", v, p->has_bias ? 3 : 2, &v[3], 1, &a, &node, &err),
        &err);
    assert_ok(assay_graph_set_outputs(f->g, &v[3], 1, &err), &err);
    assert_ok(assay_graph_verify(f->g, &err), &err);
    f->tw = &f->g->value[v[1]].type;
}

/* The element of x that weight `w` of an output channel meets at output y. */
static int64_t seen(const product *p, const int64_t *y, const int64_t *w)
{
    assay_type tx = typed(8, p->x, p->rank.x);
    int64_t at[ASSAY_MAX_RANK] = {0};
    if (p->rank.w == 4 && p->axis != 3)
        memcpy(at,
               (int64_t[]){0, y[1] / (p->outputs / (p->x[1] / p->w[1])) * p->w[1] + w[1],
                           y[2] + w[2], y[3] + w[3]},
               4 * sizeof *at);
    else if (p->rank.w == 4)
        memcpy(at, (int64_t[]){0, y[1] + w[1], y[2] + w[2], w[3]}, 4 * sizeof *at);
    else {
        memcpy(at, y, (size_t)p->rank.y * sizeof *at);
        at[p->rank.x - 1] = w[1 - p->channel];
    }
    return op_ravel(&tx, at);
}

static int64_t code_of(const product *p, const record *k, const filled *f, int64_t i)
{
    const assay_type ty = typed(8, p->y, p->rank.y), tw = typed(5, p->w, p->rank.w),
                     ts = typed(8, f->scale_dim, p->rank.w);
    const assay_qparams *q = &f->tw->q;
    int64_t y[ASSAY_MAX_RANK], sum[MAX] = {0}, term[MAX];
    op_unravel(&ty, i, y);
    int64_t channel = p->rank.w == 4 && p->axis != 3 ? y[1] : y[p->rank.y - 1];
    for (int64_t j = 0; j < count(p->w, p->rank.w); j++) {
        int64_t w[ASSAY_MAX_RANK];
        op_unravel(&tw, j, w);
        if (w[p->channel] != channel)
            continue;
        int64_t x = f->x[seen(p, y, w)] - 3;
        w[p->axis] /= p->block;
        int64_t s = op_ravel(&ts, w);
        sum[s] += x * (f->w[j] - q->zero_point[s]);
    }
    int n = 0;
    for (int64_t s = 0; s < f->n_scales; s++) {
        int64_t at[ASSAY_MAX_RANK];
        op_unravel(&ts, s, at);
        if (at[p->channel] != channel)
            continue;
        int64_t max = (INT64_C(1) << k->block_bits) - 1;
        int64_t m = test_rounded((long double)((double)q->scale[s] / f->unit[channel]),
                                 k->multiplier_round);
        m = m < max ? m : max;
        int64_t v = k->sum_bits ? narrow(sum[s], k->sum_bits, k->wraps_sum) : sum[s];
        term[n++] = test_rounded(ldexpl((long double)(v * m), -k->shift), k->round);
    }
    int64_t acc = gather(k, term, n, f->bias[channel]);
    int exponent;
    double real = (double)0.05F * (double)ldexpf((float)f->unit[channel], k->shift) / (double)0.4F;
    int64_t m16 = (int64_t)round(ldexp(frexp(real, &exponent), 16));
    int64_t out = floor_of((long double)acc * (long double)m16 * exp2l(exponent - 16) + 0.5L) - 5;
    return out < -128 ? -128 : out > 127 ? 127 : out;
}

static void equals_its_definition(void **state)
{
    test_rng r = test_seed("blocks", 61);
    int distinct = 0;
    (void)state;
    for (int t = 0; t < 600; t++) {
        const product *p = &products[t % (int)(sizeof products / sizeof *products)];
        const record k = draw_record(&r);
        assay_scheme *s = open_record(&k);
        assay_program *program;
        assay_run *run;
        assay_error err;
        filled f;
        fill(&f, p, &k, &r);
        assert_ok(assay_program_make_as_is(f.g, s, true, &program, &err), &err);
        assert_ok(assay_run_new(program, &run, &err), &err);
        int8_t *x = assay_run_data(run, f.g->input[0]);
        for (int64_t i = 0; i < count(p->x, p->rank.x); i++)
            x[i] = (int8_t)f.x[i];
        assert_ok(assay_execute(run, &err), &err);
        const int8_t *y = assay_run_data(run, f.g->output[0]);
        for (int64_t i = 0; i < count(p->y, p->rank.y); i++) {
            int64_t want = code_of(p, &k, &f, i);
            distinct += want > -128 && want < 127;
            if (y[i] != want)
                fail_msg("%s, accumulator of %d bits (%s, %s), multipliers of %d: element %lld is "
                         "%d, by definition %lld",
                         p->what, k.bits, k.overflow, k.order, k.block_bits, (long long)i, y[i],
                         (long long)want);
        }
        assay_run_free(run);
        assay_program_free(program);
        assay_graph_free(f.g);
        assay_scheme_free(s);
    }
    assert_true(distinct > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equals_its_definition),
    };
    return cmocka_run_group_tests_name("blocks", tests, NULL, NULL);
}
