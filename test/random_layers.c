#include "test/random_layers.h"

#include <math.h>

#include "graph/complete.h"
#include "interp/kernel.h"
#include "interp/program.h"
#include "test/random_drawing.h"

enum { OPS = 8, ATTEMPTS = 20 };

static uint32_t traits(assay_op op)
{
    return assay_op_get(op)->traits;
}

/* ---- nodes ---- */

static bool is_given(assay_op op)
{
    return op == ASSAY_OP_QUANTIZE || op == ASSAY_OP_DEQUANTIZE || op == ASSAY_OP_RESCALE ||
           op == ASSAY_OP_RELABEL;
}

/* An output scale that spreads sums of products over the codes. */
static float product_scale(test_drawing *d, const int in[4])
{
    const assay_type *x = &d->g->value[in[0]].type, *w = &d->g->value[in[1]].type;
    const int64_t outputs = w->dim[0] > 0 ? w->dim[0] : 1;
    const double depth = (double)assay_shape_count(w) / (double)outputs;
    return (float)(x->q.scale[0] * w->q.scale[0] * sqrt(depth + 1) *
                   ldexp(1, (int)test_between(d->r, 2, 8)));
}

/* Kind and parameters of an output whose shape is inferred. */
static void draw_output(test_drawing *d, assay_op op, const int in[4], assay_type *t,
                        test_params *p)
{
    const assay_type *x = &d->g->value[in[op == ASSAY_OP_SELECT ? 1 : 0]].type;
    const uint32_t keeps = ASSAY_T_MOVE | ASSAY_T_SELECTS;
    if (traits(op) & ASSAY_T_COMPARE || op == ASSAY_OP_ARG_MAX || op == ASSAY_OP_ARG_MIN)
        return;
    if (op == ASSAY_OP_DEQUANTIZE) {
        t->elem = assay_f32();
        t->q = (assay_qparams){0};
        return;
    }
    t->elem = test_draw_elem(d);
    test_draw_type(d, t, p);
    if (test_is_code(x) && (traits(op) & keeps ? test_upto(d, 3) > 0 : test_upto(d, 2) == 0)) {
        t->elem = x->elem;
        p->scale[0] = x->q.scale[0];
        p->zero[0] = x->q.zero_point[0];
    } else if (traits(op) & ASSAY_T_WEIGHTED || op == ASSAY_OP_MATMUL) {
        p->scale[0] = product_scale(d, in);
    }
    float scale;
    int32_t zero;
    if (test_upto(d, 7) &&
        assay_scheme_fixed_output(d->scheme, assay_op_get(op)->name, t->elem, &scale, &zero)) {
        p->scale[0] = scale;
        p->zero[0] = zero;
    }
    if (op == ASSAY_OP_RELABEL)
        t->elem = x->elem;
    if (op == ASSAY_OP_LOOKUP)
        t->elem = assay_int(8, true);
    if (p->zero[0] < assay_elem_min(t->elem) || p->zero[0] > assay_elem_max(t->elem))
        p->zero[0] = (int32_t)assay_elem_min(t->elem);
}

/* A fused activation, or bounds as codes. */
static void draw_bounds(test_drawing *d, assay_node *n, const assay_type *y)
{
    if (!test_is_code(y) || traits(n->op) & (ASSAY_T_MOVE | ASSAY_T_CONVERT) || test_upto(d, 3))
        return;
    if (test_upto(d, 1)) {
        n->act_lo = test_upto(d, 1) ? 0 : -INFINITY;
        n->act_hi = test_upto(d, 1) ? 6 : INFINITY;
    } else {
        n->has_code_bounds = true;
        n->code_lo = (int32_t)assay_elem_min(y->elem) / 2;
        n->code_hi = (int32_t)assay_elem_max(y->elem) / 2;
    }
}

/* A first operand that suits the op. */
static int draw_first(test_drawing *d, assay_op op)
{
    if (op == ASSAY_OP_QUANTIZE) {
        assay_type t = {.rank = 0};
        test_draw_shape(d, (int)test_upto(d, 4), &t);
        t.elem = assay_f32();
        return test_add_input(d, &t);
    }
    if (op == ASSAY_OP_MATMUL)
        return test_draw_operand(d, 1, 4);
    if (op == ASSAY_OP_FC || traits(op) & ASSAY_T_ROWWISE)
        return test_draw_operand(d, 1, 4);
    if (op == ASSAY_OP_RESIZE)
        return test_draw_operand(d, test_upto(d, 3) ? 3 : 1, 4);
    if (traits(op) & ASSAY_T_LAYOUT)
        return test_draw_operand(d, 3, test_upto(d, 3) ? 4 : 5);
    return test_draw_operand(d, 0, 5);
}

