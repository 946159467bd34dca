/* Kind scale: whether two rules are one function of rows with three scales.
 *
 * The domain: R = in * weight / out of 2^(live_lo - INFER_BELOW) and more, below 2^(live_hi + 1).
 * Below it values are next to 0, above they are beyond the codes. */
#ifndef ASSAY_INTERP_INFER_FORMED_H
#define ASSAY_INTERP_INFER_FORMED_H

#include "interp/infer/boxes.h"

#define INFER_BELOW 3

/* Sets the engine's multipliers and shifts to cover what a rule's encoding makes of the domain; for
 * Glow's encoding and powers of two, to those of the engine's rows. */
void infer_set_domain(infer_engine *e, const infer_rule *k);
/* INFER_APART: the rules have one encoding and differ at the multiplier and shift in *row.
 * INFER_UNTOLD: they may differ, in their encodings for instance. */
enum infer_told infer_tell_formed(infer_engine *e, const infer_rule *a, const infer_rule *b,
                                  infer_row *row);

#endif
