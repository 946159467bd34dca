/* Rows that two matrix units may part on, and the way from one that does to a small one. */
#include "interp/vectors/units.h"

#include <stdlib.h>
#include <string.h>

#include "graph/memory.h"
#include "interp/rows/random.h"

/* Levels: rows of so many products, then full ones, then full ones of one size. */
enum { DRAWS = 4000, FULL = 12, ALIKE, LEVELS, STARTS = 24 };

/* Two units, the row that is tried, and that row as it is stored. */
typedef struct search {
    const assay_mac *unit[2];
    rows_random random;
    int64_t reach; /* of the exponents of most numbers, about 1's; 0: of all, with all digits */
    vectors_dot row;
    void *stored[4]; /* a, b, scale_a, scale_b */
    assay_error *err;
    assay_status status;
} search;

const char *vectors_units_unlike(const assay_mac *a, const assay_mac *b)
{
    if (a->a != b->a || a->b != b->b)
        return "their elements are of different formats";
    if (a->acc != b->acc || a->out != b->out)
        return "their accumulators or results are of different formats";
    if (a->scale_block != b->scale_block || (a->scale_block > 0 && a->scale != b->scale))
        return "their block scales are not alike";
    return NULL;
}

static const assay_mac_layout *layout(int64_t f)
{
    return mac_layout_of((enum assay_mac_format)f);
}

static void store(int64_t format, const uint64_t *patterns, size_t n, void *out)
{
    for (size_t i = 0; i < n; i++)
        mac_store(format, out, i, patterns[i]);
}

/* Do the units differ on the row? */
static bool differ(search *s)
{
    const assay_mac *m = s->unit[0];
    vectors_dot *r = &s->row;
    uint64_t c = r->c;
    store(m->a, r->a, r->k, s->stored[0]);
    store(m->b, r->b, r->k, s->stored[1]);
    store(m->scale, r->scale_a, r->blocks, s->stored[2]);
    store(m->scale, r->scale_b, r->blocks, s->stored[3]);
    const assay_mac_rows rows = {r->k, s->stored[0], s->stored[1], &c, s->stored[2], s->stored[3]};
    r->d[0] = r->d[1] = 0;
    for (int i = 0; i < 2 && !s->status; i++)
        s->status = mac_dots(s->unit[i], 1, &rows, &r->d[i], s->err);
    return !s->status && r->d[0] != r->d[1];
}

/* ---- patterns ---- */

/* The pattern of 1, or of what comes nearest in a format without an exponent. */
static uint64_t one(int64_t f)
{
    const assay_mac_layout *l = layout(f);
    if (l->specials == ASSAY_MAC_INTEGER)
        return 64;
    return mac_pattern_of((enum assay_mac_format)f, false, (uint64_t)l->bias << l->fraction_bits);
}

/* -0, or 0 where there is none. */
static uint64_t negative_zero(int64_t f)
{
    const enum assay_mac_specials s = layout(f)->specials;
    const bool has = s == ASSAY_MAC_IEEE || s == ASSAY_MAC_FN || s == ASSAY_MAC_FINITE;
    return has ? mac_pattern_of((enum assay_mac_format)f, true, 0) : 0;
}

/* Sign, exponent and fraction, few digits more often than many. */
static uint64_t draw(search *s, int64_t f)
{
    const assay_mac_layout *l = layout(f);
    rows_random *r = &s->random;
    const int64_t top = ((int64_t)1 << l->exponent_bits) - 1, style = rows_between(r, 0, 15);
    uint64_t digits = 0;
    if (l->specials == ASSAY_MAC_INTEGER)
        return rows_next(r) & 255;
    int64_t e = style == 0                   ? 0
                : style < 4 || s->reach == 0 ? rows_between(r, 0, top)
                                             : l->bias + rows_between(r, -s->reach, s->reach);
    e = e < 0 ? 0 : e >= top && style != 1 && l->fraction_bits > 0 ? top - 1 : e > top ? top : e;
    if (l->fraction_bits > 0 && (s->reach == 0 || rows_between(r, 0, 1) == 0))
        digits = rows_next(r) & (((uint64_t)1 << l->fraction_bits) - 1);
    else if (l->fraction_bits > 0 && rows_between(r, 0, 1) == 0)
        digits = (uint64_t)1 << rows_between(r, 0, l->fraction_bits - 1);
    const bool negative = mac_is_signed((enum assay_mac_format)f) && (rows_next(r) & 1);
    return mac_pattern_of((enum assay_mac_format)f, negative,
                          (uint64_t)e << l->fraction_bits | digits);
}

