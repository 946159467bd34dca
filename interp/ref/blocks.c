/* Blocks of elements that share a scale, each a row of the unit's.
 *
 *   block_scale    scale[block] = row(x of the block, s)
 *   float_encode   y of the block = row(x of the block, scale[block], s)     and float_decode
 *
 * s is the scale's scale, 1 where there is none. A block is walked in C order; at the end of an
 * axis it is shorter. */
#include "interp/ref/ref.h"

static const assay_list *block_of(const assay_node *n)
{
    return n->op == ASSAY_OP_BLOCK_SCALE    ? &n->attr.block_scale.block
           : n->op == ASSAY_OP_FLOAT_ENCODE ? &n->attr.float_encode.block
                                            : &n->attr.float_decode.block;
}

static int64_t extent_of(int64_t block, int64_t dim)
{
    return block < dim ? block : dim;
}

/* Elements of the largest block. */
static int64_t largest(const assay_node *n, const assay_type *x)
{
    int64_t count = 1;
    for (int d = 0; d < x->rank; d++)
        count *= extent_of(block_of(n)->v[d], x->dim[d]);
    return count;
}

size_t ref_blocks_scratch(const assay_graph *g, const assay_node *n)
{
    const int64_t count = largest(n, &assay_node_in(g, n, 0)->type);
    size_t used = 0;
    ref_carve(NULL, &used, count + 2, sizeof(int32_t));
    ref_carve(NULL, &used, count, sizeof(int32_t));
    return used;
}

/* Where a block begins, and how far it goes along each axis. */
typedef struct block {
    int rank;
    int64_t begin[ASSAY_MAX_RANK], extent[ASSAY_MAX_RANK];
} block;

static block block_at(const assay_node *n, const assay_type *x, int64_t index)
{
    const assay_list *size = block_of(n);
    block b = {.rank = x->rank};
    for (int d = x->rank - 1; d >= 0; d--) {
        const int64_t along = x->dim[d] / size->v[d] + (x->dim[d] % size->v[d] != 0);
        b.begin[d] = index % along * size->v[d];
        b.extent[d] = extent_of(size->v[d], x->dim[d] - b.begin[d]);
        index /= along;
    }
    return b;
}

/* Between memory and a row: runs along the last axis, in C order. Returns the block's elements. */
static size_t walk(const assay_view *v, const block *b, bool store, int32_t *row)
{
    const int last = b->rank - 1;
    const size_t run = last < 0 ? 1 : (size_t)b->extent[last];
    int64_t at[ASSAY_MAX_RANK] = {0};
    size_t n = 0;
    for (bool more = true; more; n += run) {
        int64_t first = 0;
        for (int d = 0; d <= last; d++)
            first = first * v->type->dim[d] + b->begin[d] + at[d];
        if (store)
            ref_store_row(v, first, 1, run, row + n);
        else
            ref_load_row(v, first, 1, run, row + n);
        int d = last - 1;
        for (; d >= 0 && ++at[d] == b->extent[d]; d--)
            at[d] = 0;
        more = d >= 0;
    }
    return n;
}

assay_status ref_blocks(assay_call *call, assay_error *err)
{
    const assay_node *n = call->node;
    const assay_type *x = call->in[0].type;
    const bool makes_scale = n->op == ASSAY_OP_BLOCK_SCALE;
    const int64_t count = largest(n, x);
    const int64_t blocks =
        count == 0 ? 0 : assay_shape_count(makes_scale ? call->out[0].type : call->in[1].type);
    size_t used = 0;
    int32_t *row = ref_carve(call->scratch, &used, count + 2, sizeof *row);
    int32_t *y = ref_carve(call->scratch, &used, count, sizeof *y);
    (void)err;

    for (int64_t i = 0; i < blocks; i++) {
        const block b = block_at(n, x, i);
        const size_t size = walk(&call->in[0], &b, false, row);
        size_t end = size;
        if (!makes_scale)
            row[end++] = ref_operand_element(call, 1, i, ASSAY_REF_ONE);
        row[end] = ref_operand_element(call, makes_scale ? 1 : 2, 0, ASSAY_REF_ONE);
        call->vt->row(call->unit, row, size, y);
        if (makes_scale)
            ref_store_row(&call->out[0], i, 1, 1, y);
        else
            walk(&call->out[0], &b, true, y);
    }
    return ASSAY_OK;
}
