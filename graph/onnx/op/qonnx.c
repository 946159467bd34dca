/* QONNX's Quant (Brevitas, FINN, hls4ml): floats rounded to a grid of integers and back,
 *
 *   y = (round(clip(x / scale + zeropt, least, greatest)) - zeropt) * scale
 *
 * A constant becomes codes at once, by that formula in float32 and in any rounding mode. A value of
 * the run is quantized and dequantized, as the scheme rounds (preset qonnx: half to even, which is
 * ROUND); in another mode it stays in float32, by the formula step by step, and so do the layers at
 * it. BipolarQuant is scale where x >= 0, else -scale: of a constant codes 1 and -1, of a value of
 * the run floats. Trunc drops the low bits of a value on such a grid, in floats step by step.
 * Sources: QONNX's documentation of Quant, IntQuant, BipolarQuant and Trunc (opsets 1 and 2), and
 * qonnx/custom_op/general/intquant.py. */
#include <math.h>
#include <string.h>

#include "graph/onnx/op/op.h"

/* The modes of resolve_rounding_mode in intquant.py, and the older name of DOWN. */
enum { ROUND, HALF_EVEN, CEIL = 2, FLOOR, UP, DOWN, ROUND_TO_ZERO, HALF_UP, HALF_DOWN };
static const char *const modes[] = {
    "ROUND",   "HALF_EVEN",     "CEIL",    "FLOOR",     "UP",   "DOWN",  "ROUND_TO_ZERO",
    "HALF_UP", "HALF_DOWN",     "round",   "half_even", "ceil", "floor", "up",
    "down",    "round_to_zero", "half_up", "half_down", NULL};

static int mode_of(onnx_node *n, int otherwise)
{
    return onnx_choice(n, "rounding_mode", modes, otherwise) % (HALF_DOWN + 1);
}

typedef struct quant {
    assay_elem elem;
    assay_qparams q;
    int64_t lo, hi; /* codes */
    int mode;
    bool bipolar; /* 1 and -1 by the sign */
} quant;

/* In float32, as NumPy computes it. */
static float round_by(int mode, float v)
{
    switch (mode) {
    case CEIL:
        return ceilf(v);
    case FLOOR:
        return floorf(v);
    case UP:
        return copysignf(ceilf(fabsf(v)), v);
    case DOWN:
    case ROUND_TO_ZERO:
        return truncf(v);
    case HALF_UP:
        return copysignf(floorf(fabsf(v) + 0.5F), v);
    case HALF_DOWN:
        return copysignf(ceilf(fabsf(v) - 0.5F), v);
    default:
        return rintf(v);
    }
}

/* One number for all, or one for each index of one axis of x, by numpy's broadcasting: the axis, or
 * -1 for all. Refuses any other shape. */
static int axis_of(onnx_node *n, size_t input, const char *what, const assay_type *x,
                   const onnx_const **out)
{
    const onnx_value *v = onnx_in(n, input);
    const onnx_const *c = v ? v->constant : NULL;
    int axis = -1;

    *out = c;
    if (!c || c->dtype != ONNX_FLOAT) {
        onnx_refuse(n, "its %s ('%s') is not a float32 constant", what, n->pb->input[input]);
        return -1;
    }
    for (int i = 0; i < c->rank; i++) {
        if (c->dim[i] == 1)
            continue;
        if (axis >= 0 || x->rank < c->rank || c->dim[i] != x->dim[x->rank - c->rank + i]) {
            onnx_refuse(n, "its %s ('%s') is neither one for all nor one for each index of an axis",
                        what, n->pb->input[input]);
            return -1;
        }
        axis = x->rank - c->rank + i;
    }
    return axis;
}

