/* Dots of 16 columns at a time, of units whose steps are IEEE operations in binary32, which the
 * processor has: fused multiply-adds in order; products rounded, added by pairs and to the running
 * value; and sums rounded once, exact in pairs of binary64. NaN results are not computed here,
 * their pattern is the unit's own, nor what a flush may change, nor exact sums next to a tie: `odd`
 * says so. */
#ifndef ASSAY_SCHEMES_MAC_CHAIN_H
#define ASSAY_SCHEMES_MAC_CHAIN_H

#include "schemes/mac/mac.h"
#include "schemes/vtable.h"

enum { MAC_CHAIN = 16 };

/* Elements that f32 holds, steps in order, each sum rounded half to even. */
bool mac_chain_takes(const assay_mac *m);
/* An element as the unit reads it. */
float mac_chain_number(const assay_mac *m, int64_t format, uint32_t pattern);
/* y[j] = the unit's dot of a[0..n) and b[0..n,j], from +0; b [n,MAC_CHAIN]; odd[j]: not to be used;
 * stays so. */
typedef void (*mac_chain_fn)(const assay_mac *m, const float *a, const float *b, size_t n,
                             float y[MAC_CHAIN], bool odd[MAC_CHAIN]);
/* The same numbers on every instruction set; `isa` is one that the machine has. */
mac_chain_fn mac_chain_choose(enum assay_isa isa);

#endif
