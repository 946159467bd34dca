/* The one place where Assay rounds.
 *
 * An exact real value n / 2^s or n / d is turned into an integer by one of the rules of round.def;
 * every other file that must round calls one of the functions below, so a truth table printed
 * from here is the truth of every kernel. Beside them: saturation and wrap-around, the only two
 * ways by which a value is narrowed.
 *
 * Integers only; compiled with -mgeneral-regs-only. Two's complement is assumed where an
 * out-of-range value is converted to a signed type, as gcc and clang define it.
 *
 * Each function asserts the shifts and widths that it takes; a release build (NDEBUG) has no
 * asserts.
 */
#ifndef ASSAY_SCHEMES_ROUND_H
#define ASSAY_SCHEMES_ROUND_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include "schemes/round.def"

typedef __int128 assay_int128;
typedef unsigned __int128 assay_uint128;

#define ASSAY_ROUNDING_ID(ID, name, text, words, ieee, addend)  ASSAY_ROUND_##ID,
#define ASSAY_ROUNDING_ONE(ID, name, text, words, ieee, addend) +1
enum assay_rounding { ASSAY_ROUNDINGS(ASSAY_ROUNDING_ID) };
enum { ASSAY_ROUND_COUNT = 0 ASSAY_ROUNDINGS(ASSAY_ROUNDING_ONE) };

/* "half-up" and so on; NULL for a value outside the enumeration. */
const char *assay_rounding_name(enum assay_rounding mode);
/* The reverse: true and *mode set when `name` is one of these names, else false. */
bool assay_rounding_parse(const char *name, enum assay_rounding *mode);

/* "nearest, ties toward +infinity" and so on; NULL for a value outside the enumeration. */
const char *assay_rounding_words(enum assay_rounding mode);

/* Defines NAME(mode, ...), the addend of round.def, for numbers of one type: an unsigned integer,
 * or a compiler's vector of them. */
#define ASSAY_ROUNDING_CASE(ID, name, text, words, ieee, addend)                                   \
    case ASSAY_ROUND_##ID:                                                                         \
        return addend;
#define ASSAY_ROUNDING_ADDEND(NAME, type)                                                          \
    static inline __attribute__((always_inline)) type NAME(                                        \
        const enum assay_rounding mode, type half, type ones, type negative, type odd, type some)  \
    {                                                                                              \
        const type zero = ones ^ ones;                                                             \
        switch (mode) {                                                                            \
            ASSAY_ROUNDINGS(ASSAY_ROUNDING_CASE)                                                   \
        }                                                                                          \
        return zero;                                                                               \
    }
ASSAY_ROUNDING_ADDEND(assay_rounding_addend, uint64_t)

/* Does a value q + fraction / 2^64, q its floor, round to q + 1 (true) or to q? `negative` is the
 * sign of the value, `odd` the low bit of q. The addend carries into q. */
static inline bool assay_rounds_up(enum assay_rounding mode, bool negative, bool odd,
                                   uint64_t fraction)
{
    const uint64_t addend = assay_rounding_addend(
        mode, UINT64_C(1) << 63, UINT64_MAX, 0 - (uint64_t)negative, 0 - (uint64_t)odd, UINT64_MAX);
    return fraction > ~addend; /* their sum carries */
}

/* floor(n / 2^s), 0 <= s <= 63 (127): the arithmetic shift, without relying on C's `>>` of a
 * negative number, which the language leaves to the compiler. */
static inline int64_t apply_shift_right(int64_t n, unsigned s)
{
    assert(s <= 63);
    return n < 0 ? ~(~n >> s) : n >> s;
}
static inline assay_int128 apply_shift_right128(assay_int128 n, unsigned s)
{
    assert(s <= 127);
    return n < 0 ? ~(~n >> s) : n >> s;
}

/* n / 2^s rounded by `mode`; 0 <= s <= 127, any n. Of a fraction of more than 64 bits the lowest is
 * sticky: it tells whether the rest is zero, which is all that any rule asks. */
static inline assay_int128 assay_round_shift128(assay_int128 n, unsigned s,
                                                enum assay_rounding mode)
{
    assert(s <= 127);
    if (s == 0)
        return n;
    assay_int128 q = apply_shift_right128(n, s);
    assay_uint128 fraction = (assay_uint128)n << (128 - s);
    uint64_t top = (uint64_t)(fraction >> 64) | ((uint64_t)fraction != 0);
    return q + assay_rounds_up(mode, n < 0, q & 1, top);
}

