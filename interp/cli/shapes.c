/* Shapes that depend on data: a model is loaded for the first sample of --input. */
#include "interp/cli/shapes.h"
#include "graph/memory.h"

#include <stdlib.h>
#include <string.h>

static assay_status read_inputs(const cli_args *a, const assay_graph *g, assay_run *run,
                                assay_error *err)
{
    const char **sources = calloc((size_t)g->n_inputs + 1, sizeof *sources);
    cli_files f;
    assay_status s = ASSAY_OK;

    if (!sources)
        s = assay_out_of_memory(err);
    else if (cli_inputs_open(&f, a, g) != CLI_OK)
        s = assay_fail(err, ASSAY_ERR_INPUT, "%s", ""); /* said already */
    else
        s = cli_inputs_read(&f, 0, run, sources, err);
    if (sources)
        cli_files_close(&f);
    free(sources);
    return s;
}

/* assay_sample.compute: runs what there is of the graph. */
static assay_status compute(void *user, assay_graph *g, int value, const void **data,
                            assay_error *err)
{
    cli_shapes *c = user;
    const char *name = cli_value(c->args, "scheme", NULL);
    const size_t bytes = assay_type_bytes(&g->value[value].type);
    void *copy = assay_arena_alloc(g->arena, bytes ? bytes : 1);
    assay_scheme *scheme = NULL;
    assay_program *p = NULL;
    assay_run *run = NULL;
    assay_status s = copy ? ASSAY_OK : assay_out_of_memory(err);

    if (!s && name)
        s = assay_scheme_open(name, &scheme, err);
    if (!s)
        s = assay_graph_set_outputs(g, &value, 1, err);
    if (!s)
        s = assay_program_make_as_is(g, scheme, false, &p, err);
    if (!s)
        s = assay_run_new(p, &run, err);
    if (!s)
        s = read_inputs(c->args, g, run, err);
    if (!s)
        s = run_execute(run, NULL, false, NULL, err);
    if (!s && bytes)
        memcpy(copy, assay_run_data(run, value), bytes);
    assay_run_free(run);
    assay_program_free(p);
    assay_scheme_free(scheme);
    *data = copy;
    return s;
}

assay_sample cli_shapes_sample(cli_shapes *c, const cli_args *a)
{
    *c = (cli_shapes){.args = a};
    return cli_has(a, "input") ? (assay_sample){compute, c, &c->used} : (assay_sample){0};
}

int cli_shapes_check(const cli_shapes *c, const char *model, const assay_graph *g)
{
    if (c->used && cli_value_at(c->args, "input", g->n_inputs))
        return cli_trouble("%s: its shapes depend on its inputs; give one sample at a time", model);
    return CLI_OK;
}
