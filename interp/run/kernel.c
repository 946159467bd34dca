#include "interp/kernel/kernel.h"

assay_kernel assay_node_kernel(const assay_graph *g, const assay_node *n)
{
    /* cast takes codes by value, not by scale, so it has one kernel */
    bool codes = assay_node_is_quantized(g, n) && n->op != ASSAY_OP_CAST;
    return codes ? assay_ref_kernel(n->op) : assay_float_kernel(n->op);
}

bool assay_has_integer_kernel(assay_op op)
{
    return assay_ref_kernel(op).run != NULL;
}
