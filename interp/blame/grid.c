/* All that can come to an op of few inputs; see grid.h. */
#include "interp/blame/grid.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "interp/blame/families.h"

enum { MAX_BITS = 8, MAX_ELEMENTS = 4000000 };
enum grid_kind { NO_GRID, CODES, PAIRS, PRODUCTS, SUMS };

static bool is_plain(const assay_type *t)
{
    return t->elem.kind == ASSAY_KIND_INT && t->elem.bits <= MAX_BITS &&
           t->q.granularity == ASSAY_Q_TENSOR && t->q.zero_point;
}

static enum grid_kind kind_of(const blame_case *c)
{
    const unsigned traits = assay_op_get(c->op)->traits;
    const bool two = c->n_in == 2 && !c->constant[1] && is_plain(&c->in[1]);
    if (c->constant[0] || !is_plain(&c->in[0]) || !is_plain(&c->out))
        return NO_GRID;
    return c->op == ASSAY_OP_MATMUL         ? two ? PRODUCTS : NO_GRID
           : traits & ASSAY_T_UNARY         ? CODES
           : traits & ASSAY_T_BINARY && two ? PAIRS
           : c->op == ASSAY_OP_GLOBAL_AVG_POOL || c->op == ASSAY_OP_MAX_POOL ||
                   c->op == ASSAY_OP_AVG_POOL
               ? SUMS
               : NO_GRID;
}

static int64_t codes_of(const assay_type *t)
{
    assert(t->elem.bits < 63);
    return INT64_C(1) << t->elem.bits;
}

/* Input i holds every code at position k * step of a tensor of that shape, the zero point
 * elsewhere. */
static bool spread_codes(blame_case *c, int i, int64_t rows, int64_t columns, int64_t step)
{
    assay_type t = c->in[i];
    const int64_t n = codes_of(&t);
    int32_t *codes = assay_arena_array(c->arena, (size_t)(rows * columns) + 1, sizeof *codes);
    t.rank = 2;
    t.dim[0] = rows;
    t.dim[1] = columns;
    for (int64_t e = 0; e < rows * columns && codes; e++)
        codes[e] = t.q.zero_point[0];
    for (int64_t k = 0; k < n && codes; k++)
        codes[k * step] = (int32_t)(assay_elem_min(t.elem) + k);
    return codes && blame_set_codes(c, i, &t, codes);
}

static void set_output(blame_case *c, int64_t rows, int64_t columns)
{
    c->out.rank = 2;
    c->out.dim[0] = rows;
    c->out.dim[1] = columns;
}

/* One element of each row of the first meets one of each column of the second. */
static bool set_products(blame_case *c)
{
    const assay_attr_matmul *a = &c->attr.matmul;
    const int64_t depth = c->in[0].dim[c->in[0].rank - (a->transpose_a ? 2 : 1)];
    const int64_t n = codes_of(&c->in[0]), m = codes_of(&c->in[1]);
    set_output(c, n, m);
    return (a->transpose_a ? spread_codes(c, 0, depth, n, 1)
                           : spread_codes(c, 0, n, depth, depth)) &&
           (a->transpose_b ? spread_codes(c, 1, m, depth, depth) : spread_codes(c, 1, depth, m, 1));
}

/* A channel for each sum that a window can have: cells are filled up one after the other. A
 * greatest code is a function of one code alone, which all cells hold. */
static bool set_sums(blame_case *c)
{
    const bool global = c->op == ASSAY_OP_GLOBAL_AVG_POOL;
    const bool nchw = (global ? c->attr.layout.layout : c->attr.pool.layout) == ASSAY_LAYOUT_NCHW;
    const int channel = nchw ? 1 : c->in[0].rank - 1, spatial = nchw ? 2 : 1;
    assay_type t = c->in[0];
    int64_t cells = 1;
    for (int k = 0; k < t.rank - 2; k++) {
        const assay_attr_pool *p = &c->attr.pool;
        if (!global && (p->pad_begin.v[k] || p->pad_end.v[k] || p->dilation.v[k] != 1))
            return false;
        t.dim[k + spatial] = global ? t.dim[k + spatial] : p->kernel.v[k];
        c->out.dim[k + spatial] = 1;
        cells *= t.dim[k + spatial];
    }
    const int64_t max = codes_of(&t) - 1, step = c->op == ASSAY_OP_MAX_POOL ? cells : 1;
    const int64_t sums = max * cells / step + 1;
    if (sums * cells > MAX_ELEMENTS || t.rank < 3)
        return false;
    t.dim[0] = c->out.dim[0] = 1;
    t.dim[channel] = c->out.dim[channel] = sums;
    int32_t *codes = assay_arena_array(c->arena, (size_t)(sums * cells) + 1, sizeof *codes);
    for (int64_t s = 0; s < sums && codes; s++)
        for (int64_t k = 0; k < cells; k++) {
            const int64_t sum = s * step, own = sum / cells + (k < sum % cells);
            codes[nchw ? s * cells + k : k * sums + s] = (int32_t)(assay_elem_min(t.elem) + own);
        }
    return codes && blame_set_codes(c, 0, &t, codes);
}

