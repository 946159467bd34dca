/* Table of float kernels by op, and of the element kinds that each serves. */
#include <math.h>

#include "interp/float/finish.h"
#include "interp/float/float.h"
#include "interp/move/move.h"
#include "interp/signal/signal.h"

enum {
    F32 = 1,
    INTEGER = 2,
    BOOLS = 4,
    CODES = 8, /* integers with parameters, taken by value */
    NUMBERS = F32 | INTEGER,
    ANY = F32 | INTEGER | BOOLS
};

/* Kinds are those of the first input. */
typedef struct entry {
    assay_kernel_fn run;
    assay_scratch_fn scratch;
    int kinds;
    bool clamps; /* the kernel applies the fused activation itself (finish.h) */
} entry;

static const entry entries[ASSAY_OP_COUNT] = {
    [ASSAY_OP_CONV] = {float_conv, float_conv_scratch, F32, true},
    [ASSAY_OP_CONV_TRANSPOSE] = {float_conv_transpose, float_conv_transpose_scratch, F32},
    [ASSAY_OP_FC] = {float_fc, NULL, F32},
    [ASSAY_OP_SVDF_FEATURE] = {float_fc, NULL, F32},
    [ASSAY_OP_SVDF_TIME] = {float_conv, float_conv_scratch, F32, true},
    [ASSAY_OP_MATMUL] = {float_matmul, NULL, NUMBERS},
    [ASSAY_OP_BATCH_NORM] = {float_batch_norm, NULL, F32},
#define INTEGERS(expression)     NUMBERS
#define NONE                     F32
#define BINARY(ID, integers, y)  [ASSAY_OP_##ID] = {float_binary, NULL, integers},
#define INTEGRAL(ID, y)          [ASSAY_OP_##ID] = {float_binary, NULL, INTEGER},
#define COMPARISON(ID, kinds, y) [ASSAY_OP_##ID] = {float_compare, NULL, kinds},
#include "graph/core/binary.def"
    [ASSAY_OP_LOGICAL_NOT] = {float_logical_not, NULL, BOOLS},
#define FUNCTION(ID, integers, y) [ASSAY_OP_##ID] = {float_unary_op, NULL, integers},
#include "schemes/derive/function.def"
#undef INTEGERS
#undef NONE
    [ASSAY_OP_SOFTMAX] = {float_softmax, NULL, F32},
    [ASSAY_OP_LOG_SOFTMAX] = {float_softmax, NULL, F32},
    [ASSAY_OP_L2_NORM] = {float_l2_norm, NULL, F32},
    [ASSAY_OP_LAYER_NORM] = {float_layer_norm, NULL, F32},
    [ASSAY_OP_LRN] = {float_lrn, NULL, F32},
    [ASSAY_OP_MAX_POOL] = {float_max_pool, NULL, NUMBERS},
    [ASSAY_OP_AVG_POOL] = {float_avg_pool, NULL, F32},
    [ASSAY_OP_GLOBAL_AVG_POOL] = {float_global_avg_pool, NULL, F32},
    [ASSAY_OP_REDUCE_MEAN] = {float_reduce, float_reduce_scratch, NUMBERS},
    [ASSAY_OP_REDUCE_SUM] = {float_reduce, float_reduce_scratch, NUMBERS},
    [ASSAY_OP_REDUCE_PROD] = {float_reduce, float_reduce_scratch, NUMBERS},
    [ASSAY_OP_REDUCE_MAX] = {float_reduce, float_reduce_scratch, ANY},
    [ASSAY_OP_REDUCE_MIN] = {float_reduce, float_reduce_scratch, ANY},
    [ASSAY_OP_ADD_N] = {float_add_n, NULL, NUMBERS},
    [ASSAY_OP_SCATTER_REDUCE] = {float_scatter_reduce, NULL, NUMBERS},
    [ASSAY_OP_CUMSUM] = {float_cumsum, NULL, NUMBERS},
    [ASSAY_OP_RESIZE] = {float_resize, float_resize_scratch, F32},
    [ASSAY_OP_GRID_SAMPLE] = {float_grid_sample, NULL, F32},
    [ASSAY_OP_ROI_ALIGN] = {float_roi_align, NULL, F32},
    [ASSAY_OP_NMS] = {float_nms, NULL, F32},
    [ASSAY_OP_SOFT_NMS] = {float_soft_nms, NULL, F32},
    [ASSAY_OP_DETECTION] = {float_detection, NULL, F32},
    [ASSAY_OP_DYNAMIC_PARAMS] = {float_dynamic_params, NULL, F32},
    [ASSAY_OP_SIGNAL_SCALE] = {signal_scale, NULL, INTEGER},
    [ASSAY_OP_RFFT] = {signal_fft, signal_fft_scratch, INTEGER},
    [ASSAY_OP_IRFFT] = {signal_fft, signal_fft_scratch, INTEGER},
    [ASSAY_OP_SIGNAL_ROOT] = {signal_root, NULL, INTEGER},
    [ASSAY_OP_PCAN] = {signal_pcan, NULL, INTEGER},
    [ASSAY_OP_SIGNAL_LOG] = {signal_log, NULL, INTEGER},
    [ASSAY_OP_CAST] = {float_cast, NULL, ANY | CODES},
};

