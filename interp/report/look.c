/* A tensor of a bundle, counted and made a picture; see look.h. */
#include "interp/report/look.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "graph/memory.h"
#include "interp/golden/compare.h"

enum { PLANES = 16, SIDE = 64, GAP = 1 };

bool report_look_scale(const assay_type *t, double *scale, int32_t *zero_point)
{
    if (t->q.granularity != ASSAY_Q_TENSOR)
        return false;
    *scale = (double)t->q.scale[0];
    *zero_point = t->q.zero_point[0];
    return true;
}

bool report_look_is_codes(const assay_type *t)
{
    return t->elem.kind == ASSAY_KIND_INT || t->elem.kind == ASSAY_KIND_BOOL;
}

/* A code, or what a float is. */
static double element(const assay_type *t, const void *data, int64_t i)
{
    return report_look_is_codes(t) ? (double)assay_elem_get(t->elem, data, (size_t)i)
                                   : golden_element_real(t, data, i);
}

static double zero_of(const assay_type *t)
{
    double scale;
    int32_t zero_point = 0;
    return report_look_scale(t, &scale, &zero_point) ? zero_point : 0;
}

/* ---- counts ---- */

static void find_range(report_look *l, const void *data)
{
    const assay_type *t = &l->tensor->type;
    for (int64_t i = 0; i < assay_shape_count(t); i++) {
        const double x = element(t, data, i);
        l->nan += isnan(x);
        l->infinite += isinf(x);
        if (!isfinite(x))
            continue;
        l->min = l->elements == 0 || x < l->min ? x : l->min;
        l->max = l->elements == 0 || x > l->max ? x : l->max;
        l->elements++;
    }
}

/* A bin a code where there are as many bins; else the range in equal parts, whole codes. */
static void choose_bins(report_look *l)
{
    const bool codes = report_look_is_codes(&l->tensor->type);
    const double range = l->max - l->min + (codes ? 1 : 0);
    if (l->elements == 0)
        return;
    l->left = l->min;
    l->step = codes ? ceil(range / REPORT_BINS) : range / REPORT_BINS;
    if (!(l->step > 0)) /* one float, or a range below what doubles part */
        l->step = 1;
    l->n_bins = codes ? (int)ceil(range / l->step) : REPORT_BINS;
    l->n_bins = range > 0 ? l->n_bins : 1;
}

static void count(report_look *l, const void *data)
{
    const assay_type *t = &l->tensor->type;
    const bool codes = t->elem.kind == ASSAY_KIND_INT && t->q.granularity != ASSAY_Q_NONE;
    const double lo = (double)assay_elem_min(t->elem), hi = (double)assay_elem_max(t->elem);
    const double zero = zero_of(t);
    for (int64_t i = 0; i < assay_shape_count(t); i++) {
        const double x = element(t, data, i);
        if (!isfinite(x))
            continue;
        const int bin = (int)fmin(floor((x - l->left) / l->step), l->n_bins - 1);
        l->bin[bin]++;
        l->zeros += x == zero;
        l->low += codes && x == lo;
        l->high += codes && x == hi;
    }
}

/* ---- the picture ---- */

static void choose_planes(report_look *l, bool channels_last, int64_t pixels)
{
    page_planes *p = &l->planes;
    *p = page_planes_of(&l->tensor->type, channels_last);
    if (p->width == 1) /* a column lies down */
        *p = (page_planes){p->n, 1, p->height, p->plane, p->line, p->line};
    if (p->n < 1 || p->height < 1 || p->width < 1 || pixels < 1)
        return;
    const int64_t longest = p->height > p->width ? p->height : p->width;
    l->every = (int)((longest + SIDE - 1) / SIDE);
    const int64_t h = (p->height + l->every - 1) / l->every;
    const int64_t w = (p->width + l->every - 1) / l->every;
    const int64_t max = pixels / ((h + GAP) * (w + GAP));
    l->shown = (int)(max < PLANES ? max : PLANES);
    l->shown = l->shown < 1 ? 1 : p->n < l->shown ? (int)p->n : l->shown;
    /* Low planes (vectors: one line) stand below each other, others side by side. */
    const bool below = h * 4 < w;
    l->width = (int)(below ? w : l->shown * (w + GAP) - GAP);
    l->height = (int)(below ? l->shown * (h + GAP) - GAP : h);
}

