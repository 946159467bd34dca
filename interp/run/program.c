/* Programs: a graph bound to a scheme, planned; see program.h. */
#include "interp/run/program.h"
#include "graph/memory.h"

#include <stdlib.h>
#include <string.h>

#include "interp/fast/fast.h"
#include "interp/move/move.h"
#include "interp/run/check.h"
#include "interp/run/flow.h"
#include "schemes/mac/scheme.h"
#include "schemes/node/admit.h"
#include "schemes/node/spec.h"

#define COUNT_ROOM 40 /* kept free in a list for the count of the rest */

/* Adds a fault to the list in *all, or counts it when there is no room. */
static void add_fault(assay_error *all, const assay_node *n, const assay_error *fault, int *hidden)
{
    size_t used = strlen(all->text), room = sizeof all->text - COUNT_ROOM - used;
    char line[sizeof fault->text + 200];
    if (strstr(fault->text, n->name))
        snprintf(line, sizeof line, "%s", fault->text);
    else
        snprintf(line, sizeof line, "node '%.120s' (%s): %s", n->name, assay_op_get(n->op)->name,
                 fault->text);
    if (!all->status)
        all->status = fault->status;
    if (used > 0 && strlen(line) + 3 > room)
        ++*hidden;
    else
        snprintf(all->text + used, room, "%s%.*s", used ? "; " : "", (int)sizeof all->text, line);
}

const assay_scheme *run_scheme_of(const assay_program *p, int node)
{
    const assay_node *n = &p->graph->node[node];
    const bool mac = p->scheme && p->scheme->mac;
    const bool decodes = !p->scheme && n->op == ASSAY_OP_DEQUANTIZE &&
                         assay_node_in(p->graph, n, 0)->data; /* weights alone are codes */
    return decodes || (!mac && mac_converts(n->op)) ? &mac_conversions : p->scheme;
}

/* The kernel and the unit of one node. */
static assay_status prepare_node(assay_program *p, int i, assay_error *err)
{
    const assay_graph *g = p->graph;
    const assay_node *n = &g->node[i];
    assay_type in[ASSAY_SPEC_IN];
    assay_unit_spec spec;
    assay_status status;
    const assay_scheme *scheme = run_scheme_of(p, i);

    if (run_is_flow(n)) /* its bodies have programs of their own */
        return ASSAY_OK;
    p->kernel[i] = run_kernel_under(g, n, p->scheme && p->scheme->mac);
    if (!p->kernel[i].run)
        return assay_fail(err, ASSAY_ERR_UNSUPPORTED, "node '%s': no %s kernel for op %s", n->name,
                          assay_node_is_quantized(g, n) ? "integer" : "float",
                          assay_op_get(n->op)->name);
    if (p->kernel[i].run == move_kernel(n->op).run)
        return move_check_node(g, n, err);
    if (p->kernel[i].run == float_kernel(n->op).run)
        return float_check_float_node(g, n, err);
    if (!p->kernel[i].needs_unit)
        return ASSAY_OK;
    if (!scheme)
        return assay_fail(err, ASSAY_ERR_INPUT, "node '%s' (%s) is quantized: a scheme is needed",
                          n->name, assay_op_get(n->op)->name);
    const bool floats =
        p->kernel[i].run == ref_float_kernel(n->op).run && !assay_node_is_quantized(g, n);
    if ((!floats && (status = run_check_integer_node(g, n, err))) ||
        (status = run_check_vtable(g, n, p->kernel[i].calls, scheme->vt, err)))
        return status;
    assay_unit_spec_fill(g, n, in, &spec);
    status = scheme->vt->prepare(scheme, &spec, &p->unit[i], err);
    return !status ? run_check_accumulator(g, n, p->kernel[i].calls, scheme->vt, p->unit[i], err)
                   : status;
}

static assay_status prepare_nodes(assay_program *p, assay_error *err)
{
    assay_error all = {.status = ASSAY_OK};
    int hidden = 0;
    for (int i = 0; i < p->graph->n_nodes; i++) {
        assay_error fault = {.status = ASSAY_OK};
        assay_status status = prepare_node(p, i, &fault);
        fault.status = status;
        if (status == ASSAY_ERR_MEMORY)
            return assay_fail(err, status, "%s", fault.text);
        if (status)
            add_fault(&all, &p->graph->node[i], &fault, &hidden);
    }
    if (!all.status)
        return ASSAY_OK;
    if (hidden)
        snprintf(all.text + strlen(all.text), sizeof all.text - strlen(all.text), "; and %d more",
                 hidden);
    if (err)
        *err = all; /* one line: a list separated by semicolons */
    return all.status;
}

static assay_status prepare_bodies(assay_program *p, const assay_program_options *o,
                                   assay_error *err)
{
    assay_program_options inner = *o;
    assay_status status = ASSAY_OK;
    inner.keep_all = false;
    if (p->graph->n_subgraphs == 0)
        return ASSAY_OK;
    p->body = calloc((size_t)p->graph->n_subgraphs, sizeof *p->body);
    if (!p->body)
        return assay_out_of_memory_for(err, "%d subgraphs", p->graph->n_subgraphs);
    for (int i = 0; i < p->graph->n_subgraphs && !status; i++)
        status = run_program_make_with(p->graph->subgraph[i], p->scheme, &inner, &p->body[i], err);
    return status;
}

