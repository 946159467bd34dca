/* Random bit patterns of a format of matrix units. */
#ifndef ASSAY_INTERP_INFER_DOT_NUMBERS_H
#define ASSAY_INTERP_INFER_DOT_NUMBERS_H

#include <stdbool.h>
#include <stdint.h>

#include "interp/infer/dot/rows.h"
#include "interp/rows/random.h"

/* A number in lo..hi; lo if hi is not above it. */
int64_t infer_dot_among(rows_random *r, int64_t lo, int64_t hi);
/* Exponents of the format's normal numbers. */
void infer_dot_exponents(enum assay_mac_format f, int *lo, int *hi);
/* A normal number with this exponent, or with the nearest that the format has; plain: a power of
 * two. */
uint64_t infer_dot_number(rows_random *r, enum assay_mac_format f, bool negative, int64_t e,
                          bool plain);
/* Any pattern, from one end of the exponents or the other where `end` is given: -1, 1. */
uint64_t infer_dot_any(rows_random *r, enum assay_mac_format f, int end);
/* Zeros, infinities, NaN and their neighbours. */
uint64_t infer_dot_special(rows_random *r, enum assay_mac_format f);
/* Digits of the product of two patterns, from its first 1 to its last; 0: none, or more than 64. */
int infer_dot_product_digits(enum assay_mac_format of_a, uint64_t a, enum assay_mac_format of_b,
                             uint64_t b);

#endif
