/* Change that a bounded step comes to at the network's outputs, computed again from the network as
 * the steps before it have left it. opt/rewrite/README.md says by which rules: all codes of
 * functions, weights of products, and never beyond what a type holds. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/core/type.h"
#include "opt/check/spread_node.h"
#include "schemes/node/spec.h"

#define DEEPEST 4096 /* nodes on a path that is followed */

typedef struct following {
    check_context *c;
    int round, depth;
    bool known; /* false: something stands in the way that only the prover could see */
} following;

static assay_status follow(following *f, check_term *t, int64_t *change);

/* ---- a node ---- */

/* It moves or chooses codes of one scale. */
static bool keeps(const check_work *w, const check_term *y, const int64_t *d)
{
    const check_term *x = check_term_now(w->in[0]);
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
static int64_t widest(const following *f, const check_term *t)
{
    int64_t max = 0;
    if (!is_float(&t->type) || !t->by ||
        !(check_traits(&t->by->node) & ASSAY_T_MOVE ||
          (check_traits(&t->by->node) & ASSAY_T_CONVERT &&
           is_small(&check_term_now(t->by->in[0])->type))))
        return range_of(&t->type);
    for (int i = 0; i < t->by->node.n_in; i++) {
        const check_term *x = t->by->in[i] ? check_term_now(t->by->in[i]) : NULL;
        const int64_t of = !x ? 0 : x->by && x->round == f->round ? x->max : range_of(&x->type);
        max = of > max ? of : max;
    }
    return max;
}

/* A function of one code, or of two that are enumerated together. */
static bool is_function(const check_work *w, const assay_graph *g)
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
static double through_convert(const check_term *x, const check_term *y, int64_t d)
{
    const check_work *above = x->by;
    if (is_small(&x->type) && is_float(&y->type))
        return (double)d;
    const check_term *codes =
        above && check_traits(&above->node) & ASSAY_T_CONVERT ? check_term_now(above->in[0]) : NULL;
    return codes && is_small(&codes->type) && is_small(&y->type)
               ? check_spread_rescaled((double)d, check_spread_scale_of(&codes->type) /
                                                      check_spread_scale_of(&y->type))
               : INFINITY;
}

static bool is_product(const check_work *w)
{
    return check_traits(&w->node) & ASSAY_T_WEIGHTED || w->node.op == ASSAY_OP_MATMUL;
}

/* A product or a sum of codes, lifted as g. */
static double through_accumulator(following *f, const check_work *w, const check_term *y,
                                  const assay_graph *g, const int64_t *d)
{
    bool whole = !y->shapeless;
    for (int i = 0; i < w->node.n_in; i++)
        whole &= !w->in[i] || !check_term_now(w->in[i])->shapeless;
    const int64_t all[3] = {d[0], w->node.n_in > 1 ? d[1] : 0, w->node.n_in > 2 ? d[2] : 0};
    f->known &= whole;
    return !whole          ? INFINITY
           : is_product(w) ? check_spread_through_product(f->c, w, g, all)
                           : check_spread_through_sums(f->c, g, d[0]);
}

/* An operation on codes. */
static assay_status through_codes(following *f, const check_work *w, check_term *y,
                                  const int64_t *d, double *by)
{
    const bool sums = is_product(w) || check_traits(&w->node) & ASSAY_T_SUMS;
    int64_t in[2] = {0, 0}, exactly = 0;
    assay_graph *g = NULL;
    assay_status s = check_spread_lift(f->c, w, y, &g);
    if (!s && is_function(w, g)) {
        for (int i = 0; i < w->node.n_in && i < 2; i++)
            for (int k = 0; k < g->n_inputs; k++)
                in[k] = g->node[0].in[i] == g->input[k] ? d[i] : in[k];
        s = check_spread_through_function(f->c, g, in, &exactly);
        *by = (double)exactly;
    } else if (!s && sums && is_small(&check_term_now(w->in[0])->type) && is_small(&y->type)) {
        *by = through_accumulator(f, w, y, g, d);
    }
    assay_graph_free(g);
    return s;
}

/* d: by operand. */
static assay_status through(following *f, const check_work *w, check_term *y, const int64_t *d,
                            double *by)
{
    const uint32_t traits = check_traits(&w->node);
    const check_term *x = check_term_now(w->in[0]);
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

static assay_status follow_work(following *f, check_term *t)
{
    const check_work *w = t->by;
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

static assay_status follow(following *f, check_term *t, int64_t *change)
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
assay_status check_spread(check_context *c, const char *value, int64_t bound, const json_t *claimed)
{
    following f = {.c = c, .round = ++c->replay->round, .known = true};
    check_term *t = check_term_find(c->replay, value);
    assay_status s = t ? ASSAY_OK : check_reject(c, "a value that the network does not have");
    if (t) {
        t->change = bound;
        t->max = range_of(&t->type);
        t->round = f.round;
    }
    for (int i = 0; i < c->model->n_outputs && !s; i++) {
        const int64_t adds = json_integer_value(json_array_get(claimed, (size_t)i));
        int64_t change = 0;
        check_term *out = check_term_find(c->replay, c->model->value[c->model->output[i]].name);
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