/* The plan knows the kernels of floats in floats; these are the ones in use. */
static void plan_floats(assay_program *p)
{
    size_t scratch = 0;
    for (int i = 0; i < p->graph->n_nodes; i++) {
        const assay_kernel *k = &p->kernel[i];
        const size_t bytes = k->scratch ? k->scratch(p->graph, &p->graph->node[i]) : 0;
        scratch = bytes > scratch ? bytes : scratch;
    }
    run_plan_set_scratch(p->plan, scratch);
}

/* What of the program the fast engine takes, and the scratch that the rest needs beside it. */
static assay_status prepare_fast(assay_program *p, const assay_program_options *o, assay_error *err)
{
    const assay_graph *g = p->graph;
    size_t scratch = 0;
    assay_fast_setup s = {.graph = g,
                          .threads = o->threads < 1                   ? 1
                                     : o->threads > ASSAY_MAX_THREADS ? ASSAY_MAX_THREADS
                                                                      : o->threads};
    assay_status status = fast_isa_choose(o->isa, &s.kernels, err);
    for (int i = 0; i < g->n_nodes && !status; i++) {
        const assay_kernel *k = &p->kernel[i];
        s.node = &g->node[i];
        s.unit = p->unit[i];
        s.vt = run_vtable_of(p, i);
        status = fast_prepare(&s, &p->fast[i], err);
        size_t ref = k->scratch ? k->scratch(g, s.node) : 0;
        size_t fast = p->fast[i] ? p->fast[i]->scratch : 0;
        if (p->fast[i] && o->engine == ASSAY_ENGINE_FAST)
            ref = 0;
        scratch = ref > scratch ? ref : scratch;
        scratch = fast > scratch ? fast : scratch;
    }
    if (!status && p->outputs_only && !fast_arrange(g, p->fast))
        status = assay_out_of_memory_for(err, "arranging %d values", g->n_values);
    if (!status)
        run_plan_set_scratch(p->plan, scratch);
    return status;
}

assay_status run_program_make_with(const assay_graph *g, const assay_scheme *s,
                                   const assay_program_options *o, assay_program **out,
                                   assay_error *err)
{
    *out = NULL;
    assay_status status = assay_graph_verify(g, err);
    if (status)
        return status;
    assay_program *p = calloc(1, sizeof *p);
    if (p) {
        p->graph = g;
        p->scheme = s;
        p->in_turn = s && assay_scheme_floats_in_turn(s);
        p->engine = o->engine;
        p->keep_all = o->keep_all;
        p->outputs_only = o->outputs_only && !o->keep_all && o->engine == ASSAY_ENGINE_FAST;
        p->kernel = calloc((size_t)g->n_nodes + 1, sizeof *p->kernel);
        p->unit = calloc((size_t)g->n_nodes + 1, sizeof *p->unit);
        p->fast = calloc((size_t)g->n_nodes + 1, sizeof *p->fast);
    }
    if (!p || !p->kernel || !p->unit || !p->fast)
        status = assay_out_of_memory_for(err, "a program of %d nodes", g->n_nodes);
    if (!status)
        status = prepare_nodes(p, err);
    if (!status)
        status = prepare_bodies(p, o, err);
    if (!status)
        status = run_plan_make(g, o->keep_all, &p->plan, err);
    if (!status)
        plan_floats(p);
    if (!status && o->engine != ASSAY_ENGINE_REF)
        status = prepare_fast(p, o, err);
    if (status) {
        assay_program_free(p);
        return status;
    }
    *out = p;
    return ASSAY_OK;
}

assay_status assay_program_make(const assay_graph *g, const assay_scheme *s, bool keep_all,
                                assay_program **out, assay_error *err)
{
    *out = NULL;
    assay_status status = s ? assay_scheme_admits_graph(s, g, err) : ASSAY_OK;
    return !status ? assay_program_make_as_is(g, s, keep_all, out, err) : status;
}

assay_status assay_program_make_as_is(const assay_graph *g, const assay_scheme *s, bool keep_all,
                                      assay_program **out, assay_error *err)
{
    const assay_program_options options = {.keep_all = keep_all};
    return run_program_make_with(g, s, &options, out, err);
}

bool run_engine_find(const char *name, enum assay_engine *engine)
{
    static const char *const names[] = {"ref", "fast", "both"};
    for (int i = 0; i < 3; i++)
        if (strcmp(name, names[i]) == 0) {
            *engine = (enum assay_engine)i;
            return true;
        }
    return false;
}

void assay_program_free(assay_program *p)
{
    if (!p)
        return;
    for (int i = 0; i < p->graph->n_nodes; i++) {
        if (p->unit && p->unit[i])
            run_vtable_of(p, i)->release(p->unit[i]);
        if (p->fast)
            fast_free(p->fast[i]);
    }
    for (int i = 0; p->body && i < p->graph->n_subgraphs; i++)
        assay_program_free(p->body[i]);
    run_plan_free(p->plan);
    free(p->body);
    free(p->fast);
    free(p->unit);
    free(p->kernel);
    free(p);
}
