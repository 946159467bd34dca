/* The contract of a run: which of the nodes that a program computes in integers are claimed to give
 * the target's own bits, and what the scheme says of the others. */
#ifndef ASSAY_INTERP_CONTRACT_H
#define ASSAY_INTERP_CONTRACT_H

#include <stdio.h>

#include <jansson.h>

#include "interp/run/program.h"

/* What the network was quantized for, where it says so; a line of counts; what is outside the
 * scheme's types with up to three reasons; with the scheme's words on what it approximates or
 * leaves out when some node is not exact. Nothing for a program without a scheme. */
void golden_contract_print(const assay_program *p, FILE *f);
/* {"exact": {"conv": 12, ...}, "not_exact": {...}, "outside": {...}, "float_exact": {...}, "float":
 * {...}, "words": {...}}: float_exact are floats that are claimed, float those that are not; with
 * "outside_why" and "quantized_for" where there is something to say. A new reference, NULL without
 * a scheme. */
json_t *golden_contract_json(const assay_program *p);

#endif
