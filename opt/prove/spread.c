/* Spread of a difference; see spread.h. */
#include "opt/prove/spread.h"
#include "graph/memory.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "graph/core/type.h"
#include "opt/lower/nodes.h"
#include "opt/lower/pass.h"
#include "opt/prove/fragment.h"
#include "opt/prove/products.h"
#include "opt/prove/prove.h"
#include "schemes/derive/sums.h"
#include "schemes/node/spec.h"

/* A rescale by R turns a change of d into at most R * d, give or take its multiplier's error (8
 * bits at least: below 2^-6), and the roundings on both sides. */
#define MULTIPLIER_ERROR (1.0 / 64)
#define ROUNDINGS        3.0

typedef struct spreading {
    const assay_graph *g;
    const assay_scheme *scheme;
    assay_run_fn run;
    int64_t *by;  /* by value: greatest change of its codes */
    int64_t *max; /* by value: the greatest change that there can be */
    assay_error *err;
} spreading;

static int64_t by_of(const spreading *s, const assay_node *n, int slot)
{
    return slot < n->n_in && n->in[slot] >= 0 ? s->by[n->in[slot]] : 0;
}

static int64_t greatest_input(const spreading *s, const assay_node *n)
{
    int64_t worst = 0;
    for (int i = 0; i < n->n_in; i++)
        worst = by_of(s, n, i) > worst ? by_of(s, n, i) : worst;
    return worst;
}

static float scale_of(const assay_value *v)
{
    return v && v->type.q.count > 0 ? v->type.q.scale[0] : 1;
}

/* Greatest difference between entries that lie at most d apart, `step` elements each. */
static int64_t greatest_change(const int64_t *table, size_t n, size_t step, int64_t d)
{
    int64_t worst = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 1; k <= (size_t)d && i + k < n; k++) {
            int64_t change = table[i * step] - table[(i + k) * step];
            change = change < 0 ? -change : change;
            worst = change > worst ? change : worst;
        }
    return worst;
}

static assay_status through_unary(const spreading *s, int node, int64_t *by)
{
    int64_t *table = NULL;
    size_t n = 0;
    assay_status status = prove_tabulate(s->g, node, s->scheme, s->run, &table, &n, s->err);
    if (!status)
        *by = greatest_change(table, n, 1, greatest_input(s, &s->g->node[node]));
    free(table);
    return status;
}

/* All pairs of codes: first the change by one operand, then by the other. */
static assay_status through_binary(const spreading *s, int node, int64_t *by)
{
    const assay_node *n = &s->g->node[node];
    assert(assay_node_in(s->g, n, 0)->type.elem.bits < 32);
    assert(assay_node_in(s->g, n, 1)->type.elem.bits < 32); /* through_node: both 16 together */
    size_t a = (size_t)1 << assay_node_in(s->g, n, 0)->type.elem.bits;
    size_t b = (size_t)1 << assay_node_in(s->g, n, 1)->type.elem.bits;
    int64_t *table = NULL, along_a = 0, along_b = 0, d;
    assay_status status = prove_tabulate_pairs(s->g, node, s->scheme, s->run, &table, s->err);
    for (size_t i = 0; i < b && !status; i++) {
        d = greatest_change(table + i, a, b, by_of(s, n, 0));
        along_a = d > along_a ? d : along_a;
    }
    for (size_t i = 0; i < a && !status; i++) {
        d = greatest_change(table + i * b, b, 1, by_of(s, n, 1));
        along_b = d > along_b ? d : along_b;
    }
    *by = along_a + along_b;
    free(table);
    return status;
}

static double rescaled(double change, double ratio)
{
    return change > 0 ? ceil(change * ratio * (1 + MULTIPLIER_ERROR)) + ROUNDINGS : 0;
}

/* A node's unit, of a built-in scheme: of others' it is not known whether codes follow sums. NULL
 * otherwise. */
static assay_unit *unit_of(const spreading *s, const assay_unit_spec *spec)
{
    assay_unit *u = NULL;
    assay_error unsaid;
    return s->scheme->vt == &assay_family_vtable &&
                   !s->scheme->vt->prepare(s->scheme, spec, &u, &unsaid)
               ? u
               : NULL;
}

