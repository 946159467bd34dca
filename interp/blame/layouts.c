/* Dumps whose shape does not say their layout; see layouts.h. */
#include "interp/blame/layouts.h"

#include <stdlib.h>
#include <string.h>

#include "graph/memory.h"
#include "interp/blame/layout.h"

/* Whether another layout has the elements in another order. */
static bool is_ordered(const assay_type *t)
{
    int wide = 0;
    for (int i = 1; i < t->rank; i++)
        wide += t->dim[i] > 1;
    return wide >= 2 && t->rank >= 3;
}

void blame_layouts_count(blame_layouts *by_rank, const assay_type *golden, const assay_type *found)
{
    int perm[ASSAY_MAX_RANK];
    blame_layouts *of = &by_rank[golden->rank];
    const int layout = blame_layout_find(golden, found, perm);
    if (!is_ordered(golden))
        return;
    if (blame_layout_same(golden, found))
        of->straight += blame_layout_find(golden, golden, perm) < 0;
    else if (layout >= 0)
        of->transposed[layout]++;
}

static bool transpose(void **data, const assay_type *t, assay_elem elem, const int *perm)
{
    assay_type like = *t;
    like.elem = elem;
    void *transposed = *data ? blame_layout_transpose(&like, &like, perm, *data) : NULL;
    if (!transposed)
        return !*data;
    free(*data);
    *data = transposed;
    return true;
}

/* How many elements are golden's. */
static int64_t agreeing(const blame_tensor *t, const assay_type *type)
{
    const size_t width = t->device ? assay_elem_size(type->elem) : sizeof *t->sums;
    const char *found = t->device ? t->device : (const void *)t->sums;
    const char *golden = t->device ? t->golden : (const void *)t->golden_sums;
    int64_t agree = 0;
    for (int64_t i = 0; i < assay_shape_count(type); i++)
        agree += memcmp(found + (size_t)i * width, golden + (size_t)i * width, width) == 0;
    return agree;
}

static bool transpose_all(blame_tensor *t, const assay_type *type, const int *perm)
{
    void *mask = t->mask, *sums = t->sums, *beside = t->beside;
    const bool good = transpose(&t->device, type, type->elem, perm) &&
                      transpose(&sums, type, assay_int(64, true), perm) &&
                      transpose(&beside, type, assay_int(64, true), perm) &&
                      transpose(&mask, type, assay_bool(), perm);
    t->mask = mask;
    t->sums = sums;
    t->beside = beside;
    return good;
}

/* perm is of three axes or more, of which one stays: its inverse is the other layout's. */
static bool transpose_if_nearer(blame_tensor *t, const assay_type *type, bool last)
{
    int perm[ASSAY_MAX_RANK], back[ASSAY_MAX_RANK];
    const int64_t straight = agreeing(t, type);
    if (!blame_layout_is(type, type, last, perm) || !blame_layout_is(type, type, !last, back))
        return true;
    if (!transpose_all(t, type, perm))
        return false;
    return agreeing(t, type) > straight || transpose_all(t, type, back);
}

static bool is_unanimous(const blame_layouts *l)
{
    return (l->straight > 0) + (l->transposed[0] > 0) + (l->transposed[1] > 0) == 1;
}

static bool arrange(blame_tensor *t, const assay_type *type, const blame_layouts *own,
                    const blame_layouts *all)
{
    int perm[ASSAY_MAX_RANK];
    bool good = true;
    for (int last = 0; last < 2 && good; last++) {
        if (!all->transposed[last] || !blame_layout_is(type, type, last, perm))
            continue;
        if (!is_unanimous(own))
            good = transpose_if_nearer(t, type, last);
        else if (own->transposed[last])
            good = transpose_all(t, type, perm);
    }
    return good;
}

/* ---- dumps without a shape ---- */

/* The shape of a dump of golden's type in a layout, and the axes of blame_layout_is. */
static assay_type shape_in(const assay_type *golden, bool last, int *perm)
{
    assay_type found = *golden;
    blame_layout_is(golden, golden, last, perm);
    for (int i = 0; i < golden->rank; i++)
        found.dim[i] = golden->dim[perm[i]];
    return found;
}

/* The dump's elements, taken for those of a layout, in golden's order; malloc'd. */
static void *taken_as(const void *from, const assay_type *golden, bool last)
{
    int perm[ASSAY_MAX_RANK];
    const assay_type found = shape_in(golden, last, perm);
    return blame_layout_transpose(golden, &found, perm, from);
}

static bool is_shapeless(const blame_tensor *t, const assay_type *type)
{
    return t->shapeless && (t->device || t->sums) && is_ordered(type);
}

