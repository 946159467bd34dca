/* Rows to ask; see questions.h. */
#include "interp/infer/questions.h"

#include <assert.h>

#include "graph/core/type.h"
#include "interp/infer/engine.h"
#include "interp/infer/scales.h"
#include "schemes/round.h"

int64_t infer_acc_max(const infer_task *t)
{
    return apply_int_max((unsigned)t->o->acc_bits);
}

static bool holds_acc(const infer_task *t, assay_int128 x)
{
    return x == apply_saturate128(x, (unsigned)t->o->acc_bits);
}

int64_t infer_least_multiplier(const infer_task *t)
{
    return apply_clamp_to(0, t->multiplier_lo, t->multiplier_hi);
}

int32_t infer_middle_shift(const infer_task *t)
{
    return (int32_t)apply_clamp_to(31, t->shift_lo, t->shift_hi);
}

static void put(infer_task *t, int64_t acc, int32_t zp, int64_t multiplier, int64_t shift)
{
    infer_row row = {.acc = acc, .zp = zp, .multiplier = multiplier, .shift = (int32_t)shift};
    if (t->o->kind == INFER_SCALE && multiplier != 0 && holds_acc(t, acc)) {
        infer_form_row(t, &row, true);
        infer_rows_add(&t->next, &row);
    } else if (multiplier >= t->multiplier_lo && multiplier <= t->multiplier_hi &&
               shift >= t->shift_lo && shift <= t->shift_hi && holds_acc(t, acc))
        infer_rows_add(&t->next, &row);
}

/* ---- families ---- */

static bool is_asked(infer_task *t, int64_t zp)
{
    const int64_t lo = assay_elem_min(t->o->type), hi = assay_elem_max(t->o->type);
    const int64_t u = zp < 0 ? -zp : zp;
    return hi - lo < 256 || u < 6 || (u & (u - 1)) == 0 || (u & (u + 1)) == 0 || zp == lo + 1 ||
           rows_between(&t->random, 0, 300) == 0;
}

void infer_ask_zeros(infer_task *t)
{
    const int64_t lo = assay_elem_min(t->o->type), hi = assay_elem_max(t->o->type);
    const int64_t m = infer_least_multiplier(t), shift = infer_middle_shift(t);
    for (int64_t zp = lo; zp <= hi; zp++)
        if (is_asked(t, zp)) {
            put(t, 0, (int32_t)zp, m, shift);
            put(t, zp, (int32_t)zp, m, shift);
        }
}

void infer_ask_operands(infer_task *t)
{
    const int64_t m = infer_least_multiplier(t), shift = infer_middle_shift(t);
    for (int i = 0; i < t->o->acc_bits; i++)
        for (int64_t d = -1; d <= 1; d++) {
            const int64_t edge = i < 63 ? INT64_C(1) << i : INT64_MAX;
            put(t, edge + (i < 63 ? d : -1), 0, m, shift);
            put(t, -edge + (i < 63 ? d : 1), 0, m, shift);
            put(t, edge + (i < 63 ? d : -1), 0, m, i + 1);
            put(t, -edge + (i < 63 ? d : 1), 0, m, i + 1);
        }
    for (int64_t s = -2; s <= t->o->acc_bits + 1; s++)
        for (int64_t x = -1; x <= 1; x += 2) {
            put(t, x, 0, m, s);
            put(t, x * infer_acc_max(t), 0, m, s);
        }
}

void infer_ask_powers(infer_task *t, bool before, size_t max)
{
    const int32_t zp = infer_small_zero(t->o, before);
    const int bits = t->o->acc_bits;
    const bool up = !t->o->type.is_signed && before; /* no value below 0 is visible */
    for (int64_t s = 0; s <= bits + 33; s++) {       /* the greatest products */
        put(t, -infer_acc_max(t) - 1, zp, t->multiplier_lo, s);
        put(t, -infer_acc_max(t) - 1, zp, t->multiplier_hi, s);
    }
    for (size_t tries = 0; tries < 8 * max && t->next.n < max; tries++) {
        const int j = (int)rows_between(&t->random, 0, bits - 1);
        const int k = (int)rows_between(&t->random, 0, 32);
        const int64_t m = rows_between(&t->random, 0, 15) ? INT64_C(1) << k : -(INT64_C(1) << k);
        const int64_t x = j < 63 ? INT64_C(1) << j : INT64_MAX;
        const int64_t pick = rows_between(&t->random, 0, 9);
        const int64_t down = up && m > 0 && j < 63 ? x : -x - (j == 63);
        if (j < 63 && pick < 2)
            put(t, x, zp, m, j + k);
        else if (pick < 6)
            put(t, down, zp, m, j + k);
        else if (pick < 9)
            put(t, down, zp, m, up ? j + k + 1 : j + k - 1);
        else /* a product with an unrelated shift */
            put(t, down, zp, m, rows_between(&t->random, t->shift_lo, j + k));
    }
}

