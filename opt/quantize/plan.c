/* Plan of the nodes that are computed in integers and the activations that are fused. */
#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "graph/memory.h"
#include "opt/quantize/plan.h"

static bool is_real(const assay_value *v)
{
    return v->type.elem.kind == ASSAY_KIND_F32;
}

bool quantize_plan_is_data(const assay_quantizer *q, const assay_node *n, int slot)
{
    int v = n->in[slot];
    return v >= 0 && is_real(&q->g->value[v]) && !lower_is_constant(q->g, v);
}

const assay_target_rule *quantize_plan_rule(const assay_quantizer *q, assay_op op)
{
    static const assay_target_rule none = {0};
    return q->options->target ? target_rule_of(q->options->target, op) : &none;
}

bool quantize_plan_keeps_params(const assay_quantizer *q, const assay_node *n)
{
    if (lower_needs_target(n) && quantize_plan_rule(q, n->op)->same_params)
        return true;
    const assay_op_info *info = assay_op_get(n->op);
    if (info->traits & (ASSAY_T_MOVE | ASSAY_T_SELECTS) || quantize_plan_is_state(n))
        return true;
    return n->op == ASSAY_OP_RESIZE || n->op == ASSAY_OP_TOPK ||
           assay_scheme_same_params(q->scheme, info->name);
}

/* Does the node work on real values at all? */
static bool touches_reals(const assay_graph *g, const assay_node *n)
{
    for (int i = 0; i < n->n_in; i++)
        if (n->in[i] >= 0 && is_real(&g->value[n->in[i]]))
            return true;
    for (int i = 0; i < n->n_out; i++)
        if (is_real(&g->value[n->out[i]]))
            return true;
    return false;
}

static bool has_variable(const assay_graph *g, const assay_node *n)
{
    for (int i = 0; i < n->n_in; i++)
        if (n->in[i] >= 0 && g->value[n->in[i]].is_variable)
            return true;
    for (int i = 0; i < n->n_out; i++)
        if (g->value[n->out[i]].is_variable)
            return true;
    return false;
}

/* Codes have neither infinity nor NaN. Weights with one are an error, not a reason for float. */
static bool is_finite(const assay_quantizer *q, int v)
{
    const assay_value *value = v < 0 ? NULL : &q->g->value[v];
    if (!value || !is_real(value) || q->value[v].floor > -INFINITY)
        return true;
    if (!lower_is_constant(q->g, v)) {
        const assay_profile_entry *e = profile_entry_of(q->profile, q->g, v);
        return !e || (e->seen.nan == 0 && e->seen.inf == 0 && q->value[v].reach[0] > -INFINITY);
    }
    for (int64_t i = 0, count = assay_shape_count(&value->type); i < count; i++)
        if (!isfinite(((const float *)value->data)[i]))
            return false;
    return true;
}

static bool all_finite(const assay_quantizer *q, const assay_node *n)
{
    bool weighted = assay_op_get(n->op)->traits & ASSAY_T_WEIGHTED;
    for (int i = 0; i < (weighted ? 1 : n->n_in); i++)
        if (!is_finite(q, n->in[i]))
            return false;
    for (int i = 0; i < n->n_out; i++)
        if (!is_finite(q, n->out[i]))
            return false;
    return true;
}

/* Why the profile keeps node n from being an integer node, or NULL; in the plan's arena. */
static const char *not_profiled(const assay_quantizer *q, const assay_node *n)
{
    for (int i = 0; i < n->n_in + n->n_out; i++) {
        const int v = i < n->n_in ? n->in[i] : n->out[i - n->n_in];
        char text[200];
        if (v < 0 || !is_real(&q->g->value[v]) || lower_is_constant(q->g, v) ||
            q->g->value[v].is_variable || profile_entry_of(q->profile, q->g, v))
            continue;
        snprintf(text, sizeof text, "the profile has no value '%.120s'", q->g->value[v].name);
        const char *kept = assay_arena_string(q->arena, text);
        return kept ? kept : "the profile lacks one of its values";
    }
    return NULL;
}

