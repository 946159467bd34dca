/* Rescales of blocks, and conversions from float32, in C loops that compilers turn into vectors:
 * built once for each instruction set, which SIMD_NAME appends to the names (schemes/meson.build).
 *
 * Blocks: rescales whose results stay well inside int32 (assay_simd.packed). Floats: x / s, x * s
 * and int32 to float32 are the IEEE operations that softfloat.h computes, under the machine's
 * default modes. A float is clamped to integral bounds before it is rounded: rounding is monotone
 * and leaves them where they are, so the result is the same. */
#include <assert.h>

#include "schemes/apply/simd.h"
#include "schemes/apply/simd/round.h"
#include "schemes/apply/unit.h"

/* ---- roundings ---- */

/* floor(p / 2^s) for any sign, s <= 62: the shift of an unsigned number, moved up and back. */
INLINE int64_t shift_right(int64_t p, unsigned s)
{
    const uint64_t top = (uint64_t)1 << 63;
    return (int64_t)((((uint64_t)p ^ top) >> s) - (top >> s));
}

/* p / 2^s, |p| <= 2^62, s <= 62, which load_part asserts of a part's shifts. */
INLINE int64_t round_shift(int64_t p, unsigned s, const enum assay_rounding mode)
{
    const uint64_t one = 1, ones = (one << s) - 1, odd = (uint64_t)shift_right(p, s) & 1;
    const uint64_t addend = assay_rounding_addend(
        mode, (one << s) >> 1, ones, 0 - (uint64_t)(p < 0), 0 - odd, 0 - (uint64_t)(s > 0));
    return shift_right((int64_t)((uint64_t)p + addend), s);
}

/* ---- blocks ---- */

enum { PART = 32 };

typedef struct part {
    float scale[PART];
    int32_t multiplier[PART], shift[PART];
} part;

INLINE part load_part(const assay_rescale *r, size_t c, size_t n, const bool is_float)
{
    part p;
    for (size_t i = 0; i < n; i++) {
        const size_t k = r->n > 1 ? c + i : 0;
        if (is_float) {
            const uint32_t bits = (uint32_t)r->scale[k];
            __builtin_memcpy(&p.scale[i], &bits, sizeof bits);
        } else {
            p.multiplier[i] = (int32_t)r->multiplier[k];
            p.shift[i] = p.multiplier[i] ? (int32_t)r->shift[k] : 31; /* 0 by any shift */
            assert(p.shift[i] >= 0 && p.shift[i] <= 62);
        }
    }
    return p;
}

INLINE int32_t scale(const assay_simd *s, const part *p, size_t i, int32_t acc,
                     const enum assay_simd_way way, const enum assay_rounding mode)
{
    const int32_t lo = s->lo - s->zero_point, hi = s->hi - s->zero_point;
    if (way == ASSAY_SIMD_FLOAT) {
        const float inside = s->inside ? (float)s->zero_point : 0;
        float f = (float)acc * p->scale[i] + inside;
        f = f < (float)lo + inside ? (float)lo + inside : f;
        f = f > (float)hi + inside ? (float)hi + inside : f;
        return round_float(f, mode) - (int32_t)inside;
    }
    const int64_t product = (int64_t)acc * p->multiplier[i];
    int64_t v;
    if (way == ASSAY_SIMD_DOUBLE)
        v = round_shift(round_shift(product, 31, ASSAY_ROUND_HALF_UP), (unsigned)p->shift[i] - 31,
                        ASSAY_ROUND_HALF_AWAY);
    else
        v = round_shift(product, (unsigned)p->shift[i], mode);
    const int32_t y = (int32_t)v; /* packed: it fits */
    return y < lo ? lo : y > hi ? hi : y;
}

#define PARAMETERS                                                                                 \
    const assay_unit *u, const int32_t *acc, size_t rows, size_t columns, size_t acc_step,         \
        size_t channel, uint8_t *out, size_t out_step
#define ARGUMENTS u, acc, rows, columns, acc_step, channel, out, out_step

