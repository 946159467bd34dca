/* matmul: y[.., m, n] = sum over k: a[.., m, k] * b[.., k, n]; the axes before broadcast. An
 * operand of rank 1 is a row (a) or a column (b) and its axis is absent from y (numpy.matmul).
 * transpose_a and transpose_b swap the last two axes of the operand first. Integers wrap in their
 * width. */
#include "interp/float/float.h"
#include "interp/move/broadcast.h"
#include "interp/move/move.h"

/* The type without its last two axes (fewer when there are fewer). */
static assay_type batch_of(const assay_type *t, int matrix_axes)
{
    assay_type b = *t;
    b.rank = t->rank > matrix_axes ? t->rank - matrix_axes : 0;
    return b;
}

/* One product of integers; the operands' and the result's first elements are given. */
static void integer_product(const assay_call *call, const assay_gemm *g, int64_t a, int64_t b,
                            int64_t c)
{
    for (int64_t i = 0; i < g->m * g->n; i++) {
        int64_t sum = 0;
        for (int64_t k = 0; k < g->k; k++) {
            int64_t x, y, row = i / g->n, column = i % g->n;
            float_load_integers(&call->in[0], a + (g->a_t ? k * g->lda + row : row * g->lda + k), 1,
                                1, &x);
            float_load_integers(&call->in[1],
                                b + (g->b_t ? column * g->ldb + k : k * g->ldb + column), 1, 1, &y);
            sum = (int64_t)((uint64_t)sum + (uint64_t)x * (uint64_t)y);
        }
        float_store_integers(&call->out[0], c + i, 1, &sum);
    }
}

static void product(const assay_call *call, assay_gemm *g, int64_t a, int64_t b, int64_t c)
{
    if (!float_holds_f32(&call->in[0])) {
        integer_product(call, g, a, b, c);
        return;
    }
    g->a = (const float *)call->in[0].data + a;
    g->b = (const float *)call->in[1].data + b;
    g->c = (float *)call->out[0].data + c;
    float_gemm_run(g);
}

/* The product of every pair of matrices. Where all rows of a meet one matrix, they are one matrix;
 * where an operand is of one axis, each row is a product of its own (ONNX Runtime's
 * matmul_helper.h): the order of addition depends on it. */
assay_status float_matmul(assay_call *call, assay_error *err)
{
    const assay_attr_matmul *attr = &call->node->attr.matmul;
    const assay_type *a = call->in[0].type, *b = call->in[1].type, *y = call->out[0].type;
    bool row = a->rank == 1, column = b->rank == 1;
    int64_t rows = row ? 1 : a->dim[a->rank - 2], a_columns = a->dim[a->rank - 1];
    int64_t b_rows = column ? b->dim[0] : b->dim[b->rank - 2];
    int64_t b_columns = column ? 1 : b->dim[b->rank - 1];
    bool a_t = attr->transpose_a && !row, b_t = attr->transpose_b && !column;
    assay_gemm g = {.m = a_t ? a_columns : rows,
                    .n = b_t ? b_rows : b_columns,
                    .k = a_t ? rows : a_columns,
                    .lda = a_columns,
                    .ldb = b_columns,
                    .a_t = a_t,
                    .b_t = b_t,
                    .in_turn = call->in_turn,
                    .packed = b->rank == 2 && assay_node_in(call->graph, call->node, 1)->data};
    assay_type batch = batch_of(y, 2 - row - column);
    assay_type batch_a = batch_of(a, 2), batch_b = batch_of(b, 2);
    const assay_view in[2] = {{NULL, &batch_a}, {NULL, &batch_b}};
    assay_broadcast w;

    (void)err;
    g.ldc = g.n;
    if (!a_t && !row && !column && a->rank >= b->rank && assay_shape_count(&batch_b) == 1) {
        g.m = move_extent(a, 0, a->rank - 1);
        product(call, &g, 0, 0, 0);
        return ASSAY_OK;
    }
    const int64_t times = column && !a_t && g.m > 0 ? g.m : 1;
    g.m /= times;
    for (bool more = move_broadcast_begin(&w, &batch, in, 2); more; more = move_broadcast_next(&w))
        for (int64_t i = 0; i < w.columns * times; i++) {
            int64_t at = i / times, part = i % times;
            product(call, &g, (w.at[0] + at * w.step[0]) * rows * a_columns + part * a_columns,
                    (w.at[1] + at * w.step[1]) * b_rows * b_columns,
                    ((w.at_out + at) * times + part) * g.m * g.n);
        }
    return ASSAY_OK;
}
