/* Change that a bounded step comes to at the network's outputs, computed again from the network as
 * the steps before it have left it. opt/rewrite/README.md says by which rules: all codes of
 * functions, weights of products, and never beyond what a type holds. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/core/type.h"
#include "opt/check/terms.h"
#include "schemes/node/spec.h"

#define DEEPEST          4096 /* nodes on a path that is followed */
#define MULTIPLIER_ERROR (1.0 / 64)
#define ROUNDINGS        3.0

typedef struct following {
    checker *c;
    int round, depth;
    bool known; /* false: something stands in the way that only the prover could see */
} following;

static assay_status follow(following *f, term *t, int64_t *change);

/* ---- one node of the network as a graph of its own ---- */

/* A constant stays one where a function reads one number, or a product its weights; of several
 * numbers that a function of two operands reads any code may stand in any place. */
static assay_status lift_value(const checker *c, const work *w, assay_graph *g, term *t, int i,
                               int *id)
{
    char name[32];
    const bool constant = t->data && !t->by &&
                          !(check_traits(&w->node) & ASSAY_T_BINARY && check_is_code(&t->type) &&
                            assay_shape_count(&t->type) != 1);
    snprintf(name, sizeof name, "v%d", i);
    return constant ? assay_graph_add_constant(g, name, &t->type, t->data, id, c->err)
                    : assay_graph_add_value(g, name, &t->type, id, c->err);
}

