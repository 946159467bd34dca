/* Element-wise operators. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "graph/onnx/node/fold.h"
#include "graph/onnx/op/op.h"

void onnx_import_unary(onnx_node *n)
{
    onnx_op1(n, n->row->op, NULL, onnx_in(n, 0), NULL);
}

void onnx_import_binary(onnx_node *n)
{
    onnx_op2(n, n->row->op, NULL, onnx_in(n, 0), onnx_in(n, 1), NULL);
}

/* Before opset 7 a slope of one axis meant the channels. */
void onnx_import_prelu(onnx_node *n)
{
    onnx_since(n, 7);
    onnx_import_binary(n);
}

static onnx_value *cast_to(onnx_node *n, onnx_value *x, int dtype, const char *suffix);

/* A constant of float64 as float32, rounded to odd: what it is rounded to next, at most 22 digits,
 * it is rounded to as if at once. (Boldo and Melquiond, Emulation of FMA and correctly rounded
 * sums.) */
static onnx_value *to_odd(onnx_node *n, onnx_value *x)
{
    const onnx_const *c = x->constant;
    onnx_const *y = onnx_new_const(n->im, ONNX_FLOAT, c->rank, c->dim);
    for (int64_t i = 0; y && i < c->count; i++) {
        const double v = onnx_get_real(c, i);
        float f = (float)v;
        uint32_t bits;
        if (isfinite(v) && fabs((double)f) > fabs(v)) /* the next toward zero */
            f = nextafterf(f, 0);
        memcpy(&bits, &f, sizeof bits);
        bits |= isfinite(v) && (double)f != v;
        memcpy(&f, &bits, sizeof f);
        onnx_set_real(y, i, (double)f);
    }
    return onnx_constant(n, y, "number");
}

/* From or to a small float, by way of float32. */
static onnx_value *cast_small(onnx_node *n, onnx_value *x, assay_elem from, int dtype,
                              const char *suffix)
{
    assay_elem to;
    if (onnx_dtype_elem(dtype, &to) && assay_elem_equal(from, to))
        return x;
    if (assay_is_small_float(from))
        x = onnx_from_small(n, x, dtype == ONNX_FLOAT ? suffix : "number");
    else if (from.kind != ASSAY_KIND_F32)
        x = cast_to(n, x, ONNX_FLOAT, "number");
    if (n->status || dtype == ONNX_FLOAT)
        return x;
    return onnx_is_small(dtype) ? onnx_to_small(n, x, to, suffix) : cast_to(n, x, dtype, suffix);
}

/* Converts x to an element type; x itself when it has that type. */
static onnx_value *cast_to(onnx_node *n, onnx_value *x, int dtype, const char *suffix)
{
    static const int targets[] = {[ONNX_FLOAT] = ASSAY_CAST_F32,  [ONNX_UINT8] = ASSAY_CAST_U8,
                                  [ONNX_INT8] = ASSAY_CAST_I8,    [ONNX_UINT16] = ASSAY_CAST_U16,
                                  [ONNX_INT16] = ASSAY_CAST_I16,  [ONNX_INT32] = ASSAY_CAST_I32,
                                  [ONNX_INT64] = ASSAY_CAST_I64,  [ONNX_BOOL] = ASSAY_CAST_BOOL,
                                  [ONNX_UINT32] = ASSAY_CAST_U32, [ONNX_UINT4] = ASSAY_CAST_U4,
                                  [ONNX_INT4] = ASSAY_CAST_I4,    [ONNX_UINT2] = ASSAY_CAST_U2,
                                  [ONNX_INT2] = ASSAY_CAST_I2};
    assay_type t = onnx_type(n, x);
    assay_elem elem;

    if (n->status)
        return NULL;
    if (x->constant && x->constant->dtype == ONNX_DOUBLE &&
        (onnx_is_narrow(dtype) || onnx_is_small(dtype))) {
        x = to_odd(n, x);
        t = onnx_type(n, x);
        if (n->status)
            return NULL;
    }
    if (onnx_is_narrow(dtype)                      /* rounded when the node is done */
        || (dtype == ONNX_DOUBLE && !x->constant)) /* float32 here */
        dtype = ONNX_FLOAT;
    if (x->constant && x->constant->dtype == dtype)
        return x;
    if (assay_is_small_float(t.elem) || onnx_is_small(dtype))
        return cast_small(n, x, t.elem, dtype, suffix);
    if (x->constant && onnx_dtype_size(dtype) > 0) {
        const onnx_const *c = onnx_cast_const(n, x->constant, dtype);
        if (c)
            return onnx_constant(n, c, suffix);
    }
    if (!onnx_dtype_elem(dtype, &elem))
        return onnx_refuse(n, "cast to %s", onnx_dtype_name(dtype));
    if (!x->constant && assay_elem_equal(t.elem, elem))
        return x;
    assay_attrs a = {.cast = {.to = targets[dtype]}};
    return onnx_op1(n, ASSAY_OP_CAST, &a, x, suffix);
}

