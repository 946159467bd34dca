/* The multipliers and shifts that the device takes. */
#ifndef ASSAY_INTERP_INFER_WINDOW_H
#define ASSAY_INTERP_INFER_WINDOW_H

#include "interp/infer/task.h"

#define INFER_MAX_MULTIPLIER (INT64_C(1) << 32) /* of any record */

/* Narrows the task's window to what is not refused. ASSAY_ERR_INPUT where nothing is left. */
assay_status infer_find_window(infer_task *t, assay_error *err);
/* Whether the device refused a multiplier greater in magnitude than all that it takes: the bits of
 * its multipliers are known. */
bool infer_is_bounded(const infer_task *t);
/* The bits of the greatest magnitude that it takes. */
int infer_window_bits(const infer_task *t);
/* Whether it takes -1, 0 and 1 and refused what is beyond: encoding: shift. */
bool infer_is_of_shifts(const infer_task *t);

#endif
