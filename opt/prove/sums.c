/* Averages and sums: every sum that a window can hold, for every count of cells.
 *
 * SUMS: what follows the node goes into it, so the sums stay the same and only what becomes of them
 * is compared. AVERAGE: a rescale sinks below the node. Then the node sums codes where it summed
 * rescaled codes; for each sum of codes the least and the greatest sum of rescaled codes are found,
 * cell by cell, and since the node is monotone in its sum, both decide for all between them. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/core/type.h"
#include "graph/memory.h"
#include "opt/lower/nodes.h"
#include "opt/prove/fragment.h"
#include "opt/prove/prove.h"
#include "schemes/node/spec.h"

#define MAX_SUMS       (INT64_C(1) << 24) /* of all counts together */
#define MAX_CELLS      64                 /* of a window whose sums are paired */
#define ROW            1024
#define SUM_IS_REFUSED INT64_MIN

typedef struct pooling {
    const assay_scheme_vtable *vt;
    const assay_unit *unit;
} pooling;

/* Codes of n successive sums of `count` cells. */
static void pool_row(const pooling *p, int64_t first, size_t n, int32_t count, int64_t *code)
{
    int64_t sum[ROW] = {0};
    int32_t counts[ROW] = {0}, out[ROW];
    bool refused[ROW];
    for (size_t i = 0; i < n; i++) {
        refused[i] = false;
        sum[i] = p->vt->apply_overflow(p->unit, first + (int64_t)i, &refused[i]);
        counts[i] = count;
    }
    p->vt->pool(p->unit, sum, counts, n, out);
    for (size_t i = 0; i < n; i++)
        code[i] = refused[i] ? SUM_IS_REFUSED : out[i];
}

static int64_t pool_one(const pooling *p, int64_t sum, int64_t count)
{
    int64_t code;
    pool_row(p, sum, 1, (int32_t)count, &code);
    return code;
}

/* Cells that a window has at least and at most. */
typedef struct cells {
    int64_t least, max;
    bool padded;
} cells;

static cells cells_of(const assay_graph *g, const assay_node *n)
{
    assay_type in[ASSAY_SPEC_IN];
    assay_unit_spec spec;
    const assay_attr_pool *a = &n->attr.pool;
    assay_unit_spec_fill(g, n, in, &spec);
    cells c = {spec.depth, spec.depth, false};
    if (assay_op_get(n->op)->attrs != ASSAY_ATTRS_pool)
        return c;
    c.padded = a->ceil_mode;
    for (int i = 0; i < a->kernel.n; i++)
        c.padded |= a->pad_begin.v[i] > 0 || a->pad_end.v[i] > 0;
    c.least = c.padded ? 0 : c.least;
    return c;
}

static const assay_node *sums_node(const assay_graph *f)
{
    for (int i = 0; i < f->n_nodes; i++)
        if (lower_traits(&f->node[i]) & ASSAY_T_SUMS)
            return &f->node[i];
    return NULL;
}

static bool is_ordered(const assay_scheme_vtable *vt, const assay_unit *u)
{
    return vt->window && vt->window(u, NULL, 0, 0, NULL);
}

static assay_status prepare(const assay_graph *f, const assay_scheme *s, pooling *p,
                            assay_error *err)
{
    assay_type in[ASSAY_SPEC_IN];
    assay_unit_spec spec;
    assay_unit *unit = NULL;
    const assay_node *n = sums_node(f);
    if (!n || !s->vt->apply_overflow || !s->vt->pool)
        return assay_fail(err, ASSAY_ERR_UNSUPPORTED, "the scheme has no unit that sums codes");
    assay_unit_spec_fill(f, n, in, &spec);
    assay_status status = s->vt->prepare(s, &spec, &unit, err);
    if (status)
        return status;
    *p = (pooling){s->vt, unit};
    if (is_ordered(s->vt, unit))
        return assay_fail(err, ASSAY_ERR_UNSUPPORTED,
                          "this target's sums depend on the order of the cells");
    return ASSAY_OK;
}

typedef struct comparison {
    size_t considered;
    int64_t worst, sum, count, was, is;
    bool refused;
    int64_t lo, hi; /* codes that occur before */
} comparison;

static void compare(comparison *c, int64_t sum, int64_t count, int64_t was, int64_t is)
{
    bool refused = was == SUM_IS_REFUSED || is == SUM_IS_REFUSED;
    int64_t d = refused ? was != is : was > is ? was - is : is - was;
    c->considered++;
    c->refused |= refused && d;
    if (d > c->worst) {
        c->worst = d;
        c->sum = sum;
        c->count = count;
        c->was = was;
        c->is = is;
    }
}

