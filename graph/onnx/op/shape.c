/* Operators that change the shape and keep the elements: reshape, transpose, expand, blocks. */
#include <string.h>

#include "graph/onnx/op/op.h"

void onnx_import_identity(onnx_node *n)
{
    onnx_bind(n, 0, onnx_in(n, 0));
}

/* 0 copies the input's extent (unless allowzero), one -1 takes what is left. */
void onnx_import_reshape(onnx_node *n)
{
    assay_type x = onnx_type(n, onnx_in(n, 0));
    bool allow_zero = onnx_int(n, "allowzero", 0) != 0;
    int64_t known = 1, open = -1;
    assay_list shape;

    if (!onnx_int_list(n, 1, "shape", &shape))
        return;
    if (shape.n > ASSAY_MAX_RANK) {
        onnx_refuse(n, "shape of rank %d", shape.n);
        return;
    }
    for (int i = 0; i < shape.n; i++) {
        if (shape.v[i] == 0 && !allow_zero && i < x.rank)
            shape.v[i] = x.dim[i];
        if (shape.v[i] == -1 && open < 0)
            open = i;
        else if (shape.v[i] < 0 || __builtin_mul_overflow(known, shape.v[i], &known)) {
            onnx_fail(n, ASSAY_ERR_INPUT,
                      "entry %d of the shape is %lld, expected 0 or more, or a single -1, and a "
                      "product below 2^63",
                      i, (long long)shape.v[i]);
            return;
        }
    }
    if (open >= 0 && known > 0 && onnx_count(&x) % known == 0)
        shape.v[open] = onnx_count(&x) / known;
    else if (open >= 0 || known != onnx_count(&x)) {
        onnx_fail(n, ASSAY_ERR_INPUT, "%lld elements do not fit the shape, which holds %s%lld",
                  (long long)onnx_count(&x), open >= 0 ? "a multiple of " : "", (long long)known);
        return;
    }
    onnx_reshaped(n, onnx_in(n, 0), shape.n, shape.v, NULL);
}

void onnx_import_flatten(onnx_node *n)
{
    assay_type x = onnx_type(n, onnx_in(n, 0));
    int64_t axis = onnx_int(n, "axis", 1), dim[2] = {1, 1};

    if (axis != x.rank)
        axis = onnx_axis(n, axis, x.rank);
    for (int i = 0; i < x.rank; i++)
        dim[i >= axis] *= x.dim[i];
    onnx_reshaped(n, onnx_in(n, 0), 2, dim, NULL);
}

/* Axes: an attribute before opset 13, an input since. Marks them in a shape of `rank`. */
static bool marked_axes(onnx_node *n, int rank, bool *marked)
{
    assay_list axes;
    bool given = onnx_has(n, 1) ? onnx_int_list(n, 1, "axes", &axes) : onnx_ints(n, "axes", &axes);

    for (int i = 0; i < axes.n && !n->status; i++) {
        int64_t axis = onnx_axis(n, axes.v[i], rank);
        if (marked[axis])
            onnx_fail(n, ASSAY_ERR_INPUT, "axis %lld is given twice", (long long)axis);
        marked[axis] = true;
    }
    return given;
}

void onnx_import_squeeze(onnx_node *n)
{
    assay_type x = onnx_type(n, onnx_in(n, 0));
    bool gone[ASSAY_MAX_RANK] = {false};
    bool given = marked_axes(n, x.rank, gone);
    int64_t dim[ASSAY_MAX_RANK];
    int rank = 0;

    for (int i = 0; i < x.rank && !n->status; i++) {
        if (given && gone[i] && x.dim[i] != 1)
            onnx_fail(n, ASSAY_ERR_INPUT, "axis %d has extent %lld, expected 1", i,
                      (long long)x.dim[i]);
        if (given ? !gone[i] : x.dim[i] != 1)
            dim[rank++] = x.dim[i];
    }
    onnx_reshaped(n, onnx_in(n, 0), rank, dim, NULL);
}

