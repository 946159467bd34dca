/* The contract of a run: which of the nodes that a program computes in integers are claimed to give
 * the target's own bits, and what the scheme says of the others. */
#ifndef ASSAY_INTERP_CONTRACT_H
#define ASSAY_INTERP_CONTRACT_H

#include <stdio.h>

#include <jansson.h>

#include "interp/run/program.h"

/* One line; with the scheme's words on what it approximates or leaves out when some node is not
 * exact. Nothing for a program without a scheme. */
void assay_contract_print(const assay_program *p, FILE *f);
/* {"exact": {"conv": 12, ...}, "not_exact": {...}, "float_exact": {...}, "float": {...}, "words":
 * {...}}: float_exact are floats that are claimed, float those that are not; a new
 * reference, NULL without a scheme. */
json_t *assay_contract_json(const assay_program *p);

#endif
