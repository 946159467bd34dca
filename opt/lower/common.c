/* Common nodes: what is computed twice from the same values is computed once. */
#include <stdlib.h>
#include <string.h>

#include "graph/memory.h"
#include "opt/lower/nodes.h"
#include "opt/lower/pass.h"

static bool is_same(const assay_graph *g, const assay_node *a, const assay_node *b)
{
    bool same = a->op == b->op && a->n_in == b->n_in && a->n_out == b->n_out && a->n_in > 0 &&
                memcmp(a->in, b->in, (size_t)a->n_in * sizeof *a->in) == 0 &&
                lower_same_bounds(a, b) &&
                assay_attrs_equal(assay_op_get(a->op)->attrs, &a->attr, &b->attr);
    for (int i = 0; same && i < a->n_out; i++) {
        const assay_value *y = &g->value[a->out[i]], *z = &g->value[b->out[i]];
        same = lower_same_type(y, z) && assay_shape_equal(&y->type, &z->type) &&
               !lower_is_output(g, b->out[i]);
    }
    return same;
}

assay_status lower_eliminate_common(assay_graph *g, int *changed, assay_error *err)
{
    bool *dead = lower_rewrite_dead(g, 0);
    assay_status status = dead ? ASSAY_OK : assay_out_of_memory(err);
    *changed = 0;
    for (int i = 0; i < g->n_nodes && !status; i++) {
        const assay_node *n = &g->node[i];
        for (int k = 0; k < i && !(lower_traits(n) & ASSAY_T_STATE); k++) {
            if (dead[k] || !is_same(g, &g->node[k], n))
                continue;
            for (int o = 0; o < n->n_out; o++)
                assay_graph_replace_uses(g, n->out[o], g->node[k].out[o]);
            dead[i] = true;
            ++*changed;
            break;
        }
    }
    if (!status && *changed > 0)
        status = assay_graph_compact(g, dead, err);
    free(dead);
    return status;
}
