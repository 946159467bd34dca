/* Nodes in execution order: as the model has them where that is one, else each node after those
 * that make its inputs, and what its subgraphs use. */
#include "graph/onnx/import/import.h"

typedef struct sorter {
    onnx_import *im;
    onnx_node *nodes, **order;
    size_t count, done;
    unsigned char *state; /* of each node: untouched, waiting for others, in its place */
    size_t *waiting;      /* the way down to the node in hand; entries of `state` WAITING */
    size_t depth;
} sorter;

enum { UNTOUCHED, WAITING, PLACED };

/* The node of this graph that makes the value and is not placed yet, or NULL. Names of subgraphs
 * are not yet the real ones. */
static const onnx_node *missing_maker(const sorter *s, const char *name, int depth)
{
    const onnx_value *v =
        *name ? onnx_find_value(s->im, depth > 0 ? onnx_meaning(s->im, name) : name) : NULL;
    const onnx_node *by = v ? v->by : NULL;

    if (!by || by < s->nodes || by >= s->nodes + s->count)
        return NULL;
    return s->state[by - s->nodes] == UNTOUCHED ? by : NULL;
}

static const onnx_node *missing_input(const sorter *s, const pb_node *n, int depth);

/* What the subgraph uses of the graphs around it; a malformed one is named when it is imported. */
static const onnx_node *missing_capture(const sorter *s, const ProtobufCBinaryData *bytes,
                                        int depth)
{
    const onnx_node *found = NULL;
    assay_error unused;
    pb_graph *g;

    if (depth == ONNX_MAX_DEPTH || onnx_parse_graph(s->im, bytes, &g, &unused))
        return NULL;
    for (size_t i = 0; i < g->n_node && !found; i++)
        found = missing_input(s, g->node[i], depth + 1);
    for (size_t i = 0; i < g->n_output && !found; i++)
        found = missing_maker(s, g->output[i]->name, depth + 1);
    return found;
}

/* A node that must come before this one and is untouched; NULL when there is none. */
static const onnx_node *missing_input(const sorter *s, const pb_node *n, int depth)
{
    const onnx_node *found = NULL;

    for (size_t i = 0; i < n->n_input && !found; i++)
        found = missing_maker(s, n->input[i], depth);
    for (size_t i = 0; i < n->n_attribute && !found; i++)
        if (n->attribute[i]->type == ONNX_ATTR_GRAPH)
            found = missing_capture(s, &n->attribute[i]->g, depth);
    return found;
}

static void wait_for(sorter *s, size_t node)
{
    s->state[node] = WAITING;
    s->waiting[s->depth++] = node;
}

onnx_node **onnx_order_nodes(onnx_import *im, onnx_node *nodes, size_t count)
{
    sorter s = {.im = im,
                .nodes = nodes,
                .count = count,
                .order = assay_arena_array(im->temp, count + 1, sizeof *s.order),
                .state = assay_arena_array(im->temp, count + 1, 1),
                .waiting = assay_arena_array(im->temp, count + 1, sizeof *s.waiting)};

    if (!s.order || !s.state || !s.waiting)
        return NULL;
    for (size_t i = 0; i < count; i++) {
        if (s.state[i] == UNTOUCHED)
            wait_for(&s, i);
        while (s.depth > 0) {
            size_t at = s.waiting[s.depth - 1];
            const onnx_node *first = missing_input(&s, nodes[at].pb, 0);
            if (first) {
                wait_for(&s, (size_t)(first - nodes));
                continue;
            }
            s.state[at] = PLACED;
            s.order[s.done++] = &nodes[at];
            s.depth--;
        }
    }
    return s.order;
}
