/* The accumulator: acc = bias + sum x[i] * w[i] within its width.
 *
 * Two's complement addition commutes with wrapping, so a wrapping accumulator is an exact sum that
 * wraps once at the end, in any order; the other policies go step by step in the stated order.
 * Pairs of products that saturate to int16 (saturate_pairs) are one term each, saturated before the
 * step; order, lanes and blocks are of pairs then, a block of whole pairs.
 *
 * Weights with a scale for each block of inputs: the exact sum of a block's products is narrowed,
 * multiplied by the block's integer, shifted with rounding, and is one step into the accumulator:
 *
 *   acc = bias + sum over blocks of round(narrow(sum x[i] * w[i]) * multiplier / 2^shift) */
#include <assert.h>

#include "schemes/apply/apply.h"
#include "schemes/apply/tail.h"
#include "schemes/round.h"

/* One addition under the policy. */
static int64_t step(const assay_rule_accumulator *a, assay_int128 acc, int64_t term, bool *trapped)
{
    unsigned bits = (unsigned)a->bits;
    assay_int128 sum = acc + term;
    int64_t narrow = apply_saturate128(sum, bits);
    if ((a->overflow == ASSAY_OVERFLOW_TRAP || a->overflow == ASSAY_OVERFLOW_REFUSE) &&
        narrow != sum)
        *trapped = true;
    return a->overflow == ASSAY_OVERFLOW_WRAP ? apply_wrap((int64_t)sum, bits) : narrow;
}

int64_t apply_overflow(const assay_unit *u, int64_t sum, bool *trapped)
{
    return step(&u->rec.accumulator, sum, 0, trapped);
}

/* Within `bound` no partial sum in any order leaves the accumulator, so no policy has anything to
 * do. */
bool apply_exact(const assay_unit *u, int64_t bound, int64_t pair)
{
    const assay_rule_accumulator *a = &u->rec.accumulator;
    return !u->untold && bound <= apply_int_max((unsigned)a->bits) &&
           (!a->saturate_pairs || pair <= apply_int_max(16));
}

int64_t apply_limit(const assay_unit *u)
{
    const assay_rule_accumulator *a = &u->rec.accumulator;
    return a->overflow == ASSAY_OVERFLOW_REFUSE ? apply_int_max((unsigned)a->bits) : 0;
}

/* Index of the i-th product in the record's order. */
static size_t position(const assay_rule_accumulator *a, size_t i, size_t n)
{
    return a->order == ASSAY_ORDER_REVERSE ? n - 1 - i : i;
}

/* What is added: products, what pairs of them come to, or what the blocks of weights with a scale
 * each do. */
typedef struct terms {
    const int32_t *x, *w;
    size_t products;      /* of x and w */
    int64_t up_x, up_w;   /* to the codes that a pair multiplies */
    bool pairs;           /* terms are pairs of products */
    size_t step;          /* how far products of a pair are apart */
    const int64_t *block; /* instead of x and w */
    size_t n;
} terms;

/* x86 vpmaddubsw: unsigned inputs (signed ones are moved up by 128) times signed weights, a pair of
 * products saturated to int16; what the zero points added to the pair is taken out exactly. */
static int64_t pair_term(const terms *t, size_t pair)
{
    const size_t channels = t->products / t->step;
    int64_t raw = 0, centred = 0;
    for (size_t k = 2 * pair; k < t->products && k < 2 * pair + 2; k++) {
        const size_t i = k % channels * t->step + k / channels;
        raw += (t->x[i] + t->up_x) * (t->w[i] + t->up_w);
        centred += (int64_t)t->x[i] * t->w[i];
    }
    return centred + apply_saturate(raw, 16) - raw;
}

static int64_t term_of(const terms *t, size_t i)
{
    return t->pairs ? pair_term(t, i) : t->block ? t->block[i] : (int64_t)t->x[i] * t->w[i];
}

/* Terms first, first + stride, ..., `together` of them summed exactly before each step. */
static int64_t run(const assay_rule_accumulator *a, const terms *t, int32_t together, size_t first,
                   size_t stride, int64_t acc, bool *trapped)
{
    assert(together >= 1 && stride >= 1); /* else terms are never added, or for ever */
    int64_t exact = 0;
    int32_t held = 0;
    for (size_t i = first; i < t->n; i += stride) {
        exact += term_of(t, position(a, i, t->n));
        if (++held == together) {
            acc = step(a, acc, exact, trapped);
            exact = 0;
            held = 0;
        }
    }
    return held > 0 ? step(a, acc, exact, trapped) : acc;
}

