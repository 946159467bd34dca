/* Batched matrix product of two quantized values.
 *
 *   acc[.., m, n] = sum over k of (a[.., m, k] - za) * (b[.., k, n] - zb)
 *   y[.., m, n]   = requantize(acc[.., m, n], n)
 *
 * Batch axes broadcast; transpose_a, transpose_b swap the last two axes first; a rank-1 a is a row,
 * a rank-1 b is a column (numpy.matmul). Reduction order k. */
#include <assert.h>

#include "interp/move/broadcast.h"
#include "interp/ref/ref.h"

/* One operand as a matrix of rows * depth: element (r, k) of a batch at r * row_step + k * k_step.
 */
typedef struct operand {
    int64_t rows, depth, row_step, k_step;
} operand;

typedef struct matmul_scratch {
    int32_t *a;   /* K: one row, centred */
    int32_t *b;   /* N rows of K: the columns, centred */
    int64_t *acc; /* N */
    int32_t *y;   /* N */
    assay_products products;
} matmul_scratch;

static operand operand_of(const assay_type *t, bool depth_is_last)
{
    if (t->rank < 2)
        return (operand){1, t->dim[0], t->dim[0], 1};
    int64_t p = t->dim[t->rank - 2], q = t->dim[t->rank - 1];
    return depth_is_last ? (operand){p, q, q, 1} : (operand){q, p, 1, q};
}

static size_t carve(const operand *b, const assay_node *n, const assay_type *x,
                    const assay_view *weights, char *memory, matmul_scratch *s)
{
    size_t used = 0;
    s->a = ref_carve(memory, &used, b->depth, sizeof *s->a);
    s->b = ref_carve(memory, &used, b->rows * b->depth, sizeof *s->b);
    s->acc = ref_carve(memory, &used, b->rows, sizeof *s->acc);
    s->y = ref_carve(memory, &used, b->rows, sizeof *s->y);
    s->products = ref_products_of(n, x, weights, memory, &used);
    return used;
}

size_t ref_matmul_scratch(const assay_graph *g, const assay_node *n)
{
    matmul_scratch s;
    const assay_view weights = {.type = &assay_node_in(g, n, 1)->type};
    operand b = operand_of(weights.type, n->attr.matmul.transpose_b);
    return carve(&b, n, &assay_node_in(g, n, 0)->type, &weights, NULL, &s);
}

/* The batch axes of an operand, or of the output when `matrix_axes` of its axes are the matrix. */
static assay_type batch_of(const assay_type *t, int matrix_axes)
{
    assay_type batch = *t;
    batch.rank = t->rank > matrix_axes ? t->rank - matrix_axes : 0;
    return batch;
}

/* One matrix product: matrices number at_a of a and at_b of b into the elements of y from `first`.
 */
static void multiply(assay_call *call, const operand *a, const operand *b, int64_t at_a,
                     int64_t at_b, int64_t first, const matmul_scratch *s)
{
    const assay_view *va = &call->in[0];
    for (int64_t n = 0; n < b->rows; n++)
        ref_load_filter(&s->products, at_b * b->rows * b->depth + n * b->row_step, b->k_step,
                        (size_t)b->depth, n, 0, s->b + n * b->depth);
    for (int64_t m = 0; m < a->rows; m++, first += b->rows) {
        ref_load_centred(va, at_a * a->rows * a->depth + m * a->row_step, a->k_step,
                         (size_t)a->depth, 0, s->a);
        for (int64_t n = 0; n < b->rows; n++)
            s->acc[n] = ref_sum_products(call, &s->products, s->a, s->b + n * b->depth,
                                         (size_t)b->depth, n, 0, first + n);
        ref_finish_sums(call, first, 1, (size_t)b->rows, 0, s->acc, s->y);
    }
}

assay_status ref_matmul(assay_call *call, assay_error *err)
{
    const assay_type *ta = call->in[0].type, *tb = call->in[1].type, *ty = call->out[0].type;
    const operand a = operand_of(ta, !call->node->attr.matmul.transpose_a);
    const operand b = operand_of(tb, call->node->attr.matmul.transpose_b);
    const assay_type batch_a = batch_of(ta, 2), batch_b = batch_of(tb, 2);
    const assay_type batch_y = batch_of(ty, (ta->rank > 1) + (tb->rank > 1));
    const assay_view batches[2] = {{.type = &batch_a}, {.type = &batch_b}};
    assay_broadcast w;
    matmul_scratch s;
    (void)err;

    assert(a.depth == b.depth);
    carve(&b, call->node, ta, &call->in[1], call->scratch, &s);
    for (bool row = move_broadcast_begin(&w, &batch_y, batches, 2); row;
         row = move_broadcast_next(&w))
        for (int64_t i = 0; i < w.columns; i++)
            multiply(call, &a, &b, w.at[0] + i * w.step[0], w.at[1] + i * w.step[1],
                     (w.at_out + i) * a.rows * b.rows, &s);
    return ASSAY_OK;
}
