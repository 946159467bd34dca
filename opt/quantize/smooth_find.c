/* The ends at which smoothing begins, what layers read or the operands of a product of matrices;
 * and what the profile has seen of all that is scaled. */
#include <string.h>

#include "graph/memory.h"
#include "opt/quantize/smooth_parts.h"

/* ---- what the profile has seen of them ---- */

/* A value's own channels in the profile, where each belongs to one of the site's. */
static void find_seen(smooth_walk *w, smooth_scaled *s)
{
    const assay_type *t = quantize_smooth_type(w, s->value);
    const int axis = w->f->axis[s->value];
    const assay_profile_entry *e = profile_find(w->f->profile, w->f->g->value[s->value].name);
    const int *channel = quantize_smooth_by_axis(w, t, axis, s->label);
    if (!e || !channel)
        return;
    if (e->n_channels != t->dim[axis]) {
        w->f->lacking = w->f->lacking ? w->f->lacking : w->f->g->value[s->value].name;
        return;
    }
    s->seen = s->value;
    s->n = e->n_channels;
    s->channel = quantize_smooth_keep(w, channel, s->n);
}

static void copy_seen(smooth_scaled *to, const smooth_scaled *from)
{
    if (to->seen >= 0)
        return;
    to->seen = from->seen;
    to->n = from->n;
    to->channel = from->channel;
}

/* Values that hold the same elements have been seen alike. */
static bool all_seen(smooth_walk *w)
{
    smooth_site *x = w->x;
    for (int i = 0; i < x->n_values; i++)
        find_seen(w, &x->value[i]);
    for (int i = 0; i < x->n_values; i++)
        if (x->value[i].moved_to >= 0)
            copy_seen(&x->value[i], &x->value[x->value[i].moved_to]);
    for (int i = x->n_values - 1; i >= 0; i--)
        if (x->value[i].moved_to >= 0)
            copy_seen(&x->value[x->value[i].moved_to], &x->value[i]);
    for (int i = 0; i < x->n_values; i++)
        if (x->value[i].seen < 0)
            return false;
    return true;
}

/* Nothing forbids the site: its values are its own from now on. */
static bool accept(smooth_walk *w)
{
    smooth_site *x = w->x;
    x->exponent = assay_arena_array(w->f->arena, (size_t)x->channels + 1, sizeof *x->exponent);
    w->full |= !x->exponent;
    if (w->full || !all_seen(w))
        return false;
    for (int i = 0; i < x->n_values; i++)
        w->f->taken[x->value[i].value] = true;
    return true;
}

/* ---- where it begins ---- */

static bool reads_channels(const smooth_finder *f, const assay_node *n, int v)
{
    return (n->op == ASSAY_OP_FC || n->op == ASSAY_OP_CONV) && n->in[0] == v &&
           lower_is_f32_constant(f->g, n->in[1]) &&
           assay_shape_count(&f->g->value[n->in[1]].type) > 0;
}

/* Are all uses of v the inputs of layers, with channels along *axis? */
static bool is_of_layers(const smooth_finder *f, int v, int *axis)
{
    int layers = 0;
    *axis = -1;
    for (int i = 0; i < f->g->n_nodes; i++) {
        const assay_node *n = &f->g->node[i];
        if (!reads_channels(f, n, v))
            continue;
        const int own = quantize_smooth_channel_axis(n, &f->g->value[v].type);
        if (layers++ > 0 && own != *axis)
            return false;
        *axis = own;
    }
    return layers > 0 && layers == f->uses[v];
}

/* Weights of a convolution that reads labelled channels: O,I/g,k... or, nhwc, O,k...,I/g. */
static bool scale_reader_conv(smooth_walk *w, int i, const int *of)
{
    const assay_node *n = &w->f->g->node[i];
    const assay_type *t = quantize_smooth_type(w, n->in[1]);
    const bool last = n->attr.conv.layout == ASSAY_LAYOUT_NHWC;
    const int64_t outputs = t->dim[0], inputs = last ? t->dim[t->rank - 1] : t->dim[1];
    const int64_t cells = assay_shape_count(t) / (outputs * inputs);
    int *channel = quantize_smooth_new_labels(w, assay_shape_count(t));
    for (int64_t k = 0; channel && k < assay_shape_count(t); k++) {
        const int64_t group = k / (cells * inputs) / (outputs / n->attr.conv.group);
        channel[k] = of[group * inputs + (last ? k % inputs : k / cells % inputs)];
    }
    return quantize_smooth_add_term(w, i, 1, 1, 1, assay_shape_count(t), channel, true);
}

