/* The multipliers and shifts that the device takes. */
#ifndef ASSAY_INTERP_INFER_WINDOW_H
#define ASSAY_INTERP_INFER_WINDOW_H

#include "interp/infer/task.h"

#define INFER_MOST_MULTIPLIER (INT64_C(1) << 32) /* of any record */
#define INFER_MOST_SHIFT      1100

/* Narrows the task's window to what is not refused. ASSAY_ERR_INPUT where nothing is left. */
assay_status infer_find_window(infer_task *t, assay_error *err);

#endif
