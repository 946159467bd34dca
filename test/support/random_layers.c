/* Random integer networks of a few nodes; see random_layers.h. */
#include "test/support/random_layers.h"

#include <math.h>

#include "graph/core/complete.h"
#include "interp/kernel/kernel.h"
#include "interp/run/program.h"
#include "test/support/random_drawing.h"

enum { OPS = 8, ATTEMPTS = 20, MAX_DEPTH = 2 };

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
static float product_scale(test_drawing *d, const int in[TEST_MAX_IN])
{
    const assay_type *x = &d->g->value[in[0]].type, *w = &d->g->value[in[1]].type;
    const int64_t outputs = w->dim[0] > 0 ? w->dim[0] : 1;
    const double depth = (double)assay_shape_count(w) / (double)outputs;
    return (float)(x->q.scale[0] * w->q.scale[0] * sqrt(depth + 1) *
                   ldexp(1, (int)test_between(d->r, 2, 8)));
}

/* Outputs whose types are inferred whole. */
static bool is_inferred(assay_op op, const assay_type *x)
{
    switch (op) {
    case ASSAY_OP_ARG_MAX:
    case ASSAY_OP_ARG_MIN:
    case ASSAY_OP_LOGICAL_NOT:
    case ASSAY_OP_CAST:
    case ASSAY_OP_WHERE:
    case ASSAY_OP_TOPK:
    case ASSAY_OP_UPDATE_SLICE:
    case ASSAY_OP_SCATTER_ND:
    case ASSAY_OP_SCATTER_REDUCE:
    case ASSAY_OP_READ:
    case ASSAY_OP_ASSIGN:
        return true;
    default:
        return traits(op) & ASSAY_T_COMPARE ||
               (op != ASSAY_OP_QUANTIZE && x->elem.kind != ASSAY_KIND_INT);
    }
}

