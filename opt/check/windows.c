/* Checking averages and sums: all sums of a window's codes, for each count of cells. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "graph/core/type.h"
#include "opt/check/check.h"
#include "schemes/node/spec.h"

#define MAX_CELLS 65536
#define MAX_WORK  (INT64_C(1) << 34)
#define TRAPPED   INT64_MIN

typedef struct window {
    const assay_scheme_vtable *vt;
    assay_unit *before, *after;
    const assay_node *a, *b; /* the node that sums, before and after */
    int32_t *table;          /* of the rescale, relu or clip */
    size_t codes;
    int64_t least;       /* code of the table's first entry */
    int64_t fewest, max; /* cells */
} window;

static const assay_node *find(const assay_graph *g, bool sums)
{
    for (int i = 0; i < g->n_nodes; i++)
        if (sums == ((check_traits(&g->node[i]) & ASSAY_T_SUMS) != 0))
            return &g->node[i];
    return NULL;
}

static int64_t code_at(const window *w, const assay_unit *u, int64_t sum, int64_t count)
{
    bool trapped = false;
    int32_t n = (int32_t)count, code;
    sum = w->vt->apply_overflow(u, sum, &trapped);
    w->vt->pool(u, &sum, &n, 1, &code);
    return trapped ? TRAPPED : code;
}

static int64_t mapped(const window *w, int64_t code)
{
    int64_t at = code - w->least;
    return code == TRAPPED || at < 0 || at >= (int64_t)w->codes ? TRAPPED : w->table[at];
}

static void note(int64_t a, int64_t b, int64_t *worst)
{
    int64_t d = a == b ? 0 : a == TRAPPED || b == TRAPPED ? INT64_MAX : a > b ? a - b : b - a;
    *worst = d > *worst ? d : *worst;
}

static bool may_pad(const assay_node *n)
{
    const assay_attr_pool *p = &n->attr.pool;
    bool may = p->ceil_mode;
    for (int i = 0; i < p->kernel.n; i++)
        may |= p->pad_begin.v[i] != 0 || p->pad_end.v[i] != 0;
    return may && assay_op_get(n->op)->attrs == ASSAY_ATTRS_pool;
}

static assay_status prepare(check_context *c, const assay_node *function, const assay_graph *of,
                            window *w)
{
    assay_type in[ASSAY_SPEC_IN];
    assay_unit_spec spec;
    assay_unit_spec_fill(c->before, w->a, in, &spec);
    w->vt = c->scheme->vt;
    w->max = spec.depth;
    w->fewest = may_pad(w->a) ? 0 : w->max;
    if (!w->vt->apply_overflow || !w->vt->pool || w->max < 1 || w->max > MAX_CELLS)
        return check_reject(c, "a window that cannot be enumerated");
    assay_status s = check_prepare_pair(c, w->a, w->b, &w->before, &w->after);
    if (!s && w->vt->window &&
        (w->vt->window(w->before, NULL, 0, 0, NULL) || w->vt->window(w->after, NULL, 0, 0, NULL)))
        s = check_reject(c, "sums that depend on the order of the cells");
    if (!function)
        return s;
    w->least = assay_elem_min(of->value[function->in[0]].type.elem);
    return s ? s : check_tabulate(c, of, function, &w->table, &w->codes);
}

static void finish(const check_context *c, window *w)
{
    check_release_pair(c, w->before, w->after);
    free(w->table);
}

static bool same_node(const assay_node *a, const assay_node *b)
{
    return a->op == b->op && a->n_in == 1 && b->n_in == 1 &&
           assay_attrs_equal(assay_op_get(a->op)->attrs, &a->attr, &b->attr);
}

/* A mean over the axes of space, and the pool of all cells. */
static bool means_alike(const assay_graph *g, const assay_node *a, const assay_node *b)
{
    const assay_list *axes = &a->attr.reduce.axes;
    int first = b->attr.layout.layout == ASSAY_LAYOUT_NHWC ? 1 : 2;
    bool in_space = axes->n == 2 && axes->v[0] != axes->v[1] && a->attr.reduce.keepdims;
    for (int i = 0; i < axes->n && in_space; i++)
        in_space = axes->v[i] == first || axes->v[i] == first + 1;
    return a->op == ASSAY_OP_REDUCE_MEAN && b->op == ASSAY_OP_GLOBAL_AVG_POOL && in_space &&
           g->value[a->in[0]].type.rank == 4;
}

static int64_t as_it_is_or_mapped(const window *w, int64_t code)
{
    return w->table ? mapped(w, code) : code;
}

