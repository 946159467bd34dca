/* Rotary position embedding, of ONNX (opset 23) and of ONNX Runtime (com.microsoft): pairs of
 * columns of each head are rotated by the angle of their position.
 *
 * Letters: B batch, S rows, N heads, H columns a head, R of them rotated (the others stay). */
#include <string.h>

#include "graph/onnx/op/op.h"

typedef struct rotary {
    onnx_node *n;
    bool interleaved; /* pairs are neighbours, else halves apart */
    int64_t rotated;  /* R */
    int rank;
    int64_t dim[ASSAY_MAX_RANK]; /* of x as heads: [B,S,N,H], or [B,N,S,H] where x has rank 4 */
} rotary;

/* The first (0) or second (1) numbers of the pairs among the rotated columns of x. */
static onnx_value *half(const rotary *r, onnx_value *x, int which)
{
    int64_t pairs[5] = {r->dim[0], r->dim[1], r->dim[2], r->rotated / 2, 2};

    x = onnx_part(r->n, x, 3, 0, r->rotated, "turned");
    if (!r->interleaved)
        return onnx_part(r->n, x, 3, which * (r->rotated / 2), r->rotated / 2, "half");
    x = onnx_part(r->n, onnx_reshaped(r->n, x, 5, pairs, "pairs"), 4, which, 1, "half");
    return onnx_reshaped(r->n, x, 4, pairs, "half");
}

static onnx_value *joined(const rotary *r, onnx_value *a, onnx_value *b, int64_t axis,
                          const char *suffix)
{
    return onnx_joined(r->n, (onnx_value *const[]){a, b}, 2, axis, suffix);
}

static onnx_value *mul(const rotary *r, onnx_value *a, onnx_value *b)
{
    return onnx_op2(r->n, ASSAY_OP_MUL, NULL, a, b, "product");
}

/* x, as heads, with its pairs rotated. */
static onnx_value *rotate(const rotary *r, onnx_value *x, onnx_value *cosine, onnx_value *sine)
{
    const int64_t pair[5] = {r->dim[0], r->dim[1], r->dim[2], r->rotated / 2, 1};
    const int64_t flat[4] = {r->dim[0], r->dim[1], r->dim[2], r->rotated};
    onnx_value *a = half(r, x, 0), *b = half(r, x, 1);
    onnx_value *first =
        onnx_op2(r->n, ASSAY_OP_SUB, NULL, mul(r, cosine, a), mul(r, sine, b), "first");
    onnx_value *second =
        onnx_op2(r->n, ASSAY_OP_ADD, NULL, mul(r, sine, a), mul(r, cosine, b), "second");

    if (!r->interleaved)
        return joined(r, first, second, 3, "rotated");
    first = onnx_reshaped(r->n, first, 5, pair, "first");
    second = onnx_reshaped(r->n, second, 5, pair, "second");
    return onnx_reshaped(r->n, joined(r, first, second, 4, "rotated"), 4, flat, "rotated");
}

/* The numbers of a cache for each row, [B,S,1,R/2], or [B,1,S,R/2]; rows NULL: it has them by row
 * already, [B,S,R/2]. */
static onnx_value *by_row(const rotary *r, onnx_value *cache, onnx_value *rows)
{
    const bool heads_first = r->rank == 4;
    int64_t dim[4] = {0, heads_first ? 1 : r->dim[1], heads_first ? r->dim[2] : 1, r->rotated / 2};

    if (rows)
        cache = onnx_rows(r->n, cache, rows, "angles");
    assay_type t = onnx_type(r->n, cache);
    const int64_t rest = dim[1] * dim[2] * dim[3];
    dim[0] = rest > 0 ? onnx_count(&t) / rest : 0;
    return onnx_reshaped(r->n, cache, 4, dim, "angles");
}

