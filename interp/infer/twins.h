/* Kind scale: rows on which rules with different encodings of R differ. */
#ifndef ASSAY_INTERP_INFER_TWINS_H
#define ASSAY_INTERP_INFER_TWINS_H

#include "interp/infer/finish.h"

/* Asks rows on which two of the rules are found to differ, with R next to a tie of their
 * multipliers, next to a power of two, or anywhere, until none is found; drops the rules that the
 * answers contradict. */
assay_status infer_part_twins(infer_task *t, infer_rules *rules, assay_error *err);

/* Adds rows whose product, of an encoding's multiplier and a few bits, is a tie or a few units in
 * the last place off one: they tell lists of rounding steps apart. */
void infer_ask_ties(infer_task *t, const infer_rule *encoding);

#endif
