/* Shapes that depend on data (graph/core/sample.h): the elements that decide them, and what
 * follows from them for the nodes behind. */
#include "graph/core/complete.h"
#include "graph/core/infer.h"
#include "graph/tflite/node/node.h"

assay_status tfl_compute(const tfl_op *o, int i, const void **data)
{
    tfl_import *m = o->m;
    const tfl_tensor *t = tfl_in(o, i);
    const assay_sample *sample = m->options ? &m->options->sample : NULL;
    assay_status s;

    if (!sample || !sample->compute || m->depth || m->n_faults || t->is_variable || t->value < 0)
        return tfl_unsupported(o, "a shape depends on the contents of input %d", i);
    if ((s = sample->compute(sample->user, m->g, t->value, data, m->err)))
        return s;
    m->follows_data = true;
    *sample->used = true;
    return ASSAY_OK;
}

/* The tensor of a value, when it has one. */
static tfl_tensor *tensor_of(const tfl_import *m, int value)
{
    int index = m->g->value[value].source_index;
    return index >= 0 && index < m->tensors.n && m->tensors.at[index].value == value
               ? &m->tensors.at[index]
               : NULL;
}

assay_status tfl_infer(const tfl_op *o, assay_op kind, const int *in, int n_in, const int *out,
                       int n_out, const assay_attrs *attr)
{
    assay_graph *g = o->m->g;
    const assay_op_info *info = assay_op_get(kind);
    assay_node n = {.name = g->value[out[0]].name, .op = kind, .n_in = n_in, .n_out = n_out};
    assay_type *type = assay_arena_array(o->m->temp, (size_t)n_out, sizeof *type);
    assay_status s;

    n.in = assay_arena_copy(o->m->temp, in, (size_t)n_in * sizeof *in);
    n.out = assay_arena_copy(o->m->temp, out, (size_t)n_out * sizeof *out);
    if (!type || !n.in || !n.out)
        return tfl_no_memory(o->m);
    if (attr)
        assay_attrs_copy(info->attrs, &n.attr, attr);
    else
        assay_attrs_defaults(info->attrs, &n.attr);
    assay_node_complete(g, &n, &n.attr);
    if ((s = assay_infer(g, &n, type, o->m->err)))
        return s;
    for (int i = 0; i < n_out; ++i) {
        tfl_tensor *t = tensor_of(o->m, out[i]);
        assay_infer_shape(&g->value[out[i]].type, &type[i]);
        if (t)
            assay_infer_shape(&t->type, &type[i]);
    }
    return ASSAY_OK;
}
