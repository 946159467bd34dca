/* Rescales that sink below what moves, chooses, averages or interpolates: the node works on the
 * rescales' inputs, and one rescale (or one for each output) follows it. */
#include "graph/memory.h"
#include "opt/rewrite/rules.h"

#include <string.h>

/* All inputs that carry codes are rescales between the same two types that nobody else reads, and
 * what the node yields has the rescales' type. */
static bool sinks(const assay_graph *g, const int *uses, assay_match *m)
{
    const assay_node *n = &g->node[m->lower];
    int first_input, inputs = lower_data_inputs(g, n, &first_input);
    const int end = first_input + inputs;
    if (inputs < 1 || n->n_out > ASSAY_MATCH_UPPER || !lower_is_plain(n))
        return false;
    for (int i = first_input; i < end; i++) {
        const assay_node *p = rewrite_above(g, m, i);
        int used = 0;
        for (int j = first_input; p && j < end; j++) /* max(a, a): one rescale that is read twice */
            used += n->in[j] == p->out[0];
        if (!p || !lower_is_rescale(g, p) || uses[p->out[0]] != used)
            return false;
        const assay_node *first = &g->node[m->upper[0]];
        if (!lower_same_type(assay_node_in(g, p, 0), assay_node_in(g, first, 0)) ||
            !lower_same_type(assay_node_out(g, p, 0), assay_node_out(g, first, 0)) ||
            !lower_same_bounds(p, first))
            return false;
    }
    for (int i = 0; i < n->n_out; i++)
        if (!lower_same_type(&g->value[g->node[m->upper[0]].out[0]], &g->value[n->out[i]]))
            return false;
    return true;
}

bool rewrite_sink_move_matches(const assay_graph *g, const int *uses, assay_match *m)
{
    return lower_only_moves(&g->node[m->lower]) && sinks(g, uses, m);
}

bool rewrite_sink_order_matches(const assay_graph *g, const int *uses, assay_match *m)
{
    const assay_node *n = &g->node[m->lower];
    const uint32_t needed = ASSAY_T_SELECTS | ASSAY_T_MONOTONE;
    return (lower_traits(n) & needed) == needed && n->n_in == 1 && sinks(g, uses, m);
}

bool rewrite_sink_select_matches(const assay_graph *g, const int *uses, assay_match *m)
{
    const assay_node *n = &g->node[m->lower];
    const uint32_t needed = ASSAY_T_SELECTS | ASSAY_T_MONOTONE;
    return (lower_traits(n) & needed) == needed && lower_is_binary(g, n) && sinks(g, uses, m);
}

bool rewrite_sink_average_matches(const assay_graph *g, const int *uses, assay_match *m)
{
    const assay_node *n = &g->node[m->lower];
    return lower_traits(n) & ASSAY_T_SUMS && n->n_in == 1 && sinks(g, uses, m);
}

bool rewrite_sink_interpolation_matches(const assay_graph *g, const int *uses, assay_match *m)
{
    const assay_node *n = &g->node[m->lower];
    return lower_interpolates(n) && n->n_in == 1 && sinks(g, uses, m);
}

/* A value between the moved node and the rescale behind it: result's extents, x's kind. */
static assay_status add_between(assay_graph *g, int x, int result, int *between, assay_error *err)
{
    const assay_value *y = &g->value[result];
    assay_type t = g->value[x].type;
    char *name = lower_derived_name(g, y->name, ":sunk");
    t.rank = y->type.rank;
    memcpy(t.dim, y->type.dim, sizeof t.dim);
    return name ? assay_graph_add_value(g, name, &t, between, err) : assay_out_of_memory(err);
}

/* One more rescale like `like`, from x to y. */
static assay_status add_rescale(assay_graph *g, const assay_node *like, int x, int y,
                                assay_error *err)
{
    int id;
    const assay_node copy = *like;
    assay_status s =
        assay_graph_add_node(g, copy.op, g->value[y].name, &x, 1, &y, 1, &copy.attr, &id, err);
    if (s)
        return s;
    assay_node *n = &g->node[id];
    n->act_lo = copy.act_lo;
    n->act_hi = copy.act_hi;
    n->has_code_bounds = copy.has_code_bounds;
    n->code_lo = copy.code_lo;
    n->code_hi = copy.code_hi;
    return ASSAY_OK;
}

/* A pad fills with the code that the rescale makes the old one of. */
static void map_fill(const assay_match *m, assay_node *n)
{
    if (!m->fills || n->op != ASSAY_OP_PAD)
        return;
    n->attr.pad.value = 0;
    n->attr.pad.has_code = true;
    n->attr.pad.code = m->fill;
}

/* The node takes the place of the last rescale, and the first rescale behind it the node's. Values
 * NAME:sunk stand between them. */
assay_status rewrite_sink_move_rewrite(assay_graph *g, const assay_match *m,
                                       const assay_rule_image *image, assay_error *err)
{
    const int last = rewrite_take_last(g, m);
    int between[ASSAY_MATCH_UPPER], x = g->node[m->upper[0]].in[0];
    (void)image;
    assay_node node = g->node[m->lower], rescale = g->node[last];
    for (int i = 0; i < node.n_out; i++) {
        assay_status s = add_between(g, x, node.out[i], &between[i], err);
        if (!s && i > 0) {
            g->value[node.out[i]].producer = -1;
            s = add_rescale(g, &rescale, between[i], node.out[i], err);
        }
        if (s)
            return s;
    }
    for (int i = 0; i < m->n_upper; i++)
        node.in[m->slot[i]] = g->node[m->upper[i]].in[0];
    map_fill(m, &node);
    int result = node.out[0];
    g->value[rescale.out[0]].producer = -1;
    for (int i = 0; i < node.n_out; i++) {
        node.out[i] = between[i];
        g->value[between[i]].producer = last;
    }
    rescale.in[0] = between[0];
    rescale.out[0] = result;
    g->node[last] = node;
    g->node[m->lower] = rescale;
    g->value[result].producer = m->lower;
    /* further rescales stand last, and what else the node reads (a select's condition) may stand
     * between the two places */
    return node.n_out > 1 || node.n_in > m->n_upper ? assay_graph_compact(g, NULL, err) : ASSAY_OK;
}
