/* The readable core: an operation is done exactly on a sign, an exponent and a wide significand,
 * and then rounded once. See softfloat.h for the contract. */
#include <assert.h>

#include "schemes/apply/softfloat.h"

/* Functions are inline so that a format, a constant where it is used, is folded into them. */

/* ---- formats ---- */

struct format {
    int precision; /* bits of the significand, with the implicit one */
    int width;     /* bits in all */
};
static const struct format binary32 = {24, 32}, binary64 = {53, 64}; /* there is no third */

/* The field of the exponent of infinity: all ones. Its half is the bias. */
static inline int exponent_ones(struct format f)
{
    assert(f.precision > 1 && f.precision < f.width && f.width <= 64 && f.width - f.precision < 31);
    return (1 << (f.width - f.precision)) - 1;
}
static inline uint64_t infinity(struct format f)
{
    return (uint64_t)exponent_ones(f) << (f.precision - 1);
}
static inline uint64_t quiet_nan(struct format f)
{
    return infinity(f) | (uint64_t)1 << (f.precision - 2);
}
static inline uint64_t sign_bit(struct format f, bool negative)
{
    return (uint64_t)negative << (f.width - 1);
}

/* ---- unpacked values ---- */

enum kind { ZERO, FINITE, INFINITE, NOT_A_NUMBER };

/* A FINITE number is significand * 2^exponent with the top set bit of the significand at TOP. There
 * is room above for the carry of an addition, and below for the whole product of two significands.
 */
enum { TOP = 124 };
struct number {
    enum kind kind;
    bool negative;
    int exponent;
    assay_uint128 significand;
};

/* Shifts the top set bit to TOP. Operations may hand over any nonzero significand below 2^126. */
static inline struct number normalise(struct number x)
{
    uint64_t high = (uint64_t)(x.significand >> 64), low = (uint64_t)x.significand;
    int top = high ? 127 - __builtin_clzll(high) : 63 - __builtin_clzll(low);
    if (top <= TOP)
        x.significand <<= TOP - top;
    else /* the lowest bit is sticky: it stays set when a set bit is shifted out */
        x.significand = (assay_uint128)assay_round_shift128((assay_int128)x.significand,
                                                            (unsigned)(top - TOP), ASSAY_ROUND_ODD);
    x.exponent += top - TOP;
    return x;
}

static inline struct number unpack(struct format f, uint64_t bits)
{
    int field = (int)(bits >> (f.precision - 1)) & exponent_ones(f);
    uint64_t fraction = bits & (((uint64_t)1 << (f.precision - 1)) - 1);
    struct number x = {.negative = bits >> (f.width - 1) & 1};
    if (field == exponent_ones(f)) {
        x.kind = fraction ? NOT_A_NUMBER : INFINITE;
    } else if (field == 0 && fraction == 0) {
        x.kind = ZERO;
    } else {
        x.kind = FINITE;
        x.significand = fraction | (uint64_t)(field != 0) << (f.precision - 1);
        x.exponent = (field ? field : 1) - exponent_ones(f) / 2 - (f.precision - 1);
        x = normalise(x);
    }
    return x;
}

/* Rounds to nearest even and encodes. The exponent field is added, not or-ed: a carry out of the
 * significand enters it, and turns the largest subnormal into the smallest normal, and the
 * largest finite number into infinity. */
static inline uint64_t pack(struct format f, struct number x)
{
    uint64_t sign = sign_bit(f, x.negative);
    if (x.kind == NOT_A_NUMBER)
        return quiet_nan(f);
    if (x.kind == INFINITE)
        return sign | infinity(f);
    if (x.kind == ZERO)
        return sign;
    int drop = TOP + 1 - f.precision;
    int field = x.exponent + TOP + exponent_ones(f) / 2; /* value is 1.f * 2^(exponent + TOP) */
    if (field >= exponent_ones(f))
        return sign | infinity(f);
    if (field < 1) { /* subnormal: the unit stays that of field 1, so more bits go */
        drop += 1 - field;
        field = 1;
    }
    if (drop > TOP + 2) /* below half of the smallest subnormal */
        return sign;
    uint64_t significand = (uint64_t)assay_round_shift128((assay_int128)x.significand,
                                                          (unsigned)drop, ASSAY_ROUND_HALF_EVEN);
    return sign + ((uint64_t)(field - 1) << (f.precision - 1)) + significand;
}

/* ---- the operations, on unpacked values ---- */

static struct number from_integer(int64_t v)
{
    struct number x = {.kind = v ? FINITE : ZERO, .negative = v < 0};
    x.significand = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
    return v ? normalise(x) : x;
}

static struct number not_a_number(void)
{
    return (struct number){.kind = NOT_A_NUMBER};
}

