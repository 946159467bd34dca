/* Reductions, ops over rows, products of matrices and transposed convolutions cut to a part of
 * their output. */
#include <assert.h>

#include "interp/blame/cut.h"

static unsigned all_axes(const assay_type *t)
{
    assert(t->rank <= ASSAY_MAX_RANK);
    return (1U << t->rank) - 1;
}

static bool has_axis_params(const blame_case *c)
{
    bool found = c->out.q.granularity == ASSAY_Q_AXIS;
    for (int i = 0; i < c->n_in; i++)
        found = found || c->in[i].q.granularity == ASSAY_Q_AXIS;
    return found;
}

static int64_t extent(const blame_cut *cut, int axis)
{
    return cut->end[axis] - cut->first[axis];
}

/* ---- reductions ---- */

static bool is_reduction(const blame_case *c)
{
    return c->op == ASSAY_OP_GLOBAL_AVG_POOL ||
           assay_op_get(c->op)->attrs == assay_op_get(ASSAY_OP_REDUCE_MEAN)->attrs;
}

/* The input's axis that axis k of the output is; -1: it is reduced. */
static int kept_axis(const blame_case *c, int k)
{
    if (c->op == ASSAY_OP_GLOBAL_AVG_POOL) {
        const int channel = c->attr.layout.layout == ASSAY_LAYOUT_NCHW ? 1 : c->in[0].rank - 1;
        return k == 0 || k == channel ? k : -1;
    }
    for (int axis = 0, at = 0; axis < c->in[0].rank; axis++) {
        bool reduced = c->attr.reduce.axes.n == 0;
        for (int i = 0; i < c->attr.reduce.axes.n; i++)
            reduced = reduced || c->attr.reduce.axes.v[i] == axis;
        if (reduced && !c->attr.reduce.keepdims)
            continue;
        if (at++ == k)
            return reduced ? -1 : axis;
    }
    return -1;
}

static unsigned axes_of_reduction(const blame_case *c)
{
    unsigned axes = 0;
    for (int k = 0; k < c->out.rank && !has_axis_params(c); k++)
        axes |= kept_axis(c, k) >= 0 ? 1U << k : 0;
    return axes;
}

static bool cut_reduction(blame_case *c, const blame_cut *cut)
{
    bool good = true;
    for (int k = 0; k < c->out.rank && good; k++) {
        const int axis = kept_axis(c, k);
        if (axis < 0)
            continue;
        good = blame_cut_input(c, 0, axis, cut->first[k], extent(cut, k));
        blame_cut_output(c, k, cut->first[k], extent(cut, k));
    }
    return good;
}

/* ---- rows ---- */

static bool is_rowwise(const blame_case *c)
{
    return assay_op_get(c->op)->traits & ASSAY_T_ROWWISE;
}

/* Rows lie along one axis; those of a norm along all from its axis on. */
static unsigned axes_of_rows(const blame_case *c)
{
    const bool softmax = c->op == ASSAY_OP_SOFTMAX || c->op == ASSAY_OP_LOG_SOFTMAX;
    const int64_t given = softmax ? c->attr.softmax.axis : c->attr.norm.axis;
    const int64_t axis = given < 0 ? given + c->out.rank : given;
    assert(axis >= 0 && axis < ASSAY_MAX_RANK);
    const unsigned before = (1U << axis) - 1;
    if (has_axis_params(c))
        return 0;
    return softmax ? all_axes(&c->out) & ~(1U << axis) : before;
}

static bool cut_rows(blame_case *c, const blame_cut *cut)
{
    const unsigned axes = axes_of_rows(c);
    bool good = true;
    for (int k = 0; k < c->out.rank && good; k++)
        if (axes >> k & 1) {
            good = blame_cut_input(c, 0, k, cut->first[k], extent(cut, k));
            blame_cut_output(c, k, cut->first[k], extent(cut, k));
        }
    return good;
}

/* ---- products of matrices ---- */

static bool is_product(const blame_case *c)
{
    return c->op == ASSAY_OP_MATMUL && c->in[0].rank > 1 && c->in[1].rank > 1;
}

static unsigned axes_of_product(const blame_case *c)
{
    return has_axis_params(c) ? 0 : all_axes(&c->out);
}

