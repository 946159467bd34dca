/* Random integer networks, node after node. */
#include "test/support/random_codes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/core/complete.h"
#include "graph/core/type.h"
#include "interp/kernel/kernel.h"
#include "interp/run/program.h"

#define MAX_ELEMENTS 2000
#define ATTEMPTS     400 /* until a node is accepted */

typedef struct growing {
    test_rng *r;
    const assay_scheme *scheme;
    assay_graph *g; /* what the attempt is made on */
    int n_names;
} growing;

static int64_t upto(growing *w, int64_t n)
{
    return test_between(w->r, 0, n);
}

static uint32_t traits(assay_op op)
{
    return assay_op_get(op)->traits;
}

bool test_random_codes_has(assay_op op)
{
    const uint32_t wanted = ASSAY_T_MOVE | ASSAY_T_UNARY | ASSAY_T_BINARY | ASSAY_T_SELECTS |
                            ASSAY_T_WEIGHTED | ASSAY_T_ABSORB_OUT | ASSAY_T_ROWWISE | ASSAY_T_SUMS |
                            ASSAY_T_CONVERT | ASSAY_T_COMPARE | ASSAY_T_INTERPOLATES;
    const bool other = op == ASSAY_OP_CUSTOM || op == ASSAY_OP_CUSTOM_MONOTONE ||
                       op == ASSAY_OP_CUSTOM_BINARY || op == ASSAY_OP_SVDF_FEATURE ||
                       op == ASSAY_OP_SVDF_TIME; /* a plugin's; with multipliers of their own */
    return traits(op) & wanted && !(traits(op) & ASSAY_T_STATE) && !other &&
           run_has_integer_kernel(op);
}

/* ---- types ---- */

static bool is_code(const assay_type *t)
{
    return t->q.granularity == ASSAY_Q_TENSOR && t->elem.bits <= 16;
}

/* A value for which `fits` holds, or -1. */
static int pick(growing *w, bool (*fits)(const assay_type *))
{
    for (int i = 0; i < 60; i++) {
        int v = (int)upto(w, w->g->n_values - 1);
        const assay_value *x = &w->g->value[v];
        if (fits(&x->type) && (!x->data || upto(w, 5) == 0) &&
            assay_shape_count(&x->type) <= MAX_ELEMENTS)
            return v;
    }
    return -1;
}

static bool is_image(const assay_type *t)
{
    return is_code(t) && t->rank == 4;
}

static bool is_float(const assay_type *t)
{
    return t->elem.kind == ASSAY_KIND_F32;
}

static bool is_condition(const assay_type *t)
{
    return t->elem.kind == ASSAY_KIND_BOOL;
}

/* Parameters that recur, so that some rewrites are exact. */
static void draw_params(growing *w, assay_op op, assay_type *t, float *scale, int32_t *zero)
{
    static const float scales[] = {0.0625F, 0.1F, 0.125F, 0.2F, 0.25F};
    const bool wide = upto(w, 7) == 0;
    t->elem = upto(w, 3) ? assay_int(wide ? 16 : 8, true) : assay_int(8, false);
    *scale = scales[upto(w, 4)];
    *zero = t->elem.is_signed ? 0 : 128;
    if (t->elem.bits == 8 && upto(w, 1))
        *zero += (int32_t)test_between(w->r, -20, 20);
    if (assay_scheme_fixed_output(w->scheme, assay_op_get(op)->name, assay_int(8, true), scale,
                                  zero))
        t->elem = assay_int(8, true);
    t->q = (assay_qparams){ASSAY_Q_TENSOR, 0, 0, 1, scale, zero};
}

static const char *fresh(growing *w, char *name, size_t size)
{
    snprintf(name, size, "v%d", w->n_names++);
    return name;
}

static int add_constant(growing *w, const assay_type *t, int64_t lo, int64_t hi)
{
    char name[16];
    assay_error err;
    int id;
    assert_ok(assay_graph_add_constant(w->g, fresh(w, name, sizeof name), t, NULL, &id, &err),
              &err);
    void *data = (void *)(uintptr_t)w->g->value[id].data;
    for (size_t i = 0; i < (size_t)assay_shape_count(t); i++)
        assay_elem_set(t->elem, data, i, test_between(w->r, lo, hi));
    return id;
}

