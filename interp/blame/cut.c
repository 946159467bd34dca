/* A case cut to a part of its output: windows to some rows, weights to some channels, element-wise
 * ops to a block. */
#include <assert.h>
#include <string.h>

#include "interp/blame/cut.h"

bool blame_case_window(const blame_case *c, assay_window *w)
{
    if (c->op == ASSAY_OP_CONV)
        kernel_window_of_conv(w, &c->attr.conv, &c->in[0], &c->out);
    else if (c->op == ASSAY_OP_MAX_POOL || c->op == ASSAY_OP_AVG_POOL)
        kernel_window_of_pool(w, &c->attr.pool, &c->in[0], &c->out);
    else
        return false;
    /* What the last window of ceil_mode hangs over the end is no padding that counts. */
    return c->op != ASSAY_OP_AVG_POOL || !c->attr.pool.ceil_mode;
}

typedef struct pads {
    assay_list *kernel, *stride, *dilation, *begin, *end;
} pads;

static pads pads_of(blame_case *c)
{
    if (c->op == ASSAY_OP_CONV) {
        assay_attr_conv *a = &c->attr.conv;
        return (pads){&a->kernel, &a->stride, &a->dilation, &a->pad_begin, &a->pad_end};
    }
    assay_attr_pool *a = &c->attr.pool;
    return (pads){&a->kernel, &a->stride, &a->dilation, &a->pad_begin, &a->pad_end};
}

static bool narrow_axis(blame_case *c, int k, int axis, int64_t first, int64_t end,
                        int64_t in_first, int64_t in_end)
{
    const pads p = pads_of(c);
    const int64_t reach = (p.kernel->v[k] - 1) * p.dilation->v[k] + 1;
    const int64_t begin = first * p.stride->v[k] - p.begin->v[k];
    const int64_t finish = (end - 1) * p.stride->v[k] - p.begin->v[k] + reach;
    const int64_t from = begin > in_first ? begin : in_first;
    const int64_t to = finish < in_end ? finish : in_end;
    if (from >= to)
        return false;
    if (from != 0 || to != c->in[0].dim[axis]) {
        c->data[0] = blame_slice(c->arena, &c->in[0], c->data[0], axis, from, to - from);
        c->in[0].dim[axis] = to - from;
    }
    p.begin->v[k] = from - begin;
    p.end->v[k] = finish - to;
    c->out.dim[axis] = end - first;
    return c->data[0] != NULL;
}

bool blame_case_narrow(blame_case *c, const blame_rows *rows, int n)
{
    const pads p = pads_of(c);
    const bool first =
        (c->op == ASSAY_OP_CONV ? c->attr.conv.layout : c->attr.pool.layout) == ASSAY_LAYOUT_NCHW;
    for (int k = 0; k < p.kernel->n; k++) {
        const int axis = k + (first ? 2 : 1);
        blame_rows r = {k, 0, c->out.dim[axis], 0, 0};
        for (int i = 0; i < n; i++)
            if (rows[i].axis == k)
                r = rows[i];
        if (r.in_end == 0)
            r.in_end = c->in[0].dim[axis];
        if (!narrow_axis(c, k, axis, r.first, r.end, r.in_first, r.in_end))
            return false;
    }
    if (c->op != ASSAY_OP_CONV)
        c->attr.pool.ceil_mode = false;
    return true;
}

/* ---- parts of any op ---- */

static bool has_trait(const blame_case *c, unsigned traits)
{
    return assay_op_get(c->op)->traits & traits;
}

static bool is_pool(const blame_case *c)
{
    return c->op == ASSAY_OP_MAX_POOL || c->op == ASSAY_OP_AVG_POOL;
}

static bool is_depthwise(const blame_case *c, const assay_window *w)
{
    return c->op == ASSAY_OP_CONV && c->attr.conv.group == w->in_channels &&
           w->in_channels == w->out_channels && w->in_channels > 1;
}

/* Parameters along an axis can be cut with it; those of blocks, or given in advance, cannot. */
static bool has_plain_weights(const blame_case *c)
{
    const assay_type *w = &c->in[1];
    return c->n_in > 1 && c->constant[1] &&
           (w->q.granularity == ASSAY_Q_TENSOR ||
            (w->q.granularity == ASSAY_Q_AXIS && w->q.axis == 0)) &&
           (!c->scheme || !c->scheme->record || assay_data(c->scheme)->n_precomputed == 0);
}

static unsigned all_axes(const assay_type *t)
{
    assert(t->rank <= ASSAY_MAX_RANK);
    return (1U << t->rank) - 1;
}

