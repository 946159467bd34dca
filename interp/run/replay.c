/* One node of a program on inputs that are given. */
#include <stdlib.h>

#include "graph/memory.h"
#include "interp/fast/fast.h"
#include "interp/run/check.h"
#include "interp/run/flow.h"
#include "interp/run/program.h"

static const assay_type absent = {.elem = {.kind = ASSAY_KIND_NONE}};

static assay_status look(const assay_graph *g, const assay_node *n, const void *const *in,
                         void *const *out, assay_view *view, assay_error *err)
{
    for (int i = 0; i < n->n_in; i++) {
        const assay_value *v = assay_node_in(g, n, i);
        const void *data = v && v->data && !v->is_variable ? v->data : in[i];
        if (v && !data)
            return assay_fail(err, ASSAY_ERR_INPUT, "node '%s': input '%s' is not given", n->name,
                              v->name);
        view[i] = v ? (assay_view){(void *)(uintptr_t)data, &v->type} : (assay_view){NULL, &absent};
    }
    for (int i = 0; i < n->n_out; i++)
        view[n->n_in + i] = (assay_view){out[i], &assay_node_out(g, n, i)->type};
    return ASSAY_OK;
}

static assay_status compute(const assay_program *p, int node, assay_call *call, assay_error *err)
{
    const assay_fast *fast = p->engine == ASSAY_ENGINE_FAST ? p->fast[node] : NULL;
    const assay_kernel *k = &p->kernel[node];
    const size_t bytes = fast ? fast->scratch : k->scratch ? k->scratch(p->graph, call->node) : 0;
    assay_status status;
    call->scratch = fast_alloc(bytes + 64);
    if (!call->scratch)
        return assay_out_of_memory_for(err, "node '%s': %zu bytes of scratch", call->node->name,
                                       bytes);
    status = fast ? fast->run(fast, call, err) : k->run(call, err);
    free(call->scratch);
    return status ? status : run_check_call(p, call, err);
}

assay_status run_replay_told(const assay_program *p, int node, const void *const *in,
                             void *const *out, int64_t *accumulators,
                             const struct assay_teller *teller, assay_error *err)
{
    if (node < 0 || node >= p->graph->n_nodes)
        return assay_fail(err, ASSAY_ERR_INPUT, "node %d of a network of %d nodes", node,
                          p->graph->n_nodes);
    const assay_node *n = &p->graph->node[node];
    if (assay_op_get(n->op)->traits & ASSAY_T_STATE)
        return assay_fail(err, ASSAY_ERR_UNSUPPORTED,
                          "node '%s' (%s) has state or bodies and cannot be replayed alone",
                          n->name, assay_op_get(n->op)->name);
    assay_view *view = calloc((size_t)(n->n_in + n->n_out) + 1, sizeof *view);
    if (!view)
        return assay_out_of_memory_for(err, "node '%s'", n->name);
    const bool sums =
        p->scheme && run_has_sums(n, p->kernel[node].calls, p->scheme->vt, p->unit[node]);
    assay_call call = {.graph = p->graph,
                       .node = n,
                       .in = view,
                       .out = view + n->n_in,
                       .vt = run_vtable_of(p, node),
                       .unit = p->unit[node],
                       .in_turn = p->in_turn,
                       .accumulators = sums ? accumulators : NULL,
                       .teller = teller};
    assay_status status = look(p->graph, n, in, out, view, err);
    if (!status)
        status = compute(p, node, &call, err);
    free(view);
    return status;
}

assay_status assay_replay_node(const assay_program *p, int node, const void *const *in,
                               void *const *out, int64_t *accumulators, assay_error *err)
{
    return run_replay_told(p, node, in, out, accumulators, NULL, err);
}