/* Zeros of either sign at every place, all alike or not, and in the accumulator; few of the formats
 * have one sign only. */
static void draw_zeros(search *s)
{
    const assay_mac *m = s->unit[0];
    vectors_dot *r = &s->row;
    const int64_t style = rows_between(&s->random, 0, 2);
    for (size_t i = 0; i < r->k; i++) {
        const bool negative = style == 0 || (style == 1 && (rows_next(&s->random) & 1));
        r->a[i] = negative ? negative_zero(m->a) : 0;
        r->b[i] = style == 2 && (rows_next(&s->random) & 1) ? negative_zero(m->b) : 0;
    }
    r->c = rows_between(&s->random, 0, 3) > 0 ? negative_zero(m->acc) : 0;
}

static int64_t some_reach(search *s)
{
    static const int64_t reach[] = {2, 6, 40, 40, 0, 0};
    return reach[rows_between(&s->random, 0, 5)];
}

/* A row of so many products, an accumulator more often than not. */
static void draw_row(search *s, size_t products)
{
    const assay_mac *m = s->unit[0];
    vectors_dot *r = &s->row;
    memset(r->a, 0, r->k * sizeof *r->a);
    memset(r->b, 0, r->k * sizeof *r->b);
    s->reach = some_reach(s);
    for (size_t i = 0; i < products; i++) {
        const size_t at = (size_t)rows_between(&s->random, 0, (int64_t)r->k - 1);
        r->a[at] = draw(s, m->a);
        r->b[at] = draw(s, m->b);
    }
    s->reach = some_reach(s);
    r->c = rows_between(&s->random, 0, 2) == 0 ? 0 : draw(s, m->acc);
    s->reach = some_reach(s);
    for (size_t i = 0; i < r->blocks; i++) {
        const bool plain = rows_between(&s->random, 0, 1) == 0;
        r->scale_a[i] = plain ? one(m->scale) : draw(s, m->scale);
        r->scale_b[i] = plain ? one(m->scale) : draw(s, m->scale);
    }
}

/* One product at every place: sums that carry beyond the digits that are kept of a term. */
static void draw_alike(search *s)
{
    vectors_dot *r = &s->row;
    draw_row(s, 0);
    s->reach = 3;
    r->a[0] = draw(s, s->unit[0]->a);
    r->b[0] = draw(s, s->unit[0]->b);
    for (size_t i = 1; i < r->k; i++) {
        r->a[i] = r->a[0];
        r->b[i] = r->b[0];
    }
    r->c = draw(s, s->unit[0]->acc);
}

/* ---- smaller ---- */

/* Keeps *x at `to` if the units still differ. */
static bool try(search *s, uint64_t *x, uint64_t to)
{
    const uint64_t was = *x;
    if (was == to)
        return false;
    *x = to;
    if (differ(s))
        return true;
    *x = was;
    return false;
}

/* One pattern made plainer: 1, positive, without its lowest digits, an exponent nearer to 1's. */
static bool plainer(search *s, uint64_t *x, int64_t f)
{
    const assay_mac_layout *l = layout(f);
    const int shift = f == ASSAY_MAC_TF32 ? 13 : 0;
    const uint64_t sign = (uint64_t)1 << (l->exponent_bits + l->fraction_bits + shift),
                   step = (uint64_t)1 << (l->fraction_bits + shift), magnitude = *x & (sign - 1);
    if (*x == 0 || *x == one(f))
        return false;
    if (try(s, x, one(f)) || ((*x & sign) != 0 && try(s, x, magnitude)))
        return true;
    const uint64_t digits = magnitude & (step - 1);
    if (digits != 0 && (try(s, x, *x - digits) || try(s, x, *x - (digits & (~digits + 1)))))
        return true;
    const uint64_t e = magnitude / step, middle = one(f) / step;
    return (e > middle && try(s, x, *x - step)) || (e < middle && try(s, x, *x + step));
}

/* A product that is not there, or at an earlier place. */
static bool fewer(search *s, size_t i)
{
    vectors_dot *r = &s->row;
    const uint64_t a = r->a[i], b = r->b[i];
    if (a == 0 && b == 0)
        return false;
    r->a[i] = r->b[i] = 0;
    if (differ(s))
        return true;
    for (size_t j = 0; j < i; j++) {
        if (r->a[j] != 0 || r->b[j] != 0)
            continue;
        r->a[j] = a;
        r->b[j] = b;
        if (differ(s))
            return true;
        r->a[j] = r->b[j] = 0;
    }
    r->a[i] = a;
    r->b[i] = b;
    return false;
}

