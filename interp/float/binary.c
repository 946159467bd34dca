/* add, sub, mul, div, min, max, pow, mod, floor_div, squared_difference, prelu: y = f(a, b), the
 * two broadcast together.
 *
 *   squared_difference (a - b)^2          prelu a where a >= 0, else a * b
 *   floor_div floor(a / b)                mod a - b * floor(a / b); a - b * trunc(a / b) truncated
 *
 * On integers div truncates toward zero, results wrap in the type's width, and a divisor of zero is
 * an error. */
#include <math.h>
#include <stdlib.h>

#include "interp/float/float.h"
#include "interp/move/broadcast.h"

typedef struct operand {
    const float *at;
    int64_t step;
} operand;

/* Squares and cubes are products, as ONNX Runtime has them. */
static float power_of(float a, float b)
{
    return b == 2 ? a * a : b == 3 ? a * a * a : powf(a, b);
}

/* fmodf is exact and has the sign of a. */
static float modulo(float a, float b, bool truncated)
{
    float r = fmodf(a, b);
    return !truncated && r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

#define EACH(expression)                                                                           \
    for (int64_t i = 0; i < n; i++) {                                                              \
        const float x = a.at[i * a.step], z = b.at[i * b.step];                                    \
        y[i] = (expression);                                                                       \
    }                                                                                              \
    break

static void float_row(const assay_node *node, operand a, operand b, int64_t n, float *y)
{
    switch (node->op) {
    case ASSAY_OP_ADD:
        EACH(x + z);
    case ASSAY_OP_SUB:
        EACH(x - z);
    case ASSAY_OP_MUL:
        EACH(x * z);
    case ASSAY_OP_DIV:
        EACH(x / z);
    case ASSAY_OP_MIN:
        EACH(x < z || isnan(x) ? x : z);
    case ASSAY_OP_MAX:
        EACH(x > z || isnan(x) ? x : z);
    case ASSAY_OP_POW:
        EACH(power_of(x, z));
    case ASSAY_OP_FLOOR_DIV:
        EACH(floorf(x / z));
    case ASSAY_OP_SQUARED_DIFFERENCE:
        EACH((x - z) * (x - z));
    case ASSAY_OP_PRELU:
        EACH(x >= 0 ? x : x * z);
    case ASSAY_OP_MOD:
        EACH(modulo(x, z, node->attr.mod.truncated));
    default:
        abort(); /* the registry gives no other op */
    }
}

/* Unsigned arithmetic wraps where signed overflow would be undefined. */
static int64_t multiply(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a * (uint64_t)b);
}

static int64_t add(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

static int64_t subtract(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a - (uint64_t)b);
}

static int64_t power(int64_t base, int64_t exponent)
{
    int64_t result = 1;
    if (exponent < 0)
        return base == 1 ? 1 : base == -1 ? (exponent % 2 ? -1 : 1) : 0;
    for (; exponent; exponent >>= 1) {
        if (exponent & 1)
            result = multiply(result, base);
        base = multiply(base, base);
    }
    return result;
}

static int64_t divide(int64_t a, int64_t b) /* b not 0 */
{
    return b == -1 ? subtract(0, a) : a / b;
}

static int64_t integer_binary(const assay_node *node, int64_t a, int64_t b)
{
    int64_t quotient, rest;
    switch (node->op) {
    case ASSAY_OP_ADD:
        return add(a, b);
    case ASSAY_OP_SUB:
        return subtract(a, b);
    case ASSAY_OP_MUL:
        return multiply(a, b);
    case ASSAY_OP_MIN:
        return a < b ? a : b;
    case ASSAY_OP_MAX:
        return a > b ? a : b;
    case ASSAY_OP_POW:
        return power(a, b);
    case ASSAY_OP_SQUARED_DIFFERENCE:
        return multiply(subtract(a, b), subtract(a, b));
    case ASSAY_OP_PRELU:
        return a >= 0 ? a : multiply(a, b);
    case ASSAY_OP_DIV:
        return divide(a, b);
    case ASSAY_OP_FLOOR_DIV:
    case ASSAY_OP_MOD:
        quotient = divide(a, b);
        rest = subtract(a, multiply(quotient, b));
        bool down = rest != 0 && (rest < 0) != (b < 0);
        if (node->op == ASSAY_OP_FLOOR_DIV)
            return down ? quotient - 1 : quotient;
        return down && !node->attr.mod.truncated ? rest + b : rest;
    default:
        abort();
    }
}

#define CHUNK 256

static assay_status integer_row(const assay_call *call, const assay_broadcast *w, assay_error *err)
{
    assay_op op = call->node->op;
    bool divides = op == ASSAY_OP_DIV || op == ASSAY_OP_FLOOR_DIV || op == ASSAY_OP_MOD;
    int64_t a[CHUNK], b[CHUNK];

    for (int64_t done = 0; done < w->columns; done += CHUNK) {
        size_t n = (size_t)(w->columns - done < CHUNK ? w->columns - done : CHUNK);
        float_load_integers(&call->in[0], w->at[0] + done * w->step[0], w->step[0], n, a);
        float_load_integers(&call->in[1], w->at[1] + done * w->step[1], w->step[1], n, b);
        for (size_t i = 0; i < n; i++) {
            if (divides && b[i] == 0)
                return assay_fail(err, ASSAY_ERR_INPUT, "node '%s': integer division by zero",
                                  call->node->name);
            a[i] = integer_binary(call->node, a[i], b[i]);
        }
        float_store_integers(&call->out[0], w->at_out + done, n, a);
    }
    return ASSAY_OK;
}

assay_status float_binary(assay_call *call, assay_error *err)
{
    const float *a = call->in[0].data, *b = call->in[1].data;
    assay_broadcast w;

    for (bool row = move_broadcast_begin(&w, call->out[0].type, call->in, 2); row;
         row = move_broadcast_next(&w)) {
        assay_status s = ASSAY_OK;
        if (float_holds_f32(&call->in[0]))
            float_row(call->node, (operand){a + w.at[0], w.step[0]},
                      (operand){b + w.at[1], w.step[1]}, w.columns,
                      (float *)call->out[0].data + w.at_out);
        else
            s = integer_row(call, &w, err);
        if (s)
            return s;
    }
    return ASSAY_OK;
}
