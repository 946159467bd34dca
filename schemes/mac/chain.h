/* Dot products of 16 columns at a time, for units whose steps are IEEE operations, which the
 * processor has: in binary32 fused multiply-adds in order; products rounded, added by pairs and to
 * the running value; and sums rounded once, exact in pairs of binary64. With another rounding, or
 * results of f16 or bf16, the first two are sums of binary64, rounded to odd (rounded.h). Not
 * computed here, and marked in `odd`: NaN results, whose pattern the unit chooses; results that a
 * flush may change; exact sums next to a tie. */
#ifndef ASSAY_SCHEMES_MAC_CHAIN_H
#define ASSAY_SCHEMES_MAC_CHAIN_H

#include "schemes/mac/mac.h"
#include "schemes/vtable.h"

enum { MAC_CHAIN = 16 };

/* Whether it is such a unit: elements that f32 can represent, steps in order. */
bool mac_chain_takes(const assay_mac *m);
/* An element's value as the unit reads it; or the value of its leading `digits` bits, or of as many
 * bits after those. ASSAY_MAC_NONE: all. */
float mac_chain_number(const assay_mac *m, int64_t format, int64_t digits, bool second,
                       uint32_t pattern);
/* y[j] = the unit's dot product of a[0..n) and b[0..n,j], from +0; b [n,MAC_CHAIN]. odd[j] is set
 * where y[j] must not be used, and is never cleared. */
typedef void (*mac_chain_fn)(const assay_mac *m, const float *a, const float *b, size_t n,
                             float y[MAC_CHAIN], bool odd[MAC_CHAIN]);
/* The same results on every instruction set; `isa` must be one that the machine has. */
mac_chain_fn mac_chain_choose(enum assay_isa isa);

#endif
