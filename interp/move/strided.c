/* Copying through strides: what transpose, slice, expand, tile and the block ops have in common. */
#include <string.h>

#include "interp/move/move.h"

/* Leaves out axes of extent 1 and joins an axis into the one before it where both are one walk.
 * False when there is nothing to copy. */
static bool simplify(assay_strided *w)
{
    int n = 0;
    for (int d = 0; d < w->rank; d++) {
        if (w->dim[d] == 0)
            return false;
        if (w->dim[d] == 1)
            continue;
        if (n > 0 && w->step[n - 1] == w->step[d] * w->dim[d]) {
            w->dim[n - 1] *= w->dim[d];
            w->step[n - 1] = w->step[d];
            continue;
        }
        w->dim[n] = w->dim[d];
        w->step[n] = w->step[d];
        n++;
    }
    w->rank = n;
    return true;
}

#define COPY_ROW(type)                                                                             \
    do {                                                                                           \
        type *d = dst;                                                                             \
        const type *s = src;                                                                       \
        for (int64_t i = 0; i < n; i++)                                                            \
            d[i] = s[i * step];                                                                    \
    } while (0)

static void copy_row(void *dst, const void *src, size_t size, int64_t n, int64_t step)
{
    if (step == 1)
        memcpy(dst, src, (size_t)n * size);
    else if (size == 1)
        COPY_ROW(uint8_t);
    else if (size == 2)
        COPY_ROW(uint16_t);
    else if (size == 4)
        COPY_ROW(uint32_t);
    else
        COPY_ROW(uint64_t);
}

void move_copy_strided(void *dst, const void *src, size_t size, const assay_strided *walk)
{
    assay_strided w = *walk;
    int64_t index[ASSAY_STRIDED_RANK] = {0};
    char *to = dst;
    int64_t at = w.offset;

    if (!simplify(&w))
        return;
    int outer = w.rank > 0 ? w.rank - 1 : 0;
    int64_t columns = w.rank > 0 ? w.dim[outer] : 1, step = w.rank > 0 ? w.step[outer] : 1;
    for (;;) {
        copy_row(to, (const char *)src + at * (int64_t)size, size, columns, step);
        to += columns * (int64_t)size;
        int d = outer - 1;
        for (; d >= 0; d--) {
            at += w.step[d];
            if (++index[d] < w.dim[d])
                break;
            at -= w.step[d] * w.dim[d];
            index[d] = 0;
        }
        if (d < 0)
            return;
    }
}

void move_c_steps(const assay_type *t, int64_t step[ASSAY_MAX_RANK])
{
    int64_t n = 1;
    for (int d = t->rank - 1; d >= 0; d--) {
        step[d] = n;
        n *= t->dim[d];
    }
}

int64_t move_extent(const assay_type *t, int first, int last)
{
    int64_t n = 1;
    for (int d = first; d < last; d++)
        n *= t->dim[d];
    return n;
}

int64_t move_load_index(const assay_view *v, int64_t i)
{
    return assay_elem_get(v->type->elem, v->data, (size_t)i);
}

int64_t move_order_key(const assay_view *v, int64_t i)
{
    if (v->type->elem.kind != ASSAY_KIND_F32)
        return move_load_index(v, i);
    uint32_t bits = ((const uint32_t *)v->data)[i];
    int64_t magnitude = bits & 0x7fffffffu;
    return bits >> 31 ? -magnitude : magnitude;
}