/* Batches broadcast as element-wise ops do. */
static bool cut_batch(blame_case *c, int i, int k, const blame_cut *cut)
{
    const int axis = k - (c->out.rank - c->in[i].rank);
    return axis < 0 || c->in[i].dim[axis] != c->out.dim[k] ||
           blame_cut_input(c, i, axis, cut->first[k], extent(cut, k));
}

static bool cut_product(blame_case *c, const blame_cut *cut)
{
    const int row = c->out.rank - 2, column = c->out.rank - 1;
    const int a = c->in[0].rank - (c->attr.matmul.transpose_a ? 1 : 2);
    const int b = c->in[1].rank - (c->attr.matmul.transpose_b ? 2 : 1);
    bool good = blame_cut_input(c, 0, a, cut->first[row], extent(cut, row)) &&
                blame_cut_input(c, 1, b, cut->first[column], extent(cut, column));
    for (int k = 0; k < row && good; k++)
        good = cut_batch(c, 0, k, cut) && cut_batch(c, 1, k, cut);
    for (int k = 0; k < c->out.rank; k++)
        blame_cut_output(c, k, cut->first[k], extent(cut, k));
    return good;
}

/* ---- transposed convolutions ---- */

static bool is_transposed(const blame_case *c)
{
    return c->op == ASSAY_OP_CONV_TRANSPOSE;
}

static int channel_of(const blame_case *c)
{
    return c->attr.conv.layout == ASSAY_LAYOUT_NCHW ? 1 : c->out.rank - 1;
}

/* Channels where one group's filters make all of them, and no scale is of a channel. */
static unsigned axes_of_transposed(const blame_case *c)
{
    const bool channels = c->attr.conv.group == 1 && !has_axis_params(c) && c->constant[1];
    assert(channel_of(c) < ASSAY_MAX_RANK);
    return all_axes(&c->out) & ~(channels ? 0 : 1U << channel_of(c));
}

/* Output cells [first, end) along spatial axis k come from the input's cells whose windows reach
 * them. */
static bool cut_reach(blame_case *c, int k, int axis, int64_t first, int64_t end)
{
    assay_attr_conv *a = &c->attr.conv;
    const int64_t stride = a->stride.v[k], reach = (a->kernel.v[k] - 1) * a->dilation.v[k];
    const int64_t pad = a->pad_begin.v[k], in = c->in[0].dim[axis];
    const int64_t min = first + pad - reach, max = (end - 1 + pad) / stride;
    const int64_t from = min > 0 ? (min + stride - 1) / stride : 0;
    const int64_t to = max < in ? max + 1 : in;
    if (from >= to)
        return false;
    a->pad_begin.v[k] = pad + first - from * stride;
    const int64_t over = (to - 1) * stride + reach + 1 - pad - end;
    a->pad_end.v[k] = over > 0 ? over : 0;
    if (k < a->output_padding.n)
        a->output_padding.v[k] = over < 0 ? -over : 0;
    else if (over < 0)
        return false;
    blame_cut_output(c, axis, first, end - first);
    return blame_cut_input(c, 0, axis, from, to - from);
}

static bool cut_transposed(blame_case *c, const blame_cut *cut)
{
    const int channel = channel_of(c), spatial = channel == 1 ? 2 : 1;
    const int filters = c->attr.conv.layout == ASSAY_LAYOUT_NCHW ? 1 : 0;
    bool good = blame_cut_input(c, 0, 0, cut->first[0], extent(cut, 0));
    blame_cut_output(c, 0, cut->first[0], extent(cut, 0));
    if (extent(cut, channel) != c->out.dim[channel]) {
        good = good && blame_cut_input(c, 1, filters, cut->first[channel], extent(cut, channel)) &&
               blame_cut_input(c, 2, 0, cut->first[channel], extent(cut, channel));
        blame_cut_output(c, channel, cut->first[channel], extent(cut, channel));
    }
    for (int k = 0; k < c->out.rank - 2 && good; k++)
        good = cut_reach(c, k, k + spatial, cut->first[k + spatial], cut->end[k + spatial]);
    return good;
}

static const blame_cut_op ops[] = {{is_reduction, axes_of_reduction, cut_reduction},
                                   {is_rowwise, axes_of_rows, cut_rows},
                                   {is_product, axes_of_product, cut_product},
                                   {is_transposed, axes_of_transposed, cut_transposed}};

const blame_cut_op *blame_cut_op_of(const blame_case *c)
{
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        if (ops[i].is(c))
            return &ops[i];
    return NULL;
}
