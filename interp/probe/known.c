/* Inputs that a device's nodes are known to have had: a node is asked about where all of its are.
 */
#include "interp/probe/find.h"

#include "schemes/node/spec.h"

static bool is_seen_whole(const blame_device *d, int sample, int value)
{
    const blame_tensor *t = blame_at(d, sample, value);
    const int64_t n = assay_shape_count(&d->graph->value[value].type);
    for (int64_t i = 0; t->device && t->mask && i < n; i++)
        if (!t->mask[i])
            return false;
    return t->device != NULL;
}

/* Values from which no scheme's arithmetic lies between what was dumped or given and them. */
bool probe_is_known(const blame_device *d, int sample, int value)
{
    const assay_value *v = &d->graph->value[value];
    if (v->data && !v->is_variable)
        return true;
    if (v->is_variable || is_seen_whole(d, sample, value))
        return !v->is_variable;
    if (v->producer < 0)
        return true; /* an input of the network */
    const assay_node *n = &d->graph->node[v->producer];
    bool known = (assay_op_get(n->op)->traits & ASSAY_T_MOVE) &&
                 !(assay_op_get(n->op)->traits & ASSAY_T_STATE);
    for (int i = 0; i < n->n_in && known; i++)
        known = n->in[i] == ASSAY_NO_VALUE || probe_is_known(d, sample, n->in[i]);
    return known;
}

static bool is_given(const blame_device *d, int node, int sample)
{
    const assay_node *n = &d->graph->node[node];
    bool known = true;
    for (int i = 0; i < n->n_in && known; i++)
        known = n->in[i] == ASSAY_NO_VALUE || probe_is_known(d, sample, n->in[i]);
    return known;
}

/* Nodes whose arithmetic a record says and whose output was dumped. */
static bool is_judged(const blame_device *d, int node, int sample)
{
    const assay_node *n = &d->graph->node[node];
    return n->n_out == 1 && blame_at(d, sample, n->out[0])->device && blame_case_can(n) &&
           assay_node_is_quantized(d->graph, n);
}

bool probe_is_asked(const blame_device *d, int node, int sample)
{
    const unsigned traits = assay_op_get(d->graph->node[node].op)->traits;
    return is_judged(d, node, sample) && !(traits & ASSAY_T_MOVE) && is_given(d, node, sample);
}

bool probe_is_end(const blame_device *d, int node, int sample)
{
    return is_judged(d, node, sample) && !is_given(d, node, sample);
}
