/* Bodies of control flow: values are copied in and out, because each has an arena of its own. */
#include "interp/run/flow.h"

#include <assert.h>
#include <string.h>

bool run_is_flow(const assay_node *n)
{
    return assay_op_get(n->op)->traits & ASSAY_T_FLOW;
}

static void copy(void *to, const void *from, const assay_type *type)
{
    size_t bytes = assay_type_bytes(type);
    if (bytes)
        memcpy(to, from, bytes);
}

typedef struct body {
    const assay_graph *graph, *around;
    assay_run *run, *outer;
    run_body_fn *execute;
} body;

/* A node of control flow that runs. */
typedef struct flow {
    assay_run *outer, *const *runs; /* one run a body */
    const assay_call *call;
    run_body_fn *execute;
} flow;

static body body_of(const flow *f, int64_t number)
{
    const assay_graph *g = f->call->graph;
    assert(number >= 0 && number < g->n_subgraphs);
    return (body){g->subgraph[number], g, f->runs[number], f->outer, f->execute};
}

/* Variables that the body shares with the graph around it, into the body or out of it. */
static void share(const body *b, bool into)
{
    for (int v = 0; v < b->graph->n_values; v++) {
        const assay_value *value = &b->graph->value[v];
        int same = value->is_variable ? assay_graph_find_value(b->around, value->name) : -1;
        if (same < 0 || !b->around->value[same].is_variable)
            continue;
        void *inner = assay_run_data(b->run, v), *outer = assay_run_data(b->outer, same);
        copy(into ? inner : outer, into ? outer : inner, &value->type);
    }
}

/* Runs a body once on `in`, one view an input. */
static assay_status run_body(const body *b, const assay_view *in, assay_error *err)
{
    assay_status s;
    for (int i = 0; i < b->graph->n_inputs; i++)
        copy(assay_run_data(b->run, b->graph->input[i]), in[i].data, in[i].type);
    share(b, true);
    s = b->execute(b->run, err);
    if (!s)
        share(b, false);
    return s;
}

static void take_outputs(const body *b, const assay_view *out)
{
    for (int i = 0; i < b->graph->n_outputs; i++)
        copy(out[i].data, assay_run_data(b->run, b->graph->output[i]), out[i].type);
}

static assay_status run_if(const flow *f, assay_error *err)
{
    const assay_call *call = f->call;
    const uint8_t *condition = call->in[0].data; /* a caller's byte: not 0 is true */
    const assay_attrs *a = &call->node->attr;
    body b = body_of(f, *condition ? a->branch.on_true : a->branch.on_false);
    assay_status s = run_body(&b, call->in + 1, err);
    if (!s)
        take_outputs(&b, call->out);
    return s;
}

/* The loop's values stand in the node's outputs between two rounds. */
static assay_status run_while(const flow *f, assay_error *err)
{
    const assay_call *call = f->call;
    body test = body_of(f, call->node->attr.loop.condition);
    body b = body_of(f, call->node->attr.loop.body);
    for (int i = 0; i < call->node->n_out; i++)
        copy(call->out[i].data, call->in[i].data, call->in[i].type);
    for (long round = 0; round <= ASSAY_LOOP_MAX; round++) {
        assay_status s = run_body(&test, call->out, err);
        if (s)
            return s;
        if (!*(const uint8_t *)assay_run_data(test.run, test.graph->output[0]))
            return ASSAY_OK;
        if ((s = run_body(&b, call->out, err)))
            return s;
        take_outputs(&b, call->out);
    }
    return assay_fail(err, ASSAY_ERR_LIMIT, "node '%s' (while): still looping after %d iterations",
                      call->node->name, ASSAY_LOOP_MAX);
}

assay_status run_flow(assay_run *outer, assay_run *const *runs, const assay_call *call,
                      run_body_fn *execute, assay_error *err)
{
    const flow f = {outer, runs, call, execute};
    return call->node->op == ASSAY_OP_IF ? run_if(&f, err) : run_while(&f, err);
}
