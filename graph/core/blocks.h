/* Weights with a scale per block of inputs: which scale a weight has.
 *
 * A filter, the weights of one output channel, is [outer][extent][inner] in memory; each run of
 * `block` of its extent, at one place of outer and inner, has a scale. For a convolution's weights
 * in blocks of input channels these are the channels at one cell of the kernel. */
#ifndef ASSAY_GRAPH_BLOCKS_H
#define ASSAY_GRAPH_BLOCKS_H

#include "graph/core/graph.h"

typedef struct assay_blocks {
    int64_t channels; /* filters */
    int64_t outer, extent, inner;
    int64_t block, along; /* of the extent, and how many that makes */
    int64_t count;        /* scales of a filter: outer * along * inner; 0: not one per block */
    bool by_block; /* the type's scales go by block first and then by channel, not the reverse */
} assay_blocks;

/* Of conv, fc and matmul (transpose_b: of its second operand). False when w has scales per block of
 * something else than the inputs of an output channel. count is 0 when w has no scales per block.
 */
bool assay_blocks_of(assay_op op, bool transpose_b, const assay_type *w, assay_blocks *out);

/* The index among the type's scales of scale number i of a filter. */
static inline int64_t assay_block_scale(const assay_blocks *b, int64_t channel, int64_t i)
{
    return b->by_block ? i * b->channels + channel : channel * b->count + i;
}

/* The number within its filter of the scale of weight i of a filter, in memory's order. */
static inline int64_t assay_block_number(const assay_blocks *b, int64_t i)
{
    int64_t inner = i % b->inner, at = i / b->inner % b->extent, outer = i / b->inner / b->extent;
    return (outer * b->along + at / b->block) * b->inner + inner;
}

#endif
