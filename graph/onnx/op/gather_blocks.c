/* GatherBlockQuantized of ONNX Runtime (com.microsoft): rows of a table of codes of 4 or 8 bits
 * that has a scale for each block along one axis, as floats.
 *
 *   y = (code - zero point) * scale of what Gather picks
 *
 * Codes are int4, uint4 or uint8; of uint8 with 4 bits two stand in a byte along the last axis, the
 * low half first. Without zero points they are 0, of uint8 half the range.
 * Source: docs/ContribOperators.md of github.com/microsoft/onnxruntime. */
#include "graph/onnx/op/op.h"

/* What the inputs hold. */
typedef struct table {
    const onnx_const *codes, *scale, *zero;
    int64_t bits, block, dim[ASSAY_MAX_RANK];
    int rank, axis; /* the axis of blocks */
    bool bytes;     /* uint8: codes of 4 bits are packed */
} table;

/* Element i of a tensor whose last extent is `last` codes. */
static int64_t code_at(const table *t, const onnx_const *c, int64_t i, int64_t last)
{
    const bool halves = t->bytes && t->bits == 4;
    const int64_t row = i / last, k = i % last;

    return halves ? onnx_get_int(c, row * ((last + 1) / 2) + k / 2) >> k % 2 * 4 & 15
                  : onnx_get_int(c, i);
}

static int64_t blocks_of(const table *t)
{
    return (t->dim[t->axis] + t->block - 1) / t->block;
}

/* Extents of the codes, from those that are stored. */
static bool read_shape(onnx_node *n, table *t)
{
    const onnx_const *c = t->codes;
    const int64_t axis = onnx_axis(n, onnx_int(n, "quantize_axis", 1), c->rank);

    t->rank = c->rank;
    t->axis = (int)axis;
    t->bytes = c->dtype == ONNX_UINT8;
    if (n->status || c->rank < 1)
        return onnx_fail(n, ASSAY_ERR_INPUT, "data of rank %d, expected 1 or more", c->rank);
    for (int i = 0; i < c->rank; i++)
        t->dim[i] = c->dim[i];
    if (t->bytes && t->bits == 4)
        t->dim[t->rank - 1] *= 2;
    if (!t->bytes && c->dtype != ONNX_INT4 && c->dtype != ONNX_UINT4)
        return onnx_refuse(n, "data of %s", onnx_dtype_name(c->dtype));
    if (!t->bytes && t->bits != 4)
        return onnx_fail(n, ASSAY_ERR_INPUT,
                         "attribute bits is %lld but the data is %s, expected 4",
                         (long long)t->bits, onnx_dtype_name(c->dtype));
    return true;
}

/* Scales [.., blocks, ..], zero points alike, packed as the codes are. */
static bool check_params(onnx_node *n, const table *t)
{
    int64_t count = 1, stored = 1;

    for (int i = 0; i < t->rank; i++) {
        const int64_t d = i == t->axis ? blocks_of(t) : t->dim[i];
        count *= d;
        stored *= i == t->rank - 1 && t->bytes && t->bits == 4 ? (d + 1) / 2 : d;
    }
    if (t->scale->dtype != ONNX_FLOAT || t->scale->count != count)
        return onnx_refuse(n, "scales other than %lld elements of float32", (long long)count);
    if (t->zero && (t->zero->dtype != t->codes->dtype || t->zero->count != stored))
        return onnx_fail(n, ASSAY_ERR_INPUT, "%lld zero points of %s, expected %lld of %s",
                         (long long)t->zero->count, onnx_dtype_name(t->zero->dtype),
                         (long long)stored, onnx_dtype_name(t->codes->dtype));
    return true;
}

static bool read_table(onnx_node *n, table *t)
{
    if (t->bits != 4 && t->bits != 8)
        return onnx_refuse(n, "codes of %lld bits", (long long)t->bits);
    if (t->block < 1)
        return onnx_fail(n, ASSAY_ERR_INPUT, "attribute block_size is %lld, expected 1 or more",
                         (long long)t->block);
    t->codes = onnx_known(n, 0, "a table");
    t->scale = onnx_known(n, 2, "scales");
    t->zero = onnx_known(n, 3, "zero points");
    if (n->status)
        return false;
    return read_shape(n, t) && check_params(n, t);
}

/* The codes, one an element, with their parameters. */
static onnx_value *unpacked(onnx_node *n, const table *t)
{
    const bool eight = t->bits == 8;
    const int dtype = eight ? ONNX_UINT8 : t->bytes ? ONNX_UINT4 : (int)t->codes->dtype;
    const size_t count = (size_t)t->scale->count;
    const int64_t last = t->dim[t->rank - 1];
    const int64_t along = t->axis == t->rank - 1 ? blocks_of(t) : last;
    onnx_const *c = onnx_new_const(n->im, dtype, t->rank, t->dim);
    float *scale = onnx_alloc(n->im, (count + 1) * sizeof *scale);
    int32_t *zero = onnx_alloc(n->im, (count + 1) * sizeof *zero);

    if (!c || !scale || !zero)
        return onnx_no_memory(n);
    for (int64_t i = 0; i < c->count; i++)
        onnx_set_int(c, i, code_at(t, t->codes, i, last));
    for (size_t i = 0; i < count; i++) {
        scale[i] = (float)onnx_get_real(t->scale, (int64_t)i);
        zero[i] = t->zero    ? (int32_t)code_at(t, t->zero, (int64_t)i, along)
                  : t->bytes ? 1 << (t->bits - 1)
                             : 0;
    }
    const assay_qparams q = {.granularity = ASSAY_Q_BLOCK,
                             .axis = t->axis,
                             .block = t->block,
                             .count = count,
                             .scale = scale,
                             .zero_point = zero};
    return onnx_coded(n, c, &q, onnx_in(n, 0));
}

void onnx_import_gather_blocks(onnx_node *n)
{
    table t = {.bits = onnx_int(n, "bits", 4), .block = onnx_int(n, "block_size", 128)};

    if (n->status || !read_table(n, &t))
        return;
    const int64_t axis = onnx_axis(n, onnx_int(n, "gather_axis", 0), t.rank);
    onnx_value *real = n->status ? NULL : unpacked(n, &t);
    if (!n->status)
        onnx_picked(n, real, onnx_in(n, 1), axis);
}
