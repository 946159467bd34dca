/* Kernel of a node: the integer one, the float one, or that of its data movement. */
#include "interp/kernel/kernel.h"

assay_kernel run_node_kernel(const assay_graph *g, const assay_node *n)
{
    /* cast takes codes by value, not by scale, so it has one kernel */
    bool codes = assay_node_is_quantized(g, n) && n->op != ASSAY_OP_CAST;
    return codes ? ref_kernel(n->op) : float_kernel(n->op);
}

bool run_has_integer_kernel(assay_op op)
{
    return ref_kernel(op).run != NULL;
}
