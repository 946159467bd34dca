/* The vtable of schemes that are a parameter record. */
#ifndef ASSAY_SCHEMES_DERIVE_PREPARE_H
#define ASSAY_SCHEMES_DERIVE_PREPARE_H

#include "schemes/scheme.h"

extern const assay_scheme_vtable assay_family_vtable;
bool assay_family_supports(const assay_scheme *s, const assay_unit_spec *spec, char *why, size_t n);

#endif
