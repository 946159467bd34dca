/* The rules: patterns and rewrites. What must be shown before one applies is its obligation, and is
 * shown elsewhere (prove.c); nothing here judges whether a rewrite keeps the bits. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "opt/optimize.h"
#include "opt/rewrite.h"

#define WIDEST_TABLE 16 /* bits of a code whose whole domain is enumerated */

static uint32_t traits(const assay_node *n)
{
    return assay_op_get(n->op)->traits;
}

static bool is_float(const assay_value *v)
{
    return v && v->type.elem.kind == ASSAY_KIND_F32;
}

static bool is_code(const assay_value *v)
{
    return v && assay_is_quantized(&v->type) && v->type.q.granularity == ASSAY_Q_TENSOR &&
           v->type.elem.bits <= WIDEST_TABLE;
}

static bool same_type(const assay_value *a, const assay_value *b)
{
    return assay_elem_equal(a->type.elem, b->type.elem) &&
           assay_qparams_equal(&a->type.q, &b->type.q);
}

static bool is_plain(const assay_node *n)
{
    return n->act_lo == -INFINITY && n->act_hi == INFINITY && !n->has_code_bounds;
}

/* A function of one code. */
static bool is_unary(const assay_graph *g, const assay_node *n)
{
    return traits(n) & ASSAY_T_UNARY && n->n_out == 1 && is_code(assay_node_in(g, n, 0)) &&
           is_code(assay_node_out(g, n, 0));
}

static bool is_rescale(const assay_graph *g, const assay_node *n)
{
    return is_unary(g, n) && traits(n) & ASSAY_T_CONVERT;
}

/* Rescale, relu, clip: what one rescale with saturation can stand for. */
static bool is_monotone(const assay_graph *g, const assay_node *n)
{
    return is_unary(g, n) && traits(n) & ASSAY_T_MONOTONE;
}

static bool is_binary(const assay_graph *g, const assay_node *n)
{
    return traits(n) & ASSAY_T_BINARY && is_code(assay_node_in(g, n, 0)) &&
           is_code(assay_node_in(g, n, 1)) && is_code(assay_node_out(g, n, 0));
}

/* Between f32 and codes, one scale for all. */
static bool is_edge(const assay_graph *g, const assay_node *n, bool to_codes)
{
    const assay_value *x = assay_node_in(g, n, 0), *y = assay_node_out(g, n, 0);
    return traits(n) & ASSAY_T_CONVERT && is_float(to_codes ? x : y) && is_code(to_codes ? y : x);
}

/* The producer of input `slot`, or NULL; noted in the match. */
static const assay_node *above(const assay_graph *g, assay_match *m, int slot)
{
    const assay_value *v = assay_node_in(g, &g->node[m->lower], slot);
    if (!v || v->producer < 0 || m->n_upper == ASSAY_MATCH_UPPER || g->node[v->producer].n_out != 1)
        return NULL;
    m->upper[m->n_upper] = v->producer;
    m->slot[m->n_upper++] = slot;
    return &g->node[v->producer];
}

static bool is_output(const assay_graph *g, int value)
{
    for (int i = 0; i < g->n_outputs; i++)
        if (g->output[i] == value)
            return true;
    return false;
}

/* ---- y is x: uses of y go to x; a graph output keeps its name when x's producer can yield it ----
 */

static bool can_stand_for(const assay_graph *g, const int *uses, int x, int y)
{
    int producer = g->value[x].producer;
    return !is_output(g, y) ||
           (uses[x] == 1 && producer >= 0 && g->node[producer].n_out == 1 && !g->value[x].data);
}

/* `lower` yields y so far, and is without use afterwards. */
static assay_status stand_for(assay_graph *g, int x, int lower)
{
    int producer = g->value[x].producer, y = g->node[lower].out[0];
    if (!is_output(g, y) || producer < 0) {
        assay_graph_replace_uses(g, y, x);
        return ASSAY_OK;
    }
    assay_rewrite_output(g, producer, y);
    g->node[lower].out[0] = x;
    g->value[x].producer = lower;
    return ASSAY_OK;
}

/* ---- identity: a function of a code that gives it back ---- */