/* Why the node cannot be an integer node whatever the target, or NULL. */
static const char *obstacle(const assay_quantizer *q, const assay_node *n)
{
    const assay_op_info *info = assay_op_get(n->op);
    const assay_graph *g = q->g;
    const char *unseen = quantize_unseen_mask(q, n);
    if (unseen)
        return unseen;
    if (q->options->has_kernel && !q->options->has_kernel(n->op))
        return "there is no integer kernel for this op";
    if (n->op == ASSAY_OP_CAST)
        return "a cast takes the real value, not the code";
    if (n->op == ASSAY_OP_PAD && n->attr.pad.mode == ASSAY_PAD_CONSTANT && n->attr.pad.value != 0 &&
        n->attr.pad.value != -INFINITY)
        return "an integer pad is filled with 0 or -inf only";
    if (!all_finite(q, n))
        return "it reads or writes values that are infinite or NaN";
    if (quantize_plan_is_state(
            n)) /* signs that data decide are not known of what begins as zeros */
        return q->caps.activation_zero_point || q->activation.elem.is_signed
                   ? NULL
                   : "values kept between runs are not quantized to unsigned codes";
    if (info->traits & ASSAY_T_STATE || has_variable(g, n))
        return "values kept between runs are not quantized";
    if (info->traits & ASSAY_T_WEIGHTED) {
        if (!lower_is_f32_constant(g, n->in[1]))
            return "its weights are not constant";
        if (n->n_in > 2 && n->in[2] >= 0 && !lower_is_f32_constant(g, n->in[2]))
            return "its bias is not constant";
    }
    if (info->traits & ASSAY_T_MOVE) /* of constants too: an embedding table */
        return NULL;
    for (int i = 0; i < n->n_in; i++)
        if (quantize_plan_is_data(q, n, i))
            return NULL;
    return "it has no input that is a real value and not constant";
}

static bool matches(const assay_graph *g, const assay_node *n, const assay_precision_rule *r)
{
    if (r->exact)
        return strcmp(r->pattern, n->name) == 0;
    return fnmatch(r->pattern, n->name, 0) == 0 ||
           fnmatch(r->pattern, assay_op_get(n->op)->name, 0) == 0 ||
           fnmatch(r->pattern, assay_node_out(g, n, 0)->name, 0) == 0;
}

static bool is_ruled(const assay_quantizer *q, const assay_node *n)
{
    return q->options->target && (q->options->target->op[n->op].stated || lower_needs_target(n));
}

/* The element kind that the options ask for; the default is the target file's first or, for what
 * only indexes, that of the node in front; without a target file the scheme's. */
static assay_elem wanted_elem(const assay_quantizer *q, const assay_node *n)
{
    n = quantize_plan_first_of_state(q, n);
    for (int i = 0; i < q->options->n_precision; i++)
        if (matches(q->g, n, &q->options->precision[i]))
            return q->options->precision[i].elem;
    const assay_target_rule *r = quantize_plan_rule(q, n->op);
    if (is_ruled(q, n))
        return r->n_types == 0 || target_has_type(r, q->activation.elem) ? q->activation.elem
                                                                         : r->type[0];
    int made_by = q->options->target && n->in[0] >= 0 ? q->g->value[n->in[0]].producer : -1;
    return made_by >= 0 && q->node[made_by].state == ASSAY_PLAN_INTEGER ? q->node[made_by].elem
                                                                        : q->activation.elem;
}

/* Why the target file does not allow node n in `elem`, or NULL; in the plan's arena. */
static const char *not_offered(const assay_quantizer *q, const assay_node *n, assay_elem elem)
{
    const assay_target_rule *r = quantize_plan_rule(q, n->op);
    char text[200], kind[8];
    int at;
    if (!is_ruled(q, n) || target_has_type(r, elem))
        return NULL;
    at = snprintf(text, sizeof text, "target '%s' ", q->options->target->name);
    if (!q->options->target->op[n->op].stated && r->n_types == 0)
        snprintf(text + at, sizeof text - (size_t)at, "does not list %s",
                 assay_op_get(n->op)->name);
    else if (r->n_types == 0)
        snprintf(text + at, sizeof text - (size_t)at, "runs %s in float only",
                 assay_op_get(n->op)->name);
    else
        snprintf(text + at, sizeof text - (size_t)at, "does not run %s in %s",
                 assay_op_get(n->op)->name, assay_elem_print(elem, kind));
    const char *kept = assay_arena_string(q->arena, text);
    return kept ? kept : "the target does not offer it";
}

