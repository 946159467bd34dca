/* Smoothing of activations into weights; see smooth.h. */
#include "opt/quantize/smooth.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "graph/memory.h"
#include "opt/lower/nodes.h"
#include "opt/lower/pass.h"

enum { DEEPEST = 8 }; /* nodes between what is smoothed and the last constants scaled */

/* A constant to scale: element i is of channel i / stride % channels, and is multiplied (sign 1) or
 * divided (-1) by the channel's factor. */
typedef struct term {
    int node, slot, sign;
    int64_t stride;
} term;

/* A value to smooth. */
typedef struct site {
    int channels, layers;
    int n_values, value[DEEPEST]; /* those that are scaled, the layers' input first */
    int n_terms;
    term *term;
    int *exponent; /* by channel: of the factor */
} site;

typedef struct smoother {
    assay_graph *g;
    const assay_profile *profile;
    double alpha;
    int *uses, *axis, n_values; /* of g as it came */
    const char *lacking;        /* a value of which the profile has no channels, or NULL */
    int n_sites;
    site *site;
    assay_arena *arena;
} smoother;

static const assay_value *constant_of(const smoother *s, const term *t)
{
    return &s->g->value[s->g->node[t->node].in[t->slot]];
}

static void add_term(site *x, int node, int slot, int64_t stride, int sign)
{
    x->term[x->n_terms++] = (term){node, slot, sign, stride};
}

/* ---- which values ---- */

/* Are all uses of v the inputs of fully connected layers? Their weights are terms then. */
static bool find_layers(const smoother *s, int v, site *x)
{
    for (int i = 0; i < s->g->n_nodes; i++) {
        const assay_node *n = &s->g->node[i];
        if (n->op != ASSAY_OP_FC || n->in[0] != v || !lower_is_f32_constant(s->g, n->in[1]))
            continue;
        add_term(x, i, 1, 1, 1);
        x->layers++;
    }
    return x->layers > 0 && x->layers == s->uses[v];
}

/* Is input `slot` of the node a constant with an element for each channel? */
static bool is_by_channel(const smoother *s, const assay_node *n, int slot, int channels)
{
    if (slot >= n->n_in || !lower_is_f32_constant(s->g, n->in[slot]))
        return false;
    const assay_type *t = &s->g->value[n->in[slot]].type;
    return t->rank > 0 && t->dim[t->rank - 1] == channels && assay_shape_count(t) == channels;
}

/* Takes the constants of node i, which computes channels, as terms. *above: the value that is to be
 * scaled, too, or -1. False: the node does not allow it. */
static bool take_node(const smoother *s, int i, site *x, int *above)
{
    const assay_node *n = &s->g->node[i];
    const int first = n->n_in > 1 && is_by_channel(s, n, 0, x->channels) ? 0 : 1;
    *above = -1;
    if (!lower_is_plain(n))
        return false;
    if (n->op == ASSAY_OP_RELU) {
        *above = n->in[0];
        return true;
    }
    if (n->op == ASSAY_OP_LAYER_NORM || n->op == ASSAY_OP_FC) {
        const bool has_bias = n->n_in > 2 && n->in[2] >= 0;
        const bool fc = n->op == ASSAY_OP_FC;
        if (fc ? !lower_is_f32_constant(s->g, n->in[1]) : !is_by_channel(s, n, 1, x->channels))
            return false;
        add_term(x, i, 1, fc ? s->g->value[n->in[1]].type.dim[1] : 1, -1);
        if (has_bias)
            add_term(x, i, 2, 1, -1);
        return !has_bias || is_by_channel(s, n, 2, x->channels);
    }
    if ((n->op != ASSAY_OP_MUL && n->op != ASSAY_OP_ADD) ||
        !is_by_channel(s, n, first, x->channels))
        return false;
    add_term(x, i, first, 1, -1);
    *above = n->op == ASSAY_OP_ADD ? n->in[1 - first] : -1;
    return true;
}

static bool has_channels(smoother *s, int v, const site *x)
{
    const assay_profile_entry *e = profile_find(s->profile, s->g->value[v].name);
    if (e && e->n_channels == x->channels)
        return true;
    s->lacking = s->g->value[v].name;
    return false;
}

