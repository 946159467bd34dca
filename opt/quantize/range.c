/* The range of a float constant. */
#include <math.h>

#include "opt/quantize/plan.h"

assay_status quantize_constant_range(const assay_value *v, double *min, double *max,
                                     assay_error *err)
{
    const float *x = v->data;
    int64_t n = assay_shape_count(&v->type);
    *min = *max = n > 0 ? (double)x[0] : 0;
    for (int64_t i = 0; i < n; i++) {
        if (!isfinite(x[i]))
            return assay_fail(err, ASSAY_ERR_INPUT,
                              "constant '%.200s': element %lld is %g, expected a finite number",
                              v->name, (long long)i, (double)x[i]);
        *min = (double)x[i] < *min ? (double)x[i] : *min;
        *max = (double)x[i] > *max ? (double)x[i] : *max;
    }
    return ASSAY_OK;
}
