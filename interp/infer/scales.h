/* Kind scale: rows with a given R = in * weight / out, and what an encoding makes of R. */
#ifndef ASSAY_INTERP_INFER_SCALES_H
#define ASSAY_INTERP_INFER_SCALES_H

#include "interp/infer/task.h"

/* R, and its exponent: 2^e <= |R| < 2^(e+1). */
double infer_real(const infer_row *row);
int infer_exponent(double real);
/* Scales whose R is m * 2^e exactly, in whatever order they are multiplied, if m is a product of
 * two numbers of 24 bits; else the nearest such. */
void infer_set_scales(rows_random *r, infer_row *row, int64_t m, int e);
/* Scales with R near `real`, within some 2^-34 of it. */
void infer_near_scales(rows_random *r, infer_row *row, double real);

/* R as a rule forms it from the three scales, before it is encoded. */
extern const int32_t infer_formations[];
#define INFER_FORMATIONS 4
/* Whether logarithms give another exponent than some form of R has. Never for powers of two, which
 * such a target then refuses. */
bool infer_is_near_power(const infer_row *row);
/* Whether R is a quotient of two numbers of 24 bits, so that it is a power of two or at least 2^-24
 * off one, and the multiplier has more bits. */
bool infer_is_quotient(const infer_rule *k);
/* The greatest multiplier that an encoding gives. */
int64_t infer_greatest(const infer_rule *k);
/* Whether the rule forms R in float32, so that 24 bits hold it. */
bool infer_is_single(const infer_rule *k);
/* Whether R is so near to the next power of two that its multiplier may gain a bit. */
bool infer_is_edge(const infer_rule *k, double real);
/* Finds scales for the row's multiplier and shift, where R makes a difference, and encodes the row.
 * exact: R is as exact as infer_set_scales gives it. */
void infer_form_row(infer_task *t, infer_row *row, bool exact);
/* The same, but some rows lie next to a tie of the codes or of the multiplier, and some have any R.
 */
void infer_form_any_row(infer_task *t, infer_row *row);
/* Sets a row's multiplier, shift and pre-shift, and whether they are known, by the task's encoder.
 */
void infer_encode_row(const infer_task *t, infer_row *row);
/* The same for every row of the log. */
void infer_encode_log(infer_task *t);

#endif
