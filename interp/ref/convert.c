/* Between float and codes. Floats are seen as their IEEE bits only: the conversion is the unit's.
 *
 *   quantize     q[i] = quantize(x[i])          dequantize   x[i] = dequantize(q[i])
 *
 * With parameters along an axis, a row runs along that axis, so that its elements are channels.
 * With parameters per block, in C order with blocks in place of the axis, elements go one by one.
 */
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

/* Elements first, first + step, ... of one call, with the parameters from `channel` on. */
typedef struct part {
    int64_t first, step;
    size_t n, channel;
} part;

static void quantize_part(const assay_call *call, part p)
{
    const uint32_t *x = call->in[0].data;
    uint32_t bits[ASSAY_ROW];
    int32_t q[ASSAY_ROW];
    for (size_t i = 0; i < p.n; i++)
        bits[i] = x[p.first + (int64_t)i * p.step];
    call->vt->quantize(call->unit, bits, p.n, p.channel, q);
    ref_store_row(&call->out[0], p.first, p.step, p.n, q);
}

static void dequantize_part(const assay_call *call, part p)
{
    uint32_t *x = call->out[0].data;
    uint32_t bits[ASSAY_ROW];
    int32_t q[ASSAY_ROW];
    ref_load_row(&call->in[0], p.first, p.step, p.n, q);
    call->vt->dequantize(call->unit, q, p.n, p.channel, bits);
    for (size_t i = 0; i < p.n; i++)
        x[p.first + (int64_t)i * p.step] = bits[i];
}

/* All elements of `type`, the side that holds codes, in parts of at most ASSAY_ROW. */
static void each_part(const assay_call *call, const assay_type *type,
                      void (*convert)(const assay_call *call, part p))
{
    if (type->q.granularity == ASSAY_Q_BLOCK) {
        const blocks b = blocks_of(type);
        for (int64_t i = 0; i < b.count; i++)
            convert(call, (part){i, 1, 1, block_at(&b, i)});
        return;
    }
    const assay_axis_walk w = rows_of(type);
    for (int64_t o = 0; o < w.outer; o++)
        for (int64_t i = 0; i < w.inner; i++)
            for (int64_t c = 0; c < w.extent; c += ASSAY_ROW) {
                const int64_t n = w.extent - c < ASSAY_ROW ? w.extent - c : ASSAY_ROW;
                const int64_t first = (o * w.extent + c) * w.inner + i;
                convert(call, (part){first, w.inner, (size_t)n, (size_t)c});
            }
}

assay_status ref_quantize(assay_call *call, assay_error *err)
{
    (void)err;
    each_part(call, call->out[0].type, quantize_part);
    return ASSAY_OK;
}

assay_status ref_dequantize(assay_call *call, assay_error *err)
{
    (void)err;
    each_part(call, call->in[0].type, dequantize_part);
    return ASSAY_OK;
}