/* An exact product needs 2 * 53 bits, which TOP leaves room for. */
static inline struct number multiply(struct number a, struct number b)
{
    struct number p = {.negative = a.negative != b.negative};
    if (a.kind == NOT_A_NUMBER || b.kind == NOT_A_NUMBER)
        return not_a_number();
    if (a.kind == INFINITE || b.kind == INFINITE) {
        if (a.kind == ZERO || b.kind == ZERO)
            return not_a_number();
        p.kind = INFINITE;
    } else if (a.kind == FINITE && b.kind == FINITE) {
        enum { LOW = TOP + 1 - 53 }; /* bits of an operand below its 53: all zero */
        p.kind = FINITE;
        p.significand = (a.significand >> LOW) * (b.significand >> LOW);
        p.exponent = a.exponent + b.exponent + 2 * LOW;
        p = normalise(p);
    }
    return p;
}

/* The sum of two numbers. The smaller is shifted to the exponent of the larger, its lowest bit made
 * sticky. Bits are lost so only if the exponents differ by more than TOP + 1 - 106, when a
 * difference cancels one leading bit at most: the sticky bit stays far below the rounding point. */
static inline struct number add(struct number a, struct number b)
{
    if (a.kind == NOT_A_NUMBER || b.kind == NOT_A_NUMBER)
        return not_a_number();
    if (a.kind == INFINITE || b.kind == INFINITE) {
        if (a.kind == b.kind && a.negative != b.negative)
            return not_a_number();
        return a.kind == INFINITE ? a : b;
    }
    if (a.kind == ZERO && b.kind == ZERO)
        return (struct number){.kind = ZERO, .negative = a.negative && b.negative};
    if (a.kind == ZERO || b.kind == ZERO)
        return a.kind == ZERO ? b : a;

    bool swap =
        a.exponent < b.exponent || (a.exponent == b.exponent && a.significand < b.significand);
    struct number big = swap ? b : a, small = swap ? a : b;
    int shift = big.exponent - small.exponent;
    assay_uint128 aligned =
        shift > TOP + 1 ? 1
                        : (assay_uint128)assay_round_shift128((assay_int128)small.significand,
                                                              (unsigned)shift, ASSAY_ROUND_ODD);
    if (big.negative == small.negative)
        big.significand += aligned;
    else
        big.significand -= aligned;
    if (big.significand == 0) /* x - x is +0 */
        return (struct number){.kind = ZERO};
    return normalise(big);
}

static inline struct number negate(struct number a)
{
    a.negative = !a.negative;
    return a;
}

/* A quotient of 63 or 64 bits, the lowest sticky, is enough for 53 bits and a rounding. */
static inline struct number divide(struct number a, struct number b)
{
    struct number q = {.negative = a.negative != b.negative};
    if (a.kind == NOT_A_NUMBER || b.kind == NOT_A_NUMBER ||
        (a.kind == b.kind && (a.kind == ZERO || a.kind == INFINITE)))
        return not_a_number();
    if (a.kind == INFINITE || b.kind == ZERO) {
        q.kind = INFINITE;
    } else if (a.kind == FINITE && b.kind == FINITE) {
        enum { LOW = 63 };
        uint64_t divisor = (uint64_t)(b.significand >> LOW); /* 62 bits: b has 53 */
        q.kind = FINITE;
        q.significand = a.significand / divisor;
        q.significand |= q.significand * divisor != a.significand;
        q.exponent = a.exponent - b.exponent - LOW;
        q = normalise(q);
    }
    return q;
}

/* The root of a binary32: its 24 bits are brought to an integer of 53 or 54 bits times an even
 * power of two, whose root has 27, found bit by bit; the lowest is made sticky. */
static inline struct number square_root(struct number a)
{
    if (a.kind == NOT_A_NUMBER || (a.negative && a.kind != ZERO))
        return not_a_number();
    if (a.kind != FINITE)
        return a;
    enum { LOW = TOP - 52 };
    uint64_t rest = (uint64_t)(a.significand >> LOW), root = 0;
    a.exponent += LOW;
    if (a.exponent % 2 != 0) {
        rest <<= 1;
        a.exponent -= 1;
    }
    for (uint64_t bit = (uint64_t)1 << 26; bit != 0; bit >>= 1) {
        uint64_t step = (2 * root + bit) * bit; /* (root + bit)^2 - root^2 */
        if (rest >= step) {
            rest -= step;
            root += bit;
        }
    }
    a.significand = root | (rest != 0);
    a.exponent /= 2;
    return normalise(a);
}

/* The integer nearest by `mode`, saturated to int64; a is FINITE or ZERO. */
static inline int64_t to_integer(struct number a, enum assay_rounding mode)
{
    if (a.kind == ZERO)
        return 0;
    if (a.exponent + TOP >= 63)
        return a.negative ? INT64_MIN : INT64_MAX;
    int drop = -a.exponent;
    assay_int128 value = a.negative ? -(assay_int128)a.significand : (assay_int128)a.significand;
    return (int64_t)assay_round_shift128(value, drop < 127 ? (unsigned)drop : 127, mode);
}

static inline int64_t to_integer_in(struct format f, uint64_t bits, enum assay_rounding mode,
                                    int64_t lo, int64_t hi, int64_t nan)
{
    struct number x = unpack(f, bits);
    if (x.kind == NOT_A_NUMBER)
        return nan;
    if (x.kind == INFINITE)
        return x.negative ? lo : hi;
    return apply_clamp_to(to_integer(x, mode), lo, hi);
}

