/* reduce_sum, reduce_mean, reduce_prod, reduce_max, reduce_min over attr.axes. Sums of floats have
 * a file of their own (reduce_sum.c), products are kept in double, integers in int64 with the mean
 * truncated toward zero; of bools, max is any and min all.
 * One pass over x in C order; the output element of each x is found by strides that are 0 on the
 * reduced axes. */
#include <math.h>
#include <stdlib.h>

#include "graph/core/integers.h"
#include "interp/float/float.h"
#include "interp/move/move.h"

typedef union sum {
    double real;
    int64_t whole;
} sum;

static sum identity(assay_op op, bool real)
{
    switch (op) {
    case ASSAY_OP_REDUCE_PROD:
        return real ? (sum){.real = 1} : (sum){.whole = 1};
    case ASSAY_OP_REDUCE_MAX:
        return real ? (sum){.real = -INFINITY} : (sum){.whole = INT64_MIN};
    case ASSAY_OP_REDUCE_MIN:
        return real ? (sum){.real = INFINITY} : (sum){.whole = INT64_MAX};
    case ASSAY_OP_REDUCE_SUM:
    case ASSAY_OP_REDUCE_MEAN:
        return real ? (sum){.real = 0} : (sum){.whole = 0};
    default:
        abort(); /* the registry gives no other op */
    }
}

static void join_real(assay_op op, double v, double *to)
{
    switch (op) {
    case ASSAY_OP_REDUCE_PROD:
        *to *= v;
        return;
    case ASSAY_OP_REDUCE_MAX:
        *to = v > *to || isnan(v) ? v : *to;
        return;
    case ASSAY_OP_REDUCE_MIN:
        *to = v < *to || isnan(v) ? v : *to;
        return;
    case ASSAY_OP_REDUCE_SUM:
    case ASSAY_OP_REDUCE_MEAN:
        *to += v;
        return;
    default:
        abort();
    }
}

static void join_whole(assay_op op, int64_t v, int64_t *to)
{
    if (!assay_integers_binary(assay_op_merge(op), false, *to, v, to))
        abort();
}

/* Steps in the output for neighbours along each axis of x. */
static void output_steps(const assay_attr_reduce *a, const assay_type *x,
                         int64_t step[ASSAY_MAX_RANK])
{
    bool reduced[ASSAY_MAX_RANK] = {false};
    int64_t n = 1;
    for (int i = 0; i < a->axes.n; i++)
        reduced[(int)a->axes.v[i]] = true;
    for (int d = x->rank - 1; d >= 0; d--) {
        step[d] = reduced[d] ? 0 : n;
        n *= reduced[d] ? 1 : x->dim[d];
    }
}

static void reduce_all(const assay_call *call, sum *acc)
{
    const assay_view *x = &call->in[0];
    int rank = x->type->rank;
    int64_t step[ASSAY_MAX_RANK], index[ASSAY_MAX_RANK] = {0}, to = 0;
    int64_t count = assay_shape_count(x->type);
    bool real = float_holds_f32(x);

    output_steps(&call->node->attr.reduce, x->type, step);
    for (int64_t i = 0; i < count; i++) {
        int64_t whole;
        if (real) {
            join_real(call->node->op, (double)((const float *)x->data)[i], &acc[to].real);
        } else {
            float_load_integers(x, i, 1, 1, &whole);
            join_whole(call->node->op, whole, &acc[to].whole);
        }
        for (int d = rank - 1; d >= 0; d--) {
            to += step[d];
            if (++index[d] < x->type->dim[d])
                break;
            to -= step[d] * x->type->dim[d];
            index[d] = 0;
        }
    }
}

static const char *name_of(assay_op op)
{
    return op == ASSAY_OP_REDUCE_PROD  ? "their product"
           : op == ASSAY_OP_REDUCE_MAX ? "the greatest"
                                       : "the least";
}

size_t float_reduce_scratch(const assay_graph *g, const assay_node *n)
{
    return (size_t)assay_shape_count(&assay_node_out(g, n, 0)->type) * sizeof(sum);
}

assay_status float_reduce(assay_call *call, assay_error *err)
{
    const assay_view *y = &call->out[0];
    assay_op op = call->node->op;
    int64_t outputs = assay_shape_count(y->type), inputs = assay_shape_count(call->in[0].type);
    bool real = float_holds_f32(y), mean = op == ASSAY_OP_REDUCE_MEAN;
    sum *acc = call->scratch;

    if (real && (mean || op == ASSAY_OP_REDUCE_SUM)) {
        float_sums(call, mean);
        return ASSAY_OK;
    }
    for (int64_t i = 0; i < outputs; i++)
        acc[i] = identity(op, real);
    reduce_all(call, acc);
    int64_t each = outputs > 0 ? inputs / outputs : 0;
    if (mean && each == 0 && outputs > 0)
        return assay_fail(err, ASSAY_ERR_INPUT, "node '%s': mean of no elements", call->node->name);
    for (int64_t i = 0; i < outputs; i++)
        if (real) {
            ((float *)y->data)[i] = (float)acc[i].real;
            apply_tell(float_teller(call, i), "elements", each);
            apply_tell_float(float_teller(call, i), name_of(op), (float)acc[i].real);
        } else {
            int64_t v = mean ? acc[i].whole / each : acc[i].whole;
            if (y->type->elem.kind == ASSAY_KIND_BOOL)
                v = v > 0;
            float_store_integers(y, i, 1, &v);
        }
    return ASSAY_OK;
}
