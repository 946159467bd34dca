#include "schemes/node/spec.h"

#include <string.h>

static int64_t list_product(const assay_list *l)
{
    int64_t p = 1;
    for (int i = 0; i < l->n; i++)
        p *= l->v[i];
    return p;
}

/* Products in one accumulator. */
static int64_t weighted_depth(const assay_node *n, const assay_type *x, const assay_type *w)
{
    switch (n->op) {
    case ASSAY_OP_SVDF_TIME:
    case ASSAY_OP_CONV: /* every filter is O's share of the weights, in both layouts */
        return w->dim[0] > 0 ? assay_shape_count(w) / w->dim[0] : 0;
    case ASSAY_OP_CONV_TRANSPOSE: {
        const assay_attr_conv *a = &n->attr.conv;
        int64_t channels = a->layout == ASSAY_LAYOUT_NHWC ? x->dim[x->rank - 1] : x->dim[1];
        return channels / (a->group > 0 ? a->group : 1) * list_product(&a->kernel);
    }
    case ASSAY_OP_FC:
    case ASSAY_OP_SVDF_FEATURE:
        return w->dim[w->rank - 1];
    default: /* matmul */
        return n->attr.matmul.transpose_a && x->rank > 1 ? x->dim[x->rank - 2]
                                                         : x->dim[x->rank - 1];
    }
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

static void fill_parameters(const assay_node *n, const assay_type *in, assay_unit_spec *spec)
{
    const assay_attrs *a = &n->attr;
    switch (n->op) {
    case ASSAY_OP_CONV:
    case ASSAY_OP_CONV_TRANSPOSE:
        spec->flag = a->conv.depthwise ? 2 : a->conv.group;
        spec->depth = weighted_depth(n, &in[0], &in[1]);
        break;
    case ASSAY_OP_FC:
    case ASSAY_OP_SVDF_FEATURE:
    case ASSAY_OP_SVDF_TIME:
        spec->depth = weighted_depth(n, &in[0], &in[1]);
        break;
    case ASSAY_OP_MATMUL:
        spec->flag = a->matmul.transpose_b;
        spec->depth = weighted_depth(n, &in[0], &in[1]);
        break;
    case ASSAY_OP_MAX_POOL:
    case ASSAY_OP_AVG_POOL:
        spec->depth = list_product(&a->pool.kernel);
        spec->flag = a->pool.count_include_pad;
        break;
    case ASSAY_OP_GLOBAL_AVG_POOL:
        spec->depth = spatial_count(&a->layout, &in[0]);
        break;
    case ASSAY_OP_REDUCE_MEAN:
    case ASSAY_OP_REDUCE_SUM:
    case ASSAY_OP_REDUCE_PROD:
    case ASSAY_OP_REDUCE_MAX:
    case ASSAY_OP_REDUCE_MIN:
        spec->depth = reduced_count(&a->reduce, &in[0]);
        break;
    case ASSAY_OP_SOFTMAX:
    case ASSAY_OP_LOG_SOFTMAX:
        spec->depth = in[0].dim[a->softmax.axis];
        spec->beta = (double)a->softmax.beta;
        break;
    case ASSAY_OP_L2_NORM:
        spec->depth = in[0].dim[a->norm.axis];
        spec->epsilon = (double)a->norm.epsilon;
        break;
    case ASSAY_OP_LAYER_NORM:
        spec->depth = normalized_count(&a->norm, &in[0]);
        spec->epsilon = (double)a->norm.epsilon;
        break;
    case ASSAY_OP_LRN:
        spec->depth = a->lrn.size;
        spec->alpha = (double)a->lrn.alpha;
        spec->beta = (double)a->lrn.beta;
        spec->gamma = (double)a->lrn.bias;
        break;
    case ASSAY_OP_CLIP: /* its bounds are also those of an activation */
        spec->alpha = (double)a->clip.lo;
        spec->beta = (double)a->clip.hi;
        spec->act_lo = spec->alpha > spec->act_lo ? spec->alpha : spec->act_lo;
        spec->act_hi = spec->beta < spec->act_hi ? spec->beta : spec->act_hi;
        break;
    case ASSAY_OP_LEAKY_RELU:
    case ASSAY_OP_ELU:
        spec->alpha = (double)a->alpha.alpha;
        break;
    case ASSAY_OP_HARD_SIGMOID:
        spec->alpha = (double)a->alpha_beta.alpha;
        spec->beta = (double)a->alpha_beta.beta;
        break;
    case ASSAY_OP_CUSTOM:
    case ASSAY_OP_CUSTOM_MONOTONE:
    case ASSAY_OP_CUSTOM_BINARY:
        spec->flag = a->custom.number;
        break;
    case ASSAY_OP_GELU:
        spec->flag = a->gelu.approximate;
        break;
    case ASSAY_OP_RESIZE:
        spec->flag = a->resize.mode;
        break;
    case ASSAY_OP_PAD:
        spec->alpha = (double)a->pad.value;
        break;
    default:
        break;
    }
}

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

static void fill_window(const assay_node *n, const assay_type *x, assay_unit_spec *spec)
{
    int64_t extent[ASSAY_MAX_RANK];
    const int axes = window_extents(n, x, extent);
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
    fill_parameters(n, in, spec);
    fill_window(n, &in[0], spec);
}
