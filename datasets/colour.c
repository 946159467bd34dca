/* Gray of colours, and colours of gray; see colour.h. */
#include "datasets/colour.h"

#include <math.h>

assay_sample_type dataset_recoloured(const assay_sample_type *in, int64_t channels)
{
    assay_sample_type t = *in;
    if (t.rank == 2)
        t = (assay_sample_type){in->type, 3, {in->shape[0], in->shape[1], channels}, false};
    else
        t.shape[t.planar ? 0 : 2] = channels;
    return t;
}

static double gray_of(const assay_preprocess *p, const double colour[3])
{
    const int64_t r = (int64_t)colour[0], g = (int64_t)colour[1], b = (int64_t)colour[2];
    if (p->gray == ASSAY_GRAY_PILLOW)
        return (double)((19595 * r + 38470 * g + 7471 * b + (1 << 15)) >> 16);
    if (p->gray == ASSAY_GRAY_OPENCV)
        return (double)((9798 * r + 19235 * g + 3735 * b + (1 << 14)) >> 15);
    return p->weight[0] * colour[0] + p->weight[1] * colour[1] + p->weight[2] * colour[2];
}

/* Where channel c of pixel i stands. */
static size_t at(const assay_sample_type *t, const assay_extent *s, int64_t i, int64_t c)
{
    return (size_t)(t->planar ? c * s->height * s->width + i : i * s->channels + c);
}

void dataset_recolour(const assay_preprocess *p, const assay_sample_type *in, const void *from,
                      const assay_sample_type *out, void *to)
{
    assay_extent a, b;
    if (!dataset_extent_of(in, &a) || !dataset_extent_of(out, &b))
        return;
    for (int64_t i = 0; i < a.height * a.width; i++) {
        double colour[3];
        for (int c = 0; c < 3; c++)
            colour[c] = text_npy_get(from, in->type, at(in, &a, i, a.channels == 3 ? c : 0));
        for (int64_t c = 0; c < b.channels; c++)
            dataset_store_rounded(in->type, to, at(out, &b, i, c),
                                  b.channels == 1 ? gray_of(p, colour) : colour[c]);
    }
}