static bool begin(rotary *r, onnx_node *n, onnx_value *x, onnx_value *cache)
{
    assay_type t = onnx_type(n, x), c = onnx_type(n, cache);
    const int64_t heads = onnx_int(n, "num_heads", 0);

    if (n->status)
        return false;
    *r = (rotary){.n = n,
                  .interleaved = onnx_int(n, "interleaved", 0) != 0,
                  .rotated = onnx_int(n, "rotary_embedding_dim", 0),
                  .rank = t.rank};
    memcpy(r->dim, t.dim, sizeof r->dim);
    if (t.rank == 3) {
        const int64_t width = heads > 0                       ? t.dim[2] / heads
                              : c.rank > 0 && r->rotated == 0 ? 2 * c.dim[c.rank - 1]
                                                              : 0;
        r->dim[2] = width > 0 ? t.dim[2] / width : 0;
        r->dim[3] = width;
    }
    if (r->rotated == 0)
        r->rotated = r->dim[3];
    if ((t.rank != 3 && t.rank != 4) || c.rank < 2 || c.dim[c.rank - 1] * 2 != r->rotated ||
        r->rotated > r->dim[3] || (t.rank == 3 && r->dim[2] * r->dim[3] != t.dim[2]))
        onnx_fail(n, ASSAY_ERR_INPUT,
                  "input of rank %d and %lld columns per head, of which %lld are rotated", t.rank,
                  (long long)r->dim[3], (long long)r->rotated);
    return !n->status;
}

static onnx_value *embed(const rotary *r, onnx_value *x, onnx_value *cosine, onnx_value *sine,
                         const char *suffix)
{
    onnx_node *n = r->n;
    assay_type t = onnx_type(n, x);

    if (r->rank == 3)
        x = onnx_reshaped(n, x, 4, r->dim, "heads");
    onnx_value *y = rotate(r, x, cosine, sine);
    if (r->rotated < r->dim[3])
        y = joined(r, y, onnx_part(n, x, 3, r->rotated, r->dim[3] - r->rotated, "kept"), 3,
                   "whole");
    return onnx_reshaped(n, y, t.rank, t.dim, suffix);
}

onnx_value *onnx_rotated(onnx_node *n, onnx_value *x, onnx_value *const cache[2], onnx_value *rows,
                         bool interleaved, const char *suffix)
{
    const assay_type t = onnx_type(n, x), c = onnx_type(n, cache[0]);
    rotary r = {.n = n, .interleaved = interleaved, .rank = 4};

    if (n->status)
        return NULL;
    memcpy(r.dim, t.dim, sizeof r.dim);
    r.rotated = c.rank == 2 ? 2 * c.dim[1] : 0;
    if (r.rotated < 2 || r.rotated > r.dim[3])
        return onnx_fail(n, ASSAY_ERR_INPUT,
                         "a cache of rank %d for %lld of %lld columns does not fit the input",
                         c.rank, (long long)r.rotated, (long long)r.dim[3]);
    return embed(&r, x, by_row(&r, cache[0], rows), by_row(&r, cache[1], rows), suffix);
}

/* X, cos, sin, position_ids (absent: the caches have rows) */
void onnx_import_rotary(onnx_node *n)
{
    onnx_value *x = onnx_in(n, 0), *rows = onnx_in(n, 3);
    rotary r;

    if (begin(&r, n, x, onnx_in(n, 1)))
        embed(&r, x, by_row(&r, onnx_in(n, 1), rows), by_row(&r, onnx_in(n, 2), rows), NULL);
}

/* input, position_ids, cos, sin: one position is where all rows begin */
void onnx_import_rotary_microsoft(onnx_node *n)
{
    onnx_value *x = onnx_in(n, 0), *rows = onnx_in(n, 1);
    assay_type t = onnx_type(n, rows);
    rotary r;

    if (onnx_int(n, "is_packed_batching", 0) != 0 || onnx_float(n, "scale", 1) != 1)
        onnx_refuse(n, "attribute 'is_packed_batching' or 'scale'");
    if (!begin(&r, n, x, onnx_in(n, 2)))
        return;
    if (t.rank == 1 && t.dim[0] == 1) {
        const int64_t count = r.dim[r.rank == 4 ? 2 : 1], dim[2] = {1, count};
        rows = onnx_op2(n, ASSAY_OP_ADD, NULL, onnx_counted(n, ONNX_INT64, 2, dim, "rows"), rows,
                        "positions");
    }
    embed(&r, x, by_row(&r, onnx_in(n, 2), rows), by_row(&r, onnx_in(n, 3), rows), NULL);
}
