/* Requantization of int32 accumulators, as numbers: for an engine that makes codes of them while
 * they are in its registers. */
#ifndef ASSAY_SCHEMES_NARROW_H
#define ASSAY_SCHEMES_NARROW_H

#include "schemes/vtable.h"

/* FLOAT    y = float(acc) * factor in binary32, factor being its bits, rounded half to even
 * HALF_UP  y = floor((acc * factor + 2^(shift-1)) / 2^shift)
 * DOUBLE   q = floor((acc * factor + 2^30) / 2^31), y = q / 2^(shift-31) rounded half away from 0
 *
 * The code is y + zero_point, kept between lo and hi: codes of one signed or one unsigned byte.
 * factor >= 0 (an integer one below 2^31), 32 <= shift <= 62, |zero_point| < 2^14, and no |y| comes
 * nearer to 2^31 than 2^24. */
typedef struct assay_narrow_form {
    enum assay_narrow_by { ASSAY_NARROW_FLOAT, ASSAY_NARROW_HALF_UP, ASSAY_NARROW_DOUBLE } by;
    int32_t zero_point, lo, hi;
    int64_t factor; /* of the channel asked for, as the next one; the others are alike in all */
    int32_t shift;
} assay_narrow_form;

/* False: the rescale is none of these, or a plugin's, which does not state it. */
bool assay_scheme_narrow(const assay_scheme_vtable *vt, const assay_unit *u, size_t channel,
                         assay_narrow_form *out);

#endif