/* Adds rows with x / 2^d, its neighbours and its double as accumulators, and a multiplier 2^k. */
static void put_around(infer_task *t, int64_t x, int32_t zp, int k, int64_t shift)
{
    assert(k >= 0 && k <= 32);
    for (int64_t i = -2; i <= 2; i++)
        put(t, x + i, zp, INT64_C(1) << k, shift);
    put(t, 2 * x, zp, INT64_C(1) << k, shift);
    put(t, 2 * x - 1, zp, INT64_C(1) << k, shift);
}

/* A sum of a few signed powers of two, below 2^bits. */
static int64_t few_powers(rows_random *r, int bits)
{
    const int64_t n = rows_between(r, 1, 4);
    int64_t v = 0;
    assert(bits >= 1 && bits <= 60);
    for (int64_t i = 0; i < n; i++) {
        const int64_t p = INT64_C(1) << rows_between(r, 0, bits - 1);
        v += rows_next(r) & 1 ? p : -p;
    }
    return v;
}

static int64_t any_multiplier(infer_task *t)
{
    rows_random *r = &t->random;
    const int64_t pick = rows_between(r, 0, 7);
    const int bits = (int)rows_between(r, 1, 33);
    assert(bits >= 1 && bits <= 33);
    const int64_t v = pick < 3    ? INT64_C(1) << (bits - 1)
                      : pick < 5  ? few_powers(r, bits)
                      : pick == 5 ? rows_between(r, t->multiplier_lo, t->multiplier_hi)
                      : pick == 6 ? t->multiplier_hi - rows_between(r, 0, 3)
                                  : rows_between(r, 0, INT64_C(1) << (bits - 1));
    return apply_clamp_to(v, t->multiplier_lo, t->multiplier_hi);
}

/* Adds accumulators on both sides of those whose product is a multiple of one half. */
static void put_boundary(infer_task *t, int32_t zp)
{
    const int64_t m = any_multiplier(t);
    const int64_t shift =
        rows_between(&t->random, t->shift_lo, t->shift_hi < 100 ? t->shift_hi : 100);
    const int64_t halves = rows_between(&t->random, -4, 4);
    if (m == 0 || shift < 1 || shift > 90 || halves == 0)
        return;
    const assay_int128 n = halves * ((assay_int128)1 << (shift - 1));
    const assay_int128 x = n / m - (n % m != 0 && (n < 0) != (m < 0));
    if (holds_acc(t, x) && holds_acc(t, x + 1) && holds_acc(t, x - 1)) {
        put(t, (int64_t)x, zp, m, shift);
        put(t, (int64_t)x + 1, zp, m, shift);
        if (n % m == 0)
            put(t, (int64_t)x - 1, zp, m, shift);
    }
}

void infer_ask_neighbours(infer_task *t, bool before, size_t max)
{
    const size_t max_boundaries = t->next.n + (max - t->next.n) / 2;
    for (size_t tries = 0; tries < 16 * max && t->next.n < max_boundaries; tries++)
        put_boundary(t, infer_small_zero(t->o, before));
    const int32_t zp = infer_small_zero(t->o, before);
    const int bits = t->o->acc_bits < 61 ? t->o->acc_bits : 61;
    for (size_t tries = 0; tries < max && t->next.n < max; tries++) {
        const int j = (int)rows_between(&t->random, 0, bits - 1);
        const int k = (int)rows_between(&t->random, 0, 32);
        const int64_t half = rows_between(&t->random, 0, 1);
        const int64_t x = rows_between(&t->random, 0, 1) ? INT64_C(1) << j : -(INT64_C(1) << j);
        put_around(t, x, zp, k, j + k + half);
        if (k > 0 && j < 60) { /* and neighbours of the multiplier */
            put(t, x, zp, (INT64_C(1) << k) + 1, j + k + half);
            put(t, x, zp, (INT64_C(1) << k) - 1, j + k + half);
            put(t, x, zp, (INT64_C(1) << k) + (INT64_C(1) << rows_between(&t->random, 0, k - 1)),
                j + k + half);
        }
    }
}

/* ---- rows of any kind ---- */