/* Step by step in the record's order. */
static int64_t run_all(const assay_rule_accumulator *a, const terms *t, int32_t together,
                       int64_t acc, bool *trapped)
{
    size_t lanes = (size_t)a->lanes;
    if (a->order != ASSAY_ORDER_LANES)
        return run(a, t, together, 0, 1, acc, trapped);
    for (size_t lane = 0; lane < lanes; lane++)
        acc = step(a, acc, run(a, t, together, lane, lanes, 0, trapped), trapped);
    return acc;
}

static bool steps_matter(const assay_rule_accumulator *a)
{
    return a->overflow != ASSAY_OVERFLOW_WRAP && a->overflow != ASSAY_OVERFLOW_SATURATE_END;
}

/* What no step can change. */
static int64_t sum_products(const int32_t *x, const int32_t *w, size_t n)
{
    int64_t sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (int64_t)x[i] * w[i];
    return sum;
}

static int64_t sum_pairs(const terms *t)
{
    int64_t sum = 0;
    for (size_t i = 0; i < t->n; i++)
        sum += pair_term(t, i);
    return sum;
}

int64_t apply_accumulate(const assay_unit *u, const int32_t *x, const int32_t *w, size_t n,
                         int64_t bias, int32_t zx, int32_t zw, bool *trapped)
{
    const assay_rule_accumulator *a = &u->rec.accumulator;
    const bool pairs = a->saturate_pairs != 0;
    assert(a->bits >= 1 && a->bits <= 64);
    if (!pairs && !steps_matter(a))
        return step(a, sum_products(x, w, n), bias, trapped);
    const terms t = {
        .x = x,
        .w = w,
        .products = n,
        .up_x = zx + (u->in_signed ? 128 : 0),
        .up_w = zw,
        .pairs = pairs,
        .step = u->pair_step > 1 && n % (size_t)u->pair_step == 0 ? (size_t)u->pair_step : 1,
        .n = pairs ? (n + 1) / 2 : n};
    if (!steps_matter(a))
        return step(a, sum_pairs(&t), bias, trapped);
    const int32_t together = pairs ? (a->block + 1) / 2 : a->block;
    int64_t acc = a->bias == ASSAY_BIAS_FIRST ? step(a, 0, bias, trapped) : 0;
    acc = run_all(a, &t, together, acc, trapped);
    return a->bias == ASSAY_BIAS_LAST ? step(a, acc, bias, trapped) : acc;
}

/* What a block's sum adds; below 2^63, which the accumulator's steps take as they are. */
static int64_t block_term(const assay_rule_blocks *k, int64_t sum, int64_t multiplier)
{
    assert(k->shift >= 0 && k->shift <= 127);
    sum = apply_narrow(sum, k->sum_bits,
                       k->sum_overflow == ASSAY_STORE_WRAP ? ASSAY_NARROW_WRAP
                                                           : ASSAY_NARROW_SATURATE);
    assay_int128 v = assay_round_shift128((assay_int128)sum * multiplier, (unsigned)k->shift,
                                          (enum assay_rounding)k->round);
    return apply_saturate128(v, 64);
}

int64_t apply_combine(const assay_unit *u, int64_t *sum, size_t n, size_t channel, int64_t bias,
                      bool *trapped)
{
    const assay_rule_accumulator *a = &u->rec.accumulator;
    const int64_t *multiplier = u->list[0] + channel * n;
    assert(a->bits >= 1 && a->bits <= 64 && (u->list[0] || n == 0));
    assay_int128 total = 0;
    for (size_t i = 0; i < n; i++) {
        sum[i] = block_term(&u->rec.blocks, sum[i], multiplier[i]);
        total += sum[i];
    }
    if (!steps_matter(a))
        return step(a, total, bias, trapped);
    int64_t acc = a->bias == ASSAY_BIAS_FIRST ? step(a, 0, bias, trapped) : 0;
    acc = run_all(a, &(terms){.block = sum, .n = n}, 1, acc, trapped);
    return a->bias == ASSAY_BIAS_LAST ? step(a, acc, bias, trapped) : acc;
}

void apply_rescale_row_sums(const assay_rescale *r, const int64_t *acc, size_t n, size_t channel,
                            int32_t *out)
{
    (void)r, (void)channel;
    for (size_t i = 0; i < n; i++)
        out[i] = (int32_t)apply_wrap(acc[i], 32);
}
