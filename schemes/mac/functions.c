/* Functions of binary32 in stated steps; functions.h has the formulas. */
#include "schemes/mac/functions.h"

enum { MOST_TOLD = 32 };

#define SIGN  UINT32_C(0x80000000)
#define TWO   UINT32_C(0x40000000)
#define LARGE UINT32_C(0x42b17218) /* 88.72284 */
#define SMALL UINT32_C(0xc2cff218) /* -103.97284 */

/* ((c[0] * t + c[1]) * t + ...) */
static uint32_t horner(const uint32_t *c, size_t n, uint32_t t)
{
    uint32_t p = c[0];
    for (size_t i = 1; i < n; i++)
        p = apply_f32_add(apply_f32_mul(p, t), c[i]);
    return p;
}

/* 2^n, where that is a normal number. */
static uint32_t power_of_two(int64_t n)
{
    return (uint32_t)(n + 127) << 23;
}

uint32_t mac_exp(uint32_t x, const assay_teller *t)
{
    static const uint32_t log2e = 0x3fb8aa3b, c1 = 0x3f318000, c2 = 0xb95e8083;
    static const uint32_t p[] = {0x39506967, 0x3ab743ce, 0x3c088908,
                                 0x3d2aa9c1, 0x3e2aaaaa, ASSAY_F32_HALF};
    if (apply_f32_is_nan(x))
        return ASSAY_F32_NAN;
    if (apply_f32_lt(LARGE, x))
        return ASSAY_F32_INF;
    if (apply_f32_lt(x, SMALL))
        return 0;
    const int64_t n =
        apply_f32_to_int(apply_f32_mul(x, log2e), ASSAY_ROUND_HALF_EVEN, -200, 200, 0);
    const uint32_t k = apply_f32_from_i64(n);
    uint32_t r = apply_f32_sub(x, apply_f32_mul(k, c1));
    r = apply_f32_sub(r, apply_f32_mul(k, c2));
    uint32_t y = apply_f32_mul(horner(p, sizeof p / sizeof *p, r), apply_f32_mul(r, r));
    y = apply_f32_add(apply_f32_add(y, r), ASSAY_F32_ONE);
    apply_tell(t, "times log2 e, rounded: n", n);
    apply_tell_f32(t, "r: less n ln 2", r);
    apply_tell_f32(t, "e^r by the polynomial", y);
    y = apply_f32_mul(apply_f32_mul(y, power_of_two(n - n / 2)), power_of_two(n / 2));
    apply_tell_f32(t, "times 2^n", y);
    return y;
}

uint32_t mac_sigmoid(uint32_t x, const assay_teller *t)
{
    const uint32_t sum = apply_f32_add(ASSAY_F32_ONE, mac_exp(x ^ SIGN, t));
    apply_tell_f32(t, "1 + e^-x", sum);
    return apply_f32_div(ASSAY_F32_ONE, sum);
}

uint32_t mac_tanh(uint32_t x, const assay_teller *t)
{
    const uint32_t magnitude = x & ~SIGN;
    const uint32_t e = apply_f32_add(mac_exp(apply_f32_mul(TWO, magnitude), t), ASSAY_F32_ONE);
    apply_tell_f32(t, "e^(2|x|) + 1", e);
    return apply_f32_sub(ASSAY_F32_ONE, apply_f32_div(TWO, e)) ^ (x & SIGN);
}

uint32_t mac_erf(uint32_t x, const assay_teller *teller)
{
    static const uint32_t scale = 0x3ea7ba05; /* 0.3275911 */
    static const uint32_t p[] = {0x3f87dc22, 0xbfba00e3, 0x3fb5f0e3, 0xbe91a98e, 0x3e827906, 0};
    const uint32_t magnitude = x & ~SIGN;
    const uint32_t t =
        apply_f32_div(ASSAY_F32_ONE, apply_f32_add(ASSAY_F32_ONE, apply_f32_mul(scale, magnitude)));
    const uint32_t e = mac_exp(apply_f32_mul(magnitude, magnitude) ^ SIGN, teller);
    const uint32_t y = apply_f32_mul(horner(p, sizeof p / sizeof *p, t), e);
    apply_tell_f32(teller, "t: 1 / (1 + 0.3275911 |x|)", t);
    apply_tell_f32(teller, "p(t) * e^-(x * x)", y);
    return apply_f32_sub(ASSAY_F32_ONE, y) ^ (x & SIGN);
}

uint32_t mac_gelu(uint32_t x, bool with_tanh, const assay_teller *t)
{
    static const uint32_t root = 0x3f3504f3;   /* sqrt(1/2) */
    static const uint32_t factor = 0x3f4c422a; /* sqrt(2/pi) */
    static const uint32_t cubic = 0x3d372713;  /* 0.044715 */
    uint32_t f;
    if (with_tanh) {
        const uint32_t cube = apply_f32_mul(apply_f32_mul(x, x), x);
        f = mac_tanh(apply_f32_mul(factor, apply_f32_add(x, apply_f32_mul(cubic, cube))), t);
    } else
        f = mac_erf(apply_f32_mul(x, root), t);
    apply_tell_f32(t, with_tanh ? "tanh" : "erf", f);
    return apply_f32_mul(apply_f32_mul(x, ASSAY_F32_HALF), apply_f32_add(ASSAY_F32_ONE, f));
}

