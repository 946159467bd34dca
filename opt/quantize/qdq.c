/* The grouping: whether the target computes a node on codes, and the rewrite. */
#include "opt/quantize/qdq.h"
#include "graph/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/core/blocks.h"
#include "opt/quantize/qdq_parts.h"
#include "schemes/node/admit.h"

/* ---- rewriting one group, undone when the target refuses ---- */

/* A node as it was. */
typedef struct saved {
    assay_node node;
    int in[ASSAY_QDQ_IN], out[ASSAY_QDQ_IN];
} saved;

static void save(const assay_grouping *q, int i, saved *s)
{
    s->node = q->g->node[i];
    memcpy(s->in, s->node.in, (size_t)s->node.n_in * sizeof *s->in);
    memcpy(s->out, s->node.out, (size_t)s->node.n_out * sizeof *s->out);
}

static void restore(assay_grouping *q, int i, const saved *s, const int *quantize)
{
    assay_node *n = &q->g->node[i];
    for (int k = 0; k < n->n_out; k++)
        q->g->value[n->out[k]].producer = quantize ? quantize[k] : -1;
    *n = s->node;
    memcpy(n->in, s->in, (size_t)n->n_in * sizeof *s->in);
    memcpy(n->out, s->out, (size_t)n->n_out * sizeof *s->out);
    for (int k = 0; k < n->n_out; k++)
        q->g->value[n->out[k]].producer = i;
}

static void set_output(assay_grouping *q, int i, int k, int value)
{
    assay_node *n = &q->g->node[i];
    q->g->value[n->out[k]].producer = -1;
    n->out[k] = value;
    q->g->value[value].producer = i;
}

static const assay_type *seen_type(const void *q, int value)
{
    return quantize_qdq_type_of(q, value);
}

/* Asks the target about node i as it stands. */
static bool target_can(assay_grouping *q, int i)
{
    const assay_node *n = &q->g->node[i];
    if (q->has_kernel && !q->has_kernel(n->op))
        return quantize_qdq_because(q, "there is no integer kernel for %s",
                                    assay_op_get(n->op)->name);
    if (!assay_scheme_fuses(q->scheme, assay_op_get(n->op)->name,
                            quantize_qdq_type_of(q, n->in[0])->elem.bits))
        return quantize_qdq_because(q, "the target computes %s of %d bits in float (unfused_ops)",
                                    assay_op_get(n->op)->name,
                                    quantize_qdq_type_of(q, n->in[0])->elem.bits);
    if (assay_node_has_narrow(n, seen_type, q) &&
        !assay_scheme_fuses_narrow(q->scheme, assay_op_get(n->op)->name))
        return quantize_qdq_because(q,
                                    "the target computes %s of fewer than 8 bits in float "
                                    "(narrow_unfused_ops)",
                                    assay_op_get(n->op)->name);
    if (assay_is_quantized(quantize_qdq_type_of(q, n->in[0])) &&
        assay_node_is_mixed(n, seen_type, q) &&
        !assay_scheme_fuses_mixed(q->scheme, assay_op_get(n->op)->name))
        return quantize_qdq_because(
            q, "the target computes %s between types in float (mixed_unfused_ops)",
            assay_op_get(n->op)->name);
    bool can = true;
    assay_error err;
    if (lower_needs_target(n) &&
        lower_target_computes(q->scheme, q->g, n, &can, q->why, sizeof q->why, &err))
        q->memory_short = true;
    return can;
}

/* Which inputs are codes that reach the output as they are: they need its parameters. */
static bool passes_codes(const assay_node *n, int slot)
{
    if (n->op == ASSAY_OP_SELECT)
        return slot > 0;
    if (n->op == ASSAY_OP_GATHER || n->op == ASSAY_OP_GATHER_ND)
        return slot == 0;
    return assay_op_get(n->op)->traits & ASSAY_T_MOVE;
}

/* Inputs that move get a rescale where their parameters are not the output's. *ok: the target can.
 */
static assay_status align_inputs(assay_grouping *q, int i, bool *ok, assay_error *err)
{
    assay_status status = ASSAY_OK;
    int out = q->g->node[i].out[0];
    for (int k = 0; k < q->g->node[i].n_in && *ok && !status; k++) {
        int v = q->g->node[i].in[k], id;
        if (!passes_codes(&q->g->node[i], k) ||
            quantize_same_codes(quantize_qdq_type_of(q, v), quantize_qdq_type_of(q, out)))
            continue;
        status = quantize_qdq_rescale(q, v, out, &id, err);
        if (status)
            break;
        int made = q->g->n_nodes - 1;
        *ok = target_can(q, made);
        q->dead[made] = !*ok;
        q->g->node[i].in[k] = id;
    }
    return status;
}

