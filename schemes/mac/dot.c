/* Dot products: steps, instructions, and the sums above them; over rows and over matrices. */
#include <stdlib.h>

#include "graph/memory.h"
#include "schemes/mac/terms.h"

/* A NaN of format f as a quiet NaN of `out`: the upper bits of its fraction stay. */
static uint64_t quiet(const assay_mac *m, int64_t f, uint64_t pattern)
{
    const assay_mac_layout *l = mac_layout_of((enum assay_mac_format)f),
                           *out = mac_layout_of((enum assay_mac_format)m->out);
    const int fraction = f == ASSAY_MAC_TF32 ? 23 : l->fraction_bits;
    const uint64_t negative = pattern >> (l->exponent_bits + fraction) & 1,
                   digits = pattern & (((uint64_t)1 << fraction) - 1);
    const int up = out->fraction_bits - fraction;
    return negative << (out->exponent_bits + out->fraction_bits) |
           (((uint64_t)1 << out->exponent_bits) - 1) << out->fraction_bits |
           (uint64_t)1 << (out->fraction_bits - 1) | (up < 0 ? digits >> -up : digits << up);
}

/* The incoming accumulator as a pattern of `out`, which can represent its format. */
static uint64_t widened(const assay_mac *m, uint64_t c)
{
    const enum assay_mac_format out = (enum assay_mac_format)m->out;
    const assay_mac_rounding exact = {ASSAY_ROUND_TRUNC, mac_layout_of(out)->fraction_bits, false};
    const assay_mac_value v = mac_read_pattern(m, m->acc, m->flush_acc, c);
    if (v.kind == ASSAY_MAC_NAN)
        return m->nan_rule == ASSAY_MAC_NAN_OPERAND ? quiet(m, m->acc, c) : (uint64_t)m->nan;
    return mac_encode(out, &v, &exact);
}

/* ---- a dot product ---- */

/* One row of A and one of B: decoded, and the patterns, where NaN are looked for; room for the
 * terms of a step. */
typedef struct dot {
    const assay_mac *m;
    mac_operands o;
    const void *a, *b; /* this row's patterns */
    size_t k;
    mac_term *room;
    const mac_watch *watch;
} dot;

static void tell(const dot *d, mac_seen seen)
{
    if (d->watch)
        d->watch->see(d->watch->to, &seen);
}

static bool is_nan(const assay_mac *m, uint64_t pattern)
{
    return mac_decode((enum assay_mac_format)m->out, pattern).kind == ASSAY_MAC_NAN;
}

/* Where element i, in the order of summation over K, is stored. */
static size_t element(const assay_mac *m, size_t k, size_t i)
{
    return m->k_order == ASSAY_MAC_DESCENDING ? k - 1 - i : i;
}

/* The NaN that an instruction over [first, first + n) gives. */
static uint64_t nan_of(const dot *d, uint64_t running, size_t first, size_t n)
{
    const assay_mac *m = d->m;
    if (m->nan_rule == ASSAY_MAC_NAN_PATTERN)
        return (uint64_t)m->nan;
    for (size_t i = first; i < first + n; i++) {
        const size_t at = element(m, d->k, i);
        if (d->o.a[i].kind == ASSAY_MAC_NAN)
            return quiet(m, m->a, mac_load(m->a, d->a, at));
        if (d->o.b[i].kind == ASSAY_MAC_NAN)
            return quiet(m, m->b, mac_load(m->b, d->b, at));
    }
    return is_nan(m, running) ? running : (uint64_t)m->nan;
}

static uint64_t step(const dot *d, uint64_t running, size_t first, size_t at, size_t n)
{
    const assay_mac *m = d->m;
    for (int phase = 0; phase < m->phases; phase++) {
        const mac_term acc = mac_running(m, running);
        const size_t terms = mac_terms(m, &d->o, first, at, n, phase, &acc, d->room);
        const uint64_t before = running;
        running = mac_sum(m, d->room, terms, &acc);
        tell(d, (mac_seen){MAC_STEP, first + at, n, phase, d->room, terms, before, running});
    }
    return running;
}

