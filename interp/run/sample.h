/* A value that determines a model's shapes, computed for one sample (graph/core/sample.h). */
#ifndef ASSAY_INTERP_RUN_SAMPLE_H
#define ASSAY_INTERP_RUN_SAMPLE_H

#include "graph/core/graph.h"
#include "interp/assay.h"

typedef struct run_sample {
    const assay_scheme *scheme; /* of integer nodes; NULL: none */
    /* Writes the sample to the inputs of a run of `g`, what there is of the graph by then. */
    assay_status (*fill)(void *user, const assay_graph *g, assay_run *run, assay_error *err);
    void *user;
} run_sample;

/* Runs what there is of the graph, whose outputs become `value` alone; *data, in the graph's
 * arena, are that value's elements. */
assay_status run_sample_compute(const run_sample *sample, assay_graph *g, int value,
                                const void **data, assay_error *err);

#endif
