/* Kind scale: rules with a multiplier and a shift that R becomes. */
#ifndef ASSAY_INTERP_INFER_BEHIND_H
#define ASSAY_INTERP_INFER_BEHIND_H

#include "interp/infer/finish.h"

/* The refusals of operands that agree with the rows; floats: of rules without a multiplier. */
void infer_find_inputs_of(infer_engine *e, bool floats);
/* Appends rules behind every encoding that no row contradicts, of each function one. Whether they
 * are one function, and all that is left, goes to the task. */
assay_status infer_find_behind(infer_engine *e, infer_rules *out, assay_error *err);

#endif
