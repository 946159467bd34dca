/* Operations on whole rows: an axis at a time.
 *
 *   y[.., :, ..] = f(x[.., :, ..])      softmax, log_softmax, l2_norm along attr.axis;
 *                                       layer_norm over the axes from attr.axis to the last;
 *                                       lrn along the channels */
#include <stdlib.h>

#include "interp/ref/ref.h"

assay_axis_walk ref_row_walk(const assay_node *n, const assay_type *x)
{
    assay_axis_walk w;
    switch (n->op) {
    case ASSAY_OP_SOFTMAX:
    case ASSAY_OP_LOG_SOFTMAX:
        return ref_walk_axis(x, n->attr.softmax.axis);
    case ASSAY_OP_LRN:
        return ref_walk_axis(x, n->attr.lrn.layout == ASSAY_LAYOUT_NHWC ? -1 : 1);
    case ASSAY_OP_LAYER_NORM:
        w = ref_walk_axis(x, n->attr.norm.axis);
        w.extent *= w.inner;
        w.inner = 1;
        return w;
    case ASSAY_OP_L2_NORM:
        return ref_walk_axis(x, n->attr.norm.axis);
    default:
        abort(); /* of no row */
    }
}

/* Layer normalization's row is x, gamma, beta. */
static int64_t row_length(const assay_node *n, int64_t extent)
{
    return n->op == ASSAY_OP_LAYER_NORM ? 3 * extent : extent;
}

size_t ref_row_scratch(const assay_graph *g, const assay_node *n)
{
    size_t used = 0;
    int64_t extent = ref_row_walk(n, &assay_node_in(g, n, 0)->type).extent;
    ref_carve(NULL, &used, row_length(n, extent), sizeof(int32_t));
    ref_carve(NULL, &used, extent, sizeof(int32_t));
    return used;
}

/* gamma or beta, one an element of the row, or one for all. */
static void load_operand(const assay_call *call, int input, size_t n, int32_t *row)
{
    if (input >= call->node->n_in || !call->in[input].data)
        return;
    int64_t step = assay_shape_count(call->in[input].type) > 1;
    ref_load_row(&call->in[input], 0, step, n, row);
}

/* Notes the first element of a row that the scheme refuses to make; y is scratch. */
static void note_refused_row(assay_call *call, int64_t first, int64_t step, size_t n,
                             const int32_t *x, int32_t *y)
{
    int64_t operand;
    if (call->refused || call->node->op != ASSAY_OP_LAYER_NORM ||
        !ASSAY_SCHEME_HAS(call->vt, facts, accepted_row))
        return;
    const size_t i = call->vt->facts->accepted_row(call->unit, x, n, y, &operand);
    if (i == n)
        return;
    call->refused = call->refused_row = true;
    call->refused_at = first + (int64_t)i * step;
    call->refused_sum = operand;
}

assay_status ref_row(assay_call *call, assay_error *err)
{
    const assay_axis_walk w = ref_row_walk(call->node, call->in[0].type);
    size_t used = 0, n = (size_t)w.extent;
    int32_t *x = ref_carve(call->scratch, &used, row_length(call->node, w.extent), sizeof *x);
    int32_t *y = ref_carve(call->scratch, &used, w.extent, sizeof *y);
    (void)err;

    if (call->node->op == ASSAY_OP_LAYER_NORM) {
        load_operand(call, 1, n, x + n);
        load_operand(call, 2, n, x + 2 * n);
    }
    for (int64_t o = 0; n > 0 && o < w.outer; o++) /* no mean of an empty row */
        for (int64_t i = 0; i < w.inner; i++) {
            int64_t first = o * w.extent * w.inner + i;
            ref_load_row(&call->in[0], first, w.inner, n, x);
            note_refused_row(call, first, w.inner, n, x, y);
            call->vt->row(call->unit, x, n, y);
            ref_store_row(&call->out[0], first, w.inner, n, y);
        }
    return ASSAY_OK;
}