static unsigned axes_of_window(const blame_case *c, const assay_window *w)
{
    assert(c->out.rank >= 1 && c->out.rank <= ASSAY_MAX_RANK);
    const unsigned channel = 1U << (w->nhwc ? c->out.rank - 1 : 1);
    const bool plain =
        is_pool(c) || (has_plain_weights(c) && (c->attr.conv.group == 1 || is_depthwise(c, w)));
    return plain ? all_axes(&c->out) : all_axes(&c->out) & ~channel;
}

unsigned blame_case_axes(const blame_case *c)
{
    assay_window w;
    if (blame_case_window(c, &w))
        return axes_of_window(c, &w);
    if (c->op == ASSAY_OP_FC)
        return has_plain_weights(c) ? all_axes(&c->out) : all_axes(&c->out) >> 1;
    const blame_cut_op *op = blame_cut_op_of(c);
    if (op)
        return op->axes(c);
    if (!has_trait(c, ASSAY_T_UNARY | ASSAY_T_BINARY | ASSAY_T_CONVERT))
        return 0;
    for (int i = 0; i < c->n_in; i++)
        if (c->in[i].q.granularity == ASSAY_Q_AXIS || c->out.q.granularity == ASSAY_Q_AXIS)
            return 0;
    return all_axes(&c->out);
}

/* ---- cutting ---- */

static bool cut_filters(blame_case *c, int axis, int64_t first, int64_t n)
{
    blame_cut_output(c, axis, first, n);
    return blame_cut_input(c, 1, 0, first, n) && blame_cut_input(c, 2, 0, first, n);
}

static bool cut_channels(blame_case *c, const assay_window *w, int axis, int64_t first, int64_t n)
{
    const bool depthwise = is_depthwise(c, w);
    if (n == c->out.dim[axis])
        return true;
    if (depthwise)
        c->attr.conv.group = n;
    if (is_pool(c))
        blame_cut_output(c, axis, first, n);
    return (is_pool(c) || cut_filters(c, axis, first, n)) &&
           (!(is_pool(c) || depthwise) || blame_cut_input(c, 0, axis, first, n));
}

static bool cut_window(blame_case *c, const assay_window *w, const blame_cut *cut)
{
    const int channel = w->nhwc ? c->out.rank - 1 : 1, spatial = w->nhwc ? 1 : 2;
    blame_rows rows[ASSAY_SPATIAL];
    const int n = c->out.rank - 2;
    for (int k = 0; k < n; k++)
        rows[k] =
            (blame_rows){.axis = k, .first = cut->first[k + spatial], .end = cut->end[k + spatial]};
    const int64_t batch = cut->end[0] - cut->first[0];
    if (!cut_channels(c, w, channel, cut->first[channel],
                      cut->end[channel] - cut->first[channel]) ||
        !blame_cut_input(c, 0, 0, cut->first[0], batch))
        return false;
    c->out.dim[0] = batch;
    return blame_case_narrow(c, rows, n);
}

static bool cut_fc(blame_case *c, const blame_cut *cut)
{
    const int last = c->out.rank - 1;
    bool good = cut_filters(c, last, cut->first[last], cut->end[last] - cut->first[last]);
    for (int k = 0; k < last && good; k++) {
        good = blame_cut_input(c, 0, k, cut->first[k], cut->end[k] - cut->first[k]);
        blame_cut_output(c, k, cut->first[k], cut->end[k] - cut->first[k]);
    }
    return good;
}

/* Inputs broadcast along axes of 1, and where they have fewer axes. */
static bool cut_elements(blame_case *c, const blame_cut *cut)
{
    bool good = true;
    for (int k = 0; k < c->out.rank; k++) {
        for (int i = 0; i < c->n_in && good; i++) {
            const int axis = k - (c->out.rank - c->in[i].rank);
            if (axis >= 0 && c->in[i].dim[axis] == c->out.dim[k])
                good = blame_cut_input(c, i, axis, cut->first[k], cut->end[k] - cut->first[k]);
        }
        blame_cut_output(c, k, cut->first[k], cut->end[k] - cut->first[k]);
    }
    return good;
}

bool blame_case_cut(blame_case *c, const blame_cut *cut)
{
    assay_window w;
    if (blame_case_window(c, &w))
        return cut_window(c, &w, cut);
    const blame_cut_op *op = blame_cut_op_of(c);
    return op ? op->cut(c, cut) : c->op == ASSAY_OP_FC ? cut_fc(c, cut) : cut_elements(c, cut);
}
