/* Weights with a scale for each block of inputs; see blocks.h. */
#include "graph/core/blocks.h"

bool assay_blocks_of(assay_op op, bool transpose_b, const assay_type *w, assay_blocks *out)
{
    const assay_qparams *q = &w->q;
    const bool matmul = op == ASSAY_OP_MATMUL;
    *out = (assay_blocks){0};
    if (q->granularity != ASSAY_Q_BLOCK)
        return true;
    if ((!matmul && op != ASSAY_OP_CONV && op != ASSAY_OP_FC) || (matmul && w->rank != 2))
        return false;
    const int channel = matmul && !transpose_b ? 1 : 0;
    if (w->rank < 2 || q->axis == channel || q->axis >= w->rank || q->block < 1)
        return false;
    assay_blocks b = {.channels = w->dim[channel],
                      .outer = 1,
                      .extent = w->dim[q->axis],
                      .inner = 1,
                      .block = q->block,
                      .by_block = channel == 1};
    for (int i = 1; i < w->rank && !b.by_block; i++) {
        b.outer *= i < q->axis ? w->dim[i] : 1;
        b.inner *= i > q->axis ? w->dim[i] : 1;
    }
    b.along = b.extent / b.block + (b.extent % b.block != 0);
    b.count = b.outer * b.along * b.inner;
    *out = b;
    return true;
}
