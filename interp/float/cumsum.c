/* cumsum: y[i] = sum of x[j], j <= i along attr.axis; exclusive: j < i; reverse: from the end. */
#include "interp/float/float.h"
#include "interp/ref/ref.h"

/* A term of the element that is asked for, `left` from its last one on. */
static void tell_term(const assay_teller *t, int64_t left, float x, float sum)
{
    if (left == FLOAT_TOLD + 1)
        apply_tell_float(t, "sum of the terms before", sum);
    if (left > FLOAT_TOLD)
        return;
    apply_tell_float(t, "x", x);
    apply_tell_float(t, "sum so far", sum);
}

/* n elements from `first`, `step` apart (negative in reverse). */
static void float_line(const float *x, float *y, int64_t n, int64_t step, bool exclusive,
                       const assay_teller *t)
{
    const int64_t terms = t ? (int64_t)t->at + !exclusive : 0;
    float sum = 0;
    for (int64_t i = 0; i < n; i++) {
        float next = sum + x[i * step];
        if (i < terms)
            tell_term(t, terms - i, x[i * step], next);
        y[i * step] = exclusive ? sum : next;
        sum = next;
    }
    if (t)
        apply_tell_float(t, "sum", y[(int64_t)t->at * step]);
}

static void integer_line(const assay_call *call, int64_t first, int64_t n, int64_t step,
                         bool exclusive)
{
    int64_t sum = 0;
    for (int64_t i = 0; i < n; i++) {
        int64_t v;
        float_load_integers(&call->in[0], first + i * step, 1, 1, &v);
        int64_t next = (int64_t)((uint64_t)sum + (uint64_t)v);
        float_store_integers(&call->out[0], first + i * step, 1, exclusive ? &sum : &next);
        sum = next;
    }
}

assay_status float_cumsum(assay_call *call, assay_error *err)
{
    const assay_attr_cumsum *a = &call->node->attr.cumsum;
    const assay_axis_walk w = ref_walk_axis(call->in[0].type, a->axis);
    const int64_t n = w.extent, step = a->reverse ? -w.inner : w.inner;

    (void)err;
    for (int64_t o = 0; o < w.outer; o++)
        for (int64_t i = 0; i < w.inner; i++) {
            int64_t first = (o * n + (a->reverse ? n - 1 : 0)) * w.inner + i;
            assay_teller room;
            const assay_teller *t = float_row_teller(call, &w, o * n * w.inner + i, &room);
            if (t && a->reverse)
                room.at = (size_t)n - 1 - room.at;
            if (float_holds_f32(&call->in[0]))
                float_line((const float *)call->in[0].data + first,
                           (float *)call->out[0].data + first, n, step, a->exclusive, t);
            else
                integer_line(call, first, n, step, a->exclusive);
        }
    return ASSAY_OK;
}