static bool begin_layers(smooth_walk *w, int v, const int *of)
{
    for (int i = 0; i < w->f->g->n_nodes; i++) {
        const assay_node *n = &w->f->g->node[i];
        if (!reads_channels(w->f, n, v))
            continue;
        w->x->layers++;
        if (!(n->op == ASSAY_OP_CONV
                  ? scale_reader_conv(w, i, of)
                  : quantize_smooth_add_term(w, i, 1, 1, 1, w->x->channels, of, true)))
            return false;
    }
    return true;
}

/* Labels 0, 1, ... */
static int *all_channels(smooth_walk *w, int64_t n)
{
    int *of = quantize_smooth_new_labels(w, n);
    for (int64_t c = 0; of && c < n; c++)
        of[c] = (int)c;
    return of;
}

static bool begin_value(smooth_walk *w, int v, int axis)
{
    const assay_type *t = quantize_smooth_type(w, v);
    *w->x = (smooth_site){.channels = (int)t->dim[axis], .other = -1};
    const int *of = all_channels(w, w->x->channels);
    const int *label = of ? quantize_smooth_along_axis(w, t, axis, of) : NULL;
    return label && begin_layers(w, v, of) && quantize_smooth_follow_up(w, v, label, -1, -1) &&
           accept(w);
}

assay_status quantize_smooth_find_value(smooth_finder *f, int v, smooth_site *x, bool *found,
                                        assay_error *err)
{
    const assay_type *t = &f->g->value[v].type;
    smooth_walk w = {.f = f, .x = x};
    int axis;
    *found = false;
    if (t->elem.kind != ASSAY_KIND_F32 || t->rank < 1 || assay_shape_count(t) > INT32_MAX ||
        !is_of_layers(f, v, &axis))
        return ASSAY_OK;
    w.scratch = assay_arena_new();
    w.full = !w.scratch;
    *found = !w.full && begin_value(&w, v, axis);
    assay_arena_free(w.scratch);
    return w.full ? assay_out_of_memory(err) : ASSAY_OK;
}

/* Labels of an operand of a product of matrices: the summed index, for itself in each matrix that
 * the axes from `first` on tell apart. */
static int *summed_labels(smooth_walk *w, const assay_type *t, bool transposed, int first)
{
    const int64_t last = t->dim[t->rank - 1], size = last * t->dim[t->rank - 2];
    const int64_t n = transposed ? size / last : last;
    int64_t matrices = 1;
    for (int d = first; d < t->rank - 2; d++)
        matrices *= t->dim[d];
    int *label = quantize_smooth_new_labels(w, assay_shape_count(t));
    for (int64_t i = 0; label && i < assay_shape_count(t); i++)
        label[i] =
            (int)(i / size % matrices * n + (transposed ? i % size / last : i % size % last));
    w->x->channels = (int)(matrices * n);
    return label;
}

static bool begin_product(smooth_walk *w, const assay_node *n, int first)
{
    const assay_type *a = quantize_smooth_type(w, n->in[0]), *b = quantize_smooth_type(w, n->in[1]);
    *w->x = (smooth_site){.other = -1};
    const int *right = summed_labels(w, b, !n->attr.matmul.transpose_b, first);
    const int *left = summed_labels(w, a, n->attr.matmul.transpose_a, first);
    if (!left || !right || !quantize_smooth_follow(w, n->in[0], left, -1, -1))
        return false;
    w->x->other = w->x->n_values;
    return quantize_smooth_follow(w, n->in[1], right, 1, -1) && accept(w);
}

assay_status quantize_smooth_find_product(smooth_finder *f, int i, smooth_site *x, bool *found,
                                          assay_error *err)
{
    const assay_node *n = &f->g->node[i];
    smooth_walk w = {.f = f, .x = x};
    *found = false;
    if (n->op != ASSAY_OP_MATMUL)
        return ASSAY_OK;
    const assay_type *a = quantize_smooth_type(&w, n->in[0]),
                     *b = quantize_smooth_type(&w, n->in[1]);
    if (a->rank < 2 || a->rank != b->rank || assay_shape_count(a) > INT32_MAX ||
        assay_shape_count(a) == 0 || assay_shape_count(b) == 0 ||
        memcmp(a->dim, b->dim, (size_t)(a->rank - 2) * sizeof *a->dim) != 0)
        return ASSAY_OK;
    w.scratch = assay_arena_new();
    w.full = !w.scratch;
    for (int first = 0; first <= a->rank - 2 && !*found && !w.full; first++)
        *found = begin_product(&w, n, first);
    assay_arena_free(w.scratch);
    return w.full ? assay_out_of_memory(err) : ASSAY_OK;
}