/* Why the scheme does not compute node i well on unsigned codes, or NULL. */
static const char *needs_signs(const assay_quantizer *q, int i)
{
    return !q->node[i].elem.is_signed && q->caps.activation_zero_point &&
                   quantize_plan_wants_no_zero_point(q, i)
               ? "its sums count the zero point once too often, and unsigned codes need one"
               : NULL;
}

static assay_status check_rules(const assay_quantizer *q, assay_error *err)
{
    for (int i = 0; i < q->options->n_calibrate; i++) {
        const char *pattern = q->options->calibrate[i].pattern;
        bool used = false;
        for (int v = 0; v < q->g->n_values && !used; v++)
            used = !q->g->value[v].data && fnmatch(pattern, q->g->value[v].name, 0) == 0;
        if (!used)
            return assay_fail(err, ASSAY_ERR_INPUT,
                              "calibration of '%.200s': no value has such a name", pattern);
    }
    for (int i = 0; i < q->options->n_precision; i++) {
        const assay_precision_rule *r = &q->options->precision[i];
        bool used = false;
        if (r->elem.kind != ASSAY_KIND_F32 &&
            (r->elem.kind != ASSAY_KIND_INT || r->elem.bits < 2 || r->elem.bits > 16))
            return assay_fail(err, ASSAY_ERR_INPUT,
                              "precision of '%.200s': expected f32 or an integer of 2 to 16 bits",
                              r->pattern);
        for (int j = 0; j < q->g->n_nodes && !used; j++)
            used = matches(q->g, &q->g->node[j], r);
        if (!used)
            return assay_fail(err, ASSAY_ERR_INPUT,
                              "precision of '%.200s': no node, op or output has such a name",
                              r->pattern);
    }
    return ASSAY_OK;
}

assay_status quantize_plan_nodes(assay_quantizer *q, assay_error *err)
{
    assay_status status = check_rules(q, err);
    if (status)
        return status;
    for (int i = 0; i < q->g->n_nodes; i++) {
        const assay_node *n = &q->g->node[i];
        assay_plan_node *p = &q->node[i];
        if (!touches_reals(q->g, n) || assay_node_is_quantized(q->g, n))
            continue; /* PLAIN */
        p->elem = wanted_elem(q, n);
        p->state = ASSAY_PLAN_FLOAT;
        p->reason = p->elem.kind == ASSAY_KIND_F32 ? "kept in float on request" : obstacle(q, n);
        if (!p->reason)
            p->reason = not_profiled(q, n);
        if (!p->reason)
            p->reason = not_offered(q, n, p->elem);
        if (!p->reason)
            p->reason = needs_signs(q, i);
        if (!p->reason)
            p->state = ASSAY_PLAN_INTEGER;
    }
    return ASSAY_OK;
}

/* ---- borders ---- */

static bool activation_bounds(const assay_node *n, float *lo, float *hi)
{
    if (n->op == ASSAY_OP_RELU) {
        *lo = 0;
        *hi = INFINITY;
    } else if (n->op == ASSAY_OP_CLIP && n->attr.clip.lo <= n->attr.clip.hi) {
        *lo = n->attr.clip.lo;
        *hi = n->attr.clip.hi;
    } else {
        return false;
    }
    return true;
}

static bool only_moves(const assay_node *n)
{
    uint32_t traits = assay_op_get(n->op)->traits;
    return (traits & ASSAY_T_MOVE) || quantize_plan_is_state(n) ||
           ((traits & ASSAY_T_SELECTS) && !(traits & ASSAY_T_BINARY));
}

/* One sweep forwards and one backwards: an integer node that only moves data is anchored when an
 * anchored node makes its input or wants its output. Returns whether something changed. */
static bool sweep(const assay_quantizer *q, bool *anchored, bool *made, bool *wanted)
{
    bool changed = false;
    for (int k = 0; k < 2 * q->g->n_nodes; k++) {
        int i = k < q->g->n_nodes ? k : 2 * q->g->n_nodes - 1 - k;
        const assay_node *n = &q->g->node[i];
        if (q->node[i].state != ASSAY_PLAN_INTEGER)
            continue;
        const bool state = quantize_plan_is_state(n);
        bool now = anchored[i] || (state && quantize_plan_state_is_coded(q, n->in[0], made));
        for (int j = 0; j < n->n_in && !state; j++)
            now |= quantize_plan_is_data(q, n, j) && made[n->in[j]];
        for (int j = 0; j < n->n_out && !state; j++)
            now |= wanted[n->out[j]];
        if (!now)
            continue;
        changed |= !anchored[i];
        anchored[i] = true;
        for (int j = 0; j < n->n_in; j++)
            if (quantize_plan_is_data(q, n, j))
                wanted[n->in[j]] = true;
        for (int j = 0; j < n->n_out; j++)
            made[n->out[j]] = true;
    }
    return changed;
}

