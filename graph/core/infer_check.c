/* Common parts of shape rules: failing, lists, axes, broadcasting. */
#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "graph/core/infer.h"

const assay_type *assay_infer_in(const assay_inference *c, int i)
{
    const assay_value *v = assay_node_in(c->g, c->n, i);
    return v ? &v->type : NULL;
}

assay_status assay_infer_fail(const assay_inference *c, const char *format, ...)
{
    char text[400];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return assay_fail(c->err, ASSAY_ERR_INPUT, "node '%.200s' (%s): %s", c->n->name,
                      assay_op_get(c->n->op)->name, text);
}

assay_status assay_infer_axis(const assay_inference *c, int64_t axis)
{
    if (axis < 0 || axis >= c->x->rank)
        return assay_infer_fail(c, "axis %lld is outside the input's %d dimensions",
                                (long long)axis, c->x->rank);
    return ASSAY_OK;
}

assay_status assay_infer_axes(const assay_inference *c, const assay_list *axes)
{
    unsigned seen = 0;
    for (int i = 0; i < axes->n; ++i) {
        assay_status s = assay_infer_axis(c, axes->v[i]);
        if (s)
            return s;
        assert(axes->v[i] >= 0 && axes->v[i] < ASSAY_MAX_RANK);
        if (seen >> axes->v[i] & 1U)
            return assay_infer_fail(c, "axis %lld is named twice", (long long)axes->v[i]);
        seen |= 1U << axes->v[i];
    }
    return ASSAY_OK;
}

assay_status assay_infer_list(const assay_inference *c, const char *name, const assay_list *l,
                              int n, int64_t lo, int64_t hi)
{
    if (l->n != n)
        return assay_infer_fail(c, "attribute '%s' has %d entries, expected %d", name, l->n, n);
    for (int i = 0; i < n; ++i)
        if (l->v[i] < lo || l->v[i] > hi)
            return assay_infer_fail(c, "attribute '%s' holds %lld, expected %lld to %lld", name,
                                    (long long)l->v[i], (long long)lo, (long long)hi);
    return ASSAY_OK;
}

assay_status assay_infer_alike(const assay_inference *c, int first, int last)
{
    const assay_type *a = assay_infer_in(c, first);
    for (int i = first + 1; i <= last; ++i) {
        const assay_type *b = assay_infer_in(c, i);
        char ta[8], tb[8];
        if (b && b->elem.kind != a->elem.kind)
            return assay_infer_fail(
                c, "input %d is %s but input %d is %s; their element kinds must be equal", first,
                assay_elem_print(a->elem, ta), i, assay_elem_print(b->elem, tb));
    }
    return ASSAY_OK;
}

assay_status assay_infer_vector(const assay_inference *c, int i, const char *what, int64_t n)
{
    const assay_type *v = assay_infer_in(c, i);
    char shape[128];
    if (v && (v->rank != 1 || v->dim[0] != n))
        return assay_infer_fail(c, "the %s is %s, expected [%lld]", what,
                                assay_shape_print(v, shape, sizeof shape), (long long)n);
    return ASSAY_OK;
}

assay_status assay_infer_broadcast(const assay_inference *c, const assay_type *a,
                                   const assay_type *b, assay_type *out)
{
    int rank = a->rank > b->rank ? a->rank : b->rank;
    int64_t dim[ASSAY_MAX_RANK];
    for (int i = 0; i < rank; ++i) {
        int ia = i - (rank - a->rank), ib = i - (rank - b->rank);
        int64_t da = ia < 0 ? 1 : a->dim[ia], db = ib < 0 ? 1 : b->dim[ib];
        if (da != db && da != 1 && db != 1) {
            char sa[128], sb[128];
            return assay_infer_fail(c, "shapes %s and %s do not broadcast",
                                    assay_shape_print(a, sa, sizeof sa),
                                    assay_shape_print(b, sb, sizeof sb));
        }
        dim[i] = da == 1 ? db : da;
    }
    out->rank = rank;
    memcpy(out->dim, dim, (size_t)rank * sizeof *dim);
    return ASSAY_OK;
}

assay_status assay_infer_size(const assay_inference *c, const assay_type *t)
{
    char what[260];
    snprintf(what, sizeof what, "node '%.200s' (%s)", c->n->name, assay_op_get(c->n->op)->name);
    return assay_shape_check(t, what, c->err);
}

void assay_infer_shape(assay_type *out, const assay_type *from)
{
    out->rank = from->rank;
    memcpy(out->dim, from->dim, sizeof out->dim);
}
