/* Answers of a target file about nodes. */
#include "opt/target/target.h"

#include <stdio.h>
#include <stdlib.h>

#include "graph/core/buf.h"
#include "opt/lower/pass.h"

void target_free(assay_target *t)
{
    if (t)
        free(t->name);
    free(t);
}

const assay_target_rule *target_rule_of(const assay_target *t, assay_op op)
{
    return t->op[op].stated ? &t->op[op] : &t->others;
}

bool target_has_type(const assay_target_rule *r, assay_elem elem)
{
    for (int i = 0; i < r->n_types; i++)
        if (assay_elem_equal(r->type[i], elem))
            return true;
    return false;
}

bool target_has_params(const assay_target_rule *r, float scale, int32_t zero_point)
{
    return (!r->power_of_two || assay_is_power_of_two(scale)) &&
           (!r->zero_offset || zero_point == 0);
}

/* Codes of an activation: type and parameters. */
static bool allows_data(const assay_target_rule *r, const assay_value *v, char *why, size_t size)
{
    char elem[8];
    if (!assay_is_quantized(&v->type))
        return true;
    if (!target_has_type(r, v->type.elem)) {
        snprintf(why, size, "not in %s ('%.100s')", assay_elem_print(v->type.elem, elem), v->name);
        return false;
    }
    for (size_t i = 0; i < v->type.q.count; i++)
        if (!target_has_params(r, v->type.q.scale[i], v->type.q.zero_point[i])) {
            snprintf(why, size, "'%.100s' has scale %.9g and zero point %d, but it needs %s",
                     v->name, (double)v->type.q.scale[i], v->type.q.zero_point[i],
                     r->zero_offset && v->type.q.zero_point[i] != 0 ? "zero point 0"
                                                                    : "a power of two");
            return false;
        }
    return true;
}

static bool allows_weights(const assay_target_rule *r, const assay_value *w, char *why, size_t size)
{
    bool by_channel = w->type.q.granularity == ASSAY_Q_AXIS;
    bool by_tensor = w->type.q.granularity == ASSAY_Q_TENSOR;
    if (!assay_is_quantized(&w->type))
        return true;
    if ((r->per_tensor && !by_tensor) || (r->per_channel && !by_channel && w->type.rank > 1)) {
        snprintf(why, size, "it needs weights with scales per %s",
                 r->per_tensor ? "tensor" : "channel");
        return false;
    }
    for (size_t i = 0; i < w->type.q.count; i++)
        if (r->power_of_two && !assay_is_power_of_two(w->type.q.scale[i])) {
            snprintf(why, size, "weight scale %.9g of '%.100s' is not a power of two",
                     (double)w->type.q.scale[i], w->name);
            return false;
        }
    return true;
}

/* Data inputs and outputs in the parameters of output 0. */
static bool allows_params(const assay_graph *g, const assay_node *n, bool weighted, char *why,
                          size_t size)
{
    const assay_type *out = &g->value[n->out[0]].type;
    for (int i = 0; i < n->n_in + n->n_out; i++) {
        int v = i < n->n_in ? n->in[i] : n->out[i - n->n_in];
        if (v < 0 || (weighted && i > 0 && i < n->n_in) || !assay_is_quantized(&g->value[v].type))
            continue;
        if (!assay_elem_equal(g->value[v].type.elem, out->elem) ||
            !assay_qparams_equal(&g->value[v].type.q, &out->q)) {
            snprintf(why, size, "it needs one scale and zero point for '%.100s' and '%.100s'",
                     g->value[v].name, g->value[n->out[0]].name);
            return false;
        }
    }
    return true;
}

bool target_allows(const assay_target *t, const assay_graph *g, const assay_node *n, char *why,
                   size_t size)
{
    const assay_op_info *info = assay_op_get(n->op);
    const assay_target_rule *r = target_rule_of(t, n->op);
    bool weighted = info->traits & ASSAY_T_WEIGHTED;
    char detail[320];
    bool allowed = true;
    if (!assay_node_is_quantized(g, n) ||
        (!t->op[n->op].stated && (!lower_needs_target(n) || (info->traits & ASSAY_T_CONVERT))))
        return true;
    if (r->n_types == 0) {
        snprintf(why, size, "target '%s' %s", t->name,
                 t->op[n->op].stated ? "runs it in float only" : "does not list the op");
        return false;
    }
    for (int i = 0; i < n->n_in && allowed; i++) {
        /* the bias of a layer; gamma and beta of a normalization: in the scheme's own widths */
        if (n->in[i] < 0 || (weighted && i > 1) || (n->op == ASSAY_OP_LAYER_NORM && i > 0))
            continue;
        const assay_value *v = &g->value[n->in[i]];
        allowed = weighted && i == 1 ? allows_weights(r, v, detail, sizeof detail)
                                     : allows_data(r, v, detail, sizeof detail);
    }
    for (int i = 0; i < n->n_out && allowed; i++)
        allowed = allows_data(r, &g->value[n->out[i]], detail, sizeof detail);
    if (allowed && r->same_params)
        allowed = allows_params(g, n, weighted, detail, sizeof detail);
    if (!allowed)
        snprintf(why, size, "target '%s' does not run it so: %s", t->name, detail);
    return allowed;
}

assay_status target_verify(const assay_target *t, const assay_graph *g, assay_error *err)
{
    char why[512];
    for (int i = 0; i < g->n_nodes; i++)
        if (!target_allows(t, g, &g->node[i], why, sizeof why))
            return assay_fail(err, ASSAY_ERR_INPUT, "node '%.200s' (%s): %s", g->node[i].name,
                              assay_op_get(g->node[i].op)->name, why);
    for (int i = 0; i < g->n_subgraphs; i++) {
        assay_status s = target_verify(t, g->subgraph[i], err);
        if (s)
            return s;
    }
    return ASSAY_OK;
}
