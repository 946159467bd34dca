/* Change of one node's codes by a change of its operands; see spread.c. */
#include "opt/check/spread_node.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "graph/core/type.h"
#include "schemes/derive/sums.h"
#include "schemes/node/spec.h"

#define MULTIPLIER_ERROR (1.0 / 64)
#define ROUNDINGS        3.0

/* ---- one node of the network as a graph of its own ---- */

/* A constant stays one where a function reads one number, or a product its weights; of several
 * numbers that a function of two operands reads any code may stand in any place. */
static assay_status lift_value(const check_context *c, const check_work *w, assay_graph *g,
                               check_term *t, int i, int *id)
{
    char name[32];
    const bool constant = t->data && !t->by &&
                          !(check_traits(&w->node) & ASSAY_T_BINARY && check_is_code(&t->type) &&
                            assay_shape_count(&t->type) != 1);
    snprintf(name, sizeof name, "v%d", i);
    return constant ? assay_graph_add_constant(g, name, &t->type, t->data, id, c->err)
                    : assay_graph_add_value(g, name, &t->type, id, c->err);
}

assay_status check_spread_lift(const check_context *c, const check_work *w, check_term *out,
                               assay_graph **g)
{
    int in[8], inputs[8], n_inputs = 0, y = -1, id;
    if (w->node.n_in > 8)
        return check_reject(c, "a node with more operands than the checker follows");
    assay_status s = assay_graph_new("node", g, c->err);
    for (int i = 0; i < w->node.n_in && !s; i++) {
        check_term *t = w->in[i] ? check_term_now(w->in[i]) : NULL;
        in[i] = ASSAY_NO_VALUE;
        for (int k = 0; k < i && t; k++)
            in[i] = w->in[k] && check_term_now(w->in[k]) == t ? in[k] : in[i];
        if (!t || in[i] >= 0)
            continue;
        s = lift_value(c, w, *g, t, i, &in[i]);
        if (!s && !(*g)->value[in[i]].data)
            inputs[n_inputs++] = in[i];
    }
    if (!s)
        s = assay_graph_add_value(*g, "y", &out->type, &y, c->err);
    if (!s)
        s = assay_graph_add_node(*g, w->node.op, "node", in, w->node.n_in, &y, 1, &w->node.attr,
                                 &id, c->err);
    if (!s) {
        assay_node *n = &(*g)->node[0];
        n->act_lo = w->node.act_lo;
        n->act_hi = w->node.act_hi;
        n->has_code_bounds = w->node.has_code_bounds;
        n->code_lo = w->node.code_lo;
        n->code_hi = w->node.code_hi;
        s = assay_graph_set_inputs(*g, inputs, n_inputs, c->err);
    }
    return s ? s : assay_graph_set_outputs(*g, &y, 1, c->err);
}

/* ---- functions of codes ---- */

/* Greatest difference of entries at most d apart, among `n`, `step` from one to the next. */
static int64_t steepest(const int32_t *table, size_t n, size_t step, int64_t d)
{
    int64_t max = 0;
    for (size_t from = 0; from < n; from++)
        for (size_t to = from + 1; to < n && to - from <= (size_t)d; to++) {
            const int64_t by = llabs((int64_t)table[from * step] - table[to * step]);
            max = by > max ? by : max;
        }
    return max;
}

assay_status check_spread_through_function(const check_context *c, const assay_graph *g,
                                           const int64_t *d, int64_t *change)
{
    int32_t *table = NULL;
    size_t n = 0;
    assay_status s = check_tabulate_all(c, g, &table, &n);
    if (s)
        return s;
    assert(g->value[g->input[g->n_inputs - 1]].type.elem.bits <=
           CHECK_MAX_BITS); /* the table has all */
    const size_t second = g->n_inputs > 1 ? (size_t)1 << g->value[g->input[1]].type.elem.bits : 1;
    const size_t first = n / second;
    int64_t by_first = 0, by_second = 0;
    for (size_t i = 0; i < second; i++) {
        const int64_t by = steepest(table + i, first, second, d[0]);
        by_first = by > by_first ? by : by_first;
    }
    for (size_t i = 0; i < first && g->n_inputs > 1; i++) {
        const int64_t by = steepest(table + i * second, second, 1, d[1]);
        by_second = by > by_second ? by : by_second;
    }
    free(table);
    *change = by_first + by_second;
    return ASSAY_OK;
}

/* ---- products, sums ---- */

double check_spread_scale_of(const assay_type *t)
{
    return t->q.count > 0 ? (double)t->q.scale[0] : 1;
}

double check_spread_rescaled(double change, double ratio)
{
    return change > 0 ? ceil(change * ratio * (1 + MULTIPLIER_ERROR)) + ROUNDINGS : 0;
}

static int64_t depth_of(const assay_graph *g)
{
    assay_type in[ASSAY_SPEC_IN];
    assay_unit_spec spec;
    assay_unit_spec_fill(g, &g->node[0], in, &spec);
    return spec.depth;
}

/* Weights stand by outputs, by the products of one; of a transposed convolution with channels in
 * front by inputs, outputs of a group, cells. */
