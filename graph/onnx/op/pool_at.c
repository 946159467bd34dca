/* Output Indices of MaxPool: which element of all, in a row, each window's greatest is; of equal
 * ones the first.
 *
 * The cells of each window are known at import: [places, cells] of them are gathered, the greatest
 * is sought along the last axis, and the constant says which element that cell is. */
#include <float.h>

#include "graph/onnx/op/op.h"

#define MAX_CELLS (INT64_C(1) << 24)

typedef struct windows {
    onnx_node *n;
    const assay_attr_pool *a;
    const int64_t *dim; /* spatial extents of the input */
    int axes;
    const int64_t *out; /* of the output */
    int64_t image, places, cells;
    bool columns; /* elements are counted with the last axis outermost */
} windows;

/* The element of an image that cell k of place p is, by rows, and as it is counted; false in the
 * padding. */
static bool cell_at(const windows *w, int64_t p, int64_t k, int64_t *at, int64_t *counted)
{
    int64_t row = 1, column = w->image;

    *at = *counted = 0;
    for (int i = w->axes - 1; i >= 0; i--) {
        const int64_t x = p % w->out[i] * w->a->stride.v[i] +
                          k % w->a->kernel.v[i] * w->a->dilation.v[i] - w->a->pad_begin.v[i];
        if (x < 0 || x >= w->dim[i])
            return false;
        column /= w->dim[i];
        *at += x * row;
        *counted += x * (w->columns ? column : row);
        row *= w->dim[i];
        p /= w->out[i];
        k /= w->a->kernel.v[i];
    }
    return true;
}

/* Of all cells: the element to read, whether there is one, the number that it has. */
static bool constants(const windows *w, onnx_value *of[3])
{
    const int64_t all = w->places * w->cells, two[2] = {w->places, w->cells};
    onnx_const *at = onnx_new_const(w->n->im, ONNX_INT64, 1, &all);
    onnx_const *inside = onnx_new_const(w->n->im, ONNX_BOOL, 2, two);
    onnx_const *counted = onnx_new_const(w->n->im, ONNX_INT64, 1, &all);

    if (!at || !inside || !counted)
        return onnx_no_memory(w->n);
    for (int64_t i = 0; i < all; i++) {
        int64_t element, number;
        const bool there = cell_at(w, i / w->cells, i % w->cells, &element, &number);
        onnx_set_int(at, i, there ? element : 0);
        onnx_set_int(inside, i, there);
        onnx_set_int(counted, i, there ? number : 0);
    }
    of[0] = onnx_constant(w->n, at, "cells");
    of[1] = onnx_constant(w->n, inside, "inside");
    of[2] = onnx_constant(w->n, counted, "numbers");
    return of[0] && of[1] && of[2];
}

/* [images, places]: the cell of each window, counted over all windows. */
static onnx_value *greatest(const windows *w, onnx_value *x, onnx_value *const of[3],
                            int64_t images)
{
    const assay_attrs along = {.gather = {.axis = 1}};
    const assay_attrs last = {.arg = {.axis = 2, .index_bits = 64}};
    const int64_t flat[2] = {images, w->image}, each[3] = {images, w->places, w->cells};
    const assay_elem elem = onnx_type(w->n, x).elem;
    const double least =
        elem.kind == ASSAY_KIND_F32 ? (double)-FLT_MAX : (double)assay_elem_min(elem);
    onnx_const *base = onnx_new_const(w->n->im, ONNX_INT64, 1, &w->places);
    onnx_value *y = onnx_reshaped(w->n, x, 2, flat, "images");

    for (int64_t i = 0; base && i < w->places; i++)
        onnx_set_int(base, i, i * w->cells);
    y = onnx_op2(w->n, ASSAY_OP_GATHER, &along, y, of[0], "read");
    y = onnx_reshaped(w->n, y, 3, each, "windows");
    onnx_value *in[3] = {of[1], y, onnx_scalar(w->n, x, least, "least")};
    y = onnx_op1(w->n, ASSAY_OP_ARG_MAX, &last,
                 onnx_op(w->n, ASSAY_OP_SELECT, NULL, in, 3, "padded"), "greatest");
    return onnx_op2(w->n, ASSAY_OP_ADD, NULL, y,
                    base ? onnx_constant(w->n, base, "base") : onnx_no_memory(w->n), "cell");
}

void onnx_pool_indices(onnx_node *n, const assay_attr_pool *a, onnx_value *pooled)
{
    onnx_value *x = onnx_in(n, 0), *of[3] = {NULL};
    const assay_type t = onnx_type(n, x), y = onnx_type(n, pooled);
    windows w = {.n = n,
                 .a = a,
                 .dim = t.dim + 2,
                 .out = y.dim + 2,
                 .axes = t.rank - 2,
                 .image = 1,
                 .places = 1,
                 .cells = 1,
                 .columns = onnx_int(n, "storage_order", 0) != 0};
    const int64_t images = n->status ? 0 : t.dim[0] * t.dim[1], first[2] = {images, 1};

    for (int i = 0; i < w.axes && !n->status; i++) {
        w.image *= w.dim[i];
        w.places *= w.out[i];
        w.cells *= a->kernel.v[i];
        if (w.cells > MAX_CELLS || w.places > MAX_CELLS / w.cells)
            onnx_refuse(n, "Indices over more than 2^24 window cells");
    }
    if (n->status || !constants(&w, of))
        return;
    const assay_attrs flat = {.gather = {.axis = 0}};
    onnx_const *begin = onnx_new_const(n->im, ONNX_INT64, 2, first);
    for (int64_t i = 0; begin && i < images; i++)
        onnx_set_int(begin, i, i * w.image);
    onnx_value *at = greatest(&w, x, of, images);
    at = onnx_op2(n, ASSAY_OP_GATHER, &flat, of[2], at, "number");
    at = onnx_op2(n, ASSAY_OP_ADD, NULL, at,
                  begin ? onnx_constant(n, begin, "begin") : onnx_no_memory(n), "of_all");
    onnx_bind(n, 1, onnx_reshaped(n, at, y.rank, y.dim, "indices"));
}
