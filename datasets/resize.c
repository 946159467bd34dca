/* Resizing of images, before anything else becomes of them; see resize.h. */
#include "datasets/resize.h"

#include <math.h>
#include <string.h>

bool dataset_extent_of(const assay_sample_type *t, assay_extent *s)
{
    if (t->rank == 2)
        *s = (assay_extent){t->shape[0], t->shape[1], 1};
    else if (t->rank == 3 && t->planar)
        *s = (assay_extent){t->shape[1], t->shape[2], t->shape[0]};
    else if (t->rank == 3)
        *s = (assay_extent){t->shape[0], t->shape[1], t->shape[2]};
    else
        return false;
    return true;
}

/* Between which two places of `in` an output place lies, and how far towards the second. */
typedef struct between {
    int64_t low, high;
    double part;
} between;

static between place(int64_t i, int64_t in, int64_t out, bool nearest)
{
    if (nearest) {
        const int64_t at = (2 * i + 1) * in / (2 * out);
        return (between){at, at, 0};
    }
    double centre = ((double)i + 0.5) * (double)in / (double)out - 0.5;
    centre = fmin(fmax(centre, 0), (double)(in - 1));
    const int64_t low = (int64_t)centre;
    return (between){low, low + 1 < in ? low + 1 : low, centre - (double)low};
}

void dataset_store_rounded(assay_npy_type type, void *to, size_t i, double v)
{
    if (type == ASSAY_NPY_F4)
        ((float *)to)[i] = (float)v;
    else if (type == ASSAY_NPY_U2)
        ((uint16_t *)to)[i] = (uint16_t)fmin(fmax(rint(v), 0), UINT16_MAX);
    else if (type == ASSAY_NPY_U1)
        ((uint8_t *)to)[i] = (uint8_t)fmin(fmax(rint(v), 0), UINT8_MAX);
    else
        ((int8_t *)to)[i] = (int8_t)fmin(fmax(rint(v), INT8_MIN), INT8_MAX);
}

/* Where element [y,x,c] of an image stands. */
static size_t at(const assay_sample_type *t, const assay_extent *s, int64_t y, int64_t x, int64_t c)
{
    return (size_t)(t->planar ? (c * s->height + y) * s->width + x
                              : (y * s->width + x) * s->channels + c);
}

void dataset_resize(const assay_sample_type *in, const void *from, bool nearest,
                    const assay_sample_type *out, void *to)
{
    assay_extent a, b;
    if (!dataset_extent_of(in, &a) || !dataset_extent_of(out, &b))
        return;
    for (int64_t y = 0; y < b.height; y++) {
        const between r = place(y, a.height, b.height, nearest);
        for (int64_t x = 0; x < b.width; x++) {
            const between k = place(x, a.width, b.width, nearest);
            for (int64_t c = 0; c < b.channels; c++) {
                const double p = text_npy_get(from, in->type, at(in, &a, r.low, k.low, c));
                const double q = text_npy_get(from, in->type, at(in, &a, r.low, k.high, c));
                const double s = text_npy_get(from, in->type, at(in, &a, r.high, k.low, c));
                const double t = text_npy_get(from, in->type, at(in, &a, r.high, k.high, c));
                const double above = p + (q - p) * k.part, below = s + (t - s) * k.part;
                dataset_store_rounded(in->type, to, at(out, &b, y, x, c),
                                      above + (below - above) * r.part);
            }
        }
    }
}
