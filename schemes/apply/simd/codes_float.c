/* Element-wise functions of codes by float32 operations (add_float.c, rescale_float.c) in C loops
 * that compilers turn into vectors: built once for each instruction set, which SIMD_NAME appends to
 * the name.
 *
 * Every operation is the IEEE operation that softfloat.h computes, under the machine's default
 * modes. codes.c has seen to it that nothing is infinite or no number. Values are clamped to
 * integral bounds before they are rounded: rounding is monotone and leaves those where they are. */
#include "schemes/apply/simd/codes.h"

static float float_of(uint32_t bits)
{
    float f;
    __builtin_memcpy(&f, &bits, sizeof f);
    return f;
}

typedef struct terms {
    float k[3], inside, lo, hi;
    int32_t base; /* what is added after rounding */
    bool subtract, steps, exchanged;
} terms;

static terms terms_of(const assay_codes *c)
{
    const int32_t inside = c->inside ? c->end.zero : 0;
    return (terms){.k = {float_of(c->real[0]), float_of(c->real[1]), float_of(c->real[2])},
                   .inside = (float)inside,
                   .lo = (float)(c->end.lo + inside),
                   .hi = (float)(c->end.hi + inside),
                   .base = c->end.zero - inside,
                   .subtract = c->minus != 0,
                   .steps = c->steps,
                   .exchanged = c->exchanged};
}

INLINE float value(const terms *t, int32_t x, int32_t y, const enum assay_codes_kind kind)
{
    const float fx = (float)x, fy = (float)y;
    float p, q;
    switch (kind) {
    case ASSAY_CODES_FLOAT_SCALED:
        return (t->k[2] + fx * t->k[0]) + fy * t->k[1];
#if defined __AVX512F__
    case ASSAY_CODES_FLOAT_FUSED:
        return t->exchanged ? __builtin_fmaf(fy, t->k[1], __builtin_fmaf(fx, t->k[0], t->k[2]))
                            : __builtin_fmaf(fx, t->k[0], __builtin_fmaf(fy, t->k[1], t->k[2]));
#endif
    case ASSAY_CODES_FLOAT_REAL:
    case ASSAY_CODES_FLOAT_RATIO:
        p = fx * t->k[0];
        q = fy * t->k[1];
        p = t->subtract ? p - q : p + q;
        return (kind == ASSAY_CODES_FLOAT_REAL ? p / t->k[2] : p) + t->inside;
    default:
        p = (float)(kind == ASSAY_CODES_FLOAT_PRODUCT ? x * y : x) * t->k[0];
        return (t->steps ? p * t->k[1] / t->k[2] : p) + t->inside;
    }
}

INLINE void loop(const assay_unit *u, const int32_t *restrict a, const int32_t *restrict b,
                 size_t n, int32_t *restrict out, const enum assay_codes_kind kind,
                 const enum assay_rounding mode)
{
    assay_codes c;
    assay_codes_of(u, 0, &c);
    const terms t = terms_of(&c);
    const int32_t za = c.zero[0], zb = c.zero[1];
    for (size_t i = 0; i < n; i++) {
        const int32_t y = kind == ASSAY_CODES_FLOAT_CHANGE ? 0 : b[i] - zb;
        float f = value(&t, a[i] - za, y, kind);
        f = f < t.lo ? t.lo : f;
        f = f > t.hi ? t.hi : f;
        out[i] = (int32_t)round_float(f, mode) + t.base;
    }
}

#define LOOP(kind, KIND, mode, MODE)                                                               \
    static void kind##_##mode(const assay_unit *u, const int32_t *a, const int32_t *b, size_t n,   \
                              int32_t *out)                                                        \
    {                                                                                              \
        loop(u, a, b, n, out, ASSAY_CODES_FLOAT_##KIND, ASSAY_ROUND_##MODE);                       \
    }
#define LOOPS(kind, KIND)                                                                          \
    LOOP(kind, KIND, half_even, HALF_EVEN)                                                         \
    LOOP(kind, KIND, half_away, HALF_AWAY)                                                         \
    LOOP(kind, KIND, floor, FLOOR)                                                                 \
    LOOP(kind, KIND, trunc, TRUNC)                                                                 \
    LOOP(kind, KIND, ceil, CEIL)
#define ENTRIES(kind, KIND)                                                                        \
    [ASSAY_CODES_FLOAT_##KIND -                                                                    \
        ASSAY_CODES_FLOAT_SCALED] = {[ASSAY_ROUND_HALF_EVEN] = kind##_half_even,                   \
                                     [ASSAY_ROUND_HALF_AWAY] = kind##_half_away,                   \
                                     [ASSAY_ROUND_FLOOR] = kind##_floor,                           \
                                     [ASSAY_ROUND_TRUNC] = kind##_trunc,                           \
                                     [ASSAY_ROUND_CEIL] = kind##_ceil}

LOOPS(scaled, SCALED)
#if defined __AVX512F__
LOOPS(fused, FUSED)
#endif
LOOPS(real, REAL)
LOOPS(ratio, RATIO)
LOOPS(product, PRODUCT)
LOOPS(change, CHANGE)

assay_codes_fn NAMED(assay_simd_codes_float)(const assay_codes *c)
{
    static const assay_codes_fn forms[][ASSAY_ROUND_COUNT] = {
        ENTRIES(scaled, SCALED),
#if defined __AVX512F__
        ENTRIES(fused, FUSED),
#endif
        ENTRIES(real, REAL),
        ENTRIES(ratio, RATIO),
        ENTRIES(product, PRODUCT),
        ENTRIES(change, CHANGE)
    };
    return forms[c->kind - ASSAY_CODES_FLOAT_SCALED][c->mode];
}
