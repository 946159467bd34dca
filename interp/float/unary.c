/* Element-wise functions of one value, y = f(x): the formulas are schemes/derive/function.def. */
#include <math.h>

#include "interp/float/float.h"
#include "schemes/derive/mlas.h"

static float unit_clip(float x)
{
    return x < 0 ? 0 : x > 1 ? 1 : x;
}

/* The attributes that formulas name. */
typedef struct constants {
    float alpha, beta;
    bool by_tanh;
} constants;

static constants constants_of(const assay_node *node)
{
    const assay_attrs *a = &node->attr;
    switch (assay_op_get(node->op)->attrs) {
    case ASSAY_ATTRS_alpha:
        return (constants){.alpha = a->alpha.alpha};
    case ASSAY_ATTRS_alpha_beta:
        return (constants){.alpha = a->alpha_beta.alpha, .beta = a->alpha_beta.beta};
    case ASSAY_ATTRS_clip:
        return (constants){.alpha = a->clip.lo, .beta = a->clip.hi};
    case ASSAY_ATTRS_gelu:
        return (constants){.by_tanh = a->gelu.approximate == ASSAY_GELU_TANH};
    default:
        return (constants){0};
    }
}

static float clip(float x, float lo, float hi)
{
    x = x < lo ? lo : x;
    return x > hi ? hi : x;
}

/* Functions without a form of their own in binary32. */
static bool binary64_unary(assay_op op, const constants *k, const float *from, int64_t n, float *to)
{
    const double alpha = (double)k->alpha, beta = (double)k->beta;
    (void)alpha;
    (void)beta;
    for (int64_t i = 0; i < n; i++) {
        const double x = (double)from[i];
        switch (op) {
#define FUNCTION(ID, integers, y)                                                                  \
    case ASSAY_OP_##ID:                                                                            \
        to[i] = (float)(y);                                                                        \
        break;
#define FUNCTION_F32(ID, integers, y, table, engine)
#include "schemes/derive/function.def"
        default:
            return false;
        }
    }
    return true;
}

/* False when the op is none of these. */
static bool float_unary(const assay_node *node, const float *from, int64_t n, float *to)
{
    const constants k = constants_of(node);
    const float alpha = k.alpha, beta = k.beta;
    const bool by_tanh = k.by_tanh;
    switch (node->op) {
#define FUNCTION_F32(ID, integers, y, table, engine)                                               \
    case ASSAY_OP_##ID:                                                                            \
        for (int64_t i = 0; i < n; i++) {                                                          \
            const float x = from[i];                                                               \
            to[i] = engine;                                                                        \
        }                                                                                          \
        return true;
#include "schemes/derive/function.def"
    default:
        return binary64_unary(node->op, &k, from, n, to);
    }
}

/* The integer bound that a real one means: the least integer not below it (lo), the greatest not
 * above it (hi). */
static int64_t integer_bound(float bound, bool is_lo)
{
    double v = is_lo ? ceil((double)bound) : floor((double)bound);
    return v <= -0x1p63 ? INT64_MIN : v >= 0x1p63 ? INT64_MAX : (int64_t)v;
}

static int64_t clip_integer(int64_t x, float least, float greatest)
{
    const int64_t lo = integer_bound(least, true), hi = integer_bound(greatest, false);
    x = x < lo ? lo : x;
    return x > hi ? hi : x;
}

static bool integer_unary(assay_op op, const constants *k, int64_t *v)
{
    const int64_t x = *v;
    const float alpha = k->alpha, beta = k->beta;
    switch (op) {
#define INTEGERS(expression)                                                                       \
    *v = (expression);                                                                             \
    return true
#define NONE return false
#define FUNCTION(ID, integers, y)                                                                  \
    case ASSAY_OP_##ID:                                                                            \
        integers;
#include "schemes/derive/function.def"
#undef INTEGERS
#undef NONE
    default:
        return false;
    }
}

assay_status float_unary_op(assay_call *call, assay_error *err)
{
    const assay_view *x = &call->in[0], *y = &call->out[0];
    const constants k = constants_of(call->node);
    int64_t n = assay_shape_count(x->type);
    bool known = true;

    if (float_holds_f32(x))
        known = float_unary(call->node, x->data, n, y->data);
    else
        for (int64_t i = 0; known && i < n; i++) {
            int64_t v;
            float_load_integers(x, i, 1, 1, &v);
            known = integer_unary(call->node->op, &k, &v);
            float_store_integers(y, i, 1, &v);
        }
    if (!known)
        return assay_fail(err, ASSAY_ERR_UNSUPPORTED, "node '%s': %s is not defined on integers",
                          call->node->name, assay_op_get(call->node->op)->name);
    return ASSAY_OK;
}
