/* QONNX's operators of FINN: how many thresholds a value reaches, and average pools of integers.
 *
 *   MultiThreshold   y = out_scale * (how many thresholds of its channel x reaches) + out_bias
 *   QuantAvgPool2d   y = floor(sum of the window / 2^shift)
 *
 * Values are floats that hold integers. Levels come from a table made in binary64, rounded once to
 * float32. Thresholds are [C or 1, B] and need not be sorted. The channels are axis 1 of rank 2 and
 * of NCHW, the last axis else. shift is what the sum of such a window of unsigned `ibits` numbers
 * has in bits beyond `obits`, 0 where it has none. out_dtype and signed say what the integers are,
 * and change none. Source: qonnx/custom_op/general/multithreshold.py and quantavgpool2d.py. */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "graph/onnx/op/op.h"

#define MAX_THRESHOLDS (INT64_C(1) << 20) /* of a channel */

static const char *const layouts[] = {"NCHW", "NHWC", NULL};

static bool check_float(onnx_node *n, const assay_type *t)
{
    if (!n->status && t->elem.kind != ASSAY_KIND_F32)
        onnx_refuse(n, "an input that is not float32");
    return !n->status;
}

/* ---- MultiThreshold ---- */

/* The axis of the channels. */
static int channels_of(onnx_node *n, const assay_type *x)
{
    const bool last = onnx_choice(n, "data_layout", layouts, 0) == 1;
    if (!n->status && (x->rank < 1 || x->rank >= ASSAY_MAX_RANK))
        onnx_refuse(n, "an input of %d axes", x->rank);
    else if (last && x->rank != 2 && x->rank != 4)
        onnx_refuse(n, "data_layout NHWC of %d axes", x->rank);
    return x->rank == 4 && !last ? 1 : x->rank - 1;
}

/* Thresholds [C or 1, B] as they stand beside x [..., C, ..., 1]. */
static onnx_value *beside(onnx_node *n, const assay_type *x, int axis)
{
    onnx_value *v = onnx_in(n, 1);
    const assay_type t = onnx_type(n, v);
    int64_t dim[ASSAY_MAX_RANK];
    if (!check_float(n, &t))
        return NULL;
    if (t.rank != 2 || (t.dim[0] != 1 && t.dim[0] != x->dim[axis]))
        return onnx_fail(n, ASSAY_ERR_INPUT,
                         "thresholds '%s' are not one row for all or one for each of %lld channels",
                         n->pb->input[1], (long long)x->dim[axis]);
    if (t.dim[1] > MAX_THRESHOLDS)
        return onnx_refuse(n, "%lld thresholds, at most 2^20 are supported", (long long)t.dim[1]);
    for (int i = 0; i < x->rank; i++)
        dim[i] = i == axis ? t.dim[0] : 1;
    dim[x->rank] = t.dim[1];
    return onnx_reshaped(n, v, x->rank + 1, dim, "thresholds");
}

/* What each count of 0 to `max` stands for. */
static onnx_value *levels(onnx_node *n, int64_t max)
{
    const double scale = (double)onnx_float(n, "out_scale", 1);
    const double bias = (double)onnx_float(n, "out_bias", 0);
    const int64_t dim[1] = {max + 1};
    onnx_const *c = onnx_new_const(n->im, ONNX_FLOAT, 1, dim);
    if (!c)
        return onnx_no_memory(n);
    for (int64_t i = 0; i <= max; i++)
        onnx_set_real(c, i, (double)(float)(scale * (double)i + bias));
    return onnx_constant(n, c, "levels");
}

