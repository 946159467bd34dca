/* Element-wise functions of codes (codes.h) in C loops that compilers turn into vectors: built once
 * for each instruction set, which SIMD_NAME appends to the name. Those of floats are
 * codes_float.c. */
#include <assert.h>

#include "schemes/apply/simd/codes.h"

/* The low 32 bits. */
INLINE int32_t low_bits(uint64_t x)
{
    return (int32_t)(uint32_t)x;
}

/* A step of codes.h: left < 32, high <= 32, low < 32 (apply_step_fits), as `run` asserts. */
INLINE int32_t take(const assay_step *s, int32_t x)
{
    x = low_bits((uint64_t)(uint32_t)x << s->left);
    const int64_t p = (int64_t)x * s->m + (x < 0 ? s->add[1] : s->add[0]);
    const int32_t v = low_bits((uint64_t)p >> s->high);
    return (v + s->half + (s->away & (v >> 31))) >> s->low;
}

/* The end of codes.h; wrap < 32, as `run` asserts. */
INLINE int32_t finish(const assay_end *e, int32_t y)
{
    y = y < e->lo ? e->lo : y;
    y = y > e->hi ? e->hi : y;
    return (int32_t)((uint32_t)(y + e->zero) << e->wrap) >> e->wrap;
}

/* Sums and differences modulo 2^32. */
INLINE int32_t add(int32_t a, int32_t b, int32_t minus)
{
    return (int32_t)((uint32_t)a + (((uint32_t)b ^ (uint32_t)minus) - (uint32_t)minus));
}

/* One loop a kind: x and y are the centred operands of code i, `value` the code that comes out. */
#define LOOP(name, value)                                                                          \
    static void name(const assay_codes *codes, const int32_t *restrict a,                          \
                     const int32_t *restrict b, size_t n, int32_t *restrict out)                   \
    {                                                                                              \
        const assay_codes c = *codes;                                                              \
        for (size_t i = 0; i < n; i++) {                                                           \
            const int32_t x = a[i] - c.zero[0], y = b[i] - c.zero[1];                              \
            (void)y;                                                                               \
            out[i] = value;                                                                        \
        }                                                                                          \
    }

INLINE int32_t square(int32_t d)
{
    return low_bits((uint64_t)(uint32_t)d * (uint32_t)d);
}

INLINE int32_t choose(bool which, int32_t p, int32_t q)
{
    return which ? p : q;
}

INLINE int32_t hold(const assay_codes *c, bool below, bool above)
{
    return below ? c->holds[0] : above ? c->holds[2] : c->holds[1];
}

LOOP(sum, finish(&c.end, take(&c.out, add(take(&c.a, x), take(&c.b, y), c.minus))))
LOOP(squared, finish(&c.end, take(&c.out, square(take(&c.a, x) - take(&c.b, y)))))
LOOP(product, finish(&c.end, take(&c.out, x *y)))
LOOP(prelu, finish(&c.end, choose(x >= 0, take(&c.out, x), take(&c.a, x *y))))
LOOP(order, hold(&c, x *c.factor[0]<y * c.factor[1], x * c.factor[0]> y *c.factor[1]))
LOOP(order_steps, hold(&c, take(&c.a, x) < take(&c.b, y), take(&c.a, x) > take(&c.b, y)))
LOOP(greatest, finish(&c.end, choose(take(&c.a, x) > take(&c.b, y), take(&c.a, x), take(&c.b, y))))
LOOP(least, finish(&c.end, choose(take(&c.a, x) > take(&c.b, y), take(&c.b, y), take(&c.a, x))))

/* Of one operand; b is NULL. */
#define LOOP_ONE(name, value)                                                                      \
    static void name(const assay_codes *codes, const int32_t *restrict a,                          \
                     const int32_t *restrict b, size_t n, int32_t *restrict out)                   \
    {                                                                                              \
        const assay_codes c = *codes;                                                              \
        (void)b;                                                                                   \
        for (size_t i = 0; i < n; i++) {                                                           \
            const int32_t x = a[i] - c.zero[0];                                                    \
            out[i] = finish(&c.end, value);                                                        \
        }                                                                                          \
    }

LOOP_ONE(change, take(&c.out, x))
LOOP_ONE(slope, choose(x >= 0, take(&c.out, x), take(&c.a, x)))
LOOP_ONE(magnitude, take(&c.out, choose(x < 0, -x, x)))
LOOP_ONE(clamp, x)

static void run(const assay_unit *u, const int32_t *a, const int32_t *b, size_t n, int32_t *out)
{
    static void (*const loops[])(const assay_codes *c, const int32_t *restrict a,
                                 const int32_t *restrict b, size_t n, int32_t *restrict out) = {
        [ASSAY_CODES_SUM] = sum,
        [ASSAY_CODES_SQUARE] = squared,
        [ASSAY_CODES_PRODUCT] = product,
        [ASSAY_CODES_PRELU] = prelu,
        [ASSAY_CODES_ORDER] = order,
        [ASSAY_CODES_ORDER_STEPS] = order_steps,
        [ASSAY_CODES_CHANGE] = change,
        [ASSAY_CODES_SLOPE] = slope,
        [ASSAY_CODES_MAGNITUDE] = magnitude,
        [ASSAY_CODES_CLAMP] = clamp,
    };
    assay_codes c;
    apply_codes_of(u, 0, &c);
    assert(apply_step_fits(&c.a) && apply_step_fits(&c.b) && apply_step_fits(&c.out));
    assert(c.end.wrap < 32);
    if (c.kind == ASSAY_CODES_EXTREME)
        (c.greatest ? greatest : least)(&c, a, b, n, out);
    else
        loops[c.kind](&c, a, b, n, out);
}

assay_codes_fn NAMED(simd_codes)(const assay_unit *u, int64_t reach)
{
    assay_codes c;
    if (!apply_codes_of(u, reach, &c))
        return NULL;
    return c.kind < ASSAY_CODES_FLOAT_SCALED ? run : NAMED(simd_codes_float)(&c);
}
