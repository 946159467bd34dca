/* Kind scale: R so small that a rule gives every accumulator what it gives 0. */
#ifndef ASSAY_INTERP_INFER_FLAT_H
#define ASSAY_INTERP_INFER_FLAT_H

#include "interp/infer/reach.h"

/* Whether a rule does so wherever its encoding, with its limits, makes R of a right shift beyond
 * `shift`. False: it may not, or refuses. */
bool infer_is_flat(const infer_task *t, const infer_rule *k, int32_t shift);
/* Whether it does so beyond its shift_max, with that limit and without: it is none then. */
bool infer_is_unlimited(const infer_task *t, const infer_rule *k);

#endif
