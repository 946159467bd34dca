/* One run of a program: the loop over the nodes. */
#include <stdio.h>
#include <stdlib.h>

#include "graph/memory.h"
#include "interp/fast/fast.h"
#include "interp/run/check.h"
#include "interp/run/flow.h"
#include "interp/run/state.h"

static assay_status make_accumulators(assay_run *r, assay_error *err)
{
    const assay_graph *g = r->program->graph;
    size_t max = 1;
    for (int i = 0; i < g->n_nodes; i++) {
        size_t count = (size_t)assay_shape_count(&assay_node_out(g, &g->node[i], 0)->type);
        max = count > max ? count : max;
    }
    r->accumulators = calloc(max, sizeof *r->accumulators);
    return r->accumulators ? ASSAY_OK : assay_out_of_memory_for(err, "%zu accumulators", max);
}

static assay_status run_body(assay_run *body, assay_error *err)
{
    return run_execute(body, NULL, false, NULL, err);
}

/* One node by the program's engine. */
static assay_status run_node(assay_run *r, int node, assay_call *call, assay_error *err)
{
    const assay_program *p = r->program;
    const assay_fast *fast = p->fast[node];
    if (run_is_flow(call->node))
        return run_flow(r, r->body, call, run_body, err);
    if (!fast)
        return p->kernel[node].run(call, err);
    if (p->engine == ASSAY_ENGINE_BOTH)
        return run_both_engines(&r->both, fast, &p->kernel[node], call, err);
    return fast->run(fast, call, err);
}

assay_status run_check_call(const assay_program *p, const assay_call *call, assay_error *err)
{
    const char *node = call->node->name, *out = assay_node_out(p->graph, call->node, 0)->name;
    if (call->trapped)
        return assay_fail(err, ASSAY_ERR_SCHEME,
                          "node '%s': the accumulator of element %lld of '%s' left its range, "
                          "which scheme '%s' refuses",
                          node, (long long)call->trapped_at, out, p->scheme->name);
    if (!call->refused)
        return ASSAY_OK;
    if (call->refused_codes == 0)
        return assay_fail(err, ASSAY_ERR_SCHEME,
                          "node '%s': the %s %lld of element %lld of '%s' is one that "
                          "scheme '%s' refuses to rescale",
                          node, call->refused_row ? "operand" : "accumulator",
                          (long long)call->refused_sum, (long long)call->refused_at, out,
                          p->scheme->name);
    char second[20] = "";
    if (call->refused_codes > 1)
        snprintf(second, sizeof second, " and %d", call->refused_code[1]);
    return assay_fail(err, ASSAY_ERR_SCHEME,
                      "node '%s': element %lld of '%s' is made of the code%s %d%s, which scheme "
                      "'%s' refuses to rescale",
                      node, (long long)call->refused_at, out, *second ? "s" : "",
                      call->refused_code[0], second, p->scheme->name);
}

/* Computes a node and says what stopped it; *sums: its accumulators, NULL where it has none. */
static assay_status execute_node(assay_run *r, int i, bool want_accumulators, const int64_t **sums,
                                 assay_error *err)
{
    const assay_program *p = r->program;
    const assay_node *n = &p->graph->node[i];
    const bool has_sums = want_accumulators && p->scheme &&
                          run_has_sums(n, p->kernel[i].calls, p->scheme->vt, p->unit[i]);
    assay_call call = {
        .graph = p->graph,
        .node = n,
        .in = r->view + r->first_view[i],
        .out = r->view + r->first_view[i] + n->n_in,
        .vt = run_vtable_of(p, i),
        .unit = p->unit[i],
        .in_turn = p->in_turn,
        .scratch = r->arena + p->plan->scratch_offset,
        .accumulators = has_sums ? r->accumulators : NULL,
    };
    *sums = call.accumulators;
    assay_status status = run_node(r, i, &call, err);
    return !status ? run_check_call(p, &call, err) : status;
}

assay_status run_execute(assay_run *r, assay_observer observe, bool want_accumulators, void *user,
                         assay_error *err)
{
    const assay_program *p = r->program;
    if (p->outputs_only && want_accumulators)
        return assay_fail(err, ASSAY_ERR_INTERNAL,
                          "a program made without keep_all has no accumulators to show");
    if (want_accumulators && !r->accumulators) {
        assay_status status = make_accumulators(r, err);
        if (status)
            return status;
    }
    for (int i = 0; i < p->graph->n_nodes; i++) {
        const int64_t *sums;
        assay_status status = execute_node(r, i, want_accumulators, &sums, err);
        if (!status && observe)
            status = observe(user, r, i, sums, err);
        if (status)
            return status;
    }
    return ASSAY_OK;
}

assay_status run_execute_some(assay_run *r, const bool *needed, int n, assay_error *err)
{
    const int64_t *unused;
    assay_status status = ASSAY_OK;
    for (int i = 0; i < n && !status; i++)
        if (needed[i])
            status = execute_node(r, i, false, &unused, err);
    return status;
}
