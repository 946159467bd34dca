/* The steps of row functions that are no rescale alone: averages, sums of two operands, clamps,
 * four corners. Each says what the function does of the unit's own numbers; false: it is none of
 * these, or its steps do not lead to the element. */
#ifndef ASSAY_INTERP_EXPLAIN_FORMS_H
#define ASSAY_INTERP_EXPLAIN_FORMS_H

#include "interp/explain/explain.h"

/* As far as the mean, where it is then rescaled: *rescaled. */
bool explain_pool_form(explain_trace *t, const assay_unit *u, const explain_seen *s,
                       bool *rescaled);
bool explain_window_form(explain_trace *t, const assay_unit *u, const explain_seen *s);
bool explain_add_form(explain_trace *t, const assay_unit *u, const explain_seen *s);
bool explain_clamp_form(explain_trace *t, const assay_unit *u, const explain_seen *s);
bool explain_corner_form(explain_trace *t, const assay_unit *u, const explain_seen *s,
                         bool *rescaled);
/* The codes of the window that a max pool takes the greatest of. */
void explain_window_codes(explain_trace *t, const assay_graph *g, const assay_node *n,
                          const void *in, int64_t element);
#endif
