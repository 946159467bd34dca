/* Codes as ONNX has them: QuantizeLinear and DequantizeLinear, their parameters, biases. */
#include <math.h>
#include <string.h>

#include "graph/onnx/export/parts.h"

static void scales_and_zeros(onnx_writer *w, const char *name, const assay_type *t)
{
    const assay_qparams *q = &t->q;
    int64_t dim[ASSAY_MAX_RANK] = {(int64_t)q->count};
    int rank = q->granularity == ASSAY_Q_TENSOR ? 0 : 1;

    if (q->granularity == ASSAY_Q_BLOCK) {
        rank = t->rank;
        memcpy(dim, t->dim, sizeof dim);
        dim[q->axis] = (dim[q->axis] + q->block - 1) / q->block;
    }
    onnx_write_tensor(w, onnx_text(w, "%s:scale", name), assay_f32(), rank, dim, q->scale);
    if (t->elem.bits == 32) /* a bias: its zero point is 0 */
        return;
    char *zeros = onnx_memory(w, q->count * assay_elem_size(t->elem) + 1);
    for (size_t i = 0; zeros && i < q->count; i++)
        assay_elem_set(t->elem, zeros, i, q->zero_point[i]);
    onnx_write_tensor(w, onnx_text(w, "%s:zero", name), t->elem, rank, dim, zeros);
}

void onnx_export_convert(onnx_writer *w, const char *op, const char *from, const char *name,
                         const assay_type *t, const char *to)
{
    onnx_write_node(w, op, to);
    onnx_write_input(w, from);
    onnx_write_input(w, onnx_text(w, "%s:scale", name));
    if (t->elem.bits != 32)
        onnx_write_input(w, onnx_text(w, "%s:zero", name));
    if (t->q.granularity != ASSAY_Q_TENSOR)
        onnx_write_int(w, "axis", t->q.axis);
    if (t->q.granularity == ASSAY_Q_BLOCK)
        onnx_write_int(w, "block_size", t->q.block);
}

void onnx_export_parameters(onnx_writer *w, int v)
{
    if (w->has_params[v])
        return;
    w->has_params[v] = true;
    const assay_value *x = &w->g->value[v];
    scales_and_zeros(w, x->name, &x->type);
    onnx_write_annotation(w, x->name, onnx_text(w, "%s:scale", x->name),
                          x->type.elem.bits == 32 ? NULL : onnx_text(w, "%s:zero", x->name));
}

const char *onnx_export_real(onnx_writer *w, int v)
{
    const assay_value *x = &w->g->value[v];
    const char *name;

    if (!assay_is_quantized(&x->type))
        return x->name;
    name = onnx_text(w, "%s:real", x->name);
    if (!w->has_real[v]) {
        w->has_real[v] = true;
        onnx_export_parameters(w, v);
        onnx_export_convert(w, "DequantizeLinear", x->name, x->name, &x->type, name);
    }
    return name;
}

void onnx_export_quantize(onnx_writer *w, const char *from, int v)
{
    const assay_value *y = &w->g->value[v];
    onnx_export_parameters(w, v);
    onnx_export_convert(w, "QuantizeLinear", from, y->name, &y->type, y->name);
}

bool onnx_export_is_wide_bias(const assay_graph *g, int v)
{
    const assay_type *t = &g->value[v].type;
    if (t->elem.kind != ASSAY_KIND_INT || t->elem.bits != 64)
        return false;
    for (int i = 0; i < g->n_nodes; i++)
        for (int k = 0; k < g->node[i].n_in; k++)
            if (g->node[i].in[k] == v)
                return k == 2 && assay_op_get(g->node[i].op)->traits & ASSAY_T_WEIGHTED;
    return false;
}

/* DequantizeLinear has no 64 bits: the bias as floats, of which its codes can be made again. */
static void wide_bias(onnx_writer *w, const assay_node *n, const char *name, const float *scale,
                      size_t scales)
{
    const assay_value *b = &w->g->value[n->in[2]];
    int64_t count = assay_shape_count(&b->type);
    float *real = onnx_memory(w, (size_t)count * sizeof *real + 1);

    for (int64_t i = 0; real && scale && b->data && i < count; i++) {
        double code = (double)assay_elem_get(b->type.elem, b->data, (size_t)i);
        double s = (double)scale[scales > 1 ? i : 0];
        real[i] = (float)(code * s);
        if (rint((double)real[i] / s) != code) {
            onnx_write_refuse(w, n, "a 64-bit bias that float32 cannot hold exactly");
            return;
        }
    }
    onnx_write_tensor(w, name, assay_f32(), b->type.rank, b->type.dim, real);
}

/* The bias says itself of what its codes are multiples. */
static const char *bias_beside_blocks(onnx_writer *w, const assay_node *n)
{
    const assay_value *b = &w->g->value[n->in[2]];
    if (!assay_is_quantized(&b->type))
        onnx_write_refuse(w, n, "a bias in codes without a scale beside weights in blocks");
    return onnx_export_real(w, n->in[2]);
}

const char *onnx_export_bias(onnx_writer *w, const assay_node *n)
{
    const assay_value *b = &w->g->value[n->in[2]], *weights = &w->g->value[n->in[1]];
    const char *name = onnx_text(w, "%s:bias", w->g->value[n->out[0]].name);
    assay_type t = b->type;
    float *scale = onnx_memory(w, weights->type.q.count * sizeof *scale + 1);

    if (t.elem.kind != ASSAY_KIND_INT)
        return b->name;
    if (weights->type.q.granularity == ASSAY_Q_BLOCK) /* the unit of their sums is the scheme's */
        return bias_beside_blocks(w, n);
    for (size_t c = 0; scale && c < weights->type.q.count; c++)
        scale[c] = w->g->value[n->in[0]].type.q.scale[0] * weights->type.q.scale[c];
    if (t.elem.bits != 32) {
        wide_bias(w, n, name, scale, weights->type.q.count);
        return name;
    }
    t.q = (assay_qparams){.granularity = weights->type.q.count > 1 ? ASSAY_Q_AXIS : ASSAY_Q_TENSOR,
                          .count = weights->type.q.count,
                          .scale = scale};
    if (scale)
        scales_and_zeros(w, name, &t);
    onnx_export_convert(w, "DequantizeLinear", b->name, name, &t, onnx_text(w, "%s:real", name));
    return onnx_text(w, "%s:real", name);
}
