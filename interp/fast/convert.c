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

typedef struct work {
    const conversion *c;
    assay_call *call;
    int64_t count;
} work;

static void quantize_part(void *user, int64_t part)
{
    const work *k = user;
    const int64_t i = part * PART, n = k->count - i < PART ? k->count - i : PART;
    k->c->encode(k->call->unit, (const float *)k->call->in[0].data + i, (size_t)n,
                 (uint8_t *)k->call->out[0].data + i);
}

static void dequantize_part(void *user, int64_t part)
{
    const work *k = user;
    const int64_t first = part * PART, n = k->count - first < PART ? k->count - first : PART;
    const uint8_t *x = (const uint8_t *)k->call->in[0].data + first;
    uint32_t *y = (uint32_t *)k->call->out[0].data + first;
    for (int64_t i = 0; i < n; i++)
        y[i] = k->c->bits[x[i]];
}

static void run_parts(const assay_fast *f, assay_call *call, void (*body)(void *, int64_t))
{
    work k = {(const conversion *)f, call, assay_shape_count(call->out[0].type)};
    fast_each(fast_threads(f->threads, k.count), (k.count + PART - 1) / PART, body, &k);
}

static assay_status run_quantize(const assay_fast *f, assay_call *call, assay_error *err)
{
    (void)err;
    run_parts(f, call, quantize_part);
    return ASSAY_OK;
}

static assay_status run_dequantize(const assay_fast *f, assay_call *call, assay_error *err)
{
    (void)err;
    run_parts(f, call, dequantize_part);
    return ASSAY_OK;
}

static assay_status make(const assay_fast_setup *s, conversion **out, assay_error *err)
{
    *out = fast_alloc(sizeof **out);
    if (!*out)
        return fast_memory(s, err);
    (*out)->base = (assay_fast){.free = free_conversion, .threads = s->threads};
    return ASSAY_OK;
}

assay_status fast_quantize(const assay_fast_setup *s, assay_fast **out, assay_error *err)
{
    const assay_type *y = &assay_node_out(s->graph, s->node, 0)->type;
    conversion *c;
    if (!fast_is_byte(y) || y->q.granularity != ASSAY_Q_TENSOR ||
        !ASSAY_SCHEME_HAS(s->vt, simd, encode))
        return ASSAY_OK;
    const assay_encode_fn encode = s->vt->simd->encode(s->unit, s->kernels->isa);
    if (!encode)
        return ASSAY_OK;
    assay_status status = make(s, &c, err);
    if (status)
        return status;
    c->encode = encode;
    c->base.run = run_quantize;
    *out = &c->base;
    return ASSAY_OK;
}

assay_status fast_dequantize(const assay_fast_setup *s, assay_fast **out, assay_error *err)
{
    const assay_type *x = &assay_node_in(s->graph, s->node, 0)->type;
    conversion *c;
    if (!fast_is_byte(x) || x->q.granularity != ASSAY_Q_TENSOR)
        return ASSAY_OK;
    assay_status status = make(s, &c, err);
    if (status)
        return status;
    for (int64_t q = assay_elem_min(x->elem); q <= assay_elem_max(x->elem); q++) {
        const int32_t code = (int32_t)q;
        s->vt->dequantize(s->unit, &code, 1, 0, &c->bits[(uint8_t)code]);
    }
    c->base.run = run_dequantize;
    *out = &c->base;
    return ASSAY_OK;
}
