/* Rows: codes between their storage (1, 2, 4 or 8 bytes, see graph/core/type.h) and int32.
 *
 * Every kernel reads and writes tensors through these, so that the width of an element is known
 * here only. Sub-byte codes are stored one a byte, sign-extended. */
#include <assert.h>

#include "interp/ref/ref.h"

#define LOAD(T)                                                                                    \
    do {                                                                                           \
        const T *p = (const T *)v->data + first;                                                   \
        if (step == 1)                                                                             \
            for (size_t i = 0; i < n; i++)                                                         \
                row[i] = (int32_t)p[i];                                                            \
        else                                                                                       \
            for (size_t i = 0; i < n; i++)                                                         \
                row[i] = (int32_t)p[(int64_t)i * step];                                            \
    } while (0)
#define STORE(T)                                                                                   \
    do {                                                                                           \
        T *p = (T *)v->data + first;                                                               \
        if (step == 1)                                                                             \
            for (size_t i = 0; i < n; i++)                                                         \
                p[i] = (T)row[i];                                                                  \
        else                                                                                       \
            for (size_t i = 0; i < n; i++)                                                         \
                p[(int64_t)i * step] = (T)row[i];                                                  \
    } while (0)

void ref_load_row(const assay_view *v, int64_t first, int64_t step, size_t n, int32_t *row)
{
    assert(v->data || n == 0);
    KERNEL_BY_STORAGE(v->type->elem, LOAD);
}

/* Two's complement narrowing: the low bits are the code, whether signed or not. */
void ref_store_row(const assay_view *v, int64_t first, int64_t step, size_t n, const int32_t *row)
{
    assert(v->data || n == 0);
    KERNEL_BY_STORAGE(v->type->elem, STORE);
}

/* Notes the first of these accumulators that the scheme refuses. */
static void note_refused(assay_call *call, int64_t first, int64_t step, size_t n, size_t channel,
                         const int64_t *acc, const int32_t *count)
{
    if (call->refused || !ASSAY_SCHEME_HAS(call->vt, facts, accepted))
        return;
    const size_t i = call->vt->facts->accepted(call->unit, acc, count, n, channel);
    if (i == n)
        return;
    call->refused = true;
    call->refused_at = first + (int64_t)i * step;
    call->refused_sum = acc[i];
}

/* The same of codes, of more than 16 bits; b: of binary. */
static void note_refused_codes(assay_call *call, int64_t first, int64_t step, size_t n,
                               const int32_t *a, const int32_t *b)
{
    if (call->refused || !ASSAY_SCHEME_HAS(call->vt, facts, accepted_codes) ||
        (call->in[0].type->elem.bits <= 16 && (!b || call->in[1].type->elem.bits <= 16)))
        return;
    const size_t i = call->vt->facts->accepted_codes(call->unit, a, b, n);
    if (i == n)
        return;
    call->refused = true;
    call->refused_at = first + (int64_t)i * step;
    call->refused_codes = b ? 2 : 1;
    call->refused_code[0] = a[i];
    call->refused_code[1] = b ? b[i] : 0;
}

void ref_finish_unary(assay_call *call, int64_t first, int64_t step, size_t n, const int32_t *x,
                      int32_t *y)
{
    note_refused_codes(call, first, step, n, x, NULL);
    call->vt->unary(call->unit, x, n, y);
    ref_store_row(&call->out[0], first, step, n, y);
}

void ref_finish_binary(assay_call *call, int64_t first, size_t n, const int32_t *a,
                       const int32_t *b, int32_t *y)
{
    note_refused_codes(call, first, 1, n, a, b);
    call->vt->binary(call->unit, a, b, n, y);
    ref_store_row(&call->out[0], first, 1, n, y);
}

void ref_finish_sums(assay_call *call, int64_t first, int64_t step, size_t n, size_t channel,
                     const int64_t *acc, int32_t *y)
{
    if (call->accumulators)
        for (size_t i = 0; i < n; i++)
            call->accumulators[first + (int64_t)i * step] = acc[i];
    note_refused(call, first, step, n, channel, acc, NULL);
    call->vt->requantize(call->unit, acc, n, channel, y);
    ref_store_row(&call->out[0], first, step, n, y);
}

void ref_finish_pool(assay_call *call, int64_t first, int64_t step, size_t n, int64_t *sum,
                     const int32_t *count, int32_t *y)
{
    for (size_t i = 0; i < n; i++) {
        bool trapped = false;
        sum[i] = call->vt->apply_overflow(call->unit, sum[i], &trapped);
        ref_note_trap(call, trapped, first + (int64_t)i * step);
        if (call->accumulators)
            call->accumulators[first + (int64_t)i * step] = sum[i];
    }
    note_refused(call, first, step, n, 0, sum, count);
    call->vt->pool(call->unit, sum, count, n, y);
    ref_store_row(&call->out[0], first, step, n, y);
}

assay_axis_walk ref_walk_axis(const assay_type *t, int64_t axis)
{
    assay_axis_walk w = {1, 1, 1};
    axis += axis < 0 ? t->rank : 0;
    assert(axis >= 0 && axis < t->rank);
    for (int i = 0; i < t->rank; i++) {
        if (i < axis)
            w.outer *= t->dim[i];
        else if (i == axis)
            w.extent = t->dim[i];
        else
            w.inner *= t->dim[i];
    }
    return w;
}
