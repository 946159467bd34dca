/* Report of the quantizer, for people: which nodes stayed in float and why, and every activation's
 * parameters. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "graph/memory.h"
#include "opt/quantize/plan.h"

void quantize_report_free(assay_quantize_report *r)
{
    for (int i = 0; i < r->n_float; i++) {
        free(r->float_node[i].node);
        free(r->float_node[i].op);
        free(r->float_node[i].reason);
    }
    for (int i = 0; i < r->n_choices; i++)
        free(r->choice[i].value);
    free(r->float_node);
    free(r->choice);
    for (int i = 0; i < r->n_weak; i++) {
        free(r->weak[i].node);
        free(r->weak[i].op);
    }
    free(r->weak);
    quantize_smoothing_free(&r->smoothing);
    *r = (assay_quantize_report){0};
}

assay_status quantize_report_note(assay_quantize_report *r, const assay_node *n, const char *why,
                                  assay_error *err)
{
    assay_float_node *f = realloc(r->float_node, ((size_t)r->n_float + 1) * sizeof *r->float_node);
    if (!f)
        return assay_out_of_memory(err);
    r->float_node = f;
    f += r->n_float++;
    f->node = strdup(n->name);
    f->op = strdup(assay_op_get(n->op)->name);
    f->reason = strdup(why);
    return f->node && f->op && f->reason ? ASSAY_OK : assay_out_of_memory(err);
}

static assay_status list_float(const assay_quantizer *q, assay_quantize_report *r, assay_error *err)
{
    r->float_node = calloc((size_t)q->g->n_nodes + 1, sizeof *r->float_node);
    if (!r->float_node)
        return assay_out_of_memory(err);
    for (int i = 0; i < q->g->n_nodes; i++) {
        r->n_integer += q->node[i].state == ASSAY_PLAN_INTEGER;
        r->n_fused += q->node[i].state == ASSAY_PLAN_FUSED;
        r->n_gptq += q->node[i].state == ASSAY_PLAN_INTEGER && q->g->node[i].op == ASSAY_OP_FC &&
                     q->value[q->g->node[i].in[0]].gptq_factor;
        if (q->node[i].state != ASSAY_PLAN_FLOAT)
            continue;
        assay_float_node *f = &r->float_node[r->n_float++];
        f->node = strdup(q->g->node[i].name);
        f->op = strdup(assay_op_get(q->g->node[i].op)->name);
        f->reason = strdup(q->node[i].reason);
        if (!f->node || !f->op || !f->reason)
            return assay_out_of_memory(err);
    }
    return ASSAY_OK;
}

static assay_status list_choices(const assay_quantizer *q, assay_quantize_report *r,
                                 assay_error *err)
{
    r->choice = calloc((size_t)q->g->n_values + 1, sizeof *r->choice);
    if (!r->choice)
        return assay_out_of_memory(err);
    for (int v = 0; v < q->g->n_values; v++) {
        const assay_plan_value *p = &q->value[v];
        if (!p->has_code || !p->calibrated)
            continue;
        const assay_profile_entry *e = profile_entry_of(q->profile, q->g, v);
        const assay_code code = quantize_plan_code(q, v);
        assay_value_choice *c = &r->choice[r->n_choices++];
        *c = (assay_value_choice){.value = strdup(q->g->value[v].name),
                                  .seen_min = (double)e->seen.min,
                                  .seen_max = (double)e->seen.max,
                                  .range = p->range,
                                  .elem = code.elem,
                                  .scale = code.scale,
                                  .zero_point = code.zero_point,
                                  .fixed = quantize_plan_is_fixed(q, v)};
        if (!c->value)
            return assay_out_of_memory(err);
    }
    return ASSAY_OK;
}

static assay_status list_weak(const assay_quantizer *q, assay_quantize_report *r, assay_error *err)
{
    r->weak = calloc((size_t)q->g->n_nodes + 1, sizeof *r->weak);
    if (!r->weak)
        return assay_out_of_memory(err);
    for (int i = 0; i < q->g->n_nodes; i++) {
        const double sqnr = quantize_steep_sqnr(q, i);
        if (!isfinite(sqnr))
            continue;
        assay_weak_node *w = &r->weak[r->n_weak++];
        *w = (assay_weak_node){strdup(q->g->node[i].name),
                               strdup(assay_op_get(q->g->node[i].op)->name), sqnr};
        if (!w->node || !w->op)
            return assay_out_of_memory(err);
    }
    return ASSAY_OK;
}

assay_status quantize_plan_report(const assay_quantizer *q, assay_quantize_report *r,
                                  assay_error *err)
{
    assay_status status = list_float(q, r, err);
    if (!status)
        status = list_choices(q, r, err);
    return status ? status : list_weak(q, r, err);
}