/* Adds the values of the chains by pairs, then the accumulator. */
static uint64_t gather(const dot *d, uint64_t running, const uint64_t *chain)
{
    const assay_mac *m = d->m;
    mac_term value[64], two[2];
    for (size_t i = 0; i < (size_t)m->chains; i++) {
        const assay_mac_value v = mac_read_pattern(m, m->out, ASSAY_MAC_FLUSH_NONE, chain[i]);
        value[i] = mac_term_of(&v);
    }
    two[0] = mac_add_pairs(m, value, (size_t)m->chains);
    two[1] = mac_running(m, running);
    return mac_add(m, two, 2, m->acc_round, m->out_frac);
}

static uint64_t instruction(const dot *d, uint64_t running, size_t first, size_t n)
{
    const assay_mac *m = d->m;
    const size_t group = m->group > 0 ? (size_t)m->group : n;
    uint64_t chain[64] = {0}, result;
    const bool from_zero = m->start == ASSAY_MAC_START_ZERO;
    if (!from_zero)
        chain[0] = running;
    for (size_t at = 0; at < n; at += group) {
        uint64_t *value = &chain[at / group % (size_t)m->chains];
        *value = step(d, *value, first, at, group);
    }
    result = from_zero ? gather(d, running, chain) : chain[0];
    if (from_zero)
        tell(d,
             (mac_seen){
                 .event = MAC_CHAINS, .first = first, .n = n, .before = running, .after = result});
    const uint64_t kept = is_nan(m, result) ? nan_of(d, running, first, n) : result;
    if (kept != result)
        tell(d, (mac_seen){
                    .event = MAC_OPERAND, .first = first, .n = n, .before = result, .after = kept});
    return kept;
}

/* ---- sums of instructions ---- */

/* x + y, patterns of `out`; y is multiplied by a scale if there is one. */
static uint64_t outer_add(const assay_mac *m, uint64_t x, uint64_t y, const assay_mac_value *scale)
{
    mac_term two[2] = {mac_running(m, x), mac_running(m, y)};
    if (scale)
        mac_scale_term(&two[1], scale);
    const uint64_t sum = mac_add(m, two, 2, m->outer_round, 0);
    if (!is_nan(m, sum) || m->nan_rule == ASSAY_MAC_NAN_PATTERN)
        return sum;
    return is_nan(m, x) ? x : is_nan(m, y) ? y : sum;
}

/* The product of two scales, rounded to f32. */
static assay_mac_value scale_product(const assay_mac_value *a, const assay_mac_value *b)
{
    static const assay_mac f32 = {
        .out = ASSAY_MAC_F32, .zero_sign = ASSAY_MAC_ZERO_SUM, .nan = 0x7fc00000};
    mac_term t = mac_term_of(a);
    mac_scale_term(&t, b);
    return mac_decode(ASSAY_MAC_F32, mac_result(&f32, &t, ASSAY_ROUND_HALF_EVEN, 0));
}

/* Runs the instructions over [first, first + n). */
static uint64_t run(const dot *d, uint64_t running, size_t first, size_t n)
{
    const size_t each = d->m->instruction > 0 ? (size_t)d->m->instruction : n;
    for (size_t i = 0; i < n; i += each)
        running = instruction(d, running, first + i, each);
    return running;
}

/* Runs one part of K. */
static uint64_t part(const dot *d, uint64_t running, size_t first, size_t n)
{
    const assay_mac *m = d->m;
    const size_t each = (size_t)m->promote;
    if (each == 0)
        return run(d, running, first, n);
    dot inner = *d;
    const bool scaled = m->scale_place == ASSAY_MAC_PROMOTED && m->scale_block > 0;
    if (scaled)
        inner.o.scale_a = NULL;
    for (size_t i = first; i < first + n; i += each) {
        const uint64_t sum = run(&inner, 0, i, each);
        assay_mac_value scale = {.kind = ASSAY_MAC_NUMBER};
        if (scaled)
            scale = scale_product(&d->o.scale_a[i / (size_t)m->scale_block],
                                  &d->o.scale_b[i / (size_t)m->scale_block]);
        const uint64_t before = running;
        running = outer_add(m, running, sum, scaled ? &scale : NULL);
        tell(d,
             (mac_seen){
                 .event = MAC_PROMOTED, .first = i, .n = each, .before = before, .after = running});
    }
    return running;
}

