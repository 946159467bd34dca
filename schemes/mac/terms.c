/* A step's terms: products of decoded elements, exact unless the record rounds them. */
#include <assert.h>

#include "schemes/mac/terms.h"

static bool is_zero(enum assay_mac_kind kind, assay_uint128 significand)
{
    return kind == ASSAY_MAC_NUMBER && significand == 0;
}

uint64_t mac_piece(const assay_mac_value *v, int64_t digits, bool second)
{
    const bool zero = v->significand == 0; /* its unit is any (zero_exponent) */
    if (digits == ASSAY_MAC_NONE || zero)
        return second ? 0 : v->significand;
    const int64_t below = v->unit - v->exponent + 1 - digits;
    assert(digits >= 0 && below < 64);
    const uint64_t first = below > 0 ? v->significand >> below << below : v->significand;
    if (!second)
        return first;
    const int64_t next = below > digits ? below - digits : 0;
    return (v->significand >> next << next) - first;
}

/* A product, not normalised. */
static mac_term product(const assay_mac *m, const assay_mac_value *a, const assay_mac_value *b,
                        int phase)
{
    mac_term p = {.kind = a->kind > b->kind ? a->kind : b->kind,
                  .negative = a->negative != b->negative,
                  .unit = a->unit + b->unit,
                  .exponent = a->exponent + b->exponent};
    if (p.kind == ASSAY_MAC_INF &&
        (is_zero(a->kind, a->significand) || is_zero(b->kind, b->significand)))
        p.kind = ASSAY_MAC_NAN;
    const bool zero = a->significand == 0 ||
                      b->significand == 0; /* a zero's exponent does not come from its bits */
    if (p.kind == ASSAY_MAC_NUMBER && !zero)
        p.significand = (assay_uint128)mac_piece(a, m->a_digits, (phase & 1) != 0) *
                        mac_piece(b, m->b_digits, phase > 1);
    return p;
}

void mac_scale_term(mac_term *t, const assay_mac_value *scale)
{
    if (scale->kind == ASSAY_MAC_NAN ||
        (t->kind == ASSAY_MAC_INF && is_zero(scale->kind, scale->significand)) ||
        (scale->kind == ASSAY_MAC_INF && is_zero(t->kind, t->significand)))
        t->kind = ASSAY_MAC_NAN;
    if (t->kind == ASSAY_MAC_NUMBER)
        t->kind = scale->kind;
    t->negative = t->negative != scale->negative;
    t->unit += scale->unit;
    t->exponent += scale->exponent;
    t->significand *= scale->significand;
}

/* Exact sum of products of elements of at most 8 bits, less than 2^100 apart. */
static mac_term group_sum(const mac_term *p, size_t n)
{
    mac_term sum = mac_special(p, n);
    bool negative = true;
    for (size_t i = 0; i < n; i++)
        negative = negative && p[i].negative;
    if (sum.kind != ASSAY_MAC_NUMBER)
        return sum;
    sum = mac_exact_sum(p, n);
    if (sum.significand == 0)
        sum.negative = negative;
    return sum;
}

static void round_product(const assay_mac *m, mac_term *t)
{
    const uint64_t pattern = mac_result(m, t, m->product_round, 0);
    const assay_mac_value v = mac_read_pattern(m, m->out, ASSAY_MAC_FLUSH_NONE, pattern);
    *t = mac_term_of(&v);
}

/* Makes terms beyond product_limit infinite, unless an operand is, and rounds terms. */
static void finish(const assay_mac *m, mac_term *t, size_t n, const mac_term *acc)
{
    const bool finite = acc->kind == ASSAY_MAC_NUMBER && mac_special(t, n).kind == ASSAY_MAC_NUMBER;
    for (size_t i = 0; i < n; i++) {
        if (t[i].kind != ASSAY_MAC_NUMBER)
            continue;
        if (finite && m->product_limit != ASSAY_MAC_NONE && t[i].significand != 0 &&
            t[i].exponent + mac_digits(t[i].significand) > m->product_limit)
            t[i].kind = ASSAY_MAC_INF;
        else if (m->product_round != ASSAY_MAC_NONE)
            round_product(m, &t[i]);
    }
}

static size_t place(const assay_mac *m, size_t first, size_t at)
{
    return first + (m->order > 0 ? m->places[at] : at);
}

size_t mac_terms(const assay_mac *m, const mac_operands *o, size_t first, size_t at, size_t n,
                 int phase, const mac_term *acc, mac_term *out)
{
    const size_t exact = (size_t)m->exact_group, terms = n / exact;
    for (size_t i = 0; i < n; i++) {
        const size_t k = place(m, first, at + i);
        out[i] = product(m, &o->a[k], &o->b[k], phase);
    }
    for (size_t i = 0; i < terms; i++) {
        if (exact > 1)
            out[i] = group_sum(&out[i * exact], exact);
        if (!o->scale_a)
            continue;
        const size_t block = place(m, first, at + i * exact) / (size_t)m->scale_block;
        mac_scale_term(&out[i], &o->scale_a[block]);
        mac_scale_term(&out[i], &o->scale_b[block]);
    }
    if (m->product_limit != ASSAY_MAC_NONE || m->product_round != ASSAY_MAC_NONE)
        finish(m, out, terms, acc);
    return terms;
}