/* Elements of `like`'s shape as the dump has them: codes or accumulators. */
static assay_type dumped_type(const blame_tensor *t, const assay_type *like)
{
    assay_type type = *like;
    type.elem = t->device ? like->elem : assay_int(64, true);
    return type;
}

static bool is_golden(const blame_tensor *t, const assay_type *type, const char *found,
                      const uint8_t *mask)
{
    const char *golden = t->device ? t->golden : (const void *)t->golden_sums;
    const size_t width = assay_elem_size(type->elem);
    if (!mask)
        return memcmp(found, golden, assay_type_bytes(type)) == 0;
    for (int64_t i = 0; i < assay_shape_count(type); i++)
        if (mask[i] && memcmp(found + (size_t)i * width, golden + (size_t)i * width, width) != 0)
            return false;
    return true;
}

/* Whether the dump is golden's tensor in a layout, where it was observed. False: out of memory. */
static bool is_golden_in(const blame_tensor *t, const assay_type *type, bool last, bool *same)
{
    assay_type seen = *type;
    seen.elem = assay_bool();
    void *data = taken_as(t->device ? t->device : (const void *)t->sums, type, last);
    uint8_t *mask = t->mask && t->mask_shapeless ? taken_as(t->mask, &seen, last) : t->mask;
    const bool good = data && (mask || !t->mask);
    *same = good && is_golden(t, type, data, mask);
    free(data);
    if (mask != t->mask)
        free(mask);
    return good;
}

/* Counts the layouts in which the dump, codes or accumulators, is golden's tensor, unless all are.
 */
static bool vote(const blame_tensor *t, const assay_type *like, blame_layouts *of)
{
    const assay_type type = dumped_type(t, like);
    const void *found = t->device ? t->device : (const void *)t->sums;
    const bool straight = is_golden(t, &type, found, t->mask);
    bool same[2];
    for (int last = 0; last < 2; last++)
        if (!is_golden_in(t, &type, last, &same[last]))
            return false;
    if (straight && same[0] && same[1])
        return true;
    of->straight += straight;
    of->transposed[0] += same[0];
    of->transposed[1] += same[1];
    return true;
}

static bool retake(void **data, const assay_type *type, bool last)
{
    void *taken = taken_as(*data, type, last);
    if (!taken)
        return false;
    free(*data);
    *data = taken;
    return true;
}

static bool take(blame_tensor *t, const assay_type *like, bool last)
{
    const assay_type type = dumped_type(t, like);
    assay_type seen = type;
    void *sums = t->sums, *mask = t->mask;
    seen.elem = assay_bool();
    const bool good = retake(t->device ? &t->device : &sums, &type, last) &&
                      (!mask || !t->mask_shapeless || retake(&mask, &seen, last));
    t->sums = sums;
    t->mask = mask;
    return good;
}

/* Calls vote, or with the votes take, for each dump without a shape. False: out of memory. */
static bool each_shapeless(blame_device *d, blame_layouts *by_rank, bool counted)
{
    bool good = true;
    for (int k = 0; k < d->n_samples; k++)
        for (int v = 0; v < d->graph->n_values && good; v++) {
            const assay_type *type = &d->graph->value[v].type;
            const blame_layouts *l = &by_rank[type->rank];
            const bool last = l->transposed[1] > l->transposed[0];
            blame_tensor *t = blame_at(d, k, v);
            if (!is_shapeless(t, type))
                continue;
            if (!counted)
                good = vote(t, type, &by_rank[type->rank]);
            else if (l->transposed[last] > l->straight)
                good = take(t, type, last);
        }
    return good;
}

static assay_status arrange_shapeless(blame_device *d, assay_error *err)
{
    blame_layouts by_rank[ASSAY_MAX_RANK + 1] = {0};
    const bool good = each_shapeless(d, by_rank, false) && each_shapeless(d, by_rank, true);
    return good ? ASSAY_OK : assay_out_of_memory(err);
}

assay_status blame_layouts_arrange(blame_device *d, const blame_layouts *by_rank, assay_error *err)
{
    blame_layouts all = {0};
    for (int i = 0; i <= ASSAY_MAX_RANK; i++) {
        all.straight += by_rank[i].straight;
        all.transposed[0] += by_rank[i].transposed[0];
        all.transposed[1] += by_rank[i].transposed[1];
    }
    for (int k = 0; k < d->n_samples; k++)
        for (int v = 0; v < d->graph->n_values; v++) {
            const assay_type *type = &d->graph->value[v].type;
            blame_tensor *t = blame_at(d, k, v);
            if ((t->device || t->sums) && !is_shapeless(t, type) &&
                !arrange(t, type, &by_rank[type->rank], &all))
                return assay_out_of_memory(err);
        }
    return arrange_shapeless(d, err);
}
