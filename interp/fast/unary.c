/* A function of one 8-bit code is its table: the unit itself is asked for every code, so the table
 * is exact under any scheme. */
#include <stdlib.h>
#include <string.h>

#include "interp/fast/fast.h"

enum { CODES = 256, PART = 16384 };

typedef struct unary {
    assay_fast base;
    uint8_t table[CODES];
} unary;

bool assay_fast_code(assay_elem e, int byte, int32_t *code)
{
    *code = e.is_signed ? (int8_t)byte : byte;
    return *code >= assay_elem_min(e) && *code <= assay_elem_max(e);
}

bool assay_fast_table(const assay_fast_setup *s, const assay_elem in, uint8_t table[CODES])
{
    bool identity = true;
    for (int i = 0; i < CODES; i++) {
        int32_t x, y = 0;
        if (assay_fast_code(in, i, &x)) {
            s->vt->unary(s->unit, &x, 1, &y);
            identity = identity && (uint8_t)y == i;
        }
        table[i] = (uint8_t)y;
    }
    return identity;
}

static void free_table(assay_fast *f)
{
    free(f);
}

typedef struct work {
    const unary *u;
    const uint8_t *x;
    uint8_t *y;
    int64_t count;
} work;

static void look_up(void *user, int64_t part)
{
    const work *k = user;
    const int64_t first = part * PART, end = first + PART < k->count ? first + PART : k->count;
    for (int64_t i = first; i < end; i++)
        k->y[i] = k->u->table[k->x[i]];
}

static assay_status run_unary(const assay_fast *f, assay_call *call, assay_error *err)
{
    const int64_t count = assay_shape_count(call->out[0].type);
    work k = {(const unary *)f, call->in[0].data, call->out[0].data, count};
    (void)err;
    assay_fast_each(assay_fast_threads(f->threads, count), (count + PART - 1) / PART, look_up, &k);
    return ASSAY_OK;
}

assay_status assay_fast_unary(const assay_fast_setup *s, assay_fast **out, assay_error *err)
{
    const assay_type *x = &assay_node_in(s->graph, s->node, 0)->type;
    const assay_type *y = &assay_node_out(s->graph, s->node, 0)->type;
    if (!assay_is_byte(x) || !assay_is_byte(y))
        return ASSAY_OK;
    unary *u = assay_fast_alloc(sizeof *u);
    if (!u)
        return assay_fast_memory(s, err);
    u->base = (assay_fast){.run = run_unary,
                           .free = free_table,
                           .threads = s->threads,
                           .layouts = ASSAY_LAYOUTS_ALIKE};
    assay_fast_table(s, x->elem, u->table);
    *out = &u->base;
    return ASSAY_OK;
}
