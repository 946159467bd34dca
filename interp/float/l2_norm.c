/* l2_norm: y[i] = x[i] / sqrt(max(sum over j of x[j]^2, epsilon)) along attr.axis
 * (tf.math.l2_normalize). */
#include <math.h>

#include "interp/float/float.h"
#include "interp/move/move.h"

assay_status float_l2_norm(assay_call *call, assay_error *err)
{
    const assay_attr_norm *a = &call->node->attr.norm;
    const assay_type *t = call->in[0].type;
    int axis = (int)a->axis;
    int64_t outer = move_extent(t, 0, axis), n = t->dim[axis];
    int64_t inner = move_extent(t, axis + 1, t->rank);

    (void)err;
    for (int64_t o = 0; o < outer; o++)
        for (int64_t i = 0; i < inner; i++) {
            const float *x = (const float *)call->in[0].data + o * n * inner + i;
            float *y = (float *)call->out[0].data + o * n * inner + i;
            double sum = 0;
            for (int64_t j = 0; j < n; j++)
                sum += (double)x[j * inner] * (double)x[j * inner];
            double norm = sqrt(fmax(sum, (double)a->epsilon));
            for (int64_t j = 0; j < n; j++)
                y[j * inner] = (float)((double)x[j * inner] / norm);
        }
    return ASSAY_OK;
}