static bool identity_matches(const assay_graph *g, const int *uses, assay_match *m)
{
    const assay_node *n = &g->node[m->lower];
    return is_unary(g, n) && same_type(assay_node_in(g, n, 0), assay_node_out(g, n, 0)) &&
           can_stand_for(g, uses, n->in[0], n->out[0]);
}

static assay_status identity_rewrite(assay_graph *g, const assay_match *m, const assay_image *image,
                                     assay_error *err)
{
    const assay_node *n = &g->node[m->lower];
    (void)image;
    (void)err;
    return stand_for(g, n->in[0], m->lower);
}

/* ---- merge: two monotone functions of a code, one of them a rescale, into one rescale ---- */

static void to_rescale(assay_node *n, int x, const assay_image *image)
{
    n->op = ASSAY_OP_RESCALE;
    assay_attrs_defaults(assay_op_get(n->op)->attrs, &n->attr);
    n->in[0] = x;
    n->n_in = 1;
    n->act_lo = -INFINITY;
    n->act_hi = INFINITY;
    n->has_code_bounds = image != NULL;
    n->code_lo = image ? (int32_t)image->lo : 0;
    n->code_hi = image ? (int32_t)image->hi : 0;
}

static bool merge_matches(const assay_graph *g, const int *uses, assay_match *m)
{
    const assay_node *n = &g->node[m->lower], *p = is_monotone(g, n) ? above(g, m, 0) : NULL;
    (void)uses;
    return p && is_monotone(g, p) && (is_rescale(g, n) || is_rescale(g, p));
}

static assay_status merge_rewrite(assay_graph *g, const assay_match *m, const assay_image *image,
                                  assay_error *err)
{
    (void)err;
    to_rescale(&g->node[m->lower], g->node[m->upper[0]].in[0], image);
    return ASSAY_OK;
}

/* ---- convert: dequantize and quantize again ---- */

static bool convert_matches(const assay_graph *g, const int *uses, assay_match *m)
{
    const assay_node *n = &g->node[m->lower], *p = is_edge(g, n, true) ? above(g, m, 0) : NULL;
    if (!p || !is_edge(g, p, false))
        return false;
    if (!same_type(assay_node_in(g, p, 0), assay_node_out(g, n, 0)) || !is_plain(n))
        return true;
    return uses[p->out[0]] == 1 ? can_stand_for(g, uses, p->in[0], n->out[0])
                                : !is_output(g, n->out[0]);
}

static assay_status convert_rewrite(assay_graph *g, const assay_match *m, const assay_image *image,
                                    assay_error *err)
{
    assay_node *n = &g->node[m->lower];
    int x = g->node[m->upper[0]].in[0];
    (void)err;
    if (same_type(&g->value[x], &g->value[n->out[0]]) && is_plain(n))
        return stand_for(g, x, m->lower);
    to_rescale(n, x, image);
    return ASSAY_OK;
}

/* ---- pair: quantize and dequantize again. It rounds and saturates; that is its purpose ---- */

static bool pair_matches(const assay_graph *g, const int *uses, assay_match *m)
{
    const assay_node *n = &g->node[m->lower], *p = is_edge(g, n, false) ? above(g, m, 0) : NULL;
    return p && is_edge(g, p, true) &&
           (uses[p->out[0]] == 1 ? can_stand_for(g, uses, p->in[0], n->out[0])
                                 : !is_output(g, n->out[0]));
}

static assay_status pair_rewrite(assay_graph *g, const assay_match *m, const assay_image *image,
                                 assay_error *err)
{
    (void)image;
    (void)err;
    return stand_for(g, g->node[m->upper[0]].in[0], m->lower);
}

/* ---- absorb-down: the node below reads the rescale's input ---- */

static bool down_matches(const assay_graph *g, const int *uses, assay_match *m)
{
    const assay_node *n = &g->node[m->lower];
    bool one = (is_unary(g, n) && !is_monotone(g, n)) || is_edge(g, n, false);
    (void)uses;
    for (int slot = 0; slot < (one ? 1 : is_binary(g, n) ? 2 : 0); slot++) {
        const assay_node *p = above(g, m, slot);
        if (p && is_rescale(g, p))
            return true;
        m->n_upper = 0;
    }
    return false;
}

