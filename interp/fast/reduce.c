/* Reductions over neighbouring axes: x is [outer][extent][inner], y [outer][inner]. Sums of codes
 * of at most 16 bits are exact; maxima are max.h. */
#include <stdlib.h>
#include <string.h>

#include "interp/fast/max.h"
#include "interp/fast/sums.h"
#include "interp/ref/ref.h"

typedef struct reduction {
    assay_fast base;
    int64_t outer, extent, inner;
    assay_elem elem;
    assay_fast_sums sums;
    assay_fast_max max;
} reduction;

static void free_reduction(assay_fast *f)
{
    reduction *r = (reduction *)f;
    fast_sums_free(&r->sums);
    free(r);
}

typedef struct row_scratch {
    int64_t *sum;
    int32_t *count, *y, *partial;
} row_scratch;

static size_t carve(const reduction *r, char *memory, row_scratch *s)
{
    size_t used = 0;
    s->sum = ref_carve(memory, &used, r->inner, sizeof *s->sum);
    s->count = ref_carve(memory, &used, r->inner, sizeof *s->count);
    s->y = ref_carve(memory, &used, r->inner, sizeof *s->y);
    s->partial = ref_carve(memory, &used, r->inner, sizeof *s->partial);
    return used;
}

static assay_status run_sum(const assay_fast *f, assay_call *call, assay_error *err)
{
    const reduction *r = (const reduction *)f;
    const int64_t row = r->inner * (int64_t)assay_elem_size(r->elem);
    row_scratch s;
    (void)err;
    carve(r, call->scratch, &s);
    for (int64_t o = 0; o < r->outer; o++) {
        const char *x = (const char *)call->in[0].data + o * r->extent * row;
        if (r->inner == 1) {
            s.sum[0] = fast_sums_total(&r->sums, r->elem, x, (size_t)r->extent);
        } else {
            memset(s.partial, 0, (size_t)r->inner * sizeof *s.partial);
            for (int64_t e = 0; e < r->extent; e++)
                fast_sums_add(&r->sums, r->elem, x + e * row, (size_t)r->inner, s.partial);
            for (int64_t i = 0; i < r->inner; i++)
                s.sum[i] = s.partial[i];
        }
        for (int64_t i = 0; i < r->inner; i++)
            s.count[i] = (int32_t)r->extent;
        fast_sums_finish(&r->sums, call, o * r->inner, (size_t)r->inner, s.sum, s.count, s.y);
    }
    return ASSAY_OK;
}

static assay_status run_max(const assay_fast *f, assay_call *call, assay_error *err)
{
    const reduction *r = (const reduction *)f;
    const int64_t size = r->max.size, row = r->inner * size;
    const int64_t together = r->inner == 1 ? r->outer : 1; /* outer indices that end in one go */
    char *best = call->scratch;
    (void)err;
    for (int64_t o = 0; o < r->outer; o++) {
        const char *x = (const char *)call->in[0].data + o * r->extent * row;
        const int64_t at = o % together;
        if (r->inner == 1) {
            fast_max_of(&r->max, x, r->extent, best + at * size);
        } else {
            memset(best, 0, (size_t)row); /* the least, flipped */
            for (int64_t e = 0; e < r->extent; e++)
                fast_max_row(&r->max, x + e * row, false, r->inner, best);
        }
        if (at == together - 1)
            fast_max_finish(&r->max, call, best, together * r->inner, (o - at) * r->inner);
    }
    return ASSAY_OK;
}

/* False when the reduced axes are not neighbours. No axes: all. */
static bool find_extents(const assay_attr_reduce *a, const assay_type *x, reduction *r)
{
    bool reduced[ASSAY_MAX_RANK] = {false};
    r->outer = r->extent = r->inner = 1;
    for (int i = 0; i < x->rank; i++)
        reduced[i] = a->axes.n == 0;
    for (int i = 0; i < a->axes.n; i++)
        reduced[a->axes.v[i] + (a->axes.v[i] < 0 ? x->rank : 0)] = true;
    for (int i = 0; i < x->rank; i++) {
        if (reduced[i] && r->inner > 1)
            return false;
        if (reduced[i])
            r->extent *= x->dim[i];
        else if (r->extent == 1)
            r->outer *= x->dim[i];
        else
            r->inner *= x->dim[i];
    }
    return r->extent <= fast_sums_max(x);
}

static assay_status make(const assay_fast_setup *s, const reduction *from, assay_fast **out,
                         assay_error *err)
{
    reduction *r = fast_alloc(sizeof *r);
    if (!r)
        return fast_memory(s, err);
    *r = *from;
    *out = &r->base;
    return ASSAY_OK;
}

assay_status fast_reduce(const assay_fast_setup *s, assay_fast **out, assay_error *err)
{
    const assay_type *x = &assay_node_in(s->graph, s->node, 0)->type;
    const assay_op op = s->node->op;
    reduction r = {.base = {.free = free_reduction}, .elem = x->elem};
    row_scratch unused;
    if (!fast_sums_has(x) || !find_extents(&s->node->attr.reduce, x, &r))
        return ASSAY_OK;
    if (op == ASSAY_OP_REDUCE_MAX || op == ASSAY_OP_REDUCE_MIN) {
        r.base.run = run_max;
        if (!fast_max_make(s, op == ASSAY_OP_REDUCE_MIN, &r.max))
            return ASSAY_OK;
        r.base.scratch = (size_t)((r.inner == 1 ? r.outer : r.inner) * r.max.size);
        return make(s, &r, out, err);
    }
    r.base.run = run_sum;
    r.base.scratch = carve(&r, NULL, &unused);
    assay_status status = fast_sums_make(s, r.extent, r.outer * r.inner, &r.sums, err);
    if (!status)
        status = make(s, &r, out, err);
    if (status)
        fast_sums_free(&r.sums);
    return status;
}
