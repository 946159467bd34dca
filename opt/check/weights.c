/* Accumulators that can occur in a product, from the model's weights; of a matrix product, both of
 * whose operands are computed, from their types. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "graph/core/type.h"
#include "opt/check/check.h"
#include "schemes/derive/sums.h"

typedef struct reach {
    int64_t lo, hi, magnitude;
} reach;

/* A product as the model has it. */
typedef struct weighing {
    const assay_value *w, *bias; /* bias: NULL where there is none */
    int64_t channels, depth;
    bool transposed; /* weights stand as inputs, outputs of a group, cells */
    int64_t group;
} weighing;

static int64_t weight_at(const weighing *k, int64_t channel, int64_t i)
{
    const assay_type *t = &k->w->type;
    int64_t at = channel * k->depth + i;
    if (k->transposed) { /* in the order of memory: input, output, cell */
        const int64_t inputs = t->dim[0] / k->group, cells = k->depth / inputs;
        const int64_t input = channel / t->dim[1] * inputs + i / cells;
        at = input * t->dim[1] * cells + channel % t->dim[1] * cells + i % cells;
    }
    const int32_t *zero = t->q.zero_point;
    return check_code(k->w, at) - (zero ? zero[t->q.count > 1 ? channel : 0] : 0);
}

static void add_product(reach *r, int64_t weight, int64_t lo, int64_t hi)
{
    int64_t least = weight < 0 ? weight * hi : weight * lo;
    int64_t max = weight < 0 ? weight * lo : weight * hi;
    least = least > 0 ? 0 : least;
    max = max < 0 ? 0 : max;
    r->lo += least;
    r->hi += max;
    r->magnitude += max > -least ? max : -least;
}

/* Sums of one channel, of codes in lo..hi about their zero point. */
static reach channel_reach(const weighing *k, int64_t channel, int64_t lo, int64_t hi)
{
    int64_t b = k->bias ? check_code(k->bias, channel) : 0;
    reach r = {b, b, b < 0 ? -b : b};
    for (int64_t i = 0; i < k->depth; i++)
        add_product(&r, weight_at(k, channel, i), lo, hi);
    return r;
}

/* Sums of `depth` products of two operands about their zero points. */
static reach matrix_reach(const assay_type *x, const assay_type *w, size_t column, int64_t depth)
{
    const int64_t zx = x->q.zero_point[0], zw = w->q.zero_point[w->q.count > 1 ? column : 0];
    const int64_t a[2] = {assay_elem_min(x->elem) - zx, assay_elem_max(x->elem) - zx};
    const int64_t b[2] = {assay_elem_min(w->elem) - zw, assay_elem_max(w->elem) - zw};
    reach r = {0, 0, 0};
    for (int i = 0; i < 4; i++) {
        int64_t p = a[i / 2] * b[i % 2] * depth;
        r.lo = p < r.lo ? p : r.lo;
        r.hi = p > r.hi ? p : r.hi;
    }
    r.magnitude = r.hi > -r.lo ? r.hi : -r.lo;
    return r;
}

/* Of the result of a layer. */
static int64_t channels_of(const assay_graph *g, const assay_node *n)
{
    const assay_type *y = &g->value[n->out[0]].type;
    const bool first = n->op != ASSAY_OP_FC && n->attr.conv.layout == ASSAY_LAYOUT_NCHW;
    return y->rank < 2 ? 0 : y->dim[first ? 1 : y->rank - 1];
}

/* What the model and the steps so far say of node n of fragment g; false: not enough. */
static bool weigh(const check_context *c, const assay_graph *g, const assay_node *n, weighing *k)
{
    const int b = n->n_in > 2 ? n->in[2] : -1;
    *k = (weighing){.w = c->model ? check_constant_of(c, g->value[n->in[1]].name) : NULL,
                    .channels = channels_of(g, n),
                    .transposed = n->op == ASSAY_OP_CONV_TRANSPOSE &&
                                  n->attr.conv.layout == ASSAY_LAYOUT_NCHW,
                    .group = n->op == ASSAY_OP_FC ? 1 : n->attr.conv.group};
    if (!k->w || k->w->type.rank < 2 || k->channels < 1 ||
        !assay_elem_equal(k->w->type.elem, g->value[n->in[1]].type.elem) ||
        k->channels != k->w->type.dim[k->transposed ? 1 : 0] * (k->transposed ? k->group : 1))
        return false;
    k->depth = assay_shape_count(&k->w->type) / (k->transposed ? k->w->type.dim[1] : k->channels) /
               (k->transposed ? k->group : 1);
    k->bias = b >= 0 ? check_constant_of(c, g->value[b].name) : NULL;
    if (b >= 0 && !k->bias && g->value[b].data) /* one that this step makes */
        k->bias = &g->value[b];
    return b < 0 || (k->bias && assay_shape_count(&k->bias->type) == k->channels);
}