static bool smaller(search *s)
{
    const assay_mac *m = s->unit[0];
    vectors_dot *r = &s->row;
    bool any = try(s, &r->c, 0);
    for (size_t i = 0; i < r->k; i++)
        any = fewer(s, i) || any;
    for (size_t i = 0; i < r->k; i++) {
        any = plainer(s, &r->a[i], m->a) || any;
        any = plainer(s, &r->b[i], m->b) || any;
    }
    any = plainer(s, &r->c, m->acc) || any;
    for (size_t i = 0; i < r->blocks; i++) {
        any = plainer(s, &r->scale_a[i], m->scale) || any;
        any = plainer(s, &r->scale_b[i], m->scale) || any;
    }
    return any;
}

/* ---- the search ---- */

static bool find(search *s, size_t level)
{
    for (int i = 0; i < DRAWS && !s->status; i++) {
        if (level == ALIKE)
            draw_alike(s);
        else
            draw_row(s, level < FULL ? level : 2 * s->row.k);
        if (level == FULL && i % 8 == 0)
            draw_zeros(s);
        s->row.drawn++;
        if (differ(s))
            return true;
    }
    return false;
}

/* Patterns that are not 0, and then their digits. */
static size_t weight(const vectors_dot *r)
{
    size_t w = r->c != 0 ? 64 + (size_t)__builtin_popcountll(r->c) : 0;
    for (size_t i = 0; i < r->k; i++)
        w += (r->a[i] != 0 || r->b[i] != 0 ? 64 : 0) +
             (size_t)(__builtin_popcountll(r->a[i]) + __builtin_popcountll(r->b[i]));
    for (size_t i = 0; i < r->blocks; i++)
        w += (size_t)(__builtin_popcountll(r->scale_a[i]) + __builtin_popcountll(r->scale_b[i]));
    return w;
}

static void copy(vectors_dot *to, const vectors_dot *from)
{
    memcpy(to->a, from->a, from->k * sizeof *to->a);
    memcpy(to->b, from->b, from->k * sizeof *to->b);
    memcpy(to->scale_a, from->scale_a, from->blocks * sizeof *to->scale_a);
    memcpy(to->scale_b, from->scale_b, from->blocks * sizeof *to->scale_b);
    to->c = from->c;
    to->d[0] = from->d[0];
    to->d[1] = from->d[1];
}

/* From the first level that has a row on, some rows are made smaller; the smallest of them. */
static bool search_all(search *s, vectors_dot *least)
{
    size_t level = 0, best = SIZE_MAX;
    while (level < LEVELS && !find(s, level))
        level++;
    for (int i = 0; level < LEVELS && i < STARTS && !s->status; i++) {
        while (smaller(s))
            continue;
        if (weight(&s->row) < best) {
            best = weight(&s->row);
            differ(s);
            copy(least, &s->row);
        }
        if (!find(s, level))
            break;
    }
    return best < SIZE_MAX;
}

static size_t common(size_t a, size_t b)
{
    size_t k = a;
    while (k % b != 0)
        k += a;
    return k;
}

static bool reserve(vectors_dot *r, size_t k, size_t blocks)
{
    *r = (vectors_dot){.k = k,
                       .blocks = blocks,
                       .a = calloc(k, sizeof *r->a),
                       .b = calloc(k, sizeof *r->b),
                       .scale_a = calloc(blocks + 1, sizeof *r->scale_a),
                       .scale_b = calloc(blocks + 1, sizeof *r->scale_b)};
    return r->a && r->b && r->scale_a && r->scale_b;
}

assay_status vectors_units_apart(const assay_mac *a, const assay_mac *b, uint64_t seed,
                                 vectors_dot *out, bool *found, assay_error *err)
{
    search s = {.unit = {a, b}, .random = {seed}, .err = err};
    size_t k = common(mac_multiple(a), mac_multiple(b));
    k = k >= 4 ? k : common(k, 4); /* where any k will do, a few products */
    const size_t blocks = a->scale_block > 0 ? k / (size_t)a->scale_block : 0;
    const bool rows = reserve(&s.row, k, blocks), good = reserve(out, k, blocks) && rows;
    bool stored = good;
    for (int i = 0; i < 4; i++) {
        s.stored[i] = calloc(k, sizeof(uint64_t));
        stored = stored && s.stored[i];
    }
    *found = stored && search_all(&s, out);
    out->drawn = s.row.drawn;
    for (int i = 0; i < 4; i++)
        free(s.stored[i]);
    vectors_dot_free(&s.row);
    return stored ? s.status : assay_out_of_memory(err);
}

void vectors_dot_free(vectors_dot *d)
{
    free(d->a);
    free(d->b);
    free(d->scale_a);
    free(d->scale_b);
}
