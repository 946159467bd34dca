/* The greatest magnitude that an accumulator of a node may reach, whatever its inputs hold. Of
 * products: for each output channel the sum of |w - zw| times the greatest |x - zx|, plus |bias|;
 * where the right operand is computed, the greatest |w - zw| at every place. */
#include <stdlib.h>

#include "graph/memory.h"
#include "interp/ref/ref.h"
#include "interp/run/bound.h"
#include "interp/run/check.h"

/* Where output channels stand in a constant right operand: element i is of channel
 * i / inner % per + i / block * per. */
typedef struct channels {
    int64_t inner, per, block, outputs;
} channels;

static channels channels_of(const assay_node *n, const assay_type *w)
{
    const int64_t count = assay_shape_count(w);
    if (n->op == ASSAY_OP_MATMUL && w->rank < 2)
        return (channels){count, 1, count, 1};
    if (n->op == ASSAY_OP_MATMUL) { /* each matrix has channels of its own */
        const int64_t last = w->dim[w->rank - 1], other = w->dim[w->rank - 2];
        const bool rows = n->attr.matmul.transpose_b;
        const int64_t per = rows ? other : last, matrices = count / (last * other);
        return (channels){rows ? last : 1, per, last * other, per * matrices};
    }
    if (n->op == ASSAY_OP_CONV_TRANSPOSE && n->attr.conv.layout != ASSAY_LAYOUT_NHWC) {
        const int64_t group = n->attr.conv.group, per = w->dim[1];
        return (channels){count / w->dim[0] / per, per, count / group, per * group};
    }
    return (channels){count / w->dim[0], w->dim[0], count, w->dim[0]};
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
                            ref_zero_point(&w->type, n->op == ASSAY_OP_MATMUL ? o % k.per : o));
    }
    for (int64_t o = 0; o < k.outputs; o++) {
        const int64_t b =
            bias ? magnitude(assay_elem_get(bias->type.elem, bias->data, (size_t)o)) : 0;
        if (run_bound_of(sum[o], reach, b) > bound) {
            bound = run_bound_of(sum[o], reach, b);
            *worst = o;
        }
    }
    return bound;
}

/* Products in one sum. */
static int64_t depth_of(const assay_node *n, const assay_type *x, const assay_type *w)
{
    const bool rows = n->op == ASSAY_OP_MATMUL && n->attr.matmul.transpose_a && x->rank > 1;
    if (n->op == ASSAY_OP_MATMUL)
        return x->dim[x->rank - (rows ? 2 : 1)];
    return assay_shape_count(w) / channels_of(n, w).outputs;
}

/* The greatest magnitude of a bias that is computed. */
static int64_t reach_of_bias(const assay_value *bias)
{
    if (!bias)
        return 0;
    return bias->type.elem.bits < 64 ? INT64_C(1) << (bias->type.elem.bits - 1) : INT64_MAX;
}

/* Sums of nothing but the bias. */
static int64_t greatest_bias(const assay_value *bias, int64_t *worst)
{
    int64_t bound = 0;
    if (bias && !bias->data)
        return reach_of_bias(bias);
    for (int64_t o = 0; bias && o < assay_shape_count(&bias->type); o++) {
        const int64_t b = magnitude(assay_elem_get(bias->type.elem, bias->data, (size_t)o));
        *worst = b > bound ? o : *worst;
        bound = b > bound ? b : bound;
    }
    return bound;
}

static bool is_constant(const assay_value *v)
{
    return !v || (v->data && !v->is_variable);
}

static assay_status refuse(const assay_node *n, int64_t channel, int64_t bound, int64_t limit,
                           assay_error *err)
{
    const char *op = assay_op_get(n->op)->name;
    if (channel < 0)
        return assay_fail(
            err, ASSAY_ERR_SCHEME,
            "node '%s' (%s): its sums may reach %lld, and the scheme refuses what may "
            "leave its accumulator, which holds %lld",
            n->name, op, (long long)bound, (long long)limit);
    return assay_fail(err, ASSAY_ERR_SCHEME,
                      "node '%s' (%s): the sums of output channel %lld may reach %lld, and the "
                      "scheme refuses what may leave its accumulator, which holds %lld",
                      n->name, op, (long long)channel, (long long)bound, (long long)limit);
}