/* Kind and parameters of an output whose shape is inferred. */
static void draw_output(test_drawing *d, assay_op op, const int in[TEST_MAX_IN], assay_type *t,
                        test_params *p)
{
    const assay_type *x = &d->g->value[in[op == ASSAY_OP_SELECT ? 1 : 0]].type;
    const uint32_t keeps = ASSAY_T_MOVE | ASSAY_T_SELECTS;
    if (is_inferred(op, x))
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

/* What the op computes with: codes where it can, now and then floats. */
static enum test_operands draw_kind(test_drawing *d, assay_op op)
{
    const assay_kernel k = float_kernel(op);
    if (op == ASSAY_OP_LOGICAL_AND || op == ASSAY_OP_LOGICAL_OR || op == ASSAY_OP_LOGICAL_NOT)
        return TEST_BOOLS;
    if (op == ASSAY_OP_CAST)
        return (enum test_operands)test_upto(d, TEST_BOOLS);
    if (op == ASSAY_OP_QUANTIZE || !run_has_integer_kernel(op))
        return TEST_FLOATS;
    return k.run && test_upto(d, 11) == 0 ? TEST_FLOATS : TEST_CODES;
}

/* A first operand that suits the op. */
static int draw_first(test_drawing *d, assay_op op)
{
    const enum test_operands kind = draw_kind(d, op);
    const bool flat = op == ASSAY_OP_FC || op == ASSAY_OP_MATMUL || op == ASSAY_OP_SVDF_FEATURE;
    if (flat && kind == TEST_CODES && test_upto(d, 9) == 0)
        return test_draw_deep_operand(d);
    if (flat || traits(op) & ASSAY_T_ROWWISE)
        return test_draw_operand(d, kind, 1, 4);
    if (op == ASSAY_OP_RESIZE)
        return test_draw_operand(d, kind, test_upto(d, 3) ? 3 : 1, 4);
    if (traits(op) & ASSAY_T_LAYOUT || op == ASSAY_OP_GRID_SAMPLE || op == ASSAY_OP_ROI_ALIGN)
        return test_draw_operand(d, kind, 3, test_upto(d, 3) ? 4 : 5);
    return test_draw_operand(d, kind, 0, ASSAY_MAX_RANK);
}

/* Types of the outputs after the first: parts are of its kind; indices have theirs. */
static void complete_outputs(assay_op op, const assay_type *x, assay_type *t, int n_out)
{
    if (op == ASSAY_OP_TOPK)
        t[0].q = x->q;
    for (int i = 1; i < n_out && op != ASSAY_OP_TOPK; i++) {
        t[i].elem = t[0].elem;
        t[i].q = t[0].q;
    }
}

/* Adds a node of this op; false when it makes no sense for what was drawn. */
static bool add_node(test_drawing *d, assay_op op)
{
    assay_attrs a;
    int in[TEST_MAX_IN] = {0}, out[TEST_MAX_OUT], id;
    assay_type t[TEST_MAX_OUT];
    test_params p;
    assay_error err;
    if (traits(op) & ASSAY_T_FLOW)
        return test_add_flow(d, op);
    const int x = draw_first(d, op);
    if (x < 0)
        return false;
    const assay_type from = d->g->value[x].type;
    test_random_attrs(d->r, op, &from, &a);
    const int n_in = test_draw_operands(d, op, x, &a, in);
    for (int i = 0; i < n_in; i++)
        if (in[i] < 0)
            return false;
    for (int i = 0; i < TEST_MAX_OUT; i++)
        t[i] = (assay_type){.elem = assay_bool()};
    assay_node node = {.name = "drawn",
                       .op = op,
                       .n_in = n_in,
                       .n_out = op == ASSAY_OP_SPLIT  ? a.split.sizes.n
                                : op == ASSAY_OP_TOPK ? 2
                                                      : 1,
                       .in = in,
                       .attr = a};
    node.act_lo = -INFINITY;
    node.act_hi = INFINITY;
    assay_node_complete(d->g, &node, &node.attr);
    if (is_given(op))
        t[0] = from;
    else if (assay_infer(d->g, &node, t, &err) != ASSAY_OK)
        return false;
    draw_output(d, op, in, &t[0], &p);
    complete_outputs(op, &from, t, node.n_out);
    for (int i = 0; i < node.n_out; i++)
        if ((out[i] = test_add_input(d, &t[i])) < 0)
            return false;
    if (assay_graph_add_node(d->g, op, NULL, in, n_in, out, node.n_out, &a, &id, &err) != ASSAY_OK)
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
        if (x->producer < 0 && !x->data && !x->is_variable && assay_graph_count_uses(g, v))
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
        if (assay_shape_count(&d->g->value[v].type) > TEST_MAX_ELEMENTS)
            return false;
    if (assay_graph_clone(d->g, &g, &err) != ASSAY_OK)
        return false;
    const bool good =
        finish(g) && assay_program_make_as_is(g, d->scheme, false, &p, &err) == ASSAY_OK;
    assay_program_free(p);
    assay_graph_free(g);
    return good;
}

static bool is_wanted(const test_drawing *d, assay_op op)
{
    if (traits(op) & ASSAY_T_FLOW)
        return d->depth < MAX_DEPTH;
    return op != ASSAY_OP_CUSTOM && op != ASSAY_OP_CUSTOM_MONOTONE &&
           op != ASSAY_OP_CUSTOM_BINARY && (run_has_integer_kernel(op) || float_kernel(op).run);
}

/* Any op; products a quarter of the time. */
static assay_op draw_op(test_drawing *d)
{
    static const assay_op products[] = {ASSAY_OP_CONV, ASSAY_OP_CONV, ASSAY_OP_CONV_TRANSPOSE,
                                        ASSAY_OP_FC, ASSAY_OP_MATMUL};
    assay_op op;
    if (d->first && d->g->n_nodes == 0)
        return *d->first;
    if (test_upto(d, 3) == 0)
        return products[test_upto(d, 4)];
    do
        op = (assay_op)test_upto(d, ASSAY_OP_COUNT - 1);
    while (!is_wanted(d, op));
    return op;
}

static assay_graph *draw(test_drawing d, int nodes)
{
    assay_graph *g, *trial;
    assay_error err;
    d.weights = (enum test_data)test_upto(&d, TEST_DATA_WAYS);
    if (d.weights == TEST_DATA_WAYS)
        d.weights = TEST_DATA_ANY;
    if (assay_graph_new("random layers", &g, &err) != ASSAY_OK)
        return NULL;
    assay_op op = ASSAY_OP_COUNT;
    for (int i = 0; g->n_nodes < nodes && i < nodes * OPS * ATTEMPTS; i++) {
        d.g = g;
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

assay_graph *test_random_layers(test_rng *r, const assay_scheme *s, int nodes)
{
    return draw((test_drawing){.r = r, .scheme = s}, nodes);
}

assay_graph *test_random_layers_of(test_rng *r, const assay_scheme *s, assay_op first, int nodes)
{
    return draw(
        (test_drawing){
            .r = r, .scheme = s, .wide = true, .first = first == ASSAY_OP_COUNT ? NULL : &first},
        nodes);
}

assay_graph *test_draw_body(test_drawing *d, int nodes)
{
    return draw((test_drawing){.r = d->r, .scheme = d->scheme, .depth = d->depth + 1}, nodes);
}