/* ---- operands ---- */

static int add_weights(growing *w, assay_op op, const assay_type *x, assay_attrs *a)
{
    static const float scales[] = {0.01F, 0.03F, 0.02F, 0.015F, 0.0125F, 0.018F, 0.022F, 0.03F};
    static const int32_t zeros[8] = {0};
    assay_type t = {.elem = assay_int(8, true), .rank = 2};
    int64_t out = test_between(w->r, 1, 3), group = 1;
    int axis = 0; /* of scales per channel */
    t.dim[0] = out;
    t.dim[1] = x->dim[x->rank - 1];
    if (op == ASSAY_OP_MATMUL) {
        axis = a->matmul.transpose_b ? 0 : 1;
        t.dim[1 - axis] = x->dim[x->rank - 1];
        t.dim[axis] = out;
    } else if (op != ASSAY_OP_FC) {
        const int64_t side = test_between(w->r, 1, 2);
        const bool last = upto(w, 2) == 0, conv = op == ASSAY_OP_CONV;
        const int64_t channels = x->dim[last ? 3 : 1];
        a->conv.layout = last ? ASSAY_LAYOUT_NHWC : ASSAY_LAYOUT_NCHW;
        group = conv && channels <= 4 && upto(w, 2) == 0 ? channels : 1;
        t.rank = 4;
        t.dim[0] = conv ? out * group : last ? out : channels;
        t.dim[1] = last ? side : conv ? channels / group : out;
        t.dim[2] = side;
        t.dim[3] = last ? channels / group : side;
        axis = conv || last ? 0 : 1;
        a->conv.kernel = (assay_list){2, {side, side}};
        const int64_t pad = upto(w, side > 1);
        a->conv.pad_begin = (assay_list){2, {pad, pad}};
        a->conv.group = group;
    }
    const bool by_channel = t.dim[axis] <= 8 && upto(w, 1);
    t.q = (assay_qparams){.granularity = by_channel ? ASSAY_Q_AXIS : ASSAY_Q_TENSOR,
                          .axis = by_channel ? axis : 0,
                          .count = by_channel ? (size_t)t.dim[axis] : 1,
                          .scale = scales,
                          .zero_point = zeros};
    if (op == ASSAY_OP_FC && t.dim[1] % 2 == 0 && t.dim[0] <= 4 && upto(w, 1)) {
        t.q.granularity = ASSAY_Q_BLOCK; /* two scales per row */
        t.q.axis = 1;
        t.q.block = t.dim[1] / 2;
        t.q.count = (size_t)t.dim[0] * 2;
    }
    return add_constant(w, &t, -127, 127);
}

/* Bias in units of input and weights. */
static int add_bias(growing *w, const assay_type *x, int weights, int64_t channels)
{
    const assay_qparams *q = &w->g->value[weights].type.q;
    float scale[16];
    int32_t zero[16] = {0};
    assay_type t = {.elem = assay_int(32, true), .rank = 1, .dim = {channels}, .q = *q};
    for (size_t i = 0; i < q->count; i++)
        scale[i] = x->q.scale[0] * q->scale[i];
    if (x->elem.bits > 8 && upto(w, 1))
        t.elem = assay_int(64, true);
    t.q.axis = 0;
    t.q.scale = scale;
    t.q.zero_point = zero;
    return add_constant(w, &t, -2000, 2000);
}

static int add_indices(growing *w, assay_op op, const assay_type *x, const assay_attrs *a)
{
    bool nd = op == ASSAY_OP_GATHER_ND;
    assay_type t = {.elem = assay_int(64, true), .rank = nd ? 2 : 1, .dim = {2, 1}};
    return add_constant(w, &t, 0, x->dim[nd ? 0 : a->gather.axis] - 1);
}