static void read_parameters(onnx_node *n, const assay_type *x, quant *out)
{
    const onnx_const *scale, *zero = NULL;
    const bool zeros_given = onnx_has(n, 2); /* BipolarQuant has none */
    const int along_scale = axis_of(n, 1, "scale", x, &scale);
    const int along_zero = n->status || !zeros_given ? -1 : axis_of(n, 2, "zero point", x, &zero);
    const int axis = along_scale >= 0 ? along_scale : along_zero;

    if (!n->status && along_scale >= 0 && along_zero >= 0 && along_scale != along_zero)
        onnx_refuse(n, "its scale and zero point go along different axes");
    if (n->status)
        return;
    const size_t count = axis >= 0 ? (size_t)x->dim[axis] : 1;
    float *scales = onnx_alloc(n->im, (count + 1) * sizeof *scales);
    int32_t *zeros = onnx_alloc(n->im, (count + 1) * sizeof *zeros);
    if (!scales || !zeros) {
        onnx_no_memory(n);
        return;
    }
    for (size_t i = 0; i < count && !n->status; i++) {
        const double s = onnx_get_real(scale, along_scale >= 0 ? (int64_t)i : 0);
        const double z = zero ? onnx_get_real(zero, along_zero >= 0 ? (int64_t)i : 0) : 0;
        if (!(s > 0) || !isfinite(s))
            onnx_fail(n, ASSAY_ERR_INPUT,
                      "scale '%s' has the element %g at index %zu, expected finite and above 0",
                      n->pb->input[1], s, i);
        else if (!(z >= (double)assay_elem_min(out->elem) &&
                   z <= (double)assay_elem_max(out->elem)) ||
                 z != rint(z))
            onnx_refuse(n, "its zero point '%s' has the element %g, which is not a code",
                        n->pb->input[2], z);
        else {
            scales[i] = (float)s;
            zeros[i] = (int32_t)z;
        }
    }
    out->q = (assay_qparams){.granularity = axis >= 0 ? ASSAY_Q_AXIS : ASSAY_Q_TENSOR,
                             .axis = axis >= 0 ? axis : 0,
                             .count = count,
                             .scale = scales,
                             .zero_point = zeros};
}

/* The kind of code and its range from bit width, sign and narrow. */
static void read_width(onnx_node *n, bool is_constant, quant *out)
{
    const bool is_signed = onnx_int(n, "signed", 1) != 0, narrow = onnx_int(n, "narrow", 0) != 0;
    const int max = is_constant ? 32 : 16;
    float bits = 0;

    if (!onnx_one_float(n, 3, "bit width", &bits))
        return;
    if (bits != rintf(bits) || bits < (is_signed ? 2 : 1) || bits > (float)max) {
        onnx_refuse(n, "a bit width of %g%s: %d to %d are supported", (double)bits,
                    is_signed ? ", signed" : "", is_signed ? 2 : 1, max);
        return;
    }
    out->elem = assay_int((unsigned)bits, is_signed);
    out->lo = assay_elem_min(out->elem) + (is_signed && narrow);
    out->hi = assay_elem_max(out->elem) - (!is_signed && narrow);
}

/* The smallest of ONNX's kinds that holds the codes. */
static int container_of(assay_elem e)
{
    const unsigned bits = e.bits == 4 ? 4 : e.bits <= 8 ? 8 : e.bits <= 16 ? 16 : 32;
    return onnx_elem_dtype(assay_int(bits, e.is_signed));
}

/* Codes of a float constant; their kind is the container's. */
static void quantize_constant(onnx_node *n, const onnx_const *x, const assay_type *t, quant *p)
{
    onnx_const *c = onnx_new_const(n->im, container_of(p->elem), x->rank, x->dim);
    onnx_codes *codes = onnx_alloc(n->im, sizeof *codes);
    onnx_value *y = onnx_find_value(n->im, n->pb->output[0]);
    int64_t inner = 1;

    if (!c || !codes || !y) {
        onnx_no_memory(n);
        return;
    }
    for (int d = p->q.axis + 1; d < t->rank; d++)
        inner *= t->dim[d];
    for (int64_t i = 0; i < x->count; i++) {
        const int64_t k = p->q.granularity == ASSAY_Q_AXIS ? i / inner % t->dim[p->q.axis] : 0;
        const float v = (float)onnx_get_real(x, i) / p->q.scale[k] + (float)p->q.zero_point[k];
        const float code = p->bipolar
                               ? (onnx_get_real(x, i) >= 0 ? 1 : -1)
                               : round_by(p->mode, fminf(fmaxf(v, (float)p->lo), (float)p->hi));
        onnx_set_int(c, i, (int64_t)fmin(fmax((double)code, (double)p->lo), (double)p->hi));
    }
    *codes = (onnx_codes){.constant = onnx_constant(n, c, "codes"), .q = p->q};
    if (!n->status)
        y->codes = codes;
}

