/* The accumulator: acc = bias + sum x[i] * w[i] within its width.
 *
 * Two's complement addition commutes with wrapping, so a wrapping accumulator is an exact sum that
 * wraps once at the end, in any order; the other policies go step by step in the stated order.
 *
 * Weights with a scale for each block of inputs: the exact sum of a block's products is narrowed,
 * multiplied by the block's integer, shifted with rounding, and is one step into the accumulator:
 *
 *   acc = bias + sum over blocks of round(narrow(sum x[i] * w[i]) * multiplier / 2^shift) */
#include "schemes/apply/apply.h"
#include "schemes/apply/round.h"
#include "schemes/apply/tail.h"

/* One addition under the policy. */
static int64_t step(const assay_rule_accumulator *a, assay_int128 acc, int64_t term, bool *trapped)
{
    unsigned bits = (unsigned)a->bits;
    assay_int128 sum = acc + term;
    int64_t narrow = assay_saturate128(sum, bits);
    if ((a->overflow == ASSAY_OVERFLOW_TRAP || a->overflow == ASSAY_OVERFLOW_REFUSE) &&
        narrow != sum)
        *trapped = true;
    return a->overflow == ASSAY_OVERFLOW_WRAP ? assay_wrap((int64_t)sum, bits) : narrow;
}

int64_t assay_apply_settle(const assay_unit *u, int64_t sum, bool *trapped)
{
    return step(&u->rec.accumulator, sum, 0, trapped);
}

/* Within `bound` no partial sum in any order leaves the accumulator, so no policy has anything to
 * do.
 */
bool assay_apply_exact(const assay_unit *u, int64_t bound, int64_t pair)
{
    const assay_rule_accumulator *a = &u->rec.accumulator;
    return bound <= assay_int_max((unsigned)a->bits) &&
           (!a->saturate_pairs || pair <= assay_int_max(16));
}

int64_t assay_apply_limit(const assay_unit *u)
{
    const assay_rule_accumulator *a = &u->rec.accumulator;
    return a->overflow == ASSAY_OVERFLOW_REFUSE ? assay_int_max((unsigned)a->bits) : 0;
}

/* Index of the i-th product in the record's order. */
static size_t position(const assay_rule_accumulator *a, size_t i, size_t n)
{
    return a->order == ASSAY_ORDER_REVERSE ? n - 1 - i : i;
}

/* What is added: products, or what the blocks of weights with a scale each come to. */
typedef struct terms {
    const int32_t *x, *w;
    const int64_t *block; /* instead of x and w */
    size_t n;
} terms;

/* Terms first, first + stride, ..., `together` of them summed exactly before each step. */
static int64_t run(const assay_rule_accumulator *a, const terms *t, int32_t together, size_t first,
                   size_t stride, int64_t acc, bool *trapped)
{
    int64_t exact = 0;
    int32_t held = 0;
    for (size_t i = first; i < t->n; i += stride) {
        size_t p = position(a, i, t->n);
        exact += t->block != NULL ? t->block[p] : (int64_t)t->x[p] * t->w[p];
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

/* x86 vpmaddubsw: unsigned inputs (signed ones are moved up by 128) times signed weights, pairs of
 * products saturated to int16; what the zero point added is taken out exactly afterwards. */
static int64_t pair_correction(const assay_unit *u, const int32_t *x, const int32_t *w, size_t n,
                               int32_t zx, int32_t zw)
{
    int64_t up = zx + (u->in_signed ? 128 : 0); /* centred + up = the unsigned code */
    int64_t lost = 0;
    for (size_t i = 0; i < n; i += 2) {
        int64_t pair = (x[i] + up) * ((int64_t)w[i] + zw);
        if (i + 1 < n)
            pair += (x[i + 1] + up) * ((int64_t)w[i + 1] + zw);
        lost += assay_saturate(pair, 16) - pair;
    }
    return lost;
}

int64_t assay_apply_accumulate(const assay_unit *u, const int32_t *x, const int32_t *w, size_t n,
                               int64_t bias, int32_t zx, int32_t zw, bool *trapped)
{
    const assay_rule_accumulator *a = &u->rec.accumulator;
    int64_t pairs = a->saturate_pairs ? pair_correction(u, x, w, n, zx, zw) : 0;
    if (!steps_matter(a)) {
        int64_t sum = 0;
        for (size_t i = 0; i < n; i++)
            sum += (int64_t)x[i] * w[i];
        return step(a, sum + pairs, bias, trapped);
    }
    int64_t acc = a->bias == ASSAY_BIAS_FIRST ? step(a, 0, bias, trapped) : 0;
    acc = run_all(a, &(terms){.x = x, .w = w, .n = n}, a->block, acc, trapped);
    if (pairs != 0)
        acc = step(a, acc, pairs, trapped);
    return a->bias == ASSAY_BIAS_LAST ? step(a, acc, bias, trapped) : acc;
}

/* What a block's sum adds; below 2^63, which the accumulator's steps take as they are. */
static int64_t block_term(const assay_rule_blocks *k, int64_t sum, int64_t multiplier)
{
    sum = assay_narrow(sum, k->sum_bits, k->sum_overflow);
    assay_int128 v = assay_round_shift128((assay_int128)sum * multiplier, (unsigned)k->shift,
                                          (enum assay_rounding)k->round);
    return assay_saturate128(v, 64);
}

int64_t assay_apply_combine(const assay_unit *u, int64_t *sum, size_t n, size_t channel,
                            int64_t bias, bool *trapped)
{
    const assay_rule_accumulator *a = &u->rec.accumulator;
    const int64_t *multiplier = u->list[0] + channel * n;
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

void assay_rescale_row_sums(const assay_rescale *r, const int64_t *acc, size_t n, size_t channel,
                            int32_t *out)
{
    (void)r, (void)channel;
    for (size_t i = 0; i < n; i++)
        out[i] = (int32_t)assay_wrap(acc[i], 32);
}