static double magnitude(const check_work *w, const assay_value *v, int64_t channel,
                        int64_t channels)
{
    const assay_type *t = &v->type;
    const int64_t zero = t->q.zero_point[t->q.count > 1 ? channel : 0];
    const int64_t count = assay_shape_count(t);
    const bool transposed =
        w->node.op == ASSAY_OP_CONV_TRANSPOSE && w->node.attr.conv.layout == ASSAY_LAYOUT_NCHW;
    double sum = 0;
    for (int64_t i = 0; i < count; i++) {
        int64_t of = i / (count / channels);
        if (transposed) {
            const int64_t cells = count / t->dim[0] / t->dim[1];
            const int64_t group = i / cells / t->dim[1] / (t->dim[0] / w->node.attr.conv.group);
            of = group * t->dim[1] + i / cells % t->dim[1];
        }
        if (of == channel)
            sum += (double)llabs(assay_elem_get(t->elem, v->data, (size_t)i) - zero);
    }
    return sum;
}

/* Of channel k: magnitudes of a code and of what a bias adds. */
static double greatest_code(const assay_type *x)
{
    const double zero = (double)x->q.zero_point[0];
    return fmax(zero - (double)assay_elem_min(x->elem), (double)assay_elem_max(x->elem) - zero);
}

static double greatest_bias(const assay_graph *g, const assay_node *n, int64_t k)
{
    const assay_value *b = n->n_in > 2 ? assay_node_in(g, n, 2) : NULL;
    if (!b)
        return 0;
    if (b->data)
        return fabs((double)assay_elem_get(b->type.elem, b->data, (size_t)k));
    return -(double)assay_elem_min(b->type.elem);
}

/* Sums that are beyond what is stated of sums: of them nothing is claimed. */
static bool is_wide(const assay_graph *g, const assay_node *n, int64_t depth)
{
    const assay_value *b = n->n_in > 2 ? assay_node_in(g, n, 2) : NULL;
    return assay_node_in(g, n, 1)->type.elem.bits > 16 || depth > INT64_C(1) << 18 ||
           (b && b->type.elem.bits > 48);
}

/* Codes follow the sums of g's one node: a plugin's are not known to. */
static bool follows(const check_context *c, const assay_graph *g, double greatest, double ratio)
{
    assay_unit *u;
    if (c->scheme->plugin_handle || check_prepare(c, g, &g->node[0], &u))
        return false;
    const bool yes = derive_unit_follows(u, greatest, ratio);
    c->scheme->vt->release(u);
    return yes;
}

double check_spread_through_product(const check_context *c, const check_work *w,
                                    const assay_graph *g, const int64_t d[3])
{
    const assay_node *n = &g->node[0];
    const assay_type *x = &assay_node_in(g, n, 0)->type, *y = &assay_node_out(g, n, 0)->type;
    const assay_value *v = assay_node_in(g, n, 1);
    const bool matrix = n->op == ASSAY_OP_MATMUL;
    const bool transposed =
        n->op == ASSAY_OP_CONV_TRANSPOSE && n->attr.conv.layout == ASSAY_LAYOUT_NCHW;
    const int64_t channels = matrix       ? (v->type.q.count > 1 ? (int64_t)v->type.q.count : 1)
                             : transposed ? v->type.dim[1] * n->attr.conv.group
                                          : v->type.dim[0];
    if (d[2] || v->type.q.granularity == ASSAY_Q_BLOCK ||
        (matrix && (x->rank < 2 || v->type.rank < 2)) ||
        (v->type.q.count > 1 && (int64_t)v->type.q.count != channels))
        return INFINITY;
    const int64_t depth = depth_of(g);
    if (is_wide(g, n, depth))
        return INFINITY;
    double worst = 0, greatest = 0, ratio[2] = {INFINITY, 0};
    for (int64_t k = 0; k < channels; k++) {
        const size_t at = v->type.q.count > 1 ? (size_t)k : 0;
        const double up = (double)(assay_elem_max(v->type.elem) - v->type.q.zero_point[at]);
        const double down = (double)(v->type.q.zero_point[at] - assay_elem_min(v->type.elem));
        const double weights =
            matrix || !v->data ? fmax(up, down) * (double)depth : magnitude(w, v, k, channels);
        double sum = (double)d[0] * weights;
        sum += (double)d[1] * (double)depth * (ldexp(1, x->elem.bits) + (double)d[0]);
        const double by =
            check_spread_scale_of(x) * (double)v->type.q.scale[at] / check_spread_scale_of(y);
        worst = fmax(worst, check_spread_rescaled(sum, by));
        greatest = fmax(greatest, greatest_code(x) * weights + greatest_bias(g, n, k));
        ratio[0] = fmin(ratio[0], by);
        ratio[1] = fmax(ratio[1], by);
    }
    return follows(c, g, greatest, ratio[0]) && follows(c, g, greatest, ratio[1]) ? worst
                                                                                  : INFINITY;
}

double check_spread_through_sums(const check_context *c, const assay_graph *g, int64_t d)
{
    const assay_node *n = &g->node[0];
    const int64_t depth = depth_of(g);
    double ratio = check_spread_scale_of(&assay_node_in(g, n, 0)->type) /
                   check_spread_scale_of(&assay_node_out(g, n, 0)->type);
    const double all = ldexp((double)depth, assay_node_in(g, n, 0)->type.elem.bits);
    const bool sum = n->op == ASSAY_OP_REDUCE_SUM;
    if (!follows(c, g, all, sum ? ratio : ratio / (double)depth))
        return INFINITY;
    return check_spread_rescaled((double)d, sum ? ratio * (double)depth : ratio);
}
