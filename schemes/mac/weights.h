/* clang-format off */
/* Weights in llama.cpp's blocks: codes of few bits, under scales that are themselves codes under an f16.
 * Integers only.
 *
 *   format  block  part  codes            a weight is                         exact in binary32
 *   q4_0       32    32  0 .. 15          d * (q - 8)                         yes
 *   q8_0       32    32  -128 .. 127      d * q                               yes
 *   q4_K      256    32  0 .. 15          (d * s) * q - (d_min * m)           but for the difference
 *   q6_K      256    16  0 .. 63          (d * s) * (q - 32)                  yes
 *
 * block: elements of a row that share d (and d_min), f16; part: those that share a scale s (q4_K: 0 .. 63, q6_K:
 * -128 .. 127) and a minimum m (0 .. 63). The numbers are those of ggml's blocks; how it packs their bits is not.
 *
 * How codes are chosen, each step one of binary32, half to even, where no rounding is named; 1 / 0 and x / 0 count
 * as 0, codes are kept within their range, f16() rounds to nearest, ties to even:
 *
 *   q4_0  x* the first element of greatest magnitude, t = x* / -8, d = f16(t),
 *         q = trunc(x * (1 / t) + 8.5)                                          (ggml's reference)
 *   q8_0  t = (greatest magnitude) / 127, d = f16(t), q = half-away(x * (1 / t))  (ggml's reference)
 *   q4_K  of each part lo = min(0, least), t = (greatest or 0 - lo) / 15, u = -lo;
 *         d = f16((greatest t) / 63), d_min = f16((greatest u) / 63); s = half-even(t / d), m = half-even(u / d_min),
 *         q = half-even((x + d_min * m) / (d * s))
 *   q6_K  of each part t = x* / -32; T the first t of greatest magnitude, d = f16(T / -128), s = half-even(t / d),
 *         q = half-even(x / (d * s)) + 32
 *
 * llama.cpp searches for better scales of the last two; these are chosen so that they can be done again. */
/* clang-format on */
#ifndef ASSAY_SCHEMES_MAC_WEIGHTS_H
#define ASSAY_SCHEMES_MAC_WEIGHTS_H

#include <stddef.h>
#include <stdint.h>

#include "graph/base.h"

enum { MAC_WEIGHTS_BLOCK = 256, MAC_WEIGHTS_PARTS = 16 };

typedef struct mac_weights_block {
    uint32_t d, d_min; /* f16 */
    int32_t scale[MAC_WEIGHTS_PARTS], min[MAC_WEIGHTS_PARTS];
    int32_t code[MAC_WEIGHTS_BLOCK];
} mac_weights_block;

typedef struct mac_weights_format {
    const char *name;
    int block, part;
    assay_elem code;
    int32_t zero;
    assay_elem scale; /* kind NONE: d is the only scale */
    bool mins;
    void (*choose)(const int32_t *x, mac_weights_block *b);
} mac_weights_format;

/* The format with this name, or NULL; the names of all, in order, NULL at the end. */
const mac_weights_format *mac_weights_find(const char *name);
extern const char *const mac_weights_names[];
/* Encodes one block of f32 patterns. False: an element is not finite, or d or d_min would not be.
 */
bool mac_weights_encode(const mac_weights_format *f, const int32_t *x, mac_weights_block *b);

#endif
