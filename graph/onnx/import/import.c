/* The way from a model's bytes to a graph: nodes in order, outputs, what is unsupported. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "graph/core/map.h"
#include "graph/memory.h"
#include "graph/onnx/import/import.h"

static assay_status set_outputs(onnx_import *im, const pb_graph *g, assay_error *err)
{
    int *ids = assay_arena_array(im->temp, g->n_output, sizeof *ids);

    if (!ids)
        return assay_out_of_memory(err);
    if (g->n_output == 0)
        return assay_fail(err, ASSAY_ERR_INPUT, "%s: the graph has no outputs", im->file);
    for (size_t i = 0; i < g->n_output; i++) {
        onnx_value *v = onnx_resolve(onnx_find_value(im, g->output[i]->name));
        ids[i] = onnx_materialize(im, v, err);
        if (ids[i] == ASSAY_NO_VALUE)
            return assay_fail(err, ASSAY_ERR_INPUT, "%s: output '%s' was not made", im->file,
                              g->output[i]->name);
    }
    return assay_graph_set_outputs(im->graph, ids, (int)g->n_output, err);
}

/* Patterns of the graph and of the bodies in it. */
static assay_status fuse_all(assay_graph *g, assay_error *err)
{
    assay_status s = onnx_fuse(g, err);

    for (int i = 0; i < g->n_subgraphs && !s; i++)
        s = fuse_all(g->subgraph[i], err);
    return s;
}

static assay_status import_graph(onnx_import *im, const pb_graph *g, assay_error *err)
{
    onnx_node *nodes = assay_arena_array(im->temp, g->n_node, sizeof *nodes);
    assay_status s;

    if (!nodes)
        return assay_out_of_memory(err);
    if (g->n_sparse_initializer > 0)
        onnx_list_unsupported(im, "sparse initializers");
    s = onnx_read_initializers(im, g, err);
    if (!s)
        s = onnx_read_inputs(im, g, err);
    if (!s)
        s = onnx_declare_nodes(im, g, nodes, err);
    if (!s)
        s = onnx_declare_outputs(im, g, err);
    if (!s)
        s = onnx_import_nodes(im, nodes, g->n_node, err);
    if (s)
        return s;
    if (im->n_unsupported > 0) {
        bool cut = im->n_unsupported > 1 && im->unsupported_length > 500;
        return assay_fail(err, ASSAY_ERR_UNSUPPORTED, "%.100s: %d unsupported: %s%s", im->file,
                          im->n_unsupported, im->unsupported, cut ? "; ..." : "");
    }
    s = set_outputs(im, g, err);
    if (!s)
        s = onnx_spread_params(im->graph, err);
    if (!s)
        s = fuse_all(im->graph, err);
    return s ? s : assay_graph_verify(im->graph, err);
}

/* ---- entry points ---- */

static assay_status read_opset(onnx_import *im, const pb_model *m, assay_error *err)
{
    if (m->n_opset_import == 0)
        return assay_fail(err, ASSAY_ERR_INPUT, "%s: imports no opset", im->file);
    im->opset = ASSAY_ONNX_OPSET_MAX; /* where only other domains are named, as in ONNX Runtime */
    for (size_t i = 0; i < m->n_opset_import; i++)
        if (*onnx_standard_domain(m->opset_import[i]->domain) == '\0')
            im->opset = m->opset_import[i]->version;
    if (im->opset < ASSAY_ONNX_OPSET_MIN || im->opset > ASSAY_ONNX_OPSET_MAX)
        return assay_fail(err, ASSAY_ERR_UNSUPPORTED,
                          "%s: opset %lld of the standard domain, expected %d to %d", im->file,
                          (long long)im->opset, ASSAY_ONNX_OPSET_MIN, ASSAY_ONNX_OPSET_MAX);
    return ASSAY_OK;
}

/* With a folder, external data may be there and the bytes outlive the graph. */
static assay_status import_bytes(const char *file, const char *folder, const void *bytes,
                                 size_t length, const assay_onnx_options *options,
                                 assay_graph **out, assay_error *err)
{
    static const assay_onnx_options none;
    onnx_import im = {.file = file,
                      .begin_body = onnx_begin_body,
                      .import_body = onnx_import_body,
                      .folder = folder,
                      .options = options ? options : &none,
                      .bytes = bytes,
                      .length = length,
                      .lasts = folder != NULL,
                      .left = onnx_memory_limit(length)};
    XXH128_hash_t hash = XXH3_128bits(bytes, length);
    pb_model *model;
    assay_status s;

    *out = NULL;
    im.temp = assay_arena_new();
    if (!im.temp)
        return assay_out_of_memory(err);
    if (im.lasts)
        assay_map_forget(bytes, length); /* read for the hash */
    s = onnx_parse_model(&im, &model, err);
    im.model = s ? NULL : model;
    if (!s)
        s = read_opset(&im, model, err);
    if (!s)
        s = assay_graph_new(model->graph->name && *model->graph->name ? model->graph->name : "onnx",
                            &im.graph, err);
    if (!s)
        s = import_graph(&im, model->graph, err);
    if (s) {
        assay_graph_free(im.graph);
    } else {
        snprintf(im.graph->model_digest, sizeof im.graph->model_digest, "%016llx%016llx",
                 (unsigned long long)hash.high64, (unsigned long long)hash.low64);
        *out = im.graph;
    }
    assay_arena_free(im.temp);
    return s;
}

assay_status onnx_import_memory(const char *name, const void *bytes, size_t length,
                                const assay_onnx_options *options, assay_graph **out,
                                assay_error *err)
{
    return import_bytes(name, NULL, bytes, length, options, out, err);
}

assay_status onnx_import_file(const char *path, const assay_onnx_options *options,
                              assay_graph **out, assay_error *err)
{
    const char *slash = strrchr(path, '/');
    char *folder = slash == path ? strdup("/")
                   : slash       ? strndup(path, (size_t)(slash - path))
                                 : strdup(".");
    assay_map *map = NULL;
    assay_status s;

    *out = NULL;
    if (!folder)
        return assay_out_of_memory(err);
    s = assay_map_file(path, &map, err);
    if (!s)
        s = import_bytes(path, folder, map->bytes, map->size, options, out, err);
    if (!s && assay_arena_own((*out)->arena, assay_unmap, map)) {
        assay_graph_free(*out);
        *out = NULL;
        s = assay_out_of_memory(err);
    }
    if (s)
        assay_unmap(map);
    free(folder);
    return s;
}
