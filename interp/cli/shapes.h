/* Shapes that depend on data: such a model is loaded for one sample, that of --input. */
#ifndef ASSAY_INTERP_CLI_SHAPES_H
#define ASSAY_INTERP_CLI_SHAPES_H

#include "graph/core/sample.h"
#include "interp/cli/session.h"

typedef struct cli_shapes {
    const cli_args *args;
    bool used; /* the graph holds for that sample */
} cli_shapes;

/* The sample to load with, empty without --input. *c must outlive the loading. */
assay_sample cli_shapes_sample(cli_shapes *c, const cli_args *a);
/* After loading: trouble when there is more than one sample for a graph that holds for one only. */
int cli_shapes_check(const cli_shapes *c, const char *model, const assay_graph *g);

#endif
