/* Shapes that depend on data: a model is loaded for the first sample of --input. */
#include "interp/cli/shapes.h"

#include <stdlib.h>

#include "graph/memory.h"
#include "interp/run/sample.h"

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

static assay_status fill(void *user, const assay_graph *g, assay_run *run, assay_error *err)
{
    return read_inputs(((cli_shapes *)user)->args, g, run, err);
}

/* assay_sample.compute, under the scheme that is asked for. */
static assay_status compute(void *user, assay_graph *g, int value, const void **data,
                            assay_error *err)
{
    cli_shapes *c = user;
    const char *name = cli_value(c->args, "scheme", NULL);
    assay_scheme *scheme = NULL;
    assay_status s = name ? assay_scheme_open(name, &scheme, err) : ASSAY_OK;

    if (!s)
        s = run_sample_compute(&(run_sample){scheme, fill, c}, g, value, data, err);
    assay_scheme_free(scheme);
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
