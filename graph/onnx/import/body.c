/* Bodies: the nodes of a subgraph in the graph under construction, under names of their own. */
#include <string.h>

#include "graph/memory.h"
#include "graph/onnx/import/import.h"

/* The real name of what the body defines; NULL: no memory. An empty one stays. */
static const char *define(onnx_import *im, const char *name, const char *tag)
{
    onnx_value *v;

    if (*name == '\0')
        return name;
    v = tag || onnx_find_value(im, name) ? onnx_add_fresh(im, name, tag ? tag : "inner")
                                         : onnx_add_value(im, name);
    if (!v)
        return NULL;
    (void)onnx_mean(im->scope, name,
                    v->name); /* a second definition is found when it is declared */
    return onnx_meaning(im, name);
}

assay_status onnx_begin_body(onnx_import *im, const pb_graph *g, const char *tag, assay_error *err)
{
    pb_graph own = *g;
    pb_tensor *copy = onnx_alloc(im, g->n_initializer * sizeof *copy + 1);
    pb_tensor **list = onnx_alloc(im, g->n_initializer * sizeof(pb_tensor *) + 1);
    assay_status s = ASSAY_OK;

    if (!onnx_push_scope(im, g->n_initializer))
        return assay_out_of_memory(err);
    if (!copy || !list)
        s = assay_out_of_memory(err);
    for (size_t i = 0; !s && i < g->n_initializer; i++) {
        copy[i] = *g->initializer[i];
        list[i] = &copy[i];
        copy[i].name = (char *)define(im, copy[i].name, tag);
        if (!copy[i].name)
            s = assay_out_of_memory(err);
    }
    own.initializer = list;
    if (!s && g->n_sparse_initializer > 0)
        onnx_list_unsupported(im, "sparse initializers");
    if (!s)
        s = onnx_read_initializers(im, &own, err);
    if (s)
        onnx_pop_scope(im);
    return s;
}

/* Every input of the body is another name for a value. */
static assay_status name_inputs(onnx_import *im, const pb_graph *g, const char *tag,
                                onnx_value *const *in, assay_error *err)
{
    for (size_t i = 0; i < g->n_input; i++) {
        const char *name = g->input[i]->name;
        onnx_value *v = onnx_add_fresh(im, name, tag ? tag : "inner");
        if (!v)
            return assay_out_of_memory(err);
        if (!onnx_mean(im->scope, name, v->name))
            return assay_fail(err, ASSAY_ERR_INPUT, "input '%s' of the subgraph occurs twice",
                              name);
        v->same = in[i];
        v->maker = "an input";
        v->narrow = in[i]->narrow;
        onnx_resolve(v)->uses++;
    }
    return ASSAY_OK;
}

static bool rename_all(onnx_import *im, char ***list, size_t count)
{
    char **real = onnx_alloc(im, count * sizeof *real + 1);

    for (size_t i = 0; real && i < count; i++)
        real[i] = (char *)onnx_meaning(im, (*list)[i]);
    *list = real;
    return real;
}

/* The nodes under the names that they have here. */
static pb_node **renamed_nodes(onnx_import *im, const pb_graph *g, const char *tag)
{
    pb_node *copy = onnx_alloc(im, g->n_node * sizeof *copy + 1);
    pb_node **list = onnx_alloc(im, g->n_node * sizeof(pb_node *) + 1);

    for (size_t i = 0; copy && list && i < g->n_node; i++) {
        copy[i] = *g->node[i];
        list[i] = &copy[i];
        for (size_t k = 0; k < copy[i].n_output; k++)
            if (!define(im, copy[i].output[k], tag))
                return NULL;
    }
    for (size_t i = 0; copy && list && i < g->n_node; i++)
        if (!rename_all(im, &copy[i].input, copy[i].n_input) ||
            !rename_all(im, &copy[i].output, copy[i].n_output))
            return NULL;
    return copy ? list : NULL;
}

static assay_status import_all(onnx_import *im, const pb_graph *g, const char *tag,
                               assay_error *err)
{
    onnx_node *nodes = onnx_alloc(im, g->n_node * sizeof *nodes + 1);
    pb_graph own = *g;
    assay_status s;

    own.node = renamed_nodes(im, g, tag);
    if (!nodes || !own.node)
        return assay_out_of_memory(err);
    s = onnx_declare_nodes(im, &own, nodes, err);
    return s ? s : onnx_import_nodes(im, nodes, g->n_node, err);
}

assay_status onnx_import_body(onnx_import *im, const pb_graph *g, const char *tag,
                              onnx_value *const *in, onnx_value **out, assay_error *err)
{
    size_t names = g->n_input;
    assay_status s;

    if (im->depth == ONNX_MAX_DEPTH)
        return assay_fail(err, ASSAY_ERR_UNSUPPORTED, "subgraphs nested %d deep", ONNX_MAX_DEPTH);
    for (size_t i = 0; i < g->n_node; i++)
        names += g->node[i]->n_output;
    if (!onnx_push_scope(im, names))
        return assay_out_of_memory(err);
    im->depth++;
    s = name_inputs(im, g, tag, in, err);
    if (!s)
        s = import_all(im, g, tag, err);
    im->depth--;
    for (size_t i = 0; i < g->n_output && !s; i++) {
        out[i] = onnx_find_here(im, onnx_meaning(im, g->output[i]->name));
        if (!out[i])
            s = assay_fail(err, ASSAY_ERR_INPUT, "output '%s' of the subgraph is not defined",
                           g->output[i]->name);
    }
    onnx_pop_scope(im);
    return s;
}
