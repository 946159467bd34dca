/* The network of a bundle as vertices and edges, laid out. */
#include <stdlib.h>
#include <string.h>

#include "graph/memory.h"
#include "interp/report/book.h"

static int find_inputs(report_chapter *c)
{
    int n = 0;
    for (int i = 0; i < c->n_looks; i++)
        if (c->look[i].tensor->op && strcmp(c->look[i].tensor->op, "input") == 0)
            c->input[n++] = i;
    return n;
}

/* name -> vertex that makes it. */
static json_t *find_makers(const report_chapter *c)
{
    json_t *maker = json_object(), *name;
    size_t k;
    for (int i = 0; i < c->n_inputs; i++)
        page_json_set(&maker, c->look[c->input[i]].tensor->name, json_integer(i));
    for (int i = 0; i < c->n_nodes; i++)
        json_array_foreach(json_object_get(c->node[i].json, "outputs"), k, name)
        {
            if (json_is_string(name))
                page_json_set(&maker, json_string_value(name), json_integer(c->n_inputs + i));
        }
    return maker;
}

static int find_edges(const report_chapter *c, const json_t *maker, report_edge *edge)
{
    int n = 0;
    for (int i = 0; i < c->n_nodes; i++) {
        const json_t *list = json_object_get(c->node[i].json, "inputs");
        for (size_t k = 0; k < json_array_size(list); k++) {
            const char *name = json_string_value(json_array_get(list, k));
            const json_t *from = name ? json_object_get(maker, name) : NULL;
            if (from)
                edge[n++] = (report_edge){(int)json_integer_value(from), c->n_inputs + i};
        }
    }
    return n;
}

assay_status report_lay_out(report_chapter *c, assay_error *err)
{
    size_t max = 1;
    for (int i = 0; i < c->n_nodes; i++)
        max += json_array_size(json_object_get(c->node[i].json, "inputs"));
    report_edge *edge = calloc(max, sizeof *edge);
    c->input = calloc((size_t)c->n_looks + 1, sizeof *c->input);
    assay_status status = edge && c->input ? ASSAY_OK : assay_out_of_memory(err);
    if (!status) {
        c->n_inputs = find_inputs(c);
        json_t *maker = find_makers(c);
        const int n = find_edges(c, maker, edge);
        status = maker ? report_layout_make(c->n_inputs + c->n_nodes, edge, n, &c->layout, err)
                       : assay_out_of_memory(err);
        json_decref(maker);
    }
    free(edge);
    return status;
}