static assay_status down_rewrite(assay_graph *g, const assay_match *m, const assay_image *image,
                                 assay_error *err)
{
    (void)image;
    (void)err;
    g->node[m->lower].in[m->slot[0]] = g->node[m->upper[0]].in[0];
    return ASSAY_OK;
}

/* ---- shift-down: the same for a weighted node; its bias is in units of its input's scale, so it
 * stays as it is and the scales must agree ---- */

static bool shift_matches(const assay_graph *g, const int *uses, assay_match *m)
{
    const assay_node *n = &g->node[m->lower];
    const assay_node *p = traits(n) & ASSAY_T_ABSORB_IN ? above(g, m, 0) : NULL;
    (void)uses;
    return p && is_rescale(g, p) && (traits(n) & ASSAY_T_WEIGHTED || n->op == ASSAY_OP_MATMUL) &&
           assay_is_quantized(&g->value[n->out[0]].type);
}

/* ---- absorb-up: the producer yields what the rescale (relu, clip) would make of it ---- */

static bool takes_over(const assay_graph *g, const int *uses, assay_match *m, uint32_t needed)
{
    const assay_node *n = &g->node[m->lower], *p = is_monotone(g, n) ? above(g, m, 0) : NULL;
    return p && traits(p) & needed && uses[p->out[0]] == 1 && !is_monotone(g, p);
}

static bool up_matches(const assay_graph *g, const int *uses, assay_match *m)
{
    return takes_over(g, uses, m, ASSAY_T_ABSORB_OUT | ASSAY_T_UNARY | ASSAY_T_SELECTS) &&
           (is_unary(g, &g->node[m->upper[0]]) || is_binary(g, &g->node[m->upper[0]]));
}

static bool weighted_up_matches(const assay_graph *g, const int *uses, assay_match *m)
{
    if (!takes_over(g, uses, m, ASSAY_T_ABSORB_OUT))
        return false;
    const assay_node *p = &g->node[m->upper[0]];
    return traits(p) & ASSAY_T_WEIGHTED || p->op == ASSAY_OP_MATMUL;
}

static bool quantize_up_matches(const assay_graph *g, const int *uses, assay_match *m)
{
    return takes_over(g, uses, m, ASSAY_T_CONVERT) && is_edge(g, &g->node[m->upper[0]], true);
}

static assay_status up_rewrite(assay_graph *g, const assay_match *m, const assay_image *image,
                               assay_error *err)
{
    assay_node *p = &g->node[m->upper[0]], *n = &g->node[m->lower];
    int y = n->out[0];
    (void)err;
    n->out[0] = p->out[0];
    p->out[0] = y;
    g->value[y].producer = m->upper[0];
    g->value[n->out[0]].producer = m->lower;
    p->has_code_bounds = image != NULL;
    if (image) {
        p->act_lo = -INFINITY;
        p->act_hi = INFINITY;
        p->code_lo = (int32_t)image->lo;
        p->code_hi = (int32_t)image->hi;
    }
    return ASSAY_OK;
}

/* ---- sink: the node works on the rescales' inputs, one rescale follows it ---- */

/* All inputs are rescales between the same two types that nobody else reads. */
static bool sinks(const assay_graph *g, const int *uses, assay_match *m, int inputs)
{
    const assay_node *n = &g->node[m->lower];
    if (n->n_out != 1 || inputs < 1 || !is_plain(n))
        return false;
    for (int i = 0; i < inputs; i++) {
        const assay_node *p = above(g, m, i);
        if (!p || !is_rescale(g, p) || uses[p->out[0]] != 1)
            return false;
        const assay_node *first = &g->node[m->upper[0]];
        if (!same_type(assay_node_in(g, p, 0), assay_node_in(g, first, 0)) ||
            !same_type(assay_node_out(g, p, 0), assay_node_out(g, first, 0)) ||
            p->act_lo != first->act_lo || p->act_hi != first->act_hi ||
            p->has_code_bounds != first->has_code_bounds || p->code_lo != first->code_lo ||
            p->code_hi != first->code_hi)
            return false;
    }
    return same_type(&g->value[g->node[m->upper[0]].out[0]], &g->value[n->out[0]]);
}

