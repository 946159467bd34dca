/* dynamic_params: x -> scale, factor, zero: for every index of the axes before attr.axis what codes
 * of 8 signed bits need to hold the numbers that stand there; the other axes are 1. Ranges are
 * found here, the formulas are schemes/derive/dynamic.h. */
#include "schemes/derive/dynamic.h"

#include "interp/float/float.h"

typedef struct range {
    float min, max; /* 0 lies between them */
} range;

static range range_of(const float *x, int64_t n)
{
    range r = {0, 0};
    for (int64_t i = 0; i < n; i++) {
        r.min = x[i] < r.min ? x[i] : r.min;
        r.max = x[i] > r.max ? x[i] : r.max;
    }
    return r;
}

assay_status float_dynamic_params(assay_call *call, assay_error *err)
{
    const assay_attr_dynamic *a = &call->node->attr.dynamic;
    const int64_t rows = assay_shape_count(call->out[0].type);
    const int64_t n = rows ? assay_shape_count(call->in[0].type) / rows : 0;

    (void)err;
    for (int64_t i = 0; i < rows; i++) {
        const range r = range_of((const float *)call->in[0].data + i * n, n);
        const derive_dynamic p = derive_dynamic_of(r.min, r.max, a->symmetric);
        ((float *)call->out[0].data)[i] = p.scale;
        ((float *)call->out[1].data)[i] = p.factor;
        ((float *)call->out[2].data)[i] = p.zero;
    }
    return ASSAY_OK;
}