static void conclude(const comparison *c, const char *what, assay_verdict *v)
{
    memset(v, 0, sizeof *v);
    v->kind = !c->worst ? ASSAY_EXACT : c->refused ? ASSAY_UNPROVED : ASSAY_BOUNDED;
    v->bound = c->refused ? 0 : c->worst;
    snprintf(v->evidence, sizeof v->evidence, "%zu %s%s", c->considered, what,
             c->worst ? ", not all equal" : " equal");
    if (c->worst)
        snprintf(v->counterexample, sizeof v->counterexample,
                 "sum %lld of %lld cells: %lld became %lld", (long long)c->sum, (long long)c->count,
                 (long long)c->was, (long long)c->is);
}

/* ---- SUMS ---- */

typedef struct function {
    int64_t *table; /* by code - least */
    size_t n;
    int64_t least;
} function;

static void compare_sums(const pooling *before, const function *f, const pooling *after, cells w,
                         const assay_type *x, comparison *c)
{
    int64_t was[ROW], is[ROW];
    for (int64_t count = w.least; count <= w.max; count++) {
        int64_t lo = count * assay_elem_min(x->elem), hi = count * assay_elem_max(x->elem);
        for (int64_t sum = lo; sum <= hi; sum += ROW) {
            size_t n = (size_t)(hi - sum + 1 < ROW ? hi - sum + 1 : ROW);
            pool_row(before, sum, n, (int32_t)count, was);
            pool_row(after, sum, n, (int32_t)count, is);
            for (size_t i = 0; i < n; i++) {
                if (was[i] != SUM_IS_REFUSED)
                    was[i] = f->table[was[i] - f->least];
                c->lo = was[i] < c->lo && was[i] != SUM_IS_REFUSED ? was[i] : c->lo;
                c->hi = was[i] > c->hi ? was[i] : c->hi;
                compare(c, sum + (int64_t)i, count, was[i], is[i]);
            }
        }
    }
}

/* ---- AVERAGE ---- */

/* Least and greatest sums of rescaled codes by sum of codes, for one count after the other. */
typedef struct pairs {
    const function *f;
    int64_t codes, room;
    int64_t *least, *greatest, *next_least, *next_greatest; /* by sum - count * least code */
} pairs;

static void add_cell(pairs *p, int64_t count)
{
    int64_t sums = count * (p->codes - 1) + 1, grown = sums + p->codes - 1;
    for (int64_t i = 0; i < grown; i++) {
        p->next_least[i] = INT64_MAX;
        p->next_greatest[i] = INT64_MIN;
    }
    for (int64_t i = 0; i < sums; i++)
        for (int64_t k = 0; k < p->codes; k++) {
            int64_t lo = p->least[i] + p->f->table[k], hi = p->greatest[i] + p->f->table[k];
            p->next_least[i + k] = lo < p->next_least[i + k] ? lo : p->next_least[i + k];
            p->next_greatest[i + k] = hi > p->next_greatest[i + k] ? hi : p->next_greatest[i + k];
        }
    int64_t *swap = p->least;
    p->least = p->next_least;
    p->next_least = swap;
    swap = p->greatest;
    p->greatest = p->next_greatest;
    p->next_greatest = swap;
}

static void compare_count(const pairs *p, const pooling *before, const pooling *after,
                          int64_t count, comparison *c)
{
    for (int64_t i = 0; i < count * (p->codes - 1) + 1; i++) {
        int64_t sum = count * p->f->least + i, code = pool_one(after, sum, count);
        int64_t is = code == SUM_IS_REFUSED ? code : p->f->table[code - p->f->least];
        compare(c, sum, count, pool_one(before, p->least[i], count), is);
        if (p->greatest[i] != p->least[i])
            compare(c, sum, count, pool_one(before, p->greatest[i], count), is);
    }
}

static assay_status compare_averages(const pooling *before, const function *f, const pooling *after,
                                     cells w, comparison *c, assay_error *err)
{
    pairs p = {.f = f, .codes = (int64_t)f->n, .room = w.max * ((int64_t)f->n - 1) + 1};
    int64_t *memory = calloc((size_t)p.room * 4, sizeof *memory);
    if (!memory)
        return assay_out_of_memory(err);
    p.least = memory;
    p.greatest = memory + p.room;
    p.next_least = memory + 2 * p.room;
    p.next_greatest = memory + 3 * p.room;
    for (int64_t count = 0; count <= w.max; count++) {
        if (count >= w.least)
            compare_count(&p, before, after, count, c);
        if (count < w.max)
            add_cell(&p, count);
    }
    free(memory);
    return ASSAY_OK;
}

/* ---- both ---- */

static assay_status check_size(const cells *w, const assay_type *x, bool average, assay_error *err)
{
    assert(x->elem.bits <= 32);
    if (w->max > 1 << 16 ||
        (w->max - w->least + 1) * w->max > MAX_SUMS >> x->elem.bits) /* of so many codes each */
        return assay_fail(err, ASSAY_ERR_LIMIT, "windows of %lld cells have too many sums",
                          (long long)w->max);
    if (average && (w->max > MAX_CELLS || x->elem.bits > 8))
        return assay_fail(err, ASSAY_ERR_LIMIT, "windows of %lld cells have too many pairs of sums",
                          (long long)w->max);
    return ASSAY_OK;
}

