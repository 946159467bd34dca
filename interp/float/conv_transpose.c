/* conv_transpose: y[n, o, q] = bias[o] + sum over c, p, t with p*stride - pad + t*dilation == q:
 * x[n, c, p] * w[c, o, t], c in o's group (ONNX ConvTranspose): each input is spread through the
 * taps of a window over the output. nhwc: channels last, w[o, t, c], one group.
 *
 * With the window taken as sliding over y, this is the transpose of im2col after a product. */
#include "interp/float/float.h"
#include "interp/float/window.h"

static void set_bias(const assay_window *w, const float *bias, float *y)
{
    int64_t channels = w->in_channels, area = w->in_area;
    for (int64_t i = 0; i < channels * area; i++)
        y[i] = bias ? bias[w->nhwc ? i % channels : i / area] : 0;
}

/* Channels of x (windows) and of y (slid over) in a group. */
typedef struct spread_group {
    const assay_window *w;
    const char *node;
    int64_t group, inputs, outputs;
    const float *weight; /* the group's */
    float *column;
} spread_group;

static assay_status spread(const spread_group *s, const float *x, float *y, assay_error *err)
{
    const assay_window *w = s->w;
    int64_t depth = s->outputs * w->taps, tile = assay_patch_tile(depth, w->out_area);

    for (int64_t first = 0; first < w->out_area; first += tile) {
        int64_t n = w->out_area - first < tile ? w->out_area - first : tile;
        assay_patches p = {w, s->group * s->outputs, s->outputs, first, n};
        assay_gemm g = {.k = s->inputs, .c = s->column};
        if (w->nhwc) { /* [n, inputs] * [taps*outputs, inputs]^T, weights brought to that order */
            g.m = n;
            g.n = depth;
            g.a = x + first * w->out_channels;
            g.lda = w->out_channels;
            g.b = s->weight;
            g.ldb = s->inputs;
            g.b_t = true;
            g.ldc = depth;
        } else { /* [inputs, outputs*taps]^T * [inputs, n] */
            g.m = depth;
            g.n = n;
            g.a = s->weight;
            g.lda = depth;
            g.a_t = true;
            g.b = x + s->group * s->inputs * w->out_area + first;
            g.ldb = w->out_area;
            g.ldc = n;
        }
        assay_status status = assay_gemm_run(&g, s->node, err);
        if (status)
            return status;
        assay_col2im(&p, s->column, y);
    }
    return ASSAY_OK;
}

/* The window slides over the output: its "input" is y, its "output" x. */
static void window_of(assay_window *w, const assay_node *n, const assay_type *x,
                      const assay_type *y)
{
    assay_window_of_conv(w, &n->attr.conv, y, x);
}

/* Floats of the nhwc weights reordered from [o, t, c] to [t, o, c]. */
static int64_t reordered(const assay_window *w)
{
    return w->nhwc ? w->in_channels * w->taps * w->out_channels : 0;
}

size_t assay_float_conv_transpose_scratch(const assay_graph *g, const assay_node *n)
{
    assay_window w;
    window_of(&w, n, &assay_node_in(g, n, 0)->type, &assay_node_out(g, n, 0)->type);
    int64_t depth = w.in_channels / n->attr.conv.group * w.taps;
    return (size_t)(reordered(&w) + depth * assay_patch_tile(depth, w.out_area)) * sizeof(float);
}

static const float *reorder(const assay_window *w, const float *weight, float *to)
{
    int64_t outputs = w->in_channels, inputs = w->out_channels;
    for (int64_t t = 0; t < w->taps; t++)
        for (int64_t o = 0; o < outputs; o++)
            for (int64_t c = 0; c < inputs; c++)
                to[(t * outputs + o) * inputs + c] = weight[(o * w->taps + t) * inputs + c];
    return to;
}

assay_status assay_float_conv_transpose(assay_call *call, assay_error *err)
{
    const assay_attr_conv *a = &call->node->attr.conv;
    const float *x = call->in[0].data, *weight = call->in[1].data;
    const float *bias = call->node->n_in > 2 ? call->in[2].data : NULL;
    float *y = call->out[0].data, *scratch = call->scratch;
    assay_window w;

    window_of(&w, call->node, call->in[0].type, call->out[0].type);
    if (w.nhwc && a->group != 1)
        return assay_fail(err, ASSAY_ERR_UNSUPPORTED,
                          "node '%s': conv_transpose in nhwc has one group", call->node->name);
    if (w.nhwc)
        weight = reorder(&w, weight, scratch);
    spread_group s = {.w = &w,
                      .node = call->node->name,
                      .inputs = w.out_channels / a->group,
                      .outputs = w.in_channels / a->group,
                      .column =
                          scratch ? scratch + reordered(&w) : NULL}; /* no scratch, no cells */
    for (int64_t n = 0; n < w.batch; n++) {
        set_bias(&w, bias, y);
        for (s.group = 0; s.group < a->group; s.group++) {
            s.weight = weight + s.group * s.inputs * s.outputs * w.taps;
            assay_status status = spread(&s, x, y, err);
            if (status)
                return status;
        }
        x += w.out_channels * w.out_area;
        y += w.in_channels * w.in_area;
    }
    return ASSAY_OK;
}
