/* The driver: decide, build, ask the target about every integer node, and decide again with what
 * it refused, until it refuses nothing. Each round turns a node to float or sets an activation
 * apart, neither of which is undone, so the rounds end. */
#include "opt/quantize/quantize.h"
#include "graph/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "opt/quantize/plan.h"

/* ---- what the target and the options allow ---- */

static assay_status choose_types(assay_quantizer *q, assay_error *err)
{
    const assay_quantize_options *o = q->options;
    const assay_scheme_caps *c = &q->caps;
    bool any_zero_point = c->activation_zero_point && !c->zero_point_middle_only;
    q->activation = o->activation;
    if (!o->has_symmetry)
        q->activation.symmetry = any_zero_point ? ASSAY_ASYMMETRIC : ASSAY_SYMMETRIC;
    const assay_symmetry symmetry = q->activation.symmetry;
    q->activation.elem = assay_int(c->activation_bits, c->activation_signed);
    q->activation.power_of_two =
        c->power_of_two || o->power_of_two || symmetry == ASSAY_SYMMETRIC_POWER_OF_TWO;
    if ((symmetry == ASSAY_ASYMMETRIC || symmetry == ASSAY_SYMMETRIC_UNSIGNED) && !any_zero_point)
        return assay_fail(err, ASSAY_ERR_SCHEME,
                          "scheme '%s': activations cannot have any zero point, as asymmetric "
                          "ranges need; use symmetric ones",
                          q->scheme->name);
    if (o->weights == ASSAY_WEIGHTS_PER_CHANNEL && !c->per_channel)
        return assay_fail(err, ASSAY_ERR_SCHEME,
                          "scheme '%s': weights per output channel are asked for, but it has "
                          "one weight scale per tensor",
                          q->scheme->name);
    q->block = o->weights == ASSAY_WEIGHTS_AS_TARGET ? c->block : 0;
    q->per_channel = c->per_channel && o->weights != ASSAY_WEIGHTS_PER_TENSOR;
    q->weight = (assay_choice){.elem = assay_int(c->weight_bits, c->weight_signed),
                               .symmetry = ASSAY_SYMMETRIC,
                               .narrow = c->weight_narrow,
                               .power_of_two = q->activation.power_of_two};
    if (!q->weight.narrow && q->weight.elem.is_signed) /* else Glow has no such weights */
        q->weight.method = o->activation.method;
    return ASSAY_OK;
}

static bool has_activation(const assay_quantizer *q, int i)
{
    return q->node[i].out != q->g->node[i].out[0];
}

/* Sets the activations that were fused into node i apart. */
static void set_apart(assay_quantizer *q, int i)
{
    for (int k = 0; k < q->g->n_nodes; k++)
        if (q->node[k].state == ASSAY_PLAN_FUSED && q->node[k].fused_into == i)
            q->node[k].keep_apart = true;
}

/* Node i cannot be as it was built: its activation is set apart, or it becomes float. */
static assay_status refuse(assay_quantizer *q, int i, const char *why, assay_error *err)
{
    assay_plan_node *p = &q->node[i];
    if (p->state != ASSAY_PLAN_INTEGER)
        return ASSAY_OK;
    if (has_activation(q, i)) {
        set_apart(q, i);
        return ASSAY_OK;
    }
    p->state = ASSAY_PLAN_FLOAT;
    p->reason = assay_arena_string(q->arena, why);
    return p->reason ? ASSAY_OK : assay_out_of_memory(err);
}

/* Whether integer node i reads value v of the built graph. */
static bool reads(const assay_quantizer *q, const assay_graph *built, int i, int v)
{
    if (q->node[i].state != ASSAY_PLAN_INTEGER)
        return false;
    const assay_node *n = &built->node[q->node[i].built];
    for (int j = 0; j < n->n_in; j++)
        if (n->in[j] == v)
            return true;
    return false;
}

