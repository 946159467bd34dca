/* A value that a model's shapes follow from, computed for one sample. */
#include "interp/run/sample.h"

#include <string.h>

#include "graph/memory.h"
#include "interp/run/program.h"

assay_status run_sample_compute(const run_sample *sample, assay_graph *g, int value,
                                const void **data, assay_error *err)
{
    const size_t bytes = assay_type_bytes(&g->value[value].type);
    void *copy = assay_arena_alloc(g->arena, bytes ? bytes : 1);
    assay_program *p = NULL;
    assay_run *run = NULL;
    assay_status s = copy ? ASSAY_OK : assay_out_of_memory(err);

    if (!s)
        s = assay_graph_set_outputs(g, &value, 1, err);
    if (!s)
        s = assay_program_make_as_is(g, sample->scheme, false, &p, err);
    if (!s)
        s = assay_run_new(p, &run, err);
    if (!s)
        s = sample->fill(sample->user, g, run, err);
    if (!s)
        s = run_execute(run, NULL, false, NULL, err);
    if (!s && bytes)
        memcpy(copy, assay_run_data(run, value), bytes);
    assay_run_free(run);
    assay_program_free(p);
    *data = copy;
    return s;
}
