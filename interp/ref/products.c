/* The products of a filter and what it sees, summed as the weights' scales demand: all of them by
 * `accumulate`, or each block of weights with a scale of its own here, exactly, and then the blocks
 * by `combine`. */
#include <assert.h>

#include "interp/ref/ref.h"

assay_products ref_products_of(const assay_node *n, const assay_type *x, const assay_view *w,
                               char *memory, size_t *used)
{
    assay_products p = {.weights = w, .zx = ref_zero_point(x, 0)};
    bool transpose_b = n->op == ASSAY_OP_MATMUL && n->attr.matmul.transpose_b;
    assay_blocks_of(n->op, transpose_b, w->type, &p.blocks);
    p.sums = ref_carve(memory, used, p.blocks.count, sizeof *p.sums);
    return p;
}

void ref_load_filter(const assay_products *p, int64_t first, int64_t step, size_t n,
                     int64_t channel, int64_t at, int32_t *row)
{
    const assay_blocks *b = &p->blocks;
    if (b->count == 0) {
        ref_load_centred(p->weights, first, step, n, channel, row);
        return;
    }
    const int32_t *zero = p->weights->type->q.zero_point;
    ref_load_row(p->weights, first, step, n, row);
    for (size_t i = 0; i < n; i++)
        row[i] -= zero[assay_block_scale(b, channel, assay_block_number(b, at + (int64_t)i))];
}

/* The exact sum of each block of a whole filter of n weights, which lie in memory's order. */
static void sum_blocks(const assay_blocks *b, const int32_t *x, const int32_t *filter, size_t n,
                       int64_t *sums)
{
    const size_t inner = (size_t)b->inner, extent = (size_t)b->extent * inner;
    const size_t block = (size_t)(b->block < b->extent ? b->block : b->extent) * inner;
    for (size_t first = 0, left = extent; first < n; left = left ? left : extent) {
        const size_t run = left < block ? left : block;
        for (size_t k = 0; k < inner; k++) {
            int64_t sum = 0;
            for (size_t i = first + k; i < first + run; i += inner)
                sum += (int64_t)x[i] * filter[i];
            *sums++ = sum;
        }
        first += run;
        left -= run;
    }
}

int64_t ref_sum_products(assay_call *call, const assay_products *p, const int32_t *x,
                         const int32_t *filter, size_t n, int64_t channel, int64_t bias,
                         int64_t element)
{
    const assay_blocks *b = &p->blocks;
    bool trapped = false;
    int64_t acc;
    if (b->count == 0) {
        acc = call->vt->accumulate(call->unit, x, filter, n, bias, p->zx,
                                   ref_zero_point(p->weights->type, channel), &trapped);
    } else {
        assert(p->sums && (int64_t)n == b->outer * b->extent * b->inner);
        sum_blocks(b, x, filter, n, p->sums);
        acc = call->vt->combine(call->unit, p->sums, (size_t)b->count, (size_t)channel, bias,
                                &trapped);
    }
    ref_note_trap(call, trapped, element);
    return acc;
}