/* By the scheme, and by the target file where there is one. */
static assay_status is_computed(const assay_quantizer *q, const assay_graph *built,
                                const assay_node *n, bool *can, char *why, size_t size,
                                assay_error *err)
{
    assay_status status = lower_target_computes(q->scheme, built, n, can, why, size, err);
    if (!status && *can && q->options->target)
        *can = target_allows(q->options->target, built, n, why, size);
    return status;
}

/* Whether a sum of codes can wrap before it reaches what its result's codes represent: elsewhere
 * sums saturate, here they would come out with the other sign. */
static bool wraps(const assay_quantizer *q, const assay_graph *built, const assay_node *n)
{
    const assay_type *x = &built->value[n->in[0]].type, *y = &built->value[n->out[0]].type;
    double lo, hi, room;

    if (n->op != ASSAY_OP_ADD_N && n->op != ASSAY_OP_CUMSUM)
        return false;
    lo = (double)(assay_elem_min(y->elem) - y->q.zero_point[0]) * (double)y->q.scale[0];
    hi = (double)(assay_elem_max(y->elem) - y->q.zero_point[0]) * (double)y->q.scale[0];
    room = (double)assay_scheme_sum_room(q->scheme, assay_op_get(n->op)->name, x->elem.bits);
    return fmax(-lo, hi) / (double)x->q.scale[0] > room;
}

/* Asks the target about every rescale, whose readers take the blame. */
static assay_status ask_about_rescales(assay_quantizer *q, const assay_graph *built, int *refused,
                                       assay_error *err)
{
    char why[sizeof err->text];
    assay_status status = ASSAY_OK;
    for (int k = 0; k < built->n_nodes && !status; k++) {
        const assay_node *n = &built->node[k];
        bool can = true;
        if (n->op == ASSAY_OP_RESCALE)
            status = lower_target_computes(q->scheme, built, n, &can, why, sizeof why, err);
        for (int i = 0; i < q->g->n_nodes && !status && !can; i++)
            if (reads(q, built, i, n->out[0])) {
                ++*refused;
                status = refuse(q, i, why, err);
            }
    }
    return status;
}

/* Asks the target about every integer node of `built`, and about every rescale; *refused counts
 * what it cannot do. */
static assay_status ask_target(assay_quantizer *q, const assay_graph *built, int *refused,
                               assay_error *err)
{
    char why[sizeof err->text];
    assay_status status = ASSAY_OK;
    *refused = 0;
    for (int i = 0; i < q->g->n_nodes && !status; i++) {
        bool can = true;
        if (q->node[i].state == ASSAY_PLAN_INTEGER && lower_needs_target(&q->g->node[i]))
            status =
                is_computed(q, built, &built->node[q->node[i].built], &can, why, sizeof why, err);
        if (!status && can && q->node[i].state == ASSAY_PLAN_INTEGER &&
            wraps(q, built, &built->node[q->node[i].built])) {
            can = false;
            snprintf(why, sizeof why, "the target's sums of its codes wrap in 32 bits");
        }
        if (status || can)
            continue;
        ++*refused;
        status = refuse(q, i, why, err);
    }
    return status || *refused > 0 ? status : ask_about_rescales(q, built, refused, err);
}

static assay_status quantize(assay_quantizer *q, assay_graph **out, assay_quantize_report *report,
                             assay_error *err)
{
    assay_status status = choose_types(q, err);
    if (!status)
        status = quantize_find_masks(q, err);
    if (!status)
        status = quantize_plan_nodes(q, err);
    if (!status) {
        quantize_plan_masks(q);
        quantize_plan_phases(q);
    }
    for (int refused = 1; !status && refused > 0;) {
        assay_graph_free(*out);
        *out = NULL;
        if ((status = quantize_plan_borders(q, err)) || (status = quantize_plan_groups(q, err)) ||
            (status = quantize_plan_build(q, out, report, err)))
            break;
        status = ask_target(q, *out, &refused, err);
    }
    if (!status && q->options->target)
        status = target_verify(q->options->target, *out, err);
    return status ? status : assay_graph_verify(*out, err);
}

