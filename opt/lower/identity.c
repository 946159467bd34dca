/* Nodes that give back what they are given. */
#include <math.h>
#include <stdlib.h>

#include "graph/core/type.h"
#include "graph/memory.h"
#include "opt/lower/pass.h"

static bool all_equal(const assay_list *l, int64_t v)
{
    for (int i = 0; i < l->n; i++)
        if (l->v[i] != v)
            return false;
    return true;
}

static bool is_sorted(const assay_list *l)
{
    for (int i = 0; i < l->n; i++)
        if (l->v[i] != i)
            return false;
    return true;
}

/* Input and output have the same type. */
static bool gives_back_input(const assay_node *n)
{
    const assay_attrs *a = &n->attr;
    switch (n->op) {
    case ASSAY_OP_RESHAPE:
    case ASSAY_OP_EXPAND:
        return true; /* the type says it all */
    case ASSAY_OP_CAST:
        return !assay_is_narrowing(n);
    case ASSAY_OP_CONCAT:
        return n->n_in == 1;
    case ASSAY_OP_SPLIT:
        return n->n_out == 1;
    case ASSAY_OP_TRANSPOSE:
        return is_sorted(&a->perm.perm);
    case ASSAY_OP_SLICE: /* the whole extent, forwards */
        return all_equal(&a->slice.begin, 0) && all_equal(&a->slice.step, 1);
    case ASSAY_OP_PAD:
        return all_equal(&a->pad.begin, 0) && all_equal(&a->pad.end, 0);
    case ASSAY_OP_TILE:
        return all_equal(&a->tile.repeats, 1);
    case ASSAY_OP_CLIP:
        return isinf(a->clip.lo) && a->clip.lo < 0 && isinf(a->clip.hi) && a->clip.hi > 0;
    default:
        return false;
    }
}

static bool is_identity(const assay_graph *g, const assay_node *n)
{
    const assay_value *x = assay_node_in(g, n, 0), *y = assay_node_out(g, n, 0);
    return x && !lower_is_constant(g, n->in[0]) && n->act_lo == -INFINITY &&
           n->act_hi == INFINITY && !n->has_code_bounds &&
           assay_elem_equal(x->type.elem, y->type.elem) && assay_shape_equal(&x->type, &y->type) &&
           assay_qparams_equal(&x->type.q, &y->type.q) && gives_back_input(n);
}

static bool is_output(const assay_graph *g, int value)
{
    for (int i = 0; i < g->n_outputs; i++)
        if (g->output[i] == value)
            return true;
    return false;
}

/* The name of a graph output must survive. It does when the producer of x can yield it directly. */
static bool producer_can_yield(const assay_graph *g, int x, const int *uses)
{
    int producer = g->value[x].producer;
    return producer >= 0 && uses[x] == 1 && g->node[producer].n_out == 1;
}

assay_status lower_drop_narrowing(assay_graph *g, assay_error *err)
{
    int *uses = lower_rewrite_uses(g);
    bool *dead = lower_rewrite_dead(g, 0);
    assay_status status = uses && dead ? ASSAY_OK : assay_out_of_memory(err);

    for (int i = 0; i < g->n_nodes && !status; i++) {
        assay_node *n = &g->node[i];
        if (!assay_is_narrowing(n) || g->value[n->in[0]].type.elem.kind != ASSAY_KIND_F32)
            continue;
        if (producer_can_yield(g, n->in[0], uses)) {
            lower_rewrite_output(g, g->value[n->in[0]].producer, n->out[0]);
            dead[i] = true;
        } else {
            n->attr.cast.to = ASSAY_CAST_F32;
        }
    }
    if (!status)
        status = assay_graph_compact(g, dead, err);
    free(uses);
    free(dead);
    return status;
}

assay_status lower_eliminate_identity(assay_graph *g, int *changed, assay_error *err)
{
    int *uses = lower_rewrite_uses(g);
    bool *dead = lower_rewrite_dead(g, 0);
    int *stands_for = malloc(((size_t)g->n_values + 1) * sizeof *stands_for);
    assay_status status = uses && dead && stands_for ? ASSAY_OK : assay_out_of_memory(err);
    *changed = 0;
    for (int v = 0; v < g->n_values && !status; v++)
        stands_for[v] = v;
    for (int i = 0; i < g->n_nodes && !status; i++) {
        assay_node *n = &g->node[i];
        for (int j = 0; j < n->n_in; j++)
            n->in[j] = n->in[j] < 0 ? n->in[j] : stands_for[n->in[j]];
        if (!is_identity(g, n))
            continue;
        int x = n->in[0], y = n->out[0];
        if (!is_output(g, y)) {
            stands_for[y] = x;
            uses[x] += uses[y] - 1;
        } else if (producer_can_yield(g, x, uses)) {
            lower_rewrite_output(g, g->value[x].producer, y);
        } else {
            continue;
        }
        dead[i] = true;
        ++*changed;
    }
    if (!status && *changed > 0)
        status = assay_graph_compact(g, dead, err);
    free(uses);
    free(dead);
    free(stands_for);
    return status;
}
