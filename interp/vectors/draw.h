/* Rows aimed at what rescales differ in: ties, the edges of registers and of codes, powers of two,
 * the ends of the accumulator; and rows at random. */
#ifndef ASSAY_INTERP_VECTORS_DRAW_H
#define ASSAY_INTERP_VECTORS_DRAW_H

#include "interp/vectors/rows.h"

#define VECTORS_PER_SETTING 32 /* accumulators of one multiplier and zero point (or scale) */

/* Appends `settings` times VECTORS_PER_SETTING rows, which depend only on the record of `side`,
 * the space and the seed. False: out of memory. */
bool vectors_draw(const assay_scheme *side, const vectors_space *space, size_t settings,
                  uint64_t seed, vectors_rows *rows);

#endif
