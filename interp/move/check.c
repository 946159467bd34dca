/* Checks of what the kernels that move data take for granted beyond the verifier. */
#include "interp/move/move.h"

/* The greatest or least of no elements, where one is asked for. */
static assay_status check_arg(const assay_graph *g, const assay_node *n, assay_error *err)
{
    const assay_type *x = &assay_node_in(g, n, 0)->type;
    const int axis = (int)n->attr.arg.axis;
    if (x->dim[axis] > 0 || assay_shape_count(&assay_node_out(g, n, 0)->type) == 0)
        return ASSAY_OK;
    return assay_fail(err, ASSAY_ERR_INPUT, "node '%s' (%s): axis %d is empty", n->name,
                      assay_op_get(n->op)->name, axis);
}

assay_status move_check_node(const assay_graph *g, const assay_node *n, assay_error *err)
{
    switch (n->op) {
    case ASSAY_OP_ARG_MAX:
    case ASSAY_OP_ARG_MIN:
        return check_arg(g, n, err);
    case ASSAY_OP_PAD:
        return move_check_pad(g, n, err);
    default:
        return ASSAY_OK;
    }
}
