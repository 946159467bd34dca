/* Determinants of small matrices (Det), by the minors of the last rows.
 *
 *   minor(columns) = sum over c in columns, the k-th of them: (-1)^k x[row, c] minor(columns - c)
 */

#include <assert.h>

#include "graph/onnx/op/op.h"

enum { MAX_ORDER = 6 };

typedef struct matrix {
    onnx_node *n;
    onnx_value *x;
    assay_type t;
    int order;
    onnx_value *minor[1 << MAX_ORDER]; /* by columns, of as many of the last rows; NULL: not yet */
} matrix;

/* Element [.., row, column], without these axes. */
static onnx_value *element(matrix *m, int row, int column)
{
    onnx_value *y = onnx_part(m->n, m->x, m->t.rank - 2, row, 1, "row");

    y = onnx_part(m->n, y, m->t.rank - 1, column, 1, "element");
    return onnx_reshaped(m->n, y, m->t.rank - 2, m->t.dim, "element");
}

static onnx_value *minor(matrix *m, int columns, const char *suffix)
{
    const int row = m->order - __builtin_popcount((unsigned)columns);
    onnx_value *sum = m->minor[columns];
    bool negative = false;

    assert(m->order <= MAX_ORDER);
    for (int c = 0; c < m->order && !m->minor[columns]; c++) {
        const int rest = columns & ~(1 << c);
        if (rest == columns)
            continue;
        onnx_value *y = element(m, row, c);
        if (rest)
            y = onnx_op2(m->n, ASSAY_OP_MUL, NULL, y, minor(m, rest, "minor"), "product");
        const char *name = columns >> (c + 1) ? "sum" : suffix; /* the last column */
        sum = sum ? onnx_op2(m->n, negative ? ASSAY_OP_SUB : ASSAY_OP_ADD, NULL, sum, y, name) : y;
        negative = !negative;
    }
    return m->minor[columns] = sum;
}

void onnx_import_det(onnx_node *n)
{
    matrix m = {.n = n, .x = onnx_in(n, 0), .t = onnx_type(n, onnx_in(n, 0))};

    if (!n->status && (m.t.rank < 2 || m.t.dim[m.t.rank - 1] != m.t.dim[m.t.rank - 2]))
        onnx_fail(n, ASSAY_ERR_INPUT, "input of rank %d is not square", m.t.rank);
    if (!n->status && (m.t.dim[m.t.rank - 1] < 1 || m.t.dim[m.t.rank - 1] > MAX_ORDER))
        onnx_refuse(n, "matrices of order %lld: up to %d are supported",
                    (long long)m.t.dim[m.t.rank - 1], MAX_ORDER);
    if (n->status)
        return;
    m.order = (int)m.t.dim[m.t.rank - 1];
    onnx_bind(n, 0, minor(&m, (1 << m.order) - 1, NULL));
}
