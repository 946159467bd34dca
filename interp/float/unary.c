/* Element-wise functions of one value, y = f(x):
 *
 *   relu          max(x, 0)                    clip          min(max(x, lo), hi)
 *   leaky_relu    x >= 0 ? x : alpha*x         elu           x > 0 ? x : alpha*(e^x - 1)
 *   sigmoid       1 / (1 + e^-x)               softplus      ln(1 + e^x)
 *   hard_sigmoid  clip(alpha*x + beta, 0, 1)   hard_swish    x * clip(x*(1/6) + 1/2, 0, 1)
 *   gelu          x/2 * (1 + erf(x/sqrt 2)), or with tanh(sqrt(2/pi) * (x + 0.044715 x^3)) for erf
 *   round         to the nearest, halves to even
 *
 * On integers: relu, clip, abs, neg, sign, square, wrapping in the type's width; the others leave
 * integers as they are where that is their meaning (floor, ceil, round). */
#include <math.h>

#include "interp/float/float.h"
#include "schemes/derive/mlas.h"

static float softplus(float x)
{
    return fmaxf(x, 0) + log1pf(expf(-fabsf(x)));
}

static float unit_clip(float x)
{
    return x < 0 ? 0 : x > 1 ? 1 : x;
}

static float clip(float x, float lo, float hi)
{
    x = x < lo ? lo : x;
    return x > hi ? hi : x;
}

#define EACH(expression)                                                                           \
    for (int64_t i = 0; i < n; i++) {                                                              \
        const float v = x[i];                                                                      \
        y[i] = (expression);                                                                       \
    }                                                                                              \
    return true

/* False when the op is none of these. */
static bool float_unary(const assay_node *node, const float *x, int64_t n, float *y)
{
    const assay_attrs *a = &node->attr;
    const float lo = node->op == ASSAY_OP_CLIP ? a->clip.lo : 0;
    const float hi = node->op == ASSAY_OP_CLIP ? a->clip.hi : INFINITY;
    switch (node->op) {
    case ASSAY_OP_RELU:
    case ASSAY_OP_CLIP:
        EACH(clip(v, lo, hi));
    case ASSAY_OP_LEAKY_RELU:
        EACH(v >= 0 ? v : a->alpha.alpha * v);
    case ASSAY_OP_SIGMOID:
        EACH(assay_mlas_sigmoid(v));
    case ASSAY_OP_TANH:
        EACH(assay_mlas_tanh(v));
    case ASSAY_OP_HARD_SWISH:
        EACH(assay_mlas_hard_swish(v));
    case ASSAY_OP_HARD_SIGMOID:
        EACH(unit_clip(a->alpha_beta.alpha * v + a->alpha_beta.beta));
    case ASSAY_OP_ELU:
        EACH(v > 0 ? v : a->alpha.alpha * expm1f(v));
    case ASSAY_OP_GELU:
        EACH(a->gelu.approximate == ASSAY_GELU_TANH ? assay_mlas_gelu_tanh(v) : assay_mlas_gelu(v));
    case ASSAY_OP_ERF:
        EACH(assay_mlas_erf(v));
    case ASSAY_OP_EXP:
        EACH(assay_mlas_exp(v));
    case ASSAY_OP_LOG:
        EACH(logf(v));
    case ASSAY_OP_SQRT:
        EACH(sqrtf(v));
    case ASSAY_OP_RSQRT:
        EACH(1.0F / sqrtf(v));
    case ASSAY_OP_SQUARE:
        EACH(v * v);
    case ASSAY_OP_RECIPROCAL:
        EACH(1.0F / v);
    case ASSAY_OP_ABS:
        EACH(fabsf(v));
    case ASSAY_OP_NEG:
        EACH(-v);
    case ASSAY_OP_SIGN:
        EACH((float)((v > 0) - (v < 0)));
    case ASSAY_OP_FLOOR:
        EACH(floorf(v));
    case ASSAY_OP_CEIL:
        EACH(ceilf(v));
    case ASSAY_OP_ROUND:
        EACH(rintf(v));
    case ASSAY_OP_SIN:
        EACH(sinf(v));
    case ASSAY_OP_COS:
        EACH(cosf(v));
    case ASSAY_OP_SOFTPLUS:
        EACH(softplus(v));
    default:
        return false;
    }
}

/* The integer bound that a real one means: the least integer not below it (lo), the greatest not
 * above it (hi). */
static int64_t integer_bound(float bound, bool is_lo)
{
    double v = is_lo ? ceil((double)bound) : floor((double)bound);
    return v <= -0x1p63 ? INT64_MIN : v >= 0x1p63 ? INT64_MAX : (int64_t)v;
}

static bool integer_unary(const assay_node *node, int64_t *v)
{
    int64_t lo, hi;
    switch (node->op) {
    case ASSAY_OP_RELU:
        *v = *v < 0 ? 0 : *v;
        return true;
    case ASSAY_OP_CLIP:
        lo = integer_bound(node->attr.clip.lo, true);
        hi = integer_bound(node->attr.clip.hi, false);
        *v = *v < lo ? lo : *v;
        *v = *v > hi ? hi : *v;
        return true;
    case ASSAY_OP_ABS:
        *v = *v < 0 ? (int64_t)(0 - (uint64_t)*v) : *v;
        return true;
    case ASSAY_OP_NEG:
        *v = (int64_t)(0 - (uint64_t)*v);
        return true;
    case ASSAY_OP_SIGN:
        *v = (*v > 0) - (*v < 0);
        return true;
    case ASSAY_OP_SQUARE:
        *v = (int64_t)((uint64_t)*v * (uint64_t)*v);
        return true;
    case ASSAY_OP_FLOOR:
    case ASSAY_OP_CEIL:
    case ASSAY_OP_ROUND:
        return true;
    default:
        return false;
    }
}

assay_status assay_float_unary(assay_call *call, assay_error *err)
{
    const assay_view *x = &call->in[0], *y = &call->out[0];
    int64_t n = assay_shape_count(x->type);
    bool known = true;

    if (assay_holds_f32(x))
        known = float_unary(call->node, x->data, n, y->data);
    else
        for (int64_t i = 0; known && i < n; i++) {
            int64_t v;
            assay_load_integers(x, i, 1, 1, &v);
            known = integer_unary(call->node, &v);
            assay_store_integers(y, i, 1, &v);
        }
    if (!known)
        return assay_fail(err, ASSAY_ERR_UNSUPPORTED, "node '%s': %s is not defined on integers",
                          call->node->name, assay_op_get(call->node->op)->name);
    return ASSAY_OK;
}