/* 128 is zero, the ends are the greatest magnitude. */
static uint8_t shade(const report_look *l, double x)
{
    const double zero = zero_of(&l->tensor->type);
    const double max = fmax(fabs(l->min - zero), fabs(l->max - zero));
    if (!isfinite(x))
        return x < 0 ? 1 : 255;
    return (uint8_t)(128.5 + 127 * (max > 0 ? (x - zero) / max : 0));
}

static assay_status draw(report_look *l, const void *data, assay_error *err)
{
    const page_planes *p = &l->planes;
    if (l->shown < 1)
        return ASSAY_OK;
    const int64_t h = (p->height + l->every - 1) / l->every;
    const int64_t w = (p->width + l->every - 1) / l->every;
    const bool below = l->width == w && l->shown > 1;
    l->pixel = calloc((size_t)l->width * (size_t)l->height, 1);
    if (!l->pixel)
        return assay_out_of_memory(err);
    for (int64_t k = 0; k < l->shown; k++) {
        const int64_t top = below ? k * (h + GAP) : 0, left = below ? 0 : k * (w + GAP);
        for (int64_t y = 0; y < h; y++)
            for (int64_t x = 0; x < w; x++) {
                const int64_t at = page_planes_at(p, k, y * l->every, x * l->every);
                l->pixel[(top + y) * l->width + left + x] =
                    shade(l, element(&l->tensor->type, data, at));
            }
    }
    return ASSAY_OK;
}

/* ---- the tensor ---- */

static bool is_another(const assay_bundle *b, int i, int other)
{
    const assay_bundle_tensor *t = &b->tensor[i], *u = &b->tensor[other];
    return u->index == t->index && strcmp(u->name, t->name) == 0 &&
           golden_bundle_has_elements(b, other) && assay_elem_equal(u->type.elem, t->type.elem);
}

/* Calls `step` with the elements of each sample; the first one's also draws. */
static assay_status each_sample(const assay_bundle *b, int i, report_look *l,
                                void (*step)(report_look *, const void *), bool drawn,
                                assay_error *err)
{
    assay_status status = ASSAY_OK;
    for (int k = i; k < b->n_tensors && !status; k++) {
        void *data = NULL;
        if (!is_another(b, i, k))
            continue;
        l->tensor = &b->tensor[k];
        status = golden_bundle_read(b, k, &data, err);
        if (!status)
            step(l, data);
        if (!status && drawn && k == i)
            status = draw(l, data, err);
        free(data);
    }
    l->tensor = &b->tensor[i];
    return status;
}

static bool is_channels_last(const assay_bundle *b, int i)
{
    const json_t *list = json_object_get(b->manifest, "tensors");
    for (int k = i; k < b->n_tensors; k++) {
        const json_t *layout = json_object_get(json_array_get(list, (size_t)k), "layout");
        if (json_is_string(layout))
            return strcmp(json_string_value(layout), "NHWC") == 0;
    }
    return false;
}

assay_status report_look_into(const assay_bundle *b, int i, int64_t pixels, report_look *l,
                              assay_error *err)
{
    *l = (report_look){.tensor = &b->tensor[i], .has_data = b->tensor[i].file};
    for (int k = i; k < b->n_tensors; k++)
        l->samples += b->tensor[k].index == l->tensor->index &&
                      strcmp(b->tensor[k].name, l->tensor->name) == 0;
    if (!l->has_data)
        return ASSAY_OK;
    assay_status status = each_sample(b, i, l, find_range, false, err);
    choose_bins(l);
    choose_planes(l, is_channels_last(b, i), pixels);
    if (!status && l->n_bins > 0)
        status = each_sample(b, i, l, count, true, err);
    return status;
}

void report_look_clear(report_look *l)
{
    free(l->pixel);
}