/* The ONNX element type of a value. */
static int dtype_of(onnx_node *n, onnx_value *x)
{
    return x->constant ? x->constant->dtype : onnx_elem_dtype(onnx_type(n, x).elem);
}

/* A result that may be the input itself, or a constant under another name. */
static void finish(onnx_node *n, onnx_value *y)
{
    if (!n->status)
        onnx_bind(n, 0, y);
}

void onnx_import_cast(onnx_node *n)
{
    finish(n, cast_to(n, onnx_in(n, 0), onnx_dtype_attribute(n, "to", ONNX_UNDEFINED), NULL));
}

void onnx_import_cast_like(onnx_node *n)
{
    finish(n, cast_to(n, onnx_in(n, 0), dtype_of(n, onnx_in(n, 1)), NULL));
}

/* The exponent may have another type than the base, which decides the result's; a real power of an
 * integer is cut to one. */
void onnx_import_pow(onnx_node *n)
{
    onnx_value *base = onnx_in(n, 0), *exponent = onnx_in(n, 1);
    int to = dtype_of(n, base), from = dtype_of(n, exponent);

    if (to != from && !onnx_is_float(to) && onnx_is_float(from)) {
        base = onnx_op2(n, ASSAY_OP_POW, NULL, cast_to(n, base, from, "base"), exponent, "real");
        finish(n, cast_to(n, base, to, NULL));
        return;
    }
    if (to != from)
        exponent = cast_to(n, exponent, to, "exponent");
    onnx_op2(n, ASSAY_OP_POW, NULL, base, exponent, NULL);
}

/* The remainder has the sign of the divisor unless fmod is set. */
void onnx_import_mod(onnx_node *n)
{
    assay_attrs a = {.mod = {.truncated = onnx_int(n, "fmod", 0) != 0}};

    onnx_op2(n, ASSAY_OP_MOD, &a, onnx_in(n, 0), onnx_in(n, 1), NULL);
}

/* Left to right: ((a op b) op c) ... */
static onnx_value *chain(onnx_node *n, const char *suffix)
{
    onnx_value *y = onnx_in(n, 0);
    size_t last = n->pb->n_input - 1;

    for (size_t i = 1; i <= last && !n->status; i++) {
        if (!onnx_has(n, i))
            return onnx_fail(n, ASSAY_ERR_INPUT, "input %zu is missing", i);
        y = onnx_op2(n, n->row->op, NULL, y, onnx_in(n, i), i == last ? suffix : "part");
    }
    return y;
}

void onnx_import_variadic(onnx_node *n)
{
    finish(n, chain(n, NULL));
}

void onnx_import_mean(onnx_node *n)
{
    onnx_value *sum;

    if (n->pb->n_input == 1) {
        finish(n, onnx_in(n, 0));
        return;
    }
    sum = chain(n, "sum");
    onnx_op2(n, ASSAY_OP_DIV, NULL, sum, onnx_scalar(n, sum, (double)n->pb->n_input, "count"),
             NULL);
}

void onnx_import_leaky_relu(onnx_node *n)
{
    assay_attrs a = {.alpha = {.alpha = onnx_float(n, "alpha", 0.01f)}};
    onnx_op1(n, n->row->op, &a, onnx_in(n, 0), NULL);
}

void onnx_import_elu(onnx_node *n)
{
    assay_attrs a = {.alpha = {.alpha = onnx_float(n, "alpha", 1)}};
    onnx_op1(n, n->row->op, &a, onnx_in(n, 0), NULL);
}

