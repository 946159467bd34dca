/* Tensors as stacks of planes; see planes.h. */
#include "interp/page/planes.h"

page_planes page_planes_of(const assay_type *t, bool channels_last)
{
    const int64_t last = t->rank > 0 ? t->dim[t->rank - 1] : 1, all = assay_shape_count(t);

    if (t->rank == 4 && channels_last) {
        const int64_t h = t->dim[1], w = t->dim[2];
        return (page_planes){last, h * t->dim[0], w, 1, w * last, last};
    }
    if (t->rank > 2) {
        const int64_t h = t->dim[t->rank - 2], plane = h * last;
        return (page_planes){plane > 0 ? all / plane : 0, h, last, plane, last, 1};
    }
    return (page_planes){1, last > 0 ? all / last : 0, last, all, last, 1};
}