static void quantize_value(onnx_node *n, onnx_value *x, const quant *p)
{
    onnx_value *codes = onnx_convert(n, ASSAY_OP_QUANTIZE, x, p->elem, &p->q, "codes");

    if (n->status)
        return;
    if (p->lo > assay_elem_min(p->elem) || p->hi < assay_elem_max(p->elem)) {
        assay_node *last = &n->im->graph->node[n->im->graph->n_nodes - 1];
        if (p->q.granularity == ASSAY_Q_AXIS)
            onnx_refuse(n, "a narrow range with a scale for each index of an axis");
        last->has_code_bounds = true;
        last->code_lo = (int32_t)p->lo;
        last->code_hi = (int32_t)p->hi;
    }
    onnx_convert(n, ASSAY_OP_DEQUANTIZE, codes, assay_f32(), NULL, NULL);
}

/* The magnitude by a mode that goes by it, with the sign of v. */
static onnx_value *magnitude_by(onnx_node *n, int mode, onnx_value *v)
{
    const double half = mode == HALF_UP ? 0.5 : mode == HALF_DOWN ? -0.5 : 0;
    onnx_value *sign = onnx_op1(n, ASSAY_OP_SIGN, NULL, v, "sign");
    v = onnx_op1(n, ASSAY_OP_ABS, NULL, v, "magnitude");
    if (half != 0 && !n->status)
        v = onnx_op2(n, ASSAY_OP_ADD, NULL, v, onnx_scalar(n, v, half, "half"), "moved");
    v = onnx_op1(n, mode == UP || mode == HALF_DOWN ? ASSAY_OP_CEIL : ASSAY_OP_FLOOR, NULL, v,
                 "whole");
    return onnx_op2(n, ASSAY_OP_MUL, NULL, v, sign, "rounded");
}

static onnx_value *rounded(onnx_node *n, int mode, onnx_value *v)
{
    switch (mode) {
    case ROUND:
    case HALF_EVEN:
        return onnx_op1(n, ASSAY_OP_ROUND, NULL, v, "rounded");
    case CEIL:
        return onnx_op1(n, ASSAY_OP_CEIL, NULL, v, "rounded");
    case FLOOR:
        return onnx_op1(n, ASSAY_OP_FLOOR, NULL, v, "rounded");
    default:
        return magnitude_by(n, mode, v);
    }
}

/* The formula in float32, step by step as NumPy computes it. */
static void round_value(onnx_node *n, onnx_value *x, const quant *p)
{
    const assay_attrs ends = {.clip = {.lo = (float)p->lo, .hi = (float)p->hi}};
    onnx_value *v = onnx_op2(n, ASSAY_OP_DIV, NULL, x, onnx_in(n, 1), "scaled");
    v = onnx_op2(n, ASSAY_OP_ADD, NULL, v, onnx_in(n, 2), "shifted");
    v = onnx_op1(n, ASSAY_OP_CLIP, &ends, v, "clipped");
    v = rounded(n, p->mode, v);
    v = onnx_op2(n, ASSAY_OP_SUB, NULL, v, onnx_in(n, 2), "centred");
    if (!n->status)
        onnx_op2(n, ASSAY_OP_MUL, NULL, v, onnx_in(n, 1), NULL);
}

static void check_float(onnx_node *n, const assay_type *t)
{
    if (!n->status && t->elem.kind != ASSAY_KIND_F32)
        onnx_refuse(n, "an input that is not float32");
}

void onnx_import_qonnx_quant(onnx_node *n)
{
    onnx_value *x = onnx_in(n, 0);
    const assay_type t = onnx_type(n, x);
    quant p = {.lo = 0};

    p.mode = mode_of(n, ROUND);
    check_float(n, &t);
    read_width(n, x && x->constant, &p);
    if (!n->status)
        read_parameters(n, &t, &p);
    if (n->status)
        return;
    if (x->constant)
        quantize_constant(n, x->constant, &t, &p);
    else if (p.mode > HALF_EVEN)
        round_value(n, x, &p);
    else
        quantize_value(n, x, &p);
}

