/* Checking what goes into a product (conv, fc, matmul): the codes that become of accumulators, at
 * all of a narrow interval; of a wide one at PROBES accumulators and, where two neighbours' codes
 * differ, by halving between them. The interval itself is looked at in weights.c. */
#include <assert.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "graph/core/type.h"
#include "opt/check/check.h"

#define PROBES 1024
#define NARROW 4096
#define FEW    (INT64_C(1) << 16) /* of a plugin, all are looked at whatever it says, */
#define MANY   (INT64_C(1) << 20) /* or when it says nothing */

typedef struct ladder {
    const assay_scheme_vtable *vt;
    const assay_unit *a, *b;
    int64_t factor;       /* a's accumulators are b's times it */
    const int32_t *table; /* behind a, by code - least; or NULL */
    int64_t least, codes; /* of the table */
    size_t channel;
    int64_t stride;
    int64_t worst;
} ladder;

typedef struct rung {
    int64_t x;
    int32_t a, b;
} rung;

static rung probe(ladder *l, int64_t x)
{
    rung r = {.x = x};
    const int64_t before = x * l->factor;
    l->vt->requantize(l->a, &before, 1, l->channel, &r.a);
    l->vt->requantize(l->b, &x, 1, l->channel, &r.b);
    if (l->table) /* memory keeps the code's low bits */
        r.a = l->table[(r.a - l->least) & (l->codes - 1)];
    int64_t d = (int64_t)r.a - r.b;
    d = d < 0 ? -d : d;
    l->worst = d > l->worst ? d : l->worst;
    return r;
}

static void halve(ladder *l, rung p, rung q)
{
    if (q.x - p.x < 2 || (p.a == q.a && p.b == q.b))
        return;
    rung m = probe(l, p.x + (q.x - p.x) / 2);
    halve(l, p, m);
    halve(l, m, q);
}

static void climb(ladder *l, int64_t lo, int64_t hi)
{
    assert(lo <= hi && l->stride >= 1);
    rung last = probe(l, lo);
    for (int64_t x = lo; x < hi;) {
        x = hi - x < l->stride ? hi : x + l->stride;
        rung next = probe(l, x);
        halve(l, last, next);
        last = next;
    }
}

static int64_t parameters_of(const assay_graph *g, const assay_node *n)
{
    const assay_type *w = &g->value[n->in[1]].type;
    return w->q.count > 1 ? (int64_t)w->q.count : 1;
}

/* The whole number by which the function multiplies codes about their zero points, or 0. */
static int64_t factor_of(const assay_graph *g, const assay_node *n, const int32_t *table,
                         size_t size)
{
    const int64_t zx = g->value[n->in[0]].type.q.zero_point[0];
    const int64_t zy = g->value[n->out[0]].type.q.zero_point[0];
    const int64_t least = assay_elem_min(g->value[n->in[0]].type.elem);
    int64_t k = 0;
    for (size_t i = 0; i < size; i++) {
        int64_t x = least + (int64_t)i - zx, y = table[i] - zy;
        if (!k && x)
            k = y / x;
        if (y != k * x)
            return 0;
    }
    return k > 0 ? k : 0;
}

/* The bias in a new unit: each is the old one divided by k. */
static assay_status check_bias(const check_context *c, const assay_node *a, const assay_node *b,
                               int64_t k)
{
    if (a->n_in < 3 || a->in[2] < 0)
        return ASSAY_OK;
    const assay_value *old = &c->before->value[a->in[2]], *now = &c->after->value[b->in[2]];
    if (!old->data || !now->data || assay_shape_count(&old->type) != assay_shape_count(&now->type))
        return k == 1 && strcmp(old->name, now->name) == 0
                   ? ASSAY_OK
                   : check_reject(c, "a bias that is not known");
    for (int64_t i = 0; i < assay_shape_count(&now->type); i++)
        if (check_code(old, i) != k * check_code(now, i))
            return check_reject(c, "the bias is not in the new unit");
    return ASSAY_OK;
}

