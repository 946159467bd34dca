/* Kind scale: rows whose R = in * weight / out is given, and what an encoding makes of them. */
#ifndef ASSAY_INTERP_INFER_SCALES_H
#define ASSAY_INTERP_INFER_SCALES_H

#include "interp/infer/task.h"

/* R, and its exponent: 2^e <= |R| < 2^(e+1). */
double infer_real(const infer_row *row);
int infer_exponent(double real);
/* Scales whose R is m * 2^e exactly, whatever the order in which they are multiplied, where m is a
 * product of two numbers of 24 bits; else the next ones. */
void infer_set_scales(rows_random *r, infer_row *row, int64_t m, int e);
/* Scales with R near `real`, within some 2^-34 of it. */
void infer_near_scales(rows_random *r, infer_row *row, double real);

/* How R may be computed from three scales before it is encoded. */
extern const int32_t infer_formations[];
#define INFER_FORMATIONS 4
/* Whether the exponent by logarithms is another than that of some form of R; not of powers of two,
 * which a target with such exponents refuses then. */
bool infer_is_near_power(const infer_row *row);
/* Whether R is a quotient of two numbers of 24 bits, which is a power of two or 2^-24 off one, and
 * the multiplier has more bits. */
bool infer_is_quotient(const infer_rule *k);
/* The greatest multiplier that an encoding makes. */
int64_t infer_greatest(const infer_rule *k);
/* Whether the rule forms R in float32: 24 bits hold it. */
bool infer_is_single(const infer_rule *k);
/* Whether R, so near to the next power of two, may become a multiplier of one bit more. */
bool infer_is_edge(const infer_rule *k, double real);
/* Scales for the row's multiplier and shift, where R makes a difference; exact: R is as exact as
 * infer_set_scales. The row is then encoded. */
void infer_form_row(infer_task *t, infer_row *row, bool exact);
/* The same; some rows lie beside a tie of the codes or of the multiplier, some R anywhere. */
void infer_form_any_row(infer_task *t, infer_row *row);
/* Multiplier, shift, pre-shift and whether they are known, by the task's encoder. */
void infer_encode_row(const infer_task *t, infer_row *row);
/* The same for all rows of the log. */
void infer_encode_log(infer_task *t);

#endif
