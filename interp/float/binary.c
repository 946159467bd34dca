/* Element-wise numbers of two values (graph/core/binary.def): y = f(a, b), the two broadcast
 * together.
 *
 *   squared_difference (a - b)^2          prelu a where a >= 0, else a * b
 *   floor_div floor(a / b)                mod a - b * floor(a / b); a - b * trunc(a / b) truncated
 *
 * On integers div truncates toward zero, results wrap in the type's width, and a divisor of zero is
 * an error. */
#include <math.h>
#include <stdlib.h>

#include "graph/core/integers.h"
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

#define BINARY(ID, integers, floats)                                                               \
    case ASSAY_OP_##ID:                                                                            \
        for (int64_t i = 0; i < n; i++) {                                                          \
            const float x = a.at[i * a.step], z = b.at[i * b.step];                                \
            y[i] = (floats);                                                                       \
        }                                                                                          \
        break;

static void float_row(const assay_node *node, operand a, operand b, int64_t n, float *y)
{
    const bool truncated = node->op == ASSAY_OP_MOD && node->attr.mod.truncated;
    switch (node->op) {
#include "graph/core/binary.def"
    default:
        abort(); /* the registry gives no other op */
    }
}

#define CHUNK 256

static assay_status integer_row(const assay_call *call, const assay_broadcast *w, assay_error *err)
{
    assay_op op = call->node->op;
    const bool divides = assay_integers_divide(op);
    const bool truncated = op == ASSAY_OP_MOD && call->node->attr.mod.truncated;
    int64_t a[CHUNK], b[CHUNK];

    for (int64_t done = 0; done < w->columns; done += CHUNK) {
        size_t n = (size_t)(w->columns - done < CHUNK ? w->columns - done : CHUNK);
        float_load_integers(&call->in[0], w->at[0] + done * w->step[0], w->step[0], n, a);
        float_load_integers(&call->in[1], w->at[1] + done * w->step[1], w->step[1], n, b);
        for (size_t i = 0; i < n; i++) {
            if (divides && b[i] == 0)
                return assay_fail(err, ASSAY_ERR_INPUT, "node '%s': integer division by zero",
                                  call->node->name);
            if (!assay_integers_binary(op, truncated, a[i], b[i], &a[i]))
                abort(); /* the registry gives no other op */
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
