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
    apply_codes_of(u, 0, &c);
    const terms t = terms_of(&c);
    const int32_t za = c.zero[0], zb = c.zero[1];
    for (size_t i = 0; i < n; i++) {
        const int32_t y = kind == ASSAY_CODES_FLOAT_CHANGE ? 0 : b[i] - zb;
        float f = value(&t, a[i] - za, y, kind);
        f = f < t.lo ? t.lo : f;
        f = f > t.hi ? t.hi : f;
        out[i] = round_float(f, mode) + t.base;
    }
}

#define LOOP(kind, KIND, ID, mode)                                                                 \
    static void kind##_##mode(const assay_unit *u, const int32_t *a, const int32_t *b, size_t n,   \
                              int32_t *out)                                                        \
    {                                                                                              \
        loop(u, a, b, n, out, ASSAY_CODES_FLOAT_##KIND, ASSAY_ROUND_##ID);                         \
    }
#define SCALED(ID, mode, ...)  LOOP(scaled, SCALED, ID, mode)
#define FUSED(ID, mode, ...)   LOOP(fused, FUSED, ID, mode)
#define REAL(ID, mode, ...)    LOOP(real, REAL, ID, mode)
#define RATIO(ID, mode, ...)   LOOP(ratio, RATIO, ID, mode)
#define PRODUCT(ID, mode, ...) LOOP(product, PRODUCT, ID, mode)
#define CHANGE(ID, mode, ...)  LOOP(change, CHANGE, ID, mode)

#define SCALED_ENTRY(ID, mode, ...)  scaled_##mode,
#define FUSED_ENTRY(ID, mode, ...)   fused_##mode,
#define REAL_ENTRY(ID, mode, ...)    real_##mode,
#define RATIO_ENTRY(ID, mode, ...)   ratio_##mode,
#define PRODUCT_ENTRY(ID, mode, ...) product_##mode,
#define CHANGE_ENTRY(ID, mode, ...)  change_##mode,
#define ENTRIES(KIND)                                                                              \
    [ASSAY_CODES_FLOAT_##KIND - ASSAY_CODES_FLOAT_SCALED] = {ASSAY_ROUNDINGS(KIND##_ENTRY)}

ASSAY_ROUNDINGS(SCALED)
#if defined __AVX512F__
ASSAY_ROUNDINGS(FUSED)
#endif
ASSAY_ROUNDINGS(REAL)
ASSAY_ROUNDINGS(RATIO)
ASSAY_ROUNDINGS(PRODUCT)
ASSAY_ROUNDINGS(CHANGE)

assay_codes_fn NAMED(simd_codes_float)(const assay_codes *c)
{
    static const assay_codes_fn forms[][ASSAY_ROUND_COUNT] = {
        ENTRIES(SCALED),
#if defined __AVX512F__
        ENTRIES(FUSED),
#endif
        ENTRIES(REAL),
        ENTRIES(RATIO),
        ENTRIES(PRODUCT),
        ENTRIES(CHANGE)
    };
    return forms[c->kind - ASSAY_CODES_FLOAT_SCALED][c->mode];
}