/* A product: the change of the sum through the weights, and of the other operand's codes. */
static double through_product(const spreading *s, const assay_node *n)
{
    const assay_value *x = assay_node_in(s->g, n, 0), *w = assay_node_in(s->g, n, 1);
    const assay_value *y = assay_node_out(s->g, n, 0);
    const double d = (double)by_of(s, n, 0), dw = (double)by_of(s, n, 1);
    double worst = 0;
    assay_type in[ASSAY_SPEC_IN];
    assay_unit_spec spec;
    if (by_of(s, n, 2) || !prove_fragment_shrinks(s->g, n))
        return INFINITY;
    assay_unit_spec_fill(s->g, n, in, &spec);
    assay_sums sums = {0};
    assay_error unsaid;
    assay_unit *u = unit_of(s, &spec);
    if (!u || prove_product_reach(s->g, n, ASSAY_NO_VALUE, s->scheme, u, &sums, &unsaid))
        worst = INFINITY;
    for (int64_t c = 0; u && c < prove_product_channels(s->g, n); c++) {
        double scale = w->type.q.count > 1 ? (double)w->type.q.scale[c] : (double)scale_of(w);
        double sum = d * (double)prove_product_extremes(s->g, n, -1, 1, c).hi;
        sum += dw * (double)spec.depth * (ldexp(1, x->type.elem.bits) + d);
        const double ratio = (double)scale_of(x) * scale / (double)scale_of(y);
        worst = derive_unit_follows(u, (double)sums.greatest, ratio)
                    ? fmax(worst, rescaled(sum, ratio))
                    : INFINITY;
    }
    if (u)
        s->scheme->vt->release(u);
    return worst;
}

/* An average of changes is no greater than they are; a sum is by as many. */
static double through_sums(const spreading *s, const assay_node *n)
{
    assay_type in[ASSAY_SPEC_IN];
    assay_unit_spec spec;
    assay_unit_spec_fill(s->g, n, in, &spec);
    double ratio =
        (double)scale_of(assay_node_in(s->g, n, 0)) / (double)scale_of(assay_node_out(s->g, n, 0));
    const double all = ldexp((double)spec.depth, assay_node_in(s->g, n, 0)->type.elem.bits);
    const bool mean = n->op != ASSAY_OP_REDUCE_SUM;
    assay_unit *u = unit_of(s, &spec);
    const bool follows =
        u && derive_unit_follows(u, all, mean ? ratio / (double)spec.depth : ratio);
    if (u)
        s->scheme->vt->release(u);
    if (!mean)
        ratio *= (double)spec.depth;
    return follows ? rescaled((double)by_of(s, n, 0), ratio) : INFINITY;
}

/* The greatest change of any input, when the node only moves or chooses codes of one scale. */
static bool keeps_changes(const spreading *s, const assay_node *n)
{
    const assay_value *x = assay_node_in(s->g, n, 0), *y = assay_node_out(s->g, n, 0);
    if (n->op == ASSAY_OP_GATHER || n->op == ASSAY_OP_GATHER_ND)
        return !by_of(s, n, 1);
    if (n->op == ASSAY_OP_SELECT)
        return !by_of(s, n, 0);
    return lower_traits(n) & ASSAY_T_MOVE ||
           (lower_traits(n) & ASSAY_T_SELECTS && n->n_in == 1 && lower_same_type(x, y));
}

/* The greatest change that a value's type allows its codes. Floats have no codes of their own: for
 * those that were dequantized and moved it is that of the codes behind them. */
static int64_t widest(const spreading *s, int value)
{
    const assay_value *v = &s->g->value[value];
    const assay_elem e = v->type.elem;
    const assay_node *n = v->producer >= 0 ? &s->g->node[v->producer] : NULL;
    int64_t max = 0;
    if (e.kind == ASSAY_KIND_BOOL)
        return 1;
    if (e.kind != ASSAY_KIND_F32)
        return e.bits > 32 ? UINT32_MAX : assay_elem_max(e) - assay_elem_min(e);
    if (!n || !(lower_is_edge(s->g, n, false) || lower_traits(n) & ASSAY_T_MOVE))
        return INT32_MAX;
    for (int i = 0; i < n->n_in; i++)
        if (n->in[i] >= 0 && s->max[n->in[i]] > max)
            max = s->max[n->in[i]];
    return max;
}

