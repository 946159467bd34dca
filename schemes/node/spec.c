/* Specification of a node for the scheme that prepares it; see spec.h. */
#include "schemes/node/spec.h"

#include <string.h>

static int64_t list_product(const assay_list *l)
{
    int64_t p = 1;
    for (int i = 0; i < l->n; i++)
        p *= l->v[i];
    return p;
}

static int64_t reduced_count(const assay_attr_reduce *a, const assay_type *x)
{
    int64_t count = 1;
    for (int i = 0; i < a->axes.n; i++)
        count *= x->dim[a->axes.v[i]];
    return count;
}

static int64_t spatial_count(const assay_attr_layout *a, const assay_type *x)
{
    int64_t channel = a->layout == ASSAY_LAYOUT_NHWC ? x->rank - 1 : 1, count = 1;
    for (int i = 1; i < x->rank; i++)
        count *= i == channel ? 1 : x->dim[i];
    return count;
}

static int64_t normalized_count(const assay_attr_norm *a, const assay_type *x)
{
    int64_t count = 1;
    for (int64_t i = a->axis; i < x->rank; i++)
        count *= x->dim[i];
    return count;
}

/* ---- what a unit asks of a node, by op ---- */

/* Of weighted ops: products in one accumulator, the last extent of the weights ... */
static void weighted(const assay_node *n, const assay_type *in, assay_unit_spec *spec)
{
    (void)n;
    spec->depth = in[1].dim[in[1].rank - 1];
}

/* ... or every filter, O's share of them, in both layouts. */
static void filters(const assay_node *n, const assay_type *in, assay_unit_spec *spec)
{
    (void)n;
    spec->depth = in[1].dim[0] > 0 ? assay_shape_count(&in[1]) / in[1].dim[0] : 0;
}

static void conv(const assay_node *n, const assay_type *in, assay_unit_spec *spec)
{
    const assay_attr_conv *a = &n->attr.conv;
    const bool innermost = a->layout == ASSAY_LAYOUT_NHWC;
    const int64_t inputs = in[1].dim[innermost ? in[1].rank - 1 : 1];
    spec->flag = a->depthwise ? 2 : a->group;
    filters(n, in, spec);
    spec->channel_step = innermost || inputs < 1 ? 1 : spec->depth / inputs;
    spec->channel_outputs = inputs == 1 && a->group > 0 ? in[1].dim[0] / a->group : 0;
}

static void conv_transpose(const assay_node *n, const assay_type *in, assay_unit_spec *spec)
{
    const assay_attr_conv *a = &n->attr.conv;
    const int64_t channels =
        a->layout == ASSAY_LAYOUT_NHWC ? in[0].dim[in[0].rank - 1] : in[0].dim[1];
    spec->flag = a->depthwise ? 2 : a->group;
    spec->depth = channels / (a->group > 0 ? a->group : 1) * list_product(&a->kernel);
}

static void matmul(const assay_node *n, const assay_type *in, assay_unit_spec *spec)
{
    const assay_attr_matmul *a = &n->attr.matmul;
    const int rank = in[0].rank;
    spec->flag = a->transpose_b;
    spec->depth = in[0].dim[a->transpose_a && rank > 1 ? rank - 2 : rank - 1];
}

static void pool(const assay_node *n, const assay_type *in, assay_unit_spec *spec)
{
    (void)in;
    spec->depth = list_product(&n->attr.pool.kernel);
    spec->flag = n->attr.pool.count_include_pad;
}

static void global_pool(const assay_node *n, const assay_type *in, assay_unit_spec *spec)
{
    spec->depth = spatial_count(&n->attr.layout, &in[0]);
}

static void reduce(const assay_node *n, const assay_type *in, assay_unit_spec *spec)
{
    spec->depth = reduced_count(&n->attr.reduce, &in[0]);
}

static void softmax(const assay_node *n, const assay_type *in, assay_unit_spec *spec)
{
    spec->depth = in[0].dim[n->attr.softmax.axis];
    spec->beta = (double)n->attr.softmax.beta;
}

static void l2_norm(const assay_node *n, const assay_type *in, assay_unit_spec *spec)
{
    spec->depth = in[0].dim[n->attr.norm.axis];
    spec->epsilon = (double)n->attr.norm.epsilon;
}

static void layer_norm(const assay_node *n, const assay_type *in, assay_unit_spec *spec)
{
    spec->depth = normalized_count(&n->attr.norm, &in[0]);
    spec->epsilon = (double)n->attr.norm.epsilon;
}

