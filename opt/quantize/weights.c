/* Calibration of weights: their data are the profile. */
#include <math.h>

#include "opt/quantize/plan.h"

/* Weights of one channel into an empty histogram. */
static void count(const float *x, const assay_weight_map *m, int64_t total, int64_t channel,
                  float min, float max, assay_histogram *h)
{
    profile_histogram_grow(h, min, max);
    for (int64_t i = channel * m->stride; i < total; i += m->stride * m->channels) {
        for (int64_t k = i; k < i + m->stride; k++)
            ++*profile_histogram_at(h, profile_histogram_bin(h, (double)x[k]));
        profile_histogram_note(h, (uint64_t)m->stride, min, max);
    }
}

assay_status quantize_calibrate_weights(const assay_quantizer *q, const assay_choice *choice,
                                        const float *x, const assay_weight_map *m, int64_t total,
                                        double *range, assay_error *err)
{
    const assay_calibrate_how *how = &q->options->weight_calibration;
    assay_status status = ASSAY_OK;
    for (int64_t c = 0; c < m->channels && !status && how->method != ASSAY_CALIBRATE_MIN_MAX; c++) {
        double *r = &range[2 * c]; /* takes in 0 */
        assay_calibrated chosen;
        assay_histogram h;
        status = profile_histogram_init(&h, err);
        if (!status && r[0] < r[1]) {
            count(x, m, total, c, (float)r[0], (float)r[1], &h);
            calibrate_range(&h, how, ldexp(1, choice->elem.bits), &chosen);
            r[0] = chosen.min;
            r[1] = chosen.max;
        }
        profile_histogram_clear(&h);
    }
    return status;
}
