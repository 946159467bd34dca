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

/* A line of formats.def. */
typedef struct assay_mac_layout {
    const char *name;
    int bits, exponent_bits, fraction_bits, bias;
    enum assay_mac_specials specials;
} assay_mac_layout;

/* The layout of a format; it lives as long as the program. */
const assay_mac_layout *mac_layout_of(enum assay_mac_format f);
/* True and *f set when `name` is a format's name, else false. */
bool mac_format_parse(const char *name, enum assay_mac_format *f);
/* False: its patterns have no sign, or it is ignored. */
bool mac_is_signed(enum assay_mac_format f);
/* The pattern of a sign (of formats that have one), and of an exponent field and fraction. Any but
 * int8mx. */
uint64_t mac_pattern_of(enum assay_mac_format f, bool negative, uint64_t magnitude);

enum assay_mac_kind {
    ASSAY_MAC_NUMBER, /* zero too: significand 0 */
    ASSAY_MAC_INF,
    ASSAY_MAC_NAN
};

/* A NUMBER is (-1)^negative * significand * 2^exponent. Decoded numbers keep the format's own
 * digits: `unit` is the exponent of the digit before the binary point (of a subnormal, the least
 * normal exponent), so exponent = unit - fraction bits. */
typedef struct assay_mac_value {
    enum assay_mac_kind kind;
    bool negative;
    int unit, exponent;
    uint64_t significand;
} assay_mac_value;

/* What a pattern of format f stands for; bits above the format's are ignored. The exponent of an
 * int8mx is 0. */
assay_mac_value mac_decode(enum assay_mac_format f, uint64_t pattern);

/* How a number enters a format. */
typedef struct assay_mac_rounding {
    enum assay_rounding mode;
    int fraction_bits; /* of the result; at most the format's, lower digits are 0 */
    bool saturate;     /* overflow gives the largest number; else Inf, NaN where there is none */
} assay_mac_rounding;

/* The pattern of v in format f (any but e8m0 and ue4m3): rounded once, with gradual underflow;
 * `unit` is not read. A NaN gives the quiet one of fewest digits (FINITE: the largest number, as
 * ONNX's Cast to float4 has it); Inf what overflow gives, but NaN in a FNUZ format. Saturating Inf
 * and NaN follow the tables of ONNX's Cast, opsets 19 to 23. An int8mx is kept within -127 and 127
 * units of 2^-6, whatever `how` says of fraction bits and of overflow. */
uint64_t mac_encode(enum assay_mac_format f, const assay_mac_value *v,
                    const assay_mac_rounding *how);

#endif
