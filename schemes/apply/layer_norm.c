/* Layer normalization of a row of n codes x, with F fraction bits:
 *
 *   z[i] = about 2^F * (x[i] - mean) / sqrt(variance + epsilon)
 *   y[i] = rescale(round_half_away((z[i] * (gamma[i] - z_gamma) + beta[i]) / 2^shift))
 *
 * beta in multiples of gamma's scale / 2^F. The zero point of x is not needed. Two ways to z:
 *
 * integer-sqrt: exact sums, one square root, one division an element. With S = sum x,
 *   V = n * sum x^2 - S^2 + round(n^2 * epsilon / scale^2)       (n^2 times the variance in codes)
 *   r = floor(sqrt(V * 2^16))
 *   z = round_half_away((n * x - S) * 2^(F + 8) / r), 0 where r is 0.
 *
 * newton-inverse-sqrt: the integer LSTM of TensorFlow Lite (kernels/internal/reference/
 *   portable_tensor_utils.cc, ApplyLayerNorm; F = 10 and shift = 10 there): C divisions,
 *   mean = S * 2^F / n,  v = (sum x^2 * (2^2F / n) - mean^2) / 2^2F, a guard when below 1,
 *   z = (x * 2^F - mean) rescaled by the multiplier and shift of v's Newton inverse square root.
 */
#include <assert.h>

#include "schemes/apply/apply.h"
#include "schemes/apply/fixedpoint.h"

typedef struct row_sums {
    int64_t sum, squares; /* |x| < 2^16 and n <= 2^20: below 2^36 and 2^52 */
} row_sums;

static row_sums sums_of(const int32_t *x, size_t n)
{
    assert(n > 0 && n <= 1 << 20);
    row_sums s = {0, 0};
    for (size_t i = 0; i < n; i++) {
        s.sum += x[i];
        s.squares += (int64_t)x[i] * x[i];
    }
    return s;
}

/* floor(sqrt(v)), bit by bit. */
static uint64_t square_root(assay_uint128 v)
{
    assert(v >> 126 == 0); /* else the root has more than 63 bits */
    assay_uint128 root = 0;
    for (assay_uint128 bit = (assay_uint128)1 << 62; bit != 0; bit >>= 1) {
        assay_uint128 next = root | bit;
        if (next * next <= v)
            root = next;
    }
    return (uint64_t)root;
}

int64_t apply_layer_norm_root(const assay_unit *u, const int32_t *x, size_t n, int64_t *sum)
{
    const row_sums s = sums_of(x, n);
    const assay_int128 spread =
        (assay_int128)s.squares * (int64_t)n - (assay_int128)s.sum * s.sum + u->k[0];
    assert(spread >= 0); /* n sum x^2 >= (sum x)^2 */
    *sum = s.sum;
    return (int64_t)square_root((assay_uint128)spread << (2 * ASSAY_LAYER_NORM_GUARD));
}

static void normalize_sqrt(const assay_unit *u, const int32_t *x, size_t n, int32_t *z)
{
    assert(u->k[1] >= 0 && u->k[1] <= 16); /* so `wide` stays below 2^61 */
    int64_t sum;
    const int64_t root = apply_layer_norm_root(u, x, n, &sum);
    apply_tell(u->teller, "sum of the row", sum);
    apply_tell(u->teller, "codes of the row", (int64_t)n);
    apply_tell_fixed(u->teller, "deviation, times these", root, ASSAY_LAYER_NORM_GUARD);
    for (size_t i = 0; i < n; i++) {
        const assay_teller *t = apply_teller(u, i);
        int64_t d = (int64_t)n * x[i] - sum; /* below 2^37 */
        int64_t wide = d * (INT64_C(1) << (u->k[1] + ASSAY_LAYER_NORM_GUARD));
        apply_tell_sum(t, "distance from the mean, times these", (int64_t)n * x[i], -sum);
        z[i] = root == 0 ? 0
                         : (int32_t)apply_tell_div(t, "divided", wide, root, ASSAY_ROUND_HALF_AWAY);
    }
}

/* The codes' mean and the multiplier and shift of the rescale that divides by their deviation. */
typedef struct newton {
    int32_t mean;
    int64_t multiplier, shift;
} newton;

static newton newton_of(const assay_unit *u, const int32_t *x, size_t n)
{
    assert(u->k[1] >= 0 && u->k[1] <= 12); /* 16-bit codes so shifted stay in int32 */
    const row_sums s = sums_of(x, n);
    const int64_t one = INT64_C(1) << u->k[1], count = (int64_t)n;
    const int32_t mean = apply_wrap32(assay_round_div(s.sum * one, count, ASSAY_ROUND_TRUNC));
    const int64_t share = assay_round_div(one * one, count, ASSAY_ROUND_TRUNC);
    const int64_t spread = (int64_t)((assay_int128)s.squares * share - (int64_t)mean * mean);
    int32_t variance = apply_wrap32(assay_round_div(spread, one * one, ASSAY_ROUND_TRUNC));
    int left;
    if (variance < 1)
        variance = (int32_t)u->k[0];
    const int32_t multiplier = apply_fixed_inverse_sqrt(variance, &left);
    return (newton){mean, multiplier, 31 - left};
}

