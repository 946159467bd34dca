/* Smoothing of activations into weights; see smooth.h. */
#include "opt/quantize/smooth.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "graph/memory.h"
#include "opt/lower/nodes.h"
#include "opt/quantize/smooth_parts.h"

typedef struct smoother {
    assay_graph *g;
    double alpha;
    smooth_finder find;
    int n_values; /* of g as it came */
    int n_sites;
    smooth_site *site;
    assay_arena *arena;
} smoother;

static const assay_value *constant_of(const smoother *s, const smooth_term *t)
{
    return &s->g->value[s->g->node[t->node].in[t->slot]];
}

/* ---- by how much ---- */

static const assay_profile_entry *seen_of(const smoother *s, const smooth_scaled *v)
{
    return profile_find(s->find.profile, s->g->value[v->seen].name);
}

/* The greatest magnitude of each channel in a value. */
static void greatest_seen(const smoother *s, const smooth_scaled *v, double *greatest)
{
    const assay_profile_entry *e = seen_of(s, v);
    for (int i = 0; i < v->n; i++)
        if (v->channel[i] >= 0 && e->channel[i].finite > 0) {
            double *to = &greatest[v->channel[i]];
            *to = fmax(*to, fmax(-(double)e->channel[i].min, (double)e->channel[i].max));
        }
}

/* And in the layers' weights. */
static void greatest_weight(const smoother *s, const smooth_term *t, double *greatest)
{
    const assay_value *v = constant_of(s, t);
    const float *w = v->data;
    for (int64_t i = 0; i < assay_shape_count(&v->type); i++) {
        double *to = &greatest[t->channel[i / t->stride % t->n]];
        *to = fmax(*to, fabs((double)w[i]));
    }
}

/* Channels of which an observed element does not scale without rounding stay. */
static void keep_seen(const smoother *s, const smooth_site *x, const smooth_scaled *v)
{
    const assay_profile_entry *e = seen_of(s, v);
    for (int i = 0; i < v->n; i++) {
        const int c = v->channel[i];
        if (c >= 0 && !profile_histogram_scales(&e->channel[i], v->sign * x->exponent[c]))
            x->exponent[c] = 0;
    }
}

/* Nor an element of a constant. */
static void keep_constant(const smoother *s, const smooth_site *x, const smooth_term *t)
{
    const assay_value *v = constant_of(s, t);
    const float *w = v->data;
    for (int64_t i = 0; i < assay_shape_count(&v->type); i++) {
        const int c = t->channel[i / t->stride % t->n];
        const int e = c < 0 ? 0 : t->sign * x->exponent[c];
        const float scaled = ldexpf(w[i], e);
        if (e != 0 && (!isfinite(scaled) || ldexpf(scaled, -e) != w[i]))
            x->exponent[c] = 0;
    }
}

static int choose_exponent(double alpha, double activation, double weight)
{
    if (!(activation > 0 && weight > 0 && isfinite(weight)))
        return 0;
    return (int)lround(alpha * log2(activation) - (1 - alpha) * log2(weight));
}

/* By the constants as they are now. `greatest` has room for two numbers a channel. */
static void choose_exponents(const smoother *s, const smooth_site *x, double *greatest)
{
    double *other = greatest + x->channels;
    for (int i = 0; i < 2 * x->channels; i++)
        greatest[i] = 0;
    greatest_seen(s, &x->value[0], greatest);
    if (x->other >= 0)
        greatest_seen(s, &x->value[x->other], other);
    for (int k = 0; k < x->n_terms; k++)
        if (x->term[k].reads)
            greatest_weight(s, &x->term[k], other);
    for (int c = 0; c < x->channels; c++)
        x->exponent[c] = choose_exponent(s->alpha, greatest[c], other[c]);
    for (int i = 0; i < x->n_values; i++)
        keep_seen(s, x, &x->value[i]);
    for (int k = 0; k < x->n_terms; k++)
        keep_constant(s, x, &x->term[k]);
}

/* ---- the network ---- */

