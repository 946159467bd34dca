/* Hybrid operators: integer weights under float activations, which TFLite quantizes in each
 * run, by the range of each row (or image) of them (kernels/fully_connected.cc EvalHybridDense,
 * conv.cc EvalHybrid and EvalHybridPerChannel, depthwise_conv.cc):
 *
 *   q    = round(x * factor + zero)          the scheme's rounding of a quantize node at scale 1
 *   sums = sum of (q - zero) * w             integers
 *   y    = float(sums) * (scale * scale_w) + bias
 *   y    = float(sums) * scale_w * scale + bias       of convolutions in groups
 *   y    = float(sums) * scale * scale_w + bias       depthwise
 *
 * in binary32, each step rounded. Symmetric codes have no zero point. */
#include "graph/tflite/op/op.h"

enum { CODE_DEPTHWISE_CONV_2D = 4 };

static const float one_scale = 1;
static const int32_t no_offset = 0;

bool tfl_is_hybrid(const tfl_op *o, int x, int w)
{
    const tfl_tensor *t = tfl_in(o, w);
    const assay_qparams *q = &t->type.q;

    if (!o->m->options || !o->m->options->hybrid || !t->data || !t->type.elem.is_signed ||
        tfl_in(o, x)->type.elem.kind != ASSAY_KIND_F32 || t->type.elem.kind != ASSAY_KIND_INT ||
        q->granularity == ASSAY_Q_NONE || tfl_flat_present(t->blockwise))
        return false;
    for (size_t i = 0; i < q->count; ++i)
        if (q->zero_point[i] != 0)
            return false;
    return true;
}

static bool scales_differ(const assay_qparams *q)
{
    for (size_t i = 1; i < q->count; ++i)
        if (q->scale[i] != q->scale[0])
            return true;
    return false;
}

/* CONV_2D takes codes with a zero point where scales differ, a depthwise one always. */
static bool is_asymmetric(const tfl_op *o, const assay_qparams *q)
{
    if (o->op == ASSAY_OP_FC)
        return tfl_flat_bool(o->options, FC_ASYMMETRIC);
    return scales_differ(q) || o->builtin == CODE_DEPTHWISE_CONV_2D;
}

/* Codes of x without a zero point: 8 bits, or 16 that hold what codes of 8 bits lie from their zero
 * point. */
static assay_status make_codes(const tfl_op *o, int x, int factor, int zero, bool asymmetric,
                               int *codes)
{
    const assay_type real = o->m->g->value[x].type;
    assay_type type = real;
    int scaled, shifted, back, centred;
    assay_status s;

    type.elem = assay_int(8, true);
    type.q = (assay_qparams){
        .granularity = ASSAY_Q_TENSOR, .count = 1, .scale = &one_scale, .zero_point = &no_offset};
    if ((s = tfl_step(o, ASSAY_OP_MUL, (int[]){x, factor}, 2, "scaled", &real, &scaled)))
        return s;
    if (!asymmetric)
        return tfl_step(o, ASSAY_OP_QUANTIZE, &scaled, 1, "codes", &type, codes);
    if ((s = tfl_step(o, ASSAY_OP_ADD, (int[]){scaled, zero}, 2, "shifted", &real, &shifted)) ||
        (s = tfl_step(o, ASSAY_OP_QUANTIZE, &shifted, 1, "codes", &type, codes)) ||
        (s = tfl_step(o, ASSAY_OP_DEQUANTIZE, codes, 1, "numbers", &real, &back)) ||
        (s = tfl_step(o, ASSAY_OP_SUB, (int[]){back, zero}, 2, "centred", &real, &centred)))
        return s;
    type.elem = assay_int(16, true);
    return tfl_step(o, ASSAY_OP_QUANTIZE, &centred, 1, "wide", &type, codes);
}

