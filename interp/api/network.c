/* Networks: from files and memory with options, and what is in one, as text and JSON. */
#include <stdlib.h>

#include "graph/core/digest.h"
#include "graph/memory.h"
#include "graph/text/text.h"
#include "interp/api/loading.h"
#include "interp/api/options.h"
#include "interp/golden/bundle.h"
#include "interp/run/model.h"

/* ---- loading ---- */

/* What to load: a file, or bytes. */
typedef struct source {
    const char *name;
    const void *bytes; /* NULL: a file */
    size_t size;
} source;

static assay_status load(const source *from, const assay_load_options *options, assay_graph **out,
                         assay_error *err)
{
    assay_load_options o;
    assay_loading l = {.given = &o};
    assay_status status = ASSAY_OPTIONS_TAKE(options, &o, err);

    *out = NULL;
    if (!status)
        status = assay_loading_take(&o, &l, err);
    if (!status)
        status = from->bytes  ? run_model_load_memory(from->name, from->bytes, from->size, &l.model,
                                                      !o.as_it_is, out, err)
                 : o.as_it_is ? run_model_load(from->name, &l.model, out, err)
                              : run_model_load_canonical(from->name, &l.model, out, err);
    if (!status)
        status = assay_loading_end(&l, from->name, *out, err);
    if (!status && o.decode)
        status = run_model_decode(out, &l.model, !o.as_it_is, err);
    if (status) {
        assay_graph_free(*out);
        *out = NULL;
    }
    assay_loading_free(&l);
    return status;
}

assay_status assay_load_with(const char *path, const assay_load_options *options, assay_graph **out,
                             enum assay_model_form *form, assay_error *err)
{
    const source from = {.name = path};
    const assay_status status = form ? run_model_file_form(path, form, err) : ASSAY_OK;

    *out = NULL;
    return status ? status : load(&from, options, out, err);
}

assay_status assay_load_memory(const char *name, const void *bytes, size_t size,
                               const assay_load_options *options, assay_graph **out,
                               enum assay_model_form *form, assay_error *err)
{
    const source from = {.name = name, .bytes = bytes ? bytes : "", .size = bytes ? size : 0};
    if (form)
        *form = run_model_form(from.bytes, from.size);
    return load(&from, options, out, err);
}

assay_status assay_graph_copy(const assay_graph *g, assay_graph **out, assay_error *err)
{
    return assay_graph_clone(g, out, err);
}

bool assay_graph_is_quantized(const assay_graph *g)
{
    return run_model_is_quantized(g);
}

const void *assay_value_constant(const assay_graph *g, int value)
{
    return value >= 0 && value < g->n_values && !g->value[value].is_variable ? g->value[value].data
                                                                             : NULL;
}

/* ---- text and JSON ---- */

assay_status assay_graph_text(const assay_graph *g, char **text, assay_error *err)
{
    assay_buf buf = {0};
    const assay_status status = text_graph_print(g, NULL, &buf, err);

    *text = status ? NULL : buf.text;
    if (status)
        assay_buf_free(&buf);
    return status;
}

static json_t *json_indices(const int *index, int n)
{
    json_t *list = json_array();
    for (int i = 0; i < n; i++)
        page_json_add(&list, json_integer(index[i]));
    return list;
}

static json_t *json_value(const assay_value *v)
{
    json_t *o = golden_json_type(&v->type);
    page_json_set(&o, "name", page_json_text(v->name));
    page_json_set(&o, "producer", json_integer(v->producer));
    page_json_set(&o, "constant", json_boolean(v->data && !v->is_variable));
    page_json_set(&o, "variable", json_boolean(v->is_variable));
    return o;
}

static json_t *json_node(const assay_graph *g, const assay_node *n)
{
    json_t *o = json_object();
    page_json_set(&o, "name", page_json_text(n->name));
    page_json_set(&o, "op", json_string(assay_op_get(n->op)->name));
    page_json_set(&o, "inputs", json_indices(n->in, n->n_in));
    page_json_set(&o, "outputs", json_indices(n->out, n->n_out));
    page_json_set(&o, "macs", json_integer(assay_node_macs(g, n)));
    page_json_set(&o, "quantized", json_boolean(assay_node_is_quantized(g, n)));
    return o;
}

assay_status assay_graph_json(const assay_graph *g, char **json, assay_error *err)
{
    char digest[33];
    assay_status status = assay_graph_digest(g, digest, err);
    json_t *o, *values, *nodes;

    *json = NULL;
    if (status)
        return status;
    o = json_object();
    values = json_array();
    nodes = json_array();
    for (int v = 0; v < g->n_values; v++)
        page_json_add(&values, json_value(&g->value[v]));
    for (int n = 0; n < g->n_nodes; n++)
        page_json_add(&nodes, json_node(g, &g->node[n]));
    page_json_set(&o, "name", page_json_text(g->name));
    page_json_set(&o, "digest", json_string(digest));
    page_json_set(&o, "quantized", json_boolean(run_model_is_quantized(g)));
    page_json_set(&o, "quantized_for",
                  g->quantized_for ? page_json_text(g->quantized_for) : json_null());
    page_json_set(&o, "inputs", json_indices(g->input, g->n_inputs));
    page_json_set(&o, "outputs", json_indices(g->output, g->n_outputs));
    page_json_set(&o, "values", values);
    page_json_set(&o, "nodes", nodes);
    return assay_text_of_json(o, json, err);
}
