#include "interp/fast/sums.h"

#include <stdlib.h>
#include <string.h>

#include "interp/ref/ref.h"

enum { WORTH = 16, MOST = 1 << 16, PART = 256 };

/* The table, or false where settling changes a sum. */
static bool fill(const assay_fast_setup *s, const assay_sums *t, int64_t values)
{
    int64_t sum[PART];
    int32_t count[PART], y[PART];
    for (int64_t i = 0; i < values; i += PART) {
        const int64_t n = values - i < PART ? values - i : PART;
        for (int64_t j = 0; j < n; j++) {
            bool trapped = false;
            sum[j] = t->least + i + j;
            count[j] = t->count;
            if (s->vt->settle(s->unit, sum[j], &trapped) != sum[j] || trapped)
                return false;
        }
        s->vt->pool(s->unit, sum, count, (size_t)n, y);
        for (int64_t j = 0; j < n; j++)
            t->code[i + j] = (uint8_t)y[j];
    }
    return true;
}

assay_status assay_sums_make(const assay_fast_setup *s, int64_t count, int64_t outputs,
                             assay_sums *t, assay_error *err)
{
    const assay_elem x = assay_node_in(s->graph, s->node, 0)->type.elem;
    const int64_t least = assay_elem_min(x), most = assay_elem_max(x);
    *t = (assay_sums){
        .rows = s->kernels->rows_of_bytes, .count = (int32_t)count, .least = count * least};
    if (count > MOST / (most - least) || count * (most - least) > outputs * WORTH)
        return ASSAY_OK;
    const int64_t values = count * (most - least) + 1;
    t->code = assay_fast_alloc((size_t)values);
    if (!t->code)
        return assay_fast_memory(s, err);
    if (!fill(s, t, values))
        assay_sums_free(t);
    return ASSAY_OK;
}

void assay_sums_free(assay_sums *t)
{
    free(t->code);
    t->code = NULL;
}

void assay_sums_finish(const assay_sums *t, assay_call *call, int64_t first, size_t n, int64_t *sum,
                       const int32_t *count, int32_t *y)
{
    bool known = t->code != NULL;
    for (size_t i = 0; i < n && known; i++)
        known = count[i] == t->count;
    if (!known) {
        assay_finish_pool(call, first, 1, n, sum, count, y);
        return;
    }
    uint8_t *out = (uint8_t *)call->out[0].data + first;
    for (size_t i = 0; i < n; i++)
        out[i] = t->code[sum[i] - t->least];
    if (call->accumulators)
        memcpy(call->accumulators + first, sum, n * sizeof *sum);
}

bool assay_sums_ordered(const assay_fast_setup *s)
{
    return ASSAY_FAST_HAS(s->vt, window) && s->vt->window(s->unit, NULL, 0, 0, NULL);
}
