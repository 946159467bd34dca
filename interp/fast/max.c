/* The greatest or the least of codes of at most 16 bits; see max.h. */
#include "interp/fast/max.h"

#include <string.h>

#include "interp/fast/operands.h"
#include "interp/fast/table.h"

bool fast_max_make(const assay_fast_setup *s, bool least, assay_fast_max *m)
{
    const assay_type *x = &assay_node_in(s->graph, s->node, 0)->type;
    const assay_type *y = &assay_node_out(s->graph, s->node, 0)->type;
    uint8_t by_code[256];
    if (!fast_is_short(x) || !fast_is_short(y))
        return false;
    *m = (assay_fast_max){.rows = s->kernels->rows_of_bytes,
                          .elem = x->elem,
                          .size = (int)assay_elem_size(x->elem),
                          .bytes = assay_elem_size(x->elem) == 1 && assay_elem_size(y->elem) == 1,
                          .codes = fast_codes(s)};
    if (x->elem.is_signed)
        m->flip = m->size == 1 ? 0x80 : 0x8000;
    if (least)
        m->flip ^= m->size == 1 ? 0xff : 0xffff;
    if (m->bytes) {
        m->identity = fast_table_bytes(s, x->elem, by_code);
        for (int i = 0; i < 256; i++)
            m->table[i] = by_code[i ^ m->flip];
    }
    return true;
}

void fast_max_row(const assay_fast_max *m, const void *x, bool flipped, int64_t n, void *best)
{
    const uint16_t flip = flipped ? 0 : m->flip;
    if (m->size == 1) {
        m->rows->max(x, (size_t)n, (uint8_t)flip, best);
        return;
    }
    const uint16_t *restrict from = x;
    uint16_t *restrict to = best;
    for (int64_t i = 0; i < n; i++) {
        const uint16_t v = from[i] ^ flip;
        to[i] = to[i] > v ? to[i] : v;
    }
}

#define MAX_OF(T)                                                                                  \
    do {                                                                                           \
        const T *v = x, flip = (T)m->flip;                                                         \
        T max = 0;                                                                                 \
        for (int64_t i = 0; i < n; i++)                                                            \
            max = max > (T)(v[i] ^ flip) ? max : (T)(v[i] ^ flip);                                 \
        *(T *)best = max;                                                                          \
    } while (0)

void fast_max_of(const assay_fast_max *m, const void *x, int64_t n, void *best)
{
    if (m->size == 1)
        MAX_OF(uint8_t);
    else
        MAX_OF(uint16_t);
}

static void finish_bytes(const assay_fast_max *m, const uint8_t *best, int64_t n, uint8_t *y)
{
    if (m->identity)
        m->rows->flip(best, (size_t)n, (uint8_t)m->flip, y);
    else
        for (int64_t i = 0; i < n; i++)
            y[i] = m->table[best[i]];
}

void fast_max_finish(const assay_fast_max *m, assay_call *call, const void *best, int64_t n,
                     int64_t first)
{
    enum { ROW = 256 };
    const assay_elem e = call->out[0].type->elem;
    char *y = (char *)call->out[0].data + first * (int64_t)assay_elem_size(e);
    if (m->bytes) {
        finish_bytes(m, best, n, (uint8_t *)y);
        return;
    }
    for (int64_t i = 0; i < n; i += ROW) {
        const int64_t k = n - i < ROW ? n - i : ROW;
        uint16_t bits[ROW];
        int32_t row[ROW], result[ROW];
        memcpy(bits, (const char *)best + i * m->size, (size_t)(k * m->size));
        for (int64_t j = 0; j < k; j++)
            if (m->size == 1)
                ((uint8_t *)bits)[j] ^= (uint8_t)m->flip;
            else
                bits[j] ^= m->flip;
        fast_widen(m->elem, bits, k, row);
        if (m->codes)
            m->codes(call->unit, row, NULL, (size_t)k, result);
        else
            call->vt->unary(call->unit, row, (size_t)k, result);
        fast_narrow_codes(e, result, k, y + i * (int64_t)assay_elem_size(e));
    }
}