/* `parts` has room for split_k patterns. */
static uint64_t whole(const dot *d, uint64_t c, uint64_t *parts)
{
    const assay_mac *m = d->m;
    size_t n = (size_t)m->split_k;
    uint64_t running = widened(m, c);
    if (n == 1)
        return part(d, running, 0, d->k);
    for (size_t i = 0; i < n; i++)
        parts[i] = part(d, 0, i * (d->k / n), d->k / n);
    for (; m->split_sum == ASSAY_MAC_BY_PAIRS && n > 1; n = (n + 1) / 2)
        for (size_t i = 0; i < n; i += 2)
            parts[i / 2] = i + 1 < n ? outer_add(m, parts[i], parts[i + 1], NULL) : parts[i];
    for (size_t i = 0; i < n; i++) {
        const uint64_t before = running;
        running = outer_add(m, running, parts[i], NULL);
        tell(d,
             (mac_seen){.event = MAC_PART, .first = i, .n = n, .before = before, .after = running});
    }
    return running;
}

/* ---- rows and matrices ---- */

/* Decodes `rows` rows of k patterns, and of `blocks` scales, each in the order of summation.
 * `table`: the decoded elements by pattern, for many elements of a byte; or NULL. */
typedef struct side {
    assay_mac_value *elements, *scales, *table;
} side;

enum { MANY = 1024 };

static void decode_row(const assay_mac *m, int64_t format, int64_t flush, const void *data,
                       size_t row, size_t k, assay_mac_value *out)
{
    for (size_t i = 0; i < k; i++)
        out[i] =
            mac_read_pattern(m, format, flush, mac_load(format, data, row * k + element(m, k, i)));
}

static void look_up_row(const assay_mac *m, const uint8_t *row, size_t k,
                        const assay_mac_value table[256], assay_mac_value *out)
{
    for (size_t i = 0; i < k; i++)
        out[i] = table[row[element(m, k, i)]];
}

/* Decodes `rows` rows of one operand from `row` on. */
static void decode_side(const assay_mac *m, int64_t format, const void *data, const void *scales,
                        size_t row, size_t rows, size_t k, const side *s)
{
    const size_t blocks = m->scale_block > 0 ? k / (size_t)m->scale_block : 0;
    for (size_t i = 0; i < rows; i++) {
        if (s->table)
            look_up_row(m, (const uint8_t *)data + (row + i) * k, k, s->table, s->elements + i * k);
        else
            decode_row(m, format, m->flush_in, data, row + i, k, s->elements + i * k);
        if (blocks > 0)
            decode_row(m, m->scale, ASSAY_MAC_FLUSH_NONE, scales, row + i, blocks,
                       s->scales + i * blocks);
    }
}

typedef struct work {
    side a, b;
    mac_term *room;
    uint64_t *parts;
    const mac_watch *watch;
} work;

/* Reserves room for `rows` rows at once, of `all` that will be decoded. */
static bool reserve_side(const assay_mac *m, int64_t format, size_t rows, size_t all, size_t k,
                         side *s)
{
    const size_t blocks = m->scale_block > 0 ? k / (size_t)m->scale_block : 0;
    const bool many = mac_layout_of((enum assay_mac_format)format)->bits == 8 && all * k >= MANY;
    s->elements = malloc((rows * k + 1) * sizeof *s->elements);
    s->scales = malloc((rows * blocks + 1) * sizeof *s->scales);
    s->table = many ? malloc(256 * sizeof *s->table) : NULL;
    for (uint64_t i = 0; s->table && i < 256; i++)
        s->table[i] = mac_read_pattern(m, format, m->flush_in, i);
    return s->elements && s->scales && (s->table || !many);
}

static void release(work *w)
{
    free(w->a.elements);
    free(w->a.scales);
    free(w->a.table);
    free(w->b.elements);
    free(w->b.scales);
    free(w->b.table);
    free(w->room);
    free(w->parts);
}

/* Reserves room for n rows of A, one at a time, and for as many of B, or for all of B's `columns`
 * rows at once (columns 0: one at a time). */