static bool is_number(const assay_graph *g, int value)
{
    return lower_is_constant(g, value) && assay_shape_count(&g->value[value].type) == 1;
}

static assay_status through_node(const spreading *s, int node)
{
    const assay_node *n = &s->g->node[node];
    const assay_value *x = assay_node_in(s->g, n, 0), *y = assay_node_out(s->g, n, 0);
    double by = INFINITY;
    int64_t exactly = 0;
    assay_status status = ASSAY_OK;
    bool one = lower_is_binary(s->g, n) &&
               (n->in[0] == n->in[1] || is_number(s->g, n->in[0]) || is_number(s->g, n->in[1]));
    bool two = lower_is_binary(s->g, n) && !one &&
               x->type.elem.bits + assay_node_in(s->g, n, 1)->type.elem.bits <= ASSAY_WIDEST_TABLE;
    if (greatest_input(s, n) == 0)
        return ASSAY_OK;
    if (one || lower_is_unary(s->g, n)) {
        status = through_unary(s, node, &exactly);
        by = (double)exactly;
    } else if (two) {
        status = through_binary(s, node, &exactly);
        by = (double)exactly;
    } else if (keeps_changes(s, n)) {
        by = (double)greatest_input(s, n);
    } else if (lower_is_edge(s->g, n, false)) {
        by = (double)by_of(s, n, 0);
    } else if (lower_is_edge(s->g, n, true) && x->producer >= 0 &&
               lower_is_edge(s->g, &s->g->node[x->producer], false)) {
        const assay_value *codes = assay_node_in(s->g, &s->g->node[x->producer], 0);
        by = rescaled((double)by_of(s, n, 0), (double)scale_of(codes) / (double)scale_of(y));
    } else if (lower_is_product(n) && lower_is_code(y) && lower_is_code(x)) {
        by = through_product(s, n);
    } else if (lower_traits(n) & ASSAY_T_SUMS && lower_is_code(x) && lower_is_code(y)) {
        by = through_sums(s, n);
    }
    for (int i = 0; i < n->n_out && !status; i++) {
        const int64_t max = s->max[n->out[i]];
        s->by[n->out[i]] = by < (double)max ? (int64_t)by : max;
    }
    return status;
}

/* by, most: g->n_values zeros each. */
static assay_status spread_all(const spreading *s, int value, int64_t lsb, const int64_t *so_far,
                               int64_t *spread)
{
    const assay_graph *g = s->g;
    assay_status status = ASSAY_OK;
    for (int v = 0; v < g->n_values; v++)
        s->max[v] = g->value[v].producer < 0 ? widest(s, v) : 0;
    for (int i = 0; i < g->n_nodes; i++)
        for (int k = 0; k < g->node[i].n_out; k++)
            s->max[g->node[i].out[k]] = widest(s, g->node[i].out[k]);
    s->by[value] = lsb;
    for (int i = 0; i < g->n_nodes && !status; i++)
        status = through_node(s, i);
    for (int i = 0; i < g->n_outputs && !status; i++) {
        const int64_t by = s->by[g->output[i]], room = s->max[g->output[i]] - so_far[i];
        spread[i] = by < room ? by : room;
    }
    return status;
}

assay_status prove_spread(const assay_graph *g, const assay_scheme *s, assay_run_fn run, int value,
                          int64_t lsb, const int64_t *so_far, int64_t *spread, assay_error *err)
{
    const size_t room = (size_t)g->n_values + 1;
    const spreading all = {g,  s, run, calloc(room, sizeof(int64_t)), calloc(room, sizeof(int64_t)),
                           err};
    const assay_status status =
        all.by && all.max ? spread_all(&all, value, lsb, so_far, spread) : assay_out_of_memory(err);
    free(all.by);
    free(all.max);
    return status;
}
