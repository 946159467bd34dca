/* The greatest magnitude that an accumulator of a node may reach, whatever its inputs hold: for
 * each output channel the sum of |w - zw| times the greatest |x - zx|, plus |bias|; where the right
 * operand is computed, the greatest |w - zw| at every place. */
#include <stdlib.h>

#include "interp/check.h"
#include "interp/ref/ref.h"

static int64_t reach_of(const assay_type *t)
{
    int64_t most = 0;
    const size_t points = t->q.granularity == ASSAY_Q_AXIS ? t->q.count : 1;
    for (size_t i = 0; i < points; i++) {
        const int64_t z = assay_zero_point(t, (int64_t)i);
        const int64_t lo = z - assay_elem_min(t->elem), hi = assay_elem_max(t->elem) - z;
        most = lo > most ? lo : most;
        most = hi > most ? hi : most;
    }
    return most;
}

/* Where output channels stand in a constant right operand: element i is of channel
 * i / inner % per + i / block * per. */
typedef struct channels {
    int64_t inner, per, block, outputs;
} channels;

static channels channels_of(const assay_node *n, const assay_type *w)
{
    const int64_t count = assay_shape_count(w);
    if (n->op == ASSAY_OP_MATMUL && !n->attr.matmul.transpose_b)
        return (channels){1, w->dim[w->rank - 1], count, w->dim[w->rank - 1]};
    if (n->op == ASSAY_OP_MATMUL)
        return (channels){w->dim[w->rank - 1], w->dim[w->rank - 2], count, w->dim[w->rank - 2]};
    if (n->op == ASSAY_OP_CONV_TRANSPOSE && n->attr.conv.layout != ASSAY_LAYOUT_NHWC) {
        const int64_t group = n->attr.conv.group, per = w->dim[1];
        return (channels){count / w->dim[0] / per, per, count / group, per * group};
    }
    return (channels){count / w->dim[0], w->dim[0], count, w->dim[0]};
}

/* a * b + c of what is not negative, or the greatest int64. */
static int64_t bound_of(int64_t a, int64_t b, int64_t c)
{
    return b > 0 && a > (INT64_MAX - c) / b ? INT64_MAX : a * b + c;
}

static int64_t magnitude(int64_t x)
{
    return x < 0 ? -x : x;
}

/* sum[o]: of |w - zw|; *worst the channel whose bound is greatest. */
static int64_t worst_channel(const assay_node *n, const assay_value *w, const assay_value *bias,
                             int64_t reach, int64_t *sum, int64_t *worst)
{
    const channels k = channels_of(n, &w->type);
    int64_t bound = -1;
    for (int64_t i = 0; i < assay_shape_count(&w->type); i++) {
        const int64_t o = i / k.inner % k.per + i / k.block * k.per;
        sum[o] += magnitude((int64_t)assay_elem_get(w->type.elem, w->data, (size_t)i) -
                            assay_zero_point(&w->type, o));
    }
    for (int64_t o = 0; o < k.outputs; o++) {
        const int64_t b =
            bias ? magnitude(assay_elem_get(bias->type.elem, bias->data, (size_t)o)) : 0;
        if (bound_of(sum[o], reach, b) > bound) {
            bound = bound_of(sum[o], reach, b);
            *worst = o;
        }
    }
    return bound;
}

static bool is_constant(const assay_value *v)
{
    return !v || (v->data && !v->is_variable);
}

assay_status assay_check_accumulator(const assay_graph *g, const assay_node *n,
                                     const assay_scheme_vtable *vt, const assay_unit *unit,
                                     assay_error *err)
{
    const bool weighted = n->op == ASSAY_OP_CONV || n->op == ASSAY_OP_CONV_TRANSPOSE ||
                          n->op == ASSAY_OP_FC || n->op == ASSAY_OP_MATMUL;
    const bool asks = vt->size >= offsetof(assay_scheme_vtable, limit) + sizeof vt->limit;
    const int64_t limit = weighted && asks && vt->limit ? vt->limit(unit) : 0;
    const assay_value *x = assay_node_in(g, n, 0), *w = assay_node_in(g, n, 1);
    if (limit == 0 || w->type.q.granularity == ASSAY_Q_BLOCK)
        return ASSAY_OK;
    const assay_value *bias = n->n_in > 2 ? assay_node_in(g, n, 2) : NULL;
    int64_t bound, worst = 0;
    if (is_constant(w) && is_constant(bias)) {
        int64_t *sum = calloc((size_t)channels_of(n, &w->type).outputs + 1, sizeof *sum);
        if (!sum)
            return assay_fail(err, ASSAY_ERR_MEMORY, "node '%s': no memory to bound its sums",
                              n->name);
        bound = worst_channel(n, w, bias, reach_of(&x->type), sum, &worst);
        free(sum);
    } else {
        const int64_t depth =
            assay_node_macs(g, n) / assay_shape_count(&assay_node_out(g, n, 0)->type);
        bound = bound_of(bound_of(depth, reach_of(&x->type), 0), reach_of(&w->type),
                         bias ? INT32_MAX : 0);
    }
    if (bound <= limit)
        return ASSAY_OK;
    return assay_fail(err, ASSAY_ERR_SCHEME,
                      "node '%s' (%s): the sums of output channel %lld may reach %lld, and the "
                      "scheme refuses what may leave its accumulator, which holds %lld",
                      n->name, assay_op_get(n->op)->name, (long long)worst, (long long)bound,
                      (long long)limit);
}
