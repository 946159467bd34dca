/* Lowerings that leave fewer kinds of node: BatchNorm on its own, and matmul by a constant. */
#include <stdlib.h>
#include <string.h>

#include "graph/memory.h"
#include "opt/lower/affine.h"

/* A depthwise 1x1 convolution: weights [C, 1, 1...] = a (nhwc [C, 1..., 1] is the same bytes),
 * bias b. */
static assay_status to_depthwise(assay_graph *g, int node, const assay_affine *map,
                                 assay_error *err)
{
    assay_node *n = &g->node[node];
    const char *y = g->value[n->out[0]].name;
    int rank = g->value[n->out[0]].type.rank, layout = n->attr.batch_norm.layout, w, b;
    assay_type type = {.elem = assay_f32(), .rank = rank, .dim = {map->channels, 1, 1, 1, 1, 1}};
    assay_type bias_type = {.elem = assay_f32(), .rank = 1, .dim = {map->channels}};
    assay_status status = lower_rewrite_constant(g, y, "scale", &type, NULL, &w, err);
    if (!status)
        status = lower_rewrite_constant(g, y, "shift", &bias_type, NULL, &b, err);
    if (status)
        return status;
    for (int64_t c = 0; c < map->channels; c++) {
        ((float *)g->value[w].data)[c] = (float)map->a[c];
        ((float *)g->value[b].data)[c] = (float)map->b[c];
    }
    assay_attr_conv conv = {.layout = layout, .group = map->channels};
    conv.kernel.n = conv.stride.n = conv.dilation.n = rank - 2;
    conv.pad_begin.n = conv.pad_end.n = conv.output_padding.n = rank - 2;
    for (int i = 0; i < rank - 2; i++)
        conv.kernel.v[i] = conv.stride.v[i] = conv.dilation.v[i] = 1;
    n->op = ASSAY_OP_CONV;
    memset(&n->attr, 0, sizeof n->attr);
    n->attr.conv = conv;
    n->in[1] = w;
    n->in[2] = b;
    n->n_in = 3;
    return ASSAY_OK;
}

/* y = x * scale + shift, by a mul that yields y:scaled and an add. */
static assay_status to_mul_add(assay_graph *g, int node, const assay_affine *map, int axis,
                               assay_error *err)
{
    int y = g->node[node].out[0], x = g->node[node].in[0], rank = g->value[y].type.rank, scaled;
    assay_type type = {.elem = assay_f32(), .rank = rank - axis, .dim = {1, 1, 1, 1, 1, 1}};
    int c[2];
    char *name = assay_arena_alloc(g->arena, strlen(g->value[y].name) + 8);
    if (!name)
        return assay_out_of_memory(err);
    strcat(strcpy(name, g->value[y].name), ":scaled");
    type.dim[0] = map->channels;
    assay_status status =
        lower_rewrite_constant(g, g->value[y].name, "scale", &type, NULL, &c[0], err);
    if (!status)
        status = lower_rewrite_constant(g, g->value[y].name, "shift", &type, NULL, &c[1], err);
    if (!status)
        status = assay_graph_add_value(g, name, &g->value[y].type, &scaled, err);
    for (int64_t i = 0; i < map->channels && !status; i++) {
        ((float *)g->value[c[0]].data)[i] = (float)map->a[i];
        ((float *)g->value[c[1]].data)[i] = (float)map->b[i];
    }
    if (!status)
        status = assay_graph_add_node(g, ASSAY_OP_MUL, name, (int[]){x, c[0]}, 2, &scaled, 1, NULL,
                                      NULL, err);
    if (status)
        return status;
    assay_node *n = &g->node[node];
    n->op = ASSAY_OP_ADD;
    memset(&n->attr, 0, sizeof n->attr);
    n->in[0] = scaled;
    n->in[1] = c[1];
    n->n_in = 2;
    return ASSAY_OK;
}

assay_status lower_batch_norm(assay_graph *g, int *changed, assay_error *err)
{
    assay_status status = ASSAY_OK;
    int n_nodes = g->n_nodes;
    *changed = 0;
    for (int i = 0; i < n_nodes && !status; i++) {
        const assay_node *n = &g->node[i];
        assay_affine map;
        bool found;
        int x;
        if (n->op != ASSAY_OP_BATCH_NORM)
            continue;
        int rank = assay_node_out(g, n, 0)->type.rank;
        int axis = lower_channel_axis(n->attr.batch_norm.layout, rank);
        status = lower_affine_match(g, n, axis, &x, &map, &found, err);
        if (status || !found)
            continue;
        status = rank == 3 || rank == 4 ? to_depthwise(g, i, &map, err)
                                        : to_mul_add(g, i, &map, axis, err);
        lower_affine_free(&map);
        ++*changed;
    }
    if (!status && *changed > 0)
        status = assay_graph_compact(g, NULL, err);
    return status;
}

/* b[K,N] as weights [N,K]. */
static void transpose(const float *b, int64_t k, int64_t n, float *w)
{
    for (int64_t i = 0; i < k; i++)
        for (int64_t j = 0; j < n; j++)
            w[j * k + i] = b[i * n + j];
}

/* The constant NAME:transposed, made once however many nodes multiply by NAME. */
static assay_status transposed_constant(assay_graph *g, const assay_value *b,
                                        const assay_type *type, int *w, assay_error *err)
{
    char *name = assay_arena_alloc(g->arena, strlen(b->name) + 12);
    if (!name)
        return assay_out_of_memory(err);
    *w = assay_graph_find_value(g, strcat(strcpy(name, b->name), ":transposed"));
    if (*w >= 0)
        return ASSAY_OK;
    assay_status status = assay_graph_add_constant(g, name, type, NULL, w, err);
    if (!status)
        transpose(b->data, b->type.dim[0], b->type.dim[1], (float *)g->value[*w].data);
    return status;
}

static assay_status to_fc(assay_graph *g, int node, assay_error *err)
{
    assay_node *n = &g->node[node];
    assay_value b = g->value[n->in[1]];
    int w = n->in[1];
    assay_status status = ASSAY_OK;
    if (!n->attr.matmul.transpose_b) {
        assay_type type = b.type;
        type.dim[0] = b.type.dim[1];
        type.dim[1] = b.type.dim[0];
        status = transposed_constant(g, &b, &type, &w, err);
    }
    if (status)
        return status;
    n->op = ASSAY_OP_FC;
    memset(&n->attr, 0, sizeof n->attr);
    n->in[1] = w;
    return ASSAY_OK;
}

assay_status lower_matmul(assay_graph *g, int *changed, assay_error *err)
{
    assay_status status = ASSAY_OK;
    *changed = 0;
    for (int i = 0; i < g->n_nodes && !status; i++) {
        const assay_node *n = &g->node[i];
        if (n->op != ASSAY_OP_MATMUL || !lower_is_f32_constant(g, n->in[1]) ||
            lower_is_constant(g, n->in[0]) || g->value[n->in[1]].type.rank != 2 ||
            g->value[n->in[0]].type.elem.kind != ASSAY_KIND_F32 ||
            (n->attr.matmul.transpose_a && g->value[n->in[0]].type.rank > 1))
            continue;
        status = to_fc(g, i, err);
        ++*changed;
    }
    return status;
}