/* The case with all that can come to it; how many outputs: 0: it has no such. */
static int64_t set_grid(blame_case *c, enum grid_kind kind)
{
    const int64_t n = codes_of(&c->in[0]);
    bool good = false;
    if (kind == PRODUCTS)
        good = set_products(c);
    else if (kind == SUMS)
        good = set_sums(c);
    else if (kind == CODES)
        good = spread_codes(c, 0, 1, n, 1);
    else if (kind == PAIRS)
        good = spread_codes(c, 0, n, 1, 1) && spread_codes(c, 1, 1, codes_of(&c->in[1]), 1);
    if (kind == CODES || kind == PAIRS)
        set_output(c, kind == PAIRS ? n : 1, kind == PAIRS ? codes_of(&c->in[1]) : n);
    return good ? assay_shape_count(&c->out) : 0;
}

/* What an explanation gives of all that can come, in *codes, which is the caller's; 0: nothing. */
static int64_t predict(blame_search *s, const blame_finding *f, enum grid_kind kind,
                       int32_t **codes)
{
    blame_case c;
    blame_story story = {.changed = 1};
    assay_arena_free(s->arena);
    *codes = NULL;
    if (!(s->arena = assay_arena_new()) || !blame_search_case(s, 0, &c))
        return 0;
    const int64_t n = set_grid(&c, kind);
    if (n == 0 || !f->family->edit(s, f->i, &c, &story) || assay_shape_count(&c.out) != n)
        return 0;
    void *out = assay_arena_alloc(c.arena, assay_type_bytes(&c.out) + 64);
    *codes = malloc((size_t)n * sizeof **codes + 64);
    if (!out || !*codes || blame_case_run(&c, out, NULL, NULL))
        return 0;
    blame_load(&c.out, out, *codes);
    return n;
}

static void say(const blame_case *c, enum grid_kind kind, int64_t at, char *text, size_t size)
{
    const int64_t m = kind == CODES || kind == SUMS ? 1 : codes_of(&c->in[1]);
    const int64_t first = assay_elem_min(c->in[0].elem) + at / m;
    const int64_t second = m > 1 ? assay_elem_min(c->in[1].elem) + at % m : 0;
    if (kind == CODES)
        snprintf(text, size, "the input code %" PRId64, first);
    else if (kind == SUMS && c->op == ASSAY_OP_MAX_POOL)
        snprintf(text, size, "a window of the code %" PRId64, first);
    else if (kind == SUMS)
        snprintf(text, size, "a window of codes that add up to %" PRId64 " more than the least",
                 at);
    else
        snprintf(text, size, "%s %" PRId64 " and %" PRId64,
                 kind == PAIRS ? "the input codes" : "the product of the codes", first, second);
}

void blame_grid_say(blame_search *s, const blame_finding *a, const blame_finding *b, char *text,
                    size_t size)
{
    static const char *const all[] = {"", "input code", "pair of input codes",
                                      "product of two codes", "sum of a window's codes"};
    int32_t *one = NULL, *other = NULL;
    blame_case c;
    char input[96];
    if (!a->family->edit || !b->family->edit || !blame_search_case(s, 0, &c))
        return;
    const enum grid_kind kind = kind_of(&c);
    const int64_t n = kind == NO_GRID ? 0 : predict(s, a, kind, &one);
    int64_t at = -1;
    if (n > 0 && predict(s, b, kind, &other) == n) {
        for (int64_t e = n - 1; e >= 0; e--)
            at = one[e] != other[e] ? e : at;
        say(&c, kind, at, input, sizeof input);
        if (at >= 0)
            snprintf(text, size, "%s would tell it (code %d) from %.24s, %.120s (code %d)", input,
                     one[at], b->story.class, b->story.detail, other[at]);
        else
            snprintf(text, size, "no %s tells it from %.24s, %.120s: all %" PRId64 " tried",
                     all[kind], b->story.class, b->story.detail, n);
    }
    free(one);
    free(other);
}