static assay_status reserve(const assay_mac *m, size_t n, size_t columns, size_t k, work *w,
                            assay_error *err)
{
    const size_t terms = m->group > 0 ? (size_t)m->group : k;
    *w = (work){.room = malloc((terms + 1) * sizeof *w->room),
                .parts = malloc((size_t)m->split_k * sizeof *w->parts)};
    const bool a = reserve_side(m, m->a, 1, n, k, &w->a),
               b = columns > 0 ? reserve_side(m, m->b, columns, columns, k, &w->b)
                               : reserve_side(m, m->b, 1, n, k, &w->b);
    if (a && b && w->room && w->parts)
        return ASSAY_OK;
    release(w);
    return assay_out_of_memory(err);
}

static const void *row_of(int64_t format, const void *data, size_t row, size_t k)
{
    const size_t bytes = (size_t)mac_layout_of((enum assay_mac_format)format)->bits / 8;
    return (const char *)data + row * k * bytes;
}

/* d[to] = c[to] + row i of A times row j of B, among the decoded rows. */
static void one(const assay_mac *m, const assay_mac_rows *r, const work *w, size_t i, size_t j,
                size_t row_a, size_t row_b, size_t to, void *d)
{
    const size_t blocks = m->scale_block > 0 ? r->k / (size_t)m->scale_block : 0;
    const dot x = {m,
                   {w->a.elements + i * r->k, w->b.elements + j * r->k,
                    blocks > 0 ? w->a.scales + i * blocks : NULL,
                    blocks > 0 ? w->b.scales + j * blocks : NULL},
                   row_of(m->a, r->a, row_a, r->k),
                   row_of(m->b, r->b, row_b, r->k),
                   r->k,
                   w->room,
                   w->watch};
    mac_store(m->out, d, to, whole(&x, r->c ? mac_load(m->acc, r->c, to) : 0, w->parts));
}

static assay_status dots(const assay_mac *m, size_t n, const assay_mac_rows *rows, void *d,
                         const mac_watch *watch, assay_error *err)
{
    work w;
    const assay_status s = reserve(m, n, 0, rows->k, &w, err);
    if (s)
        return s;
    w.watch = watch;
    for (size_t i = 0; i < n; i++) {
        decode_side(m, m->a, rows->a, rows->scale_a, i, 1, rows->k, &w.a);
        decode_side(m, m->b, rows->b, rows->scale_b, i, 1, rows->k, &w.b);
        one(m, rows, &w, 0, 0, i, i, i, d);
    }
    release(&w);
    return ASSAY_OK;
}

assay_status mac_dots(const assay_mac *m, size_t n, const assay_mac_rows *rows, void *d,
                      assay_error *err)
{
    return dots(m, n, rows, d, NULL, err);
}

assay_status mac_dot_watched(const assay_mac *m, const assay_mac_rows *rows, void *d,
                             const mac_watch *watch, assay_error *err)
{
    return dots(m, 1, rows, d, watch, err);
}

assay_status mac_matmul(const assay_mac *m, size_t n, size_t columns, const assay_mac_rows *rows,
                        void *d, assay_error *err)
{
    work w;
    const assay_status s = reserve(m, n, columns, rows->k, &w, err);
    if (s)
        return s;
    decode_side(m, m->b, rows->b, rows->scale_b, 0, columns, rows->k, &w.b);
    for (size_t i = 0; i < n; i++) {
        decode_side(m, m->a, rows->a, rows->scale_a, i, 1, rows->k, &w.a);
        for (size_t j = 0; j < columns; j++)
            one(m, rows, &w, 0, j, i, j, i * columns + j, d);
    }
    release(&w);
    return ASSAY_OK;
}

/* ---- lengths ---- */

static size_t common(size_t a, size_t b)
{
    size_t x = a, y = b;
    while (y != 0) {
        const size_t rest = x % y;
        x = y;
        y = rest;
    }
    return a / x * b;
}

size_t mac_multiple(const assay_mac *m)
{
    size_t k = (size_t)(m->instruction > 0 ? m->instruction
                        : m->group > 0     ? m->group
                                           : m->exact_group);
    if (m->scale_block > 0)
        k = common(k, (size_t)m->scale_block);
    if (m->promote > 0)
        k = common(k, (size_t)m->promote);
    return k * (size_t)m->split_k;
}
