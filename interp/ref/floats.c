/* Kernels of nodes of floats under a scheme that computes them in integers; an f32 travels as its
 * bits.
 *
 *   y = f(x of the reduced axes)             reduce_mean, _sum, _max, _min
 *   y = f(x of the window's cells, count)    avg_pool, global_avg_pool, max_pool
 *
 * Cells are walked in C order; of padding that counts, a cell is +0. Element-wise ops and rows are
 * those of codes (unary.c, binary.c, row.c). */

#include "interp/move/move.h"
#include "interp/ref/ref.h"
#include "interp/ref/slide.h"

static bool is_reduced(const assay_list *axes, int d)
{
    bool is = false;
    for (int i = 0; i < axes->n; i++)
        is = is || axes->v[i] == d;
    return is;
}

/* A walk of x by two sets of axes: those that stay, and those that are reduced. */
typedef struct two_walks {
    int n[2];
    int64_t dim[2][ASSAY_MAX_RANK], step[2][ASSAY_MAX_RANK], count[2];
} two_walks;

static void add_axis(two_walks *w, int set, int64_t dim, int64_t step)
{
    w->dim[set][w->n[set]] = dim;
    w->step[set][w->n[set]++] = step;
    w->count[set] *= dim;
}

static two_walks walks_of(const assay_node *n, const assay_type *x)
{
    two_walks w = {.count = {1, 1}};
    int64_t step[ASSAY_MAX_RANK];
    move_c_steps(x, step);
    const int channel = n->op == ASSAY_OP_GLOBAL_AVG_POOL
                            ? (n->attr.layout.layout == ASSAY_LAYOUT_NHWC ? x->rank - 1 : 1)
                            : -1;
    for (int d = 0; d < x->rank; d++) {
        const bool reduced =
            channel >= 0 ? d > 0 && d != channel : is_reduced(&n->attr.reduce.axes, d);
        add_axis(&w, reduced, x->dim[d], step[d]);
    }
    return w;
}

/* Element i, in C order, of one set of axes. */
static int64_t place(const two_walks *w, int set, int64_t i)
{
    int64_t at = 0;
    for (int d = w->n[set] - 1; d >= 0; d--) {
        at += i % w->dim[set][d] * w->step[set][d];
        i /= w->dim[set][d];
    }
    return at;
}

size_t ref_float_reduce_scratch(const assay_graph *g, const assay_node *n)
{
    size_t used = 0;
    ref_carve(NULL, &used, walks_of(n, &assay_node_in(g, n, 0)->type).count[1] + 1,
              sizeof(int32_t));
    return used;
}

assay_status ref_float_reduce(assay_call *call, assay_error *err)
{
    const two_walks w = walks_of(call->node, call->in[0].type);
    size_t used = 0;
    int32_t *row = ref_carve(call->scratch, &used, w.count[1] + 1, sizeof *row), y;
    const size_t n = (size_t)w.count[1];
    (void)err;

    for (int64_t o = 0; o < w.count[0]; o++) {
        const int64_t first = place(&w, 0, o);
        for (size_t i = 0; i < n; i++)
            ref_load_row(&call->in[0], first + place(&w, 1, (int64_t)i), 1, 1, &row[i]);
        row[n] = (int32_t)n;
        call->vt->row(call->unit, row, n, &y);
        ref_store_row(&call->out[0], o, 1, 1, &y);
    }
    return ASSAY_OK;
}

typedef struct pool_scratch {
    int64_t *tap; /* kernel cells */
    int32_t *row; /* kernel cells that are there, and their count */
} pool_scratch;

static size_t carve(const assay_window *w, char *memory, pool_scratch *s)
{
    size_t used = 0;
    s->tap = ref_carve(memory, &used, w->taps, sizeof *s->tap);
    s->row = ref_carve(memory, &used, w->taps + 1, sizeof *s->row);
    return used;
}

static assay_window window_of(const assay_graph *g, const assay_node *n)
{
    assay_window w;
    kernel_window_of_pool(&w, &n->attr.pool, &assay_node_in(g, n, 0)->type,
                          &assay_node_out(g, n, 0)->type);
    return w;
}

size_t ref_float_pool_scratch(const assay_graph *g, const assay_node *n)
{
    const assay_window w = window_of(g, n);
    pool_scratch s;
    return carve(&w, NULL, &s);
}

assay_status ref_float_pool(assay_call *call, assay_error *err)
{
    const assay_window w = window_of(call->graph, call->node);
    const assay_strides in = kernel_strides_in(&w), out = kernel_strides_out(&w);
    const bool include_pad =
        call->node->op == ASSAY_OP_AVG_POOL && call->node->attr.pool.count_include_pad;
    pool_scratch s;
    (void)err;

    carve(&w, call->scratch, &s);
    for (int64_t i = 0; i < w.batch * w.in_channels * w.out_area; i++) {
        const int64_t n = i / (w.in_channels * w.out_area), c = i / w.out_area % w.in_channels,
                      p = i % w.out_area;
        const int64_t inside = ref_slide_taps(&w, p, s.tap);
        size_t cells = 0;
        int32_t y;
        for (int64_t k = 0; k < w.taps; k++)
            if (s.tap[k] >= 0)
                ref_load_row(&call->in[0], n * in.image + c * in.channel + s.tap[k], 1, 1,
                             &s.row[cells++]);
        s.row[cells] = (int32_t)(include_pad ? ref_slide_padded_count(&w, p) : inside);
        call->vt->row(call->unit, s.row, cells, &y);
        ref_store_row(&call->out[0], n * out.image + c * out.channel + p * out.cell, 1, 1, &y);
    }
    return ASSAY_OK;
}

#define KERNEL(ID, name, calls_)                                                                   \
    [ASSAY_OP_##ID] = {.run = ref_##name,                                                          \
                       .scratch = ref_##name##_scratch,                                            \
                       .needs_unit = true,                                                         \
                       .calls = ASSAY_CALLS_##calls_}

static const assay_kernel kernels[ASSAY_OP_COUNT] = {
    KERNEL(BLOCK_SCALE, blocks, ROW),
    KERNEL(FLOAT_ENCODE, blocks, ROW),
    KERNEL(FLOAT_DECODE, blocks, ROW),
    KERNEL(SCALED_MATMUL, scaled_matmul, DOT),
    KERNEL(SOFTMAX, row, ROW),
    KERNEL(L2_NORM, row, ROW),
    KERNEL(LAYER_NORM, row, ROW),
    KERNEL(REDUCE_MEAN, float_reduce, ROW),
    KERNEL(REDUCE_SUM, float_reduce, ROW),
    KERNEL(REDUCE_MAX, float_reduce, ROW),
    KERNEL(REDUCE_MIN, float_reduce, ROW),
    KERNEL(GLOBAL_AVG_POOL, float_reduce, ROW),
    KERNEL(AVG_POOL, float_pool, ROW),
    KERNEL(MAX_POOL, float_pool, ROW),
};

assay_kernel ref_float_kernel(assay_op op)
{
    const uint32_t traits = assay_op_get(op)->traits;
    if (kernels[op].run)
        return kernels[op];
    if (traits & ASSAY_T_UNARY && op != ASSAY_OP_LOOKUP)
        return (assay_kernel){.run = ref_unary, .needs_unit = true, .calls = ASSAY_CALLS_UNARY};
    if (traits & ASSAY_T_BINARY && !(traits & (ASSAY_T_COMPARE | ASSAY_T_FLOAT_ONLY)))
        return (assay_kernel){.run = ref_binary, .needs_unit = true, .calls = ASSAY_CALLS_BINARY};
    return (assay_kernel){0};
}
