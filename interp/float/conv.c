/* conv: y[n, o, p] = bias[o] + sum over c in o's group, taps t: x[n, c, p*stride - pad +
 * t*dilation]
 * * w[o, c, t], where x outside its extents is 0 (ONNX Conv). Spatial positions p and taps t have
 * one to three axes; nhwc: the same with channels last, w[o, t, c]. */
#include "interp/float/float.h"
#include "interp/float/window.h"

static void add_bias(const assay_window *w, const float *bias, float *y)
{
    int64_t channels = w->out_channels, area = w->out_area;
    if (w->nhwc)
        for (int64_t i = 0; i < channels * area; i++)
            y[i] += bias[i % channels];
    else
        for (int64_t c = 0; c < channels; c++, y += area) {
            const float b = bias[c];
#pragma omp simd
            for (int64_t i = 0; i < area; i++)
                y[i] += b;
        }
}

/* y[o] += x[o / multiplier] * w[o] for a pixel's channels. */
static void add_products(const float *x, const float *w, int64_t inputs, int64_t multiplier,
                         float *y)
{
    if (multiplier == 1)
        for (int64_t c = 0; c < inputs; c++)
            y[c] += x[c] * w[c];
    else
        for (int64_t c = 0; c < inputs; c++)
            for (int64_t m = 0; m < multiplier; m++)
                y[c * multiplier + m] += x[c] * w[c * multiplier + m];
}

/* Depthwise in nhwc: weights are [t, o], so that channels are adjacent. */
static void depthwise_nhwc(const assay_window *w, const float *x, const float *by_tap, float *y)
{
    int64_t channels = w->out_channels, multiplier = channels / w->in_channels;
    for (int64_t p = 0; p < w->out_area; p++, y += channels) {
        int64_t at[ASSAY_SPATIAL] = {p / w->out[2] / w->out[1], p / w->out[2] % w->out[1],
                                     p % w->out[2]};
        int64_t lo[ASSAY_SPATIAL], hi[ASSAY_SPATIAL];
        for (int d = 0; d < ASSAY_SPATIAL; d++)
            float_window_taps(w, d, at[d], &lo[d], &hi[d]);
        for (int64_t tz = lo[0]; tz < hi[0]; tz++)
            for (int64_t ty = lo[1]; ty < hi[1]; ty++)
                for (int64_t tx = lo[2]; tx < hi[2]; tx++) {
                    int64_t iz = at[0] * w->stride[0] - w->pad[0] + tz * w->dilation[0];
                    int64_t iy = at[1] * w->stride[1] - w->pad[1] + ty * w->dilation[1];
                    int64_t ix = at[2] * w->stride[2] - w->pad[2] + tx * w->dilation[2];
                    int64_t t = (tz * w->kernel[1] + ty) * w->kernel[2] + tx;
                    int64_t pixel = (iz * w->in[1] + iy) * w->in[2] + ix;
                    add_products(x + pixel * w->in_channels, by_tap + t * channels, w->in_channels,
                                 multiplier, y);
                }
    }
}

static void depthwise(const assay_window *w, const float *x, const float *weight, float *scratch,
                      float *y)
{
    for (int64_t o = 0; o < w->out_channels; o++)
        for (int64_t t = 0; t < w->taps; t++)
            scratch[t * w->out_channels + o] = weight[o * w->taps + t];
    for (int64_t i = 0; i < w->out_channels * w->out_area; i++)
        y[i] = 0;
    depthwise_nhwc(w, x, scratch, y);
}

static bool is_depthwise(const assay_window *w, int64_t groups)
{
    return w->nhwc && groups == w->in_channels && groups > 1;
}

/* An output channel of each input channel. */
static bool takes_planes(const assay_window *w, int64_t groups)
{
    return !w->nhwc && groups == w->in_channels && groups == w->out_channels &&
           float_plane_floats(w) > 0;
}

/* Every tap of every window reads the input at the output's own position. */
static bool is_pointwise(const assay_window *w)
{
    bool same = w->taps == 1;
    for (int d = 0; d < ASSAY_SPATIAL; d++)
        same = same && w->stride[d] == 1 && w->pad[d] == 0 && w->in[d] == w->out[d];
    return same;
}

/* Images of one channel whose windows are whole rows, or whole columns: MLAS multiplies with the
 * image as it stands, a window's taps side by side. */
static bool takes_rows(const assay_window *w, int64_t channels, int rank)
{
    bool plain = !w->nhwc && channels == 1 && w->taps > 1 && rank <= 4 && w->kernel[2] == w->in[2];
    for (int d = 0; d < ASSAY_SPATIAL; d++)
        plain = plain && w->stride[d] == 1 && w->dilation[d] == 1 && w->pad[d] == 0 &&
                w->in[d] - w->kernel[d] + 1 == w->out[d];
    return plain;
}

