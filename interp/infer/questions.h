/* Rows to ask, one function per family; all are added to task->next. Multipliers and shifts lie
 * within the task's window, zero points within the type. */
#ifndef ASSAY_INTERP_INFER_QUESTIONS_H
#define ASSAY_INTERP_INFER_QUESTIONS_H

#include "interp/infer/task.h"

int64_t infer_acc_max(const infer_task *t);
/* The accepted multiplier nearest to 0, and an accepted shift in the middle. */
int64_t infer_least_multiplier(const infer_task *t);
int32_t infer_middle_shift(const infer_task *t);

/* Operand 0 with every zero point (with some, for wide codes), which reveals the ends. */
void infer_ask_zeros(infer_task *t);
/* Operands at the limits of registers, which reveal the refusals. */
void infer_ask_operands(infer_task *t);
/* Products of powers of two with the values -2, -1 and 1, which reveal the stages before the
 * rounding. */
void infer_ask_powers(infer_task *t, bool before, size_t max);
/* Such products in pairs whose accumulators or multipliers are neighbours. */
void infer_ask_neighbours(infer_task *t, bool before, size_t max);
/* Any row with a value between -2 and 1; its zero point is the one for small values. */
infer_row infer_small_row(infer_task *t, bool before);
/* Accumulators and zero points at or next to their limits, with values near the limits of the
 * codes. */
infer_row infer_end_row(infer_task *t);
/* Any row at all. */
infer_row infer_any_row(infer_task *t);

#endif