/* n / 2^s rounded by `mode`; any s, any n. Beyond s = 65 every value is nearer to 0 than 1/2 and
 * the result no longer depends on s. */
static inline int64_t assay_round_shift(int64_t n, unsigned s, enum assay_rounding mode)
{
    if (s == 0)
        return n;
    if (s > 63)
        return (int64_t)assay_round_shift128(n, s < 65 ? s : 65, mode);
    int64_t q = apply_shift_right(n, s);
    return q + assay_rounds_up(mode, n < 0, q & 1, (uint64_t)n << (64 - s));
}

/* n / d rounded by `mode`; d must not be 0. INT64_MIN / -1 saturates to INT64_MAX. */
int64_t assay_round_div(int64_t n, int64_t d, enum assay_rounding mode);
/* The same for 128 bits: |n| < 2^127, 0 < d. */
assay_int128 assay_round_div128(assay_int128 n, int64_t d, enum assay_rounding mode);

/* ---- narrowing ---- */

static inline int64_t apply_clamp_to(int64_t x, int64_t lo, int64_t hi)
{
    return x < lo ? lo : x > hi ? hi : x;
}

/* The range of a signed integer of `bits` bits, 1..64. */
static inline int64_t apply_int_min(unsigned bits)
{
    assert(bits >= 1 && bits <= 64);
    return -1 - (int64_t)(((uint64_t)1 << (bits - 1)) - 1);
}
static inline int64_t apply_int_max(unsigned bits)
{
    assert(bits >= 1 && bits <= 64);
    return (int64_t)(((uint64_t)1 << (bits - 1)) - 1);
}

/* x saturated to a signed (1..64 bits) or unsigned (1..63 bits) integer. */
static inline int64_t apply_saturate(int64_t x, unsigned bits)
{
    return apply_clamp_to(x, apply_int_min(bits), apply_int_max(bits));
}
static inline int64_t apply_saturate_unsigned(int64_t x, unsigned bits)
{
    assert(bits >= 1 && bits <= 63);
    return apply_clamp_to(x, 0, apply_int_max(bits + 1));
}
static inline int64_t apply_saturate128(assay_int128 x, unsigned bits)
{
    return x < apply_int_min(bits)   ? apply_int_min(bits)
           : x > apply_int_max(bits) ? apply_int_max(bits)
                                     : (int64_t)x;
}

/* The low `bits` bits of x, 1..64, read as a signed integer: two's complement wrap-around. */
static inline int64_t apply_wrap(int64_t x, unsigned bits)
{
    assert(bits >= 1 && bits <= 64);
    uint64_t top = (uint64_t)1 << (bits - 1);
    uint64_t low = (uint64_t)x & (top + top - 1);
    return (int64_t)((low ^ top) - top);
}
/* The low `bits` bits of x, 1..63, read as an unsigned integer. */
static inline int64_t apply_wrap_unsigned(int64_t x, unsigned bits)
{
    assert(bits >= 1 && bits <= 63);
    return (int64_t)((uint64_t)x & (((uint64_t)1 << bits) - 1));
}

/* x * 2^s in a signed integer of `bits` bits, 1..64; x must fit `bits`, any s.
 * Overflow wraps in the first, saturates in the second. */
static inline int64_t apply_shift_left_wrap(int64_t x, unsigned s, unsigned bits)
{
    return s > 63 ? 0 : apply_wrap((int64_t)((uint64_t)x << s), bits);
}
static inline int64_t apply_shift_left_saturate(int64_t x, unsigned s, unsigned bits)
{
    if (s > 63)
        return x > 0 ? apply_int_max(bits) : x < 0 ? apply_int_min(bits) : 0;
    return apply_saturate128((assay_int128)x * ((assay_int128)1 << s), bits);
}

/* x * 2^s, any s, |x| < 2^126. Exact while it stays below 2^126; beyond, a number of the same sign,
 * of at least 2^100, with the low 64 bits of the product: no narrowing to 64 bits or fewer, by
 * wrapping or by saturation, tells it from the product. */
static inline assay_int128 apply_shift_left128(assay_int128 x, unsigned s)
{
    const assay_int128 limit = (assay_int128)1 << 126, far = (assay_int128)1 << 100;
    if (s < 126 && x < (limit >> s) && x > -(limit >> s))
        return x * ((assay_int128)1 << s);
    const uint64_t low = s > 63 ? 0 : (uint64_t)x << s;
    return x == 0 ? 0 : (x > 0 ? far : -far) + (assay_int128)low;
}

#endif