INLINE void block(PARAMETERS, const enum assay_simd_way way, const enum assay_rounding mode)
{
    const assay_simd s = u->simd;
    for (size_t j = 0; j < columns; j += PART) {
        const size_t n = columns - j < PART ? columns - j : PART;
        const part p = load_part(&u->scale[ASSAY_OUT], channel + j, n, way == ASSAY_SIMD_FLOAT);
        for (size_t i = 0; i < rows; i++) {
            const int32_t *x = acc + i * acc_step + j;
            uint8_t *y = out + i * out_step + j;
            for (size_t k = 0; k < n; k++)
                y[k] = (uint8_t)(scale(&s, &p, k, x[k], way, mode) + s.zero_point);
        }
    }
}

#define BLOCK(name, way, mode)                                                                     \
    static void name(PARAMETERS)                                                                   \
    {                                                                                              \
        block(ARGUMENTS, way, mode);                                                               \
    }
#define ONE(ID, name, ...)   BLOCK(one_##name, ASSAY_SIMD_ONE_ROUNDING, ASSAY_ROUND_##ID)
#define FLOAT(ID, name, ...) BLOCK(float_##name, ASSAY_SIMD_FLOAT, ASSAY_ROUND_##ID)

ASSAY_ROUNDINGS(ONE)
ASSAY_ROUNDINGS(FLOAT)
BLOCK(double_rounding, ASSAY_SIMD_DOUBLE, ASSAY_ROUND_HALF_UP)

#define ONE_ENTRY(ID, name, ...)   one_##name,
#define FLOAT_ENTRY(ID, name, ...) float_##name,

assay_block_fn NAMED(simd_plain)(const assay_simd *s)
{
    static const assay_block_fn one[ASSAY_ROUND_COUNT] = {ASSAY_ROUNDINGS(ONE_ENTRY)};
    static const assay_block_fn of_float[ASSAY_ROUND_COUNT] = {ASSAY_ROUNDINGS(FLOAT_ENTRY)};
    if (!s->packed)
        return NULL;
    return s->way == ASSAY_SIMD_ONE_ROUNDING ? one[s->mode]
           : s->way == ASSAY_SIMD_FLOAT      ? of_float[s->mode]
                                             : double_rounding;
}

/* ---- float32 to codes ---- */

INLINE void encode(const assay_unit *u, const float *x, size_t n, uint8_t *out, const bool divide,
                   const enum assay_rounding mode)
{
    const assay_rescale *o = &u->scale[ASSAY_OUT];
    const assay_rule_convert *k = &u->rec.convert;
    const int32_t zero = (int32_t)u->list[0][0];
    const float inside = k->zero_point == ASSAY_STAGE_INSIDE ? (float)zero : 0;
    const int32_t base = zero - (int32_t)inside; /* what is added after rounding */
    const float lo = (float)(o->lo - base), hi = (float)(o->hi - base);
    const float nan = k->nan == ASSAY_NAN_LEAST ? lo : (float)(zero - base);
    const uint32_t bits = (uint32_t)o->scale[0];
    float s;
    __builtin_memcpy(&s, &bits, sizeof s);
    for (size_t i = 0; i < n; i++) {
        float f = (divide ? x[i] / s : x[i] * s) + inside;
        f = f != f ? nan : f;
        f = f < lo ? lo : f;
        f = f > hi ? hi : f;
        out[i] = (uint8_t)(round_float(f, mode) + base);
    }
}

#define ENCODE(ID, name, ...)                                                                      \
    static void divide_##name(const assay_unit *u, const float *x, size_t n, uint8_t *out)         \
    {                                                                                              \
        encode(u, x, n, out, true, ASSAY_ROUND_##ID);                                              \
    }                                                                                              \
    static void multiply_##name(const assay_unit *u, const float *x, size_t n, uint8_t *out)       \
    {                                                                                              \
        encode(u, x, n, out, false, ASSAY_ROUND_##ID);                                             \
    }
#define ENCODE_ENTRY(ID, name, ...) {multiply_##name, divide_##name},

ASSAY_ROUNDINGS(ENCODE)

assay_encode_fn NAMED(simd_encode)(const assay_unit *u)
{
    static const assay_encode_fn forms[ASSAY_ROUND_COUNT][2] = {ASSAY_ROUNDINGS(ENCODE_ENTRY)};
    return forms[u->rec.convert.round][u->rec.convert.division == ASSAY_QUANTIZE_DIVIDE];
}
