/* Constant codes under scales that are not above 0, as codes under scales that are.
 *
 *   scale * (q - zero)  =  -scale * ((c - q) - (c - zero)),   c = least code + greatest code
 *
 * which is exact in every step, floats included; under a scale of 0 all are 0, as codes at the zero
 * point are under any. ONNX Runtime's symmetric quantizer of blocks writes scales of both signs. */
#include <math.h>
#include <string.h>

#include "graph/onnx/node/node.h"

/* Which of the parameters element i of the type has. */
static size_t parameter_of(const assay_type *t, const assay_qparams *q, int64_t i)
{
    int64_t inner = 1, extent, along;

    if (q->granularity == ASSAY_Q_TENSOR)
        return 0;
    for (int d = q->axis + 1; d < t->rank; d++)
        inner *= t->dim[d];
    extent = t->dim[q->axis];
    if (q->granularity == ASSAY_Q_AXIS)
        return (size_t)(i / inner % extent);
    along = (extent + q->block - 1) / q->block;
    return (size_t)((i / inner / extent * along + i / inner % extent / q->block) * inner +
                    i % inner);
}

static bool all_above_zero(onnx_node *n, const char *name, const assay_qparams *q)
{
    bool above = true;

    for (size_t i = 0; i < q->count; i++) {
        if (!isfinite(q->scale[i]))
            onnx_fail(n, ASSAY_ERR_INPUT,
                      "scale '%s' has the element %g at index %zu, expected a finite number", name,
                      (double)q->scale[i], i);
        above = above && q->scale[i] > 0;
    }
    return above;
}

onnx_value *onnx_mirror(onnx_node *n, onnx_value *v, const char *scale_name, assay_qparams *q)
{
    const assay_type t = onnx_type(n, v);
    const int64_t ends = assay_elem_min(t.elem) + assay_elem_max(t.elem);

    if (n->status || all_above_zero(n, scale_name, q))
        return n->status ? NULL : v;
    float *scale = onnx_alloc(n->im, q->count * sizeof *scale);
    int32_t *zero = onnx_alloc(n->im, q->count * sizeof *zero);
    onnx_const *c = onnx_new_const(n->im, v->constant->dtype, t.rank, t.dim);
    if (!scale || !zero || !c)
        return onnx_no_memory(n);
    for (int64_t i = 0; i < c->count; i++) {
        const size_t k = parameter_of(&t, q, i);
        const int64_t code = onnx_get_int(v->constant, i);
        onnx_set_int(c, i,
                     q->scale[k] > 0   ? code
                     : q->scale[k] < 0 ? ends - code
                                       : q->zero_point[k]);
    }
    for (size_t k = 0; k < q->count; k++) {
        scale[k] = q->scale[k] == 0 ? 1 : fabsf(q->scale[k]);
        zero[k] = q->scale[k] < 0 ? (int32_t)(ends - q->zero_point[k]) : q->zero_point[k];
    }
    q->scale = scale;
    q->zero_point = zero;
    onnx_value *mirrored = onnx_constant(n, c, "mirrored");
    onnx_inherit_name(mirrored, v);
    return mirrored;
}

onnx_value *onnx_coded(onnx_node *n, const onnx_const *c, const assay_qparams *q,
                       const onnx_value *like)
{
    onnx_codes *codes = onnx_alloc(n->im, sizeof *codes);
    onnx_value *v = onnx_alloc(n->im, sizeof *v);
    if (!codes || !v)
        return onnx_no_memory(n);
    codes->q = *q;
    codes->constant = onnx_mirror(n, onnx_constant(n, c, "codes"), n->pb->input[2], &codes->q);
    if (n->status)
        return NULL;
    *v = (onnx_value){.codes = codes, .id = ASSAY_NO_VALUE, .maker = n->name, .uses = 1};
    v->name = onnx_fresh_name(n->im, like->name, "real");
    return v->name ? v : onnx_no_memory(n);
}
