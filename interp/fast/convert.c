/* The edges of the integer part, where one scale holds for a whole tensor of 8-bit codes: floats to
 * codes by the scheme's vector form; codes to floats by a table of the 256 that there are. */
#include <stdlib.h>

#include "interp/fast/fast.h"

enum { PART = 16384 };

typedef struct conversion {
    assay_fast base;
    assay_encode_fn encode;
    uint32_t bits[256]; /* of the float, by the code's byte */
} conversion;

static void free_conversion(assay_fast *f)
{
    free(f);
}

static assay_status run_quantize(const assay_fast *f, assay_call *call, assay_error *err)
{
    const conversion *c = (const conversion *)f;
    const float *x = call->in[0].data;
    uint8_t *y = call->out[0].data;
    const int64_t count = assay_shape_count(call->out[0].type), parts = (count + PART - 1) / PART;
    const int workers = assay_fast_threads(f->threads, count);
    (void)err;
#pragma omp parallel for schedule(static) num_threads(workers) if (workers > 1)
    for (int64_t p = 0; p < parts; p++) {
        const int64_t i = p * PART, n = count - i < PART ? count - i : PART;
        c->encode(call->unit, x + i, (size_t)n, y + i);
    }
    return ASSAY_OK;
}

static assay_status run_dequantize(const assay_fast *f, assay_call *call, assay_error *err)
{
    const conversion *c = (const conversion *)f;
    const uint8_t *x = call->in[0].data;
    uint32_t *y = call->out[0].data;
    const int64_t count = assay_shape_count(call->out[0].type);
    const int workers = assay_fast_threads(f->threads, count);
    (void)err;
#pragma omp parallel for schedule(static) num_threads(workers) if (workers > 1)
    for (int64_t i = 0; i < count; i++)
        y[i] = c->bits[x[i]];
    return ASSAY_OK;
}

static assay_status make(const assay_fast_setup *s, conversion **out, assay_error *err)
{
    *out = assay_fast_alloc(sizeof **out);
    if (!*out)
        return assay_fast_memory(s, err);
    (*out)->base = (assay_fast){.free = free_conversion, .threads = s->threads};
    return ASSAY_OK;
}

assay_status assay_fast_quantize(const assay_fast_setup *s, assay_fast **out, assay_error *err)
{
    const assay_type *y = &assay_node_out(s->graph, s->node, 0)->type;
    conversion *c;
    if (!assay_is_byte(y) || y->q.granularity != ASSAY_Q_TENSOR || !ASSAY_FAST_HAS(s->vt, encode))
        return ASSAY_OK;
    const assay_encode_fn encode = s->vt->encode(s->unit, s->kernels->isa);
    if (!encode)
        return ASSAY_OK;
    assay_status status = make(s, &c, err);
    if (status != ASSAY_OK)
        return status;
    c->encode = encode;
    c->base.run = run_quantize;
    *out = &c->base;
    return ASSAY_OK;
}

assay_status assay_fast_dequantize(const assay_fast_setup *s, assay_fast **out, assay_error *err)
{
    const assay_type *x = &assay_node_in(s->graph, s->node, 0)->type;
    conversion *c;
    if (!assay_is_byte(x) || x->q.granularity != ASSAY_Q_TENSOR)
        return ASSAY_OK;
    assay_status status = make(s, &c, err);
    if (status != ASSAY_OK)
        return status;
    for (int64_t q = assay_elem_min(x->elem); q <= assay_elem_max(x->elem); q++) {
        const int32_t code = (int32_t)q;
        s->vt->dequantize(s->unit, &code, 1, 0, &c->bits[(uint8_t)code]);
    }
    c->base.run = run_dequantize;
    *out = &c->base;
    return ASSAY_OK;
}
