/* Public functions that only pass on to inner ones. */
#include <string.h>

#include "interp/golden/bundle.h"
#include "interp/run/model.h"
#include "opt/quantize/qdq.h"

assay_status assay_load(const char *path, assay_graph **out, assay_error *err)
{
    return run_model_load_canonical(path, NULL, out, err);
}

assay_status assay_save(const assay_graph *g, const char *path, assay_error *err)
{
    return run_model_save(g, path, err);
}

int assay_input_count(const assay_graph *g)
{
    return g->n_inputs;
}

int assay_output_count(const assay_graph *g)
{
    return g->n_outputs;
}

int assay_input(const assay_graph *g, int i)
{
    return i >= 0 && i < g->n_inputs ? g->input[i] : -1;
}

int assay_output(const assay_graph *g, int i)
{
    return i >= 0 && i < g->n_outputs ? g->output[i] : -1;
}

int assay_value_count(const assay_graph *g)
{
    return g->n_values;
}

int assay_value_find(const assay_graph *g, const char *name)
{
    return assay_graph_find_value(g, name);
}

const char *assay_value_name(const assay_graph *g, int value)
{
    return value >= 0 && value < g->n_values ? g->value[value].name : NULL;
}

const assay_type *assay_value_type(const assay_graph *g, int value)
{
    return value >= 0 && value < g->n_values ? &g->value[value].type : NULL;
}

int assay_node_count(const assay_graph *g)
{
    return g->n_nodes;
}

int assay_node_find(const assay_graph *g, const char *name)
{
    int i = 0;
    while (i < g->n_nodes && strcmp(g->node[i].name, name) != 0)
        i++;
    return i < g->n_nodes ? i : -1;
}

const char *assay_node_name(const assay_graph *g, int node)
{
    return node >= 0 && node < g->n_nodes ? g->node[node].name : NULL;
}

assay_status assay_quantize_file(const assay_graph *g, const char *profile, const assay_scheme *s,
                                 assay_graph **out, assay_error *err)
{
    const assay_quantize_options options = {.has_kernel = run_has_integer_kernel};
    assay_profile *p = NULL;
    assay_status status = profile_load(profile, &p, err);

    *out = NULL;
    if (!status)
        status = profile_complete(p, err);
    if (!status)
        status = quantize_network(g, p, s, &options, out, NULL, err);
    profile_free(p);
    return status;
}

assay_status assay_group_conversions(assay_graph *g, const assay_scheme *s, assay_error *err)
{
    return quantize_group_qdq(g, s, run_has_integer_kernel, NULL, err);
}

assay_status assay_execute(assay_run *r, assay_error *err)
{
    return run_execute(r, NULL, false, NULL, err);
}

assay_status assay_golden(const assay_program *p, assay_run *r, const char *dir, bool accumulators,
                          char *digest, assay_error *err)
{
    const assay_bundle_options options = {
        .dir = dir, .accumulators = accumulators, .samples = 1, .model_file = p->graph->name};
    assay_bundle_writer *w;
    assay_status status = golden_bundle_begin(&options, p, &w, err);

    if (status)
        return status;
    status = golden_bundle_sample(w, r, 0, NULL, err);
    if (status) {
        golden_bundle_abort(w);
        return status;
    }
    return golden_bundle_commit(w, digest, err);
}
