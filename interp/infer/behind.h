/* Kind scale: rules in which R becomes a multiplier and a shift. */
#ifndef ASSAY_INTERP_INFER_BEHIND_H
#define ASSAY_INTERP_INFER_BEHIND_H

#include "interp/infer/finish.h"

/* The refusals of operands that agree with the rows; floats: those of rules without a multiplier.
 */
void infer_find_inputs_of(infer_engine *e, bool floats);
/* Appends one rule of each function, behind every encoding that no row contradicts. Whether they
 * are one function, and the only one left, is noted in the task. */
assay_status infer_find_behind(infer_engine *e, infer_rules *out, assay_error *err);

#endif
