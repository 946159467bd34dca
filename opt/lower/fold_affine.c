/* BatchNorm and other per-channel affine maps into the layer in front:
 * a * (w * x + bias) + b = (a * w) * x + (a * bias + b). */
#include <math.h>
#include <stdlib.h>

#include "graph/memory.h"
#include "opt/lower/affine.h"

/* Where the output channels of a weighted node lie: in its output, and in its weights as
 * channel = (i / stride) % extent, plus one group's channels for each run of `per_group` weights
 * (transposed convolution, whose weights are I, O/g, k...). */
typedef struct channels {
    int axis;
    int64_t stride, extent, per_group;
} channels;

static channels weight_channels(const assay_graph *g, const assay_node *n)
{
    const assay_type *w = &g->value[n->in[1]].type, *y = &assay_node_out(g, n, 0)->type;
    int64_t count = assay_shape_count(w);
    channels c = {.axis = y->rank - 1, .stride = 1, .extent = w->dim[0], .per_group = count};
    if (n->op != ASSAY_OP_FC)
        c.axis = lower_channel_axis(n->attr.conv.layout, y->rank);
    int at = 0;
    if (n->op == ASSAY_OP_CONV_TRANSPOSE && n->attr.conv.layout == ASSAY_LAYOUT_NCHW) {
        at = 1;
        c.extent = w->dim[1];
        c.per_group = count / n->attr.conv.group;
    }
    for (int i = at + 1; i < w->rank; i++)
        c.stride *= w->dim[i];
    return c;
}

static bool is_layer(const assay_graph *g, const assay_node *n)
{
    return (assay_op_get(n->op)->traits & ASSAY_T_WEIGHTED) && n->act_lo == -INFINITY &&
           n->act_hi == INFINITY && lower_is_f32_constant(g, n->in[1]) &&
           (n->n_in < 3 || n->in[2] < 0 || lower_is_f32_constant(g, n->in[2]));
}

/* Gives `slot` of the node its own constant: the old one when nobody else uses it. Constants behind
 * the first n_uses are this pass's own, made for one node each. */
static assay_status own_constant(assay_graph *g, int node, int slot, const int *uses, int n_uses,
                                 float **data, assay_error *err)
{
    int old = g->node[node].in[slot], id;
    size_t bytes = assay_type_bytes(&g->value[old].type);
    *data = assay_arena_copy(g->arena, g->value[old].data, bytes);
    if (!*data)
        return assay_out_of_memory(err);
    if (old >= n_uses || uses[old] == 1) {
        g->value[old].data = *data;
        return ASSAY_OK;
    }
    assay_status status =
        lower_rewrite_constant(g, g->value[old].name, g->value[g->node[node].out[0]].name,
                               &g->value[old].type, *data, &id, err);
    if (status)
        return status;
    *data = (float *)g->value[id].data; /* ours: just copied into the graph */
    return lower_rewrite_input(g, node, slot, id, err);
}

/* Weights that the map leaves as they are stay where they are. */
static assay_status scale_weights(assay_graph *g, int node, const assay_affine *map,
                                  const int *uses, int n_uses, assay_error *err)
{
    const channels c = weight_channels(g, &g->node[node]);
    const int64_t count = assay_shape_count(&g->value[g->node[node].in[1]].type);
    float *w;
    bool scales = false;
    for (int64_t o = 0; o < map->channels; o++)
        scales |= map->a[o] != 1;
    if (!scales)
        return ASSAY_OK;
    assay_status status = own_constant(g, node, 1, uses, n_uses, &w, err);
    for (int64_t i = 0; i < count && !status; i += c.stride) {
        int64_t o = i / c.stride % c.extent + i / c.per_group * c.extent;
        for (int64_t k = i; k < i + c.stride; k++)
            w[k] = (float)((double)w[k] * map->a[o]);
    }
    return status;
}

static assay_status fold_into(assay_graph *g, int node, const assay_affine *map, const int *uses,
                              int n_uses, assay_error *err)
{
    float *bias = NULL;
    bool has_bias = g->node[node].n_in > 2 && g->node[node].in[2] >= 0;
    assay_status status = scale_weights(g, node, map, uses, n_uses, err);
    if (!status && has_bias)
        status = own_constant(g, node, 2, uses, n_uses, &bias, err);
    if (!status && !has_bias) {
        assay_type type = {.elem = assay_f32(), .rank = 1, .dim = {map->channels}};
        int id;
        status = lower_rewrite_constant(g, g->value[g->node[node].out[0]].name, "bias", &type, NULL,
                                        &id, err);
        if (!status)
            status = lower_rewrite_input(g, node, 2, id, err);
        bias = status ? NULL : (float *)g->value[id].data;
    }
    for (int64_t o = 0; o < map->channels && !status; o++)
        bias[o] = (float)((double)bias[o] * map->a[o] + map->b[o]);
    return status;
}

/* Folds node i when it is an affine map of the output of a layer that nobody else sees. */
static assay_status fold_one(assay_graph *g, int i, const int *uses, int n_uses, bool *folded,
                             assay_error *err)
{
    assay_node *n = &g->node[i];
    assay_affine map;
    int x;
    for (int slot = 0; slot < n->n_in && slot < 2; slot++) {
        int v = n->in[slot];
        int layer = v >= 0 && v < n_uses && uses[v] == 1 ? g->value[v].producer : -1;
        if (layer < 0 || !is_layer(g, &g->node[layer]))
            continue;
        int axis = weight_channels(g, &g->node[layer]).axis;
        assay_status status = lower_affine_match(g, n, axis, &x, &map, folded, err);
        *folded = *folded && x == v;
        if (!status && *folded)
            status = fold_into(g, layer, &map, uses, n_uses, err);
        lower_affine_free(&map);
        if (!status && *folded)
            lower_rewrite_output(g, layer, n->out[0]);
        return status;
    }
    return ASSAY_OK;
}

assay_status lower_fold_affine(assay_graph *g, int *changed, assay_error *err)
{
    int *uses = lower_rewrite_uses(g), n_uses = g->n_values;
    bool *dead = lower_rewrite_dead(g, 0);
    assay_status status = uses && dead ? ASSAY_OK : assay_out_of_memory(err);
    *changed = 0;
    for (int i = 0; i < g->n_nodes && !status; i++) {
        status = fold_one(g, i, uses, n_uses, &dead[i], err);
        *changed += dead[i];
    }
    if (!status && *changed > 0)
        status = assay_graph_compact(g, dead, err);
    free(uses);
    free(dead);
    return status;
}
