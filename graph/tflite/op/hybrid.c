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
#include <stdio.h>

#include "graph/tflite/op/op.h"

enum { CODE_DEPTHWISE_CONV_2D = 4 };

static const float one_scale = 1;
static const int32_t no_offset = 0;

bool tfl_is_hybrid(const tfl_op *o, int x, int w)
{
    const tfl_tensor *t = tfl_in(o, w);
    const assay_qparams *q = &t->type.q;

    if (!o->m->options || !o->m->options->hybrid || !assay_tfl_is_constant(t) ||
        !t->type.elem.is_signed || tfl_in(o, x)->type.elem.kind != ASSAY_KIND_F32 ||
        t->type.elem.kind != ASSAY_KIND_INT || q->granularity == ASSAY_Q_NONE ||
        tfl_flat_present(t->blockwise))
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

bool tfl_is_hybrid_product(const tfl_op *o, int x, int w)
{
    return tfl_is_hybrid(o, x, w) && !scales_differ(&tfl_in(o, w)->type.q);
}

/* What the nodes of one product have in common. */
typedef struct hybrid {
    const tfl_op *o;
    assay_op op;
    const assay_attrs *attr;
    const char *name; /* the names of parts begin with it: "", or "step3/x/" */
    bool asymmetric;
} hybrid;

static const char *named(const hybrid *h, const char *part, char room[128])
{
    snprintf(room, 128, "%s%s", h->name, part);
    return room;
}

static assay_status step(const hybrid *h, assay_op op, const int *in, int n_in, const char *part,
                         const assay_type *type, int *value)
{
    char room[128];
    return tfl_step(h->o, op, in, n_in, named(h, part, room), type, value);
}

/* Codes of x without a zero point: 8 bits, or 16 that hold what codes of 8 bits lie from their zero
 * point. */
static assay_status make_codes(const hybrid *h, int x, int factor, int zero, int *codes)
{
    const assay_type real = h->o->m->g->value[x].type;
    assay_type type = real;
    int scaled, shifted, back, centred;
    assay_status s;

    type.elem = assay_int(8, true);
    type.q = (assay_qparams){
        .granularity = ASSAY_Q_TENSOR, .count = 1, .scale = &one_scale, .zero_point = &no_offset};
    if ((s = step(h, ASSAY_OP_MUL, (int[]){x, factor}, 2, "scaled", &real, &scaled)))
        return s;
    if (!h->asymmetric)
        return step(h, ASSAY_OP_QUANTIZE, &scaled, 1, "codes", &type, codes);
    if ((s = step(h, ASSAY_OP_ADD, (int[]){scaled, zero}, 2, "shifted", &real, &shifted)) ||
        (s = step(h, ASSAY_OP_QUANTIZE, &shifted, 1, "codes", &type, codes)) ||
        (s = step(h, ASSAY_OP_DEQUANTIZE, codes, 1, "numbers", &real, &back)) ||
        (s = step(h, ASSAY_OP_SUB, (int[]){back, zero}, 2, "centred", &real, &centred)))
        return s;
    type.elem = assay_int(16, true);
    return step(h, ASSAY_OP_QUANTIZE, &centred, 1, "wide", &type, codes);
}

/* Scale, factor and zero point, one each for an index of the first `axes` axes of x. */
static assay_status ranges(const hybrid *h, int x, int axes, int out[3])
{
    static const char *const name[3] = {"range/scale", "range/factor", "range/zero"};
    const assay_attrs a = {.dynamic = {.axis = axes, .symmetric = !h->asymmetric}};
    assay_type type = h->o->m->g->value[x].type;
    char room[128];
    assay_status s = ASSAY_OK;

    for (int i = axes; i < type.rank; ++i)
        type.dim[i] = 1;
    for (int i = 0; !s && i < 3; ++i)
        s = tfl_part(h->o, named(h, name[i], room), &type, &out[i]);
    return s ? s : tfl_node(h->o, ASSAY_OP_DYNAMIC_PARAMS, &x, 1, out, 3, &a, NULL);
}

/* The codes and the scale of x, unless an earlier product has made them. */
static assay_status quantize(const hybrid *h, int axes, tfl_factor *x)
{
    int range[3];
    assay_status s;

    if (x->codes != ASSAY_NO_VALUE)
        return ASSAY_OK;
    if ((s = ranges(h, x->value, axes, range)))
        return s;
    x->scale = range[0];
    return make_codes(h, x->value, range[1], range[2], &x->codes);
}

/* The weights' scale, or one per channel where those differ. */
static assay_status weight_scales(const hybrid *h, tfl_factor *w)
{
    const assay_graph *g = h->o->m->g;
    const assay_qparams *q = &g->value[w->value].type.q;
    const bool differ = scales_differ(q);
    const assay_type type = {.elem = assay_f32(), .rank = differ, .dim = {(int64_t)q->count}};
    char room[128];
    assay_status s;

    if (w->scale != ASSAY_NO_VALUE)
        return ASSAY_OK;
    s = tfl_filled(h->o, named(h, "weights/scale", room), &type, (double)q->scale[0], &w->scale);
    for (size_t i = 0; !s && differ && i < g->value[w->value].type.q.count; ++i)
        ((float *)(uintptr_t)g->value[w->scale].data)[i] = g->value[w->value].type.q.scale[i];
    return s;
}

/* y = the sums as numbers times both scales. */
static assay_status scaled(const hybrid *h, int sums, int range, int weights, bool apart, int y,
                           int *id)
{
    static const assay_attrs to_f32 = {.cast = {.to = ASSAY_CAST_F32}};
    const assay_graph *g = h->o->m->g;
    const assay_type *of_weights = &g->value[weights].type;
    assay_type type = g->value[range].type;
    const bool depthwise = h->o->builtin == CODE_DEPTHWISE_CONV_2D;
    int real, factor[2] = {range, weights}, first;
    char room[128];
    assay_status s = tfl_part(h->o, named(h, "numbers", room), &g->value[y].type, &real);

    if (s || (s = tfl_node(h->o, ASSAY_OP_CAST, &sums, 1, &real, 1, &to_f32, NULL)))
        return s;
    if (apart) {
        factor[depthwise] = real;
        type = g->value[y].type;
    } else if (of_weights->rank) {
        type.dim[type.rank - 1] = of_weights->dim[0];
    }
    if ((s = step(h, ASSAY_OP_MUL, factor, 2, "factor", &type, &first)))
        return s;
    return tfl_node(h->o, ASSAY_OP_MUL,
                    (int[]){first, !apart      ? real
                                   : depthwise ? weights
                                               : range},
                    2, &y, 1, NULL, id);
}

/* y of the factors and a bias (or ASSAY_NO_VALUE); *id is the last node. */
static assay_status product(const hybrid *h, tfl_factor *x, tfl_factor *w, int bias, int y, int *id)
{
    const tfl_op *o = h->o;
    const assay_graph *g = o->m->g;
    const int axes = h->op == ASSAY_OP_FC ? g->value[x->value].type.rank - 1 : 1;
    const bool in_groups =
        axes == 1 && h->attr && (h->attr->conv.group > 1 || o->builtin == CODE_DEPTHWISE_CONV_2D);
    assay_type sums = g->value[y].type;
    int sum, before = y;
    char room[128];
    assay_status s;

    sums.elem = assay_int(32, true);
    if ((s = quantize(h, axes, x)) || (s = weight_scales(h, w)) ||
        (s = tfl_part(o, named(h, "sums", room), &sums, &sum)) ||
        (s = tfl_node(o, h->op, (int[]){x->codes, w->value}, 2, &sum, 1, h->attr, NULL)) ||
        (bias != ASSAY_NO_VALUE &&
         (s = tfl_part(o, named(h, "product", room), &g->value[y].type, &before))) ||
        (s = scaled(h, sum, x->scale, w->scale, in_groups, before, id)))
        return s;
    return bias == ASSAY_NO_VALUE
               ? ASSAY_OK
               : tfl_node(o, ASSAY_OP_ADD, (int[]){before, bias}, 2, &y, 1, NULL, id);
}

assay_status tfl_hybrid_product(const tfl_op *o, const char *name, bool asymmetric, tfl_factor *x,
                                tfl_factor *w, int bias, int y)
{
    const hybrid h = {.o = o, .op = ASSAY_OP_FC, .name = name, .asymmetric = asymmetric};
    return product(&h, x, w, bias, y, NULL);
}

/* CONV_2D takes codes with a zero point where scales differ, a depthwise one always. */
static bool is_asymmetric(const tfl_op *o, const assay_qparams *q)
{
    if (o->op == ASSAY_OP_FC)
        return tfl_flat_bool(o->options, FC_ASYMMETRIC);
    return scales_differ(q) || o->builtin == CODE_DEPTHWISE_CONV_2D;
}

assay_status tfl_hybrid_node(const tfl_op *o, int x, int w, int bias, int y, const assay_attrs *a,
                             int *id)
{
    const hybrid h = {.o = o,
                      .op = o->op,
                      .attr = a,
                      .name = "",
                      .asymmetric = is_asymmetric(o, &o->m->g->value[w].type.q)};
    tfl_factor of_x = tfl_factor_of(x), of_w = tfl_factor_of(w);

    return product(&h, &of_x, &of_w, bias, y, id);
}