/* Windows over the whole image without padding are global pools. */
static void make_global(assay_grouping *q, int i)
{
    assay_node *n = &q->g->node[i];
    const assay_attr_pool *a = &n->attr.pool;
    const assay_type *x = quantize_qdq_type_of(q, n->in[0]);
    int first = a->layout == ASSAY_LAYOUT_NHWC ? 1 : 2, layout = a->layout;
    if (n->op != ASSAY_OP_AVG_POOL)
        return;
    for (int k = 0; k < a->kernel.n; k++)
        if (a->kernel.v[k] != x->dim[first + k] || a->pad_begin.v[k] || a->pad_end.v[k])
            return;
    n->op = ASSAY_OP_GLOBAL_AVG_POOL;
    n->attr = (assay_attrs){.layout = {.layout = layout}};
}

/* Movement keeps codes only when a pad's value is the zero point and outputs agree. */
static bool moves_exactly(assay_grouping *q, const assay_node *n)
{
    for (int k = 1; k < n->n_out; k++)
        if (!quantize_same_codes(quantize_qdq_type_of(q, n->out[0]),
                                 quantize_qdq_type_of(q, n->out[k])))
            return quantize_qdq_because(q, "its outputs have different parameters");
    return (n->op != ASSAY_OP_PAD || n->attr.pad.value == 0) ||
           quantize_qdq_because(q, "it pads with a value other than 0");
}

static assay_status commit(assay_grouping *q, int i, assay_qdq_group *group, assay_error *err)
{
    assay_node *n = &q->g->node[i];
    assay_status status = ASSAY_OK;
    saved was;
    bool ok = quantize_qdq_bias(q, n, group, &status, err);
    if (!status && group->float_norm)
        status = quantize_qdq_norm(q, n, group, err);
    if (status || !ok)
        return status;
    save(q, i, &was);
    memcpy(n->in, group->in, (size_t)n->n_in * sizeof *n->in);
    n->act_lo = group->lo;
    n->act_hi = group->hi;
    for (int k = 0; k < n->n_out; k++)
        set_output(q, i, k, q->g->node[group->quantize[k]].out[0]);
    make_global(q, i);
    lower_fit_attributes(q->scheme, q->g, n);
    ok = moves_exactly(q, n);
    if (ok)
        status = align_inputs(q, i, &ok, err); /* may move nodes: n is stale */
    ok = ok && !status && target_can(q, i);
    if (!ok) {
        restore(q, i, &was, group->quantize);
        return status;
    }
    for (int k = 0; k < q->g->node[i].n_out; k++)
        q->dead[group->quantize[k]] = true;
    for (int k = 0; k < group->n_fused; k++)
        q->dead[group->fused[k]] = true;
    q->report.n_fused += group->n_fused - group->n_narrowing;
    group->done = true;
    return ASSAY_OK;
}

/* A product of codes whose result stays in float: exact sums times the product of the scales. */
static assay_status commit_sums(assay_grouping *q, int i, assay_qdq_group *group, assay_error *err)
{
    assay_node *n = &q->g->node[i];
    int y = n->out[0], sums;
    assay_status status = ASSAY_OK;
    saved was;
    bool ok = quantize_qdq_bias(q, n, group, &status, err);
    if (status || !ok || quantize_qdq_type_of(q, group->in[0])->q.granularity != ASSAY_Q_TENSOR)
        return status;
    status = quantize_qdq_sums(q, y, &sums, err);
    if (status)
        return status;
    n = &q->g->node[i];
    save(q, i, &was);
    memcpy(n->in, group->in, (size_t)n->n_in * sizeof *n->in);
    set_output(q, i, 0, sums);
    if (!target_can(q, i)) {
        restore(q, i, &was, NULL);
        return ASSAY_OK;
    }
    group->done = true;
    return quantize_qdq_real_sums(q, i, y, err);
}

