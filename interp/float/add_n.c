/* add_n: y = ((x0 + x1) + x2) + ..., in binary32, or in integers modulo 2^64. */
#include <string.h>

#include "interp/float/float.h"

#define ROW 256

static void add_floats(const assay_call *call, int64_t count)
{
    float *y = call->out[0].data;
    memcpy(y, call->in[0].data, (size_t)count * sizeof *y);
    for (int k = 1; k < call->node->n_in; k++) {
        const float *x = call->in[k].data;
        for (int64_t i = 0; i < count; i++)
            y[i] += x[i];
    }
}

static void add_integers(const assay_call *call, int64_t count)
{
    int64_t sum[ROW], row[ROW];
    for (int64_t first = 0; first < count; first += ROW) {
        size_t n = (size_t)(count - first < ROW ? count - first : ROW);
        float_load_integers(&call->in[0], first, 1, n, sum);
        for (int k = 1; k < call->node->n_in; k++) {
            float_load_integers(&call->in[k], first, 1, n, row);
            for (size_t i = 0; i < n; i++)
                sum[i] = (int64_t)((uint64_t)sum[i] + (uint64_t)row[i]);
        }
        float_store_integers(&call->out[0], first, n, sum);
    }
}

assay_status float_add_n(assay_call *call, assay_error *err)
{
    int64_t count = assay_shape_count(call->out[0].type);
    (void)err;
    if (float_holds_f32(&call->in[0]) && count > 0)
        add_floats(call, count);
    else
        add_integers(call, count);
    return ASSAY_OK;
}
