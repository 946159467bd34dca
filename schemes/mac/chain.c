/* Chains of IEEE steps: fused multiply-adds, rounded products added by pairs, exact sums. */
#include "schemes/mac/chain.h"

#include <string.h>

#include "schemes/mac/rounded.h"
#include "schemes/mac/terms.h"

enum { COLUMNS = MAC_CHAIN, GROUP = 16 };

/* ---- units computed here ---- */

static bool is_held(int64_t format)
{
    return format == ASSAY_MAC_F32 || format == ASSAY_MAC_TF32 || format == ASSAY_MAC_BF16 ||
           format == ASSAY_MAC_F16;
}

/* Steps in order, one per instruction; the zeros that fill up the last step must not count as
 * steps. */
static bool is_in_order(const assay_mac *m)
{
    return m->order == 0 && m->k_order == ASSAY_MAC_ASCENDING && m->chains == 1 &&
           m->start == ASSAY_MAC_START_ACC && m->phases == 1 && m->promote == 0 &&
           m->split_k == 1 && (m->instruction == 0 || m->instruction == m->group) &&
           m->align_bits == ASSAY_MAC_NONE;
}

static bool is_ieee(const assay_mac *m)
{
    return m->out == ASSAY_MAC_F32 && m->out_round == ASSAY_ROUND_HALF_EVEN &&
           m->acc_round == ASSAY_ROUND_HALF_EVEN && (m->out_frac == 0 || m->out_frac == 23) &&
           m->overflow != ASSAY_MAC_LARGEST && m->zero_sign != ASSAY_MAC_ZERO_PLUS;
}

static bool is_fused(const assay_mac *m)
{
    return m->accumulator == ASSAY_MAC_ACC_JOINED && m->product_round == ASSAY_MAC_NONE &&
           m->group == 1;
}

/* A step's products, with or without the running value, in one rounding. */
static bool is_exact(const assay_mac *m)
{
    return m->accumulator != ASSAY_MAC_ACC_ALIGNED && m->sum == ASSAY_MAC_ALIGNED &&
           m->product_round == ASSAY_MAC_NONE && m->group != 1;
}

/* Products rounded, added by pairs and then to the running value; a single product is its own sum.
 */
static bool is_tree(const assay_mac *m)
{
    const bool one = m->group == 1 && m->product_round == ASSAY_MAC_NONE;
    return m->accumulator == ASSAY_MAC_ACC_AFTER && m->group > 0 && m->group <= GROUP &&
           (one || (m->product_round == ASSAY_ROUND_HALF_EVEN && m->sum == ASSAY_MAC_PAIRS));
}

static bool has_f32_step(const assay_mac *m)
{
    return is_ieee(m) && (is_fused(m) || is_exact(m) || is_tree(m));
}

/* Fused or a tree, with any rounding of products (or none) and of sums. */
static bool is_rounded(const assay_mac *m)
{
    const bool tree = m->accumulator == ASSAY_MAC_ACC_AFTER && m->group > 0 && m->group <= GROUP &&
                      (m->group == 1 || m->sum == ASSAY_MAC_PAIRS);
    return m->out != ASSAY_MAC_F64 && (is_fused(m) || tree);
}

static bool is_flushed(const assay_mac *m)
{
    return m->flush_acc != ASSAY_MAC_FLUSH_NONE || m->flush_out != ASSAY_MAC_TINY_NONE;
}

bool mac_chain_takes(const assay_mac *m)
{
    return is_held(m->a) && is_held(m->b) && is_in_order(m) && m->scale_block == 0 &&
           m->a_digits == ASSAY_MAC_NONE && m->b_digits == ASSAY_MAC_NONE &&
           m->product_limit == ASSAY_MAC_NONE && (has_f32_step(m) || is_rounded(m));
}

