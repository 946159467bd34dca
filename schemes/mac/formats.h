/* Small floats as integers: a pattern's sign, significand and exponent, and back with one rounding.
 *
 * Integers only (compiled with integer_only); the rounding is schemes/round.h's.
 */
#ifndef ASSAY_SCHEMES_MAC_FORMATS_H
#define ASSAY_SCHEMES_MAC_FORMATS_H

#include "schemes/mac/formats.def"
#include "schemes/round.h"

#define ASSAY_MAC_FLOAT_ID(ID, name, bits, exponent, fraction, bias, specials)  ASSAY_MAC_##ID,
#define ASSAY_MAC_FLOAT_ONE(ID, name, bits, exponent, fraction, bias, specials) +1
enum assay_mac_format { ASSAY_MAC_FLOATS(ASSAY_MAC_FLOAT_ID) };
enum { ASSAY_MAC_FORMATS = 0 ASSAY_MAC_FLOATS(ASSAY_MAC_FLOAT_ONE) };

enum assay_mac_specials {
    ASSAY_MAC_IEEE,
    ASSAY_MAC_FN,
    ASSAY_MAC_FNUZ,
    ASSAY_MAC_FINITE,
    ASSAY_MAC_SCALE,
    ASSAY_MAC_INTEGER
};

/* A line of formats.def. bits <= 64, exponent_bits <= 11, fraction_bits <= 52, of which the last
 * two lie within the first (formats.c asserts it of every line). */
typedef struct assay_mac_layout {
    const char *name;
    int bits, exponent_bits, fraction_bits, bias;
    enum assay_mac_specials specials;
} assay_mac_layout;

/* The layout of a format; it lives as long as the program. */
const assay_mac_layout *mac_layout_of(enum assay_mac_format f);
/* True, with *f set, if `name` is a format's name. */
bool mac_format_parse(const char *name, enum assay_mac_format *f);
/* False: the format has no sign, or ignores it. */
bool mac_is_signed(enum assay_mac_format f);
/* The pattern with this sign (if the format has one), exponent field and fraction. Not for int8mx.
 */
uint64_t mac_pattern_of(enum assay_mac_format f, bool negative, uint64_t magnitude);

enum assay_mac_kind {
    ASSAY_MAC_NUMBER, /* zero too, with significand 0 */
    ASSAY_MAC_INF,
    ASSAY_MAC_NAN
};

/* A NUMBER is (-1)^negative * significand * 2^exponent. A decoded number keeps its format's own
 * bits: `unit` is the exponent of the bit before the binary point (of a subnormal, the least normal
 * exponent), so exponent = unit - fraction bits. */
typedef struct assay_mac_value {
    enum assay_mac_kind kind;
    bool negative;
    int unit, exponent;
    uint64_t significand;
} assay_mac_value;

/* The value of a pattern of format f; bits above the format's are ignored. The exponent of an
 * int8mx is 0. */
assay_mac_value mac_decode(enum assay_mac_format f, uint64_t pattern);

/* How a number is rounded to a format. */
typedef struct assay_mac_rounding {
    enum assay_rounding mode;
    int fraction_bits; /* of the result; at most the format's: bits below are 0 */
    bool saturate;     /* overflow gives the largest number; else Inf, or NaN where there is none */
} assay_mac_rounding;

/* The pattern of v in format f (not e8m0 or ue4m3): rounded once, with gradual underflow; `unit` is
 * not read. A NaN gives the quiet NaN with the fewest fraction bits set (FINITE: the largest
 * number, as in ONNX's Cast to float4); Inf gives what overflow gives, but NaN in a FNUZ format.
 * Saturating Inf and NaN follow the tables of ONNX's Cast, opsets 19 to 23. An int8mx is clamped to
 * -127 and 127 units of 2^-6, whatever `how` says about fraction bits and overflow. */
uint64_t mac_encode(enum assay_mac_format f, const assay_mac_value *v,
                    const assay_mac_rounding *how);

#endif
