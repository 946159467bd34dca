/* The bounds of a relu. */
#include "schemes/derive/derive.h"

void derive_relu(assay_rescale *r, int64_t zero)
{
    const bool wraps = r->rule->store == ASSAY_STORE_WRAP;
    r->lo = apply_clamp_to(zero, r->lo, r->hi);
    r->clamp_lo = wraps ? apply_clamp_to(zero, r->clamp_lo, r->clamp_hi) : r->lo;
}