/* Follows v up to constants that take the division. */
static bool find_constants(const smoother *s, int v, site *x)
{
    int above = v;
    for (int depth = 0; above >= 0; depth++) {
        const assay_type *t = &s->g->value[above].type;
        const int made_by = s->g->value[above].producer;
        if (made_by < 0 || depth == DEEPEST || (depth > 0 && s->uses[above] != 1) || t->rank < 1 ||
            t->dim[t->rank - 1] != x->channels || s->axis[above] != t->rank - 1)
            return false;
        x->value[x->n_values++] = above;
        if (!take_node(s, made_by, x, &above))
            return false;
    }
    return true;
}

/* ---- by how much ---- */

/* Whether channel c's constants and observed elements are scaled by 2^e and 2^-e without rounding.
 */
static bool scales(const smoother *s, const site *x, int c, int e)
{
    for (int i = 0; i < x->n_values; i++)
        if (!profile_histogram_scales(
                &profile_find(s->profile, s->g->value[x->value[i]].name)->channel[c], -e))
            return false;
    for (int k = 0; k < x->n_terms; k++) {
        const term *t = &x->term[k];
        const assay_value *v = constant_of(s, t);
        const float *w = v->data;
        const int64_t apart = t->stride * x->channels, count = assay_shape_count(&v->type);
        for (int64_t i = c * t->stride; i < count; i += apart)
            for (int64_t j = i; j < i + t->stride; j++) {
                const float scaled = ldexpf(w[j], t->sign * e);
                if (!isfinite(scaled) || ldexpf(scaled, -t->sign * e) != w[j])
                    return false;
            }
    }
    return true;
}

/* The greatest magnitude of channel c in the layers' weights. */
static double greatest_weight(const smoother *s, const site *x, int c)
{
    double greatest = 0;
    for (int k = 0; k < x->layers; k++) {
        const assay_value *v = constant_of(s, &x->term[k]);
        for (int64_t i = c; i < assay_shape_count(&v->type); i += x->channels)
            greatest = fmax(greatest, fabs((double)((const float *)v->data)[i]));
    }
    return greatest;
}

static int choose_exponent(const smoother *s, const site *x, int c)
{
    const assay_profile_entry *e = profile_find(s->profile, s->g->value[x->value[0]].name);
    const assay_histogram *h = &e->channel[c];
    const double activation = fmax(-(double)h->min, (double)h->max);
    const double weight = greatest_weight(s, x, c);
    if (!(activation > 0 && weight > 0 && isfinite(weight)))
        return 0;
    const int chosen = (int)lround(s->alpha * log2(activation) - (1 - s->alpha) * log2(weight));
    return scales(s, x, c, chosen) ? chosen : 0;
}

/* By the constants as they are now. */
static void choose_exponents(const smoother *s, const site *x)
{
    for (int c = 0; c < x->channels; c++)
        x->exponent[c] = choose_exponent(s, x, c);
}

static assay_status find_site(smoother *s, int v, assay_error *err)
{
    const assay_type *t = &s->g->value[v].type;
    site *x = &s->site[s->n_sites];
    if (t->elem.kind != ASSAY_KIND_F32 || t->rank < 1 || t->dim[t->rank - 1] > INT32_MAX)
        return ASSAY_OK;
    *x = (site){.channels = (int)t->dim[t->rank - 1]};
    x->term = assay_arena_array(s->arena, (size_t)s->uses[v] + 2 * DEEPEST, sizeof *x->term);
    x->exponent = assay_arena_array(s->arena, (size_t)x->channels + 1, sizeof *x->exponent);
    if (!x->term || !x->exponent)
        return assay_out_of_memory(err);
    if (!find_layers(s, v, x) || !find_constants(s, v, x))
        return ASSAY_OK;
    for (int i = 0; i < x->n_values; i++)
        if (!has_channels(s, x->value[i], x))
            return ASSAY_OK;
    s->n_sites++;
    return ASSAY_OK;
}

/* ---- the network ---- */

/* Gives a node its own scaled constant, CONSTANT:smoothed:OUTPUT. */
static assay_status scale_constant(const smoother *s, const site *x, const term *t,
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
    for (int64_t i = 0; i < assay_shape_count(&v.type); i++)
        w[i] = ldexpf(w[i], t->sign * x->exponent[i / t->stride % x->channels]);
    return lower_rewrite_input(g, t->node, t->slot, id, err);
}

/* Value v becomes V:smoothed for all that make and read it. */
static assay_status rename_value(assay_graph *g, int v, const char **name, assay_error *err)
{
    const int made_by = g->value[v].producer;
    int id;
    *name = lower_derived_name(g, g->value[v].name, ":smoothed");
    if (!*name)
        return assay_out_of_memory(err);
    const assay_type type = g->value[v].type;
    assay_status status = assay_graph_add_value(g, *name, &type, &id, err);
    if (status)
        return status;
    lower_rewrite_output(g, made_by, id);
    assay_graph_replace_uses(g, v, id);
    return ASSAY_OK;
}

