/* Sums of terms: aligned and cut, exact, or by pairs. */
#include <assert.h>

#include "schemes/mac/terms.h"

/* The result of n NUMBERs with this sum, cut or exact; a zero gets its sign here. */
static uint64_t finish(const assay_mac *m, mac_term sum, const mac_term *term, size_t n,
                       int64_t mode, int64_t fraction)
{
    if (sum.kind == ASSAY_MAC_NUMBER && sum.significand == 0) {
        sum.negative = m->zero_sign == ASSAY_MAC_ZERO_IEEE;
        for (size_t i = 0; i < n; i++)
            sum.negative = sum.negative && term[i].negative;
    }
    return mac_result(m, &sum, mode, fraction);
}

uint64_t mac_add(const assay_mac *m, const mac_term *term, size_t n, int64_t mode, int64_t fraction)
{
    mac_term sum = mac_special(term, n);
    if (sum.kind == ASSAY_MAC_NUMBER)
        sum = mac_exact_sum(term, n);
    return finish(m, sum, term, n, mode, fraction);
}

mac_term mac_add_pairs(const assay_mac *m, mac_term *term, size_t n)
{
    for (; n > 1; n = (n + 1) / 2)
        for (size_t i = 0; i < n; i += 2) {
            term[i / 2] = term[i];
            if (i + 1 < n) {
                const mac_term two[2] = {term[i], term[i + 1]};
                const uint64_t sum = mac_add(m, two, 2, m->out_round, m->out_frac);
                const assay_mac_value v = mac_read_pattern(m, m->out, ASSAY_MAC_FLUSH_NONE, sum);
                term[i / 2] = mac_term_of(&v);
            }
        }
    return term[0];
}

/* n * 2^grid; `unit`: the exponent to which the terms were aligned. `none`: there were no terms. */
typedef struct sum {
    bool none;
    int unit, grid;
    assay_int128 n;
} sum;

/* n * 2^from as a multiple of 2^to. The sums here stay below 2^120. */
static assay_int128 move(assay_int128 n, int from, int to, int64_t mode)
{
    const int drop = to - from;
    if (n == 0)
        return 0;
    if (drop > 0)
        return assay_round_shift128(n, drop < 127 ? (unsigned)drop : 127,
                                    (enum assay_rounding)mode);
    assert(-drop + mac_digits((assay_uint128)(n < 0 ? -n : n)) < 126);
    return n * ((assay_int128)1 << -drop);
}

static bool counts(const assay_mac *m, const mac_term *t)
{
    return t->significand != 0 || m->zero_exponent != ASSAY_MAC_NONE;
}

bool mac_greatest(const assay_mac *m, const mac_term *term, size_t n, size_t stride, int *unit)
{
    bool any = false;
    *unit = INT32_MIN;
    for (size_t i = 0; i < n; i += stride)
        if (counts(m, &term[i])) {
            any = true;
            *unit = term[i].unit > *unit ? term[i].unit : *unit;
        }
    if (any && m->least_max != ASSAY_MAC_NONE && *unit < m->least_max)
        *unit = (int)m->least_max;
    return any;
}

assay_int128 mac_cut(const mac_term *t, int grid, int64_t mode)
{
    const assay_int128 digits = (assay_int128)t->significand;
    return move(t->negative ? -digits : digits, t->exponent, grid, mode);
}

/* Every stride-th of n terms, from the first on. */
static sum aligned(const assay_mac *m, const mac_term *term, size_t n, size_t stride)
{
    sum s = {.n = 0};
    s.none = !mac_greatest(m, term, n, stride, &s.unit);
    s.grid = s.none ? 0 : s.unit - (int)m->align_bits;
    for (size_t i = 0; i < n && !s.none; i += stride)
        s.n += mac_cut(&term[i], s.grid, m->align_cut);
    return s;
}

