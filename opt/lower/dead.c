/* Dead code: nodes that no output of the graph depends on. */
#include <stdlib.h>

#include "graph/memory.h"
#include "opt/lower/pass.h"

assay_status lower_eliminate_dead(assay_graph *g, int *changed, assay_error *err)
{
    bool *dead = lower_rewrite_dead(g, 0);
    bool *needed = calloc((size_t)g->n_values + 1, sizeof *needed);
    assay_status status = dead && needed ? ASSAY_OK : assay_out_of_memory(err);
    int values = g->n_values;
    *changed = 0;
    if (!status) {
        for (int i = 0; i < g->n_outputs; i++)
            needed[g->output[i]] = true;
        for (int i = g->n_nodes - 1; i >= 0; i--) {
            const assay_node *n = &g->node[i];
            bool alive = assay_op_get(n->op)->traits & ASSAY_T_STATE;
            for (int j = 0; j < n->n_out; j++)
                alive |= needed[n->out[j]];
            dead[i] = !alive;
            *changed += dead[i];
            for (int j = 0; j < n->n_in && alive; j++)
                if (n->in[j] >= 0)
                    needed[n->in[j]] = true;
        }
        status = assay_graph_compact(g, dead, err);
        *changed += *changed == 0 && g->n_values < values; /* only constants went */
    }
    free(dead);
    free(needed);
    return status;
}
