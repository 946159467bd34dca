/* The vtable of schemes that are a parameter record. */
#ifndef ASSAY_SCHEMES_PREPARE_H
#define ASSAY_SCHEMES_PREPARE_H

#include "schemes/apply/tell.h"
#include "schemes/scheme.h"

extern const assay_scheme_vtable assay_family_vtable;

/* Tells how entry t->at of the table of a node's unit is made, if it has one: the unit is prepared
 * once more. s is a record. */
assay_status assay_tell_table(const assay_scheme *s, const assay_unit_spec *spec,
                              const assay_teller *t, assay_error *err);

#endif
