/* Rows of floats between products: element-wise functions, reductions, and the ops of scales.
 *
 * Each step is one IEEE operation, in the order written; functions.h has the functions of several
 * steps. */
#include <assert.h>

#include "schemes/mac/functions.h"
#include "schemes/mac/unit.h"

#define SIGN UINT32_C(0x80000000)

uint32_t mac_finish(const assay_mac_node *m, uint32_t y)
{
    y = apply_f32_min(apply_f32_max(y, m->lo), m->hi);
    return m->floats == ASSAY_MAC_F32 ? y
                                      : mac_to_f32(m->floats, mac_from_f32(m->floats, y, false));
}

static uint32_t finish(const assay_mac_node *m, uint32_t y, const assay_teller *t)
{
    apply_tell_f32(t, "result", y);
    y = mac_finish(m, y);
    apply_tell_f32(t, "within bounds, as a float of the scheme", y);
    return y;
}

/* x * relu6(x + 3) * 1/6, and alpha * x + beta kept within 0 and 1. */
static uint32_t hard_swish(uint32_t x)
{
    const uint32_t three = 0x40400000, six = 0x40c00000, sixth = 0x3e2aaaab;
    const uint32_t gate = apply_f32_clamp(apply_f32_add(x, three), 0, six);
    return apply_f32_mul(apply_f32_mul(x, gate), sixth);
}

static uint32_t hard_sigmoid(const assay_mac_node *m, uint32_t x)
{
    return apply_f32_clamp(apply_f32_add(apply_f32_mul(m->alpha, x), m->beta), 0, ASSAY_F32_ONE);
}

static uint32_t function(const assay_mac_node *m, uint32_t x, const assay_teller *t)
{
    switch (m->op) {
    case ASSAY_OP_RELU:
        return apply_f32_max(x, 0);
    case ASSAY_OP_CLIP:
        return x; /* its bounds are the fused activation's */
    case ASSAY_OP_LEAKY_RELU:
        return apply_f32_lt(x, 0) ? apply_f32_mul(x, m->alpha) : x;
    case ASSAY_OP_SIGMOID:
        return mac_sigmoid(x, t);
    case ASSAY_OP_TANH:
        return mac_tanh(x, t);
    case ASSAY_OP_HARD_SWISH:
        return hard_swish(x);
    case ASSAY_OP_HARD_SIGMOID:
        return hard_sigmoid(m, x);
    case ASSAY_OP_GELU:
        return mac_gelu(x, m->flag != 0, t);
    case ASSAY_OP_ERF:
        return mac_erf(x, t);
    case ASSAY_OP_EXP:
        return mac_exp(x, t);
    case ASSAY_OP_SQRT:
        return apply_f32_sqrt(x);
    case ASSAY_OP_RSQRT:
        return apply_f32_div(ASSAY_F32_ONE, apply_f32_sqrt(x));
    case ASSAY_OP_SQUARE:
        return apply_f32_mul(x, x);
    case ASSAY_OP_RECIPROCAL:
        return apply_f32_div(ASSAY_F32_ONE, x);
    case ASSAY_OP_ABS:
        return x & ~SIGN;
    default:
        assert(m->op == ASSAY_OP_NEG);
        return x ^ SIGN;
    }
}

void mac_unary(const assay_unit *u, const int32_t *x, size_t n, int32_t *out)
{
    const assay_mac_node *m = mac_node(u);
    for (size_t i = 0; i < n; i++) {
        const assay_teller *t = apply_tell_at(m->teller, i);
        apply_tell_f32(t, "input", (uint32_t)x[i]);
        out[i] = (int32_t)finish(m, function(m, (uint32_t)x[i], t), t);
    }
}

static uint32_t function_of_two(const assay_mac_node *m, uint32_t a, uint32_t b)
{
    switch (m->op) {
    case ASSAY_OP_ADD:
        return apply_f32_add(a, b);
    case ASSAY_OP_SUB:
        return apply_f32_sub(a, b);
    case ASSAY_OP_MUL:
        return apply_f32_mul(a, b);
    case ASSAY_OP_DIV:
        return apply_f32_div(a, b);
    case ASSAY_OP_MIN:
        return apply_f32_min(a, b);
    case ASSAY_OP_MAX:
        return apply_f32_max(a, b);
    case ASSAY_OP_SQUARED_DIFFERENCE: {
        const uint32_t d = apply_f32_sub(a, b);
        return apply_f32_mul(d, d);
    }
    default:
        assert(m->op == ASSAY_OP_PRELU);
        return apply_f32_lt(a, 0) ? apply_f32_mul(a, b) : a;
    }
}

void mac_binary(const assay_unit *u, const int32_t *a, const int32_t *b, size_t n, int32_t *out)
{
    const assay_mac_node *m = mac_node(u);
    for (size_t i = 0; i < n; i++) {
        const assay_teller *t = apply_tell_at(m->teller, i);
        apply_tell_f32(t, "first input", (uint32_t)a[i]);
        apply_tell_f32(t, "second input", (uint32_t)b[i]);
        out[i] = (int32_t)finish(m, function_of_two(m, (uint32_t)a[i], (uint32_t)b[i]), t);
    }
}