float mac_chain_number(const assay_mac *m, int64_t format, int64_t digits, bool second,
                       uint32_t pattern)
{
    const assay_mac_rounding exact = {ASSAY_ROUND_TRUNC, 23, false};
    assay_mac_value v = mac_read_pattern(m, format, m->flush_in, pattern);
    if (v.kind == ASSAY_MAC_NUMBER)
        v.significand = mac_piece(&v, digits, second);
    const uint32_t bits = (uint32_t)mac_encode(ASSAY_MAC_F32, &v, &exact);
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

/* ---- 16 columns ---- */

#define INLINE static inline __attribute__((always_inline)) void

/* Whether a flush may change the value, or it is a zero, whose sign counts: near the least normal
 * number or below. */
static inline bool is_tiny(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits << 1 <= 0x01000000 && bits != 0;
}

INLINE fused(const float *a, const float *b, size_t n, float y[COLUMNS])
{
    for (size_t k = 0; k < n; k++)
        for (int j = 0; j < COLUMNS; j++)
            y[j] = __builtin_fmaf(a[k], b[k * COLUMNS + (size_t)j], y[j]);
}

INLINE fused_and_watched(const float *a, const float *b, size_t n, float y[COLUMNS],
                         bool odd[COLUMNS])
{
    int32_t tiny[COLUMNS] = {0};
    for (size_t k = 0; k < n; k++)
        for (int j = 0; j < COLUMNS; j++) {
            y[j] = __builtin_fmaf(a[k], b[k * COLUMNS + (size_t)j], y[j]);
            tiny[j] |= is_tiny(y[j]);
        }
    for (int j = 0; j < COLUMNS; j++)
        odd[j] |= tiny[j] != 0;
}

/* A step over the first n of `group` products; the others are +0. tiny: set where some product or
 * sum is. */
INLINE tree_step(const float *a, const float *b, size_t n, size_t group, float y[COLUMNS],
                 int32_t tiny[COLUMNS])
{
    float p[GROUP][COLUMNS] = {{0}};
    for (size_t k = 0; k < n; k++)
        for (int j = 0; j < COLUMNS; j++) {
            p[k][j] = a[k] * b[k * COLUMNS + (size_t)j];
            tiny[j] |= p[k][j] != 0 && is_tiny(p[k][j]);
        }
    for (; group > 1; group = (group + 1) / 2)
        for (size_t k = 0; k < group; k += 2)
            for (int j = 0; j < COLUMNS; j++) {
                p[k / 2][j] = k + 1 < group ? p[k][j] + p[k + 1][j] : p[k][j];
                tiny[j] |= p[k / 2][j] != 0 && is_tiny(p[k / 2][j]);
            }
    for (int j = 0; j < COLUMNS; j++) {
        y[j] += p[0][j];
        tiny[j] |= y[j] != 0 && is_tiny(y[j]);
    }
}

INLINE trees(const assay_mac *m, const float *a, const float *b, size_t n, float y[COLUMNS],
             bool odd[COLUMNS])
{
    const size_t group = (size_t)m->group;
    int32_t tiny[COLUMNS] = {0};
    for (size_t k = 0; k < n; k += group)
        tree_step(a + k, b + k * COLUMNS, n - k < group ? n - k : group, group, y, tiny);
    for (int j = 0; j < COLUMNS; j++)
        odd[j] |= is_flushed(m) && tiny[j] != 0;
}

/* y + n products, rounded once. In binary64 a product of two f32 is exact, and so is a sum together
 * with the error of its rounding (Knuth's two-sum); the sum of these errors is known within a
 * bound. Where both ends of that interval round to the same f32, it is the result; elsewhere the
 * column is odd. */
INLINE exact_step(const assay_mac *m, const float *a, const float *b, size_t n, float y[COLUMNS],
                  bool odd[COLUMNS])
{
    double s[COLUMNS], c[COLUMNS] = {0}, errors[COLUMNS] = {0};
    for (int j = 0; j < COLUMNS; j++)
        s[j] = (double)y[j];
    for (size_t k = 0; k < n; k++)
        for (int j = 0; j < COLUMNS; j++) {
            const double p = (double)a[k] * (double)b[k * COLUMNS + (size_t)j], t = s[j] + p,
                         z = t - s[j], e = (s[j] - (t - z)) + (p - z);
            s[j] = t;
            c[j] += e;
            errors[j] += e < 0 ? -e : e;
        }
    for (int j = 0; j < COLUMNS; j++) {
        const double u = 0x1p-51, bound = ((double)n * errors[j] + (c[j] < 0 ? -c[j] : c[j])) * u;
        const double low = s[j] + (c[j] - bound), high = s[j] + (c[j] + bound);
        const bool sure = errors[j] == 0;
        const float from = (float)(sure ? s[j] : low - (low < 0 ? -low : low) * u),
                    to = (float)(sure ? s[j] : high + (high < 0 ? -high : high) * u);
        y[j] = from;
        odd[j] |=
            !(from == to) || !(errors[j] >= 0) || (is_tiny(from) && (from == 0 || is_flushed(m)));
    }
}

INLINE exact(const assay_mac *m, const float *a, const float *b, size_t n, float y[COLUMNS],
             bool odd[COLUMNS])
{
    const size_t group = m->group > 0 ? (size_t)m->group : n;
    for (size_t k = 0; k < n; k += group) {
        const size_t some = n - k < group ? n - k : group;
        float sum[COLUMNS] = {0};
        if (m->accumulator == ASSAY_MAC_ACC_JOINED) {
            exact_step(m, a + k, b + k * COLUMNS, some, y, odd);
            continue;
        }
        exact_step(m, a + k, b + k * COLUMNS, some, sum, odd);
        for (int j = 0; j < COLUMNS; j++) {
            y[j] += sum[j];
            odd[j] |= is_flushed(m) && y[j] != 0 && is_tiny(y[j]);
        }
    }
}

/* What a step does by sums to odd. */
typedef struct rounded {
    mac_rounder product, sum, acc;
    bool products, after; /* are rounded; the running value is added to a rounded sum */
} rounded;

static rounded rounded_of(const assay_mac *m)
{
    const bool products = m->product_round != ASSAY_MAC_NONE,
               after = m->accumulator == ASSAY_MAC_ACC_AFTER;
    return (rounded){.product =
                         mac_rounder_of(m, products ? m->product_round : ASSAY_ROUND_TRUNC, 0),
                     .sum = mac_rounder_of(m, m->out_round, m->out_frac),
                     .acc = mac_rounder_of(m, after ? m->acc_round : m->out_round, m->out_frac),
                     .products = products,
                     .after = after};
}

/* Of `group` products the first n, the others +0. */
INLINE rounded_step(const rounded *h, const float *a, const float *b, size_t n, size_t group,
                    double y[COLUMNS], uint64_t odd[COLUMNS])
{
    double p[GROUP][COLUMNS] = {{0}};
    for (size_t k = 0; k < n; k++)
        for (int j = 0; j < COLUMNS; j++) {
            const double exact = (double)a[k] * (double)b[k * COLUMNS + (size_t)j];
            p[k][j] = h->products ? mac_round_double(&h->product, exact, &odd[j]) : exact;
        }
    for (; group > 1; group = (group + 1) / 2)
        for (size_t k = 0; k < group; k += 2)
            for (int j = 0; j < COLUMNS; j++) {
                const double sum = mac_add_to_odd(p[k][j], p[k + 1 < group ? k + 1 : k][j]);
                p[k / 2][j] = k + 1 < group ? mac_round_double(&h->sum, sum, &odd[j]) : p[k][j];
            }
    for (int j = 0; j < COLUMNS; j++) {
        const double sum = h->after ? mac_round_double(&h->sum, p[0][j], &odd[j]) : p[0][j];
        y[j] = mac_round_double(&h->acc, mac_add_to_odd(sum, y[j]), &odd[j]);
    }
}

INLINE by_sums_to_odd(const assay_mac *m, const float *a, const float *b, size_t n,
                      float y[COLUMNS], bool odd[COLUMNS])
{
    const rounded h = rounded_of(m);
    const size_t group = (size_t)m->group;
    double wide[COLUMNS] = {0};
    uint64_t left[COLUMNS] = {0};
    for (size_t k = 0; k < n; k += group)
        rounded_step(&h, a + k, b + k * COLUMNS, n - k < group ? n - k : group, group, wide, left);
    for (int j = 0; j < COLUMNS; j++) {
        y[j] = (float)wide[j];
        odd[j] |= left[j] != 0;
    }
}

INLINE run(const assay_mac *m, const float *a, const float *b, size_t n, float y[COLUMNS],
           bool odd[COLUMNS])
{
    for (int j = 0; j < COLUMNS; j++)
        y[j] = 0;
    if (!has_f32_step(m))
        by_sums_to_odd(m, a, b, n, y, odd);
    else if (is_fused(m) && (is_flushed(m) || m->zero_sign != ASSAY_MAC_ZERO_IEEE))
        fused_and_watched(a, b, n, y, odd);
    else if (is_fused(m))
        fused(a, b, n, y);
    else if (is_tree(m))
        trees(m, a, b, n, y, odd);
    else
        exact(m, a, b, n, y, odd);
    for (int j = 0; j < COLUMNS; j++)
        odd[j] |= y[j] != y[j];
}

#ifdef ASSAY_X86
__attribute__((target("avx2,fma"))) static void run_fma(const assay_mac *m, const float *a,
                                                        const float *b, size_t n, float y[COLUMNS],
                                                        bool odd[COLUMNS])
{
    run(m, a, b, n, y, odd);
}
#endif

static void run_portable(const assay_mac *m, const float *a, const float *b, size_t n,
                         float y[COLUMNS], bool odd[COLUMNS])
{
    run(m, a, b, n, y, odd);
}

mac_chain_fn mac_chain_choose(enum assay_isa isa)
{
#ifdef ASSAY_X86
    if (isa != ASSAY_ISA_PORTABLE && __builtin_cpu_supports("fma"))
        return run_fma;
#endif
    (void)isa;
    return run_portable;
}
