/* Kind scale: rows of accumulators and three scales. */
#ifndef ASSAY_INTERP_INFER_SCALE_H
#define ASSAY_INTERP_INFER_SCALE_H

#include "interp/infer/finish.h"

/* Finds the consistent rules; there are none if no rule is consistent, as long as the task is
 * complete. */
assay_status infer_scale(infer_task *t, infer_rules *out, assay_error *err);

#endif
