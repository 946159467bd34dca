/* conv_transpose: y[n, o, q] = bias[o] + sum over c, p, t with p*stride - pad + t*dilation == q:
 * x[n, c, p] * w[c, o, t], c in o's group (ONNX ConvTranspose): each input is spread through the
 * taps of a window over the output. nhwc: channels last, w[o, t, c], one group.
 *
 * With the window taken as sliding over y, this is the transpose of im2col after a product. In nchw
 * the order of addition is ONNX Runtime's (conv_transpose.cc, math_cpu.cc): the product's, then tap
 * after tap, then the bias. */
#include "interp/float/float.h"
#include "interp/float/window.h"

static void add_bias(const assay_window *w, const float *bias, float *y)
{
    int64_t channels = w->in_channels, area = w->in_area;
    for (int64_t i = 0; i < channels * area; i++)
        y[i] += bias[w->nhwc ? i % channels : i / area];
}

/* Channels of x (windows) and of y (slid over) in a group. */
typedef struct spread_group {
    const assay_window *w;
    int64_t inputs, outputs;
    const float *weight; /* the group's */
    bool constant;       /* the weights are: ONNX Runtime transposes them beforehand */
    float *column;
} spread_group;

/* Adds what tap t makes of every input, column[p], to a plane of y. */
static void spread_tap(const assay_window *w, int64_t t, const float *column, float *y)
{
    const int64_t tap[ASSAY_SPATIAL] = {t / w->kernel[2] / w->kernel[1],
                                        t / w->kernel[2] % w->kernel[1], t % w->kernel[2]};
    int64_t lo[ASSAY_SPATIAL], hi[ASSAY_SPATIAL], origin[ASSAY_SPATIAL];
    for (int d = 0; d < ASSAY_SPATIAL; d++) {
        float_window_valid(w, d, tap[d], &lo[d], &hi[d]);
        origin[d] = tap[d] * w->dilation[d] - w->pad[d];
    }
    for (int64_t pz = lo[0]; pz < hi[0]; pz++)
        for (int64_t py = lo[1]; py < hi[1]; py++) {
            const float *from = column + (pz * w->out[1] + py) * w->out[2];
            int64_t qz = pz * w->stride[0] + origin[0], qy = py * w->stride[1] + origin[1];
            float *to = y + (qz * w->in[1] + qy) * w->in[2];
            for (int64_t px = lo[2]; px < hi[2]; px++)
                to[px * w->stride[2] + origin[2]] += from[px];
        }
}

/* Output channels whose products are made at once: one, or all where x is one position, since there
 * the order of addition depends on a channel's place. */
static int64_t at_once(const assay_window *w, int64_t outputs)
{
    return w->out_area == 1 ? outputs : 1;
}

static void spread_nchw(const spread_group *s, const float *x, float *y)
{
    const assay_window *w = s->w;
    int64_t all = s->outputs * w->taps, channels = at_once(w, s->outputs);
    bool transposed = s->constant && all > 1 && s->inputs > 1;

    for (int64_t o = 0; o < s->outputs; o += channels) {
        float_gemm_run(&(assay_gemm){.m = channels * w->taps, /* [inputs, all]^T * [inputs, n] */
                                     .n = w->out_area,
                                     .k = s->inputs,
                                     .a = s->weight + o * w->taps,
                                     .lda = all,
                                     .a_t = true,
                                     .a_transposed = transposed,
                                     .b = x,
                                     .ldb = w->out_area,
                                     .c = s->column,
                                     .ldc = w->out_area});
        for (int64_t t = 0; t < channels * w->taps; t++)
            spread_tap(w, t % w->taps, s->column + t * w->out_area,
                       y + (o + t / w->taps) * w->in_area);
    }
}

/* [n, inputs] * [taps*outputs, inputs]^T, a tile at a time. */
static void spread_nhwc(const spread_group *s, const float *x, float *y)
{
    const assay_window *w = s->w;
    int64_t depth = s->outputs * w->taps, tile = float_patch_tile(depth, w->out_area);

    for (int64_t first = 0; first < w->out_area; first += tile) {
        int64_t n = w->out_area - first < tile ? w->out_area - first : tile;
        assay_patches p = {w, 0, s->outputs, first, n};
        float_gemm_run(&(assay_gemm){.m = n,
                                     .n = depth,
                                     .k = s->inputs,
                                     .a = x + first * w->out_channels,
                                     .lda = w->out_channels,
                                     .b = s->weight,
                                     .ldb = s->inputs,
                                     .b_t = true,
                                     .c = s->column,
                                     .ldc = depth});
        float_col2im(&p, s->column, y);
    }
}

/* The window slides over the output: its "input" is y, its "output" x. */
static void window_of(assay_window *w, const assay_node *n, const assay_type *x,
                      const assay_type *y)
{
    kernel_window_of_conv(w, &n->attr.conv, y, x);
}

/* Floats of the nhwc weights reordered from [o, t, c] to [t, o, c]. */
static int64_t reordered(const assay_window *w)
{
    return w->nhwc ? w->in_channels * w->taps * w->out_channels : 0;
}

size_t float_conv_transpose_scratch(const assay_graph *g, const assay_node *n)
{
    assay_window w;
    window_of(&w, n, &assay_node_in(g, n, 0)->type, &assay_node_out(g, n, 0)->type);
    int64_t outputs = w.in_channels / n->attr.conv.group, depth = outputs * w.taps;
    int64_t column = w.nhwc ? depth * float_patch_tile(depth, w.out_area)
                            : at_once(&w, outputs) * w.taps * w.out_area;
    return (size_t)(reordered(&w) + column) * sizeof(float);
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

assay_status float_conv_transpose(assay_call *call, assay_error *err)
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
                      .inputs = w.out_channels / a->group,
                      .outputs = w.in_channels / a->group,
                      .constant = assay_node_in(call->graph, call->node, 1)->data != NULL,
                      .column =
                          scratch ? scratch + reordered(&w) : NULL}; /* no scratch, no cells */
    for (int64_t n = 0; n < w.batch; n++) {
        for (int64_t i = 0; i < w.in_channels * w.in_area; i++)
            y[i] = 0;
        for (int64_t group = 0; group < a->group; group++) {
            s.weight = weight + group * s.inputs * s.outputs * w.taps;
            if (w.nhwc)
                spread_nhwc(&s, x, y);
            else
                spread_nchw(&s, x + group * s.inputs * w.out_area,
                            y + group * s.outputs * w.in_area);
        }
        if (bias)
            add_bias(&w, bias, y);
        x += w.out_channels * w.out_area;
        y += w.in_channels * w.in_area;
    }
    return ASSAY_OK;
}
