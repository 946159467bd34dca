/* Kind scale: R so small that a rule gives every accumulator what it gives 0. */
#ifndef ASSAY_INTERP_INFER_FLAT_H
#define ASSAY_INTERP_INFER_FLAT_H

#include "interp/infer/reach.h"

/* Whether a rule does so at every R that its encoding, limits included, gives a right shift above
 * `shift`. False: it may not, or it refuses some. */
bool infer_is_flat(const infer_task *t, const infer_rule *k, int32_t shift);
/* Whether a rule does so beyond its shift_max both with that limit and without, so that the limit
 * has no effect. */
bool infer_is_unlimited(const infer_task *t, const infer_rule *k);

#endif
