/* Unique, of all elements: they are sorted, and those that differ from the one before are picked,
 * as many as the sample has that the model is imported for. */

#include "graph/onnx/op/op.h"

static onnx_value *along(onnx_node *n, onnx_value *x, onnx_value *at, const char *suffix)
{
    const assay_attrs first = {.gather = {.axis = 0}};
    return onnx_op2(n, ASSAY_OP_GATHER, &first, x, at, suffix);
}

/* y[0], [count], in ascending order; y[1]: where they stood, of equal ones the first first. */
static void ascending(onnx_node *n, onnx_value *x, int64_t count, onnx_value *y[2])
{
    const assay_attrs a = {.topk = {.k = count, .index_bits = 64}};
    onnx_op_several(n, ASSAY_OP_TOPK, &a, x, 2, "sorted", y);
}

/* Is it another than the one before? */
static onnx_value *begins(onnx_node *n, onnx_value *sorted, int64_t count)
{
    const int64_t one = 1;
    onnx_const *c = onnx_new_const(n->im, ONNX_BOOL, 1, &one);

    if (!c)
        return onnx_no_memory(n);
    onnx_set_int(c, 0, 1);
    onnx_value *part[2] = {onnx_constant(n, c, "first"), NULL};
    if (count == 1)
        return part[0];
    part[1] = onnx_op2(n, ASSAY_OP_NOT_EQUAL, NULL, onnx_part(n, sorted, 0, 1, count - 1, "behind"),
                       onnx_part(n, sorted, 0, 0, count - 1, "before"), "others");
    return onnx_joined(n, part, 2, 0, "begins");
}

/* Which elements are which of those that differ, [all,count] of 0 and 1: the place of each, and how
 * often each is there. */
static void bind_places(onnx_node *n, onnx_value *x, int64_t all, onnx_value *y, int64_t count)
{
    const int64_t column[2] = {all, 1}, row[2] = {1, count};
    const assay_attrs to = {.cast = {.to = ASSAY_CAST_I64}};
    const assay_attrs place = {.arg = {.axis = 1, .index_bits = 64}};
    const assay_attrs often = {.reduce = {.axes = {.n = 1}}};
    onnx_value *same = onnx_op2(n, ASSAY_OP_EQUAL, NULL, onnx_reshaped(n, x, 2, column, "column"),
                                onnx_reshaped(n, y, 2, row, "row"), "equal");

    same = onnx_op1(n, ASSAY_OP_CAST, &to, same, "same");
    if (onnx_out_used(n, 2))
        onnx_bind(n, 2, onnx_op1(n, ASSAY_OP_ARG_MAX, &place, same, "places"));
    if (onnx_out_used(n, 3))
        onnx_bind(n, 3, onnx_op1(n, ASSAY_OP_REDUCE_SUM, &often, same, "often"));
}

void onnx_import_unique(onnx_node *n)
{
    const assay_type t = onnx_type(n, onnx_in(n, 0));
    const int64_t all = onnx_count(&t);
    onnx_value *y[2] = {NULL}, *x, *set;
    const onnx_const *c;

    if (!n->status && all < 1)
        onnx_refuse(n, "no elements");
    x = onnx_reshaped(n, n->status ? NULL : onnx_in(n, 0), 1, &all, "flat");
    ascending(n, x, all, y);
    set = n->status ? NULL : begins(n, y[0], all);
    if (!(c = onnx_elements(n, set))) {
        if (!n->status)
            onnx_refuse(n, "how many elements differ is known for one sample only (`sample`)");
        return;
    }
    const int64_t count = onnx_count_set(c);
    set = onnx_reshaped(n, onnx_set_places(n, set, count, "begins"), 1, &count, "begins");
    y[0] = along(n, y[0], set, "values");
    y[1] = along(n, y[1], set, "first");
    if (onnx_int(n, "sorted", 1) == 0) { /* in the order in which they appear */
        onnx_value *order[2] = {NULL};
        ascending(n, y[1], count, order);
        y[0] = along(n, y[0], order[1], "values");
        y[1] = order[0];
    }
    onnx_bind(n, 0, y[0]);
    onnx_bind(n, 1, y[1]);
    if (onnx_out_used(n, 2) || onnx_out_used(n, 3))
        bind_places(n, x, all, y[0], count);
}
