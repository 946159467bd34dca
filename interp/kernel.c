#include "interp/kernel.h"

assay_kernel assay_node_kernel(const assay_graph *g, const assay_node *n)
{
    return assay_node_is_quantized(g, n) ? assay_ref_kernel(n->op) : assay_float_kernel(n->op);
}