void onnx_import_unsqueeze(onnx_node *n)
{
    assay_type x = onnx_type(n, onnx_in(n, 0));
    bool fresh[ASSAY_MAX_RANK] = {false};
    int64_t dim[ASSAY_MAX_RANK];
    assay_list axes;
    int from = 0;

    if (!(onnx_has(n, 1) ? onnx_int_list(n, 1, "axes", &axes) : onnx_ints(n, "axes", &axes)))
        onnx_fail(n, ASSAY_ERR_INPUT, "axes are missing");
    if (n->status)
        return;
    if (x.rank + axes.n > ASSAY_MAX_RANK) {
        onnx_refuse(n, "result of rank %d", x.rank + axes.n);
        return;
    }
    marked_axes(n, x.rank + axes.n, fresh);
    if (n->status)
        return;
    for (int i = 0; i < x.rank + axes.n; i++)
        dim[i] = fresh[i] ? 1 : x.dim[from++];
    onnx_reshaped(n, onnx_in(n, 0), x.rank + axes.n, dim, NULL);
}

/* numpy broadcasting of the input's shape with the wanted one. */
void onnx_import_expand(onnx_node *n)
{
    assay_type x = onnx_type(n, onnx_in(n, 0));
    assay_attrs a = {.shape = {.shape = {.n = 0}}};
    assay_list wanted;

    if (!onnx_int_list(n, 1, "shape", &wanted))
        return;
    if (wanted.n > ASSAY_MAX_RANK) {
        onnx_refuse(n, "shape of rank %d", wanted.n);
        return;
    }
    for (int i = 0; i < wanted.n; i++)
        if (wanted.v[i] < 0)
            onnx_fail(n, ASSAY_ERR_INPUT, "entry %d of the shape is %lld, expected 0 or more", i,
                      (long long)wanted.v[i]);
    if (!onnx_broadcast(x.dim, x.rank, wanted.v, wanted.n, a.shape.shape.v, &a.shape.shape.n))
        onnx_fail(n, ASSAY_ERR_INPUT, "the input cannot be broadcast to the shape");
    onnx_op1(n, ASSAY_OP_EXPAND, &a, onnx_in(n, 0), NULL);
}

void onnx_import_transpose(onnx_node *n)
{
    assay_type x = onnx_type(n, onnx_in(n, 0));
    bool seen[ASSAY_MAX_RANK] = {false};
    assay_list perm;

    if (!onnx_ints(n, "perm", &perm)) {
        perm.n = x.rank;
        for (int i = 0; i < x.rank; i++)
            perm.v[i] = x.rank - 1 - i;
    }
    for (int i = 0; i < perm.n && !n->status; i++) {
        bool valid = perm.n == x.rank && perm.v[i] >= 0 && perm.v[i] < x.rank && !seen[perm.v[i]];
        if (!valid)
            onnx_fail(n, ASSAY_ERR_INPUT, "attribute 'perm' is not a permutation of %d axes",
                      x.rank);
        else
            seen[perm.v[i]] = true;
    }
    if (!n->status && perm.n != x.rank)
        onnx_fail(n, ASSAY_ERR_INPUT, "attribute 'perm' is empty");
    onnx_transposed(n, onnx_in(n, 0), perm.v, NULL);
}

/* DepthToSpace and SpaceToDepth. The latter is always in DCR order. */
void onnx_import_block(onnx_node *n)
{
    static const char *const orders[] = {"DCR", "CRD", NULL};
    assay_attrs a = {.block = {.layout = ASSAY_LAYOUT_NCHW,
                               .block = onnx_int(n, "blocksize", 0),
                               .order = onnx_choice(n, "mode", orders, ASSAY_D2S_DCR)}};

    if (a.block.block < 1 || a.block.block > 1 << 20)
        onnx_fail(n, ASSAY_ERR_INPUT, "attribute 'blocksize' is missing or %lld",
                  (long long)a.block.block);
    onnx_op1(n, n->row->op, &a, onnx_in(n, 0), NULL);
}
