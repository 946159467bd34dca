/* Parameters by which inner loops make codes of accumulators without storing them; see narrow.h. */
#include "interp/fast/narrow.h"

#include <stdlib.h>
#include <string.h>

enum { LANES = 16 };

static void set_lane(assay_sixteen *p, int i, const assay_narrow_form *k)
{
    if (k->by == ASSAY_NARROW_FLOAT) {
        const uint32_t bits = (uint32_t)k->factor;
        memcpy(&p->scale[i], &bits, sizeof bits);
        return;
    }
    p->factor[i % 2][i / 2] = k->factor;
    p->shift[i] = k->shift - 32;
}

bool fast_narrower_make(const assay_fast_setup *s, int64_t bound, const int32_t *channel, int64_t n,
                        assay_narrower *out)
{
    const assay_type *y = &assay_node_out(s->graph, s->node, 0)->type;
    assay_narrow_form k;
    *out = (assay_narrower){0};
    if (!s->kernels->narrows || !fast_is_byte(y))
        return true;
    for (int64_t i = 0; i < n; i++)
        if (channel[i] >= 0 && !assay_scheme_narrow(s->vt, s->unit, (size_t)channel[i], &k))
            return true;
    if (k.by != ASSAY_NARROW_FLOAT && bound >= 1 << 30)
        return true;
    out->lanes = fast_alloc((size_t)(n / LANES) * sizeof *out->lanes);
    if (!out->lanes)
        return false;
    for (int64_t i = 0; i < n; i++) {
        if (channel[i] < 0)
            continue;
        assay_scheme_narrow(s->vt, s->unit, (size_t)channel[i], &k);
        set_lane(&out->lanes[i / LANES], (int)(i % LANES), &k);
    }
    out->by = k.by;
    out->away = k.by == ASSAY_NARROW_DOUBLE && k.lo < k.zero_point;
    const int32_t down = k.lo < 0 ? 0 : 128;
    out->first = k.by == ASSAY_NARROW_DOUBLE ? INT64_C(1) << 31 : 0;
    out->zero = (int16_t)(k.zero_point - down);
    if (k.by != ASSAY_NARROW_FLOAT)
        out->zero = (int16_t)(1 + 2 * out->zero);
    out->lo = (int8_t)(k.lo - down);
    out->hi = (int8_t)(k.hi - down);
    out->flip = (int8_t)(-down);
    return true;
}

void fast_narrower_free(assay_narrower *w)
{
    free(w->lanes);
    w->lanes = NULL;
}
