/* SPACE_TO_BATCH_ND and BATCH_TO_SPACE_ND: blocks become axes, and axes change places. */
#include <string.h>

#include "graph/tflite/op/op.h"

#define MAX_BLOCKS 2 /* more would need values of more than 6 dimensions */

typedef struct blocks {
    int n;
    int64_t block[MAX_BLOCKS], edge[2 * MAX_BLOCKS]; /* edge: pads or crops, begin and end */
} blocks;

static assay_status read_blocks(const tfl_op *o, blocks *b)
{
    int rank, n_edge;
    assay_status s;

    for (int i = 0; i < 3; ++i)
        if (!tfl_has(o, i))
            return tfl_fail(o, "input %d is missing", i);
    rank = tfl_in(o, 0)->type.rank;
    if (assay_shape_count(&tfl_in(o, 1)->type) > MAX_BLOCKS)
        return tfl_unsupported(o, "more than %d block dimensions", MAX_BLOCKS);
    if ((s = tfl_ints(o, 1, MAX_BLOCKS, b->block, &b->n)) ||
        (s = tfl_ints(o, 2, 2 * MAX_BLOCKS, b->edge, &n_edge)))
        return s;
    if (b->n < 1 || n_edge != 2 * b->n || rank < b->n + 1 || rank + b->n > ASSAY_MAX_RANK)
        return tfl_fail(o, "%d block extents and %d pads or crops for %d dimensions", b->n, n_edge,
                        rank);
    for (int i = 0; i < b->n; ++i)
        if (b->block[i] < 1 || b->block[i] > INT32_MAX || b->edge[2 * i] < 0 ||
            b->edge[2 * i + 1] < 0 || b->edge[2 * i] > INT32_MAX || b->edge[2 * i + 1] > INT32_MAX)
            return tfl_fail(o, "a block or edge is out of range");
    return ASSAY_OK;
}

static assay_status add_part(const tfl_op *o, assay_op kind, int from, const char *name,
                             const assay_type *type, const assay_attrs *a, int *to)
{
    assay_status s = tfl_part(o, name, type, to);
    return s ? s : tfl_node(o, kind, &from, 1, to, 1, a, NULL);
}

static assay_status reshape_part(const tfl_op *o, int from, const char *name,
                                 const assay_type *type, int *to)
{
    assay_status s = tfl_part(o, name, type, to);
    return s ? s : tfl_reshape(o, from, *to);
}

/* A permutation whose first k axes are given, and what it makes of `split`: the others stay. */
static void permute(const assay_type *split, assay_list *perm, int k, assay_type *moved)
{
    for (perm->n = k; perm->n < split->rank; ++perm->n)
        perm->v[perm->n] = perm->n;
    for (int i = 0; i < perm->n; ++i)
        moved->dim[i] = split->dim[perm->v[i]];
}

/* [N, H, W, rest] padded -> [N, H/b, b, W/b', b', rest] -> [b, b', N, H/b, W/b', rest] */
assay_status tfl_op_space_to_batch(const tfl_op *o)
{
    blocks b = {0};
    assay_attrs pad, perm = {0};
    assay_type t;
    int x, y, rank, k = 0;
    assay_status s = read_blocks(o, &b);

    if (s || (s = tfl_value(o, 0, &x)))
        return s;
    t = tfl_in(o, 0)->type;
    rank = t.rank;
    assay_attrs_defaults(ASSAY_ATTRS_pad, &pad);
    pad.pad.begin.n = pad.pad.end.n = rank;
    for (int i = 0; i < b.n; ++i) {
        pad.pad.begin.v[1 + i] = b.edge[2 * i];
        pad.pad.end.v[1 + i] = b.edge[2 * i + 1];
        t.dim[1 + i] += b.edge[2 * i] + b.edge[2 * i + 1];
        if (t.dim[1 + i] % b.block[i] != 0)
            return tfl_fail(o, "extent %lld is not divisible by block %lld",
                            (long long)t.dim[1 + i], (long long)b.block[i]);
    }
    if ((s = add_part(o, ASSAY_OP_PAD, x, "padded", &t, &pad, &x)))
        return s;
    assay_type split = t, moved = t;
    split.rank = moved.rank = rank + b.n;
    for (int i = 0; i < b.n; ++i) {
        split.dim[1 + 2 * i] = t.dim[1 + i] / b.block[i];
        split.dim[2 + 2 * i] = b.block[i];
        perm.perm.perm.v[k++] = 2 + 2 * i;
    }
    for (int i = 1 + b.n; i < rank; ++i)
        split.dim[i + b.n] = t.dim[i];
    perm.perm.perm.v[k++] = 0;
    for (int i = 0; i < b.n; ++i)
        perm.perm.perm.v[k++] = 1 + 2 * i;
    permute(&split, &perm.perm.perm, k, &moved);
    if ((s = reshape_part(o, x, "blocks", &split, &x)) ||
        (s = add_part(o, ASSAY_OP_TRANSPOSE, x, "turned", &moved, &perm, &x)) ||
        (s = tfl_result(o, 0, &y)))
        return s;
    return tfl_reshape(o, x, y);
}

/* [b*b'*N, H, W, rest] -> [b, b', N, H, W, rest] -> [N, H, b, W, b', rest] -> cropped */
assay_status tfl_op_batch_to_space(const tfl_op *o)
{
    blocks b = {0};
    assay_attrs perm = {0}, crop = {0};
    assay_type t, split, moved;
    int64_t product = 1;
    int x, y, rank, k = 0;
    assay_status s = read_blocks(o, &b);

    if (s || (s = tfl_value(o, 0, &x)))
        return s;
    t = split = moved = tfl_in(o, 0)->type;
    rank = t.rank;
    split.rank = moved.rank = rank + b.n;
    for (int i = 0; i < b.n; ++i) {
        product *= b.block[i];
        split.dim[i] = b.block[i];
    }
    if (t.dim[0] % product != 0)
        return tfl_fail(o, "batch %lld is not divisible by the blocks' %lld", (long long)t.dim[0],
                        (long long)product);
    split.dim[b.n] = t.dim[0] / product;
    for (int i = 1; i < rank; ++i)
        split.dim[b.n + i] = t.dim[i];
    perm.perm.perm.v[k++] = b.n;
    for (int i = 0; i < b.n; ++i) {
        perm.perm.perm.v[k++] = b.n + 1 + i;
        perm.perm.perm.v[k++] = i;
    }
    permute(&split, &perm.perm.perm, k, &moved);
    t.dim[0] /= product;
    for (int i = 0; i < b.n; ++i)
        if (__builtin_mul_overflow(t.dim[1 + i], b.block[i], &t.dim[1 + i]))
            return tfl_fail(o, "the output's extent overflows");
    if ((s = reshape_part(o, x, "blocks", &split, &x)) ||
        (s = add_part(o, ASSAY_OP_TRANSPOSE, x, "turned", &moved, &perm, &x)) ||
        (s = reshape_part(o, x, "uncropped", &t, &x)) || (s = tfl_result(o, 0, &y)))
        return s;
    crop.slice.begin.n = rank;
    for (int i = 0; i < b.n; ++i)
        crop.slice.begin.v[1 + i] = b.edge[2 * i];
    crop.slice.size.n = rank;
    memcpy(crop.slice.size.v, tfl_out(o, 0)->type.dim, sizeof tfl_out(o, 0)->type.dim);
    return tfl_node(o, ASSAY_OP_SLICE, &x, 1, &y, 1, &crop, NULL);
}
