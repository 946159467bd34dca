/* l2_norm: y[i] = x[i] / sqrt(max(sum over j of x[j]^2, epsilon)) along attr.axis
 * (tf.math.l2_normalize). */
#include <math.h>

#include "interp/float/float.h"

static void norm_row(const assay_node *node, const float *x, int64_t n, int64_t step, float *y)
{
    double sum = 0;
    for (int64_t j = 0; j < n; j++)
        sum += (double)x[j * step] * (double)x[j * step];
    double norm = sqrt(fmax(sum, (double)node->attr.norm.epsilon));
    for (int64_t j = 0; j < n; j++)
        y[j * step] = (float)((double)x[j * step] / norm);
}

assay_status float_l2_norm(assay_call *call, assay_error *err)
{
    (void)err;
    float_rows(call, norm_row);
    return ASSAY_OK;
}
