/* Shapes, constants and state of a model's inputs, from a caller's texts. */
#include "interp/api/loading.h"

#include <stdlib.h>

#include "graph/memory.h"
#include "interp/api/state.h"
#include "interp/run/sample.h"

/* run_sample.fill, by the caller's function. */
static assay_status fill(void *user, const assay_graph *g, assay_run *run, assay_error *err)
{
    const assay_load_options *o = user;
    assay_status status = ASSAY_OK;

    for (int i = 0; i < g->n_inputs && !status; i++) {
        const assay_value *v = &g->value[g->input[i]];
        status = o->sample(o->user, v->name, &v->type, assay_run_data(run, g->input[i]), err);
    }
    return status;
}

/* assay_sample.compute. */
static assay_status compute(void *user, assay_graph *g, int value, const void **data,
                            assay_error *err)
{
    const assay_loading *l = user;
    assay_load_options own = *l->given;
    const run_sample sample = {own.sample_scheme, fill, &own};

    return run_sample_compute(&sample, g, value, data, err);
}

assay_status assay_loading_take(const assay_load_options *given, assay_loading *l, assay_error *err)
{
    assay_status status;

    *l = (assay_loading){.given = given,
                         .shape = calloc(given->n_shapes + 1, sizeof *l->shape),
                         .name = calloc(given->n_shapes + 1, sizeof *l->name)};
    status = l->shape && l->name ? ASSAY_OK : assay_out_of_memory(err);
    for (size_t k = 0; k < given->n_shapes && !status; k++)
        status = run_model_parse_shape(given->shape[k], &l->shape[k], &l->name[k], err);
    if (!status)
        status = assay_fixed_read(given->fix, given->n_fixed, &l->fixed, err);
    l->model = (assay_model_options){.batch = given->batch,
                                     .shape = l->shape,
                                     .n_shapes = given->n_shapes,
                                     .fixed = l->fixed.list,
                                     .n_fixed = l->fixed.n,
                                     .keep_narrow = given->keep_narrow,
                                     .hybrid = given->hybrid};
    if (given->sample)
        l->model.sample = (assay_sample){compute, l, &l->used};
    return status;
}

static bool has_input(const assay_graph *g, const char *name)
{
    const int v = assay_graph_find_value(g, name);
    bool found = false;
    for (int i = 0; i < g->n_inputs; i++)
        found |= g->input[i] == v;
    return found;
}

assay_status assay_loading_end(const assay_loading *l, const char *file, assay_graph *g,
                               assay_error *err)
{
    for (size_t k = 0; k < l->model.n_shapes; k++)
        if (!has_input(g, l->name[k]))
            return assay_fail(err, ASSAY_ERR_INPUT,
                              "shape %.200s=...: %.300s has no input of that name", l->name[k],
                              file);
    return assay_states_link(g, l->given->state, l->given->n_states, err);
}

void assay_loading_free(assay_loading *l)
{
    for (size_t k = 0; l->name && k < l->given->n_shapes; k++)
        free(l->name[k]);
    free(l->name);
    free(l->shape);
    assay_fixed_free(&l->fixed);
}