/* What is added to the sums of every column behind a matrix product; false: not known. */
static bool add_behind(const check_context *c, const assay_graph *g, int bias, reach *r)
{
    const assay_value *b = check_constant_of(c, g->value[bias].name);
    if (!b || assay_shape_count(&b->type) < 1)
        return false;
    int64_t least = check_code(b, 0), max = least;
    for (int64_t i = 1; i < assay_shape_count(&b->type); i++) {
        const int64_t code = check_code(b, i);
        least = code < least ? code : least;
        max = code > max ? code : max;
    }
    r->lo += least;
    r->hi += max;
    r->magnitude += max > -least ? max : -least;
    return true;
}

/* Greatest magnitude that a built-in accumulator holds. */
static int64_t max_of(const assay_unit *u)
{
    const int bits = derive_unit_sum_bits(u);
    return (INT64_C(1) << (bits < 52 ? bits - 1 : 50)) - 1;
}

/* No sum leaves the accumulator. A plugin tells, if it knows. */
static bool is_exact(const check_context *c, const assay_unit *u, const check_reachable *all)
{
    const assay_scheme_vtable *vt = c->scheme->vt;
    if (!c->scheme->plugin_handle)
        return all->greatest <= max_of(u) && !derive_unit_saturates_pairs(u);
    return ASSAY_SCHEME_HAS(vt, facts, exact) && vt->facts->exact(u, all->greatest, all->pair);
}

bool check_sums_alike(const check_context *c, const assay_unit *a, const assay_unit *b,
                      const check_reachable *all)
{
    const bool same = !c->scheme->plugin_handle && derive_unit_adds_alike(a, b);
    return same || !all->known || (is_exact(c, a, all) && is_exact(c, b, all));
}

static int64_t raw_codes(const assay_type *t)
{
    return INT64_C(1) << (t->elem.bits > 8 ? t->elem.bits : 8);
}

check_reachable check_reach(const check_context *c, const assay_graph *g, const assay_node *n,
                            int bias, const assay_unit *u, const assay_type *x)
{
    const bool matrix = n->op == ASSAY_OP_MATMUL;
    const assay_type *b = &g->value[n->in[1]].type;
    int64_t depth = matrix ? check_depth(c, g, n) : 0;
    weighing k;
    check_reachable all = {.pair = 2 * raw_codes(x) * raw_codes(b)};
    all.known = matrix ? depth > 0 : weigh(c, g, n, &k);
    const int64_t channels = matrix ? (b->q.count > 1 ? (int64_t)b->q.count : 1) : k.channels;
    for (int64_t i = 0; all.known && i < channels; i++) {
        const int64_t zero = x->q.zero_point[0];
        reach r = matrix ? matrix_reach(x, b, (size_t)i, depth)
                         : channel_reach(&k, i, assay_elem_min(x->elem) - zero,
                                         assay_elem_max(x->elem) - zero);
        if (bias >= 0)
            all.known = add_behind(c, g, bias, &r);
        all.lo = r.lo < all.lo ? r.lo : all.lo;
        all.hi = r.hi > all.hi ? r.hi : all.hi;
        all.greatest = r.magnitude > all.greatest ? r.magnitude : all.greatest;
    }
    all.overflows = all.known && !is_exact(c, u, &all);
    if (all.overflows && !c->scheme->plugin_handle) {
        all.lo = -max_of(u) - 1;
        all.hi = max_of(u);
    }
    return all;
}

int64_t check_magnitude(const check_context *c, const assay_graph *g, const assay_node *n,
                        int64_t channel)
{
    const assay_type *w = &g->value[n->in[1]].type;
    weighing k;
    if (n->op != ASSAY_OP_MATMUL) {
        int64_t sum = 0;
        const bool known = weigh(c, g, n, &k);
        for (int64_t i = 0; known && i < k.depth; i++)
            sum += llabs(weight_at(&k, channel, i));
        return sum;
    }
    const int64_t zero = w->q.zero_point[w->q.count > 1 ? channel : 0];
    const int64_t up = assay_elem_max(w->elem) - zero, down = zero - assay_elem_min(w->elem);
    return (up > down ? up : down) * check_depth(c, g, n);
}
