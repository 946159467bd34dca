/* Convolution and transposed convolution over 1 to 3 spatial axes, grouped, dilated; depthwise is
 * group = channels.
 *
 *   acc[n,o,p] = bias[o] + sum over c, k of  (x[n, g*C+c, i] - zx) * (w[o,c,k] - zw[o])
 *   y[n,o,p]   = requantize(acc[n,o,p], o)
 *
 * C = channels of a group, g = o / (O / group), and i is the cell of x under kernel cell k:
 *   conv             i = p*stride - pad + k*dilation
 *   conv_transpose   p = i*stride - pad + k*dilation
 * Where there is no such cell (padding, or between the strides) x counts as zx, hence 0.
 *
 * Weights: nchw O,C,k... (conv_transpose: I,O/group,k...); nhwc O,k...,C (group 1 if transposed).
 * Reduction order: c, k in nchw; k, c in nhwc: the order of a filter in memory. */
#include <assert.h>

#include "interp/ref/ref.h"
#include "interp/ref/slide.h"

typedef struct conv_scratch {
    int32_t *filters; /* O rows of depth: centred, in reduction order */
    int64_t *bias;    /* O */
    int32_t *image;   /* one image: centred, in the order of memory */
    int32_t *field;   /* depth: what the window sees of one group, in reduction order */
    int64_t *tap;     /* kernel cells: what of the image lies under each, or -1 */
    assay_products products;
    int64_t *acc; /* O */
    int32_t *y;   /* O */
} conv_scratch;

static size_t carve(const assay_window *w, int64_t depth, const assay_node *n, const assay_type *x,
                    const assay_view *weights, char *memory, conv_scratch *s)
{
    size_t used = 0;
    s->filters = ref_carve(memory, &used, w->out_channels * depth, sizeof *s->filters);
    s->bias = ref_carve(memory, &used, w->out_channels, sizeof *s->bias);
    s->image = ref_carve(memory, &used, w->in_channels * w->in_area, sizeof *s->image);
    s->field = ref_carve(memory, &used, depth, sizeof *s->field);
    s->tap = ref_carve(memory, &used, w->taps, sizeof *s->tap);
    s->acc = ref_carve(memory, &used, w->out_channels, sizeof *s->acc);
    s->y = ref_carve(memory, &used, w->out_channels, sizeof *s->y);
    s->products = ref_products_of(n, x, weights, memory, &used);
    return used;
}

size_t ref_conv_scratch(const assay_graph *g, const assay_node *n)
{
    const assay_type *x = &assay_node_in(g, n, 0)->type;
    const assay_view weights = {.type = &assay_node_in(g, n, 1)->type};
    conv_scratch s;
    assay_window w;
    kernel_window_of_conv(&w, &n->attr.conv, x, &assay_node_out(g, n, 0)->type);
    return carve(&w, w.in_channels / n->attr.conv.group * w.taps, n, x, &weights, NULL, &s);
}

/* Filter o of a transposed convolution in nchw, whose weights stand as I,O/group,k... */
static void load_transposed(const assay_view *weights, const assay_window *w, int64_t group,
                            int64_t o, int32_t *filter)
{
    int64_t channels = w->in_channels / group, outputs = w->out_channels / group;
    for (int64_t c = 0; c < channels; c++) {
        int64_t i = o / outputs * channels + c;
        ref_load_centred(weights, (i * outputs + o % outputs) * w->taps, 1, (size_t)w->taps, o,
                         filter + c * w->taps);
    }
}

/* What the window sees of channels first .. first + channels - 1. */
static void gather(const assay_window *w, const conv_scratch *s, int64_t first, int64_t channels)
{
    int64_t in_step = kernel_strides_in(w).channel;
    int64_t c_step = w->nhwc ? 1 : w->taps, k_step = w->nhwc ? channels : 1;
    const int32_t *image = s->image + first * in_step;
    int32_t *to = s->field;
    for (int64_t k = 0; k < w->taps; k++, to += k_step) {
        if (s->tap[k] < 0) {
            for (int64_t c = 0; c < channels; c++)
                to[c * c_step] = 0;
            continue;
        }
        const int32_t *from = image + s->tap[k];
        for (int64_t c = 0; c < channels; c++)
            to[c * c_step] = from[c * in_step];
    }
}

assay_status ref_conv(assay_call *call, assay_error *err)
{
    const assay_view *x = &call->in[0], *weights = &call->in[1];
    const assay_view *bias = call->node->n_in > 2 ? &call->in[2] : NULL;
    const assay_attr_conv *a = &call->node->attr.conv;
    assay_window w;
    bool transposed = call->node->op == ASSAY_OP_CONV_TRANSPOSE;
    kernel_window_of_conv(&w, a, x->type, call->out[0].type);
    const assay_strides in = kernel_strides_in(&w), out = kernel_strides_out(&w);
    int64_t channels = w.in_channels / a->group, outputs = w.out_channels / a->group;
    int64_t depth = channels * w.taps;
    conv_scratch s;
    (void)err;

    assert(channels * a->group == w.in_channels && outputs * a->group == w.out_channels);
    carve(&w, depth, call->node, x->type, weights, call->scratch, &s);
    for (int64_t o = 0; o < w.out_channels; o++) {
        if (transposed && !w.nhwc)
            load_transposed(weights, &w, a->group, o, s.filters + o * depth);
        else
            ref_load_filter(&s.products, o * depth, 1, (size_t)depth, o, 0, s.filters + o * depth);
        s.bias[o] = ref_load_bias(bias, o);
    }

    for (int64_t n = 0; n < w.batch; n++) {
        ref_load_centred(x, n * in.image, 1, (size_t)in.image, 0, s.image);
        for (int64_t p = 0; p < w.out_area; p++) {
            int64_t first = n * out.image + p * out.cell;
            if (transposed)
                ref_slide_taps_transposed(&w, p, s.tap);
            else
                ref_slide_taps(&w, p, s.tap);
            for (int64_t o = 0, c = 0; o < w.out_channels; c += channels) {
                gather(&w, &s, c, channels);
                for (int64_t end = o + outputs; o < end; o++)
                    s.acc[o] =
                        ref_sum_products(call, &s.products, s.field, s.filters + o * depth,
                                         (size_t)depth, o, s.bias[o], first + o * out.channel);
            }
            ref_finish_sums(call, first, out.channel, (size_t)w.out_channels, 0, s.acc, s.y);
        }
    }
    return ASSAY_OK;
}
