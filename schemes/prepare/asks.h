/* Fields of a record by the ops that read them. */
#ifndef ASSAY_SCHEMES_ASKS_H
#define ASSAY_SCHEMES_ASKS_H

#include "schemes/record/data.h"

/* Whether results of op may depend on field f of record r; and the first field in which two records
 * differ for it, -1: none. */
bool assay_reads_op(const assay_record *r, assay_op op, const assay_field *f);
int assay_reads_change(const assay_record *a, const assay_record *b, assay_op op);
/* Whether a value of f that an override of this scope gives to op, and not to the whole scheme, is
 * ever asked for: results of op, what its nodes may hold, how their shifts are written. */
bool assay_reads_given(const assay_record *r, assay_op op, enum assay_scope scope,
                       const assay_field *f);
/* Whether the node of `spec` reads the same parameters under two schemes with records (the types
 * they produce do not matter), and neither gives it multipliers of its own: then their results are
 * the same. */
bool assay_reads_same(const assay_scheme *a, const assay_scheme *b, const assay_unit_spec *spec);
/* Whether floats that op computes from floats may depend on field f. */
bool assay_reads_float(assay_op op, const assay_field *f);

/* What the scheme gives to this node alone and op does not read: ASSAY_ERR_SCHEME with the fields.
 */
assay_status assay_reads_check_node(const assay_scheme *s, const assay_unit_spec *spec,
                                    assay_error *err);

#endif