assay_rescale apply_layer_norm_form(const assay_unit *u, const int64_t *multiplier,
                                    const int64_t *shift)
{
    return (assay_rescale){
        .rule = &u->rec.rescale, .n = 1, .multiplier = multiplier, .shift = shift};
}

/* -1, or the first element whose rescale the target refuses, and what it would rescale. */
static int64_t normalize_newton(const assay_unit *u, const int32_t *x, size_t n, int32_t *z,
                                int64_t *operand)
{
    const newton k = newton_of(u, x, n);
    apply_tell_fixed(u->teller, "mean", k.mean, u->k[1]);
    apply_tell_fixed(u->teller, "inverse root of the variance", k.multiplier, k.shift);
    const assay_rescale form = apply_layer_norm_form(u, &k.multiplier, &k.shift);
    int64_t refused = -1;
    assert(u->k[1] >= 0 && u->k[1] < 32); /* 32 bits of a code and these stay below 2^63 */
    for (size_t i = 0; i < n; i++) {
        const int32_t d = apply_wrap32(x[i] * (INT64_C(1) << u->k[1]) - k.mean);
        if (operand && refused < 0 && !apply_rescale_accepts(&form, d, 0)) {
            refused = (int64_t)i;
            *operand = d;
        }
        z[i] = apply_wrap32((int64_t)apply_rescale_value(&form, d, 0));
        apply_tell_fixed(apply_teller(u, i), "distance from the mean", d, u->k[1]);
    }
    return refused;
}

/* Beta as a multiple of gamma's scale / 2^F. */
static int64_t beta_of(const assay_unit *u, int32_t code)
{
    int64_t v = code - u->k[5];
    return u->k[6] ? apply_saturate128(apply_rescale_value(&u->scale[ASSAY_SECOND], v, 0), 62) : v;
}

/* Normalized * gamma + beta. */
static int64_t scaled_sum(const assay_unit *u, int32_t z, int32_t gamma, int32_t beta,
                          const assay_teller *t)
{
    const unsigned shift = (unsigned)u->k[2];
    assert(u->k[2] >= 0 && u->k[2] <= 62);
    const int64_t g = u->k[3] ? gamma - u->in_zero[1] : INT64_C(1) << shift;
    const int64_t b = u->k[4] ? beta_of(u, beta) : 0;
    apply_tell_product(t, "times gamma", z, g);
    apply_tell_sum(t, "plus beta", z * g, b);
    return apply_tell_shift(t, "rounding 1", z * g + b, shift, ASSAY_ROUND_HALF_AWAY);
}

static void normalize(const assay_unit *u, const int32_t *x, size_t n, int32_t *z)
{
    if (u->rec.softmax.layer_norm == ASSAY_LAYER_NORM_SQRT)
        normalize_sqrt(u, x, n, z);
    else
        normalize_newton(u, x, n, z, NULL);
}

void apply_layer_norm(const assay_unit *u, const int32_t *x, size_t n, int32_t *out)
{
    normalize(u, x, n, out);
    for (size_t i = 0; i < n; i++) {
        const assay_teller *t = apply_teller(u, i);
        apply_tell_fixed(t, "normalized", out[i], u->k[1]);
        const int64_t sum = scaled_sum(u, out[i], x[n + i], x[2 * n + i], t);
        apply_tell_rescale(t, &u->scale[ASSAY_OUT], sum);
        out[i] = apply_rescale_one(&u->scale[ASSAY_OUT], sum, 0);
    }
}

size_t apply_accepted_row(const assay_unit *u, const int32_t *x, size_t n, int32_t *scratch,
                          int64_t *operand)
{
    int64_t end = -1;
    if (!u->asks_row)
        return n;
    if (u->rec.softmax.layer_norm == ASSAY_LAYER_NORM_SQRT)
        normalize_sqrt(u, x, n, scratch);
    else
        end = normalize_newton(u, x, n, scratch, operand);
    for (size_t i = 0; i < (end < 0 ? n : (size_t)end); i++) {
        const int32_t beta = x[2 * n + i];
        const int64_t code = beta - u->k[5];
        const bool accepted =
            !u->k[4] || !u->k[6] || apply_rescale_accepts(&u->scale[ASSAY_SECOND], code, 0);
        const int64_t sum = accepted ? scaled_sum(u, scratch[i], x[n + i], beta, NULL) : 0;
        if (!accepted || !apply_rescale_accepts(&u->scale[ASSAY_OUT], sum, 0)) {
            *operand = accepted ? sum : code;
            return i;
        }
    }
    return end < 0 ? n : (size_t)end;
}
