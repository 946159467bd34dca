/* Requantization of int32 accumulators, as numbers; see narrow.h. */
#include "schemes/narrow.h"

#include "schemes/apply/unit.h"
#include "schemes/prepare/prepare.h"

bool assay_scheme_narrow(const assay_scheme_vtable *vt, const assay_unit *u, size_t channel,
                         assay_narrow_form *out)
{
    const assay_simd *s = &u->simd;
    const assay_rescale *r = &u->scale[ASSAY_OUT];
    if (vt != &assay_family_vtable || !s->packed)
        return false;
    const size_t c = r->n > 1 ? channel : 0;
    const bool once = s->way == ASSAY_SIMD_ONE_ROUNDING;
    *out = (assay_narrow_form){.zero_point = s->zero_point, .lo = s->lo, .hi = s->hi};
    if (s->way == ASSAY_SIMD_FLOAT) {
        out->by = ASSAY_NARROW_FLOAT;
        out->factor = r->scale[c];
        return s->mode == ASSAY_ROUND_HALF_EVEN && !s->inside;
    }
    out->by = once ? ASSAY_NARROW_HALF_UP : ASSAY_NARROW_DOUBLE;
    out->factor = r->multiplier[c];
    out->shift = out->factor == 0 ? 32 : (int32_t)r->shift[c]; /* 0 by any shift */
    return out->shift >= 32 && (!once || s->mode == ASSAY_ROUND_HALF_UP);
}
