/* Questions of rules about a match, and edits that several make. */
#include "opt/rewrite/rules.h"

#include <math.h>

const assay_node *rewrite_above(const assay_graph *g, assay_match *m, int slot)
{
    const assay_value *v = assay_node_in(g, &g->node[m->lower], slot);
    if (!v || v->producer < 0 || m->n_upper == ASSAY_MATCH_UPPER || g->node[v->producer].n_out != 1)
        return NULL;
    m->upper[m->n_upper] = v->producer;
    m->slot[m->n_upper++] = slot;
    return &g->node[v->producer];
}

int rewrite_take_last(assay_graph *g, const assay_match *m)
{
    int last = m->upper[0], named = 0;
    for (int i = 1; i < m->n_upper; i++) {
        bool again = false;
        for (int k = 0; k < i; k++)
            again |= m->upper[k] == m->upper[i];
        named = again ? named : i;
        last = m->upper[i] > last ? m->upper[i] : last;
    }
    const char *name = g->node[m->upper[named]].name;
    g->node[m->upper[named]].name = g->node[last].name;
    g->node[last].name = name;
    return last;
}

bool rewrite_may_stand_for(const assay_graph *g, assay_match *m, int x)
{
    int y = g->node[m->lower].out[0], producer = g->value[x].producer;
    if (!lower_is_output(g, y))
        return true;
    if (producer < 0)
        m->obstacle = "an output of the network keeps its name, and no node yields its values "
                      "but this one";
    else if (lower_is_output(g, x))
        m->obstacle = "two outputs of the network keep their names";
    else if (g->node[producer].n_out != 1)
        m->obstacle = "an output of the network keeps its name, and stands for one of several";
    return true;
}

void rewrite_to_rescale(assay_node *n, int x, const assay_rule_image *image)
{
    n->op = ASSAY_OP_RESCALE;
    assay_attrs_defaults(assay_op_get(n->op)->attrs, &n->attr);
    n->in[0] = x;
    n->n_in = 1;
    n->act_lo = -INFINITY;
    n->act_hi = INFINITY;
    n->has_code_bounds = image != NULL;
    n->code_lo = image ? (int32_t)image->lo : 0;
    n->code_hi = image ? (int32_t)image->hi : 0;
}
