/* l2_norm: y[i] = x[i] / sqrt(max(sum over j of x[j]^2, epsilon)) along attr.axis
 * (tf.math.l2_normalize). */
#include <math.h>

#include "interp/float/float.h"

static void norm_row(const float_axis_row *r)
{
    double sum = 0;
    for (int64_t j = 0; j < r->n; j++)
        sum += (double)r->x[j * r->step] * (double)r->x[j * r->step];
    const double norm = sqrt(fmax(sum, (double)r->node->attr.norm.epsilon));
    for (int64_t j = 0; j < r->n; j++) {
        const assay_teller *t = apply_tell_at(r->teller, (size_t)j);
        apply_tell_float(t, "x", r->x[j * r->step]);
        apply_tell_double(t, "sum of squares", sum);
        apply_tell_double(t, "root of it or of epsilon, the greater", norm);
        r->y[j * r->step] = (float)((double)r->x[j * r->step] / norm);
        apply_tell_float(t, "x / root", r->y[j * r->step]);
    }
}

assay_status float_l2_norm(assay_call *call, assay_error *err)
{
    (void)err;
    float_rows(call, norm_row);
    return ASSAY_OK;
}
