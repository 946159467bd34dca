/* Between float and codes. Floats are seen as their IEEE bits only: the conversion is the unit's.
 *
 *   quantize     q[i] = quantize(x[i])          dequantize   x[i] = dequantize(q[i])
 *
 * With parameters along an axis, a row runs along that axis, so that its elements are channels.
 * Parameters per block are in C order with blocks in place of the axis: a row runs behind the axis,
 * or, where nothing is behind it, through elements of one place in consecutive blocks.
 */
#include "interp/ref/ref.h"

/* Rows of `type`: along the parameters' axis, or one row of everything. */
static assay_axis_walk rows_of(const assay_type *type)
{
    if (type->q.granularity == ASSAY_Q_AXIS)
        return ref_walk_axis(type, type->q.axis);
    return (assay_axis_walk){1, assay_shape_count(type), 1};
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

typedef void convert_part(const assay_call *call, part p);

/* A row of any length, in parts of at most ASSAY_ROW. */
static void each_of_row(const assay_call *call, part row, convert_part *convert)
{
    for (size_t c = 0; c < row.n; c += ASSAY_ROW) {
        const size_t n = row.n - c < ASSAY_ROW ? row.n - c : ASSAY_ROW;
        convert(call, (part){row.first + (int64_t)c * row.step, row.step, n, row.channel + c});
    }
}

/* `extent` elements from `first` on, in blocks whose parameters are those from `channel` on: as
 * many blocks at a time as a row holds, so that what they fill stays in the cache. */
static void each_of_blocks(const assay_call *call, int64_t first, int64_t extent, int64_t block,
                           size_t channel, convert_part *convert)
{
    for (int64_t at = 0; at < extent; at += ASSAY_ROW * block) {
        const int64_t left = extent - at,
                      some = left / block < ASSAY_ROW ? left : ASSAY_ROW * block;
        for (int64_t k = 0; k < block && k < some; k++)
            convert(call, (part){first + at + k, block, (size_t)((some - k + block - 1) / block),
                                 channel + (size_t)(at / block)});
    }
}

static void each_block(const assay_call *call, const assay_type *t, convert_part *convert)
{
    assay_axis_walk w = ref_walk_axis(t, t->q.axis);
    const int64_t block = t->q.block;
    if (w.inner == 1 && w.extent % block == 0) /* blocks go on in the next row */
        w = (assay_axis_walk){1, w.outer * w.extent, 1};
    const int64_t along = (w.extent + block - 1) / block;
    for (int64_t o = 0; o < w.outer; o++) {
        if (w.inner == 1)
            each_of_blocks(call, o * w.extent, w.extent, block, (size_t)(o * along), convert);
        for (int64_t k = 0; k < w.extent && w.inner != 1; k++)
            each_of_row(call,
                        (part){(o * w.extent + k) * w.inner, 1, (size_t)w.inner,
                               (size_t)((o * along + k / block) * w.inner)},
                        convert);
    }
}

/* All elements of `type`, the side that holds codes. */
static void each_part(const assay_call *call, const assay_type *type, convert_part *convert)
{
    if (type->q.granularity == ASSAY_Q_BLOCK) {
        each_block(call, type, convert);
        return;
    }
    const assay_axis_walk w = rows_of(type);
    for (int64_t o = 0; o < w.outer; o++)
        for (int64_t i = 0; i < w.inner; i++)
            each_of_row(call, (part){o * w.extent * w.inner + i, w.inner, (size_t)w.extent, 0},
                        convert);
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
