/* The bias of a product under another input scale; see rescale_bias.h. */
#include "opt/prove/rescale_bias.h"
#include "graph/memory.h"

#include "graph/core/type.h"
#include "opt/lower/nodes.h"
#include "schemes/derive/real.h"

double prove_rescale_ratio(const assay_graph *g, int rescale)
{
    const assay_node *n = &g->node[rescale];
    return (double)g->value[n->out[0]].type.q.scale[0] / (double)g->value[n->in[0]].type.q.scale[0];
}

int64_t prove_rescaled_bias(int64_t bias, int64_t factor, double ratio)
{
    return factor > 0 ? bias / factor
                      : derive_round_real((double)bias * ratio, ASSAY_ROUND_HALF_AWAY);
}

assay_status prove_rescale_bias(assay_graph *g, int node, int rescale, int64_t factor, int *bias,
                                assay_error *err)
{
    const assay_value *b = &g->value[*bias];
    const double ratio = prove_rescale_ratio(g, rescale);
    assay_type t = b->type;
    size_t n = (size_t)assay_shape_count(&t);
    float *scale = assay_arena_array(g->arena, t.q.count + 1, sizeof *scale);
    char *name = lower_derived_name(g, g->value[g->node[node].out[0]].name, ":bias");
    if (!scale || !name || !b->data)
        return b->data ? assay_out_of_memory(err)
                       : assay_fail(err, ASSAY_ERR_UNSUPPORTED,
                                    "node '%s': its bias is not a constant", g->node[node].name);
    for (size_t i = 0; i < t.q.count; i++)
        scale[i] = (float)((double)t.q.scale[i] / ratio);
    t.q.scale = scale;
    const void *data = b->data;
    do
        name = lower_derived_name(g, name, ":rescaled");
    while (name && assay_graph_find_value(g, name) >= 0);
    assay_status s =
        name ? assay_graph_add_constant(g, name, &t, NULL, bias, err) : assay_out_of_memory(err);
    for (size_t i = 0; i < n && !s; i++)
        assay_elem_set(t.elem, (void *)(uintptr_t)g->value[*bias].data, i,
                       prove_rescaled_bias(assay_elem_get(t.elem, data, i), factor, ratio));
    return s;
}
