/* Rows of rescales: what the library and `assay scheme apply` refuse alike. */
#ifndef ASSAY_INTERP_API_ROWS_H
#define ASSAY_INTERP_API_ROWS_H

#include "graph/core/type.h"
#include "interp/assay_tools.h"
#include "schemes/rescale/batch.h"

/* Whether the scheme's activations have more than 8 bits. */
bool assay_scheme_is_wide(const assay_scheme *s);
/* The form (enum assay_form) of codes of the scheme's activations' type; wide: of more than 8 bits.
 */
unsigned assay_scheme_own_form(const assay_scheme *s, bool wide);
/* "i8", ... of codes; NULL: the scheme's activations. */
assay_status assay_rows_type(const assay_scheme *s, const char *name, assay_elem *out,
                             assay_error *err);
/* Rows from a caller, checked; what they point to is borrowed. */
assay_status assay_rows_batch(const assay_scheme *s, const assay_rescales *rows, assay_batch *out,
                              assay_error *err);

#endif
