/* Nodes that a target computes on codes, by the types around them; see admit.h. */
#include "schemes/node/admit.h"

#include <math.h>

#include "graph/core/type.h"
#include "schemes/record/data.h"

bool assay_node_has_narrow(const assay_node *n, assay_seen_type *type, const void *of)
{
    for (int i = 0; i < n->n_in; i++) {
        const assay_type *t = n->in[i] >= 0 ? type(of, n->in[i]) : NULL;
        if (t && assay_is_quantized(t) && t->elem.bits < 8)
            return true;
    }
    return false;
}

static bool same_elem(assay_elem a, assay_elem b)
{
    return a.bits == b.bits && a.is_signed == b.is_signed;
}

bool assay_node_is_mixed(const assay_node *n, assay_seen_type *type, const void *of)
{
    const bool product =
        (assay_op_get(n->op)->traits & ASSAY_T_WEIGHTED) || n->op == ASSAY_OP_MATMUL;
    const assay_elem x = type(of, n->in[0])->elem;
    for (int i = 1; i < (product ? 2 : n->n_in); i++) {
        const assay_type *t = n->in[i] >= 0 ? type(of, n->in[i]) : NULL;
        if (t && assay_is_quantized(t) &&
            (product ? x.is_signed && !t->elem.is_signed : !same_elem(x, t->elem)))
            return true;
    }
    for (int k = 0; k < n->n_out; k++) {
        const assay_type *t = type(of, n->out[k]);
        if (assay_is_quantized(t) && !same_elem(x, t->elem))
            return true;
    }
    return false;
}

static const assay_type *type_in(const void *graph, int value)
{
    return &((const assay_graph *)graph)->value[value].type;
}

/* Whether the scales of the operands, of mul their product, are within the ratios to the result's
 * that the op's claim is limited to. */
static bool claims_ratios(const assay_scheme *s, const assay_graph *g, const assay_node *n)
{
    if (!s->record || !assay_data(s)->exact_ratio[n->op].limited)
        return true;
    const assay_ratios *k = &assay_data(s)->exact_ratio[n->op];
    const float out = type_in(g, n->out[0])->q.count == 1 ? type_in(g, n->out[0])->q.scale[0] : 0;
    float product = 1;
    for (int i = 0; i < n->n_in; i++) {
        const assay_type *t = n->in[i] >= 0 ? type_in(g, n->in[i]) : NULL;
        if (!t || t->q.count != 1)
            continue;
        product = n->op == ASSAY_OP_MUL ? product * t->q.scale[0] : t->q.scale[0];
        if ((n->op != ASSAY_OP_MUL || i == 1) &&
            !(product / out >= ldexpf(1, k->from) && product / out < ldexpf(1, k->to)))
            return false;
    }
    return true;
}

/* Whether a value's numbers were multiplied by a factor computed from them (dynamic_params). */
static bool is_scaled_at_run_time(const assay_graph *g, int value)
{
    const int from = g->value[value].producer;
    if (from < 0)
        return false;
    for (int i = 0; i < g->node[from].n_in; i++) {
        const int factor = g->node[from].in[i];
        const int by = factor >= 0 ? g->value[factor].producer : -1;
        if (by >= 0 && g->node[by].op == ASSAY_OP_DYNAMIC_PARAMS)
            return true;
    }
    return false;
}

/* Whether all operands but the first are constants, of quantize its scale, if the op's claim is
 * limited to such nodes. */
static bool claims_constants(const assay_scheme *s, const assay_graph *g, const assay_node *n)
{
    if (!s->record || !assay_data(s)->exact_constant[n->op])
        return true;
    if (n->op == ASSAY_OP_QUANTIZE)
        return !is_scaled_at_run_time(g, n->in[0]);
    for (int i = 1; i < n->n_in; i++) {
        const assay_value *v = n->in[i] >= 0 ? &g->value[n->in[i]] : NULL;
        if (v && (!v->data || v->is_variable))
            return false;
    }
    return true;
}

bool assay_scheme_claims_types(const assay_scheme *s, const assay_graph *g, const assay_node *n)
{
    const char *op = assay_op_get(n->op)->name;
    const assay_type *x = n->n_in > 0 && n->in[0] >= 0 ? type_in(g, n->in[0]) : NULL;
    if (!x || !assay_is_quantized(x))
        return claims_constants(s, g, n);
    return assay_scheme_fuses(s, op, x->elem.bits) &&
           (!assay_node_has_narrow(n, type_in, g) || assay_scheme_fuses_narrow(s, op)) &&
           (!assay_node_is_mixed(n, type_in, g) ||
            (assay_scheme_fuses_mixed(s, op) && assay_scheme_is_exact_mixed(s, op))) &&
           claims_ratios(s, g, n) && claims_constants(s, g, n);
}
