/* Between float and codes. Floats are seen as their IEEE bits only: the conversion is the unit's.
 *
 *   quantize     q[i] = quantize(x[i])          dequantize   x[i] = dequantize(q[i])
 *
 * With parameters along an axis, a row runs along that axis, so that its elements are channels.
 * With parameters by block, in C order with blocks in place of the axis, elements go one by one. */
#include "interp/ref/ref.h"

/* Rows of `type`: along the parameters' axis, or one row of everything. */
static assay_axis_walk rows_of(const assay_type *type)
{
    if (type->q.granularity == ASSAY_Q_AXIS)
        return ref_walk_axis(type, type->q.axis);
    return (assay_axis_walk){1, assay_shape_count(type), 1};
}

/* Steps through elements in C order and says which parameters each has. */
typedef struct blocks {
    int64_t count, extent, inner, block, n_blocks;
} blocks;

static blocks blocks_of(const assay_type *t)
{
    const assay_axis_walk w = ref_walk_axis(t, t->q.axis);
    return (blocks){w.outer * w.extent * w.inner, w.extent, w.inner, t->q.block,
                    (w.extent + t->q.block - 1) / t->q.block};
}

static size_t block_at(const blocks *b, int64_t element)
{
    int64_t i = element % b->inner, at = element / b->inner;
    int64_t outer = at / b->extent, k = at % b->extent / b->block;
    return (size_t)((outer * b->n_blocks + k) * b->inner + i);
}

static void quantize_blocks(const assay_call *call)
{
    const uint32_t *x = call->in[0].data;
    const blocks b = blocks_of(call->out[0].type);
    for (int64_t i = 0; i < b.count; i++) {
        int32_t q;
        call->vt->quantize(call->unit, &x[i], 1, block_at(&b, i), &q);
        ref_store_row(&call->out[0], i, 1, 1, &q);
    }
}

static void dequantize_blocks(const assay_call *call)
{
    uint32_t *x = call->out[0].data;
    const blocks b = blocks_of(call->in[0].type);
    for (int64_t i = 0; i < b.count; i++) {
        int32_t q;
        ref_load_row(&call->in[0], i, 1, 1, &q);
        call->vt->dequantize(call->unit, &q, 1, block_at(&b, i), &x[i]);
    }
}

assay_status ref_quantize(assay_call *call, assay_error *err)
{
    const uint32_t *x = call->in[0].data;
    const assay_axis_walk w = rows_of(call->out[0].type);
    uint32_t bits[ASSAY_ROW];
    int32_t q[ASSAY_ROW];
    (void)err;

    if (call->out[0].type->q.granularity == ASSAY_Q_BLOCK) {
        quantize_blocks(call);
        return ASSAY_OK;
    }
    for (int64_t o = 0; o < w.outer; o++)
        for (int64_t i = 0; i < w.inner; i++)
            for (int64_t c = 0; c < w.extent; c += ASSAY_ROW) {
                size_t n = (size_t)(w.extent - c < ASSAY_ROW ? w.extent - c : ASSAY_ROW);
                int64_t first = (o * w.extent + c) * w.inner + i;
                for (size_t j = 0; j < n; j++)
                    bits[j] = x[first + (int64_t)j * w.inner];
                call->vt->quantize(call->unit, bits, n, (size_t)c, q);
                ref_store_row(&call->out[0], first, w.inner, n, q);
            }
    return ASSAY_OK;
}

assay_status ref_dequantize(assay_call *call, assay_error *err)
{
    uint32_t *x = call->out[0].data;
    const assay_axis_walk w = rows_of(call->in[0].type);
    uint32_t bits[ASSAY_ROW];
    int32_t q[ASSAY_ROW];
    (void)err;

    if (call->in[0].type->q.granularity == ASSAY_Q_BLOCK) {
        dequantize_blocks(call);
        return ASSAY_OK;
    }
    for (int64_t o = 0; o < w.outer; o++)
        for (int64_t i = 0; i < w.inner; i++)
            for (int64_t c = 0; c < w.extent; c += ASSAY_ROW) {
                size_t n = (size_t)(w.extent - c < ASSAY_ROW ? w.extent - c : ASSAY_ROW);
                int64_t first = (o * w.extent + c) * w.inner + i;
                ref_load_row(&call->in[0], first, w.inner, n, q);
                call->vt->dequantize(call->unit, q, n, (size_t)c, bits);
                for (size_t j = 0; j < n; j++)
                    x[first + (int64_t)j * w.inner] = bits[j];
            }
    return ASSAY_OK;
}
