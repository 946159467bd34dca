/* Ends of rules that explain the answers to known values; see engine.h. */
#include <stdlib.h>

#include "graph/core/type.h"
#include "interp/infer/engine.h"
#include "schemes/apply/tail.h"

enum { ROWS = 160, SMALL = 40 }; /* most of them so large that they must be narrowed */

/* A rounded value that is known whatever the steps are, and the device's answer. */
typedef struct known {
    assay_int128 value;
    int64_t code;
    int32_t zp, width;
} known;

static assay_tail tail_of(const infer_options *o, const infer_end *end)
{
    const bool wraps = end->store == ASSAY_STORE_WRAP;
    return (assay_tail){.lo = wraps ? INT64_MIN : assay_elem_min(o->type),
                        .hi = wraps ? INT64_MAX : assay_elem_max(o->type),
                        .sum_bits = end->sum_bits,
                        .sum_overflow = end->sum_overflow,
                        .wraps = wraps,
                        .is_signed = o->type.is_signed,
                        .bits = o->type.bits};
}

static bool fits(assay_int128 v, int32_t bits)
{
    return bits == 0 || v == apply_saturate128(v, (unsigned)bits);
}

static bool gives(assay_tail t, bool before, int32_t bits, int32_t how, const known *k)
{
    assay_int128 v = k->value;
    t.zero_point = before ? 0 : k->zp;
    if (how == ASSAY_NARROW_REFUSE && !fits(v, bits))
        return false;
    v = apply_narrow128(v, bits, how);
    if (t.sum_overflow == ASSAY_NARROW_REFUSE && !fits(v + t.zero_point, t.sum_bits))
        return false;
    return apply_finish128(&t, v) == k->code;
}

/* The fewest bits that hold a value. */
static int32_t width(assay_int128 v)
{
    const assay_int128 u = v < 0 ? ~v : v;
    const uint64_t high = (uint64_t)(u >> 64), low = (uint64_t)u;
    return high ? 129 - __builtin_clzll(high) : low ? 65 - __builtin_clzll(low) : 1;
}

static int by_width(const void *a, const void *b)
{
    const known *x = a, *y = b;
    return (x->width > y->width) - (x->width < y->width);
}

/* Whether an end explains all of them; `no`: the one that failed last, tried first. */
static bool gives_all(assay_tail t, bool before, int32_t bits, int32_t how, const known *k,
                      size_t n, size_t *no)
{
    if (*no < n && !gives(t, before, bits, how, &k[*no]))
        return false;
    for (size_t i = 0; i < n; i++)
        if (!gives(t, before, bits, how, &k[i])) {
            *no = i;
            return false;
        }
    return true;
}

/* The values are sorted by width: one whose answer it does not explain as it is must have been
 * narrowed. */
static bool some_result(assay_tail t, bool before, enum infer_form form, const known *k, size_t n)
{
    static const int32_t ways[] = {ASSAY_NARROW_WRAP, ASSAY_NARROW_SATURATE, ASSAY_NARROW_REFUSE};
    size_t no = n;
    if (form != INFER_WIDE)
        return gives_all(t, before, 1, ways[form - 1], k, n, &no);
    if (gives_all(t, before, 0, ASSAY_NARROW_SATURATE, k, n, &no))
        return true;
    const int32_t max = k[no].width - 1 < 64 ? k[no].width - 1 : 64;
    for (int32_t bits = 2; bits <= max; bits++)
        for (int w = 0; w < 3; w++)
            if (gives_all(t, before, bits, ways[w], k, n, &no))
                return true;
    return false;
}

bool infer_partial_ends(infer_engine *e, const infer_partial *p)
{
    known k[ROWS];
    size_t n = 0, small = 0;
    for (size_t i = 0; i < e->n && n < ROWS; i++) {
        const infer_row *row = &e->row[e->order[i]];
        const assay_int128 v = infer_partial_value(&p->rule[0], row);
        if (v >= -2 && v <= 1 && small++ >= SMALL)
            continue;
        if (row->answer != INFER_REFUSED && v == infer_partial_value(&p->rule[p->n - 1], row))
            k[n++] = (known){v, row->answer, row->zp, width(v)};
    }
    if (n > 1)
        qsort(k, n, sizeof *k, by_width);
    e->t->work += 200 + 20 * e->n_ends;
    for (size_t i = 0; i < e->n_ends; i++)
        if (e->end[i].tail == p->tail &&
            some_result(tail_of(e->t->o, &e->end[i]), e->tail[p->tail].before, p->form, k, n))
            return true;
    return false;
}