/* Gives a node its own scaled constant, CONSTANT:smoothed:OUTPUT. */
static assay_status scale_constant(const smoother *s, const smooth_site *x, const smooth_term *t,
                                   assay_error *err)
{
    assay_graph *g = s->g;
    const assay_node *n = &g->node[t->node];
    const assay_value v = *constant_of(s, t);
    const char *base = lower_derived_name(g, v.name, ":smoothed");
    int id;
    if (!base)
        return assay_out_of_memory(err);
    assay_status status =
        lower_rewrite_constant(g, base, g->value[n->out[0]].name, &v.type, v.data, &id, err);
    if (status)
        return status;
    float *w = (float *)(uintptr_t)g->value[id].data; /* ours: just copied into the graph */
    for (int64_t i = 0; i < assay_shape_count(&v.type); i++) {
        const int c = t->channel[i / t->stride % t->n];
        w[i] = c < 0 ? w[i] : ldexpf(w[i], t->sign * x->exponent[c]);
    }
    return lower_rewrite_input(g, t->node, t->slot, id, err);
}

/* Value v becomes V:smoothed for all that make and read it. */
static assay_status rename_value(assay_graph *g, int v, const char **name, assay_error *err)
{
    const int made_by = g->value[v].producer;
    int id, k = 0;
    *name = lower_derived_name(g, g->value[v].name, ":smoothed");
    if (!*name)
        return assay_out_of_memory(err);
    const assay_type type = g->value[v].type;
    assay_status status = assay_graph_add_value(g, *name, &type, &id, err);
    if (status)
        return status;
    while (g->node[made_by].out[k] != v)
        k++;
    g->node[made_by].out[k] = id;
    g->value[id].producer = made_by;
    g->value[v].producer = -1;
    assay_graph_replace_uses(g, v, id);
    return ASSAY_OK;
}

/* What a value is divided by, for each of its observed channels. */
static assay_status note_scaling(const smoother *s, const smooth_site *x, const smooth_scaled *v,
                                 assay_profile_scaling *to, assay_error *err)
{
    int *exponent = assay_arena_array(s->arena, (size_t)v->n + 1, sizeof *exponent);
    to->name = assay_arena_string(s->arena, s->g->value[v->value].name);
    to->seen = assay_arena_string(s->arena, s->g->value[v->seen].name);
    to->exponent = exponent;
    if (!exponent || !to->name || !to->seen)
        return assay_out_of_memory(err);
    for (int i = 0; i < v->n; i++)
        exponent[i] = v->channel[i] < 0 ? 0 : -v->sign * x->exponent[v->channel[i]];
    return ASSAY_OK;
}

static assay_status apply(smoother *s, const smooth_site *x, assay_profile_scaling *scaling, int *n,
                          assay_error *err)
{
    assay_status status = ASSAY_OK;
    for (int k = 0; k < x->n_terms && !status; k++)
        status = scale_constant(s, x, &x->term[k], err);
    for (int i = 0; i < x->n_values && !status; i++)
        status = note_scaling(s, x, &x->value[i], &scaling[*n + i], err);
    for (int i = 0; i < x->n_values && !status; i++)
        status = rename_value(s->g, x->value[i].value, &scaling[(*n)++].scaled, err);
    return status;
}

/* ---- the report ---- */

void quantize_smoothing_free(assay_smoothing *s)
{
    for (int i = 0; i < s->n; i++) {
        free(s->value[i].value);
        free(s->value[i].other);
        free(s->value[i].exponent);
    }
    free(s->value);
    *s = (assay_smoothing){0};
}

