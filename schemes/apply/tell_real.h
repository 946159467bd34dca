/* Steps told in the machine's floats, by code that may use them; see tell.h. */
#ifndef ASSAY_SCHEMES_APPLY_TELL_REAL_H
#define ASSAY_SCHEMES_APPLY_TELL_REAL_H

#include <string.h>

#include "schemes/apply/tell.h"

static inline void apply_tell_float(const assay_teller *t, const char *name, float v)
{
    uint32_t bits;
    memcpy(&bits, &v, sizeof bits);
    apply_tell_f32(t, name, bits);
}
static inline void apply_tell_double(const assay_teller *t, const char *name, double v)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    apply_tell_f64(t, name, bits);
}

#endif
