/* Classes of ops, and the records that have arithmetic for a node. */
#include <assert.h>
#include <math.h>
#include <stdio.h>

#include "graph/core/attr.h"
#include "graph/core/type.h"
#include "schemes/derive/derive.h"

static assay_status gelu(const assay_derive *d)
{
    return d->u->rec.unary.gelu == ASSAY_GELU_IBERT ? derive_gelu_ibert(d) : derive_table(d);
}

/* Element-wise functions without a line here are tables (function.def). */
static const assay_op_class classes[ASSAY_OP_COUNT] = {
    [ASSAY_OP_CONV] = {derive_weighted, 2},
    [ASSAY_OP_CONV_TRANSPOSE] = {derive_weighted, 2},
    [ASSAY_OP_FC] = {derive_weighted, 2},
    [ASSAY_OP_SVDF_FEATURE] = {derive_weighted, 2},
    [ASSAY_OP_SVDF_TIME] = {derive_weighted, 2},
    [ASSAY_OP_MATMUL] = {derive_weighted, 2},
    [ASSAY_OP_ADD] = {derive_add, 2},
    [ASSAY_OP_SUB] = {derive_add, 2},
    [ASSAY_OP_ADD_N] = {derive_sum, 1},
    [ASSAY_OP_CUMSUM] = {derive_sum, 1},
    [ASSAY_OP_MUL] = {derive_binary, 2},
    [ASSAY_OP_MIN] = {derive_binary, 2},
    [ASSAY_OP_MAX] = {derive_binary, 2},
    [ASSAY_OP_PRELU] = {derive_binary, 2},
    [ASSAY_OP_SQUARED_DIFFERENCE] = {derive_binary, 2},
    [ASSAY_OP_EQUAL] = {derive_binary, 2},
    [ASSAY_OP_NOT_EQUAL] = {derive_binary, 2},
    [ASSAY_OP_LESS] = {derive_binary, 2},
    [ASSAY_OP_LESS_EQUAL] = {derive_binary, 2},
    [ASSAY_OP_GREATER] = {derive_binary, 2},
    [ASSAY_OP_GREATER_EQUAL] = {derive_binary, 2},
    [ASSAY_OP_DIV] = {derive_div, 2},
    [ASSAY_OP_MAX_POOL] = {derive_unary, 1},
    [ASSAY_OP_REDUCE_MAX] = {derive_unary, 1},
    [ASSAY_OP_REDUCE_MIN] = {derive_unary, 1},
    [ASSAY_OP_RESCALE] = {derive_unary, 1},
    [ASSAY_OP_RELU] = {derive_unary, 1},
    [ASSAY_OP_CLIP] = {derive_unary, 1},
    [ASSAY_OP_LEAKY_RELU] = {derive_unary, 1},
    [ASSAY_OP_ABS] = {derive_unary, 1},
    [ASSAY_OP_RSQRT] = {derive_unary, 1},
    [ASSAY_OP_SIGMOID] = {derive_logistic, 1},
    [ASSAY_OP_TANH] = {derive_logistic, 1},
    [ASSAY_OP_HARD_SWISH] = {derive_hard_swish, 1},
    [ASSAY_OP_AVG_POOL] = {derive_pool, 1},
    [ASSAY_OP_GLOBAL_AVG_POOL] = {derive_pool, 1},
    [ASSAY_OP_REDUCE_MEAN] = {derive_pool, 1},
    [ASSAY_OP_REDUCE_SUM] = {derive_pool, 1},
    [ASSAY_OP_SOFTMAX] = {derive_row, 1},
    [ASSAY_OP_LOG_SOFTMAX] = {derive_row, 1},
    [ASSAY_OP_L2_NORM] = {derive_row, 1},
    [ASSAY_OP_REDUCE_PROD] = {derive_product, 1},
    [ASSAY_OP_LAYER_NORM] = {derive_layer_norm, 1},
    [ASSAY_OP_LRN] = {derive_lrn, 1},
    [ASSAY_OP_GELU] = {gelu, 1},
    [ASSAY_OP_RESIZE] = {derive_resize, 1},
    [ASSAY_OP_QUANTIZE] = {derive_convert, 0},
    [ASSAY_OP_DEQUANTIZE] = {derive_convert, 1},
};