static assay_status attempt(const assay_match *m, const assay_rule *rule, const assay_scheme *s,
                            const pooling *before, const function *f, const assay_rule_image *image,
                            assay_proof *proof, comparison *c, assay_error *err)
{
    const bool average = rule->obligation == ASSAY_PROVE_AVERAGE;
    const assay_node *n = sums_node(proof->before);
    const assay_type *x = &assay_node_in(proof->before, n, 0)->type;
    const cells w = cells_of(proof->before, n);
    pooling after = {NULL, NULL};
    *c = (comparison){.lo = INT64_MAX, .hi = INT64_MIN};
    proof->possible = true;
    proof->uses_image = image != NULL;
    assay_status status = prove_rewrite(m, rule, image, proof, err);
    if (!status && !proof->possible)
        return ASSAY_OK;
    if (!status)
        status = prepare(proof->after, s, &after, err);
    if (!status && average)
        status = compare_averages(before, f, &after, w, c, err);
    else if (!status)
        compare_sums(before, f, &after, w, x, c);
    if (!status)
        conclude(c, average ? "pairs of sums" : "sums", &proof->verdict);
    if (after.unit)
        s->vt->release((assay_unit *)(uintptr_t)after.unit);
    return prove_impossible(proof, status, err);
}

/* The rescale in front must keep the zero point where cells of padding count as it. */
static bool keeps_padding(const assay_graph *g, const assay_node *n, const assay_node *rescale,
                          const function *f)
{
    const assay_type *x = &assay_node_in(g, rescale, 0)->type;
    const assay_type *y = &assay_node_out(g, rescale, 0)->type;
    return assay_op_get(n->op)->attrs != ASSAY_ATTRS_pool || !n->attr.pool.count_include_pad ||
           !cells_of(g, n).padded || f->table[x->q.zero_point[0] - f->least] == y->q.zero_point[0];
}

static bool is_ordered_table(const function *f)
{
    for (size_t i = 1; i < f->n; i++)
        if (f->table[i] < f->table[i - 1])
            return false;
    return true;
}

/* Codes as they are. */
static assay_status no_function(const assay_value *code, function *f, assay_error *err)
{
    assert(code->type.elem.bits <= 32);
    f->n = (size_t)1 << code->type.elem.bits;
    f->table = malloc(f->n * sizeof *f->table);
    for (size_t i = 0; i < f->n && f->table; i++)
        f->table[i] = f->least + (int64_t)i;
    return f->table ? ASSAY_OK : assay_out_of_memory(err);
}

assay_status prove_sums(const assay_graph *g, const assay_match *m, const assay_rule *rule,
                        const assay_scheme *s, assay_run_fn run, assay_proof *proof,
                        assay_error *err)
{
    const bool average = rule->obligation == ASSAY_PROVE_AVERAGE;
    const bool alone = m->n_upper == 0; /* the node becomes one of another kind */
    const assay_node *n = &g->node[average || alone ? m->lower : m->upper[0]];
    const assay_node *other = alone ? NULL : &g->node[average ? m->upper[0] : m->lower];
    const assay_value *code = alone ? assay_node_out(g, n, 0) : assay_node_in(g, other, 0);
    function f = {.least = assay_elem_min(code->type.elem)};
    pooling before = {NULL, NULL};
    comparison c = {0};
    assay_status status = lower_traits(n) & ASSAY_T_SUMS
                              ? ASSAY_OK
                              : assay_fail(err, ASSAY_ERR_UNSUPPORTED, "%s does not sum codes",
                                           assay_op_get(n->op)->name);
    cells w = {0, 0, false};
    if (!status) {
        w = cells_of(g, n);
        status = check_size(&w, &assay_node_in(g, n, 0)->type, average, err);
    }
    if (!status)
        status = prove_fragment_cut(g, m, 0, &proof->before, err);
    if (!status && alone)
        status = no_function(code, &f, err);
    else if (!status)
        status = prove_tabulate(g, average ? m->upper[0] : m->lower, s, run, &f.table, &f.n, err);
    if (!status && average && (!keeps_padding(g, n, other, &f) || !is_ordered_table(&f)))
        status = assay_fail(err, ASSAY_ERR_UNSUPPORTED,
                            "the rescale moves the zero point that padding holds, or the order");
    if (!status)
        status = prepare(proof->before, s, &before, err);
    if (!status)
        status = attempt(m, rule, s, &before, &f, NULL, proof, &c, err);
    if (!status && rule->bounds && c.considered && c.lo <= c.hi &&
        !(proof->possible && proof->verdict.kind == ASSAY_EXACT)) {
        proof->image = (assay_rule_image){c.lo, c.hi};
        status = attempt(m, rule, s, &before, &f, &proof->image, proof, &c, err);
    }
    if (before.unit)
        s->vt->release((assay_unit *)(uintptr_t)before.unit);
    free(f.table);
    return prove_impossible(proof, status, err);
}
