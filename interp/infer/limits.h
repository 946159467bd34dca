/* Kind scale: what happens to R out of range, and to fields that few rows reveal. */
#ifndef ASSAY_INTERP_INFER_LIMITS_H
#define ASSAY_INTERP_INFER_LIMITS_H

#include "interp/infer/finish.h"

/* Adds rows with R beyond live_lo..live_hi. */
assay_status infer_ask_limits(infer_task *t, assay_error *err);
/* For rules that agree where R is live: finds the limits of shifts with which they agree
 * everywhere, and keeps those. */
assay_status infer_find_limits(infer_task *t, infer_rules *rules, assay_error *err);
/* Adds rules that are the same behind other encodings with the same core, if they agree. */
assay_status infer_add_twins(infer_task *t, infer_rules *rules, assay_error *err);

#endif