void onnx_import_qonnx_bipolar(onnx_node *n)
{
    onnx_value *x = onnx_in(n, 0), *in[3] = {0};
    const assay_type t = onnx_type(n, x);
    quant p = {.elem = assay_int(2, true), .lo = -1, .hi = 1, .bipolar = true};

    check_float(n, &t);
    if (!n->status)
        read_parameters(n, &t, &p);
    if (n->status)
        return;
    if (x->constant) {
        quantize_constant(n, x->constant, &t, &p);
        return;
    }
    in[0] = onnx_op2(n, ASSAY_OP_GREATER_EQUAL, NULL, x, onnx_scalar(n, x, 0, "zero"), "positive");
    if (!n->status)
        in[1] = onnx_scalar(n, x, 1, "one");
    if (!n->status)
        in[2] = onnx_scalar(n, x, -1, "minus_one");
    onnx_value *sign = !n->status ? onnx_op(n, ASSAY_OP_SELECT, NULL, in, 3, "bipolar") : NULL;
    if (!n->status)
        onnx_op2(n, ASSAY_OP_MUL, NULL, sign, onnx_in(n, 1), NULL);
}

/* ---- Trunc ---- */

/* What a Trunc divides by, the bits of its output and that one's scale. */
typedef struct cut {
    float by, scale, bits;
    assay_attrs ends; /* from opset 2 the codes are clamped */
} cut;

/* Opset 1: from input bits to output bits under one scale. Opset 2: from scale to scale. */
static bool read_cut(onnx_node *n, bool second, cut *c)
{
    const bool is_signed = onnx_int(n, "signed", 1) != 0, narrow = onnx_int(n, "narrow", 0) != 0;
    float scale = 0, from = 0;

    if (!onnx_one_float(n, 1, "scale", &scale) || !onnx_one_float(n, 3, "input bit width", &from) ||
        (second && !onnx_one_float(n, 4, "output scale", &c->scale)) ||
        !onnx_one_float(n, second ? 5 : 4, "output bit width", &c->bits))
        return false;
    if (!second)
        c->scale = scale;
    if (!(scale > 0) || !(c->scale > 0) || !isfinite(scale) || !isfinite(c->scale))
        onnx_fail(n, ASSAY_ERR_INPUT, "its scales are not finite and above 0");
    else if (c->bits != rintf(c->bits) || from != rintf(from) || !(c->bits >= 1) ||
             !(c->bits <= 24) || !(from >= 1) || !(from <= 32))
        onnx_refuse(n, "bit widths of %g to %g: 1 to 32, to 1 to 24, are supported", (double)from,
                    (double)c->bits);
    if (n->status)
        return false;
    c->by = ldexpf(1, (int)(second ? rintf(log2f(c->scale / scale)) : from - c->bits));
    const assay_elem e = assay_int((unsigned)c->bits, is_signed);
    c->ends.clip =
        (assay_attr_clip){.lo = (float)assay_elem_min(e) + (float)(is_signed && narrow),
                          .hi = (float)assay_elem_max(e) - (float)(!is_signed && narrow)};
    return true;
}

void onnx_import_qonnx_trunc(onnx_node *n)
{
    onnx_value *x = onnx_in(n, 0), *zero = onnx_in(n, 2);
    const assay_type t = onnx_type(n, x);
    const bool second = onnx_has(n, 5);
    const int mode = mode_of(n, FLOOR);
    cut c = {0};

    check_float(n, &t);
    if (n->status || !read_cut(n, second, &c))
        return;
    onnx_value *by = onnx_scalar(n, x, (double)c.by, "by");
    onnx_value *v = onnx_op2(n, ASSAY_OP_DIV, NULL, x, onnx_in(n, 1), "scaled");
    v = onnx_op2(n, ASSAY_OP_ADD, NULL, v, zero, "shifted");
    v = onnx_op1(n, ASSAY_OP_ROUND, NULL, v, "codes");
    v = onnx_op2(n, ASSAY_OP_DIV, NULL, v, by, "cut");
    if (second)
        v = onnx_op1(n, ASSAY_OP_CLIP, &c.ends, v, "clipped");
    v = rounded(n, mode, v);
    if (second)
        zero = onnx_op2(n, ASSAY_OP_DIV, NULL, zero, by, "zero");
    v = onnx_op2(n, ASSAY_OP_SUB, NULL, v, zero, "centred");
    if (!n->status)
        onnx_op2(n, ASSAY_OP_MUL, NULL, v, onnx_scalar(n, x, (double)c.scale, "scale"), NULL);
}