/* Scale, factor and zero point, one each for an index of the first `axes` axes of x. */
static assay_status ranges(const tfl_op *o, int x, int axes, bool symmetric, int out[3])
{
    static const char *const name[3] = {"range/scale", "range/factor", "range/zero"};
    const assay_attrs a = {.dynamic = {.axis = axes, .symmetric = symmetric}};
    assay_type type = o->m->g->value[x].type;
    assay_status s = ASSAY_OK;

    for (int i = axes; i < type.rank; ++i)
        type.dim[i] = 1;
    for (int i = 0; !s && i < 3; ++i)
        s = tfl_part(o, name[i], &type, &out[i]);
    return s ? s : tfl_node(o, ASSAY_OP_DYNAMIC_PARAMS, &x, 1, out, 3, &a, NULL);
}

/* The weights' scale, or one per channel where those differ. */
static assay_status weight_scales(const tfl_op *o, const assay_qparams *q, int *value)
{
    const bool differ = scales_differ(q);
    const assay_type type = {.elem = assay_f32(), .rank = differ, .dim = {(int64_t)q->count}};
    const assay_status s = tfl_filled(o, "weights/scale", &type, (double)q->scale[0], value);

    for (size_t i = 0; !s && differ && i < q->count; ++i)
        ((float *)(uintptr_t)o->m->g->value[*value].data)[i] = q->scale[i];
    return s;
}

/* y = the sums as numbers times both scales. */
static assay_status scaled(const tfl_op *o, int sums, int range, int weights, bool apart, int y,
                           int *id)
{
    static const assay_attrs to_f32 = {.cast = {.to = ASSAY_CAST_F32}};
    const assay_graph *g = o->m->g;
    const assay_type *of_weights = &g->value[weights].type;
    assay_type type = g->value[range].type;
    const bool depthwise = o->builtin == CODE_DEPTHWISE_CONV_2D;
    int real, factor[2] = {range, weights}, first;
    assay_status s = tfl_part(o, "numbers", &g->value[y].type, &real);

    if (s || (s = tfl_node(o, ASSAY_OP_CAST, &sums, 1, &real, 1, &to_f32, NULL)))
        return s;
    if (apart) {
        factor[depthwise] = real;
        type = g->value[y].type;
    } else if (of_weights->rank) {
        type.dim[type.rank - 1] = of_weights->dim[0];
    }
    if ((s = tfl_step(o, ASSAY_OP_MUL, factor, 2, "factor", &type, &first)))
        return s;
    return tfl_node(o, ASSAY_OP_MUL,
                    (int[]){first, !apart      ? real
                                   : depthwise ? weights
                                               : range},
                    2, &y, 1, NULL, id);
}

assay_status tfl_hybrid_node(const tfl_op *o, int x, int w, int bias, int y, const assay_attrs *a,
                             int *id)
{
    const assay_graph *g = o->m->g;
    const assay_qparams q = g->value[w].type.q;
    const int axes = o->op == ASSAY_OP_FC ? g->value[x].type.rank - 1 : 1;
    const bool asymmetric = is_asymmetric(o, &q),
               in_groups =
                   axes == 1 && a && (a->conv.group > 1 || o->builtin == CODE_DEPTHWISE_CONV_2D);
    assay_type sums = g->value[y].type;
    int range[3], codes, scale, sum, product = y;
    assay_status s;

    sums.elem = assay_int(32, true);
    if ((s = ranges(o, x, axes, !asymmetric, range)) ||
        (s = make_codes(o, x, range[1], range[2], asymmetric, &codes)) ||
        (s = weight_scales(o, &q, &scale)) || (s = tfl_part(o, "sums", &sums, &sum)) ||
        (s = tfl_node(o, o->op, (int[]){codes, w}, 2, &sum, 1, a, NULL)) ||
        (bias != ASSAY_NO_VALUE && (s = tfl_part(o, "product", &g->value[y].type, &product))) ||
        (s = scaled(o, sum, range[0], scale, in_groups, product, id)))
        return s;
    return bias == ASSAY_NO_VALUE
               ? ASSAY_OK
               : tfl_node(o, ASSAY_OP_ADD, (int[]){product, bias}, 2, &y, 1, NULL, id);
}
