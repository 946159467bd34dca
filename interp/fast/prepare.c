/* Choice of the nodes that the fast engine takes. */
#include <assert.h>

#include "interp/fast/fast.h"

/* Weights with a scale for each block of inputs. */
static bool is_by_block(const assay_fast_setup *s)
{
    const assay_value *w = s->node->n_in > 1 ? assay_node_in(s->graph, s->node, 1) : NULL;
    return w && w->type.q.granularity == ASSAY_Q_BLOCK;
}

static bool is_constant(const assay_fast_setup *s, int input)
{
    const assay_value *v = input < s->node->n_in ? assay_node_in(s->graph, s->node, input) : NULL;
    return !v || (v->data && !v->is_variable);
}

/* Whether the accumulator may refuse a sum of codes: the reference names the first element in its
 * own order. */
static bool may_trap(const assay_fast_setup *s)
{
    const assay_type *x = &assay_node_in(s->graph, s->node, 0)->type;
    const int64_t lo = assay_elem_min(x->elem), hi = assay_elem_max(x->elem);
    const int64_t count = assay_shape_count(x), max = hi > -lo ? hi : -lo;
    bool trapped = count > INT64_MAX / max;
    if (!trapped) {
        s->vt->apply_overflow(s->unit, count * max, &trapped);
        s->vt->apply_overflow(s->unit, -count * max, &trapped);
    }
    return trapped;
}

/* The cells of a window, or of what is reduced, one element of the output. */
static int64_t cells_of(const assay_fast_setup *s)
{
    const assay_type *x = &assay_node_in(s->graph, s->node, 0)->type;
    const assay_type *y = &assay_node_out(s->graph, s->node, 0)->type;
    int64_t cells = 1;
    if (s->node->op != ASSAY_OP_AVG_POOL)
        return assay_shape_count(x) / assay_shape_count(y);
    for (int i = 0; i < s->node->attr.pool.kernel.n; i++)
        cells *= s->node->attr.pool.kernel.v[i];
    return cells;
}

/* Sums of blocks are bounded by nobody here; a cell of padding adds nothing. */
static bool may_refuse_sums(const assay_fast_setup *s)
{
    assay_interval sums = {-(INT64_C(1) << 62), INT64_C(1) << 62};
    const assay_type *x = &assay_node_in(s->graph, s->node, 0)->type;
    if (s->node->n_in == 1 && x->elem.bits <= 16 && cells_of(s) <= INT32_MAX) {
        const assay_interval codes = fast_codes_of(x);
        sums.lo = codes.lo < 0 ? codes.lo * cells_of(s) : 0;
        sums.hi = codes.hi > 0 ? codes.hi * cells_of(s) : 0;
    }
    return fast_may_refuse(s, sums) || may_trap(s);
}

static assay_status product(const assay_fast_setup *s, assay_fast **out, assay_error *err)
{
    const bool matrix = is_constant(s, 1) && assay_node_in(s->graph, s->node, 1)->type.rank == 2;
    return matrix ? fast_fc(s, out, err) : fast_matmul(s, out, err);
}

static assay_status resize(const assay_fast_setup *s, assay_fast **out, assay_error *err)
{
    return s->node->attr.resize.mode == ASSAY_RESIZE_NEAREST ? fast_resize_nearest(s, out, err)
                                                             : fast_resize_linear(s, out, err);
}

/* What has a fast form, and what that asks for: weights and bias that are constants, sums that the
 * scheme refuses none of. */
enum { WEIGHTS = 1, SUMS = 2 };
typedef struct taker {
    assay_status (*make)(const assay_fast_setup *s, assay_fast **out, assay_error *err);
    unsigned asks;
} taker;

static const taker takers[ASSAY_OP_COUNT] = {
    [ASSAY_OP_CONV] = {fast_conv, WEIGHTS},
    [ASSAY_OP_CONV_TRANSPOSE] = {fast_conv, WEIGHTS},
    [ASSAY_OP_FC] = {fast_fc, WEIGHTS},
    [ASSAY_OP_MATMUL] = {product, 0},
    [ASSAY_OP_SCALED_MATMUL] = {fast_scaled_matmul, 0},
    [ASSAY_OP_TRANSPOSE] = {fast_transpose, 0},
    [ASSAY_OP_QUANTIZE] = {fast_quantize, 0},
    [ASSAY_OP_DEQUANTIZE] = {fast_dequantize, 0},
    [ASSAY_OP_MAX_POOL] = {fast_max_pool, 0},
    [ASSAY_OP_AVG_POOL] = {fast_avg_pool, SUMS},
    [ASSAY_OP_GLOBAL_AVG_POOL] = {fast_avg_pool, SUMS},
    [ASSAY_OP_REDUCE_MEAN] = {fast_reduce, SUMS},
    [ASSAY_OP_REDUCE_SUM] = {fast_reduce, SUMS},
    [ASSAY_OP_REDUCE_MAX] = {fast_reduce, 0},
    [ASSAY_OP_REDUCE_MIN] = {fast_reduce, 0},
    [ASSAY_OP_RESIZE] = {resize, 0},
    [ASSAY_OP_SOFTMAX] = {fast_row, 0},
    [ASSAY_OP_LOG_SOFTMAX] = {fast_row, 0},
    [ASSAY_OP_L2_NORM] = {fast_row, 0},
    [ASSAY_OP_LRN] = {fast_row, 0},
    [ASSAY_OP_LAYER_NORM] = {fast_row, 0},
};

/* Functions of one code or two have no line of their own. */
static taker taker_of(const assay_fast_setup *s)
{
    const unsigned calls = ref_kernel(s->node->op).calls;
    if (is_by_block(s)) {
        const bool takes = s->node->op == ASSAY_OP_FC || s->node->op == ASSAY_OP_MATMUL;
        return (taker){takes ? fast_fc_blocks : NULL, WEIGHTS | SUMS};
    }
    if (takers[s->node->op].make)
        return takers[s->node->op];
    return (taker){calls == ASSAY_CALLS_UNARY    ? fast_unary
                   : calls == ASSAY_CALLS_BINARY ? fast_binary
                                                 : NULL,
                   0};
}

static bool is_empty(const assay_value *v)
{
    return assay_shape_count(&v->type) == 0;
}

assay_status fast_prepare(const assay_fast_setup *s, assay_fast **out, assay_error *err)
{
    assert((unsigned)s->node->op < ASSAY_OP_COUNT && s->kernels);
    *out = NULL;
    if (s->node->op != ASSAY_OP_TRANSPOSE && !s->unit)
        return ASSAY_OK;
    if (is_empty(assay_node_out(s->graph, s->node, 0)) ||
        is_empty(assay_node_in(s->graph, s->node, 0)))
        return ASSAY_OK;
    if (s->unit && !assay_node_is_quantized(s->graph, s->node) &&
        s->node->op != ASSAY_OP_SCALED_MATMUL) /* floats in stated steps */
        return ASSAY_OK;
    const taker t = taker_of(s);
    if (!t.make || (t.asks & WEIGHTS && !(is_constant(s, 1) && is_constant(s, 2))) ||
        (t.asks & SUMS && may_refuse_sums(s)))
        return ASSAY_OK;
    return t.make(s, out, err);
}

void fast_free(assay_fast *f)
{
    if (f)
        f->free(f);
}