static int64_t ceil_div(int64_t a, int64_t k)
{
    assert(k > 0);
    return a > 0 ? (a - 1) / k + 1 : -(-a / k);
}

/* The plugin says of both that codes never fall: between equal ones there is no other. */
static bool are_monotone(const ladder *l, int64_t lo, int64_t hi)
{
    const assay_scheme_vtable *vt = l->vt;
    return ASSAY_SCHEME_HAS(vt, facts, monotone) &&
           vt->facts->monotone(l->a, lo * l->factor, hi * l->factor) &&
           vt->facts->monotone(l->b, lo, hi);
}

assay_status check_forms(const check_context *c, const assay_unit *before, const assay_unit *after,
                         const check_table *table, int64_t factor, int64_t lo, int64_t hi,
                         int64_t channels, int64_t *worst)
{
    ladder l = {.vt = c->scheme->vt, .a = before, .b = after, .factor = factor};
    const bool known = !c->scheme->plugin_handle || (hi - lo >= FEW && are_monotone(&l, lo, hi));
    if (!known && hi - lo >= MANY)
        return check_reject(c, "a plugin that does not declare its rescale monotone");
    l.stride = !known || hi - lo < NARROW ? 1 : (hi - lo) / PROBES;
    assert(!table || (table->size & (table->size - 1)) == 0); /* `probe` masks */
    if (table) {
        l.table = table->code;
        l.least = table->least;
        l.codes = (int64_t)table->size;
    }
    for (int64_t i = 0; i < channels; i++) {
        l.channel = (size_t)i;
        climb(&l, lo, hi);
    }
    *worst = l.worst;
    return ASSAY_OK;
}

static assay_status check_product(check_context *c, const json_t *step, bool linear, int64_t *worst)
{
    const assay_node *a, *b, *function;
    const int64_t widest = INT64_C(1) << 52;
    int64_t lo, hi, k = 1;
    int32_t *table = NULL;
    size_t size = 0;
    bool known = true;
    if (!check_interval(json_object_get(step, "reachable"), &lo, &hi) || lo < -widest ||
        hi > widest)
        return check_reject(c, "no interval of accumulators");
    assay_status status = check_product_pair(c, linear, &a, &function, &b);
    if (status)
        return status;
    assay_unit *before = NULL, *after = NULL;
    assay_status s = check_tabulate(c, c->before, function, &table, &size);
    if (!s && linear && !(k = factor_of(c->before, function, table, size)))
        s = check_reject(c, "the rescale does not multiply by a whole number");
    if (!s && (lo < -widest / k || hi > widest / k))
        s = check_reject(c, "no interval of accumulators");
    if (!s)
        s = check_bias(c, a, b, k);
    if (!s)
        s = check_model_bias(c, a);
    if (!s)
        s = check_prepare_pair(c, a, b, &before, &after);
    if (!s) {
        const check_reachable all =
            check_reach(c, c->before, a, -1, before, &c->before->value[a->in[0]].type);
        known = all.known;
        if (known && (lo != ceil_div(all.lo, k) || hi != -ceil_div(-all.hi, k)))
            s = check_reject(c, "the reachable accumulators are not those claimed");
        if (known && all.overflows && (k > 1 || c->scheme->plugin_handle))
            s = check_reject(c, "the accumulator may overflow");
        else if (!check_sums_alike(c, before, after, &all))
            s = check_reject(c, "the accumulators differ in width, overflow or order");
    }
    const check_table behind = {table, size,
                                assay_elem_min(c->before->value[function->in[0]].type.elem)};
    if (!s)
        s = check_forms(c, before, after, linear ? NULL : &behind, k, lo, hi,
                        parameters_of(c->before, a), worst);
    c->given += !known;
    check_release_pair(c, before, after);
    free(table);
    return s;
}

assay_status check_accumulators(check_context *c, const json_t *step, int64_t *worst)
{
    return check_product(c, step, false, worst);
}

assay_status check_linear(check_context *c, const json_t *step, int64_t *worst)
{
    return json_object_get(step, "drift") ? check_drift(c, step, worst)
                                          : check_product(c, step, true, worst);
}
