/* conv: y[n, o, p] = bias[o] + sum over c in o's group, taps t: x[n, c, p*stride - pad +
 * t*dilation]
 * * w[o, c, t], where x outside its extents is 0 (ONNX Conv). Spatial positions p and taps t have
 * one to three axes; nhwc: the same with channels last, w[o, t, c]. */
#include "interp/float/float.h"
#include "interp/float/window.h"

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
    bool rows, in_turn; /* takes_rows; of assay_gemm */
    float_finish finish;
} conv_group;

/* Does direct.c take it? */
static bool takes_windows(const conv_group *c)
{
    const assay_window *w = c->w;
    return !c->in_turn && !c->rows &&
           float_direct_floats(w, w->in_channels / c->groups, w->out_channels / c->groups) > 0;
}

static void conv_by_windows(const conv_group *c, const float *x, float *y)
{
    const assay_window *w = c->w;
    const int64_t channels = w->in_channels / c->groups, outputs = w->out_channels / c->groups;
    float_conv_direct(
        &(float_direct){w, channels, outputs, c->group * outputs, c->weight, &c->finish},
        x + c->group * channels * w->in_area, c->column, y + c->group * outputs * w->out_area);
}

/* The group's outputs at `n` positions from `first` on. */
static void finish(const conv_group *c, int64_t first, int64_t n, float *y)
{
    const assay_window *w = c->w;
    const int64_t outputs = w->out_channels / c->groups;

    if (w->nhwc && c->groups == 1)
        float_finish_pixels(&c->finish, outputs, n, y + first * outputs);
    for (int64_t o = c->group * outputs; !w->nhwc && o < (c->group + 1) * outputs; o++) {
        float *row = y + o * w->out_area + first;
        float_finish_plane(&c->finish, o, row, n, row);
    }
}

/* Positions at once: the patches, if any, and the sums of a tile stay in the cache. */
static int64_t tile_of(const assay_window *w, int64_t depth, int64_t outputs)
{
    return float_patch_tile(depth > 2 * outputs ? depth : 2 * outputs, w->out_area);
}

/* One group of one image by GEMM. In nchw the order of addition is ONNX Runtime's (convolve.cpp):
 * that of one product whose columns are all positions, whatever the tile. */
static void conv_by_gemm(const conv_group *c, const float *x, float *y)
{
    const assay_window *w = c->w;
    int64_t channels = w->in_channels / c->groups, outputs = w->out_channels / c->groups;
    int64_t depth = channels * w->taps, tile = tile_of(w, depth, outputs);
    bool direct = is_pointwise(w) || c->rows;
    int64_t block = float_gemm_block(&(assay_gemm){.m = outputs, .n = w->out_area, .k = depth});

    for (int64_t first = 0; first < w->out_area; first += tile) {
        int64_t n = w->out_area - first < tile ? w->out_area - first : tile;
        assay_patches p = {w, c->group * channels, channels, first, n};
        assay_gemm g = {.k = depth, .block = block, .in_turn = c->in_turn};
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
        finish(c, first, n, y);
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
    const int64_t direct = float_direct_floats(&w, w.in_channels / n->attr.conv.group,
                                               w.out_channels / n->attr.conv.group);
    const int64_t planes = takes_planes(&w, n->attr.conv.group) ? float_plane_floats(&w) : 0;
    floats = floats > direct ? floats : direct;
    floats = floats > planes ? floats : planes;
    return (size_t)floats * sizeof(float);
}

assay_status float_conv(assay_call *call, assay_error *err)
{
    const assay_attr_conv *a = &call->node->attr.conv;
    const float *x = call->in[0].data, *weight = call->in[1].data;
    float *y = call->out[0].data;
    assay_window w;

    (void)err;
    kernel_window_of_conv(&w, a, call->in[0].type, call->out[0].type);
    conv_group c = {.w = &w,
                    .groups = a->group,
                    .column = call->scratch,
                    .in_turn = call->in_turn,
                    .finish = float_finish_of(call),
                    .rows = takes_rows(&w, w.in_channels / a->group, call->in[0].type->rank)};
    const bool windows = takes_windows(&c);
    const bool planes = takes_planes(&w, a->group) && !c.in_turn && !c.rows;
    int64_t group_weights = w.out_channels / a->group * (w.in_channels / a->group) * w.taps;
    for (int64_t n = 0; n < w.batch; n++) {
        if (planes)
            float_conv_planes(&w, x, weight, &c.finish, call->scratch, y);
        else if (is_depthwise(&w, a->group))
            depthwise(&w, x, weight, call->scratch, y);
        else
            for (c.group = 0; c.group < c.groups; c.group++) {
                c.weight = weight + c.group * group_weights;
                if (windows)
                    conv_by_windows(&c, x, y);
                else
                    conv_by_gemm(&c, x, y);
            }
        if (w.nhwc && c.groups > 1)
            float_finish_pixels(&c.finish, w.out_channels, w.out_area, y);
        x += w.in_channels * w.in_area;
        y += w.out_channels * w.out_area;
    }
    return ASSAY_OK;
}
