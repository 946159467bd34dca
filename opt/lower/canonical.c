/* The canonical lowering: the same graph is profiled and quantized. */
#include "opt/lower/opt.h"

/* Every application of every pass removes a node or a value, or turns a node into one of a kind
 * that no pass makes again (matmul to fc, max to clip), or lets a clip read past another, so the
 * loop ends. */
static assay_status simplify(assay_graph *g, assay_evaluate_fn evaluate, assay_error *err)
{
    static assay_status (*const passes[])(assay_graph *, int *, assay_error *) = {
        lower_eliminate_identity, lower_matmul,   lower_clip,
        lower_fold_affine,        lower_fold_pad, lower_eliminate_dead,
    };
    int total;
    do {
        int changed = 0;
        assay_status status = lower_fold_constants(g, evaluate, &total, err);
        for (size_t i = 0; i < sizeof passes / sizeof *passes && !status; i++) {
            status = passes[i](g, &changed, err);
            total += changed;
        }
        if (status)
            return status;
    } while (total > 0);
    return ASSAY_OK;
}

assay_status lower_canonicalize(assay_graph *g, assay_evaluate_fn evaluate, assay_error *err)
{
    int changed = 0;
    assay_status status = simplify(g, evaluate, err);
    if (!status)
        status = lower_batch_norm(g, &changed, err);
    if (!status && changed > 0)
        status = simplify(g, evaluate, err);
    if (!status) /* behind folding: layers that share weights may fold apart */
        status = lower_eliminate_common(g, &changed, err);
    if (!status && changed > 0)
        status = simplify(g, evaluate, err);
    if (!status)
        status = assay_graph_verify(g, err);
    return status;
}