void onnx_import_hard_sigmoid(onnx_node *n)
{
    assay_attrs a = {
        .alpha_beta = {.alpha = onnx_float(n, "alpha", 0.2f), .beta = onnx_float(n, "beta", 0.5f)}};
    onnx_op1(n, n->row->op, &a, onnx_in(n, 0), NULL);
}

void onnx_import_gelu(onnx_node *n)
{
    static const char *const forms[] = {"none", "tanh", NULL};
    assay_attrs a = {.gelu = {.approximate = onnx_choice(n, "approximate", forms, 0)}};
    onnx_op1(n, n->row->op, &a, onnx_in(n, 0), NULL);
}

/* Bounds are attributes before opset 11 and inputs since; an absent one does not bound. */
void onnx_import_clip(onnx_node *n)
{
    onnx_value *x = onnx_in(n, 0), *lo = onnx_in(n, 1), *hi = onnx_in(n, 2);
    bool constant = (!lo || lo->constant) && (!hi || hi->constant);

    if (n->opset < 11 || (constant && onnx_type(n, x).elem.kind == ASSAY_KIND_F32)) {
        assay_attrs a = {.clip = {.lo = -INFINITY, .hi = INFINITY}};
        if (n->opset < 11) {
            a.clip.lo = onnx_float(n, "min", -INFINITY);
            a.clip.hi = onnx_float(n, "max", INFINITY);
            a.clip.lo = a.clip.lo <= -FLT_MAX ? -INFINITY : a.clip.lo;
            a.clip.hi = a.clip.hi >= FLT_MAX ? INFINITY : a.clip.hi;
        } else {
            if (lo)
                onnx_one_float(n, 1, "bound", &a.clip.lo);
            if (hi)
                onnx_one_float(n, 2, "bound", &a.clip.hi);
        }
        if (a.clip.lo != a.clip.lo || a.clip.hi != a.clip.hi)
            onnx_fail(n, ASSAY_ERR_INPUT, "a bound is NaN");
        onnx_op1(n, ASSAY_OP_CLIP, &a, x, NULL);
    } else if (lo || hi) {
        if (lo)
            x = onnx_op2(n, ASSAY_OP_MAX, NULL, x, lo, hi ? "raised" : NULL);
        if (hi)
            onnx_op2(n, ASSAY_OP_MIN, NULL, x, hi, NULL);
    } else {
        finish(n, x);
    }
}

/* gamma * (x > 0 ? x : alpha * (exp(x) - 1)) */
void onnx_import_selu(onnx_node *n)
{
    onnx_value *x = onnx_in(n, 0);
    assay_attrs a = {.alpha = {.alpha = onnx_float(n, "alpha", 1.67326319217681884765625f)}};
    double gamma = (double)onnx_float(n, "gamma", 1.05070102214813232421875f);

    onnx_op2(n, ASSAY_OP_MUL, NULL, onnx_op1(n, ASSAY_OP_ELU, &a, x, "elu"),
             onnx_scalar(n, x, gamma, "gamma"), NULL);
}

/* x > 0 ? x : alpha * (exp(x / alpha) - 1) = alpha * elu(x / alpha) for alpha > 0 */
void onnx_import_celu(onnx_node *n)
{
    onnx_value *x = onnx_in(n, 0), *alpha;
    float value = onnx_float(n, "alpha", 1);
    assay_attrs a = {.alpha = {.alpha = 1}};

    if (value == 1) {
        onnx_op1(n, ASSAY_OP_ELU, &a, x, NULL);
        return;
    }
    if (!(value > 0))
        onnx_refuse(n, "attribute 'alpha' is %g", (double)value);
    alpha = onnx_scalar(n, x, (double)value, "alpha");
    x = onnx_op2(n, ASSAY_OP_DIV, NULL, x, alpha, "divided");
    x = onnx_op1(n, ASSAY_OP_ELU, &a, x, "elu");
    onnx_op2(n, ASSAY_OP_MUL, NULL, x, alpha, NULL);
}

/* x / (1 + |x|), by a reciprocal as ONNX Runtime has it */
void onnx_import_softsign(onnx_node *n)
{
    onnx_value *x = onnx_in(n, 0), *d = onnx_op1(n, ASSAY_OP_ABS, NULL, x, "abs");

    d = onnx_op2(n, ASSAY_OP_ADD, NULL, d, onnx_scalar(n, x, 1, "one"), "divisor");
    onnx_op2(n, ASSAY_OP_MUL, NULL, x, onnx_op1(n, ASSAY_OP_RECIPROCAL, NULL, d, "reciprocal"),
             NULL);
}