assay_op_class derive_class_of(enum assay_op op)
{
    assert((unsigned)op < ASSAY_OP_COUNT);
    if (!classes[op].derive && derive_is_function(op))
        return (assay_op_class){derive_table, 1};
    return classes[op];
}

/* Ops whose later inputs may have parameters per axis. */
static bool allows_axis(enum assay_op op, int input)
{
    return (derive_class_of(op).derive == derive_weighted && input == 1) ||
           op == ASSAY_OP_DEQUANTIZE;
}

/* `converts` to or from real numbers: a float step, which is defined for subnormal scales too (ONNX
 * Runtime's bits at 1e-38); a rescale between codes needs normal ones. */
static bool check_type(const assay_type *t, bool axis, bool converts, const char *what, char *why,
                       size_t n)
{
    if (!assay_is_quantized(t) || !t->q.scale || t->q.count == 0) {
        snprintf(why, n, "%s has no quantization parameters", what);
        return false;
    }
    if (t->q.count != 1 && !axis) {
        snprintf(why, n, "%s has %zu scales; one is expected", what, t->q.count);
        return false;
    }
    for (size_t i = 0; i < t->q.count; i++)
        if (!(t->q.scale[i] > 0) ||
            !(converts ? isfinite(t->q.scale[i]) : isnormal(t->q.scale[i]))) {
            snprintf(why, n, "%s has the scale %g; expected a finite%s number above 0", what,
                     (double)t->q.scale[i], converts ? "" : ", normal");
            return false;
        }
    return true;
}

bool derive_is_compare(enum assay_op op)
{
    return op >= ASSAY_OP_EQUAL && op <= ASSAY_OP_GREATER_EQUAL;
}

/* Forms that end in a multiplier of their own, or one with another shift. */
static bool needs_multiplier(const assay_record *r, enum assay_op op)
{
    switch (op) {
    case ASSAY_OP_DIV:
        return r->binary.div == ASSAY_DIV_RECIPROCAL;
    case ASSAY_OP_AVG_POOL:
    case ASSAY_OP_GLOBAL_AVG_POOL:
    case ASSAY_OP_REDUCE_MEAN:
        return r->pool.kind == ASSAY_POOL_DIVIDED_MULTIPLIER;
    case ASSAY_OP_SOFTMAX:
        return r->softmax.kind == ASSAY_SOFTMAX_FIXED || r->softmax.kind == ASSAY_SOFTMAX_LUT16;
    case ASSAY_OP_LOG_SOFTMAX:
    case ASSAY_OP_L2_NORM:
        return true;
    case ASSAY_OP_SIGMOID:
    case ASSAY_OP_TANH:
        return r->unary.logistic == ASSAY_LOGISTIC_FIXED;
    case ASSAY_OP_RSQRT:
        return r->unary.rsqrt == ASSAY_RSQRT_NEWTON;
    case ASSAY_OP_LAYER_NORM:
        return r->softmax.layer_norm == ASSAY_LAYER_NORM_NEWTON;
    default:
        return false;
    }
}

/* Whether the op is a table of codes under this record. */
static bool is_table(const assay_record *r, enum assay_op op)
{
    return derive_class_of(op).derive == derive_table ||
           (op == ASSAY_OP_GELU && r->unary.gelu == ASSAY_GELU_TABLE);
}

static bool has_block_weights(enum assay_op op, const assay_unit_spec *spec)
{
    return derive_class_of(op).derive == derive_weighted &&
           spec->in[1].q.granularity == ASSAY_Q_BLOCK;
}

const char *derive_lacks(const assay_record *r, enum assay_op op)
{
    if (op == ASSAY_OP_DIV && r->binary.div == ASSAY_DIV_NONE)
        return "division";
    if (op == ASSAY_OP_SOFTMAX && r->softmax.kind == ASSAY_SOFTMAX_NONE)
        return "softmax";
    if (op == ASSAY_OP_LOG_SOFTMAX && !r->softmax.log_softmax)
        return "log softmax";
    if (op == ASSAY_OP_L2_NORM && r->softmax.l2_norm == ASSAY_NORM_NONE)
        return "L2 normalization";
    if (op == ASSAY_OP_LAYER_NORM && r->softmax.layer_norm == ASSAY_LAYER_NORM_NONE)
        return "layer normalization";
    if (op == ASSAY_OP_LRN && r->lrn.kind == ASSAY_LRN_NONE)
        return "local response normalization";
    return is_table(r, op) && r->table.kind == ASSAY_TABLE_NONE ? "tables of functions" : NULL;
}

