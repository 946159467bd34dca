/* Kind scale: what happens to an R out of range, and fields that few rows distinguish. */
#ifndef ASSAY_INTERP_INFER_LIMITS_H
#define ASSAY_INTERP_INFER_LIMITS_H

#include "interp/infer/finish.h"

/* Asks about R beyond live_lo..live_hi. */
assay_status infer_ask_limits(infer_task *t, assay_error *err);
/* Rules that agree where R is live, with the limits of shifts that agree everywhere; with what
 * remains of them. */
assay_status infer_find_limits(infer_task *t, infer_rules *rules, assay_error *err);
/* Adds to the rules those that are the same behind other encodings of the same core, and agree. */
assay_status infer_add_twins(infer_task *t, infer_rules *rules, assay_error *err);

#endif
