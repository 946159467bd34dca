/* The vtable of schemes that are a parameter record. */
#ifndef ASSAY_SCHEMES_PREPARE_H
#define ASSAY_SCHEMES_PREPARE_H

#include "schemes/scheme.h"

extern const assay_scheme_vtable assay_family_vtable;

#endif
