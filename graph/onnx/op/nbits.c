/* MatMulNBits: a product with weights of 4 or 8 bits that have one scale per block of their row,
 * or, with g_idx, one scale for each group of columns. */
#include <assert.h>
#include <string.h>

#include "graph/onnx/op/op.h"

/* What the inputs hold, checked. */
typedef struct packed {
    int64_t rows, columns, block, bits, blocks, zeros; /* zeros: bytes of zero points per row */
    const onnx_const *codes, *scale, *zero, *group;
} packed;

static bool read_inputs(onnx_node *n, packed *p)
{
    int64_t per_byte = 8 / p->bits, blob = (p->block + per_byte - 1) / per_byte;

    p->blocks = (p->columns + p->block - 1) / p->block;
    p->zeros = (p->blocks + per_byte - 1) / per_byte;
    p->codes = onnx_known(n, 1, "weights");
    p->scale = onnx_known(n, 2, "scales");
    p->zero = onnx_known(n, 3, "zero points");
    p->group = onnx_known(n, 4, "g_idx");
    if (n->status)
        return false;
    if (p->codes->dtype != ONNX_UINT8 || p->codes->count != p->rows * p->blocks * blob ||
        p->scale->dtype != ONNX_FLOAT || p->scale->count != p->rows * p->blocks ||
        (p->zero && (p->zero->dtype != ONNX_UINT8 || p->zero->count != p->rows * p->zeros)))
        return onnx_refuse(n,
                           "weights, scales or zero points of another type or size than "
                           "uint8, float32 and uint8 for %lld rows of %lld blocks",
                           (long long)p->rows, (long long)p->blocks);
    if (p->group && (p->group->dtype != ONNX_INT32 || p->group->count < p->columns))
        return onnx_fail(
            n, ASSAY_ERR_INPUT,
            "g_idx has %lld elements of %s, expected an int32 for each of %lld columns",
            (long long)p->group->count, onnx_dtype_name(p->group->dtype), (long long)p->columns);
    for (int64_t k = 0; p->group && k < p->columns; k++)
        if (onnx_get_int(p->group, k) < 0 || onnx_get_int(p->group, k) >= p->blocks)
            return onnx_fail(
                n, ASSAY_ERR_INPUT, "g_idx has the element %lld at index %lld, expected 0 to %lld",
                (long long)onnx_get_int(p->group, k), (long long)k, (long long)p->blocks - 1);
    return true;
}

/* All codes, a byte each; two of 4 bits in a byte of theirs, the low half first. */
static void unpack(const packed *p, uint8_t *codes)
{
    assert(p->bits == 4 || p->bits == 8);
    const unsigned half = p->bits == 4, mask = (1U << p->bits) - 1;
    const int64_t blob = (p->block + half) >> half;
    const uint8_t *from = p->codes->data;

    for (int64_t r = 0; r < p->rows; r++)
        for (int64_t b = 0; b < p->blocks; b++, from += blob) {
            const int64_t left = p->columns - b * p->block, n = left < p->block ? left : p->block;
            for (int64_t k = 0; k < n; k++)
                *codes++ = (uint8_t)((unsigned)from[k >> half] >> 4 * (k & half) & mask);
        }
}

static int32_t zero_at(const packed *p, int64_t r, int64_t b)
{
    assert(p->bits == 4 || p->bits == 8);
    int64_t per_byte = 8 / p->bits, mask = (1 << p->bits) - 1;
    return (int32_t)(p->zero ? onnx_get_int(p->zero, r * p->zeros + b / per_byte) >>
                                       b % per_byte * p->bits &
                                   mask
                             : (mask + 1) / 2);
}

/* Codes with parameters for each block, or for each column where groups are anywhere. */
static onnx_value *unpacked(onnx_node *n, const packed *p)
{
    int64_t dim[2] = {p->rows, p->columns};
    int64_t a_row = p->group ? p->columns : p->blocks, count = p->rows * a_row;
    onnx_const *w = onnx_new_const(n->im, p->bits == 4 ? ONNX_UINT4 : ONNX_UINT8, 2, dim);
    float *scale = onnx_alloc(n->im, (size_t)count * sizeof *scale);
    int32_t *zero = onnx_alloc(n->im, (size_t)count * sizeof *zero);

    if (!w || !scale || !zero)
        return onnx_no_memory(n);
    unpack(p, (uint8_t *)(uintptr_t)w->data);
    onnx_forget(n->im, p->codes);
    for (int64_t r = 0; r < p->rows; r++)
        for (int64_t i = 0; i < a_row; i++) {
            int64_t b = p->group ? onnx_get_int(p->group, i) : i;
            scale[r * a_row + i] = (float)onnx_get_real(p->scale, r * p->blocks + b);
            zero[r * a_row + i] = zero_at(p, r, b);
        }
    const assay_qparams q = {.granularity = ASSAY_Q_BLOCK,
                             .axis = 1,
                             .block = p->group ? 1 : p->block,
                             .count = (size_t)count,
                             .scale = scale,
                             .zero_point = zero};
    return onnx_coded(n, w, &q, onnx_in(n, 1));
}

void onnx_import_matmul_nbits(onnx_node *n)
{
    packed p = {.rows = onnx_int(n, "N", 0),
                .columns = onnx_int(n, "K", 0),
                .block = onnx_int(n, "block_size", 0),
                .bits = onnx_int(n, "bits", 4)};
    const int64_t max = INT64_C(1) << 30;

    if (p.bits != 4 && p.bits != 8)
        onnx_refuse(n, "weights of %lld bits", (long long)p.bits);
    if (p.rows < 1 || p.columns < 1 || p.block < 1 || p.rows > max || p.columns > max ||
        p.block > max)
        onnx_fail(n, ASSAY_ERR_INPUT,
                  "attributes N %lld, K %lld, block_size %lld: expected 1 to 2^30",
                  (long long)p.rows, (long long)p.columns, (long long)p.block);
    if (n->status || !read_inputs(n, &p))
        return;
    onnx_value *in[3] = {onnx_in(n, 0), unpacked(n, &p), onnx_in(n, 5)};
    if (!n->status)
        onnx_op(n, ASSAY_OP_FC, NULL, in, in[2] ? 3 : 2, NULL);
}
