/* The nodes that op/svdf.c makes of a quantized SVDF, as SVDF again: no other operator has their
 * arithmetic. */
#include <string.h>

#include "graph/tflite/export/emit.h"

/* The nodes in order of the formula; `read` to `kept` are what the memory keeps. */
typedef struct svdf {
    const assay_node *feature, *newest, *read, *memory, *kept, *joined, *after, *assign, *cells,
        *time, *y;
} svdf;

/* The only use of a node's result, when it is by a node of that op; else NULL. */
static const assay_node *next(const assay_graph *g, const assay_node *n, assay_op op)
{
    if (!n || assay_graph_count_uses(g, n->out[0]) != 1)
        return NULL;
    for (int i = 0; i < g->n_nodes; ++i)
        for (int k = 0; k < g->node[i].n_in; ++k)
            if (g->node[i].in[k] == n->out[0])
                return g->node[i].op == op ? &g->node[i] : NULL;
    return NULL;
}

static const assay_node *before(const assay_graph *g, int value, assay_op op)
{
    int producer = value >= 0 ? g->value[value].producer : -1;
    return producer >= 0 && g->node[producer].op == op ? &g->node[producer] : NULL;
}

static const assay_node *reader_of(const assay_graph *g, int variable)
{
    for (int i = 0; i < g->n_nodes; ++i)
        if (g->node[i].op == ASSAY_OP_READ && g->node[i].in[0] == variable)
            return &g->node[i];
    return NULL;
}

/* The memory of more than one step: the old one without its first, joined with the newest. */
static bool keeps(const assay_graph *g, svdf *v)
{
    const assay_attr_slice *a;

    v->joined = next(g, v->newest, ASSAY_OP_CONCAT);
    v->kept = v->joined && v->joined->n_in == 2 && v->joined->in[1] == v->newest->out[0]
                  ? before(g, v->joined->in[0], ASSAY_OP_SLICE)
                  : NULL;
    v->memory = v->kept ? before(g, v->kept->in[0], ASSAY_OP_RESHAPE) : NULL;
    v->read = v->memory ? before(g, v->memory->in[0], ASSAY_OP_READ) : NULL;
    if (!v->read || next(g, v->read, ASSAY_OP_RESHAPE) != v->memory ||
        next(g, v->memory, ASSAY_OP_SLICE) != v->kept ||
        next(g, v->kept, ASSAY_OP_CONCAT) != v->joined)
        return false;
    a = &v->kept->attr.slice;
    return a->begin.n == 3 && a->begin.v[0] == 0 && a->begin.v[1] == 0 && a->begin.v[2] == 1 &&
           a->step.v[0] == 1 && a->step.v[1] == 1 && a->step.v[2] == 1;
}

static bool is_svdf(const assay_graph *g, const assay_node *feature, svdf *v)
{
    const assay_node *reader;

    *v = (svdf){.feature = feature, .newest = next(g, feature, ASSAY_OP_RESHAPE)};
    if (!v->newest)
        return false;
    if (g->value[v->newest->out[0]].type.rank != 3)
        return false;
    v->after = next(g, v->newest, ASSAY_OP_RESHAPE);
    if (!v->after && (!keeps(g, v) || !(v->after = next(g, v->joined, ASSAY_OP_RESHAPE))))
        return false;
    v->assign = next(g, v->after, ASSAY_OP_ASSIGN);
    v->cells = next(g, v->assign, ASSAY_OP_RESHAPE);
    v->time = next(g, v->cells, ASSAY_OP_SVDF_TIME);
    v->y = next(g, v->time, ASSAY_OP_RESHAPE);
    if (!v->y || v->time->in[0] != v->cells->out[0])
        return false;
    reader = reader_of(g, v->assign->in[0]);
    if (!v->read && reader && assay_graph_count_uses(g, reader->out[0]) == 1) { /* of one step */
        v->read = reader;
        v->memory = next(g, reader, ASSAY_OP_RESHAPE);
        if (!v->memory || assay_graph_count_uses(g, v->memory->out[0]) != 0)
            return false;
    }
    return v->read && v->read == reader && assay_graph_count_uses(g, v->assign->in[0]) == 2;
}

/* false: not a whole SVDF, or not one of its nodes. */
bool tfl_export_svdf(tfl_export *x, const assay_node *n)
{
    const assay_graph *g = x->g;
    const assay_value *w;
    const assay_node *all[11];
    assay_type type;
    int in[5], y;
    svdf v;

    if (n->op != ASSAY_OP_SVDF_FEATURE || !is_svdf(g, n, &v))
        return false;
    w = &g->value[v.time->in[1]];
    if (!w->data || w->type.q.granularity != ASSAY_Q_TENSOR)
        return false;
    type = w->type;
    type.rank = 2;
    type.dim[0] = g->value[n->out[0]].type.dim[1];
    type.dim[1] = w->type.dim[0] * w->type.dim[3] / type.dim[0];
    in[0] = tfl_add_tensor(x, n->in[0]);
    in[1] = tfl_add_tensor(x, n->in[1]);
    in[2] = tfl_tensor_as(x, v.time->in[1], &type, w->data);
    in[3] = v.time->n_in > 2 ? tfl_add_tensor(x, v.time->in[2]) : -1;
    in[4] = tfl_add_tensor(x, v.assign->in[0]);
    y = tfl_add_tensor(x, v.y->out[0]);
    if (x->status || in[4] < 0)
        return true;
    x->tensor[in[4]].is_variable = true;
    tfl_add_operator(x, BUILTIN_SVDF, in, 5, &y, 1);
    tfl_option(x, 0, 4, (int32_t)(type.dim[0] / w->type.dim[0]));
    memcpy(all,
           ((const assay_node *[]){v.feature, v.newest, v.read, v.memory, v.kept, v.joined, v.after,
                                   v.assign, v.cells, v.time, v.y}),
           sizeof all);
    for (int i = 0; i < 11; ++i)
        if (all[i])
            x->written[all[i] - g->node] = true;
    return true;
}
