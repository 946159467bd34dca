/* Kind scale: whether a rule of floats is the only one left. */
#ifndef ASSAY_INTERP_INFER_PROVE_H
#define ASSAY_INTERP_INFER_PROVE_H

#include "interp/infer/finish.h"

/* Drops the rules that a row contradicts, and other spellings of those that stay. If one rule of
 * floats is left, it is compared with every rule with a multiplier; the result is noted in the task
 * (`one`, `complete`). */
assay_status infer_prove_floats(infer_task *t, infer_rules *rules, assay_error *err);

#endif