typedef struct conv_group {
    const assay_window *w;
    int64_t group, groups;
    const float *weight; /* the group's */
    float *column;
    bool rows, ordered, in_turn; /* takes_rows; of assay_gemm */
} conv_group;

/* One group of one image by GEMM. In nchw the order of addition is ONNX Runtime's (convolve.cpp):
 * that of one product whose columns are all positions, whatever the tile. */
static void conv_by_gemm(const conv_group *c, const float *x, float *y)
{
    const assay_window *w = c->w;
    int64_t channels = w->in_channels / c->groups, outputs = w->out_channels / c->groups;
    int64_t depth = channels * w->taps, tile = float_patch_tile(depth, w->out_area);
    bool direct = is_pointwise(w) || c->rows;
    int64_t block = float_gemm_block(&(assay_gemm){.m = outputs, .n = w->out_area, .k = depth});

    for (int64_t first = 0; first < w->out_area; first += tile) {
        int64_t n = w->out_area - first < tile ? w->out_area - first : tile;
        assay_patches p = {w, c->group * channels, channels, first, n};
        assay_gemm g = {.k = depth, .block = block, .ordered = c->ordered, .in_turn = c->in_turn};
        if (!direct && depth > 0)
            float_im2col(&p, x, c->column);
        if (w->nhwc) {
            g.m = n;
            g.n = outputs;
            g.a = direct ? x + first * w->in_channels + p.channel : c->column;
            g.lda = direct ? w->in_channels : depth;
            g.b = c->weight;
            g.ldb = depth;
            g.b_t = true;
            g.c = y + first * w->out_channels + c->group * outputs;
            g.ldc = w->out_channels;
        } else {
            g.m = outputs;
            g.n = n;
            g.a = c->weight;
            g.lda = depth;
            g.b = direct ? x + p.channel * w->in_area + first : c->column;
            g.ldb = direct ? w->in_area : n;
            g.c = y + c->group * outputs * w->out_area + first;
            g.ldc = w->out_area;
        }
        if (c->rows) {
            g.b = x + p.channel * w->in_area + first * w->in[2];
            g.ldb = w->in[2];
            g.b_t = true;
        }
        float_gemm_run(&g);
    }
}

size_t float_conv_scratch(const assay_graph *g, const assay_node *n)
{
    assay_window w;
    kernel_window_of_conv(&w, &n->attr.conv, &assay_node_in(g, n, 0)->type,
                          &assay_node_out(g, n, 0)->type);
    int64_t depth = w.in_channels / n->attr.conv.group * w.taps;
    int64_t floats = depth * float_patch_tile(depth, w.out_area);
    if (is_depthwise(&w, n->attr.conv.group))
        floats = w.taps * w.out_channels;
    else if (takes_planes(&w, n->attr.conv.group))
        floats = floats > float_plane_floats(&w) ? floats : float_plane_floats(&w);
    return (size_t)floats * sizeof(float);
}

assay_status float_conv(assay_call *call, assay_error *err)
{
    const assay_attr_conv *a = &call->node->attr.conv;
    const float *x = call->in[0].data, *weight = call->in[1].data;
    const float *bias = call->node->n_in > 2 ? call->in[2].data : NULL;
    float *y = call->out[0].data;
    assay_window w;

    (void)err;
    kernel_window_of_conv(&w, a, call->in[0].type, call->out[0].type);
    conv_group c = {.w = &w,
                    .groups = a->group,
                    .column = call->scratch,
                    .ordered = float_is_ordered(call),
                    .in_turn = call->in_turn,
                    .rows = takes_rows(&w, w.in_channels / a->group, call->in[0].type->rank)};
    const bool planes = takes_planes(&w, a->group) && !c.in_turn && !c.rows;
    int64_t group_weights = w.out_channels / a->group * (w.in_channels / a->group) * w.taps;
    for (int64_t n = 0; n < w.batch; n++) {
        if (is_depthwise(&w, a->group))
            depthwise(&w, x, weight, call->scratch, y);
        else if (planes)
            float_conv_planes(&w, x, weight, call->scratch, y);
        else
            for (c.group = 0; c.group < c.groups; c.group++) {
                c.weight = weight + c.group * group_weights;
                conv_by_gemm(&c, x, y);
            }
        if (bias)
            add_bias(&w, bias, y);
        x += w.in_channels * w.in_area;
        y += w.out_channels * w.out_area;
    }
    return ASSAY_OK;
}
