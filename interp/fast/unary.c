/* Functions of one code: by a table (table.h), or where filling one does not pay, by the scheme's
 * vector form for rows of codes, or by its plain row. */
#include <stdlib.h>

#include "interp/fast/operands.h"
#include "interp/fast/table.h"

enum { PART = 16384, ROW = 512 };

typedef struct unary {
    assay_fast base;
    assay_table table;
    assay_codes_fn codes; /* NULL: without one */
} unary;

static void free_unary(assay_fast *f)
{
    unary *u = (unary *)f;
    fast_table_free(&u->table);
    free(u);
}

typedef struct work {
    const unary *u;
    assay_call *call;
    int64_t count;
} work;

static void look_up(void *user, int64_t part)
{
    const work *k = user;
    const assay_table *t = &k->u->table;
    const int64_t i = part * PART, n = k->count - i < PART ? k->count - i : PART;
    fast_table_look_up(t, (const char *)k->call->in[0].data + i * t->in_size, (size_t)n,
                       (char *)k->call->out[0].data + i * t->out_size);
}

static void run_rows(void *user, int64_t part)
{
    const work *k = user;
    const assay_elem ex = k->call->in[0].type->elem, ey = k->call->out[0].type->elem;
    const int64_t first = part * PART;
    const int64_t end = k->count - first < PART ? k->count : first + PART;
    int32_t x[ROW], y[ROW];
    for (int64_t i = first; i < end; i += ROW) {
        const int64_t n = end - i < ROW ? end - i : ROW;
        fast_widen(ex, (const char *)k->call->in[0].data + i * (int64_t)assay_elem_size(ex), n, x);
        if (k->u->codes)
            k->u->codes(k->call->unit, x, NULL, (size_t)n, y);
        else
            k->call->vt->unary(k->call->unit, x, (size_t)n, y);
        fast_narrow_codes(ey, y, n,
                          (char *)k->call->out[0].data + i * (int64_t)assay_elem_size(ey));
    }
}

static assay_status run_unary(const assay_fast *f, assay_call *call, assay_error *err)
{
    const unary *u = (const unary *)f;
    const int64_t count = assay_shape_count(call->out[0].type);
    work k = {u, call, count};
    (void)err;
    fast_each(fast_threads(f->threads, u->table.value ? count : count * 4),
              (count + PART - 1) / PART, u->table.value ? look_up : run_rows, &k);
    return ASSAY_OK;
}

assay_status fast_unary(const assay_fast_setup *s, assay_fast **out, assay_error *err)
{
    const assay_type *x = &assay_node_in(s->graph, s->node, 0)->type;
    const assay_type *y = &assay_node_out(s->graph, s->node, 0)->type;
    assay_status status = ASSAY_OK;
    if (!fast_is_short(x) || !fast_is_short(y))
        return ASSAY_OK;
    unary *u = fast_alloc(sizeof *u);
    if (!u)
        return fast_memory(s, err);
    u->base = (assay_fast){.run = run_unary,
                           .free = free_unary,
                           .threads = s->threads,
                           .layouts = ASSAY_LAYOUTS_ALIKE};
    if (fast_table_pays(s, assay_shape_count(y)))
        status = fast_table_make(s, &u->table, err);
    else
        u->codes = fast_codes(s);
    if (!status)
        *out = &u->base;
    else
        free_unary(&u->base);
    return status;
}