/* Adds a node of this op; false when it makes no sense for what was drawn. */
static bool add_node(test_drawing *d, assay_op op)
{
    assay_attrs a;
    int in[4] = {0}, out[2], id;
    const int n_out = op == ASSAY_OP_SPLIT ? 2 : 1, x = draw_first(d, op);
    assay_type t[2] = {{.elem = assay_bool()}, {.elem = assay_bool()}};
    test_params p;
    assay_error err;
    if (x < 0)
        return false;
    const assay_type from = d->g->value[x].type;
    test_random_attrs(d->r, op, &from, &a);
    const int n_in = test_draw_operands(d, op, x, &a, in);
    for (int i = 0; i < n_in; i++)
        if (in[i] < 0)
            return false;
    assay_node node = {
        .name = "drawn", .op = op, .n_in = n_in, .n_out = n_out, .in = in, .attr = a};
    node.act_lo = -INFINITY;
    node.act_hi = INFINITY;
    assay_node_complete(d->g, &node, &node.attr);
    if (is_given(op))
        t[0] = from;
    else if (assay_infer(d->g, &node, t, &err) != ASSAY_OK)
        return false;
    for (int i = 0; i < n_out; i++) {
        if (i == 0)
            draw_output(d, op, in, &t[0], &p);
        t[i].elem = t[0].elem;
        t[i].q = t[0].q;
        if ((out[i] = test_add_input(d, &t[i])) < 0)
            return false;
    }
    if (assay_graph_add_node(d->g, op, NULL, in, n_in, out, n_out, &a, &id, &err) != ASSAY_OK)
        return false;
    draw_bounds(d, &d->g->node[id], &t[0]);
    return true;
}

/* Every value without a producer is an input; those without a use, and the last, are outputs. */
static bool finish(assay_graph *g)
{
    int in[64], out[64], n_in = 0, n_out = 0;
    assay_error err;
    for (int v = 0; v < g->n_values && n_in < 64 && n_out < 64; v++) {
        const assay_value *x = &g->value[v];
        if (x->producer < 0 && !x->data && assay_graph_count_uses(g, v))
            in[n_in++] = v;
        if (x->producer >= 0 && (!assay_graph_count_uses(g, v) || v % 7 == 0))
            out[n_out++] = v;
    }
    return assay_graph_set_inputs(g, in, n_in, &err) == ASSAY_OK &&
           assay_graph_set_outputs(g, out, n_out, &err) == ASSAY_OK &&
           assay_graph_compact(g, NULL, &err) == ASSAY_OK &&
           assay_graph_verify(g, &err) == ASSAY_OK;
}

/* The network as it stands is valid, and the scheme computes it. */
static bool is_computed(const test_drawing *d)
{
    assay_graph *g;
    assay_program *p = NULL;
    assay_error err;
    for (int v = 0; v < d->g->n_values; v++)
        if (assay_shape_count(&d->g->value[v].type) > TEST_MOST_ELEMENTS)
            return false;
    if (assay_graph_clone(d->g, &g, &err) != ASSAY_OK)
        return false;
    const bool good = finish(g) && assay_program_make(g, d->scheme, false, &p, &err) == ASSAY_OK;
    assay_program_free(p);
    assay_graph_free(g);
    return good;
}

static bool is_wanted(assay_op op)
{
    const uint32_t not = ASSAY_T_STATE | ASSAY_T_FLOW;
    return !(traits(op) & not ) && op != ASSAY_OP_CUSTOM && op != ASSAY_OP_CUSTOM_MONOTONE &&
           op != ASSAY_OP_CUSTOM_BINARY && op != ASSAY_OP_SVDF_FEATURE &&
           op != ASSAY_OP_SVDF_TIME && op != ASSAY_OP_TOPK && op != ASSAY_OP_WHERE &&
           assay_has_integer_kernel(op);
}

/* Any op; products a quarter of the time. */
static assay_op draw_op(test_drawing *d)
{
    static const assay_op products[] = {ASSAY_OP_CONV, ASSAY_OP_CONV, ASSAY_OP_CONV_TRANSPOSE,
                                        ASSAY_OP_FC, ASSAY_OP_MATMUL};
    assay_op op;
    if (test_upto(d, 3) == 0)
        return products[test_upto(d, 4)];
    do
        op = (assay_op)test_upto(d, ASSAY_OP_COUNT - 1);
    while (!is_wanted(op));
    return op;
}

assay_graph *test_random_layers(test_rng *r, const assay_scheme *s, int nodes)
{
    test_drawing d = {.r = r, .scheme = s};
    assay_graph *g, *trial;
    assay_error err;
    d.weights = (enum test_data)test_upto(&d, TEST_DATA_WAYS);
    if (d.weights == TEST_DATA_WAYS)
        d.weights = TEST_DATA_ANY;
    if (assay_graph_new("random layers", &g, &err) != ASSAY_OK)
        return NULL;
    assay_op op = ASSAY_OP_COUNT;
    for (int i = 0; g->n_nodes < nodes && i < nodes * OPS * ATTEMPTS; i++) {
        op = i % ATTEMPTS && op != ASSAY_OP_COUNT ? op : draw_op(&d);
        if (assay_graph_clone(g, &trial, &err) != ASSAY_OK)
            break;
        d.g = trial;
        const bool good = add_node(&d, op) && is_computed(&d);
        assay_graph_free(good ? g : trial);
        g = good ? trial : g;
        op = good ? ASSAY_OP_COUNT : op;
    }
    if (g->n_nodes > 0 && finish(g))
        return g;
    assay_graph_free(g);
    return NULL;
}
