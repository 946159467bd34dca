/* Per-channel affine maps y = a[c] * x + b[c], recognised in a node; see affine.h. */
#include "opt/lower/affine.h"
#include "graph/memory.h"

#include <math.h>
#include <stdlib.h>

static assay_status allocate(assay_affine *map, int64_t channels, assay_error *err)
{
    map->channels = channels;
    map->a = calloc((size_t)channels + 1, sizeof *map->a);
    map->b = calloc((size_t)channels + 1, sizeof *map->b);
    if (map->a && map->b)
        return ASSAY_OK;
    lower_affine_free(map);
    return assay_out_of_memory(err);
}

void lower_affine_free(assay_affine *map)
{
    free(map->a);
    free(map->b);
    *map = (assay_affine){0};
}

/* y = scale * (x - mean) / sqrt(variance + epsilon) + bias */
static void from_batch_norm(const assay_graph *g, const assay_node *n, assay_affine *map)
{
    const float *p[5];
    for (int i = 1; i < 5; i++)
        p[i] = g->value[n->in[i]].data;
    for (int64_t c = 0; c < map->channels; c++) {
        map->a[c] = (double)p[1][c] / sqrt((double)p[4][c] + (double)n->attr.batch_norm.epsilon);
        map->b[c] = (double)p[2][c] - (double)p[3][c] * map->a[c];
    }
}

static bool batch_norm_matches(const assay_graph *g, const assay_node *n, int axis)
{
    const assay_type *y = &assay_node_out(g, n, 0)->type;
    if (axis != lower_channel_axis(n->attr.batch_norm.layout, y->rank))
        return false;
    for (int i = 1; i < 5; i++)
        if (!lower_is_f32_constant(g, n->in[i]) ||
            assay_shape_count(&g->value[n->in[i]].type) != y->dim[axis])
            return false;
    return true;
}

/* Whether constant c, aligned with y at the last dimension, varies along `axis` only. */
static bool varies_along(const assay_type *c, const assay_type *y, int axis)
{
    for (int i = 0; i < c->rank; i++) {
        int at = y->rank - c->rank + i;
        if (c->dim[i] != 1 && (at != axis || c->dim[i] != y->dim[axis]))
            return false;
    }
    return c->rank <= y->rank;
}

static void from_arithmetic(assay_op op, bool constant_first, const assay_value *c,
                            assay_affine *map)
{
    const float *data = c->data;
    bool one = assay_shape_count(&c->type) == 1;
    for (int64_t i = 0; i < map->channels; i++) {
        double v = (double)data[one ? 0 : i];
        map->a[i] = 1;
        if (op == ASSAY_OP_ADD)
            map->b[i] = v;
        else if (op == ASSAY_OP_SUB)
            map->b[i] = constant_first ? v : -v;
        else
            map->a[i] = op == ASSAY_OP_MUL ? v : 1 / v;
        if (op == ASSAY_OP_SUB && constant_first)
            map->a[i] = -1;
    }
}

assay_status lower_affine_match(const assay_graph *g, const assay_node *n, int axis, int *x,
                                assay_affine *map, bool *found, assay_error *err)
{
    const assay_type *y = &assay_node_out(g, n, 0)->type;
    *found = false;
    *map = (assay_affine){0};
    if (y->elem.kind != ASSAY_KIND_F32 || axis >= y->rank || n->act_lo != -INFINITY ||
        n->act_hi != INFINITY)
        return ASSAY_OK;
    if (n->op == ASSAY_OP_BATCH_NORM) {
        *x = n->in[0];
        *found = batch_norm_matches(g, n, axis);
        assay_status status = *found ? allocate(map, y->dim[axis], err) : ASSAY_OK;
        if (*found && !status)
            from_batch_norm(g, n, map);
        return status;
    }
    if (n->op != ASSAY_OP_ADD && n->op != ASSAY_OP_SUB && n->op != ASSAY_OP_MUL &&
        n->op != ASSAY_OP_DIV)
        return ASSAY_OK;
    bool first = lower_is_f32_constant(g, n->in[0]);
    int c = n->in[first ? 0 : 1];
    *x = n->in[first ? 1 : 0];
    if (!lower_is_f32_constant(g, c) || (first && n->op == ASSAY_OP_DIV) ||
        !assay_shape_equal(&g->value[*x].type, y) || !varies_along(&g->value[c].type, y, axis))
        return ASSAY_OK;
    assay_status status = allocate(map, y->dim[axis], err);
    *found = !status;
    if (*found)
        from_arithmetic(n->op, first, &g->value[c], map);
    return status;
}
