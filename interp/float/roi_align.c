/* roi_align: x[N,C,H,W], rois[R,4] (left, top, right, bottom), batch[R] -> y[R,C,h,w]. Each roi is
 * cut into h by w bins, and a bin is the mean of ratio x ratio samples of it:
 *
 *   begin = left * scale - offset     size = right * scale - offset - begin
 *   sample s of bin b at  begin + b * size/w + (s + 1/2) * size/w / ratio
 *
 * read linearly between the neighbours; up to one pixel beyond the image its border is read,
 * further out 0. offset is 1/2 where the roi is aligned; where not, sizes are at least 1. ratio 0
 * is the size of a bin, rounded up. Source: RoiAlign in Operators.md of github.com/onnx/onnx. */
#include <inttypes.h>
#include <math.h>

#include "interp/float/float.h"

#define SAMPLES_MAX 65536 /* along an axis of a bin */

/* Along one axis: where the bins begin, how long they are, how many samples each has. */
typedef struct span {
    float begin, bin;
    int64_t samples, extent;
} span;

static span span_of(const assay_attr_roi *a, float from, float to, int64_t bins, int64_t extent)
{
    const float offset = a->aligned ? 0.5F : 0;
    span s = {.begin = from * a->scale - offset, .extent = extent};
    float size = to * a->scale - offset - s.begin;
    if (!a->aligned)
        size = fmaxf(size, 1);
    s.bin = size / (float)bins;
    const float samples = a->ratio > 0 ? (float)a->ratio : ceilf(s.bin);
    s.samples = samples > 0 && samples <= SAMPLES_MAX ? (int64_t)samples : samples > 0 ? -1 : 0;
    return s;
}

/* The two neighbours of a sample and how far it is from the first; false beyond the border. */
static bool neighbours(const span *s, int64_t bin, int64_t sample, int64_t at[2], float *from)
{
    float p = s->begin + (float)bin * s->bin + ((float)sample + 0.5F) * s->bin / (float)s->samples;
    if (!(p >= -1 && p <= (float)s->extent))
        return false;
    p = fmaxf(p, 0);
    at[0] = (int64_t)p;
    if (at[0] >= s->extent - 1) {
        at[0] = at[1] = s->extent - 1;
        p = (float)at[0];
    } else {
        at[1] = at[0] + 1;
    }
    *from = p - (float)at[0];
    return true;
}

static void tell_sample(const assay_teller *t, const float *x, const float *weight, float sum)
{
    for (int k = 0; k < 4; k++) {
        apply_tell_float(t, "x", x[k]);
        apply_tell_float(t, "weight", weight[k]);
    }
    apply_tell_float(t, "sum so far", sum);
}

static float bin_mean(const float *x, const span *v, const span *h, int64_t row, int64_t column,
                      const assay_teller *t)
{
    const int64_t count = v->samples * h->samples, cells = count > 0 ? count : 1;
    int64_t down[2], along[2];
    float dy, dx, sum = 0;
    for (int64_t i = 0; i < v->samples; i++)
        for (int64_t j = 0; j < h->samples; j++) {
            if (!neighbours(v, row, i, down, &dy) || !neighbours(h, column, j, along, &dx))
                continue;
            const float *top = x + down[0] * h->extent, *low = x + down[1] * h->extent;
            const float weight[4] = {(1 - dy) * (1 - dx), (1 - dy) * dx, dy * (1 - dx), dy * dx};
            const float corner[4] = {top[along[0]], top[along[1]], low[along[0]], low[along[1]]};
            sum += weight[0] * corner[0] + weight[1] * corner[1] + weight[2] * corner[2] +
                   weight[3] * corner[3];
            if (t && count <= FLOAT_TOLD)
                tell_sample(t, corner, weight, sum);
        }
    apply_tell_float(t, "sum of the samples", sum);
    apply_tell(t, "divided by so many samples", cells);
    apply_tell_float(t, "mean", sum / (float)cells);
    return sum / (float)cells;
}

assay_status float_roi_align(assay_call *call, assay_error *err)
{
    const assay_attr_roi *a = &call->node->attr.roi;
    const int64_t *dim = call->in[0].type->dim, channels = dim[1], image = dim[2] * dim[3];
    const float *roi = call->in[1].data;
    float *y = call->out[0].data, *const first = y;

    for (int64_t r = 0; r < call->in[1].type->dim[0]; r++, roi += 4) {
        int64_t batch;
        float_load_integers(&call->in[2], r, 1, 1, &batch);
        const span v = span_of(a, roi[1], roi[3], a->height, dim[2]);
        const span h = span_of(a, roi[0], roi[2], a->width, dim[3]);
        if (batch < 0 || batch >= dim[0] || v.samples < 0 || h.samples < 0)
            return assay_fail(err, ASSAY_ERR_INPUT,
                              "node '%s': roi %" PRId64 " is of image %" PRId64 " of %" PRId64
                              ", or larger than can be sampled",
                              call->node->name, r, batch, dim[0]);
        for (int64_t c = 0; c < channels; c++)
            for (int64_t i = 0; i < a->height * a->width; i++, y++)
                *y = bin_mean((const float *)call->in[0].data + (batch * channels + c) * image, &v,
                              &h, i / a->width, i % a->width, float_teller(call, y - first));
    }
    return ASSAY_OK;
}
