/* Dots of 16 columns at a time, of units that are chains of IEEE fused multiply-adds in binary32:
 * the processor's instruction is the step. NaN results are not computed here: their pattern is the
 * unit's own. */
#ifndef ASSAY_SCHEMES_MAC_CHAIN_H
#define ASSAY_SCHEMES_MAC_CHAIN_H

#include "schemes/mac/mac.h"
#include "schemes/vtable.h"

enum { MAC_CHAIN = 16 };

/* Elements that f32 holds, one step a product in order, rounded half to even, nothing flushed. */
bool mac_chain_takes(const assay_mac *m);
/* y[j] = a[n-1] b[n-1,j] + (... + (a[0] b[0,j] + 0)), b [n,MAC_CHAIN]. */
typedef void (*mac_chain_fn)(const float *a, const float *b, size_t n, float y[MAC_CHAIN]);
/* The same numbers on every instruction set; `isa` is one that the machine has. */
mac_chain_fn mac_chain_choose(enum assay_isa isa);

#endif
