/* The values that are scaled with one: what it is computed from, up to constants that take the
 * factors. An op is passed where a power of two of its operand is one of its result, exactly. */
#include <string.h>

#include "opt/lower/nodes.h"
#include "opt/quantize/smooth_parts.h"

/* ---- constants ---- */

bool quantize_smooth_add_term(smooth_walk *w, int node, int slot, int sign, int64_t stride,
                              int64_t n, const int *channel, bool reads)
{
    smooth_site *x = w->x;
    if (!channel || x->n_terms == ASSAY_SMOOTH_MOST ||
        !lower_is_f32_constant(w->f->g, w->f->g->node[node].in[slot]))
        return false;
    const int *kept = quantize_smooth_keep(w, channel, n);
    x->term[x->n_terms++] = (smooth_term){node, slot, sign, stride, n, kept, reads};
    return kept;
}

/* The operand of node i in this place is a constant, which takes the factors of the labels. */
static bool scale_operand(smooth_walk *w, int i, int slot, const int *label, int sign)
{
    const assay_node *n = &w->f->g->node[i];
    const assay_type *operand = quantize_smooth_type(w, n->in[slot]);
    const int *own =
        quantize_smooth_of_operand(w, quantize_smooth_type(w, n->out[0]), operand, label);
    return quantize_smooth_add_term(w, i, slot, sign, 1, assay_shape_count(operand), own, false);
}

/* Weights and bias of a layer that makes labelled channels. */
static bool scale_layer(smooth_walk *w, int i, const int *label, int sign)
{
    const assay_node *n = &w->f->g->node[i];
    const assay_type *t = quantize_smooth_type(w, n->out[0]),
                     *weights = quantize_smooth_type(w, n->in[1]);
    const int *of = quantize_smooth_by_axis(w, t, quantize_smooth_channel_axis(n, t), label);
    const int64_t channels = weights->dim[0];
    if (!quantize_smooth_add_term(w, i, 1, sign, assay_shape_count(weights) / channels, channels,
                                  of, false))
        return false;
    return n->n_in < 3 || n->in[2] < 0 ||
           quantize_smooth_add_term(w, i, 2, sign, 1, channels, of, false);
}

/* ---- nodes ---- */

static bool is_data(const smooth_walk *w, int v)
{
    return v >= 0 && !lower_is_constant(w->f->g, v);
}

static bool follow_operand(smooth_walk *w, int i, int slot, const int *label, int sign)
{
    const assay_node *n = &w->f->g->node[i];
    const int *own = quantize_smooth_of_operand(w, quantize_smooth_type(w, n->out[0]),
                                                quantize_smooth_type(w, n->in[slot]), label);
    return own && quantize_smooth_follow(w, n->in[slot], own, sign, -1);
}

/* Both are scaled. */
static bool take_sum(smooth_walk *w, int i, const int *label, int sign)
{
    const assay_node *n = &w->f->g->node[i];
    for (int k = 0; k < 2; k++)
        if (!(is_data(w, n->in[k]) ? follow_operand(w, i, k, label, sign)
                                   : scale_operand(w, i, k, label, sign)))
            return false;
    return true;
}

/* One of the two takes the factors: first of all a constant that has a number for each channel. */
static bool take_product(smooth_walk *w, int i, const int *label, int sign)
{
    const assay_node *n = &w->f->g->node[i];
    const int values = w->x->n_values, terms = w->x->n_terms;
    for (int k = 0; k < 2; k++)
        if (!is_data(w, n->in[k]) && scale_operand(w, i, k, label, sign))
            return true;
    for (int k = 1; k >= 0; k--) {
        if (is_data(w, n->in[k]) && follow_operand(w, i, k, label, sign))
            return true;
        w->x->n_values = values;
        w->x->n_terms = terms;
    }
    return false;
}

static bool take_quotient(smooth_walk *w, int i, const int *label, int sign)
{
    const assay_node *n = &w->f->g->node[i];
    if (!is_data(w, n->in[1]) && scale_operand(w, i, 1, label, -sign))
        return true;
    return is_data(w, n->in[0]) && follow_operand(w, i, 0, label, sign);
}

static bool take_norm(smooth_walk *w, int i, const int *label, int sign)
{
    const assay_node *n = &w->f->g->node[i];
    for (int k = 1; k < n->n_in; k++)
        if (n->in[k] >= 0 && !scale_operand(w, i, k, label, sign))
            return false;
    return n->n_in > 1 && n->in[1] >= 0;
}

static bool take_transpose(smooth_walk *w, int i, const int *label, int sign, int at)
{
    const assay_node *n = &w->f->g->node[i];
    const assay_type *x = quantize_smooth_type(w, n->in[0]),
                     *y = quantize_smooth_type(w, n->out[0]);
    int *own = quantize_smooth_new_labels(w, assay_shape_count(x));
    for (int64_t k = 0; own && k < assay_shape_count(y); k++) {
        int64_t from = 0, rest = k;
        for (int d = y->rank - 1; d >= 0; rest /= y->dim[d], d--)
            from += rest % y->dim[d] * quantize_smooth_inner(x, (int)n->attr.perm.perm.v[d]);
        own[from] = label[k];
    }
    return own && quantize_smooth_follow(w, n->in[0], own, sign, at);
}