/* A second operand of the same kind: the same extents, or one number. */
static int add_partner(growing *w, int x)
{
    const assay_type t = w->g->value[x].type;
    for (int i = 0; i < 30; i++) {
        int v = (int)upto(w, w->g->n_values - 1);
        const assay_type *o = &w->g->value[v].type;
        if (is_code(o) && assay_elem_equal(o->elem, t.elem) && assay_shape_equal(o, &t))
            return v;
    }
    if (upto(w, 1))
        return x;
    assay_type one = t;
    one.rank = 1;
    one.dim[0] = 1;
    return add_constant(w, &one, assay_elem_min(t.elem), assay_elem_max(t.elem));
}

/* Operands of an op on x; their number, or 0 when there are none. */
static int draw_operands(growing *w, assay_op op, int x, assay_attrs *a, int in[4])
{
    const assay_type t = w->g->value[x].type;
    in[0] = x;
    if (op == ASSAY_OP_LOOKUP) {
        assay_type table = {.elem = assay_int(8, true), .rank = 1, .dim = {1 << t.elem.bits}};
        in[1] = add_constant(w, &table, -128, 127);
        return 2;
    }
    if (op == ASSAY_OP_MATMUL || traits(op) & ASSAY_T_WEIGHTED) {
        in[1] = add_weights(w, op, &t, a);
        const assay_type *weights = &w->g->value[in[1]].type;
        const bool first = op == ASSAY_OP_CONV_TRANSPOSE && a->conv.layout == ASSAY_LAYOUT_NCHW;
        int64_t channels = weights->dim[first ? 1 : 0];
        if (op == ASSAY_OP_MATMUL || weights->q.granularity == ASSAY_Q_BLOCK || upto(w, 1))
            return 2;
        in[2] = add_bias(w, &t, in[1], channels);
        return 3;
    }
    if (op == ASSAY_OP_GATHER || op == ASSAY_OP_GATHER_ND) {
        in[1] = add_indices(w, op, &t, a);
        return 2;
    }
    if (op == ASSAY_OP_SELECT) {
        in[0] = pick(w, is_condition);
        in[1] = x;
        in[2] = add_partner(w, x);
        return in[0] < 0 ? 0 : 3;
    }
    in[1] = add_partner(w, x);
    return assay_op_get(op)->max_in < 0 ? (int)test_between(w->r, 1, 2) : assay_op_get(op)->min_in;
}

/* ---- nodes ---- */

/* Kinds and parameters of the outputs; shapes are inferred. */
static void draw_output(growing *w, assay_op op, const assay_type *x, assay_type *t, float *scale,
                        int32_t *zero)
{
    const uint32_t keeps = ASSAY_T_MOVE | ASSAY_T_SELECTS;
    if (traits(op) & ASSAY_T_COMPARE)
        return;
    if (op == ASSAY_OP_DEQUANTIZE) {
        t->elem = assay_f32();
        return;
    }
    *scale = x->q.count ? x->q.scale[0] : 0.1F;
    *zero = x->q.count ? x->q.zero_point[0] : 0;
    bool same = op == ASSAY_OP_RELABEL || (!is_float(x) && (traits(op) & keeps || upto(w, 2) == 0));
    if (same)
        t->elem = x->elem;
    if (same && op != ASSAY_OP_RELABEL)
        t->q = (assay_qparams){ASSAY_Q_TENSOR, 0, 0, 1, scale, zero};
    else
        draw_params(w, op, t, scale, zero);
    if (op == ASSAY_OP_RELABEL || op == ASSAY_OP_LOOKUP)
        t->elem = op == ASSAY_OP_LOOKUP ? assay_int(8, true) : x->elem;
    if (*zero < assay_elem_min(t->elem) || *zero > assay_elem_max(t->elem))
        *zero = (int32_t)assay_elem_min(t->elem);
}

static bool is_given(assay_op op)
{
    return op == ASSAY_OP_QUANTIZE || op == ASSAY_OP_DEQUANTIZE || op == ASSAY_OP_RESCALE ||
           op == ASSAY_OP_RELABEL;
}