static void lrn(const assay_node *n, const assay_type *in, assay_unit_spec *spec)
{
    (void)in;
    const assay_attr_lrn *a = &n->attr.lrn;
    spec->depth = a->size;
    spec->alpha = (double)a->alpha;
    spec->beta = (double)a->beta;
    spec->gamma = (double)a->bias;
}

/* Its bounds are also those of an activation. */
static void clip(const assay_node *n, const assay_type *in, assay_unit_spec *spec)
{
    (void)in;
    spec->alpha = (double)n->attr.clip.lo;
    spec->beta = (double)n->attr.clip.hi;
    spec->act_lo = spec->alpha > spec->act_lo ? spec->alpha : spec->act_lo;
    spec->act_hi = spec->beta < spec->act_hi ? spec->beta : spec->act_hi;
}

static void alpha(const assay_node *n, const assay_type *in, assay_unit_spec *spec)
{
    (void)in;
    spec->alpha = (double)n->attr.alpha.alpha;
}

static void alpha_beta(const assay_node *n, const assay_type *in, assay_unit_spec *spec)
{
    (void)in;
    spec->alpha = (double)n->attr.alpha_beta.alpha;
    spec->beta = (double)n->attr.alpha_beta.beta;
}

static void custom(const assay_node *n, const assay_type *in, assay_unit_spec *spec)
{
    (void)in;
    spec->flag = n->attr.custom.number;
}

static void gelu(const assay_node *n, const assay_type *in, assay_unit_spec *spec)
{
    (void)in;
    spec->flag = n->attr.gelu.approximate;
}

static void resize(const assay_node *n, const assay_type *in, assay_unit_spec *spec)
{
    const int rank = in[0].rank;
    const int channel = n->attr.resize.layout == ASSAY_LAYOUT_NHWC ? rank - 1 : 1;
    spec->flag = n->attr.resize.mode;
    spec->depth = rank < 3 ? 1 : rank > 4 ? rank - 4 : 0;
    for (int d = 0; d < rank; d++)
        spec->depth += (d == 0 || d == channel) && in[0].dim[d] != spec->out->dim[d];
}

static void pad(const assay_node *n, const assay_type *in, assay_unit_spec *spec)
{
    (void)in;
    spec->alpha = (double)n->attr.pad.value;
}

static void block_scale(const assay_node *n, const assay_type *in, assay_unit_spec *spec)
{
    const assay_attr_block_scale *a = &n->attr.block_scale;
    (void)in;
    spec->flag = a->elements | a->rule << 8;
    spec->alpha = (double)a->reach;
}

static void float_encode(const assay_node *n, const assay_type *in, assay_unit_spec *spec)
{
    const assay_attr_float_encode *a = &n->attr.float_encode;
    (void)in;
    spec->flag = a->by | a->saturate << 1 | a->round << 2;
}

static void scaled_matmul(const assay_node *n, const assay_type *in, assay_unit_spec *spec)
{
    const assay_attr_scaled_matmul *a = &n->attr.scaled_matmul;
    spec->depth = in[0].dim[in[0].rank - 1];
    spec->scale_block[0] = a->a_block.v[in[0].rank - 1];
    spec->scale_block[1] = a->b_block.v[in[1].rank - 1];
}

static void (*const fills[ASSAY_OP_COUNT])(const assay_node *n, const assay_type *in,
                                           assay_unit_spec *spec) = {
    [ASSAY_OP_CONV] = conv,
    [ASSAY_OP_CONV_TRANSPOSE] = conv_transpose,
    [ASSAY_OP_FC] = weighted,
    [ASSAY_OP_SVDF_FEATURE] = weighted,
    [ASSAY_OP_SVDF_TIME] = filters,
    [ASSAY_OP_MATMUL] = matmul,
    [ASSAY_OP_MAX_POOL] = pool,
    [ASSAY_OP_AVG_POOL] = pool,
    [ASSAY_OP_GLOBAL_AVG_POOL] = global_pool,
    [ASSAY_OP_REDUCE_MEAN] = reduce,
    [ASSAY_OP_REDUCE_SUM] = reduce,
    [ASSAY_OP_REDUCE_PROD] = reduce,
    [ASSAY_OP_REDUCE_MAX] = reduce,
    [ASSAY_OP_REDUCE_MIN] = reduce,
    [ASSAY_OP_SOFTMAX] = softmax,
    [ASSAY_OP_LOG_SOFTMAX] = softmax,
    [ASSAY_OP_L2_NORM] = l2_norm,
    [ASSAY_OP_LAYER_NORM] = layer_norm,
    [ASSAY_OP_LRN] = lrn,
    [ASSAY_OP_CLIP] = clip,
    [ASSAY_OP_LEAKY_RELU] = alpha,
    [ASSAY_OP_ELU] = alpha,
    [ASSAY_OP_HARD_SIGMOID] = alpha_beta,
    [ASSAY_OP_CUSTOM] = custom,
    [ASSAY_OP_CUSTOM_MONOTONE] = custom,
    [ASSAY_OP_CUSTOM_BINARY] = custom,
    [ASSAY_OP_GELU] = gelu,
    [ASSAY_OP_RESIZE] = resize,
    [ASSAY_OP_PAD] = pad,
    [ASSAY_OP_BLOCK_SCALE] = block_scale,
    [ASSAY_OP_FLOAT_ENCODE] = float_encode,
    [ASSAY_OP_SCALED_MATMUL] = scaled_matmul,
};

