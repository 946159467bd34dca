/* Nearest resize of codes of at most 16 bits. What the last axes hold that do not change is copied
 * as one cell; a line of output cells that falls on the same input line as the one before is its
 * copy; the activation or rescale is a table. */
#include <stdlib.h>
#include <string.h>

#include "interp/fast/table.h"
#include "schemes/apply/resize_axis.h"

typedef struct nearest {
    assay_fast base;
    int rank; /* axes in the order of memory */
    int64_t in[ASSAY_MAX_RANK], out[ASSAY_MAX_RANK];
    const int32_t *index[ASSAY_MAX_RANK]; /* input index of every output index */
    int32_t *indices;                     /* all of them */
    assay_table table;
} nearest;

static void free_nearest(assay_fast *f)
{
    nearest *p = (nearest *)f;
    fast_table_free(&p->table);
    free(p->indices);
    free(p);
}

/* Channels from axis 1 to the end. */
static void arrange(assay_fast *f, bool in_last, bool out_last)
{
    nearest *p = (nearest *)f;
    const int64_t in = p->in[1], out = p->out[1];
    const int32_t *index = p->index[1];
    (void)out_last; /* as the input */
    if (!in_last)
        return;
    for (int i = 1; i + 1 < p->rank; i++) {
        p->in[i] = p->in[i + 1];
        p->out[i] = p->out[i + 1];
        p->index[i] = p->index[i + 1];
    }
    p->in[p->rank - 1] = in;
    p->out[p->rank - 1] = out;
    p->index[p->rank - 1] = index;
}

static bool keeps(const nearest *p, int axis)
{
    bool same = p->in[axis] == p->out[axis];
    for (int64_t i = 0; i < p->out[axis] && same; i++)
        same = p->index[axis][i] == i;
    return same;
}

typedef struct work {
    const nearest *p;
    const char *x;
    char *y;
    int along; /* the last axis that changes: lines are along it */
    int64_t cell, lines;
    size_t bytes; /* of a cell */
} work;

/* The input line that an output line falls on. */
static int64_t source(const work *k, int64_t line)
{
    int64_t from = 0, step = 1;
    for (int i = k->along - 1; i >= 0; i--) {
        from += k->p->index[i][line % k->p->out[i]] * step;
        step *= k->p->in[i];
        line /= k->p->out[i];
    }
    return from;
}

static void copy_cells(const work *k, const char *x, char *y)
{
    const int32_t *index = k->p->index[k->along];
    const int64_t n = k->p->out[k->along];
    if (k->bytes == 1)
        for (int64_t i = 0; i < n; i++)
            y[i] = x[index[i]];
    else if (k->bytes == 2)
        for (int64_t i = 0; i < n; i++)
            memcpy(y + 2 * i, x + 2 * (int64_t)index[i], 2);
    else
        for (int64_t i = 0; i < n; i++)
            memcpy(y + (size_t)i * k->bytes, x + (size_t)index[i] * k->bytes, k->bytes);
}

/* A line, and its copies after it; copies themselves are left to the first of them. */
static void run_line(void *user, int64_t line)
{
    const work *k = user;
    const assay_table *t = &k->p->table;
    const int64_t from = source(k, line);
    const size_t cells = (size_t)k->p->out[k->along], bytes = cells * k->bytes;
    if (line > 0 && source(k, line - 1) == from)
        return;
    char *y = k->y + (size_t)line * bytes;
    copy_cells(k, k->x + (size_t)(from * k->p->in[k->along]) * k->bytes, y);
    fast_table_look_up(t, y, cells * (size_t)k->cell, y);
    for (int64_t next = line + 1; next < k->lines && source(k, next) == from; next++)
        memcpy(k->y + (size_t)next * bytes, y, bytes);
}

static assay_status run(const assay_fast *f, assay_call *call, assay_error *err)
{
    const nearest *p = (const nearest *)f;
    work k = {.p = p, .x = call->in[0].data, .y = call->out[0].data, .cell = 1, .lines = 1};
    (void)err;
    k.along = p->rank - 1;
    while (k.along > 0 && keeps(p, k.along))
        k.cell *= p->in[k.along--];
    for (int i = 0; i < k.along; i++)
        k.lines *= p->out[i];
    k.bytes = (size_t)k.cell * (size_t)p->table.in_size;
    const int64_t cycles = k.lines * p->out[k.along] * (4 + (int64_t)k.bytes / 16);
    fast_each(fast_threads(f->threads, cycles), k.lines, run_line, &k);
    return ASSAY_OK;
}

static bool find_indices(const assay_attr_resize *a, nearest *p)
{
    int64_t total = 0, used = 0;
    for (int i = 0; i < p->rank; i++)
        total += p->out[i];
    p->indices = fast_alloc((size_t)total * sizeof *p->indices);
    for (int i = 0; i < p->rank && p->indices; i++) {
        p->index[i] = p->indices + used;
        apply_nearest_indices(a, i, p->in[i], p->out[i], p->indices + used);
        used += p->out[i];
    }
    return p->indices != NULL;
}

assay_status fast_resize_nearest(const assay_fast_setup *s, assay_fast **out, assay_error *err)
{
    const assay_attr_resize *a = &s->node->attr.resize;
    const assay_type *x = &assay_node_in(s->graph, s->node, 0)->type;
    const assay_type *y = &assay_node_out(s->graph, s->node, 0)->type;
    const bool first = a->layout != ASSAY_LAYOUT_NHWC && x->rank > 2;
    if (!fast_table_pays(s, assay_shape_count(y)) || x->rank == 0 ||
        assay_elem_size(x->elem) != assay_elem_size(y->elem))
        return ASSAY_OK;
    nearest *p = fast_alloc(sizeof *p);
    if (!p)
        return fast_memory(s, err);
    p->base = (assay_fast){.run = run,
                           .free = free_nearest,
                           .threads = s->threads,
                           .layouts = first ? ASSAY_LAYOUTS_ALIKE : ASSAY_LAYOUTS_FIXED,
                           .arrange = first ? arrange : NULL};
    p->rank = x->rank;
    memcpy(p->in, x->dim, sizeof p->in);
    memcpy(p->out, y->dim, sizeof p->out);
    assay_status status =
        find_indices(a, p) ? fast_table_make(s, &p->table, err) : fast_memory(s, err);
    if (!status)
        *out = &p->base;
    else
        free_nearest(&p->base);
    return status;
}