static int64_t any_acc(infer_task *t, int bits)
{
    const unsigned max = (unsigned)(t->o->acc_bits < 63 ? t->o->acc_bits : 62);
    int64_t v = few_powers(&t->random, bits < 60 ? bits : 60);
    const int64_t pick = rows_between(&t->random, 0, 3);
    if (pick == 0)
        v = rows_between(&t->random, -(INT64_C(1) << (bits - 1)), (INT64_C(1) << (bits - 1)));
    return apply_saturate(v, max);
}

infer_row infer_small_row(infer_task *t, bool before)
{
    rows_random *r = &t->random;
    infer_row row = {.zp = infer_small_zero(t->o, before)};
    row.acc = any_acc(t, (int)rows_between(r, 1, t->o->acc_bits < 62 ? t->o->acc_bits : 62));
    row.multiplier = any_multiplier(t);
    const int64_t s =
        infer_bits_of(row.acc) + infer_bits_of(row.multiplier) - rows_between(r, 0, 5) + 3;
    row.shift =
        (int32_t)apply_clamp_to(rows_between(r, 0, 9) ? s - 2 : s, t->shift_lo, t->shift_hi);
    if (t->o->kind == INFER_SCALE)
        infer_form_row(t, &row, false);
    return row;
}

/* Replaces fields of a row by their least or greatest values, or neighbours of these. */
static void put_corner(infer_task *t, infer_row *row)
{
    rows_random *r = &t->random;
    const int64_t near = rows_between(r, 0, 3) ? 0 : rows_between(r, 0, 2);
    row->acc = rows_next(r) & 1 ? infer_acc_max(t) - near : -infer_acc_max(t) - 1 + near;
    if (rows_between(r, 0, 3))
        row->multiplier = rows_next(r) & 1 ? t->multiplier_hi : t->multiplier_lo;
    const int64_t pick = rows_between(r, 0, 3);
    if (pick < 2)
        row->shift = pick ? t->shift_lo : t->shift_hi;
    if (pick == 2)
        row->shift = (int32_t)apply_clamp_to((int64_t)t->shift_lo + rows_between(r, 0, 66),
                                             t->shift_lo, t->shift_hi);
}

infer_row infer_end_row(infer_task *t)
{
    rows_random *r = &t->random;
    const int64_t lo = assay_elem_min(t->o->type), hi = assay_elem_max(t->o->type);
    const int64_t zp = rows_next(r) & 1 ? lo + rows_between(r, 0, 2) : hi - rows_between(r, 0, 2);
    const int64_t m = any_multiplier(t);
    infer_row row = {.zp = (int32_t)zp, .multiplier = m};
    row.acc = rows_next(r) & 1 ? infer_acc_max(t) - rows_between(r, 0, 2)
                               : -infer_acc_max(t) - 1 + rows_between(r, 0, 2);
    const int64_t size = rows_between(r, 0, (int64_t)t->o->type.bits + 1);
    row.shift = (int32_t)apply_clamp_to(infer_bits_of(row.acc) + infer_bits_of(m) - size,
                                        t->shift_lo, t->shift_hi);
    if (t->o->kind == INFER_SCALE)
        infer_form_row(t, &row, false);
    return row;
}

infer_row infer_any_row(infer_task *t)
{
    rows_random *r = &t->random;
    const int64_t lo = assay_elem_min(t->o->type), hi = assay_elem_max(t->o->type);
    const int64_t pick = rows_between(r, 0, 5);
    infer_row row = {
        .acc = any_acc(t, (int)rows_between(r, 1, t->o->acc_bits < 62 ? t->o->acc_bits : 62)),
        .multiplier = any_multiplier(t)};
    row.zp = (int32_t)(pick == 0   ? lo
                       : pick == 1 ? hi
                       : pick == 2 ? infer_small_zero(t->o, false)
                                   : rows_between(r, lo, hi));
    const int64_t size = rows_between(r, 0, 2) ? rows_between(r, -2, (int64_t)t->o->type.bits + 1)
                                               : rows_between(r, 0, 66);
    row.shift = (int32_t)apply_clamp_to(
        infer_bits_of(row.acc) + infer_bits_of(row.multiplier) - size, t->shift_lo, t->shift_hi);
    const int64_t other = rows_between(r, 0, 15);
    if (other < 2)
        put_corner(t, &row);
    if (other == 2) /* any shift: values far below 1, or beyond the codes */
        row.shift = (int32_t)rows_between(r, t->shift_lo, t->shift_hi);
    if (t->o->kind == INFER_SCALE)
        infer_form_any_row(t, &row);
    if (rows_between(r, 0, 7) == 0) {
        const int64_t a = rows_between(r, lo, hi), b = rows_between(r, lo, hi);
        row.bounded = true;
        row.lo = (int32_t)(a < b ? a : b);
        row.hi = (int32_t)(a < b ? b : a);
    }
    return row;
}