static assay_status apply(smoother *s, const site *x, assay_profile_scaling *scaling, int *n,
                          assay_error *err)
{
    assay_status status = ASSAY_OK;
    for (int k = 0; k < x->n_terms && !status; k++)
        status = scale_constant(s, x, &x->term[k], err);
    for (int i = 0; i < x->n_values && !status; i++) {
        assay_profile_scaling *made = &scaling[(*n)++];
        made->name = assay_arena_string(s->arena, s->g->value[x->value[i]].name);
        made->exponent = x->exponent;
        status = made->name ? rename_value(s->g, x->value[i], &made->scaled, err)
                            : assay_out_of_memory(err);
    }
    return status;
}

/* ---- the report ---- */

void quantize_smoothing_free(assay_smoothing *s)
{
    for (int i = 0; i < s->n; i++) {
        free(s->value[i].value);
        free(s->value[i].exponent);
    }
    free(s->value);
    *s = (assay_smoothing){0};
}

static assay_status note_site(const smoother *s, const site *x, assay_smoothing *made,
                              assay_error *err)
{
    assay_smoothed *to = &made->value[made->n];
    *to = (assay_smoothed){.value = strdup(s->g->value[x->value[0]].name),
                           .exponent = malloc((size_t)x->channels * sizeof *x->exponent + 1),
                           .channels = x->channels,
                           .layers = x->layers,
                           .least = x->channels > 0 ? x->exponent[0] : 0};
    made->n++;
    if (!to->value || !to->exponent)
        return assay_out_of_memory(err);
    memcpy(to->exponent, x->exponent, (size_t)x->channels * sizeof *x->exponent);
    to->greatest = to->least;
    for (int c = 0; c < x->channels; c++) {
        to->least = x->exponent[c] < to->least ? x->exponent[c] : to->least;
        to->greatest = x->exponent[c] > to->greatest ? x->exponent[c] : to->greatest;
    }
    return ASSAY_OK;
}

static assay_status smooth(smoother *s, assay_profile **of_smoothed, assay_smoothing *made,
                           assay_error *err)
{
    assay_status status = ASSAY_OK;
    int n = 0;
    profile_channel_axes(s->g, s->axis);
    for (int v = 0; v < s->n_values && !status; v++)
        status = find_site(s, v, err);
    if (!status && s->n_sites == 0 && s->lacking)
        return assay_fail(err, ASSAY_ERR_INPUT,
                          "smoothing: the profile has no channels of '%.200s'; take it with "
                          "--per-channel",
                          s->lacking);
    assay_profile_scaling *scaling =
        assay_arena_array(s->arena, (size_t)s->n_sites * DEEPEST + 1, sizeof *scaling);
    made->value = calloc((size_t)s->n_sites + 1, sizeof *made->value);
    if (!status && (!scaling || !made->value))
        status = assay_out_of_memory(err);
    for (int i = 0; i < s->n_sites && !status; i++) { /* weights between two are scaled by both */
        choose_exponents(s, &s->site[i]);
        status = note_site(s, &s->site[i], made, err);
        if (!status)
            status = apply(s, &s->site[i], scaling, &n, err);
    }
    if (!status)
        status = assay_graph_compact(s->g, NULL, err);
    return status ? status : profile_scaled(s->profile, s->g, scaling, n, of_smoothed, err);
}

assay_status quantize_smooth(assay_graph *g, const assay_profile *p, double alpha,
                             assay_profile **of_smoothed, assay_smoothing *made, assay_error *err)
{
    smoother s = {.g = g, .profile = p, .alpha = alpha, .n_values = g->n_values};
    const size_t n = (size_t)g->n_values + 1;
    *of_smoothed = NULL;
    *made = (assay_smoothing){0};
    s.arena = assay_arena_new();
    s.uses = lower_rewrite_uses(g);
    s.axis = malloc(n * sizeof *s.axis);
    s.site = calloc(n, sizeof *s.site);
    assay_status status = s.arena && s.uses && s.axis && s.site ? smooth(&s, of_smoothed, made, err)
                                                                : assay_out_of_memory(err);
    assay_arena_free(s.arena);
    free(s.uses);
    free(s.axis);
    free(s.site);
    return status;
}