static inline uint64_t round_to_integral(struct format f, uint64_t bits, enum assay_rounding mode)
{
    struct number x = unpack(f, bits);
    if (x.kind == FINITE && x.exponent + TOP < f.precision) {
        struct number r = from_integer(to_integer(x, mode));
        r.negative = x.negative;
        x = r;
    }
    return pack(f, x);
}

/* Orders finite and infinite encodings as integers: -0 and +0 both become 0. */
static inline int64_t order(struct format f, uint64_t bits)
{
    int64_t magnitude = (int64_t)(bits & (sign_bit(f, true) - 1));
    return bits & sign_bit(f, true) ? -magnitude : magnitude;
}

/* ---- what is called: once a width ---- */

#define OPERATIONS(NAME, FORMAT, bits)                                                             \
    bits apply_##NAME##_from_i64(int64_t x)                                                        \
    {                                                                                              \
        return (bits)pack(FORMAT, from_integer(x));                                                \
    }                                                                                              \
    bits apply_##NAME##_add(bits a, bits b)                                                        \
    {                                                                                              \
        return (bits)pack(FORMAT, add(unpack(FORMAT, a), unpack(FORMAT, b)));                      \
    }                                                                                              \
    bits apply_##NAME##_sub(bits a, bits b)                                                        \
    {                                                                                              \
        return (bits)pack(FORMAT, add(unpack(FORMAT, a), negate(unpack(FORMAT, b))));              \
    }                                                                                              \
    bits apply_##NAME##_div(bits a, bits b)                                                        \
    {                                                                                              \
        return (bits)pack(FORMAT, divide(unpack(FORMAT, a), unpack(FORMAT, b)));                   \
    }                                                                                              \
    bits apply_##NAME##_fma(bits a, bits b, bits c)                                                \
    {                                                                                              \
        struct number product = multiply(unpack(FORMAT, a), unpack(FORMAT, b));                    \
        return (bits)pack(FORMAT, add(product, unpack(FORMAT, c)));                                \
    }                                                                                              \
    bits apply_##NAME##_round(bits a, enum assay_rounding mode)                                    \
    {                                                                                              \
        return (bits)round_to_integral(FORMAT, a, mode);                                           \
    }                                                                                              \
    bool apply_##NAME##_lt(bits a, bits b)                                                         \
    {                                                                                              \
        return !apply_##NAME##_is_nan(a) && !apply_##NAME##_is_nan(b) &&                           \
               order(FORMAT, a) < order(FORMAT, b);                                                \
    }                                                                                              \
    bool apply_##NAME##_le(bits a, bits b)                                                         \
    {                                                                                              \
        return !apply_##NAME##_is_nan(a) && !apply_##NAME##_is_nan(b) &&                           \
               order(FORMAT, a) <= order(FORMAT, b);                                               \
    }                                                                                              \
    bits apply_##NAME##_min(bits a, bits b)                                                        \
    {                                                                                              \
        return apply_##NAME##_lt(b, a) ? b : a;                                                    \
    }                                                                                              \
    bits apply_##NAME##_max(bits a, bits b)                                                        \
    {                                                                                              \
        return apply_##NAME##_lt(a, b) ? b : a;                                                    \
    }                                                                                              \
    bits apply_##NAME##_clamp(bits a, bits lo, bits hi)                                            \
    {                                                                                              \
        return apply_##NAME##_min(apply_##NAME##_max(a, lo), hi);                                  \
    }

OPERATIONS(f32, binary32, uint32_t)
OPERATIONS(f64, binary64, uint64_t)

/* ---- those with a name of their own, or of one width ---- */

uint32_t apply_f32_from_f64(uint64_t a)
{
    return (uint32_t)pack(binary32, unpack(binary64, a));
}
uint64_t apply_f64_from_f32(uint32_t a)
{
    return pack(binary64, unpack(binary32, a));
}
uint32_t apply_f32_mul_full(uint32_t a, uint32_t b)
{
    return (uint32_t)pack(binary32, multiply(unpack(binary32, a), unpack(binary32, b)));
}
uint64_t apply_f64_mul(uint64_t a, uint64_t b)
{
    return pack(binary64, multiply(unpack(binary64, a), unpack(binary64, b)));
}
uint32_t apply_f32_sqrt(uint32_t a)
{
    return (uint32_t)pack(binary32, square_root(unpack(binary32, a)));
}
int64_t apply_f32_to_int_full(uint32_t a, enum assay_rounding mode, int64_t lo, int64_t hi,
                              int64_t nan)
{
    return to_integer_in(binary32, a, mode, lo, hi, nan);
}
int64_t apply_f64_to_int(uint64_t a, enum assay_rounding mode, int64_t lo, int64_t hi, int64_t nan)
{
    return to_integer_in(binary64, a, mode, lo, hi, nan);
}