/* Codes travel as int32: what computes with them would take the upper half of u32 for negative
 * numbers. */
static bool check_width(const assay_unit_spec *spec, char *why, size_t n)
{
    for (int i = 0; i < spec->n_in; i++) {
        const assay_elem e = spec->in[i].elem;
        if (e.kind == ASSAY_KIND_INT && e.bits == 32 && !e.is_signed) {
            snprintf(why, n,
                     "input %d has unsigned codes of 32 bits; expected at most 31, or 32 signed",
                     i);
            return false;
        }
    }
    return true;
}

/* What the op class cannot do at all under this record. */
static bool class_supports(const assay_record *r, enum assay_op op, const assay_unit_spec *spec,
                           char *why, size_t n)
{
    const char *missing = derive_lacks(r, op);
    if (r->blocks.kind == ASSAY_BLOCK_NONE && has_block_weights(op, spec))
        missing = "weights with a scale for each block of inputs (blocks.kind)";
    else if (op == ASSAY_OP_RESIZE && spec->flag == ASSAY_RESIZE_LINEAR &&
             r->resize.kind == ASSAY_RESIZE_NONE)
        missing = "bilinear resize";
    else if (op == ASSAY_OP_RESIZE && spec->flag == ASSAY_RESIZE_CUBIC)
        missing = "cubic resize";
    else if (op == ASSAY_OP_RESIZE && spec->flag == ASSAY_RESIZE_LINEAR && spec->depth > 0)
        missing = "linear resize over other than 1 or 2 spatial axes";
    if (missing) {
        snprintf(why, n, "the target has no integer form of %s", missing);
        return false;
    }
    if (needs_multiplier(r, op) && (r->rescale.encoding != ASSAY_ENCODE_MULTIPLIER ||
                                    r->rescale.pre_shift != ASSAY_PRE_NONE)) {
        snprintf(why, n,
                 "its fixed-point form needs rescale.encoding: multiplier and no pre-shift");
        return false;
    }
    if (is_table(r, op) && spec->in[0].elem.bits > 16) {
        snprintf(why, n, "a table needs an input of at most 16 bits; found %u",
                 spec->in[0].elem.bits);
        return false;
    }
    return true;
}

bool derive_family_supports(const assay_scheme *s, const assay_unit_spec *spec, char *why, size_t n)
{
    const assay_scheme_data *data = assay_data(s);
    enum assay_op op = assay_op_find(spec->op);
    assay_op_class c = op == ASSAY_OP_COUNT ? (assay_op_class){NULL, 0} : derive_class_of(op);
    if (!c.derive) {
        snprintf(why, n, "no quantized form of %s is known", spec->op);
        return false;
    }
    if (data->in_float[op]) {
        snprintf(why, n, "scheme %s leaves %s in float (float_ops)", s->name, spec->op);
        return false;
    }
    if (spec->n_in < (c.codes > 1 ? c.codes : 1)) {
        snprintf(why, n, "%d inputs; expected at least %d", spec->n_in, c.codes);
        return false;
    }
    bool converts = op == ASSAY_OP_QUANTIZE || op == ASSAY_OP_DEQUANTIZE;
    for (int i = 0; i < c.codes; i++)
        if (!check_type(&spec->in[i], allows_axis(op, i), converts, i == 0 ? "input 0" : "input 1",
                        why, n))
            return false;
    if (!converts && !check_width(spec, why, n))
        return false;
    bool sums = c.derive == derive_weighted && assay_is_accumulator(spec->out);
    if (!derive_is_compare(op) && op != ASSAY_OP_DEQUANTIZE && !sums &&
        !check_type(spec->out, op == ASSAY_OP_QUANTIZE, converts, "the output", why, n))
        return false;
    assay_record r;
    assay_effective_record(data, spec->op, spec->node, derive_variant_of(spec), &r);
    return class_supports(&r, op, spec, why, n);
}
