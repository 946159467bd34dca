/* A function of one code of at most 16 bits as a table of all its values; see table.h. */
#include "interp/fast/table.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { PART = 256, WORTH = 4 };

static bool is_short(const assay_type *t)
{
    return t->elem.kind == ASSAY_KIND_INT && t->elem.bits <= 16;
}

bool fast_table_pays(const assay_fast_setup *s, int64_t outputs)
{
    const assay_type *x = &assay_node_in(s->graph, s->node, 0)->type;
    return is_short(x) && is_short(&assay_node_out(s->graph, s->node, 0)->type) &&
           (x->elem.bits <= 8 || outputs >= (INT64_C(1) << x->elem.bits) / WORTH);
}

bool fast_table_bytes(const assay_fast_setup *s, assay_elem in, uint8_t value[256])
{
    bool identity = true;
    for (int i = 0; i < 256; i++) {
        int32_t x, y = 0;
        if (fast_code(in, i, &x)) {
            s->vt->unary(s->unit, &x, 1, &y);
            identity = identity && (uint8_t)y == i;
        }
        value[i] = (uint8_t)y;
    }
    return identity;
}

static void ask_unary(const assay_fast_setup *s, const int32_t *x, size_t n, int32_t *y)
{
    s->vt->unary(s->unit, x, n, y);
}

assay_status fast_table_make(const assay_fast_setup *s, assay_table *t, assay_error *err)
{
    return fast_table_make_of(s, ask_unary, t, err);
}

assay_status fast_table_make_of(const assay_fast_setup *s, assay_table_fn f, assay_table *t,
                                assay_error *err)
{
    const assay_elem in = assay_node_in(s->graph, s->node, 0)->type.elem;
    const assay_elem out = assay_node_out(s->graph, s->node, 0)->type.elem;
    const int64_t last = assay_elem_max(in);
    assert(assay_elem_size(in) <= 2 && assay_elem_size(out) <= 2);
    *t = (assay_table){.in_size = (int)assay_elem_size(in), .out_size = (int)assay_elem_size(out)};
    t->identity = t->in_size == t->out_size;
    t->value = fast_alloc((size_t)t->out_size << 8 * t->in_size);
    if (!t->value)
        return fast_memory(s, err);
    for (int64_t code = assay_elem_min(in); code <= last; code += PART) {
        const int64_t n = last - code + 1 < PART ? last - code + 1 : PART;
        int32_t x[PART], y[PART];
        for (int64_t i = 0; i < n; i++)
            x[i] = (int32_t)(code + i);
        f(s, x, (size_t)n, y);
        for (int64_t i = 0; i < n; i++) {
            const size_t at = t->in_size == 1 ? (uint8_t)x[i] : (uint16_t)x[i];
            if (t->out_size == 1)
                ((uint8_t *)t->value)[at] = (uint8_t)y[i];
            else
                ((uint16_t *)t->value)[at] = (uint16_t)y[i];
            t->identity = t->identity && x[i] == y[i];
        }
    }
    return ASSAY_OK;
}

void fast_table_free(assay_table *t)
{
    free(t->value);
    t->value = NULL;
}

#define LOOK_UP(IN, OUT)                                                                           \
    for (size_t i = 0; i < n; i++)                                                                 \
    ((OUT *)y)[i] = ((const OUT *)t->value)[((const IN *)x)[i]]

void fast_table_look_up(const assay_table *t, const void *x, size_t n, void *y)
{
    if (t->identity) {
        if (x != y && n)
            memcpy(y, x, n * (size_t)t->in_size);
    } else if (t->in_size == 1) {
        if (t->out_size == 1)
            LOOK_UP(uint8_t, uint8_t);
        else
            LOOK_UP(uint8_t, uint16_t);
    } else if (t->out_size == 1) {
        LOOK_UP(uint16_t, uint8_t);
    } else {
        LOOK_UP(uint16_t, uint16_t);
    }
}
