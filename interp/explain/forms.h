/* Steps that scheme functions do not tell: of floats, of what kernels choose; and those that
 * several share. */
#ifndef ASSAY_INTERP_EXPLAIN_FORMS_H
#define ASSAY_INTERP_EXPLAIN_FORMS_H

#include "interp/explain/explain.h"

/* floats.c: a function of one float or two, a convolution or fc of floats; t->value is the element.
 * False: the node is none of these. */
bool explain_float_form(explain_trace *t, const assay_graph *g, const assay_node *n,
                        const void *const *in, int64_t element);
/* forms.c: the codes or floats of the window that a max pool takes the greatest of. */
void explain_window(explain_trace *t, const assay_graph *g, const assay_node *n, const void *in,
                    int64_t element);

/* tables.c: how an entry of the table of a record's unit is made; the formula of its function, or
 * NULL. */
void explain_table_entry(explain_trace *t, const assay_program *p, int node, int64_t entry);
const char *explain_table_formula(const assay_unit *u);

/* ---- ends.c: steps that they share ---- */

/* v / 2^bits, rounded; v / d, rounded. */
void explain_say_shift(explain_trace *t, const char *name, int64_t v, unsigned bits,
                       enum assay_rounding mode);
void explain_say_quotient(explain_trace *t, const char *name, int64_t v, int64_t d,
                          enum assay_rounding mode);
/* A code, in binary too. */
void explain_say_code(explain_trace *t, int64_t code);
/* A rescale of the unit, as schemes/explain has it. */
void explain_say_rescale(explain_trace *t, const assay_unit *u, const explain_rescale *r);
/* A float32 or float64 by its bits. */
double explain_real(uint32_t bits);
double explain_real64(uint64_t bits);
#endif
