/* Control flow: nodes whose work is done by subgraphs (op.def: if, while). */
#ifndef ASSAY_INTERP_FLOW_H
#define ASSAY_INTERP_FLOW_H

#include "interp/run/program.h"

/* A loop that runs longer than this ends the run with an error. */
#define ASSAY_LOOP_MAX 1000000

bool run_is_flow(const assay_node *n);

/* Runs a body once, whose inputs are in place. */
typedef assay_status run_body_fn(assay_run *body, assay_error *err);

/* Runs one node of control flow: the bodies are those of the run's program, `body` their runs,
 * `execute` what runs one. The call's views are the node's inputs and outputs. */
assay_status run_flow(assay_run *outer, assay_run *const *body, const assay_call *call,
                      run_body_fn *execute, assay_error *err);

#endif