/* x > alpha ? x : 0 */
void onnx_import_thresholded_relu(onnx_node *n)
{
    onnx_value *x = onnx_in(n, 0);
    onnx_value *alpha = onnx_scalar(n, x, (double)onnx_float(n, "alpha", 1), "alpha");
    onnx_value *in[3] = {onnx_op2(n, ASSAY_OP_GREATER, NULL, x, alpha, "above"), x,
                         onnx_scalar(n, x, 0, "zero")};
    onnx_op(n, ASSAY_OP_SELECT, NULL, in, 3, NULL);
}

/* x < -lambd ? x + bias : x > lambd ? x - bias : 0 */
void onnx_import_shrink(onnx_node *n)
{
    const double bias = (double)onnx_float(n, "bias", 0),
                 end = (double)onnx_float(n, "lambd", 0.5f);
    onnx_value *x = onnx_in(n, 0), *shift = onnx_scalar(n, x, bias, "bias");
    onnx_value *in[3] = {
        onnx_op2(n, ASSAY_OP_GREATER, NULL, x, onnx_scalar(n, x, end, "end"), "above"),
        onnx_op2(n, ASSAY_OP_SUB, NULL, x, shift, "lowered"), onnx_scalar(n, x, 0, "zero")};
    in[2] = onnx_op(n, ASSAY_OP_SELECT, NULL, in, 3, "upper");
    in[0] = onnx_op2(n, ASSAY_OP_LESS, NULL, x, onnx_scalar(n, x, -end, "end"), "below");
    in[1] = onnx_op2(n, ASSAY_OP_ADD, NULL, x, shift, "raised");
    onnx_op(n, ASSAY_OP_SELECT, NULL, in, 3, NULL);
}

/* x * tanh(ln(1 + exp(x))) */
void onnx_import_mish(onnx_node *n)
{
    onnx_value *x = onnx_in(n, 0), *t = onnx_op1(n, ASSAY_OP_SOFTPLUS, NULL, x, "softplus");

    onnx_op2(n, ASSAY_OP_MUL, NULL, x, onnx_op1(n, ASSAY_OP_TANH, NULL, t, "tanh"), NULL);
}

/* x * sigmoid(alpha * x) */
void onnx_import_swish(onnx_node *n)
{
    onnx_value *x = onnx_in(n, 0), *s = x;
    float alpha = onnx_float(n, "alpha", 1);

    if (alpha != 1)
        s = onnx_op2(n, ASSAY_OP_MUL, NULL, x, onnx_scalar(n, x, (double)alpha, "alpha"), "scaled");
    onnx_op2(n, ASSAY_OP_MUL, NULL, x, onnx_op1(n, ASSAY_OP_SIGMOID, NULL, s, "sigmoid"), NULL);
}

/* Only a NaN differs from itself. */
void onnx_import_is_nan(onnx_node *n)
{
    onnx_op2(n, ASSAY_OP_NOT_EQUAL, NULL, onnx_in(n, 0), onnx_in(n, 0), NULL);
}

/* Both infinities are those of the magnitude; with neither asked, no number is below itself. */
void onnx_import_is_inf(onnx_node *n)
{
    const bool least = onnx_int(n, "detect_negative", 1) != 0;
    const bool greatest = onnx_int(n, "detect_positive", 1) != 0;
    onnx_value *x = onnx_in(n, 0);

    if (!least && !greatest) {
        onnx_op2(n, ASSAY_OP_LESS, NULL, x, x, NULL);
        return;
    }
    onnx_value *limit = onnx_scalar(n, x, greatest ? HUGE_VAL : -HUGE_VAL, "infinity");
    if (least && greatest)
        x = onnx_op1(n, ASSAY_OP_ABS, NULL, x, "magnitude");
    onnx_op2(n, ASSAY_OP_EQUAL, NULL, x, limit, NULL);
}

void onnx_import_where(onnx_node *n)
{
    onnx_value *in[3] = {onnx_in(n, 0), onnx_in(n, 1), onnx_in(n, 2)};
    onnx_op(n, ASSAY_OP_SELECT, NULL, in, 3, NULL);
}
