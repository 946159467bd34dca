/* Pieces of a case, to be changed, and orders of elements: what families share. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "interp/blame/families.h"

/* Floats are loaded as their bits; of wide integers the low half. */
void blame_load(const assay_type *t, const void *data, int32_t *codes)
{
    const int64_t n = assay_shape_count(t);
    const assay_view view = {(void *)(uintptr_t)data, t};
    if (t->elem.kind == ASSAY_KIND_F32)
        memcpy(codes, data, (size_t)n * sizeof *codes);
    else if (t->elem.kind == ASSAY_KIND_INT && t->elem.bits <= 32)
        ref_load_row(&view, 0, 1, (size_t)n, codes);
    else
        for (int64_t i = 0; i < n; i++)
            codes[i] = (int32_t)assay_elem_get(t->elem, data, (size_t)i);
}

void blame_store(const assay_type *t, const int32_t *codes, void *data)
{
    const int64_t n = assay_shape_count(t);
    const assay_view view = {data, t};
    if (t->elem.kind == ASSAY_KIND_F32)
        memcpy(data, codes, (size_t)n * sizeof *codes);
    else if (t->elem.kind == ASSAY_KIND_INT && t->elem.bits <= 32)
        ref_store_row(&view, 0, 1, (size_t)n, codes);
    else
        for (int64_t i = 0; i < n; i++)
            assay_elem_set(t->elem, data, (size_t)i, codes[i]);
}

void blame_tell(blame_story *story, const char *class, int changed, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(story->detail, sizeof story->detail, format, args);
    va_end(args);
    snprintf(story->class, sizeof story->class, "%s", class);
    story->changed = changed;
}

bool blame_is_weighted(const assay_node *n)
{
    return assay_op_get(n->op)->traits & ASSAY_T_WEIGHTED;
}

const assay_type *blame_input_type(const blame_search *s, int i)
{
    static const assay_type absent = {.elem = {.kind = ASSAY_KIND_NONE}};
    const assay_value *v = i < s->n->n_in ? assay_node_in(s->d->graph, s->n, i) : NULL;
    return v ? &v->type : &absent;
}

const void *blame_constant_of(const blame_search *s, int i)
{
    const assay_value *v = i < s->n->n_in ? assay_node_in(s->d->graph, s->n, i) : NULL;
    return v ? v->data : NULL;
}

bool blame_own_params(blame_case *c, assay_type *t, float **scale, int32_t **zero_point)
{
    const size_t n = t->q.count;
    float *s = assay_arena_copy(c->arena, t->q.scale, n * sizeof *s);
    int32_t *z = assay_arena_array(c->arena, n + 1, sizeof *z);
    if (!s || !z)
        return false;
    if (t->q.zero_point)
        memcpy(z, t->q.zero_point, n * sizeof *z);
    t->q.scale = s;
    t->q.zero_point = z;
    if (scale)
        *scale = s;
    if (zero_point)
        *zero_point = z;
    return true;
}

int32_t *blame_codes_of(blame_case *c, int i)
{
    const size_t n = (size_t)assay_shape_count(&c->in[i]);
    int32_t *codes = assay_arena_array(c->arena, n + 1, sizeof *codes);
    if (codes)
        blame_load(&c->in[i], c->data[i], codes);
    return codes;
}

bool blame_set_codes(blame_case *c, int i, const assay_type *t, const int32_t *codes)
{
    void *data = assay_arena_alloc(c->arena, assay_type_bytes(t) + 64);
    if (!data)
        return false;
    blame_store(t, codes, data);
    c->in[i] = *t;
    c->data[i] = data;
    return true;
}

/* The other one of each pair; the first of each group; c mod L. */
enum { GROUPS = 4 };
static const int dealt[BLAME_DEALT] = {2, 2, 4, 8, 16, 2, 4, 8, 16, 32};

int64_t blame_dealt(int way, int64_t n, int64_t k)
{
    const int64_t size = dealt[way];
    if (n <= size && (way > 0 || n < 2))
        return -1;
    if (way == 0)
        return (k ^ 1) < n ? k ^ 1 : k;
    return way <= GROUPS ? k / size * size : k % size;
}