/* The axes that an average is of, their extents in order: how many. */
static int window_extents(const assay_node *n, const assay_type *x, int64_t extent[ASSAY_MAX_RANK])
{
    const assay_attrs *a = &n->attr;
    int n_axes = 0;
    if (n->op == ASSAY_OP_AVG_POOL)
        for (; n_axes < a->pool.kernel.n; n_axes++)
            extent[n_axes] = a->pool.kernel.v[n_axes];
    if (n->op == ASSAY_OP_GLOBAL_AVG_POOL)
        for (int i = 1; i < x->rank; i++)
            if (i != (a->layout.layout == ASSAY_LAYOUT_NHWC ? x->rank - 1 : 1))
                extent[n_axes++] = x->dim[i];
    if (n->op == ASSAY_OP_REDUCE_MEAN)
        for (int i = 0; i < x->rank; i++)
            for (int j = 0; j < a->reduce.axes.n; j++)
                if (a->reduce.axes.v[j] == i)
                    extent[n_axes++] = x->dim[i];
    return n_axes;
}

/* Whether some window of an average pool reaches cells that its count leaves out: padding that does
 * not count, or what hangs over the end by ceil_mode. */
static bool has_uncounted(const assay_attr_pool *a, const assay_type *x, const assay_type *y)
{
    for (int i = 0; i < a->kernel.n; i++) {
        const int axis = (a->layout == ASSAY_LAYOUT_NHWC ? 1 : 2) + i;
        const int64_t reach = (y->dim[axis] - 1) * a->stride.v[i] +
                              (a->kernel.v[i] - 1) * a->dilation.v[i] + 1 - a->pad_begin.v[i];
        const int64_t counted = x->dim[axis] + (a->count_include_pad ? a->pad_end.v[i] : 0);
        if (reach > counted || (!a->count_include_pad && a->pad_begin.v[i] > 0))
            return true;
    }
    return false;
}

static void fill_window(const assay_node *n, const assay_type *x, assay_unit_spec *spec)
{
    int64_t extent[ASSAY_MAX_RANK];
    const int axes = window_extents(n, x, extent);
    spec->uncounted = n->op == ASSAY_OP_AVG_POOL && has_uncounted(&n->attr.pool, x, spec->out);
    if (axes == 1 || axes == 2) {
        spec->window[0] = axes == 2 ? extent[0] : 1;
        spec->window[1] = extent[axes - 1];
    }
}

void assay_unit_spec_fill(const assay_graph *g, const assay_node *n, assay_type in[ASSAY_SPEC_IN],
                          assay_unit_spec *spec)
{
    int n_in = n->n_in < ASSAY_SPEC_IN ? n->n_in : ASSAY_SPEC_IN;
    memset(in, 0, ASSAY_SPEC_IN * sizeof *in);
    for (int i = 0; i < n_in; i++) {
        const assay_value *v = assay_node_in(g, n, i);
        if (v)
            in[i] = v->type;
    }
    const assay_type *out = &assay_node_out(g, n, 0)->type;
    *spec = (assay_unit_spec){
        .size = sizeof *spec,
        .op = assay_op_get(n->op)->name,
        .node = n->name,
        .in = in,
        .n_in = n_in,
        .out = out,
        .act_lo = (double)n->act_lo,
        .act_hi = (double)n->act_hi,
    };
    if (n->has_code_bounds && out->q.granularity == ASSAY_Q_TENSOR) {
        double scale = (double)out->q.scale[0];
        double lo = scale * ((double)n->code_lo - out->q.zero_point[0]);
        double hi = scale * ((double)n->code_hi - out->q.zero_point[0]);
        spec->act_lo = lo > spec->act_lo ? lo : spec->act_lo;
        spec->act_hi = hi < spec->act_hi ? hi : spec->act_hi;
        spec->has_code_bounds = true;
        spec->code_lo = n->code_lo;
        spec->code_hi = n->code_hi;
    }
    if (fills[n->op])
        fills[n->op](n, in, spec);
    fill_window(n, &in[0], spec);
}
