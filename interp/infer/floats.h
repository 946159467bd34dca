/* Kind scale: rules without a multiplier, those of floats and of thresholds. */
#ifndef ASSAY_INTERP_INFER_FLOATS_H
#define ASSAY_INTERP_INFER_FLOATS_H

#include "interp/infer/finish.h"

/* All of them that agree with the log, with the engine's ends and refusals. */
assay_status infer_find_floats(infer_engine *e, infer_rules *out, assay_error *err);

#endif