/* Turns into float nodes: activations of what is computed in float, and nodes that only move data
 * between float nodes. */
static assay_status draw_borders(assay_quantizer *q, assay_error *err)
{
    size_t n_values = (size_t)q->g->n_values;
    bool *anchored = assay_arena_alloc(q->arena, (size_t)q->g->n_nodes);
    bool *made = assay_arena_alloc(q->arena, n_values);
    bool *wanted = assay_arena_alloc(q->arena, n_values);
    float lo, hi;
    if (!anchored || !made || !wanted)
        return assay_out_of_memory(err);
    for (int i = 0; i < q->g->n_nodes; i++) {
        const assay_node *n = &q->g->node[i];
        if (q->node[i].state != ASSAY_PLAN_INTEGER)
            continue;
        int producer = q->g->value[n->in[0] < 0 ? n->out[0] : n->in[0]].producer;
        anchored[i] = !only_moves(n);
        if (activation_bounds(n, &lo, &hi) && producer >= 0 &&
            q->node[producer].state == ASSAY_PLAN_FLOAT) {
            q->node[i].state = ASSAY_PLAN_FLOAT;
            q->node[i].reason = "its input is computed in float";
        }
    }
    while (sweep(q, anchored, made, wanted))
        ;
    for (int i = 0; i < q->g->n_nodes; i++)
        if (q->node[i].state == ASSAY_PLAN_INTEGER && !anchored[i]) {
            q->node[i].state = ASSAY_PLAN_FLOAT;
            q->node[i].reason = quantize_plan_is_state(&q->g->node[i])
                                    ? "some of what it keeps between runs is in float"
                                    : "it only moves data between float nodes";
        }
    return ASSAY_OK;
}

/* ---- fusion ---- */

static bool can_take_activation(const assay_quantizer *q, int producer)
{
    if (producer < 0 || q->node[producer].state != ASSAY_PLAN_INTEGER)
        return false;
    uint32_t traits = assay_op_get(q->g->node[producer].op)->traits;
    return (traits & ASSAY_T_ABSORB_OUT) && !(traits & (ASSAY_T_UNARY | ASSAY_T_CONVERT)) &&
           q->g->node[producer].n_out == 1;
}

/* As if nothing had been fused. */
static void unfuse(assay_quantizer *q)
{
    for (int v = 0; v < q->g->n_values; v++)
        q->value[v].producer = q->g->value[v].producer;
    for (int i = 0; i < q->g->n_nodes; i++) {
        assay_plan_node *p = &q->node[i];
        p->state = p->state == ASSAY_PLAN_FUSED ? ASSAY_PLAN_INTEGER : p->state;
        p->out = q->g->node[i].out[0];
        p->act_lo = q->g->node[i].act_lo;
        p->act_hi = q->g->node[i].act_hi;
    }
}

static void fuse(assay_quantizer *q)
{
    for (int i = 0; i < q->g->n_nodes; i++) {
        const assay_node *n = &q->g->node[i];
        float lo, hi;
        if (q->node[i].state != ASSAY_PLAN_INTEGER || q->node[i].keep_apart ||
            !activation_bounds(n, &lo, &hi) || q->uses[n->in[0]] != 1)
            continue;
        int producer = q->value[n->in[0]].producer;
        if (!can_take_activation(q, producer) ||
            !assay_elem_equal(q->node[producer].elem, q->node[i].elem))
            continue;
        assay_plan_node *p = &q->node[producer];
        p->act_lo = fminf(fmaxf(p->act_lo, lo), hi); /* clamp after clamp */
        p->act_hi = fminf(fmaxf(p->act_hi, lo), hi);
        p->out = n->out[0];
        q->value[p->out].producer = producer;
        q->node[i].state = ASSAY_PLAN_FUSED;
        q->node[i].fused_into = producer;
    }
}

assay_status quantize_plan_borders(assay_quantizer *q, assay_error *err)
{
    unfuse(q);
    assay_status status = draw_borders(q, err);
    if (!status)
        fuse(q);
    return status;
}
