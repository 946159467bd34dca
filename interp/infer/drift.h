/* Kind scale: steps that no rule with a multiplier and a shift has.
 *
 * Rows of zero point 0 and R = 2^-k, positive accumulators x. Between n 2^k and (n+1) 2^k a value
 * rounds to n or n+1: a *step*. Let the codes of 0, 2^k, .. 88 * 2^k differ. Whatever a rule with a
 * multiplier and a shift does to R (limits of shifts, fewer bits of the multiplier), here it makes
 * 2^-k of it, or one R of this one and of twice this one, which have different codes; so the
 * multiplier is a power of two. Its step is then at one distance from n 2^k for all odd n, but for
 * a wrapped product that may be negative: at one of two.
 *
 * - No operand that saturates: beyond it all codes are equal.
 * - Rounding before the product is of k bits at most: more leave no 89 operands.
 * - Products and operands that wrap keep 5 bits before the point at least, for 89 codes to differ.
 *   So they wrap where n+1 is a multiple of 32, which none is here; and what they lose, as what is
 *   between two odd n, is a multiple of twice the last bit that a rounding leaves. Behind that each
 *   rounding, of one sign, gives the same.
 * - What narrows the rounded value keeps n and n+1 apart: their codes differ.
 *
 * A float32 of x loses more bits the greater x is: its steps drift, to three distances and more.
 * test/infer/test_infer_drift.c draws rules with a multiplier that come close. */
#ifndef ASSAY_INTERP_INFER_DRIFT_H
#define ASSAY_INTERP_INFER_DRIFT_H

#include "interp/infer/task.h"

#define INFER_MAX_DRIFT 512

/* The rows: how many, none where accumulators have fewer than 27 bits; row: room for
 * INFER_MAX_DRIFT. */
size_t infer_drift_rows(int acc_bits, infer_row *row);
/* Of answers to these rows, in their order: the distances at which their steps are, 0 where they
 * show none. Of a rule with a multiplier and a shift: two at most. */
int infer_drift_distances(const int64_t *answer, int acc_bits);
/* Adds the rows to those to ask. */
void infer_ask_drift(infer_task *t);
/* Whether the answers in the log have steps at three distances. */
bool infer_log_drifts(const infer_task *t);

#endif
