/* The multipliers and shifts that the device accepts. */
#ifndef ASSAY_INTERP_INFER_WINDOW_H
#define ASSAY_INTERP_INFER_WINDOW_H

#include "interp/infer/task.h"

#define INFER_MAX_MULTIPLIER (INT64_C(1) << 32) /* the limits of any record */

/* Narrows the task's window to what the device accepts. ASSAY_ERR_INPUT where nothing is left. */
assay_status infer_find_window(infer_task *t, assay_error *err);
/* Whether the device refused a multiplier of greater magnitude than all that it accepts, so that
 * its width is known. */
bool infer_is_bounded(const infer_task *t);
/* The bits of the greatest magnitude that it accepts. */
int infer_window_bits(const infer_task *t);
/* Whether it accepts -1, 0 and 1 and refused everything beyond: encoding: shift. */
bool infer_is_of_shifts(const infer_task *t);

#endif
