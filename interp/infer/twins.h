/* Kind scale: rows on which rules with different encodings of R differ. */
#ifndef ASSAY_INTERP_INFER_TWINS_H
#define ASSAY_INTERP_INFER_TWINS_H

#include "interp/infer/finish.h"

/* Asks rows on which two of the rules are found to differ, where R is next to a tie of their
 * multipliers, to a power of two, or any, until none is found; drops what they contradict. */
assay_status infer_part_twins(infer_task *t, infer_rules *rules, assay_error *err);

/* Adds rows whose product, of an encoding's multiplier and a few bits, is a tie or next to it by
 * units of its last bits: they part lists of rounding steps. */
void infer_ask_ties(infer_task *t, const infer_rule *encoding);

#endif
