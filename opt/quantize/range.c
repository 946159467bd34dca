/* The range of a float constant. */
#include <math.h>

#include "opt/quantize/plan.h"

assay_status quantize_constant_range_above(const assay_value *v, double floor, double *min,
                                           double *max, assay_error *err)
{
    const float *x = v->data;
    int64_t n = assay_shape_count(&v->type);
    *min = *max = n > 0 ? fmax((double)x[0], floor) : 0;
    for (int64_t i = 0; i < n; i++) {
        const double above = (double)x[i] < floor ? floor : (double)x[i];
        if (!isfinite(above))
            return assay_fail(err, ASSAY_ERR_INPUT,
                              "constant '%.200s': element %lld is %g, expected a finite number",
                              v->name, (long long)i, (double)x[i]);
        *min = above < *min ? above : *min;
        *max = above > *max ? above : *max;
    }
    return ASSAY_OK;
}

assay_status quantize_constant_range(const assay_value *v, double *min, double *max,
                                     assay_error *err)
{
    return quantize_constant_range_above(v, -INFINITY, min, max, err);
}
