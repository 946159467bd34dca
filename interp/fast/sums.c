/* Sums of codes of at most 16 bits that a scheme bounds and divides; see sums.h. */
#include "interp/fast/sums.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "interp/ref/ref.h"

enum { WORTH = 16, MAX = 1 << 16, PART = 256 };

/* The table, or false where settling changes a sum. */
static bool fill(const assay_fast_setup *s, const assay_fast_sums *t, int64_t values)
{
    int64_t sum[PART];
    int32_t count[PART], y[PART];
    for (int64_t i = 0; i < values; i += PART) {
        const int64_t n = values - i < PART ? values - i : PART;
        for (int64_t j = 0; j < n; j++) {
            bool trapped = false;
            sum[j] = t->least + i + j;
            count[j] = t->count;
            if (s->vt->apply_overflow(s->unit, sum[j], &trapped) != sum[j] || trapped)
                return false;
        }
        s->vt->pool(s->unit, sum, count, (size_t)n, y);
        for (int64_t j = 0; j < n; j++)
            t->code[i + j] = (uint8_t)y[j];
    }
    return true;
}

assay_status fast_sums_make(const assay_fast_setup *s, int64_t count, int64_t outputs,
                            assay_fast_sums *t, assay_error *err)
{
    const assay_elem x = assay_node_in(s->graph, s->node, 0)->type.elem;
    const int64_t least = assay_elem_min(x), max = assay_elem_max(x);
    *t = (assay_fast_sums){
        .rows = s->kernels->rows_of_bytes, .count = (int32_t)count, .least = count * least};
    if (!fast_is_byte(&assay_node_in(s->graph, s->node, 0)->type) ||
        !fast_is_byte(&assay_node_out(s->graph, s->node, 0)->type))
        return ASSAY_OK;
    if (count > MAX / (max - least) || count * (max - least) > outputs * WORTH)
        return ASSAY_OK;
    const int64_t values = count * (max - least) + 1;
    t->code = fast_alloc((size_t)values);
    if (!t->code)
        return fast_memory(s, err);
    if (!fill(s, t, values))
        fast_sums_free(t);
    return ASSAY_OK;
}

void fast_sums_free(assay_fast_sums *t)
{
    free(t->code);
    t->code = NULL;
}

bool fast_sums_has(const assay_type *x)
{
    return x->elem.kind == ASSAY_KIND_INT && x->elem.bits <= 16;
}

int64_t fast_sums_max(const assay_type *x)
{
    assert(x->elem.bits < 32);
    return INT32_MAX >> x->elem.bits;
}

#define ADD_WORDS(T)                                                                               \
    for (size_t i = 0; i < n; i++)                                                                 \
    sum[i] += ((const T *)x)[i]

void fast_sums_add(const assay_fast_sums *t, assay_elem e, const char *x, size_t n, int32_t *sum)
{
    if (assay_elem_size(e) == 1)
        t->rows->add((const uint8_t *)x, n, e.is_signed, sum);
    else if (e.is_signed)
        ADD_WORDS(int16_t);
    else
        ADD_WORDS(uint16_t);
}

#define TOTAL_WORDS(T)                                                                             \
    for (size_t i = 0; i < n; i++)                                                                 \
    sum += ((const T *)x)[i]

int64_t fast_sums_total(const assay_fast_sums *t, assay_elem e, const char *x, size_t n)
{
    int64_t sum = 0;
    if (assay_elem_size(e) == 1)
        return t->rows->sum((const uint8_t *)x, n, e.is_signed);
    if (e.is_signed)
        TOTAL_WORDS(int16_t);
    else
        TOTAL_WORDS(uint16_t);
    return sum;
}

void fast_sums_finish(const assay_fast_sums *t, assay_call *call, int64_t first, size_t n,
                      int64_t *sum, const int32_t *count, int32_t *y)
{
    bool known = t->code != NULL;
    for (size_t i = 0; i < n && known; i++)
        known = count[i] == t->count;
    if (!known) {
        ref_finish_pool(call, first, 1, n, sum, count, y);
        return;
    }
    uint8_t *out = (uint8_t *)call->out[0].data + first;
    for (size_t i = 0; i < n; i++)
        out[i] = t->code[sum[i] - t->least];
    if (call->accumulators)
        memcpy(call->accumulators + first, sum, n * sizeof *sum);
}

bool fast_sums_ordered(const assay_fast_setup *s)
{
    return s->vt->window && s->vt->window(s->unit, NULL, 0, 0, NULL);
}