/* before: sums, function; after: sums alone. Or a mean that becomes a pool. */
assay_status check_sums(check_context *c, const json_t *step, int64_t *worst)
{
    window w = {.a = find(c->before, true), .b = find(c->after, true)};
    const assay_node *function = find(c->before, false);
    (void)step;
    bool alone =
        w.a && w.b && !function && c->before->n_nodes == 1 && means_alike(c->before, w.a, w.b);
    bool behind = w.a && w.b && function && c->before->n_nodes == 2 &&
                  function->in[0] == w.a->out[0] && same_node(w.a, w.b);
    if (c->after->n_nodes != 1 || !(alone || behind))
        return check_reject(c, "a fragment of unexpected form");
    assay_elem e = c->before->value[w.a->in[0]].type.elem;
    assay_status s = prepare(c, function, c->before, &w);
    *worst = 0;
    assert(s || e.bits <= 32);                                     /* what a unit takes */
    if (!s && (w.max - w.fewest + 1) * w.max > MAX_WORK >> e.bits) /* of so many codes each */
        s = check_reject(c, "a window that cannot be enumerated");
    for (int64_t n = w.fewest; !s && n <= w.max; n++)
        for (int64_t sum = n * assay_elem_min(e); sum <= n * assay_elem_max(e); sum++)
            note(as_it_is_or_mapped(&w, code_at(&w, w.before, sum, n)),
                 code_at(&w, w.after, sum, n), worst);
    finish(c, &w);
    return s;
}

/* The extremes of sums of rescaled codes with a given sum of codes, one cell more. All by distance
 * from the least sum. */
static void extend(const window *w, const int64_t *from, int64_t *to, int64_t n, bool greatest)
{
    int64_t codes = (int64_t)w->codes, span = n * (codes - 1);
    for (int64_t s = 0; s <= span + codes - 1; s++) {
        int64_t first = s > span ? s - span : 0, last = s < codes ? s : codes - 1;
        int64_t best = from[s - first] + w->table[first];
        for (int64_t k = first + 1; k <= last; k++) {
            int64_t v = from[s - k] + w->table[k];
            best = (v > best) == greatest ? v : best;
        }
        to[s] = best;
    }
}

static assay_status compare_all(const check_context *c, const window *w, int64_t *worst)
{
    int64_t codes = (int64_t)w->codes, room = w->max * (codes - 1) + 1;
    int64_t *sums = calloc((size_t)room * 4, sizeof *sums), *lo = sums, *hi = sums + room;
    if (!sums)
        return check_out_of_memory(c);
    for (int64_t n = 0; n <= w->max; n++) {
        for (int64_t s = 0; n >= w->fewest && s <= n * (codes - 1); s++) {
            int64_t is = mapped(w, code_at(w, w->after, n * w->least + s, n));
            note(code_at(w, w->before, lo[s], n), is, worst);
            note(code_at(w, w->before, hi[s], n), is, worst);
        }
        if (n == w->max)
            break;
        extend(w, lo, sums + 2 * room, n, false);
        extend(w, hi, sums + 3 * room, n, true);
        memcpy(lo, sums + 2 * room, (size_t)room * sizeof *lo);
        memcpy(hi, sums + 3 * room, (size_t)room * sizeof *hi);
    }
    free(sums);
    return ASSAY_OK;
}

/* before: rescale, sums; after: sums, the same rescale. */
assay_status check_average(check_context *c, const json_t *step, int64_t *worst)
{
    window w = {.a = find(c->before, true), .b = find(c->after, true)};
    const assay_node *r = find(c->before, false), *sunk = find(c->after, false);
    (void)step;
    if (!w.a || !w.b || !r || !sunk || c->before->n_nodes != 2 || c->after->n_nodes != 2 ||
        r->op != sunk->op || !check_same_bounds(r, sunk) || !check_same_bounds(w.a, w.b) ||
        w.a->in[0] != r->out[0] || sunk->in[0] != w.b->out[0] || !same_node(w.a, w.b) ||
        !check_same_value(c->before, r->in[0], c->after, w.b->in[0]) ||
        !check_same_type(&c->before->value[r->in[0]].type, &c->after->value[sunk->in[0]].type) ||
        !check_same_type(&c->before->value[r->out[0]].type, &c->after->value[sunk->out[0]].type))
        return check_reject(c, "the rescale was not only moved");
    assay_status s = prepare(c, sunk, c->after, &w);
    const assay_type *x = &c->before->value[r->in[0]].type, *y = &c->before->value[r->out[0]].type;
    *worst = 0;
    if (!s && w.max * w.max * (int64_t)(w.codes * w.codes) > MAX_WORK)
        s = check_reject(c, "a window that cannot be enumerated");
    if (!s && w.fewest == 0 && w.a->attr.pool.count_include_pad &&
        w.table[x->q.zero_point[0] - w.least] != y->q.zero_point[0])
        s = check_reject(c, "the padding would be rescaled to another code");
    for (size_t i = 1; !s && i < w.codes; i++)
        if (w.table[i] < w.table[i - 1])
            s = check_reject(c, "the rescale is not monotone");
    if (!s)
        s = compare_all(c, &w, worst);
    finish(c, &w);
    return s;
}
