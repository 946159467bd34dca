/* Weighted ops: biases set the accumulators, scales of channels the multipliers; and sums that
 * overflow narrow accumulators, in an order that shows. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "interp/probe/makers.h"

enum { CHANNELS = 256, CELLS = 16, DEEP = 32, WIDE = 16 };

/* What channel c of C is rescaled by: a power of two, where ties are common, or any number; every
 * magnitude from 2^-24 (sums of 31 bits) to 1. */
static double ratio_of(probe_net *n, int64_t c)
{
    const double magnitude = (double)(1 + c / 4 % 24);
    switch (c % 4) {
    case 0:
        return exp2(-magnitude);
    case 1:
        return exp2(-magnitude) * (1 - probe_unit(n) * 1e-6);
    default:
        return exp2(-magnitude) * (1 + probe_unit(n));
    }
}

/* A bias that takes the rescaled sum to a code, a tie or a place beyond the codes. */
static int64_t bias_of(probe_net *n, double ratio, assay_elem out, int32_t zero)
{
    const double lo = (double)assay_elem_min(out) - zero, hi = (double)assay_elem_max(out) - zero;
    const double span = hi - lo, max = 2147483647.0 - 70000;
    double at = lo - span / 16 + probe_unit(n) * span * 1.125;
    if (probe_random(n) % 2)
        at = floor(at) + 0.5;
    at = nearbyint(at / ratio);
    return (int64_t)(at > max ? max : at < -max ? -max : at);
}

/* ---- many rescales ---- */

enum kind { CONV, DEPTHWISE, TRANSPOSE, FC };

static assay_op op_of(enum kind kind)
{
    return kind == FC ? ASSAY_OP_FC : kind == TRANSPOSE ? ASSAY_OP_CONV_TRANSPOSE : ASSAY_OP_CONV;
}

typedef struct rescales {
    int x;
    assay_type in;
    enum kind kind;
    int64_t inputs; /* of an output */
} rescales;

/* x: two numbers per cell (one per channel of a depthwise convolution), 0 and small ones first
 * among them. */
static rescales begin(probe_net *n, enum kind kind)
{
    const int64_t each = kind == DEPTHWISE ? CHANNELS : 2;
    const probe_shape shape = kind == FC ? PROBE_SHAPE(CELLS, each) : PROBE_SHAPE(1, 4, 4, each);
    rescales r = {.kind = kind,
                  .inputs = kind == DEPTHWISE ? 1 : 2,
                  .in = probe_type(n, n->types->activation, shape, 0.0625, n->types->zero_point)};
    void *data = probe_input(n, "x", r.in, &r.x);
    for (int64_t i = 0; data && i < CELLS * each; i++) {
        static const int small[] = {0, 1, -1, 2, -2, 3};
        const int64_t cell = i / each, zero = n->types->zero_point;
        const int64_t code = cell >= 6 ? probe_code(n, r.in.elem, probe_between(n, 0, 255))
                             : kind == DEPTHWISE || i % each == 0 ? zero + small[cell]
                                                                  : zero;
        assay_elem_set(r.in.elem, data, (size_t)i, code);
    }
    return r;
}

/* One node of CHANNELS rescales; ratio of all of them where it is above 0 (one scale of all
 * weights), else each its own. */