void onnx_import_qonnx_thresholds(onnx_node *n)
{
    onnx_value *x = onnx_in(n, 0);
    const assay_type t = onnx_type(n, x);
    const assay_attrs to_f32 = {.cast = {.to = ASSAY_CAST_F32}};
    const assay_attrs to_i64 = {.cast = {.to = ASSAY_CAST_I64}};
    const assay_attrs along = {.reduce = {.axes = {.n = 1, .v = {t.rank}}}};
    const assay_attrs rows = {.gather = {.axis = 0}};
    int64_t dim[ASSAY_MAX_RANK];

    if (!check_float(n, &t))
        return;
    const int axis = channels_of(n, &t);
    onnx_value *thresholds = n->status ? NULL : beside(n, &t, axis);
    if (n->status)
        return;
    const int64_t max = onnx_type(n, onnx_in(n, 1)).dim[1];
    memcpy(dim, t.dim, sizeof dim);
    dim[t.rank] = 1;
    x = onnx_reshaped(n, x, t.rank + 1, dim, "compared");
    onnx_value *v = onnx_op2(n, ASSAY_OP_GREATER_EQUAL, NULL, x, thresholds, "reached");
    v = onnx_op1(n, ASSAY_OP_CAST, &to_f32, v, "ones");
    v = onnx_op1(n, ASSAY_OP_REDUCE_SUM, &along, v, "sum");
    v = onnx_op1(n, ASSAY_OP_CAST, &to_i64, v, "count");
    onnx_value *table = n->status ? NULL : levels(n, max);
    onnx_op2(n, ASSAY_OP_GATHER, &rows, table, v, NULL);
}

/* ---- QuantAvgPool2d ---- */

static int64_t attribute_of(onnx_node *n, const char *name, int64_t least, int64_t greatest)
{
    const int64_t v = onnx_int(n, name, -1);
    if (!n->status && (v < least || v > greatest))
        onnx_fail(n, ASSAY_ERR_INPUT, "attribute '%s' is %lld or missing, expected %lld to %lld",
                  name, (long long)v, (long long)least, (long long)greatest);
    return n->status ? least : v;
}

static int bit_length(int64_t v)
{
    int bits = 0;
    for (; v > 0; v >>= 1)
        bits++;
    return bits;
}

/* What sums of windows are shifted right by. */
static int shift_of(onnx_node *n, int64_t kernel)
{
    const int64_t in = attribute_of(n, "ibits", 1, 32), out = attribute_of(n, "obits", 2, 32);
    assert(in <= 32 && kernel <= 4096);
    const int bits = bit_length(((INT64_C(1) << in) - 1) * kernel * kernel);
    return bits > out ? bits - (int)out : 0;
}

void onnx_import_qonnx_pool(onnx_node *n)
{
    onnx_value *v = onnx_in(n, 0);
    const assay_type t = onnx_type(n, v);
    const int64_t k = attribute_of(n, "kernel", 1, 4096), s = attribute_of(n, "stride", 1, 4096);
    const bool nhwc = onnx_choice(n, "data_layout", layouts, 0) == 1;
    const int shift = shift_of(n, k);
    const assay_attrs a = {.pool = {.layout = nhwc ? ASSAY_LAYOUT_NHWC : ASSAY_LAYOUT_NCHW,
                                    .kernel = {.n = 2, .v = {k, k}},
                                    .stride = {.n = 2, .v = {s, s}},
                                    .dilation = {.n = 2, .v = {1, 1}},
                                    .pad_begin = {.n = 2},
                                    .pad_end = {.n = 2}}};

    if (!check_float(n, &t))
        return;
    if (t.rank != 4) {
        onnx_refuse(n, "an input of %d axes", t.rank);
        return;
    }
    v = onnx_op1(n, ASSAY_OP_AVG_POOL, &a, v, "mean");
    v = onnx_op2(n, ASSAY_OP_MUL, NULL, v, onnx_scalar(n, v, (double)(k * k), "window"), "near");
    v = onnx_op1(n, ASSAY_OP_ROUND, NULL, v, "sum");
    v = onnx_op2(n, ASSAY_OP_MUL, NULL, v, onnx_scalar(n, v, ldexp(1, -shift), "step"), "shifted");
    onnx_op1(n, ASSAY_OP_FLOOR, NULL, v, NULL);
}