/* Adds a node of this op; false when it makes no sense for what was drawn. */
static bool add_node(growing *w, assay_op op)
{
    assay_attrs a;
    int in[4] = {0}, out[2], n_in, id, n_out = op == ASSAY_OP_SPLIT ? 2 : 1;
    int x = pick(w, op == ASSAY_OP_QUANTIZE ? is_float : is_image);
    assay_type t[2] = {{.elem = assay_bool()}, {.elem = assay_bool()}};
    float scale[2];
    int32_t zero[2];
    assay_error err;
    if (x < 0)
        return false;
    const assay_type from = w->g->value[x].type;
    test_random_codes_attributes(w->r, op, &from, &a);
    if (!(n_in = draw_operands(w, op, x, &a, in)))
        return false;
    assay_node node = {
        .name = "drawn", .op = op, .n_in = n_in, .n_out = n_out, .in = in, .attr = a};
    node.act_lo = -INFINITY;
    node.act_hi = INFINITY;
    assay_node_complete(w->g, &node, &node.attr);
    if (is_given(op))
        t[0] = from;
    else if (assay_infer(w->g, &node, t, &err) != ASSAY_OK)
        return false;
    for (int i = 0; i < n_out; i++) {
        char name[16];
        t[i].q = (assay_qparams){0};
        draw_output(w, op, &from, &t[i], &scale[0], &zero[0]);
        if (assay_graph_add_value(w->g, fresh(w, name, sizeof name), &t[i], &out[i], &err) !=
            ASSAY_OK)
            return false;
    }
    return assay_graph_add_node(w->g, op, NULL, in, n_in, out, n_out, &a, &id, &err) == ASSAY_OK;
}

/* The network as it stands is valid, and the scheme computes it. */
static bool is_computed(const growing *w)
{
    assay_program *p = NULL;
    assay_error err;
    const assay_value *last = &w->g->value[w->g->node[w->g->n_nodes - 1].out[0]];
    if (assay_shape_count(&last->type) < 1 || assay_shape_count(&last->type) > MAX_ELEMENTS ||
        assay_graph_verify(w->g, &err) != ASSAY_OK ||
        assay_program_make_as_is(w->g, w->scheme, false, &p, &err) != ASSAY_OK)
        return false;
    assay_program_free(p);
    return true;
}

/* Of eight drawn ops the one that has occurred least. */
static assay_op rarest(growing *w, const int seen[ASSAY_OP_COUNT])
{
    assay_op best = ASSAY_OP_COUNT;
    for (int i = 0; i < 8; i++) {
        assay_op op;
        do
            op = (assay_op)upto(w, ASSAY_OP_COUNT - 1);
        while (!test_random_codes_has(op));
        if (best == ASSAY_OP_COUNT || seen[op] < seen[best])
            best = op;
    }
    return upto(w, 2) ? best : ASSAY_OP_RESCALE; /* what rewrites are about */
}

assay_graph *test_random_codes(test_rng *r, const assay_scheme *s, int nodes,
                               int seen[ASSAY_OP_COUNT])
{
    const float scale = 0.1F;
    const int32_t zero = 0;
    assay_type t = {.elem = assay_int(8, true),
                    .rank = 4,
                    .dim = {1, 2, 4, 4},
                    .q = {ASSAY_Q_TENSOR, 0, 0, 1, &scale, &zero}};
    growing w = {.r = r, .scheme = s};
    assay_graph *g, *trial;
    assay_error err;
    int x, out[4], n_out = 0;
    assert_ok(assay_graph_new("random codes", &g, &err), &err);
    assert_ok(assay_graph_add_value(g, "x", &t, &x, &err), &err);
    assert_ok(assay_graph_set_inputs(g, &x, 1, &err), &err);
    for (int i = 0; g->n_nodes < nodes && i < nodes * ATTEMPTS; i++) {
        const assay_op op = rarest(&w, seen);
        assert_ok(assay_graph_clone(g, &trial, &err), &err);
        w.g = trial;
        bool good = add_node(&w, op) && is_computed(&w);
        assay_graph_free(good ? g : trial);
        g = good ? trial : g;
        seen[op] += good;
    }
    assert_int_equal(g->n_nodes, nodes);
    for (int i = nodes - 1; i >= 0 && n_out < 3; i--)
        out[n_out++] = g->node[i].out[0];
    assert_ok(assay_graph_set_outputs(g, out, n_out, &err), &err);
    assert_ok(assay_graph_compact(g, NULL, &err), &err);
    assert_ok(assay_graph_verify(g, &err), &err);
    return g;
}
