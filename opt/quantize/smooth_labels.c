/* Labels of elements: of which channel each is; see smooth_parts.h. */
#include <string.h>

#include "opt/quantize/smooth_parts.h"

const assay_type *quantize_smooth_type(const smooth_walk *w, int v)
{
    return &w->f->g->value[v].type;
}

int *quantize_smooth_new_labels(smooth_walk *w, int64_t n)
{
    int *label = assay_arena_array(w->scratch, (size_t)n + 1, sizeof *label);
    for (int64_t i = 0; label && i < n; i++)
        label[i] = -1;
    w->full |= !label;
    return label;
}

const int *quantize_smooth_keep(smooth_walk *w, const int *label, int64_t n)
{
    int *kept = assay_arena_array(w->f->arena, (size_t)n + 1, sizeof *kept);
    w->full |= !kept;
    if (kept)
        memcpy(kept, label, (size_t)n * sizeof *kept);
    return kept;
}

int64_t quantize_smooth_inner(const assay_type *t, int axis)
{
    int64_t inner = 1;
    for (int d = axis + 1; d < t->rank; d++)
        inner *= t->dim[d];
    return inner;
}

int *quantize_smooth_by_axis(smooth_walk *w, const assay_type *t, int axis, const int *label)
{
    const int64_t n = axis >= 0 && axis < t->rank ? t->dim[axis] : 0,
                  inner = quantize_smooth_inner(t, axis);
    const int64_t count = assay_shape_count(t);
    int *of = n > 0 && count > 0 ? quantize_smooth_new_labels(w, n) : NULL;
    for (int64_t c = 0; of && c < n; c++)
        of[c] = label[c * inner];
    for (int64_t i = 0; of && i < count; i += inner)
        for (int64_t j = i; j < i + inner; j++)
            if (label[j] != of[i / inner % n])
                return NULL;
    return of;
}

int *quantize_smooth_along_axis(smooth_walk *w, const assay_type *t, int axis, const int *of)
{
    const int64_t inner = quantize_smooth_inner(t, axis), count = assay_shape_count(t);
    int *label = quantize_smooth_new_labels(w, count);
    for (int64_t i = 0; label && i < count; i++)
        label[i] = of[i / inner % t->dim[axis]];
    return label;
}

/* Where element i of `t` lies in an operand that is broadcast to it. */
static int64_t place_in(const assay_type *t, const assay_type *operand, int64_t i)
{
    int64_t at = 0, stride = 1;
    for (int d = t->rank - 1, k = operand->rank - 1; k >= 0; i /= t->dim[d], d--, k--) {
        at += operand->dim[k] == 1 ? 0 : i % t->dim[d] * stride;
        stride *= operand->dim[k];
    }
    return at;
}

const int *quantize_smooth_of_operand(smooth_walk *w, const assay_type *t,
                                      const assay_type *operand, const int *label)
{
    const int64_t count = assay_shape_count(t), own = assay_shape_count(operand);
    if (own == count)
        return label;
    int *narrow = quantize_smooth_new_labels(w, own);
    bool *known = assay_arena_array(w->scratch, (size_t)own + 1, sizeof *known);
    w->full |= !known;
    for (int64_t i = 0; narrow && known && i < count; i++) {
        const int64_t at = place_in(t, operand, i);
        if (known[at] && narrow[at] != label[i])
            return NULL;
        narrow[at] = label[i];
        known[at] = true;
    }
    return known ? narrow : NULL;
}

int quantize_smooth_channel_axis(const assay_node *n, const assay_type *t)
{
    if (n->op == ASSAY_OP_FC)
        return t->rank - 1;
    return n->attr.conv.layout == ASSAY_LAYOUT_NHWC || t->rank < 2 ? t->rank - 1 : 1;
}
