/* The state of a run: an arena, views into it, the runs of its bodies. */
#ifndef ASSAY_INTERP_RUN_STATE_H
#define ASSAY_INTERP_RUN_STATE_H

#include "interp/run/both.h"
#include "interp/run/program.h"

struct assay_run {
    const assay_program *program;
    char *arena;
    assay_view *view;      /* of all nodes: inputs, then outputs, node after node */
    int *first_view;       /* by node */
    int64_t *accumulators; /* room for the greatest output, made when first asked for */
    assay_both both;       /* used by engine `both` alone */
    assay_run **body;      /* by subgraph */
};

#endif
