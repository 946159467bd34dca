/* Operands of element-wise ops, part by part; see operands.h. */
#include "interp/fast/operands.h"

#include <assert.h>
#include <string.h>

#include "interp/ref/ref.h"

void fast_operands_begin(assay_operands *o, const assay_type *out, const assay_view *in, int n_in)
{
    *o = (assay_operands){.in = in};
    assert(n_in <= (int)(sizeof o->whole / sizeof *o->whole));
    for (int k = 0; k < n_in; k++) {
        o->whole[k] = assay_shape_count(in[k].type) == assay_shape_count(out);
        o->size[k] = (int)assay_elem_size(in[k].type->elem);
    }
    move_broadcast_begin(&o->walk, out, in, n_in);
}

/* n times the element at x. */
static void repeat(const void *x, int size, int64_t n, char *to)
{
    if (size == 1) {
        memset(to, *(const uint8_t *)x, (size_t)n);
    } else if (size == 2) {
        const uint16_t v = *(const uint16_t *)x;
        for (int64_t i = 0; i < n; i++)
            ((uint16_t *)to)[i] = v;
    } else {
        for (int64_t i = 0; i < n; i++)
            memcpy(to + i * size, x, (size_t)size);
    }
}

/* Row number `row` of the walk: its indices, and the element of input k where it begins. */
static int64_t find_row(const assay_broadcast *w, int k, int64_t row, int64_t index[])
{
    int64_t at = 0;
    for (int d = w->rank - 1; d >= 0; d--) {
        index[d] = row % w->dim[d];
        row /= w->dim[d];
        at += index[d] * w->outer[k][d];
    }
    return at;
}

static int64_t next_row(const assay_broadcast *w, int k, int64_t at, int64_t index[])
{
    for (int d = w->rank - 1; d >= 0; d--) {
        at += w->outer[k][d];
        if (++index[d] < w->dim[d])
            break;
        at -= w->outer[k][d] * w->dim[d];
        index[d] = 0;
    }
    return at;
}

const void *fast_operands_part(const assay_operands *o, int k, int64_t first, int64_t n,
                               void *buffer)
{
    const assay_broadcast *w = &o->walk;
    const char *x = o->in[k].data;
    const int64_t size = o->size[k], columns = w->columns;
    int64_t index[ASSAY_MAX_RANK];
    char *to = buffer;
    if (o->whole[k])
        return x + first * size;
    int64_t at = find_row(w, k, first / columns, index), c = first % columns;
    while (n > 0) {
        const int64_t m = columns - c < n ? columns - c : n;
        const char *from = x + (at + c * w->step[k]) * size;
        if (w->step[k] == 0)
            repeat(from, (int)size, m, to);
        else
            memcpy(to, from, (size_t)(m * size));
        to += m * size;
        n -= m;
        c = 0;
        at = next_row(w, k, at, index);
    }
    return buffer;
}

bool fast_is_short(const assay_type *t)
{
    return t->elem.kind == ASSAY_KIND_BOOL ||
           (t->elem.kind == ASSAY_KIND_INT && t->elem.bits <= 16);
}

#define WIDEN(T)                                                                                   \
    for (int64_t i = 0; i < n; i++)                                                                \
    row[i] = ((const T *)x)[i]

void fast_widen(assay_elem e, const void *x, int64_t n, int32_t *row)
{
    const bool is_signed = e.is_signed && e.kind == ASSAY_KIND_INT;
    assert(assay_elem_size(e) <= 2);
    if (assay_elem_size(e) == 1) {
        if (is_signed)
            WIDEN(int8_t);
        else
            WIDEN(uint8_t);
    } else if (is_signed) {
        WIDEN(int16_t);
    } else {
        WIDEN(uint16_t);
    }
}

void fast_narrow_codes(assay_elem e, const int32_t *row, int64_t n, void *y)
{
    assert(assay_elem_size(e) <= 2);
    if (assay_elem_size(e) == 1)
        for (int64_t i = 0; i < n; i++)
            ((uint8_t *)y)[i] = (uint8_t)row[i];
    else
        for (int64_t i = 0; i < n; i++)
            ((uint16_t *)y)[i] = (uint16_t)row[i];
}

/* How far codes of type t may be from their zero point; of a type without parameters, from 0. */
static int64_t reach_of(const assay_type *t)
{
    const int64_t z = ref_zero_point(t, 0);
    const int64_t below = z - assay_elem_min(t->elem), above = assay_elem_max(t->elem) - z;
    return below > above ? below : above;
}

assay_codes_fn fast_codes(const assay_fast_setup *s)
{
    int64_t reach = 0;
    if (!ASSAY_SCHEME_HAS(s->vt, simd, codes))
        return NULL;
    for (int i = 0; i < s->node->n_in && i < 2; i++) {
        const int64_t r = reach_of(&assay_node_in(s->graph, s->node, i)->type);
        reach = r > reach ? r : reach;
    }
    return s->vt->simd->codes(s->unit, s->kernels->isa, reach);
}