const char *blame_say_dealt(int way, char *text, size_t size)
{
    if (way == 0)
        snprintf(text, size, "the other channel of each pair");
    else if (way <= GROUPS)
        snprintf(text, size, "the first channel of each %d", dealt[way]);
    else
        snprintf(text, size, "channel c mod %d", dealt[way]);
    return text;
}

int blame_usual_codes(const assay_type *t, int32_t zero_point, int32_t code[BLAME_USUAL])
{
    const int64_t lo = assay_elem_min(t->elem), hi = assay_elem_max(t->elem);
    const int64_t usual[] = {0,
                             lo,
                             hi,
                             lo + (hi - lo + 1) / 2,
                             -(int64_t)zero_point,
                             zero_point - 1,
                             zero_point + 1,
                             zero_point - 2,
                             zero_point + 2,
                             (int64_t)zero_point + (hi - lo + 1) / 2,
                             (int64_t)zero_point - (hi - lo + 1) / 2,
                             zero_point / 2};
    int n = 0;
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
        if (usual[i] >= lo && usual[i] <= hi && usual[i] != zero_point)
            code[n++] = (int32_t)usual[i];
    return n;
}

int blame_usual_zero_points(const assay_type *t, int32_t zero_point, int32_t code[BLAME_USUAL])
{
    const int n = blame_usual_codes(t, zero_point, code);
    int all = n;
    const int64_t more[] = {-(int64_t)zero_point, (int64_t)zero_point - 1, (int64_t)zero_point + 1};
    for (size_t i = 0; i < sizeof more / sizeof *more && all < BLAME_USUAL; i++)
        if (more[i] < assay_elem_min(t->elem) || more[i] > assay_elem_max(t->elem))
            code[all++] = (int32_t)more[i];
    return all;
}

/* ---- windows ---- */

blame_lists blame_lists_of(blame_case *c)
{
    if (c->op == ASSAY_OP_CONV) {
        assay_attr_conv *a = &c->attr.conv;
        return (blame_lists){&a->kernel,    &a->stride,  &a->dilation,
                             &a->pad_begin, &a->pad_end, a->layout == ASSAY_LAYOUT_NCHW ? 2 : 1};
    }
    assay_attr_pool *a = &c->attr.pool;
    return (blame_lists){&a->kernel,    &a->stride,  &a->dilation,
                         &a->pad_begin, &a->pad_end, a->layout == ASSAY_LAYOUT_NCHW ? 2 : 1};
}

void blame_fill(const assay_type *t, char *at, int64_t n, int32_t code)
{
    const size_t width = assay_elem_size(t->elem);
    if (code == 0 || width == 1)
        memset(at, code, (size_t)n * width);
    else
        for (int64_t i = 0; i < n; i++)
            assay_elem_set(t->elem, at, (size_t)i, code);
}

/* Of one row along the last axis the cells before and behind it, one element or the nearest. */
static void pad_row(const assay_type *t, const char *from, int64_t n, int64_t begin, int64_t to,
                    int32_t code, bool nearest, char *y)
{
    const size_t width = assay_elem_size(t->elem);
    memcpy(y + (size_t)begin * width, from, (size_t)n * width);
    if (!nearest) {
        blame_fill(t, y, begin, code);
        blame_fill(t, y + (size_t)(begin + n) * width, to - begin - n, code);
        return;
    }
    for (int64_t i = 0; i < begin; i++)
        memcpy(y + (size_t)i * width, from, width);
    for (int64_t i = begin + n; i < to; i++)
        memcpy(y + (size_t)i * width, from + (size_t)(n - 1) * width, width);
}

/* The first element of `from` on the row of `to`; false: that row is padding, and the element is
 * the nearest row's. */
static bool row_within(const assay_type *from, const assay_type *to, const int64_t *begin,
                       int64_t row, int64_t *at)
{
    int64_t step = from->dim[from->rank - 1];
    bool inside = true;
    *at = 0;
    for (int d = to->rank - 2; d >= 0; d--) {
        const int64_t p = row % to->dim[d] - begin[d], last = from->dim[d] - 1;
        inside = inside && p >= 0 && p <= last;
        *at += (p < 0 ? 0 : p > last ? last : p) * step;
        step *= from->dim[d];
        row /= to->dim[d];
    }
    return inside;
}

