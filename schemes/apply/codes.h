/* Element-wise functions of codes, as numbers that loops over vectors use: which functions have
 * such a form, and why the form's 32 and 64 bits are enough. codes.c fills it (integers only),
 * simd/codes.c and simd/codes_float.c run it. */
#ifndef ASSAY_SCHEMES_APPLY_CODES_H
#define ASSAY_SCHEMES_APPLY_CODES_H

#include "schemes/apply/unit.h"

/* One rescale by integers. For |x| <= the reach that it was made for
 *
 *   p = (x << left) * m            |x << left| < 2^31, 0 <= m < 2^31
 *   v = (p + add) >> high          add by the sign of x; the low 32 bits hold v
 *   y = (v + half - (v < 0 and away)) >> low
 *
 * is the rescale's value before zero point and saturation. Of one rounding by s bits, high is
 * min(s, 32) and low is what remains, a plain shift; of two, high is the first and low the second,
 * which is half away from zero. */
typedef struct assay_step {
    int64_t m, add[2]; /* add: not negative, negative */
    unsigned left, high, low;
    int32_t half, away; /* away: -1 or 0 */
} assay_step;

/* Shifts that the loops can make. */
static inline bool apply_step_fits(const assay_step *s)
{
    return s->left < 32 && s->high <= 32 && s->low < 32;
}

/* code = saturate(y + zero) to lo .. hi; with `wrap`, the low bits of the sum, sign extended: it is
 * shifted up by so many and back. */
typedef struct assay_end {
    int32_t lo, hi; /* of y */
    int32_t zero;
    unsigned wrap;
} assay_end;

enum assay_codes_kind {
    ASSAY_CODES_NONE,
    ASSAY_CODES_SUM,         /* end(out(a(x) +- b(y))), modulo 2^32 between */
    ASSAY_CODES_SQUARE,      /* the same of the difference squared, modulo 2^32 */
    ASSAY_CODES_PRODUCT,     /* end(out(x * y)) */
    ASSAY_CODES_EXTREME,     /* end(the greater of a(x) and b(y), or the lesser) */
    ASSAY_CODES_PRELU,       /* end(x >= 0 ? out(x) : a(x * y)) */
    ASSAY_CODES_ORDER,       /* whether x * factor[0] is below, at or above y * factor[1] */
    ASSAY_CODES_ORDER_STEPS, /* whether a(x) is below, at or above b(y) */
    ASSAY_CODES_CHANGE,      /* end(out(x)) */
    ASSAY_CODES_SLOPE,       /* end(x >= 0 ? out(x) : a(x)) */
    ASSAY_CODES_MAGNITUDE,   /* end(out(|x|)) */
    ASSAY_CODES_CLAMP,       /* end(x) */
    /* In float32; float_of holds the operations' operands. */
    ASSAY_CODES_FLOAT_SCALED, /* add_float.c, not fused */
    ASSAY_CODES_FLOAT_FUSED,  /* fused */
    ASSAY_CODES_FLOAT_REAL,
    ASSAY_CODES_FLOAT_RATIO,
    ASSAY_CODES_FLOAT_PRODUCT, /* x * y by a float rescale */
    ASSAY_CODES_FLOAT_CHANGE   /* x by a float rescale */
};

/* x and y are codes less their zero points (not under FLOAT_SCALED and FLOAT_FUSED: codes). */
typedef struct assay_codes {
    enum assay_codes_kind kind;
    int32_t zero[2];
    assay_step a, b, out;
    assay_end end;
    int32_t minus; /* SUM: -1 where y is subtracted */
    bool greatest;
    int64_t factor[2];
    int32_t holds[3]; /* ORDER: what is stored for below, at, above */
    uint32_t real[4]; /* float32 bits */
    bool steps, inside, exchanged;
    enum assay_rounding mode; /* of floats */
} assay_codes;

/* The form of u's binary or unary for codes at most `reach` (below 2^17) from their zero points.
 * False: it has none, and u->binary or u->unary are to be asked. */
bool apply_codes_of(const assay_unit *u, int64_t reach, assay_codes *out);

#endif