/* The output of a split that is labelled; the others' elements have no channel. */
static bool take_split(smooth_walk *w, int i, int v, const int *label, int sign)
{
    const assay_node *n = &w->f->g->node[i];
    const assay_type *x = quantize_smooth_type(w, n->in[0]);
    const int axis = (int)n->attr.split.axis;
    const int64_t inner = quantize_smooth_inner(x, axis), whole = x->dim[axis] * inner;
    const int64_t outer = whole > 0 ? assay_shape_count(x) / whole : 0;
    int *own = quantize_smooth_new_labels(w, assay_shape_count(x));
    int64_t begin = 0;
    for (int k = 0; own && k < n->n_out; k++) {
        const int64_t part = quantize_smooth_type(w, n->out[k])->dim[axis] * inner;
        for (int64_t o = 0; n->out[k] == v && o < outer; o++)
            memcpy(own + o * whole + begin, label + o * part, (size_t)part * sizeof *own);
        begin += part;
    }
    return own && quantize_smooth_follow(w, n->in[0], own, sign, -1);
}

/* A product of matrices, whose columns are the second operand's. */
static bool take_matmul(smooth_walk *w, int i, const int *label, int sign)
{
    const assay_node *n = &w->f->g->node[i];
    const assay_type *y = quantize_smooth_type(w, n->out[0]);
    const int64_t columns = y->rank > 1 ? y->dim[y->rank - 1] : 0;
    const int64_t rows = y->rank > 1 ? y->dim[y->rank - 2] : 0;
    const assay_type *b = quantize_smooth_type(w, n->in[1]);
    if (!is_data(w, n->in[1]) || b->rank != y->rank || columns == 0 || assay_shape_count(b) == 0 ||
        assay_shape_count(b) / (b->dim[b->rank - 1] * b->dim[b->rank - 2]) !=
            assay_shape_count(y) / (rows * columns))
        return false;
    const int64_t inputs = assay_shape_count(b) / (assay_shape_count(y) / rows);
    int *own = quantize_smooth_new_labels(w, assay_shape_count(b));
    for (int64_t k = 0; own && k < assay_shape_count(y); k++) {
        const int64_t matrix = k / (rows * columns), c = k % columns;
        if (label[k] != label[matrix * rows * columns + c])
            return false;
        for (int64_t j = 0; k / columns % rows == 0 && j < inputs; j++)
            own[matrix * inputs * columns +
                (n->attr.matmul.transpose_b ? c * inputs + j : j * columns + c)] = label[k];
    }
    return own && quantize_smooth_follow(w, n->in[1], own, sign, -1);
}

/* What takes elements of one channel to one of the same: every channel's factor passes through. */
static bool take_pool(smooth_walk *w, int i, const int *label, int sign)
{
    assay_node *n = &w->f->g->node[i];
    const assay_type *x = quantize_smooth_type(w, n->in[0]),
                     *y = quantize_smooth_type(w, n->out[0]);
    const int axis = *lower_layout_of(n) == ASSAY_LAYOUT_NHWC ? x->rank - 1 : 1;
    const int *of = quantize_smooth_by_axis(w, y, axis, label);
    const int *own = of ? quantize_smooth_along_axis(w, x, axis, of) : NULL;
    return own && quantize_smooth_follow(w, n->in[0], own, sign, -1);
}

/* The node that makes value v, number `at` of the site. */
static bool take_node(smooth_walk *w, int v, const int *label, int sign, int at)
{
    const int i = w->f->g->value[v].producer;
    const assay_node *n = &w->f->g->node[i];
    if (!lower_is_plain(n))
        return false;
    switch (n->op) {
    case ASSAY_OP_RELU:
    case ASSAY_OP_LEAKY_RELU:
    case ASSAY_OP_ABS:
    case ASSAY_OP_NEG:
        return quantize_smooth_follow(w, n->in[0], label, sign, -1);
    case ASSAY_OP_RESHAPE:
        return quantize_smooth_follow(w, n->in[0], label, sign, at);
    case ASSAY_OP_TRANSPOSE:
        return take_transpose(w, i, label, sign, at);
    case ASSAY_OP_SPLIT:
        return take_split(w, i, v, label, sign);
    case ASSAY_OP_MAX_POOL:
    case ASSAY_OP_AVG_POOL:
    case ASSAY_OP_GLOBAL_AVG_POOL:
        return take_pool(w, i, label, sign);
    case ASSAY_OP_ADD:
    case ASSAY_OP_SUB:
        return take_sum(w, i, label, sign);
    case ASSAY_OP_MUL:
        return take_product(w, i, label, sign);
    case ASSAY_OP_DIV:
        return take_quotient(w, i, label, sign);
    case ASSAY_OP_MATMUL:
        return take_matmul(w, i, label, sign);
    case ASSAY_OP_LAYER_NORM:
        return take_norm(w, i, label, sign);
    case ASSAY_OP_FC:
    case ASSAY_OP_CONV:
        return scale_layer(w, i, label, sign);
    default:
        return false;
    }
}

bool quantize_smooth_follow_up(smooth_walk *w, int v, const int *label, int sign, int moved_to)
{
    smooth_site *x = w->x;
    const assay_value *value = &w->f->g->value[v];
    if (value->producer < 0 || value->is_variable || x->n_values == ASSAY_SMOOTH_MOST ||
        w->f->taken[v] || value->type.elem.kind != ASSAY_KIND_F32 ||
        assay_shape_count(&value->type) == 0)
        return false;
    x->value[x->n_values] =
        (smooth_scaled){.value = v, .sign = sign, .label = label, .moved_to = moved_to, .seen = -1};
    return take_node(w, v, label, sign, x->n_values++);
}

bool quantize_smooth_follow(smooth_walk *w, int v, const int *label, int sign, int moved_to)
{
    return w->f->uses[v] == 1 && quantize_smooth_follow_up(w, v, label, sign, moved_to);
}
