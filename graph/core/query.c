/* Questions about a graph. assay_graph_find_value is in names.c. */
#include "graph/core/graph.h"

int assay_graph_count_uses(const assay_graph *g, int value)
{
    int uses = 0;
    for (int i = 0; i < g->n_nodes; ++i)
        for (int k = 0; k < g->node[i].n_in; ++k)
            uses += g->node[i].in[k] == value;
    for (int i = 0; i < g->n_outputs; ++i)
        uses += g->output[i] == value;
    return uses;
}

int assay_graph_count_nodes(const assay_graph *g)
{
    int n = g->n_nodes;
    for (int i = 0; i < g->n_subgraphs; i++)
        n += assay_graph_count_nodes(g->subgraph[i]);
    return n;
}

const assay_value *assay_node_in(const assay_graph *g, const assay_node *n, int i)
{
    return i < n->n_in && n->in[i] != ASSAY_NO_VALUE ? &g->value[n->in[i]] : NULL;
}

const assay_value *assay_node_out(const assay_graph *g, const assay_node *n, int i)
{
    return &g->value[n->out[i]];
}

bool assay_is_narrowing(const assay_node *n)
{
    return n->op == ASSAY_OP_CAST &&
           (n->attr.cast.to == ASSAY_CAST_F16 || n->attr.cast.to == ASSAY_CAST_BF16);
}

bool assay_node_is_quantized(const assay_graph *g, const assay_node *n)
{
    for (int i = 0; i < n->n_in; ++i)
        if (n->in[i] != ASSAY_NO_VALUE && assay_is_quantized(&g->value[n->in[i]].type))
            return true;
    for (int i = 0; i < n->n_out; ++i)
        if (assay_is_quantized(&g->value[n->out[i]].type))
            return true;
    return false;
}

static int64_t saturating_product(int64_t a, int64_t b)
{
    int64_t product;
    return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}

/* The reduction length of a weighted node is what its weights hold for one output channel. */
int64_t assay_node_macs(const assay_graph *g, const assay_node *n)
{
    const assay_value *x = assay_node_in(g, n, 0), *w = assay_node_in(g, n, 1);
    const assay_type *y;
    int64_t count;

    if (!x || !w || w->type.rank < 1)
        return 0;
    y = &assay_node_out(g, n, 0)->type;
    count = assay_shape_count(&w->type);
    switch (n->op) {
    case ASSAY_OP_CONV:
    case ASSAY_OP_FC:
    case ASSAY_OP_SVDF_FEATURE:
    case ASSAY_OP_SVDF_TIME:
        return w->type.dim[0] ? saturating_product(assay_shape_count(y), count / w->type.dim[0])
                              : 0;
    case ASSAY_OP_CONV_TRANSPOSE: {
        int axis = n->attr.conv.layout == ASSAY_LAYOUT_NCHW ? 0 : w->type.rank - 1;
        int64_t channels = w->type.dim[axis];
        return channels ? saturating_product(assay_shape_count(&x->type), count / channels) : 0;
    }
    case ASSAY_OP_MATMUL: {
        int axis = x->type.rank - (x->type.rank > 1 && n->attr.matmul.transpose_a ? 2 : 1);
        return axis < 0 ? 0 : saturating_product(assay_shape_count(y), x->type.dim[axis]);
    }
    default:
        return 0;
    }
}