static sum lane_sums(const assay_mac *m, const mac_term *term, size_t n)
{
    const size_t lanes = (size_t)m->lanes < n ? (size_t)m->lanes : n;
    sum lane[64], all = {.none = true, .unit = INT32_MIN};
    if (lanes == 1)
        return aligned(m, term, n, 1);
    for (size_t i = 0; i < lanes; i++) {
        lane[i] = aligned(m, term + i, n - i, lanes);
        if (!lane[i].none && lane[i].unit > all.unit) {
            all.none = false;
            all.unit = lane[i].unit;
        }
    }
    all.grid = all.none ? 0 : all.unit - (int)m->align_bits;
    for (size_t i = 0; i < lanes && !all.none; i++)
        all.n += move(lane[i].n, lane[i].grid, all.grid, m->sum_cut);
    return all;
}

static mac_term term_of(const sum *s)
{
    return (mac_term){.negative = s->n < 0,
                      .exponent = s->grid,
                      .significand = (assay_uint128)(s->n < 0 ? -s->n : s->n)};
}

/* The value of the sum of n NUMBERs, in the way of the record. */
static mac_term value_of(const assay_mac *m, const mac_term *term, size_t n)
{
    if (m->align_bits == ASSAY_MAC_NONE)
        return mac_exact_sum(term, n);
    const sum s = lane_sums(m, term, n);
    return term_of(&s);
}

/* The sum and the accumulator, each cut relative to the greater of their two exponents, then added.
 */
static mac_term two_sums(const assay_mac *m, const mac_term *term, size_t n, const mac_term *acc)
{
    const sum s = lane_sums(m, term, n);
    const bool has_acc = counts(m, acc);
    if (s.none && !has_acc)
        return (mac_term){.significand = 0};
    const int unit = s.none || (has_acc && acc->unit > s.unit) ? acc->unit : s.unit;
    sum all = {.unit = unit};
    /* the finer of the two grids represents both */
    const int grid = unit - (int)m->sum_align_bits, acc_grid = unit - (int)m->acc_align_bits;
    all.grid = grid < acc_grid ? grid : acc_grid;
    all.n = move(move(s.n, s.grid, grid, m->sum_cut), grid, all.grid, ASSAY_ROUND_TRUNC);
    if (has_acc && (m->acc_drop == ASSAY_MAC_NONE || acc->unit >= unit - m->acc_drop)) {
        all.n += move(mac_cut(acc, acc_grid, m->sum_cut), acc_grid, all.grid, ASSAY_ROUND_TRUNC);
    }
    return term_of(&all);
}

uint64_t mac_sum(const assay_mac *m, mac_term *term, size_t n, const mac_term *acc)
{
    term[n] = *acc;
    if (m->accumulator == ASSAY_MAC_ACC_AFTER) {
        mac_term s;
        if (m->sum == ASSAY_MAC_PAIRS) {
            s = mac_add_pairs(m, term, n);
            n = 1;
        } else {
            s = mac_special(term, n);
            if (s.kind == ASSAY_MAC_NUMBER)
                s = value_of(m, term, n);
        }
        const uint64_t rounded = m->sum == ASSAY_MAC_PAIRS
                                     ? mac_add(m, &s, 1, m->out_round, m->out_frac)
                                     : finish(m, s, term, n, m->out_round, m->out_frac);
        const assay_mac_value v = mac_read_pattern(m, m->out, ASSAY_MAC_FLUSH_NONE, rounded);
        const mac_term two[2] = {mac_term_of(&v), *acc};
        return mac_add(m, two, 2, m->acc_round, m->out_frac);
    }
    const bool aside = m->accumulator == ASSAY_MAC_ACC_ALIGNED;
    mac_term s = mac_special(term, n + 1);
    if (s.kind == ASSAY_MAC_NUMBER)
        s = aside ? two_sums(m, term, n, acc) : value_of(m, term, n + 1);
    return finish(m, s, term, n + 1, aside ? m->acc_round : m->out_round, m->out_frac);
}
