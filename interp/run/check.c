/* Checks of what the integer kernels take for granted beyond the verifier; see check.h. */
#include "interp/run/check.h"

#include "graph/core/blocks.h"
#include "interp/ref/ref.h"

static assay_status refuse(const assay_node *n, const assay_value *v, const char *expected,
                           assay_error *err)
{
    return assay_fail(err, ASSAY_ERR_UNSUPPORTED, "node '%s' (%s): value '%s' must be %s", n->name,
                      assay_op_get(n->op)->name, v->name, expected);
}

static bool is_code(const assay_value *v)
{
    return v && assay_is_quantized(&v->type) && v->type.elem.bits <= 32;
}

static bool is_tensor_code(const assay_value *v)
{
    return is_code(v) && v->type.q.granularity == ASSAY_Q_TENSOR;
}

/* The axis of a weight that is the output channel. */
static int channel_axis(const assay_node *n, const assay_type *w)
{
    switch (n->op) {
    case ASSAY_OP_CONV_TRANSPOSE:
        return n->attr.conv.layout == ASSAY_LAYOUT_NHWC ? 0 : 1;
    case ASSAY_OP_MATMUL:
        return n->attr.matmul.transpose_b && w->rank > 1 ? w->rank - 2 : w->rank - 1;
    default:
        return 0;
    }
}

static assay_status check_weights(const assay_graph *g, const assay_node *n, assay_error *err)
{
    const assay_value *w = assay_node_in(g, n, 1), *y = assay_node_out(g, n, 0);
    const assay_value *bias = n->n_in > 2 ? assay_node_in(g, n, 2) : NULL;
    assay_blocks blocks;
    bool transposed = n->op == ASSAY_OP_MATMUL && n->attr.matmul.transpose_b;
    if (!is_code(w))
        return refuse(n, w, "codes with parameters", err);
    if (!assay_blocks_of(n->op, transposed, &w->type, &blocks))
        return refuse(n, w,
                      "quantized per tensor, per output channel, or (conv, fc, matmul by a "
                      "matrix) per block of an output channel's inputs",
                      err);
    if (w->type.q.granularity == ASSAY_Q_AXIS) {
        bool grouped = n->op == ASSAY_OP_CONV_TRANSPOSE && n->attr.conv.group > 1;
        if (w->type.q.axis != channel_axis(n, &w->type) ||
            (grouped && n->attr.conv.layout != ASSAY_LAYOUT_NHWC))
            return refuse(n, w, "quantized along its output channels", err);
    }
    if (bias && (bias->type.elem.kind != ASSAY_KIND_INT || !bias->type.elem.is_signed))
        return refuse(n, bias, "a bias of signed integers", err);
    if (!is_tensor_code(y) && !assay_is_accumulator(&y->type))
        return refuse(n, y, "codes with parameters per tensor, or plain i32 sums", err);
    return ASSAY_OK;
}

assay_status run_check_integer_node(const assay_graph *g, const assay_node *n, assay_error *err)
{
    uint32_t traits = assay_op_get(n->op)->traits;
    const assay_value *x = assay_node_in(g, n, 0), *y = assay_node_out(g, n, 0);
    if (n->op == ASSAY_OP_QUANTIZE) {
        if (x->type.elem.kind != ASSAY_KIND_F32)
            return refuse(n, x, "f32", err);
        return is_code(y) ? ASSAY_OK : refuse(n, y, "codes with parameters", err);
    }
    if (n->op == ASSAY_OP_DEQUANTIZE) {
        if (y->type.elem.kind != ASSAY_KIND_F32)
            return refuse(n, y, "f32", err);
        return is_code(x) ? ASSAY_OK : refuse(n, x, "codes with parameters", err);
    }
    if (!is_tensor_code(x))
        return refuse(n, x, "codes with parameters per tensor", err);
    if (n->op == ASSAY_OP_RESIZE && !ref_resize_has_form(g, n))
        return assay_fail(err, ASSAY_ERR_UNSUPPORTED,
                          "node '%s' (resize): in integers it is nearest, or linear over 1 or 2 "
                          "spatial axes",
                          n->name);
    if (traits & ASSAY_T_WEIGHTED || n->op == ASSAY_OP_MATMUL)
        return check_weights(g, n, err);
    for (int i = 1; i < n->n_in; i++)
        if ((n->in[i] >= 0 || n->op != ASSAY_OP_LAYER_NORM) &&
            !is_tensor_code(assay_node_in(g, n, i)))
            return refuse(n, assay_node_in(g, n, i), "codes with parameters per tensor", err);
    if (traits & ASSAY_T_COMPARE)
        return y->type.elem.kind == ASSAY_KIND_BOOL ? ASSAY_OK : refuse(n, y, "bool", err);
    return is_tensor_code(y) ? ASSAY_OK : refuse(n, y, "codes with parameters per tensor", err);
}

assay_status run_check_vtable(const assay_graph *g, const assay_node *n, unsigned calls,
                              const assay_scheme_vtable *vt, assay_error *err)
{
    const assay_value *w = n->n_in > 1 ? assay_node_in(g, n, 1) : NULL;
    bool by_block = calls & ASSAY_CALLS_ACCUMULATE && w && w->type.q.granularity == ASSAY_Q_BLOCK;
    const bool is_linear = n->op == ASSAY_OP_RESIZE && n->attr.resize.mode == ASSAY_RESIZE_LINEAR;
    const struct {
        unsigned call;
        bool there;
        const char *name;
    } table[] = {
        {ASSAY_CALLS_ACCUMULATE, vt->accumulate != NULL, "accumulate"},
        {ASSAY_CALLS_ACCUMULATE, !by_block || vt->combine, "combine"},
        {ASSAY_CALLS_ACCUMULATE, vt->requantize != NULL, "requantize"},
        {ASSAY_CALLS_POOL, vt->apply_overflow != NULL, "apply_overflow"},
        {ASSAY_CALLS_POOL, vt->pool != NULL, "pool"},
        {ASSAY_CALLS_BINARY, vt->binary != NULL, "binary"},
        {ASSAY_CALLS_UNARY, vt->unary != NULL, "unary"},
        {ASSAY_CALLS_ROW, vt->row != NULL, "row"},
        {ASSAY_CALLS_INTERPOLATE, vt->interpolate != NULL, "interpolate"},
        {ASSAY_CALLS_UNARY, !is_linear || vt->interpolate, "interpolate"},
        {ASSAY_CALLS_QUANTIZE, vt->quantize != NULL, "quantize"},
        {ASSAY_CALLS_DEQUANTIZE, vt->dequantize != NULL, "dequantize"},
        {ASSAY_CALLS_DOT, vt->dot != NULL, "dot"},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (calls & table[i].call && !table[i].there)
            return assay_fail(err, ASSAY_ERR_SCHEME, "node '%s' (%s): scheme '%s' has no %s",
                              n->name, assay_op_get(n->op)->name, vt->name, table[i].name);
    return ASSAY_OK;
}
