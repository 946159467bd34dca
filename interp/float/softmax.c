/* softmax: y[i] = e^(beta*(x[i] - m)) / sum over j of e^(beta*(x[j] - m)), m = max x, along
 * attr.axis; log_softmax: y[i] = beta*(x[i] - m) - ln(the same sum).
 *
 * In the order of ONNX Runtime 1.30 with AVX-512 (MLAS: compute.cpp, TransKernelAvx512F.S): its own
 * exponential, sixteen sums of every sixteenth, which are added by halves and then by neighbours;
 * times the reciprocal. */
#include <math.h>

#include "interp/float/float.h"
#include "interp/float/fused.h"

enum { LANES = 16, PART = 256 /* a multiple of LANES */ };

static float sum_of(float lane[LANES])
{
    for (int i = 0; i < LANES / 2; i++)
        lane[i] += lane[i + LANES / 2];
    return ((lane[0] + lane[1]) + (lane[2] + lane[3])) +
           ((lane[4] + lane[5]) + (lane[6] + lane[7]));
}

static void exponentials(const float *x, float *y, int64_t n, int64_t step, float beta, bool is_log)
{
    float top = -INFINITY, lane[LANES] = {0};
    for (int64_t i = 0; i < n; i++)
        top = x[i * step] > top ? x[i * step] : top;
    for (int64_t i = 0; i < n; i += PART) {
        const int64_t m = n - i < PART ? n - i : PART;
        float v[PART], e[PART];
        for (int64_t k = 0; k < m; k++)
            v[k] = beta * (x[(i + k) * step] - top);
        float_exp(v, m, e);
        for (int64_t k = 0; k < m; k++)
            lane[k % LANES] += e[k];
        for (int64_t k = 0; k < m && !is_log; k++)
            y[(i + k) * step] = e[k];
    }
    const float sum = sum_of(lane), factor = 1 / sum, shift = logf(sum);
    for (int64_t i = 0; i < n; i++)
        y[i * step] = is_log ? beta * (x[i * step] - top) - shift : y[i * step] * factor;
}

static void softmax_row(const assay_node *node, const float *x, int64_t n, int64_t step, float *y)
{
    exponentials(x, y, n, step, node->attr.softmax.beta, node->op == ASSAY_OP_LOG_SOFTMAX);
}

assay_status float_softmax(assay_call *call, assay_error *err)
{
    (void)err;
    float_rows(call, softmax_row);
    return ASSAY_OK;
}
