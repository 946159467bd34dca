/* Control flow: nodes whose work is done by subgraphs (op.def: if, while). */
#ifndef ASSAY_INTERP_FLOW_H
#define ASSAY_INTERP_FLOW_H

#include "interp/run/program.h"

/* A loop that runs longer than this ends the run with an error. */
#define ASSAY_LOOP_MAX 1000000

bool run_is_flow(const assay_node *n);

/* Runs one node of control flow: the bodies are those of the run's program, `body` their runs. The
 * call's views are the node's inputs and outputs. */
assay_status run_flow(assay_run *outer, assay_run *const *body, const assay_call *call,
                      assay_error *err);

#endif