/* The sum of n elements over a count, which is stored after them. */
static uint32_t mean(const int32_t *x, size_t n, const assay_teller *t)
{
    const uint32_t sum = mac_sum_of(x, n, t);
    apply_tell(t, "divided by", x[n]);
    return apply_f32_div(sum, apply_f32_from_i64(x[n]));
}

/* Reduces a row to one float; false if the op produces a float per element. */
static bool reduced(const assay_mac_node *m, const int32_t *x, size_t n, uint32_t *y)
{
    switch (m->op) {
    case ASSAY_OP_REDUCE_SUM:
        *y = mac_sum_of(x, n, m->teller);
        return true;
    case ASSAY_OP_REDUCE_MEAN:
    case ASSAY_OP_AVG_POOL:
    case ASSAY_OP_GLOBAL_AVG_POOL:
        *y = mean(x, n, m->teller);
        return true;
    case ASSAY_OP_REDUCE_MAX:
    case ASSAY_OP_MAX_POOL:
        *y = mac_greatest_of(x, n, m->teller);
        return true;
    case ASSAY_OP_REDUCE_MIN:
        *y = mac_least_of(x, n, m->teller);
        return true;
    default:
        return false;
    }
}

void mac_row(const assay_unit *u, const int32_t *x, size_t n, int32_t *out)
{
    const assay_mac_node *m = mac_node(u);
    uint32_t y;
    switch (m->op) {
    case ASSAY_OP_BLOCK_SCALE:
        out[0] = (int32_t)mac_scale_of(&m->scaling, x, n, (uint32_t)x[n], m->teller);
        return;
    case ASSAY_OP_FLOAT_ENCODE:
        mac_scale_encode(&m->scaling, x, n, (uint32_t)x[n], (uint32_t)x[n + 1], out, m->teller);
        return;
    case ASSAY_OP_FLOAT_DECODE:
        mac_scale_decode(&m->scaling, x, n, (uint32_t)x[n], (uint32_t)x[n + 1], out, m->teller);
        return;
    case ASSAY_OP_SOFTMAX:
        mac_softmax(x, n, m->beta, out, m->teller);
        break;
    case ASSAY_OP_L2_NORM:
        mac_l2_norm(x, n, m->epsilon, out, m->teller);
        break;
    case ASSAY_OP_LAYER_NORM:
        mac_layer_norm(x, n, m->has_operand[0] ? x + n : NULL, m->has_operand[1] ? x + 2 * n : NULL,
                       m->epsilon, out, m->teller);
        break;
    default:
        if (reduced(m, x, n, &y))
            out[0] = (int32_t)finish(m, y, m->teller);
        return;
    }
    for (size_t i = 0; i < n; i++)
        out[i] = (int32_t)finish(m, (uint32_t)out[i], apply_tell_at(m->teller, i));
}

bool mac_ends_in_one(const assay_mac_node *m)
{
    const int32_t none[] = {1};
    const assay_mac_node silent = {.op = m->op};
    uint32_t y;
    return m->op == ASSAY_OP_BLOCK_SCALE || reduced(&silent, none, 0, &y);
}

bool mac_computes(enum assay_op op)
{
    static const bool computes[ASSAY_OP_COUNT] = {
        [ASSAY_OP_RELU] = true,
        [ASSAY_OP_CLIP] = true,
        [ASSAY_OP_LEAKY_RELU] = true,
        [ASSAY_OP_SIGMOID] = true,
        [ASSAY_OP_TANH] = true,
        [ASSAY_OP_HARD_SWISH] = true,
        [ASSAY_OP_HARD_SIGMOID] = true,
        [ASSAY_OP_GELU] = true,
        [ASSAY_OP_ERF] = true,
        [ASSAY_OP_EXP] = true,
        [ASSAY_OP_SQRT] = true,
        [ASSAY_OP_RSQRT] = true,
        [ASSAY_OP_SQUARE] = true,
        [ASSAY_OP_RECIPROCAL] = true,
        [ASSAY_OP_ABS] = true,
        [ASSAY_OP_NEG] = true,
        [ASSAY_OP_ADD] = true,
        [ASSAY_OP_SUB] = true,
        [ASSAY_OP_MUL] = true,
        [ASSAY_OP_DIV] = true,
        [ASSAY_OP_MIN] = true,
        [ASSAY_OP_MAX] = true,
        [ASSAY_OP_SQUARED_DIFFERENCE] = true,
        [ASSAY_OP_PRELU] = true,
        [ASSAY_OP_SOFTMAX] = true,
        [ASSAY_OP_L2_NORM] = true,
        [ASSAY_OP_LAYER_NORM] = true,
        [ASSAY_OP_REDUCE_SUM] = true,
        [ASSAY_OP_REDUCE_MEAN] = true,
        [ASSAY_OP_REDUCE_MAX] = true,
        [ASSAY_OP_REDUCE_MIN] = true,
        [ASSAY_OP_MAX_POOL] = true,
        [ASSAY_OP_AVG_POOL] = true,
        [ASSAY_OP_GLOBAL_AVG_POOL] = true,
        [ASSAY_OP_BLOCK_SCALE] = true,
        [ASSAY_OP_FLOAT_ENCODE] = true,
        [ASSAY_OP_FLOAT_DECODE] = true,
        [ASSAY_OP_SCALED_MATMUL] = true,
        [ASSAY_OP_QUANTIZE] = true,
        [ASSAY_OP_DEQUANTIZE] = true,
    };
    return computes[op];
}
