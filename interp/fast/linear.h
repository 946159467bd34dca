/* Sums and differences of two one-byte codes as one linear function of floats. Which float function
 * gives a unit's codes is not argued: all 65,536 pairs are tried when a program is made, by the
 * loop that will run, and what differs in one is not used. */
#ifndef ASSAY_INTERP_FAST_LINEAR_H
#define ASSAY_INTERP_FAST_LINEAR_H

#include "interp/fast/fast.h"

/* Whether some function linear in the codes of inputs 0 and 1 of an addition or subtraction gives
 * table[byte of a][byte of b] for every pair of codes that there is. */
bool fast_linear_find(const assay_fast_setup *s, const uint8_t *table, assay_linear *out);

#endif