static assay_status allocate(assay_quantizer *q, assay_error *err)
{
    q->arena = assay_arena_new();
    q->uses = lower_rewrite_uses(q->g);
    if (!q->arena || !q->uses)
        return assay_out_of_memory(err);
    q->node = assay_arena_array(q->arena, (size_t)q->g->n_nodes + 1, sizeof *q->node);
    q->value = assay_arena_array(q->arena, (size_t)q->g->n_values + 1, sizeof *q->value);
    return q->node && q->value ? ASSAY_OK : assay_out_of_memory(err);
}

/* *own: g where targets multiply by constants in place of dividing, or NULL where g is that
 * already. In floats a network divides, as it says; a profile may be of either (older ones are of
 * *own). */
static assay_status lower(const assay_graph *g, const assay_profile *profile, assay_graph **own,
                          assay_error *err)
{
    int changed = 0;
    assay_error of_own;
    assay_status status = assay_graph_clone_borrowing(g, own, err);
    if (!status)
        status = lower_arithmetic(*own, &changed, err);
    if (!status && changed > 0)
        status = lower_eliminate_dead(*own, &changed, err);
    else if (!status) {
        assay_graph_free(*own);
        *own = NULL;
    }
    if (status)
        return status;
    status = profile_check(profile, g, err);
    return status == ASSAY_ERR_INPUT && *own && !profile_check(profile, *own, &of_own) ? ASSAY_OK
                                                                                       : status;
}

/* Smooths activations of *own, which becomes a copy of g where it is NULL, as the options say. */
static assay_status smooth(assay_quantizer *q, assay_graph **own, assay_profile **profile,
                           assay_smoothing *made, assay_error *err)
{
    assay_status status = ASSAY_OK;
    if (q->options->smooth <= 0)
        return ASSAY_OK;
    if (!*own)
        status = assay_graph_clone_borrowing(q->g, own, err);
    if (!status)
        status = quantize_smooth(*own, q->profile, q->options->smooth, profile, made, err);
    if (!status)
        q->profile = *profile;
    return status;
}

assay_status quantize_network(const assay_graph *g, const assay_profile *profile,
                              const assay_scheme *scheme, const assay_quantize_options *options,
                              assay_graph **out, assay_quantize_report *report, assay_error *err)
{
    assay_quantizer q = {.g = g, .profile = profile, .scheme = scheme, .options = options};
    assay_quantize_report made = {0};
    *out = NULL;
    if (report)
        *report = made;
    if (g->n_subgraphs > 0)
        return assay_fail(err, ASSAY_ERR_UNSUPPORTED,
                          "graph '%.200s' has control flow, which is not quantized", g->name);
    if (options->gptq && !options->moments)
        return assay_fail(err, ASSAY_ERR_INPUT,
                          "rounding weights by GPTQ takes calibration samples: quantize with them "
                          "first (`samples`), then "
                          "use the network that this makes");
    assay_scheme_get_caps(scheme, &q.caps);
    q.smoothing = &made.smoothing;
    assay_graph *own = NULL;
    assay_profile *of_smoothed = NULL;
    assay_status status = lower(g, profile, &own, err);
    if (!status)
        status = smooth(&q, &own, &of_smoothed, &made.smoothing, err);
    if (own)
        q.g = own;
    if (!status)
        status = allocate(&q, err);
    if (!status)
        status = quantize(&q, out, &made, err);
    if (!status)
        status = quantize_plan_report(&q, &made, err);
    if (status) {
        assay_graph_free(*out);
        *out = NULL;
    }
    if (status || !report)
        quantize_report_free(&made);
    else
        *report = made;
    assay_arena_free(q.arena);
    assay_graph_free(own);
    profile_free(of_smoothed);
    free(q.uses);
    return status;
}