static assay_status note_site(const smoother *s, const smooth_site *x, assay_smoothing *made,
                              assay_error *err)
{
    assay_smoothed *to = &made->value[made->n++];
    const char *other = x->other < 0 ? NULL : s->g->value[x->value[x->other].value].name;
    *to = (assay_smoothed){.value = strdup(s->g->value[x->value[0].value].name),
                           .other = other ? strdup(other) : NULL,
                           .exponent = malloc((size_t)x->channels * sizeof *x->exponent + 1),
                           .channels = x->channels,
                           .layers = x->layers,
                           .least = x->channels > 0 ? x->exponent[0] : 0};
    if (!to->value || !to->exponent || (other && !to->other))
        return assay_out_of_memory(err);
    memcpy(to->exponent, x->exponent, (size_t)x->channels * sizeof *x->exponent);
    to->greatest = to->least;
    for (int c = 0; c < x->channels; c++) {
        to->least = x->exponent[c] < to->least ? x->exponent[c] : to->least;
        to->greatest = x->exponent[c] > to->greatest ? x->exponent[c] : to->greatest;
    }
    return ASSAY_OK;
}

/* ---- all of it ---- */

static assay_status find_sites(smoother *s, assay_error *err)
{
    assay_status status = ASSAY_OK;
    bool found;
    profile_channel_axes(s->g, s->find.axis);
    for (int v = 0; v < s->n_values && !status; v++) {
        status = quantize_smooth_find_value(&s->find, v, &s->site[s->n_sites], &found, err);
        s->n_sites += found;
    }
    for (int i = 0; i < s->g->n_nodes && !status; i++) {
        status = quantize_smooth_find_product(&s->find, i, &s->site[s->n_sites], &found, err);
        s->n_sites += found;
    }
    if (!status && s->n_sites == 0 && s->find.lacking)
        return assay_fail(err, ASSAY_ERR_INPUT,
                          "smoothing: the profile has no channels of '%.200s'; take it with "
                          "`per_channel`",
                          s->find.lacking);
    return status;
}

static assay_status smooth(smoother *s, assay_profile **of_smoothed, assay_smoothing *made,
                           assay_error *err)
{
    int n = 0, values = 0, channels = 0;
    assay_status status = find_sites(s, err);
    for (int i = 0; i < s->n_sites; i++) {
        values += s->site[i].n_values;
        channels = s->site[i].channels > channels ? s->site[i].channels : channels;
    }
    assay_profile_scaling *scaling =
        assay_arena_array(s->arena, (size_t)values + 1, sizeof *scaling);
    double *greatest = assay_arena_array(s->arena, 2 * (size_t)channels + 1, sizeof *greatest);
    made->value = calloc((size_t)s->n_sites + 1, sizeof *made->value);
    if (!status && (!scaling || !greatest || !made->value))
        status = assay_out_of_memory(err);
    for (int i = 0; i < s->n_sites && !status; i++) { /* weights between two are scaled by both */
        choose_exponents(s, &s->site[i], greatest);
        status = note_site(s, &s->site[i], made, err);
        if (!status)
            status = apply(s, &s->site[i], scaling, &n, err);
    }
    if (!status)
        status = assay_graph_compact(s->g, NULL, err);
    return status ? status : profile_scaled(s->find.profile, s->g, scaling, n, of_smoothed, err);
}

assay_status quantize_smooth(assay_graph *g, const assay_profile *p, double alpha,
                             assay_profile **of_smoothed, assay_smoothing *made, assay_error *err)
{
    smoother s = {.g = g, .alpha = alpha, .n_values = g->n_values};
    const size_t n = (size_t)g->n_values + 1;
    *of_smoothed = NULL;
    *made = (assay_smoothing){0};
    s.arena = assay_arena_new();
    s.site = calloc(n, sizeof *s.site);
    s.find = (smooth_finder){.g = g,
                             .profile = p,
                             .uses = lower_rewrite_uses(g),
                             .axis = malloc(n * sizeof *s.find.axis),
                             .taken = calloc(n, sizeof *s.find.taken),
                             .arena = s.arena};
    const bool all = s.arena && s.site && s.find.uses && s.find.axis && s.find.taken;
    assay_status status = all ? smooth(&s, of_smoothed, made, err) : assay_out_of_memory(err);
    assay_arena_free(s.arena);
    free(s.find.uses);
    free(s.find.axis);
    free(s.find.taken);
    free(s.site);
    return status;
}