static assay_status check_blocks(const assay_graph *g, const assay_node *n,
                                 const assay_scheme_vtable *vt, const assay_unit *unit,
                                 int64_t limit, assay_error *err)
{
    bool within;
    int64_t channel = 0;
    const assay_status status = run_bound_blocks(g, n, vt, unit, &within, &channel, err);
    if (status || within)
        return status;
    return assay_fail(err, ASSAY_ERR_SCHEME,
                      "node '%s' (%s): the blocks of output channel %lld may add up to more than "
                      "%lld, and the scheme refuses what may leave its accumulator",
                      n->name, assay_op_get(n->op)->name, (long long)channel, (long long)limit);
}

static assay_status check_products(const assay_graph *g, const assay_node *n,
                                   const assay_scheme_vtable *vt, const assay_unit *unit,
                                   int64_t limit, assay_error *err)
{
    const assay_value *x = assay_node_in(g, n, 0), *w = assay_node_in(g, n, 1);
    const assay_value *bias = n->n_in > 2 ? assay_node_in(g, n, 2) : NULL;
    const bool constant = is_constant(w) && is_constant(bias);
    int64_t bound, worst = 0;
    if (assay_shape_count(&w->type) == 0) {
        bound = greatest_bias(bias, &worst);
        return bound <= limit ? ASSAY_OK : refuse(n, worst, bound, limit, err);
    }
    if (constant && w->type.q.granularity == ASSAY_Q_BLOCK)
        return check_blocks(g, n, vt, unit, limit, err);
    if (constant) {
        int64_t *sum = calloc((size_t)channels_of(n, &w->type).outputs + 1, sizeof *sum);
        if (!sum)
            return assay_out_of_memory_for(err, "node '%s': bounding its sums", n->name);
        bound = worst_channel(n, w, bias, run_bound_reach(&x->type), sum, &worst);
        free(sum);
    } else {
        const int64_t depth = depth_of(n, &x->type, &w->type);
        bound = run_bound_of(run_bound_of(depth, run_bound_reach(&x->type), 0),
                             run_bound_reach(&w->type), reach_of_bias(bias));
    }
    return bound <= limit ? ASSAY_OK : refuse(n, worst, bound, limit, err);
}

/* Whether an average adds in floats, in the window's order. */
static bool is_ordered(const assay_node *n, const assay_scheme_vtable *vt, const assay_unit *unit)
{
    const bool pool = n->op == ASSAY_OP_AVG_POOL || n->op == ASSAY_OP_GLOBAL_AVG_POOL;
    return pool && vt->window && vt->window(unit, NULL, 0, 0, NULL);
}

bool run_has_sums(const assay_node *n, unsigned calls, const assay_scheme_vtable *vt,
                  const assay_unit *unit)
{
    return calls & ASSAY_CALLS_ACCUMULATE || (calls & ASSAY_CALLS_POOL && !is_ordered(n, vt, unit));
}

assay_status run_check_accumulator(const assay_graph *g, const assay_node *n, unsigned calls,
                                   const assay_scheme_vtable *vt, const assay_unit *unit,
                                   assay_error *err)
{
    const bool sums = run_has_sums(n, calls, vt, unit);
    const int64_t limit = sums && ASSAY_SCHEME_HAS(vt, facts, limit) ? vt->facts->limit(unit) : 0;
    if (limit == 0)
        return ASSAY_OK;
    if (calls & ASSAY_CALLS_ACCUMULATE)
        return check_products(g, n, vt, unit, limit, err);
    const int64_t bound = run_bound_of_sums(g, n);
    return bound <= limit ? ASSAY_OK : refuse(n, -1, bound, limit, err);
}
