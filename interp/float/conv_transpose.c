/* conv_transpose: y[n, o, q] = bias[o] + sum over c, p, t with p*stride - pad + t*dilation == q:
 * x[n, c, p] * w[c, o, t], c in o's group (ONNX ConvTranspose): each input is spread through the
 * taps of a window over the output. nhwc: channels last, w[o, t, c], one group.
 *
 * With the window taken as sliding over y, this is the transpose of im2col after a product. In nchw
 * the order of addition is ONNX Runtime's (conv_transpose.cc, math_cpu.cc): the product's, then tap
 * after tap, then the bias. */
#include "interp/float/float.h"
#include "interp/float/window.h"

/* The element that is asked for, and the sum of its taps so far. */
typedef struct spread_told {
    const assay_teller *teller;
    int64_t channel, cell; /* the channel in its group */
    float sum;
} spread_told;

/* Channels of x (windows) and of y (slid over) in a group. */
typedef struct spread_group {
    const assay_window *w;
    int64_t inputs, outputs;
    const float *weight; /* the group's */
    bool constant;       /* the weights are: ONNX Runtime transposes them beforehand */
    float *column;
    spread_told *told; /* NULL: nobody asks for an element of the group */
} spread_group;

/* ---- steps told ---- */

/* Element i of the image's channels in group `group`; false: it is not of them. */
static bool asks_for(const assay_window *w, int64_t outputs, int64_t group, int64_t i,
                     spread_told *to)
{
    const int64_t channels = w->in_channels, area = w->in_area;
    if (i < 0 || i >= channels * area)
        return false;
    to->channel = (w->nhwc ? i % channels : i / area) - group * outputs;
    to->cell = w->nhwc ? i / channels : i % area;
    to->sum = 0;
    return to->channel >= 0 && to->channel < outputs;
}

/* The cell of x that tap t spreads onto cell q of y, or -1. */
static int64_t source_of(const assay_window *w, int64_t t, int64_t q)
{
    int64_t p = 0, step = 1;
    for (int d = ASSAY_SPATIAL - 1; d >= 0; d--) {
        const int64_t from = q % w->in[d] + w->pad[d] - t % w->kernel[d] * w->dilation[d];
        if (from < 0 || from % w->stride[d] != 0 || from / w->stride[d] >= w->out[d])
            return -1;
        p += from / w->stride[d] * step;
        step *= w->out[d];
        q /= w->in[d];
        t /= w->kernel[d];
    }
    return p;
}

/* What tap t makes of cell p of x: the products of the inputs, which are a step apart each. */
static void tell_tap(const spread_group *s, int64_t t, int64_t p, float products, const float *x,
                     int64_t x_step, const float *weight, int64_t weight_step)
{
    const assay_teller *teller = s->told->teller;
    apply_tell(teller, "tap", t);
    apply_tell(teller, "cell of the input", p);
    for (int64_t c = 0; c < s->inputs && s->inputs * s->w->taps <= FLOAT_TOLD; c++) {
        apply_tell_float(teller, "x", x[c * x_step]);
        apply_tell_float(teller, "weight", weight[c * weight_step]);
    }
    s->told->sum += products;
    apply_tell_float(teller, "sum of the tap's products", products);
    apply_tell_float(teller, "sum so far", s->told->sum);
}

/* Tap after tap; column: the channel's products. */
static void tell_nchw(const spread_group *s, const float *x, const float *column)
{
    const int64_t taps = s->w->taps, area = s->w->out_area;
    for (int64_t t = 0; t < taps; t++) {
        const int64_t p = source_of(s->w, t, s->told->cell);
        if (p >= 0)
            tell_tap(s, t, p, column[t * area + p], x + p, area,
                     s->weight + s->told->channel * taps + t, s->outputs * taps);
    }
}

/* Cell after cell of a tile of x. */
static void tell_nhwc(const spread_group *s, const assay_patches *tile, const float *x)
{
    const int64_t taps = s->w->taps;
    for (int64_t p = tile->first; p < tile->first + tile->n; p++)
        for (int64_t t = 0; t < taps; t++) {
            const int64_t row = t * s->outputs + s->told->channel;
            if (source_of(s->w, t, s->told->cell) == p)
                tell_tap(s, t, p, s->column[(p - tile->first) * taps * s->outputs + row],
                         x + p * s->inputs, 1, s->weight + row * s->inputs, 1);
        }
}

/* ---- a group ---- */

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
        if (s->told && s->told->channel >= o && s->told->channel < o + channels)
            tell_nchw(s, x, s->column + (s->told->channel - o) * w->taps * w->out_area);
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
        if (s->told)
            tell_nhwc(s, &p, x);
        float_col2im(&p, s->column, y);
    }
}

/* ---- an image ---- */

static float bias_of(const assay_window *w, const float *bias, int64_t i)
{
    return bias[w->nhwc ? i % w->in_channels : i / w->in_area];
}

/* told: the element that is asked for, or none of the image (beyond its ends). */
static void add_bias(const assay_window *w, const float *bias, float *y, const assay_teller *t,
                     int64_t told)
{
    const int64_t n = w->in_channels * w->in_area;
    const bool tells = told >= 0 && told < n;
    if (tells)
        apply_tell_float(t, "sum of the taps", y[told]);
    for (int64_t i = 0; i < n && bias; i++)
        y[i] += bias_of(w, bias, i);
    if (tells && bias) {
        apply_tell_float(t, "bias", bias_of(w, bias, told));
        apply_tell_float(t, "sum and bias", y[told]);
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
    spread_told told = {.teller = call->teller};
    int64_t asked = call->teller ? (int64_t)call->teller->at : -1; /* counted over the image */
    for (int64_t n = 0; n < w.batch; n++) {
        for (int64_t i = 0; i < w.in_channels * w.in_area; i++)
            y[i] = 0;
        for (int64_t group = 0; group < a->group; group++) {
            s.weight = weight + group * s.inputs * s.outputs * w.taps;
            s.told = asks_for(&w, s.outputs, group, asked, &told) ? &told : NULL;
            if (w.nhwc)
                spread_nhwc(&s, x, y);
            else
                spread_nchw(&s, x + group * s.inputs * w.out_area,
                            y + group * s.outputs * w.in_area);
        }
        add_bias(&w, bias, y, call->teller, asked);
        x += w.out_channels * w.out_area;
        y += w.in_channels * w.in_area;
        asked -= w.in_channels * w.in_area;
    }
    return ASSAY_OK;
}
