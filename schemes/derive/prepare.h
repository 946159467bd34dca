/* The vtable of schemes that are a parameter record. */
#ifndef ASSAY_SCHEMES_DERIVE_PREPARE_H
#define ASSAY_SCHEMES_DERIVE_PREPARE_H

#include "schemes/scheme.h"

extern const assay_scheme_vtable derive_family_vtable;
bool derive_family_supports(const assay_scheme *s, const assay_unit_spec *spec, char *why,
                            size_t n);
/* assay_scheme_weight_units (scheme.h) of a record. */
assay_status derive_family_weight_units(const assay_scheme *s, const assay_unit_spec *spec,
                                        float *unit, size_t *n, assay_error *err);

#endif
