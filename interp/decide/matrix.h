/* Many schemes compared: how often each pair disagrees. */
#ifndef ASSAY_INTERP_DECIDE_MATRIX_H
#define ASSAY_INTERP_DECIDE_MATRIX_H

#include "interp/decide/pair.h"

enum { DECIDE_MATRIX_SCHEMES = 64 };

/* Prints a table for the scales of q, or for each node of its graph, and gives them to programs:
 * *tables, the caller's, also on failure. as_is: also compares nodes that a scheme's types do not
 * admit. The schemes have records. ASSAY_ERR_LIMIT: too many. */
assay_status decide_matrix(const assay_scheme *const *s, int n, const decide_question *q,
                           bool as_is, FILE *to, json_t **tables, assay_error *err);

#endif
