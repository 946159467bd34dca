/* Which nodes the fast engine takes. */
#include "interp/fast/fast.h"

/* Weights with a scale for each block of inputs. */
static bool is_by_block(const assay_fast_setup *s)
{
    const assay_value *w = s->node->n_in > 1 ? assay_node_in(s->graph, s->node, 1) : NULL;
    return w && w->type.q.granularity == ASSAY_Q_BLOCK;
}

static bool is_constant(const assay_fast_setup *s, int input)
{
    const assay_value *v = input < s->node->n_in ? assay_node_in(s->graph, s->node, input) : NULL;
    return !v || (v->data && !v->is_variable);
}

/* Sums of codes are bounded by nobody here. */
static bool may_refuse_sums(const assay_fast_setup *s)
{
    return fast_may_refuse(s, INT64_C(1) << 62);
}

assay_status fast_prepare(const assay_fast_setup *s, assay_fast **out, assay_error *err)
{
    const unsigned calls = ref_kernel(s->node->op).calls;
    *out = NULL;
    if (s->node->op != ASSAY_OP_TRANSPOSE && !s->unit)
        return ASSAY_OK;
    if (assay_shape_count(&assay_node_out(s->graph, s->node, 0)->type) == 0 ||
        assay_shape_count(&assay_node_in(s->graph, s->node, 0)->type) == 0)
        return ASSAY_OK;
    if (is_by_block(s)) {
        const bool takes = s->node->op == ASSAY_OP_FC || s->node->op == ASSAY_OP_MATMUL;
        return takes && !may_refuse_sums(s) && is_constant(s, 1) && is_constant(s, 2)
                   ? fast_fc_blocks(s, out, err)
                   : ASSAY_OK;
    }
    switch (s->node->op) {
    case ASSAY_OP_CONV:
    case ASSAY_OP_CONV_TRANSPOSE:
        return is_constant(s, 1) && is_constant(s, 2) ? fast_conv(s, out, err) : ASSAY_OK;
    case ASSAY_OP_MATMUL:
        if (!is_constant(s, 1) || assay_node_in(s->graph, s->node, 1)->type.rank != 2)
            return fast_matmul(s, out, err);
        return fast_fc(s, out, err);
    case ASSAY_OP_FC:
        return is_constant(s, 1) && is_constant(s, 2) ? fast_fc(s, out, err) : ASSAY_OK;
    case ASSAY_OP_TRANSPOSE:
        return fast_transpose(s, out, err);
    case ASSAY_OP_QUANTIZE:
        return fast_quantize(s, out, err);
    case ASSAY_OP_DEQUANTIZE:
        return fast_dequantize(s, out, err);
    case ASSAY_OP_MAX_POOL:
        return fast_max_pool(s, out, err);
    case ASSAY_OP_AVG_POOL:
    case ASSAY_OP_GLOBAL_AVG_POOL:
        return may_refuse_sums(s) ? ASSAY_OK : fast_avg_pool(s, out, err);
    case ASSAY_OP_REDUCE_MEAN:
    case ASSAY_OP_REDUCE_SUM:
        return may_refuse_sums(s) ? ASSAY_OK : fast_reduce(s, out, err);
    case ASSAY_OP_REDUCE_MAX:
    case ASSAY_OP_REDUCE_MIN:
        return fast_reduce(s, out, err);
    case ASSAY_OP_RESIZE:
        return s->node->attr.resize.mode == ASSAY_RESIZE_NEAREST ? fast_resize_nearest(s, out, err)
                                                                 : fast_resize_linear(s, out, err);
    case ASSAY_OP_SOFTMAX:
    case ASSAY_OP_LOG_SOFTMAX:
    case ASSAY_OP_L2_NORM:
    case ASSAY_OP_LRN:
    case ASSAY_OP_LAYER_NORM:
        return fast_row(s, out, err);
    default:
        return calls == ASSAY_CALLS_UNARY    ? fast_unary(s, out, err)
               : calls == ASSAY_CALLS_BINARY ? fast_binary(s, out, err)
                                             : ASSAY_OK;
    }
}

void fast_free(assay_fast *f)
{
    if (f)
        f->free(f);
}