static void add_rescales(probe_net *n, const rescales *r, int number, double of_all, int32_t zero)
{
    const double ratio = of_all > 0 ? probe_vary(n, of_all) : 0;
    const bool is_fc = r->kind == FC;
    const probe_shape kernel =
        is_fc ? PROBE_SHAPE(CHANNELS, r->inputs) : PROBE_SHAPE(CHANNELS, 1, 1, r->inputs);
    const probe_shape shape = is_fc ? PROBE_SHAPE(CELLS, CHANNELS) : PROBE_SHAPE(1, 4, 4, CHANNELS);
    const double out_scale = probe_vary(n, 0.03125 * (1 + number % 3 * 0.37));
    const assay_elem e = n->types->activation, we = n->types->weight;
    float weight_scale[CHANNELS], bias_scale[CHANNELS];
    double ratios[CHANNELS];
    char name[3][32];
    int in[3] = {r->x, 0, 0};
    snprintf(name[0], sizeof name[0], "rescales%d", number);
    snprintf(name[1], sizeof name[1], "weights%d", number);
    snprintf(name[2], sizeof name[2], "bias%d", number);
    for (int64_t c = 0; c < CHANNELS; c++) {
        ratios[c] = ratio > 0 ? ratio : ratio_of(n, c);
        weight_scale[c] = (float)(ratios[c] * out_scale / 0.0625);
        bias_scale[c] = weight_scale[c] * 0.0625f;
    }
    int8_t *w = probe_constant(
        n, name[1],
        ratio > 0 ? probe_type(n, we, kernel, weight_scale[0], we.is_signed ? 0 : 128)
                  : probe_axis_type(n, we, kernel, weight_scale),
        &in[1]);
    void *b = probe_constant(
        n, name[2],
        ratio > 0 ? probe_type(n, n->types->bias, PROBE_SHAPE(CHANNELS), bias_scale[0], 0)
                  : probe_axis_type(n, n->types->bias, PROBE_SHAPE(CHANNELS), bias_scale),
        &in[2]);
    for (int64_t c = 0; w && b && c < CHANNELS; c++) {
        const int64_t none = we.is_signed ? 0 : 128;
        assay_elem_set(we, w, (size_t)(r->inputs * c), none + 1);
        if (r->inputs > 1)
            assay_elem_set(we, w, (size_t)(r->inputs * c + 1), none + probe_between(n, -127, 127));
        assay_elem_set(n->types->bias, b, (size_t)c, bias_of(n, ratios[c], e, zero));
    }
    assay_attrs attr = {0};
    attr.conv.layout = ASSAY_LAYOUT_NHWC;
    attr.conv.group = r->kind == DEPTHWISE ? CHANNELS : 1;
    probe_node(n, op_of(r->kind), name[0], in, 3, probe_type(n, e, shape, out_scale, zero),
               is_fc ? NULL : &attr,
               "along the last axis rescales of accumulators that the bias sets, ties among "
               "them");
}

/* ---- sums ---- */

/* Numbers from the ends of a type, in runs of one sign: sums climb and fall. */
static void fill_far(probe_net *n, assay_elem e, void *data, int64_t count, int32_t zero)
{
    const int64_t lo = assay_elem_min(e), hi = assay_elem_max(e);
    bool up = false;
    for (int64_t i = 0; data && i < count; i++) {
        up = probe_random(n) % 24 == 0 ? !up : up;
        const int64_t far = up ? probe_between(n, hi - (hi - zero) / 8, hi)
                               : probe_between(n, lo, lo + (zero - lo) / 8);
        assay_elem_set(e, data, (size_t)i, far < -127 && e.bits == 8 && e.is_signed ? -127 : far);
    }
}

static void add_sums(probe_net *n, enum kind kind, int number)
{
    const bool is_fc = kind == FC, each = kind == DEPTHWISE;
    const assay_elem e = n->types->activation, we = n->types->weight;
    const int64_t outs = each ? DEEP : WIDE, ins = each ? 1 : DEEP;
    const double terms = is_fc ? 9 * DEEP : 9.0 * (double)ins;
    /* by 2^-32 a sum that leaves 32 bits is another code, also where it is held at their end */
    const double ratio = number == 2 ? exp2(-32) : probe_vary(n, 1 / (terms * 40.0));
    const assay_type xt =
        probe_type(n, e, is_fc ? PROBE_SHAPE(CELLS, 9 * DEEP) : PROBE_SHAPE(1, 6, 6, DEEP), 0.0625,
                   n->types->zero_point);
    char name[4][32];
    int in[3];
    snprintf(name[0], sizeof name[0], "sums%d", number);
    snprintf(name[1], sizeof name[1], "far_weights%d", number);
    snprintf(name[2], sizeof name[2], "far_bias%d", number);
    snprintf(name[3], sizeof name[3], "far%d", number);
    const double weight_scale = ratio * 0.03125 / 0.0625;
    const probe_shape kernel = is_fc ? PROBE_SHAPE(WIDE, 9 * DEEP) : PROBE_SHAPE(outs, 3, 3, ins);
    const int32_t none = we.is_signed ? 0 : 128;
    fill_far(n, e, probe_input(n, name[3], xt, &in[0]), assay_shape_count(&xt),
             n->types->zero_point);
    const assay_type wt = probe_type(n, we, kernel, weight_scale, none);
    fill_far(n, we, probe_constant(n, name[1], wt, &in[1]), assay_shape_count(&wt), none);
    void *b = probe_constant(
        n, name[2],
        probe_type(n, n->types->bias, PROBE_SHAPE(outs), (float)weight_scale * 0.0625f, 0), &in[2]);
    for (int64_t c = 0; b && c < outs; c++)
        assay_elem_set(n->types->bias, b, (size_t)c,
                       n->extreme && c % 4 == 3
                           ? (probe_random(n) & 1 ? INT32_MAX : INT32_MIN)
                           : probe_between(n, -(1 << (4 + c % 16)), 1 << (4 + c % 16)));
    assay_attrs attr = {0};
    attr.conv.layout = ASSAY_LAYOUT_NHWC;
    attr.conv.group = each ? DEEP : 1;
    attr.conv.pad_begin = attr.conv.pad_end = (assay_list){2, {1, 1}};
    probe_node(n, op_of(kind), name[0], in, 3,
               probe_type(n, e, is_fc ? PROBE_SHAPE(CELLS, WIDE) : PROBE_SHAPE(1, 6, 6, outs),
                          0.03125, n->types->zero_point),
               is_fc ? NULL : &attr,
               "long sums of numbers from the ends of their types: a narrow accumulator, its "
               "overflow and order; padding");
}

