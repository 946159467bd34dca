/* Fully connected.
 *
 *   acc[m,o] = bias[o] + sum over k of (x[m,k] - zx) * (w[o,k] - zw[o])
 *   y[m,o]   = requantize(acc[m,o], o)
 *
 * x is [M..., K], w is [O, K], reduction order k. Filters are loaded one at a time and meet all
 * rows of x, so that the weights are never held twice. */
#include <assert.h>

#include "interp/ref/ref.h"

typedef struct fc_scratch {
    int32_t *x;      /* M rows of K, centred */
    int32_t *filter; /* K, centred */
    int64_t *acc;    /* M rows of O */
    int32_t *y;      /* O */
    assay_products products;
} fc_scratch;

typedef struct fc_shape {
    int64_t rows, depth, outputs;
} fc_shape;

static fc_shape shape_of(const assay_type *x, const assay_type *w)
{
    fc_shape s = {.rows = 1, .depth = w->dim[1], .outputs = w->dim[0]};
    assert(x->rank >= 1 && w->rank == 2 && x->dim[x->rank - 1] == w->dim[1]);
    for (int i = 0; i < x->rank - 1; i++) /* a depth of 0 leaves the bias */
        s.rows *= x->dim[i];
    return s;
}

static size_t carve(fc_shape shape, const assay_node *n, const assay_type *x,
                    const assay_view *weights, char *memory, fc_scratch *s)
{
    size_t used = 0;
    s->x = ref_carve(memory, &used, shape.rows * shape.depth, sizeof *s->x);
    s->filter = ref_carve(memory, &used, shape.depth, sizeof *s->filter);
    s->acc = ref_carve(memory, &used, shape.rows * shape.outputs, sizeof *s->acc);
    s->y = ref_carve(memory, &used, shape.outputs, sizeof *s->y);
    s->products = ref_products_of(n, x, weights, memory, &used);
    return used;
}

size_t ref_fc_scratch(const assay_graph *g, const assay_node *n)
{
    const assay_type *x = &assay_node_in(g, n, 0)->type;
    const assay_view weights = {.type = &assay_node_in(g, n, 1)->type};
    fc_scratch s;
    return carve(shape_of(x, weights.type), n, x, &weights, NULL, &s);
}

assay_status ref_fc(assay_call *call, assay_error *err)
{
    const assay_view *x = &call->in[0], *weights = &call->in[1];
    const assay_view *bias = call->node->n_in > 2 ? &call->in[2] : NULL;
    const fc_shape f = shape_of(x->type, weights->type);
    fc_scratch s;
    (void)err;

    carve(f, call->node, x->type, weights, call->scratch, &s);
    ref_load_centred(x, 0, 1, (size_t)(f.rows * f.depth), 0, s.x);
    for (int64_t o = 0; o < f.outputs; o++) {
        ref_load_filter(&s.products, o * f.depth, 1, (size_t)f.depth, o, 0, s.filter);
        for (int64_t m = 0; m < f.rows; m++)
            s.acc[m * f.outputs + o] =
                ref_sum_products(call, &s.products, s.x + m * f.depth, s.filter, (size_t)f.depth, o,
                                 ref_load_bias(bias, o), m * f.outputs + o);
    }
    for (int64_t m = 0; m < f.rows; m++)
        ref_finish_sums(call, m * f.outputs, 1, (size_t)f.outputs, 0, s.acc + m * f.outputs, s.y);
    return ASSAY_OK;
}
