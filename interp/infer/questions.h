/* Rows to ask about, one function per family; each goes to task->next. Multipliers and shifts are
 * within the task's window, zero points within the type. */
#ifndef ASSAY_INTERP_INFER_QUESTIONS_H
#define ASSAY_INTERP_INFER_QUESTIONS_H

#include "interp/infer/task.h"

int64_t infer_acc_max(const infer_task *t);
/* The multiplier nearest to 0, and a shift in the middle, that the device takes. */
int64_t infer_least_multiplier(const infer_task *t);
int32_t infer_middle_shift(const infer_task *t);

/* Operand 0 with every zero point (of wide codes, some): ends. */
void infer_ask_zeros(infer_task *t);
/* Operands at the ends of registers: which ones are refused. */
void infer_ask_operands(infer_task *t);
/* Products of powers of two that are -2, -1 and 1: the stages before the rounding. */
void infer_ask_powers(infer_task *t, bool before, size_t max);
/* Such products beside others whose accumulator or multiplier is next to theirs: pairs. */
void infer_ask_neighbours(infer_task *t, bool before, size_t max);
/* Any row whose value is between -2 and 1; its zero point is that of small rows. */
infer_row infer_small_row(infer_task *t, bool before);
/* Accumulators and zero points at or beside their ends, values about the codes. */
infer_row infer_end_row(infer_task *t);
/* Any row. */
infer_row infer_any_row(infer_task *t);

#endif
