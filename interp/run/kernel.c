/* Kernel of a node: the integer one, the float one, or that of its data movement. */
#include "interp/kernel/kernel.h"

assay_kernel run_node_kernel(const assay_graph *g, const assay_node *n)
{
    /* cast takes codes by value, not by scale, so it has one kernel */
    bool codes = assay_node_is_quantized(g, n) && n->op != ASSAY_OP_CAST;
    return codes ? ref_kernel(n->op) : float_kernel(n->op);
}

assay_kernel run_kernel_under(const assay_graph *g, const assay_node *n, bool computes_floats)
{
    const assay_type *x =
        n->n_in > 0 && assay_node_in(g, n, 0) ? &assay_node_in(g, n, 0)->type : NULL;
    const bool mac = assay_op_get(n->op)->traits & ASSAY_T_MAC && n->op != ASSAY_OP_PATCHES;
    const assay_kernel k = ref_float_kernel(n->op);
    if (k.run && (mac || (computes_floats && x && x->elem.kind == ASSAY_KIND_F32)))
        return k;
    return run_node_kernel(g, n);
}

bool run_has_integer_kernel(assay_op op)
{
    return ref_kernel(op).run != NULL;
}