static bool move_matches(const assay_graph *g, const int *uses, assay_match *m)
{
    const assay_node *n = &g->node[m->lower];
    return traits(n) & ASSAY_T_MOVE && sinks(g, uses, m, n->op == ASSAY_OP_CONCAT ? n->n_in : 1);
}

static bool order_matches(const assay_graph *g, const int *uses, assay_match *m)
{
    const assay_node *n = &g->node[m->lower];
    return traits(n) & ASSAY_T_SELECTS && traits(n) & ASSAY_T_MONOTONE && n->n_in == 1 &&
           sinks(g, uses, m, 1);
}

static bool select_matches(const assay_graph *g, const int *uses, assay_match *m)
{
    const assay_node *n = &g->node[m->lower];
    return traits(n) & ASSAY_T_SELECTS && traits(n) & ASSAY_T_MONOTONE && is_binary(g, n) &&
           sinks(g, uses, m, 2);
}

/* The last rescale and the node change places; a value NAME:sunk stands between them. */
static assay_status sink_rewrite(assay_graph *g, const assay_match *m, const assay_image *image,
                                 assay_error *err)
{
    const char suffix[] = ":sunk";
    int last = m->upper[0], between;
    (void)image;
    for (int i = 1; i < m->n_upper; i++)
        last = m->upper[i] > last ? m->upper[i] : last;
    const assay_value *x = &g->value[g->node[last].in[0]], *y = &g->value[g->node[m->lower].out[0]];
    assay_type t = x->type;
    t.rank = y->type.rank;
    memcpy(t.dim, y->type.dim, sizeof t.dim);
    size_t length = strlen(y->name);
    char *name = assay_arena_alloc(g->arena, length + sizeof suffix);
    if (!name)
        return assay_out_of_memory(err);
    memcpy(name, y->name, length);
    memcpy(name + length, suffix, sizeof suffix);
    assay_status s = assay_graph_add_value(g, name, &t, &between, err);
    if (s)
        return s;
    assay_node node = g->node[m->lower], rescale = g->node[last];
    for (int i = 0; i < m->n_upper; i++)
        node.in[m->slot[i]] = g->node[m->upper[i]].in[0];
    int result = node.out[0];
    g->value[rescale.out[0]].producer = -1;
    node.out[0] = between;
    rescale.in[0] = between;
    rescale.out[0] = result;
    g->node[last] = node;
    g->node[m->lower] = rescale;
    g->value[between].producer = last;
    g->value[result].producer = m->lower;
    return ASSAY_OK;
}

static const assay_rule rules[] = {
    {"identity", ASSAY_PROVE_CODES, false, identity_matches, identity_rewrite},
    {"merge-rescales", ASSAY_PROVE_CODES, true, merge_matches, merge_rewrite},
    {"quantize-dequantized", ASSAY_PROVE_CODES, true, convert_matches, convert_rewrite},
    {"dequantize-quantized", ASSAY_PROVE_FLOATS, false, pair_matches, pair_rewrite},
    {"absorb-up", ASSAY_PROVE_CODES, true, up_matches, up_rewrite},
    {"absorb-up-weighted", ASSAY_PROVE_ACCUMULATORS, true, weighted_up_matches, up_rewrite},
    {"absorb-up-quantize", ASSAY_PROVE_FLOATS, true, quantize_up_matches, up_rewrite},
    {"absorb-down", ASSAY_PROVE_CODES, false, down_matches, down_rewrite},
    {"absorb-down-weighted", ASSAY_PROVE_SHIFT, false, shift_matches, down_rewrite},
    {"sink-move", ASSAY_PROVE_MOVE, false, move_matches, sink_rewrite},
    {"sink-order", ASSAY_PROVE_ORDER, false, order_matches, sink_rewrite},
    {"sink-select", ASSAY_PROVE_CODES, false, select_matches, sink_rewrite},
};

const assay_rule *assay_rules(size_t *n)
{
    *n = sizeof rules / sizeof *rules;
    return rules;
}
