/* The steps of row functions that are more than a rescale: averages, sums of two operands, clamps,
 * four corners, softmax. Each says what the function does of the unit's own numbers; false: it is
 * none of these, or its steps do not lead to the element. */
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
/* floats.c: a function of one float or two, a convolution or fc of floats; t->value is the element.
 * False: the node is none of these. */
bool explain_float_form(explain_trace *t, const assay_graph *g, const assay_node *n,
                        const void *const *in, int64_t element);
/* Softmax and log softmax, of the row that the function was given. */
bool explain_softmax_form(explain_trace *t, const assay_unit *u, const explain_seen *s);
/* Layer and L2 normalization, likewise. */
bool explain_norm_form(explain_trace *t, const assay_unit *u, const explain_seen *s);
/* The codes of the window that a max pool takes the greatest of. */
void explain_window_codes(explain_trace *t, const assay_graph *g, const assay_node *n,
                          const void *in, int64_t element);

/* ---- ends.c: steps that they share ---- */

/* v / 2^bits, rounded. */
int64_t explain_say_shift(explain_trace *t, const char *name, int64_t v, unsigned bits,
                          enum assay_rounding mode);
/* v / d, rounded. */
int64_t explain_say_quotient(explain_trace *t, int64_t v, int64_t d, enum assay_rounding mode);
/* The way into the output's type of a value that has its zero point; false: it does not lead to the
 * element. */
bool explain_say_store(explain_trace *t, const assay_unit *u, int64_t v, const explain_seen *s);
/* The same for one that does not. */
bool explain_say_end(explain_trace *t, const assay_unit *u, int64_t v, const explain_seen *s);
/* A rescale of the unit, as schemes/explain has it. */
void explain_say_rescale(explain_trace *t, const assay_unit *u, const explain_rescale *r);
/* A float32 by its bits. */
double explain_real(uint32_t bits);
#endif
