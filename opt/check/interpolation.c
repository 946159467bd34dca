/* Checking that a rescale sank below a linear resize: it adds one number to every code, shown by
 * values interpolated between neighbouring codes, at fractions on both sides of every place where
 * rounding steps. */
#include <stdlib.h>

#include "graph/core/type.h"
#include "opt/check/check.h"

/* Interpolated between two rows, each of one code. */
static int64_t interpolated(const check_context *c, const assay_unit *u, int32_t a, int32_t b,
                            int32_t at)
{
    const int32_t corner[4] = {a, a, b, b}, zero = 0;
    int32_t out;
    c->scheme->vt->interpolate(u, corner, &at, &zero, 1, &out);
    return out;
}

static int64_t compare(const check_context *c, const assay_unit *before, const assay_unit *after,
                       const int32_t *table, int64_t size, int64_t least)
{
    int32_t bits = 10;
    int64_t worst = 0;
    c->scheme->vt->interpolate(after, NULL, NULL, NULL, 0, &bits);
    const int32_t one = (int32_t)(UINT32_C(1) << bits), half = one / 2;
    const int32_t at[] = {0, 1, half - 1, half, half + 1, one - 1};
    for (int64_t i = 0; i + 1 < size; i++)
        for (size_t f = 0; f < sizeof at / sizeof *at; f++) {
            const int32_t x = (int32_t)(least + i);
            int64_t was = interpolated(c, before, table[i], table[i + 1], at[f]);
            int64_t code = interpolated(c, after, x, x + 1, at[f]) - least;
            if (code < 0 || code >= size)
                return INT64_MAX;
            int64_t d = was - table[code];
            d = d < 0 ? -d : d;
            worst = d > worst ? d : worst;
        }
    return worst;
}

assay_status check_interpolation(check_context *c, const json_t *step, int64_t *worst)
{
    const assay_node *below = check_producer(c->before, c->before->output[0]);
    const assay_node *rescale = check_producer(c->after, c->after->output[0]);
    const assay_node *moved = rescale ? check_producer(c->after, rescale->in[0]) : NULL;
    int32_t *table = NULL;
    size_t size = 0;
    (void)step;
    if (!below || !moved || !check_is_sunk(c->before, below, c->after, moved, rescale) ||
        !check_outputs_fit(c, below, moved, rescale))
        return check_reject(c, "the rescale was not only moved");
    if (!(check_traits(below) & ASSAY_T_INTERPOLATES) ||
        below->attr.resize.mode != ASSAY_RESIZE_LINEAR || !c->scheme->vt->interpolate)
        return check_reject(c, "the node does more than interpolate");
    assay_unit *before = NULL, *after = NULL;
    assay_status s = check_tabulate(c, c->after, rescale, &table, &size);
    for (size_t i = 1; i < size && !s; i++)
        if (table[i] != table[0] + (int32_t)i)
            s = check_reject(c, "the rescale does more than add a number");
    if (!s)
        s = check_prepare_pair(c, below, moved, &before, &after);
    if (!s)
        *worst = compare(c, before, after, table, (int64_t)size,
                         assay_elem_min(c->after->value[moved->in[0]].type.elem));
    check_release_pair(c, before, after);
    free(table);
    return s;
}