static bool admits(int kinds, const assay_type *t)
{
    switch (t->elem.kind) {
    case ASSAY_KIND_F32:
        return kinds & F32;
    case ASSAY_KIND_BOOL:
        return kinds & BOOLS;
    default:
        if (assay_is_small_float(t->elem))
            return false; /* patterns: float_decode makes numbers of them */
        return kinds & (assay_is_quantized(t) ? CODES : INTEGER);
    }
}

static int64_t bound(float f, int64_t none)
{
    return isinf(f) ? none : (int64_t)f;
}

/* Bounds of plain integers are integers: 0, 6, -1, 1. */
static void clamp_integers(const assay_node *n, const assay_view *y)
{
    int64_t count = assay_shape_count(y->type);
    int64_t lo = bound(n->act_lo, INT64_MIN), hi = bound(n->act_hi, INT64_MAX);
    for (int64_t i = 0; i < count; i++) {
        int64_t v;
        float_load_integers(y, i, 1, 1, &v);
        v = v < lo ? lo : v > hi ? hi : v;
        float_store_integers(y, i, 1, &v);
    }
}

/* The node's fused activation: y = min(max(y, act_lo), act_hi). */
static void clamp_output(const assay_call *call)
{
    const assay_node *n = call->node;
    const assay_view *y = &call->out[0];
    if (n->act_lo == -INFINITY && n->act_hi == INFINITY)
        return;
    if (y->type->elem.kind == ASSAY_KIND_INT && !assay_is_quantized(y->type))
        clamp_integers(n, y);
    if (!float_holds_f32(y))
        return;
    float_finish_plane(&(float_finish){NULL, n->act_lo, n->act_hi}, 0, y->data,
                       assay_shape_count(y->type), y->data);
    if (call->teller) {
        apply_tell_float(call->teller, "least bound", n->act_lo);
        apply_tell_float(call->teller, "greatest bound", n->act_hi);
        apply_tell_float(call->teller, "within the bounds",
                         ((const float *)y->data)[call->teller->at]);
    }
}

assay_status float_check_float_node(const assay_graph *g, const assay_node *n, assay_error *err)
{
    const assay_value *x = n->n_in > 0 ? assay_node_in(g, n, 0) : NULL;
    char kind[8];

    if (move_kernel(n->op).run || !entries[n->op].run || !x ||
        admits(entries[n->op].kinds, &x->type))
        return ASSAY_OK;
    return assay_fail(err, ASSAY_ERR_UNSUPPORTED, "node '%s': the float engine has no %s of %s%s",
                      n->name, assay_op_get(n->op)->name,
                      assay_is_quantized(&x->type) ? "quantized " : "",
                      assay_elem_print(x->type.elem, kind));
}

static assay_status run(assay_call *call, assay_error *err)
{
    const entry *e = &entries[call->node->op];
    assay_status s = float_check_float_node(call->graph, call->node, err);

    if (!s)
        s = e->run(call, err);
    if (!s && !e->clamps)
        clamp_output(call);
    return s;
}

assay_kernel float_kernel(assay_op op)
{
    assay_kernel move = move_kernel(op);
    if (move.run || !entries[op].run)
        return move;
    return (assay_kernel){run, entries[op].scratch, false};
}
