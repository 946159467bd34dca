/* Evaluating one node whose inputs are constants: what constant folding asks of the engines; and a
 * whole graph once: what proofs ask of them. */
#include "interp/run/evaluate.h"
#include "graph/memory.h"

#include <stdlib.h>
#include <string.h>

#include "interp/kernel/kernel.h"
#include "interp/move/move.h"
#include "interp/run/program.h"
#include "opt/lower/opt.h"
#include "schemes/mac/scheme.h"
#include "schemes/node/spec.h"

static assay_status run_node(const assay_graph *g, const assay_node *n, const assay_kernel *kernel,
                             assay_unit *unit, void *const *out, assay_view *views,
                             assay_error *err)
{
    assay_call call = {.graph = g,
                       .node = n,
                       .in = views,
                       .out = views + n->n_in,
                       .vt = unit ? mac_conversions.vt : NULL, /* of floats: none's order */
                       .unit = unit};

    for (int i = 0; i < n->n_in; i++) {
        const assay_value *v = assay_node_in(g, n, i);
        if (!v)
            continue;
        if (!v->data && assay_shape_count(&v->type) > 0)
            return assay_fail(err, ASSAY_ERR_INTERNAL, "node '%s': input '%s' is not a constant",
                              n->name, v->name);
        views[i] = (assay_view){(void *)(uintptr_t)v->data, &v->type};
    }
    for (int i = 0; i < n->n_out; i++)
        views[n->n_in + i] = (assay_view){out[i], &assay_node_out(g, n, i)->type};
    size_t bytes = kernel->scratch ? kernel->scratch(g, n) : 0;
    if (bytes > 0 && !(call.scratch = malloc(bytes)))
        return assay_out_of_memory_for(err, "node '%s': %zu bytes of scratch", n->name, bytes);
    assay_status s = kernel->run(&call, err);
    free(call.scratch);
    return s;
}

static assay_status conversion(const assay_graph *g, const assay_node *n, assay_unit **unit,
                               assay_error *err)
{
    assay_type in[ASSAY_SPEC_IN];
    assay_unit_spec spec;
    assay_unit_spec_fill(g, n, in, &spec);
    return mac_conversions.vt->prepare(&mac_conversions, &spec, unit, err);
}

assay_status run_evaluate_node(const assay_graph *g, const assay_node *n, void *const *out,
                               assay_error *err)
{
    const bool codes = n->op == ASSAY_OP_DEQUANTIZE, converts = codes || mac_converts(n->op);
    assay_kernel kernel = codes      ? ref_kernel(n->op)
                          : converts ? ref_float_kernel(n->op)
                                     : float_kernel(n->op);
    assay_unit *unit = NULL;

    if (!kernel.run)
        return assay_fail(err, ASSAY_ERR_UNSUPPORTED, "node '%s': the float engine has no %s",
                          n->name, assay_op_get(n->op)->name);
    assay_view *views = calloc((size_t)(n->n_in + n->n_out), sizeof *views);
    if (!views)
        return assay_out_of_memory_for(err, "node '%s': %d views", n->name, n->n_in + n->n_out);
    assay_status s = kernel.run == move_kernel(n->op).run ? move_check_node(g, n, err) : ASSAY_OK;
    if (!s && converts)
        s = conversion(g, n, &unit, err);
    if (!s)
        s = run_node(g, n, &kernel, unit, out, views, err);
    if (unit)
        mac_conversions.vt->release(unit);
    free(views);
    return s;
}

assay_status run_whole_graph(const assay_graph *g, const assay_scheme *s, const void *const *in,
                             void *const *out, assay_error *err)
{
    assay_program *p = NULL;
    assay_run *r = NULL;
    assay_status status = assay_program_make_as_is(g, s, true, &p, err);
    if (!status)
        status = assay_run_new(p, &r, err);
    for (int i = 0; i < g->n_inputs && !status; i++)
        memcpy(assay_run_data(r, g->input[i]), in[i],
               assay_type_bytes(&g->value[g->input[i]].type));
    if (!status)
        status = run_execute(r, NULL, false, NULL, err);
    for (int i = 0; i < g->n_outputs && !status; i++)
        memcpy(out[i], assay_run_data(r, g->output[i]),
               assay_type_bytes(&g->value[g->output[i]].type));
    assay_run_free(r);
    assay_program_free(p);
    return status;
}

assay_status run_quantize_for_units(const assay_graph *g, const assay_scheme *s, bool folds,
                                    assay_graph **out, assay_quantize_report *report,
                                    assay_error *err)
{
    int changed;
    assay_status status = quantize_for_units(g, s, out, report, err);
    if (!status && folds)
        status = lower_fold_codes(*out, run_evaluate_node, &changed, err);
    if (status) {
        assay_graph_free(*out);
        *out = NULL;
    }
    return status;
}
