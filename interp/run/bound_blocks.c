/* Bounds of sums over weights with a scale for each block: the scheme's own `combine` is asked,
 * with every block's sum as great as it may be, whether the accumulator leaves its width.
 *
 * A block's sum is first narrowed to some bits, by saturation or by wrapping. So the greatest that
 * a block can add is reached at the greatest sum, or, where that wraps, at the greatest power of
 * two less one (the least power of two) that does not: all of these are tried, on both sides. What
 * all blocks add then has one sign, so no order of steps goes further than their sum. */
#include <stdlib.h>

#include "graph/core/blocks.h"
#include "graph/memory.h"
#include "interp/ref/ref.h"
#include "interp/run/bound.h"

/* reach[i]: the greatest magnitude of the sum of block i of a filter. */
static void find_reach(const assay_node *n, const assay_blocks *b, const assay_value *w,
                       int64_t channel, int64_t of_input, int64_t *reach)
{
    const bool columns = n->op == ASSAY_OP_MATMUL && !n->attr.matmul.transpose_b;
    const int64_t depth = assay_shape_count(&w->type) / b->channels;
    for (int64_t i = 0; i < b->count; i++)
        reach[i] = 0;
    for (int64_t i = 0; i < depth; i++) {
        const int64_t k = assay_block_number(b, i);
        const int64_t at = columns ? i * b->channels + channel : channel * depth + i;
        const int64_t v = assay_elem_get(w->type.elem, w->data, (size_t)at) -
                          w->type.q.zero_point[assay_block_scale(b, channel, k)];
        reach[k] = run_bound_of(v < 0 ? -v : v, of_input, reach[k]);
    }
}

typedef struct question {
    const assay_scheme_vtable *vt;
    const assay_unit *unit;
    const assay_blocks *blocks;
    const int64_t *reach;
    int64_t *sum;
    int64_t channel, bias;
} question;

/* With sums of at most max, or of at least -max - 1. */
static bool leaves(const question *q, int64_t max, bool negative)
{
    bool trapped = false;
    const int64_t bias = q->bias < 0 ? -q->bias : q->bias;
    for (int64_t i = 0; i < q->blocks->count; i++) {
        const int64_t reach = q->reach[i];
        if (negative)
            q->sum[i] = reach - 1 < max ? -reach : -max - 1;
        else
            q->sum[i] = reach < max ? reach : max;
    }
    q->vt->combine(q->unit, q->sum, (size_t)q->blocks->count, (size_t)q->channel,
                   negative ? -bias : bias, &trapped);
    return trapped;
}

assay_status run_bound_blocks(const assay_graph *g, const assay_node *n,
                              const assay_scheme_vtable *vt, const assay_unit *unit, bool *within,
                              int64_t *channel, assay_error *err)
{
    const assay_value *w = assay_node_in(g, n, 1);
    const assay_value *bias = n->n_in > 2 ? assay_node_in(g, n, 2) : NULL;
    const int64_t of_input = run_bound_reach(&assay_node_in(g, n, 0)->type);
    assay_blocks b;
    assay_blocks_of(n->op, n->op == ASSAY_OP_MATMUL && n->attr.matmul.transpose_b, &w->type, &b);
    int64_t *reach = calloc((size_t)b.count + 1, sizeof *reach);
    int64_t *sum = calloc((size_t)b.count + 1, sizeof *sum);
    question q = {vt, unit, &b, reach, sum, 0, 0};
    *within = true;
    for (; reach && sum && q.channel < b.channels && *within; q.channel++) {
        find_reach(n, &b, w, q.channel, of_input, reach);
        q.bias = bias ? assay_elem_get(bias->type.elem, bias->data, (size_t)q.channel) : 0;
        for (int bits = 0; bits < 63 && *within; bits++)
            *within = !leaves(&q, (INT64_C(1) << bits) - 1, false) &&
                      !leaves(&q, (INT64_C(1) << bits) - 1, true);
        *channel = q.channel;
    }
    free(reach);
    free(sum);
    return reach && sum ? ASSAY_OK
                        : assay_out_of_memory_for(err, "node '%s': bounding its sums", n->name);
}