/* dequantize -> quantize: the same codes, or a change of parameters. */
static assay_status group_conversions(assay_grouping *q, int i, bool *done, assay_error *err)
{
    assay_node *n = &q->g->node[i];
    const assay_node *from = quantize_qdq_real_maker_of(q, n->in[0]);
    int out = n->out[0], in = from ? from->in[0] : -1;
    if (!from || from->op != ASSAY_OP_DEQUANTIZE || quantize_qdq_keeps_narrow(q, n->in[0]) ||
        quantize_qdq_type_of(q, in)->q.granularity != ASSAY_Q_TENSOR ||
        quantize_qdq_type_of(q, out)->q.granularity != ASSAY_Q_TENSOR)
        return ASSAY_OK;
    if (quantize_same_codes(quantize_qdq_type_of(q, in), quantize_qdq_type_of(q, out)) &&
        quantize_qdq_type_of(q, in)->elem.bits <= 16 && !quantize_qdq_is_output(q, out)) {
        assay_graph_replace_uses(q->g, out, in);
        q->dead[i] = *done = true;
        return ASSAY_OK;
    }
    assay_op op = n->op;
    const assay_attrs attr = n->attr;
    int was = n->in[0];
    n->op = ASSAY_OP_RESCALE;
    assay_attrs_defaults(ASSAY_ATTRS_none, &n->attr);
    n->in[0] = in;
    *done = target_can(q, i);
    if (q->memory_short)
        return assay_out_of_memory(err);
    if (!*done) {
        n->op = op;
        n->attr = attr;
        n->in[0] = was;
    }
    return ASSAY_OK;
}

/* ---- the driver ---- */

static bool is_product(assay_op op)
{
    return op == ASSAY_OP_FC || op == ASSAY_OP_MATMUL;
}

static assay_status group_node(assay_grouping *q, int i, assay_error *err)
{
    const assay_node *n = &q->g->node[i];
    assay_qdq_group group = {
        .lo = n->act_lo, .hi = n->act_hi, .float_bias = ASSAY_NO_VALUE, .done = false};
    assay_status status = ASSAY_OK;
    bool traits_state = assay_op_get(n->op)->traits & ASSAY_T_STATE;

    q->why[0] = '\0';
    if (n->op == ASSAY_OP_QUANTIZE)
        return group_conversions(q, i, &group.done, err);
    if (n->op == ASSAY_OP_DEQUANTIZE || traits_state || assay_node_is_quantized(q->g, n) ||
        !quantize_qdq_find_inputs(q, n, &group)) {
        return quantize_qdq_note(q, i, err);
    }
    if (quantize_qdq_find_outputs(q, n, &group))
        status = commit(q, i, &group, err);
    else if (is_product(n->op) && !group.clamped)
        status = commit_sums(q, i, &group, err);
    if (!status && q->memory_short)
        status = assay_out_of_memory(err);
    return status || group.done ? status : quantize_qdq_note(q, i, err);
}

/* By default ONNX Runtime converts images whose channel count is a multiple of 16 to a layout of
 * its own (NCHWc), in which pools add one tap after another. */
static void order_pools(assay_graph *g)
{
    for (int i = 0; i < g->n_nodes; i++) {
        assay_node *n = &g->node[i];
        if (n->op != ASSAY_OP_AVG_POOL)
            continue;
        const assay_type *x = &assay_node_in(g, n, 0)->type;
        if (assay_is_quantized(x) || (x->rank == 4 && x->dim[1] % 16 == 0))
            n->attr.pool.columns_first = false;
    }
}

assay_status quantize_group_qdq(assay_graph *g, const assay_scheme *scheme,
                                bool (*has_kernel)(assay_op op), assay_quantize_report *report,
                                assay_error *err)
{
    assay_grouping q = {.g = g, .scheme = scheme, .has_kernel = has_kernel, .max_in = ASSAY_QDQ_IN};
    assay_status status =
        assay_scheme_merges_pairs(scheme) ? quantize_qdq_merge_pairs(g, err) : ASSAY_OK;
    if (!status)
        status = quantize_qdq_begin(&q, err);
    int nodes = g->n_nodes, changed;

    for (int i = 0; i < nodes && !status && q.any; i++)
        if (!q.dead[i])
            status = group_node(&q, i, err);
    if (!status && q.any)
        status = assay_graph_compact(g, q.dead, err);
    if (!status && q.any)
        status = lower_eliminate_dead(g, &changed, err);
    if (!status)
        order_pools(g);
    if (!status)
        status = assay_graph_verify(g, err);
    if (!status)
        status = quantize_qdq_report(&q, err);
    if (report)
        *report = q.report;
    else
        quantize_report_free(&q.report);
    quantize_qdq_end(&q);
    return status;
}
