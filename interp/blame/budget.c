/* The work that the search for two causes may take: what was run costs, and whether any is left. */
#include "interp/blame/budget.h"

/* AT_ONCE: as many multiplications take about as long as one step of making a network. */
enum { MADE = 20000, ELEMENT = 16, READ = 4, CHANGED = 2, AT_ONCE = 4 };

static void spend(const blame_search *s, int64_t cost)
{
    if (s->budget)
        s->budget->left -= cost;
}

bool blame_afford(const blame_search *s)
{
    const bool more = !s->budget || s->budget->left > 0;
    if (!more)
        s->budget->cut = true;
    return more;
}

void blame_spend_case(const blame_search *s, const blame_case *c)
{
    const int64_t macs = assay_node_macs(s->d->graph, s->n) / (s->count + 1);
    int64_t cost = (ELEMENT + macs) * assay_shape_count(&c->out);
    for (int i = 0; i < c->n_in; i++)
        if (c->in[i].elem.kind != ASSAY_KIND_NONE)
            cost += READ * assay_shape_count(&c->in[i]);
    spend(s, MADE + cost / AT_ONCE);
    if (s->budget)
        s->budget->tried++;
}

void blame_spend_node(const blame_search *s, int node)
{
    const assay_graph *g = s->d->graph;
    const assay_node *n = &g->node[node];
    const int64_t codes = assay_shape_count(&g->value[n->out[0]].type);
    spend(s, (assay_node_macs(g, n) + ELEMENT * codes) / AT_ONCE);
}

void blame_spend_codes(const blame_search *s, int64_t n)
{
    spend(s, CHANGED * n / AT_ONCE);
}
