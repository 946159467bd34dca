/* fc: y[.., o] = bias[o] + sum over k: x[.., k] * w[o, k]. */
#include "interp/float/float.h"

assay_status float_fc(assay_call *call, assay_error *err)
{
    const assay_type *w = call->in[1].type;
    const float *bias = call->node->n_in > 2 ? call->in[2].data : NULL;
    int64_t outputs = w->dim[0], depth = w->dim[1];
    int64_t count = assay_shape_count(call->out[0].type);
    float *y = call->out[0].data;

    (void)err;
    if (bias)
        for (int64_t i = 0; i < count; i++)
            y[i] = bias[i % outputs];
    float_gemm_run(&(assay_gemm){.m = outputs ? count / outputs : 0,
                                 .n = outputs,
                                 .k = depth,
                                 .a = call->in[0].data,
                                 .lda = depth,
                                 .b = call->in[1].data,
                                 .ldb = depth,
                                 .b_t = true,
                                 .c = y,
                                 .ldc = outputs,
                                 .add = bias != NULL,
                                 .in_turn = call->in_turn,
                                 .packed = assay_node_in(call->graph, call->node, 1)->data != NULL,
                                 .a_transposed = call->node->attr.fc.x_turned,
                                 .b_transposed = call->node->attr.fc.input_major});
    return ASSAY_OK;
}
