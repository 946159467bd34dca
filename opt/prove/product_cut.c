/* One product as a fragment of its own, and its unit. */
#include "opt/prove/fragment.h"
#include "opt/prove/products.h"
#include "schemes/node/spec.h"

assay_status prove_product_prepare(const assay_graph *fragment, const assay_scheme *s,
                                   assay_unit **unit, assay_error *err)
{
    for (int i = 0; i < fragment->n_nodes; i++) {
        const assay_node *n = &fragment->node[i];
        assay_type in[ASSAY_SPEC_IN];
        assay_unit_spec spec;
        if (!prove_fragment_shrinks(fragment, n))
            continue;
        assay_unit_spec_fill(fragment, n, in, &spec);
        return s->vt->prepare(s, &spec, unit, err);
    }
    return assay_fail(err, ASSAY_ERR_INTERNAL, "the product is gone");
}

assay_status prove_product_has_proof(const assay_graph *g, const assay_node *node, assay_error *err)
{
    if (!prove_fragment_shrinks(g, node))
        return assay_fail(err, ASSAY_ERR_UNSUPPORTED, "no proof is known for this form of %s",
                          assay_op_get(node->op)->name);
    return ASSAY_OK;
}

assay_status prove_product_cut(const assay_graph *g, const assay_match *m, const assay_node *node,
                               const assay_scheme *s, assay_graph **fragment, assay_unit **unit,
                               assay_error *err)
{
    assay_status status = prove_product_has_proof(g, node, err);
    if (!status)
        status = prove_fragment_shrink(g, m, fragment, err);
    return status ? status : prove_product_prepare(*fragment, s, unit, err);
}