void probe_weighted(probe_net *n, const char *op)
{
    const enum kind kind = strcmp(op, "fc") == 0 ? FC : strcmp(op, "conv") == 0 ? CONV : TRANSPOSE;
    const bool per_channel = kind != FC && n->types->weight.is_signed;
    const int32_t zero = n->types->zero_point;
    const bool wide = n->types->activation.bits > 8;
    const int32_t min = wide ? 0 : (int32_t)assay_elem_min(n->types->activation);
    const rescales r = begin(n, kind);
    add_rescales(n, &r, 0, per_channel ? 0 : exp2(-7), zero);
    add_rescales(n, &r, 1, per_channel ? 0 : exp2(-11) * 1.37, min);
    add_rescales(n, &r, 2, exp2(-20) * 1.9999, wide ? 0 : zero + 2);
    add_rescales(n, &r, 3, exp2(-3) * 1.0001, zero);
    add_rescales(n, &r, 4, exp2(-22), min);
    add_sums(n, kind, 0);
    add_sums(n, kind, 1);
    if (n->extreme)
        add_sums(n, kind, 2);
}

void probe_depthwise(probe_net *n, const char *op)
{
    rescales r = begin(n, DEPTHWISE);
    (void)op;
    add_rescales(n, &r, 0, n->types->weight.is_signed ? 0 : exp2(-9), n->types->zero_point);
    add_rescales(n, &r, 1, exp2(-20) * 1.9999, n->types->zero_point);
    add_rescales(n, &r, 2, exp2(-6), n->types->zero_point);
    for (int i = 0; i < 3; i++)
        add_sums(n, DEPTHWISE, i == 2 && !n->extreme ? 3 : i);
}

void probe_matmul(probe_net *n, const char *op)
{
    const probe_types *t = n->types;
    (void)op;
    for (int i = 0; i < 3; i++) {
        char name[3][16];
        const double ratio =
            i == 1 ? exp2(-5) : probe_vary(n, exp2(-4.0 * i - 9) * (1.0 + probe_unit(n)));
        const probe_shape shape[2] = {PROBE_SHAPE(1, 32, 64), PROBE_SHAPE(1, 64, 32)};
        int in[2];
        snprintf(name[0], sizeof name[0], "a%d", i);
        snprintf(name[1], sizeof name[1], "b%d", i);
        snprintf(name[2], sizeof name[2], "products%d", i);
        for (int k = 0; k < 2; k++) {
            const assay_type type =
                probe_type(n, t->activation, shape[k], k ? ratio * 2 : 0.0625, t->zero_point);
            void *data = probe_input(n, name[k], type, &in[k]);
            if (i == 2)
                fill_far(n, type.elem, data, assay_shape_count(&type), t->zero_point);
            for (int64_t j = 0; data && i < 2 && j < assay_shape_count(&type); j++)
                assay_elem_set(type.elem, data, (size_t)j,
                               i == 1 ? t->zero_point + probe_between(n, -6, 6) /* ties */
                                      : probe_code(n, type.elem, probe_between(n, 0, 255)));
        }
        probe_node(n, ASSAY_OP_MATMUL, name[2], in, 2,
                   probe_type(n, t->activation, PROBE_SHAPE(1, 32, 32), 0.125, t->zero_point), NULL,
                   "rows by columns, of operands that both come at run time");
    }
}