/* Of long rows only some of the partial sums are traced: at equal distances, and the last. */
static bool is_told(size_t i, size_t n)
{
    return i % ((n - 1) / MOST_TOLD + 1) == 0 || i + 1 == n;
}

uint32_t mac_sum_of(const int32_t *x, size_t n, const assay_teller *t)
{
    uint32_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        sum = apply_f32_add(sum, (uint32_t)x[i]);
        if (t && is_told(i, n)) {
            apply_tell_f32(t, "element", (uint32_t)x[i]);
            apply_tell_f32(t, "sum up to it", sum);
        }
    }
    return sum;
}

static void tell_elements(const assay_teller *t, const int32_t *x, size_t n)
{
    for (size_t i = 0; t && i < n && n <= MOST_TOLD; i++)
        apply_tell_f32(t, "element", (uint32_t)x[i]);
}

uint32_t mac_greatest_of(const int32_t *x, size_t n, const assay_teller *t)
{
    uint32_t m = n > 0 ? (uint32_t)x[0] : ASSAY_F32_INF | SIGN;
    for (size_t i = 1; i < n; i++)
        m = apply_f32_max(m, (uint32_t)x[i]);
    tell_elements(t, x, n);
    return m;
}

uint32_t mac_least_of(const int32_t *x, size_t n, const assay_teller *t)
{
    uint32_t m = n > 0 ? (uint32_t)x[0] : ASSAY_F32_INF;
    for (size_t i = 1; i < n; i++)
        m = apply_f32_min(m, (uint32_t)x[i]);
    tell_elements(t, x, n);
    return m;
}

void mac_softmax(const int32_t *x, size_t n, uint32_t beta, int32_t *out, const assay_teller *t)
{
    const uint32_t m = mac_greatest_of(x, n, NULL);
    for (size_t i = 0; i < n; i++) {
        const uint32_t d = apply_f32_sub((uint32_t)x[i], m);
        apply_tell_f32(apply_tell_at(t, i), "distance from the greatest", d);
        out[i] = (int32_t)mac_exp(apply_f32_mul(d, beta), apply_tell_at(t, i));
    }
    const uint32_t sum = mac_sum_of(out, n, NULL);
    apply_tell_f32(t, "sum of exponentials", sum);
    for (size_t i = 0; i < n; i++)
        out[i] = (int32_t)apply_f32_div((uint32_t)out[i], sum);
}

void mac_l2_norm(const int32_t *x, size_t n, uint32_t epsilon, int32_t *out, const assay_teller *t)
{
    uint32_t sum = 0;
    for (size_t i = 0; i < n; i++)
        sum = apply_f32_add(sum, apply_f32_mul((uint32_t)x[i], (uint32_t)x[i]));
    const uint32_t root = apply_f32_sqrt(apply_f32_max(sum, epsilon));
    apply_tell_f32(t, "sum of squares", sum);
    apply_tell_f32(t, "its root", root);
    for (size_t i = 0; i < n; i++)
        out[i] = (int32_t)apply_f32_div((uint32_t)x[i], root);
}

void mac_layer_norm(const int32_t *x, size_t n, const int32_t *gamma, const int32_t *beta,
                    uint32_t epsilon, int32_t *out, const assay_teller *t)
{
    const uint32_t count = apply_f32_from_i64((int64_t)n);
    const uint32_t mean = apply_f32_div(mac_sum_of(x, n, NULL), count);
    uint32_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        out[i] = (int32_t)apply_f32_sub((uint32_t)x[i], mean);
        sum = apply_f32_add(sum, apply_f32_mul((uint32_t)out[i], (uint32_t)out[i]));
    }
    const uint32_t variance = apply_f32_div(sum, count);
    const uint32_t r =
        apply_f32_div(ASSAY_F32_ONE, apply_f32_sqrt(apply_f32_add(variance, epsilon)));
    apply_tell_f32(t, "mean", mean);
    apply_tell_f32(t, "variance", variance);
    apply_tell_f32(t, "1 / its root", r);
    for (size_t i = 0; i < n; i++) {
        uint32_t y = apply_f32_mul((uint32_t)out[i], r);
        apply_tell_f32(apply_tell_at(t, i), "distance from the mean", (uint32_t)out[i]);
        apply_tell_f32(apply_tell_at(t, i), "normalized", y);
        if (gamma) {
            y = apply_f32_mul(y, (uint32_t)gamma[i]);
            apply_tell_f32(apply_tell_at(t, i), "times gamma", y);
        }
        out[i] = (int32_t)(beta ? apply_f32_add(y, (uint32_t)beta[i]) : y);
    }
}
