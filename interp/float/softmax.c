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

static bool is_log(const float_axis_row *r)
{
    return r->node->op == ASSAY_OP_LOG_SOFTMAX;
}

/* The sum of the exponentials, which become y but for the logarithm. */
static float exponentials(const float_axis_row *r, float top)
{
    const float beta = r->node->attr.softmax.beta;
    float lane[LANES] = {0};
    for (int64_t i = 0; i < r->n; i += PART) {
        const int64_t m = r->n - i < PART ? r->n - i : PART;
        float v[PART], e[PART];
        for (int64_t k = 0; k < m; k++)
            v[k] = beta * (r->x[(i + k) * r->step] - top);
        float_exp(v, m, e);
        for (int64_t k = 0; k < m; k++)
            lane[k % LANES] += e[k];
        for (int64_t k = 0; k < m && !is_log(r); k++)
            r->y[(i + k) * r->step] = e[k];
    }
    return sum_of(lane);
}

/* The steps of the element that is asked for, while y still is its exponential. */
static void tell(const float_axis_row *r, float top, float sum)
{
    const assay_teller *t = r->teller;
    const int64_t at = (int64_t)t->at * r->step;
    const float x = r->x[at], part = r->node->attr.softmax.beta * (x - top);
    apply_tell_float(t, "x", x);
    apply_tell_float(t, "greatest of the row", top);
    apply_tell_float(t, "beta * (x - greatest)", part);
    if (!is_log(r))
        apply_tell_float(t, "exponential", r->y[at]);
    apply_tell_float(t, "sum of the row's exponentials", sum);
    apply_tell_float(t, is_log(r) ? "logarithm of the sum" : "1 / sum",
                     is_log(r) ? logf(sum) : 1 / sum);
    apply_tell_float(t, is_log(r) ? "less the logarithm" : "exponential * (1 / sum)",
                     is_log(r) ? part - logf(sum) : r->y[at] * (1 / sum));
}

static void softmax_row(const float_axis_row *r)
{
    const float beta = r->node->attr.softmax.beta;
    float top = -INFINITY;
    for (int64_t i = 0; i < r->n; i++)
        top = r->x[i * r->step] > top ? r->x[i * r->step] : top;
    const float sum = exponentials(r, top), factor = 1 / sum, shift = logf(sum);
    if (r->teller)
        tell(r, top, sum);
    for (int64_t i = 0; i < r->n; i++) {
        float *y = &r->y[i * r->step];
        *y = is_log(r) ? beta * (r->x[i * r->step] - top) - shift : *y * factor;
    }
}

assay_status float_softmax(assay_call *call, assay_error *err)
{
    (void)err;
    float_rows(call, softmax_row);
    return ASSAY_OK;
}
