/* Kind scale: whether a rule of floats is the only one left. */
#ifndef ASSAY_INTERP_INFER_PROVE_H
#define ASSAY_INTERP_INFER_PROVE_H

#include "interp/infer/finish.h"

/* Drops rules that a row contradicts, and what says the same in other words. Where one rule of
 * floats is left, it is compared with every rule with a multiplier; what is found goes to the task
 * (`one`, `complete`). */
assay_status infer_prove_floats(infer_task *t, infer_rules *rules, assay_error *err);

#endif
