/* Bounds: the lesser or the greater of a value and one number is a clip; of a clip (or relu) behind
 * a clip that nobody else sees, one is left. */
#include <math.h>
#include <stdlib.h>

#include "graph/memory.h"
#include "opt/lower/nodes.h"
#include "opt/lower/pass.h"

/* min or max with one finite number; *x: the other operand. */
static bool is_bound(const assay_graph *g, const assay_node *n, int *x, float *number)
{
    if ((n->op != ASSAY_OP_MIN && n->op != ASSAY_OP_MAX) || !lower_is_plain(n))
        return false;
    for (int i = 0; i < 2; i++) {
        int c = n->in[1 - i];
        if (!lower_is_f32_constant(g, c) || assay_shape_count(&g->value[c].type) != 1 ||
            !assay_shape_equal(&g->value[n->in[i]].type, &g->value[n->out[0]].type))
            continue;
        *x = n->in[i];
        *number = *(const float *)g->value[c].data;
        return isfinite(*number);
    }
    return false;
}

/* The bounds of a relu or clip on floats. */
static bool bounds_of(const assay_graph *g, const assay_node *n, float *lo, float *hi)
{
    if ((n->op != ASSAY_OP_CLIP && n->op != ASSAY_OP_RELU) || !lower_is_plain(n) ||
        !lower_is_float(assay_node_out(g, n, 0)))
        return false;
    *lo = n->op == ASSAY_OP_CLIP ? n->attr.clip.lo : 0;
    *hi = n->op == ASSAY_OP_CLIP ? n->attr.clip.hi : INFINITY;
    return *lo <= *hi;
}

static void to_clip(assay_node *n, int x, float lo, float hi)
{
    n->op = ASSAY_OP_CLIP;
    assay_attrs_defaults(assay_op_get(n->op)->attrs, &n->attr);
    n->attr.clip.lo = lo;
    n->attr.clip.hi = hi;
    n->in[0] = x;
    n->n_in = 1;
}

static float within(float v, float lo, float hi)
{
    return v < lo ? lo : v > hi ? hi : v;
}

static bool lower_one(assay_graph *g, const int *uses, int node)
{
    assay_node *n = &g->node[node];
    float number, lo, hi, inner_lo, inner_hi;
    int x;
    if (is_bound(g, n, &x, &number)) {
        to_clip(n, x, n->op == ASSAY_OP_MAX ? number : -INFINITY,
                n->op == ASSAY_OP_MIN ? number : INFINITY);
        return true;
    }
    int producer = n->n_in > 0 && n->in[0] >= 0 ? g->value[n->in[0]].producer : -1;
    if (producer < 0 || uses[n->in[0]] != 1 || !bounds_of(g, n, &lo, &hi) ||
        !bounds_of(g, &g->node[producer], &inner_lo, &inner_hi))
        return false;
    to_clip(n, g->node[producer].in[0], within(inner_lo, lo, hi), within(inner_hi, lo, hi));
    return true;
}

assay_status lower_clip(assay_graph *g, int *changed, assay_error *err)
{
    int *uses = lower_rewrite_uses(g);
    *changed = 0;
    for (int i = 0; i < g->n_nodes && uses; i++)
        *changed += lower_one(g, uses, i);
    free(uses);
    return uses ? ASSAY_OK : assay_out_of_memory(err);
}
