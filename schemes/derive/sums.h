/* Rules by which a prepared unit of a parameter record adds up products: for code that checks
 * claims about its sums. Of a plugin's units nothing is known here; it says what it knows
 * (vtable.h: facts). */
#ifndef ASSAY_SCHEMES_SUMS_H
#define ASSAY_SCHEMES_SUMS_H

#include "schemes/vtable.h"

int derive_unit_sum_bits(const assay_unit *u); /* of the accumulator */
/* Two products may saturate before they are added. */
bool derive_unit_saturates_pairs(const assay_unit *u);
/* The rules of both accumulators are the same. */
bool derive_unit_adds_alike(const assay_unit *a, const assay_unit *b);
/* How many forms the unit's rescale of sums has: one, or one for each channel. Of any unit that
 * was prepared for products. */
size_t derive_unit_forms(const assay_unit *u);
/* Whether codes follow sums of this magnitude at most, `greatest`, before and after the
 * accumulator: two sums that differ by d give codes that differ by at most d * ratio * (1 + 2^-6)
 * and 3, ratio being the real scale (of the channel). false: something wraps on the way, the
 * multiplier is too coarse, or it is not known. */
bool derive_unit_follows(const assay_unit *u, double greatest, double ratio);

#endif