/* Operands that are one term are one value; those that are computed are inputs. */
static assay_status lift(const checker *c, const work *w, term *out, assay_graph **g)
{
    int in[8], inputs[8], n_inputs = 0, y = -1, id;
    if (w->node.n_in > 8)
        return check_reject(c, "a node of more operands than are followed");
    assay_status s = assay_graph_new("node", g, c->err);
    for (int i = 0; i < w->node.n_in && !s; i++) {
        term *t = w->in[i] ? check_term_now(w->in[i]) : NULL;
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

/* d: by input of the lifted graph. */
static assay_status through_function(const checker *c, const assay_graph *g, const int64_t *d,
                                     int64_t *change)
{
    int32_t *table = NULL;
    size_t n = 0;
    assay_status s = check_tabulate_all(c, g, &table, &n);
    if (s)
        return s;
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

static double scale_of(const assay_type *t)
{
    return t->q.count > 0 ? (double)t->q.scale[0] : 1;
}

static double rescaled(double change, double ratio)
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
static double magnitude(const work *w, const assay_value *v, int64_t channel, int64_t channels)
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

/* d, dw: changes of the codes of either operand, and of the bias. */
static double through_product(const work *w, const assay_graph *g, const int64_t d[3])
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
    double worst = 0;
    for (int64_t k = 0; k < channels; k++) {
        const size_t at = v->type.q.count > 1 ? (size_t)k : 0;
        const double up = (double)(assay_elem_max(v->type.elem) - v->type.q.zero_point[at]);
        const double down = (double)(v->type.q.zero_point[at] - assay_elem_min(v->type.elem));
        const double weights =
            matrix || !v->data ? fmax(up, down) * (double)depth : magnitude(w, v, k, channels);
        double sum = (double)d[0] * weights;
        sum += (double)d[1] * (double)depth * (ldexp(1, x->elem.bits) + (double)d[0]);
        worst = fmax(worst, rescaled(sum, scale_of(x) * (double)v->type.q.scale[at] / scale_of(y)));
    }
    return worst;
}

static double through_sums(const assay_graph *g, int64_t d)
{
    const assay_node *n = &g->node[0];
    double ratio =
        scale_of(&assay_node_in(g, n, 0)->type) / scale_of(&assay_node_out(g, n, 0)->type);
    if (n->op == ASSAY_OP_REDUCE_SUM)
        ratio *= (double)depth_of(g);
    return rescaled((double)d, ratio);
}

/* ---- a node ---- */

/* It moves or chooses codes of one scale. */
static bool keeps(const work *w, const term *y, const int64_t *d)
{
    const term *x = check_term_now(w->in[0]);
    if (w->node.op == ASSAY_OP_GATHER || w->node.op == ASSAY_OP_GATHER_ND)
        return d[1] == 0;
    if (w->node.op == ASSAY_OP_SELECT)
        return d[0] == 0;
    return check_traits(&w->node) & ASSAY_T_MOVE ||
           (check_traits(&w->node) & ASSAY_T_SELECTS && w->node.n_in == 1 &&
            check_same_type(&x->type, &y->type));
}

static bool is_small(const assay_type *t)
{
    return check_is_code(t) && t->elem.bits <= CHECK_MAX_BITS;
}

static bool is_float(const assay_type *t)
{
    return t->elem.kind == ASSAY_KIND_F32;
}

/* By how much codes of the type can differ at all; floats have none. */
static int64_t range_of(const assay_type *t)
{
    if (t->elem.kind == ASSAY_KIND_BOOL)
        return 1;
    if (is_float(t))
        return INT32_MAX;
    return t->elem.bits > 32 ? UINT32_MAX : assay_elem_max(t->elem) - assay_elem_min(t->elem);
}

/* The same of a term whose operands were followed: of floats that were dequantized, and moved, it
 * is what the codes behind them have. */
static int64_t widest(const following *f, const term *t)
{
    int64_t max = 0;
    if (!is_float(&t->type) || !t->by ||
        !(check_traits(&t->by->node) & ASSAY_T_MOVE ||
          (check_traits(&t->by->node) & ASSAY_T_CONVERT &&
           is_small(&check_term_now(t->by->in[0])->type))))
        return range_of(&t->type);
    for (int i = 0; i < t->by->node.n_in; i++) {
        const term *x = t->by->in[i] ? check_term_now(t->by->in[i]) : NULL;
        const int64_t of = !x ? 0 : x->by && x->round == f->round ? x->max : range_of(&x->type);
        max = of > max ? of : max;
    }
    return max;
}

/* A function of one code, or of two that are enumerated together. */
static bool is_function(const work *w, const assay_graph *g)
{
    const uint32_t traits = check_traits(&w->node);
    const assay_node *n = &g->node[0];
    int bits = 0;
    if (!(traits & (ASSAY_T_UNARY | ASSAY_T_BINARY)) || w->node.n_out != 1 || g->n_inputs < 1 ||
        !is_small(&g->value[n->out[0]].type))
        return false;
    for (int i = 0; i < (traits & ASSAY_T_BINARY ? 2 : 1); i++) {
        const assay_value *v = assay_node_in(g, n, i);
        if (!v || !is_small(&v->type) || (v->data && assay_shape_count(&v->type) != 1))
            return false;
    }
    for (int i = 0; i < g->n_inputs; i++)
        bits += g->value[g->input[i]].type.elem.bits;
    return bits <= CHECK_MAX_BITS;
}

/* Between codes and floats, d of the operand; floats are only known where codes stand behind them.
 */
static double through_convert(const term *x, const term *y, int64_t d)
{
    const work *above = x->by;
    if (is_small(&x->type) && is_float(&y->type))
        return (double)d;
    const term *codes =
        above && check_traits(&above->node) & ASSAY_T_CONVERT ? check_term_now(above->in[0]) : NULL;
    return codes && is_small(&codes->type) && is_small(&y->type)
               ? rescaled((double)d, scale_of(&codes->type) / scale_of(&y->type))
               : INFINITY;
}

static bool is_product(const work *w)
{
    return check_traits(&w->node) & ASSAY_T_WEIGHTED || w->node.op == ASSAY_OP_MATMUL;
}

/* A product or a sum of codes, lifted as g. */
static double through_accumulator(following *f, const work *w, const term *y, const assay_graph *g,
                                  const int64_t *d)
{
    bool whole = !y->shapeless;
    for (int i = 0; i < w->node.n_in; i++)
        whole &= !w->in[i] || !check_term_now(w->in[i])->shapeless;
    const int64_t all[3] = {d[0], w->node.n_in > 1 ? d[1] : 0, w->node.n_in > 2 ? d[2] : 0};
    f->known &= whole;
    return !whole ? INFINITY : is_product(w) ? through_product(w, g, all) : through_sums(g, d[0]);
}

/* An operation on codes. */
static assay_status through_codes(following *f, const work *w, term *y, const int64_t *d,
                                  double *by)
{
    const bool sums = is_product(w) || check_traits(&w->node) & ASSAY_T_SUMS;
    int64_t in[2] = {0, 0}, exactly = 0;
    assay_graph *g = NULL;
    assay_status s = lift(f->c, w, y, &g);
    if (!s && is_function(w, g)) {
        for (int i = 0; i < w->node.n_in && i < 2; i++)
            for (int k = 0; k < g->n_inputs; k++)
                in[k] = g->node[0].in[i] == g->input[k] ? d[i] : in[k];
        s = through_function(f->c, g, in, &exactly);
        *by = (double)exactly;
    } else if (!s && sums && is_small(&check_term_now(w->in[0])->type) && is_small(&y->type)) {
        *by = through_accumulator(f, w, y, g, d);
    }
    assay_graph_free(g);
    return s;
}

/* d: by operand. */
static assay_status through(following *f, const work *w, term *y, const int64_t *d, double *by)
{
    const uint32_t traits = check_traits(&w->node);
    const term *x = check_term_now(w->in[0]);
    int64_t max = 0;
    for (int i = 0; i < w->node.n_in; i++)
        max = d[i] > max ? d[i] : max;
    *by = INFINITY;
    if (keeps(w, y, d)) {
        *by = (double)max;
        return ASSAY_OK;
    }
    if (traits & ASSAY_T_CONVERT &&
        ((is_small(&x->type) && is_float(&y->type)) || is_float(&x->type))) {
        *by = through_convert(x, y, d[0]);
        return ASSAY_OK;
    }
    if (w->node.n_in > 8 ||
        !(is_product(w) || traits & (ASSAY_T_UNARY | ASSAY_T_BINARY | ASSAY_T_SUMS)))
        return ASSAY_OK;
    return through_codes(f, w, y, d, by);
}

static assay_status follow_work(following *f, term *t)
{
    const work *w = t->by;
    int64_t *d = calloc((size_t)w->node.n_in + 1, sizeof *d), max = 0;
    double by = 0;
    assay_status s = d ? ASSAY_OK : check_out_of_memory(f->c);
    for (int i = 0; i < w->node.n_in && !s; i++) {
        if (w->in[i])
            s = follow(f, check_term_now(w->in[i]), &d[i]);
        max = d[i] > max ? d[i] : max;
    }
    if (!s && max > 0)
        s = through(f, w, t, d, &by);
    free(d);
    t->max = widest(f, t);
    t->change = by < (double)t->max ? (int64_t)by : t->max;
    t->round = f->round;
    return s;
}

static assay_status follow(following *f, term *t, int64_t *change)
{
    assay_status s = ASSAY_OK;
    if (t->round != f->round && t->by) {
        if (++f->depth > DEEPEST)
            f->known = false;
        else
            s = follow_work(f, t);
        f->depth--;
    }
    *change = t->round == f->round ? t->change : 0;
    return s;
}

static int64_t least_of(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* c->spread has what is claimed by now. */
assay_status check_spread(checker *c, const char *value, int64_t bound, const json_t *claimed)
{
    following f = {.c = c, .round = ++c->replay->round, .known = true};
    term *t = check_term_find(c->replay, value);
    assay_status s = t ? ASSAY_OK : check_reject(c, "a value that the network does not have");
    if (t) {
        t->change = bound;
        t->max = range_of(&t->type);
        t->round = f.round;
    }
    for (int i = 0; i < c->model->n_outputs && !s; i++) {
        const int64_t adds = json_integer_value(json_array_get(claimed, (size_t)i));
        int64_t change = 0;
        term *out = check_term_find(c->replay, c->model->value[c->model->output[i]].name);
        if (out)
            s = follow(&f, out, &change);
        if (out && out->by && f.known)
            change = least_of(change, out->max - (c->spread[i] - adds));
        if (!s && f.known && adds != change)
            s = assay_fail(c->err, ASSAY_ERR_INPUT,
                           "%s: step %d (%.60s): spread: output %d changes by at most %lld codes",
                           c->file, c->step, c->pass, i, (long long)change);
    }
    c->given += !s && !f.known;
    return s;
}