bool blame_pad_input(blame_case *c, int32_t code, bool nearest)
{
    if ((c->op != ASSAY_OP_CONV && c->op != ASSAY_OP_MAX_POOL && c->op != ASSAY_OP_AVG_POOL) ||
        !blame_case_narrow(c, NULL, 0)) /* where windows were moved, others pad */
        return false;
    const blame_lists l = blame_lists_of(c);
    assay_type from = c->in[0], to = from;
    int64_t begin[ASSAY_MAX_RANK] = {0}, pads = 0;
    for (int k = 0; k < l.begin->n; k++) {
        if (l.begin->v[k] < 0 || l.end->v[k] < 0)
            return false;
        begin[l.first + k] = l.begin->v[k];
        to.dim[l.first + k] += l.begin->v[k] + l.end->v[k];
        pads += l.begin->v[k] + l.end->v[k];
        l.begin->v[k] = l.end->v[k] = 0;
    }
    const int64_t wide = to.dim[to.rank - 1], narrow = from.dim[from.rank - 1];
    const int64_t rows = assay_shape_count(&to) / wide;
    const size_t width = assay_elem_size(from.elem);
    const char *x = c->data[0];
    char *y = pads ? assay_arena_alloc(c->arena, assay_type_bytes(&to) + 64) : NULL;
    for (int64_t r = 0, at; r < rows && y; r++) {
        char *row = y + (size_t)(r * wide) * width;
        if (row_within(&from, &to, begin, r, &at) || nearest)
            pad_row(&from, x + (size_t)at * width, narrow, begin[to.rank - 1], wide, code, nearest,
                    row);
        else
            blame_fill(&from, row, wide, code);
    }
    if (!y)
        return false;
    c->in[0] = to;
    c->data[0] = y;
    return true;
}

/* ---- orders ---- */

/* One element after the other in the order of permuted axes: from t's order, or (back) into it. */
static void walk_permuted(const assay_type *t, const int *perm, bool back, const int32_t *from,
                          int32_t *to)
{
    int64_t step[ASSAY_MAX_RANK], stride = 1, at[ASSAY_MAX_RANK] = {0};
    const int64_t n = assay_shape_count(t);
    for (int i = t->rank - 1; i >= 0; i--) {
        step[i] = stride;
        stride *= t->dim[i];
    }
    for (int64_t k = 0; k < n; k++) {
        int64_t place = 0;
        for (int i = 0; i < t->rank; i++)
            place += at[i] * step[perm[i]];
        to[back ? place : k] = from[back ? k : place];
        for (int i = t->rank - 1; i >= 0 && ++at[i] == t->dim[perm[i]]; i--)
            at[i] = 0;
    }
}

void blame_transpose(const assay_type *t, const int *perm, const int32_t *from, int32_t *to)
{
    walk_permuted(t, perm, false, from, to);
}

void blame_untranspose(const assay_type *t, const int *perm, const int32_t *from, int32_t *to)
{
    walk_permuted(t, perm, true, from, to);
}

/* Elements in the reverse order along the axes of a set. */
void blame_flip(const assay_type *t, unsigned axes, const int32_t *from, int32_t *to)
{
    const int64_t n = assay_shape_count(t);
    for (int64_t k = 0; k < n; k++) {
        int64_t rest = k, place = 0, stride = 1;
        for (int i = t->rank - 1; i >= 0; i--) {
            const int64_t x = rest % t->dim[i];
            place += (axes >> i & 1 ? t->dim[i] - 1 - x : x) * stride;
            stride *= t->dim[i];
            rest /= t->dim[i];
        }
        to[k] = from[place];
    }
}

const char *blame_say_list(const int *list, int n, char *text, size_t size)
{
    size_t used = 0;
    text[0] = 0;
    for (int i = 0; i < n && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%d", i ? "," : "", list[i]);
    return text;
}
