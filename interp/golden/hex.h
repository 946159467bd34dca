/* $readmemh text: a tensor's elements in words of a memory, one word per line.
 *
 * An element takes the low `bits` of its own bit pattern (two's complement; IEEE for floats; 1 for
 * bool), elements come in C order. A word of W bits holds as many elements as fit whole, the first
 * of them in the least significant place, and zeros above them; the last word may be short of
 * elements. An element of more than W bits takes several words, its least significant bits in the
 * first. A word is printed in (W + 3) / 4 hexadecimal digits. */
#ifndef ASSAY_INTERP_HEX_H
#define ASSAY_INTERP_HEX_H

#include <stdio.h>

#include "graph/core/type.h"

#define ASSAY_HEX_MAX_BITS 1024

/* Bit pattern of element i, its low bits; of floats IEEE's. */
uint64_t golden_hex_pattern(const assay_type *type, const void *data, int64_t i);

/* word_bits: 0 stands for the element's own. At most ASSAY_HEX_MAX_BITS. */
void golden_hex_print(FILE *f, const assay_type *type, const void *data, unsigned word_bits);

/* Reads as many elements as `type` has into `data` (its container). With word_bits 0 the width is
 * found from the digits and the number of words: all bits of the digits where that fits; where two
 * others would do, it must be given. Comments,
 * '_' within digits, and addresses (@1f) that go on without a gap are taken; x and z are refused,
 * as are bits above the elements that are neither zeros nor copies of the sign. `name` is for
 * messages. */
assay_status golden_hex_parse(const char *name, const char *text, const assay_type *type,
                              unsigned word_bits, void *data, assay_error *err);

#endif
