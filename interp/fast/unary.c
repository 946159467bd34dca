/* A function of one code is its table (table.h). */
#include <stdlib.h>

#include "interp/fast/table.h"

enum { PART = 16384 };

typedef struct unary {
    assay_fast base;
    assay_table table;
} unary;

static void free_unary(assay_fast *f)
{
    unary *u = (unary *)f;
    assay_table_free(&u->table);
    free(u);
}

typedef struct work {
    const assay_table *t;
    const char *x;
    char *y;
    int64_t count;
} work;

static void look_up(void *user, int64_t part)
{
    const work *k = user;
    const int64_t i = part * PART, n = k->count - i < PART ? k->count - i : PART;
    assay_table_look_up(k->t, k->x + i * k->t->in_size, (size_t)n, k->y + i * k->t->out_size);
}

static assay_status run_unary(const assay_fast *f, assay_call *call, assay_error *err)
{
    const int64_t count = assay_shape_count(call->out[0].type);
    work k = {&((const unary *)f)->table, call->in[0].data, call->out[0].data, count};
    (void)err;
    assay_fast_each(assay_fast_threads(f->threads, count), (count + PART - 1) / PART, look_up, &k);
    return ASSAY_OK;
}

assay_status assay_fast_unary(const assay_fast_setup *s, assay_fast **out, assay_error *err)
{
    if (!assay_table_pays(s, assay_shape_count(&assay_node_out(s->graph, s->node, 0)->type)))
        return ASSAY_OK;
    unary *u = assay_fast_alloc(sizeof *u);
    if (!u)
        return assay_fast_memory(s, err);
    u->base = (assay_fast){.run = run_unary,
                           .free = free_unary,
                           .threads = s->threads,
                           .layouts = ASSAY_LAYOUTS_ALIKE};
    const assay_status status = assay_table_make(s, &u->table, err);
    if (status == ASSAY_OK)
        *out = &u->base;
    else
        free_unary(&u->base);
    return status;
}
