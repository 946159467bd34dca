/* Parameters with which inner loops turn accumulators into codes without storing them. */
#ifndef ASSAY_INTERP_FAST_NARROW_H
#define ASSAY_INTERP_FAST_NARROW_H

#include "interp/fast/fast.h"

/* For n lanes, a multiple of 16; lane i is of channel[i], or of none where that is negative. bound:
 * no accumulator lies beyond it. out->lanes is NULL where the node's rescale or the instruction set
 * has no such form, or integers would not fit when doubled. False: no memory. */
bool fast_narrower_make(const assay_fast_setup *s, int64_t bound, const int32_t *channel, int64_t n,
                        assay_narrower *out);
void fast_narrower_free(assay_narrower *w);

#endif
