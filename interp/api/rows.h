/* Rows of rescales: checks shared by the library and `assay scheme apply`. */
#ifndef ASSAY_INTERP_API_ROWS_H
#define ASSAY_INTERP_API_ROWS_H

#include "graph/core/type.h"
#include "interp/assay_tools.h"
#include "schemes/rescale/batch.h"

/* Whether the scheme's activations have more than 8 bits. */
bool assay_scheme_is_wide(const assay_scheme *s);
/* The variant (enum assay_variant) of codes of the scheme's activations' type; wide: of more than 8
 * bits.
 */
unsigned assay_scheme_own_variant(const assay_scheme *s, bool wide);
/* "i8", ... of codes; NULL: the scheme's activations. */
assay_status assay_rows_type(const assay_scheme *s, const char *name, assay_elem *out,
                             assay_error *err);
/* Whether a scheme can be asked about `op` (NULL: any). ASSAY_ERR_UNSUPPORTED: it has no record;
 * ASSAY_ERR_INPUT: an unknown op; the message names the nearest. */
assay_status assay_scheme_has(const assay_scheme *s, const char *op, assay_error *err);
/* Refuses two of n schemes that a report could not distinguish: of one name, and of other records,
 * or (once) the same. */
assay_status assay_schemes_differ(const assay_scheme *const *s, size_t n, bool once,
                                  assay_error *err);
/* The largest magnitude of an accumulator that may be asked about. */
#define ASSAY_ROWS_ACC (INT64_C(1) << 47)
/* From low to high, within them. */
assay_status assay_rows_range(const int64_t acc[2], assay_error *err);
/* Rows from a caller, checked; what they point to is borrowed. */
assay_status assay_rows_batch(const assay_scheme *s, const assay_rescales *rows, assay_batch *out,
                              assay_error *err);

#endif
