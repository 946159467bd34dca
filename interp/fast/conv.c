/* Convolution: the image is staged (image.h), windows are rows of a product or taps of a depthwise
 * block, and where the network is channels first the codes are transposed back at the end. */
#include <assert.h>
#include <stdlib.h>

#include "interp/fast/depthwise.h"
#include "interp/fast/image.h"
#include "interp/fast/transpose_tile.h"
#include "interp/ref/ref.h"

typedef struct conv {
    assay_fast base;
    assay_window w;
    assay_stage stage;
    assay_block_fn block;
    bool out_last;            /* the output is stored channels last */
    bool in_place, depthwise; /* in_place: windows are read from the input itself */
    bool whole_units;         /* runs end with a unit */
    int image_workers;        /* 1: images one after the other */
    int64_t groups;
    assay_depthwise taps;
    assay_product product[]; /* one per group; none when depthwise */
} conv;

static void free_conv(assay_fast *f)
{
    conv *c = (conv *)f;
    for (int64_t g = 0; g < c->groups; g++)
        fast_product_free(&c->product[g]);
    fast_depthwise_free(&c->taps);
    fast_stage_free(&c->stage);
    free(c);
}

static assay_sink sink_of(const conv *c, assay_call *call, int64_t n, char *codes)
{
    const int64_t image = kernel_strides_out(&c->w).image;
    return (assay_sink){.call = call,
                        .block = c->block,
                        .codes = c->out_last ? (char *)call->out[0].data + n * image : codes,
                        .codes_step = c->w.out_channels,
                        .first = n * image,
                        .row_step = c->out_last ? c->w.out_channels : 1,
                        .column_step = c->out_last ? 1 : c->w.out_area};
}

/* A worker's part of the scratch: a staged image, and codes before they are transposed. */
static size_t part_bytes(const conv *c)
{
    const bool transposes = !c->w.nhwc;
    const size_t codes = transposes ? (size_t)kernel_strides_out(&c->w).image : 0;
    return (fast_stage_bytes(&c->stage) + codes + ASSAY_DEPTHWISE + 63) / 64 * 64;
}

typedef struct work {
    const conv *c;
    assay_call *call;
} work;

/* Images side by side where there are as many as threads; else threads share each image. */
static void run_image(void *user, int64_t n)
{
    const work *k = user;
    const conv *c = k->c;
    assay_call *call = k->call;
    const int threads = c->image_workers > 1 ? 1 : c->base.threads;
    char *part = (char *)call->scratch + fast_worker(c->image_workers) * part_bytes(c);
    const assay_view *x = &call->in[0];
    const int64_t in_channels = c->w.in_channels, out_channels = c->w.out_channels;
    char *codes = part + fast_stage_bytes(&c->stage);
    const char *left =
        c->in_place ? (const char *)x->data + n * kernel_strides_in(&c->w).image : part;
    assay_sink sink = sink_of(c, call, n, codes);
    if (!c->in_place)
        fast_stage_fill(&c->stage, x, n * kernel_strides_in(&c->w).image, part, threads);
    if (c->depthwise)
        fast_depthwise_run(&c->taps, left, c->stage.row, c->w.out_area, &sink, threads);
    for (int64_t g = 0; g < c->groups; g++) {
        const int64_t channel = out_channels / c->groups * g;
        assay_sink one = sink;
        one.codes += channel;
        one.first += channel * one.column_step;
        one.channel = channel;
        fast_product_run(&c->product[g], left + in_channels / c->groups * g * c->stage.form.element,
                         c->stage.row, c->w.out_area, &one, threads);
    }
    if (sink.block && sink.codes == codes)
        fast_transpose_bytes((const uint8_t *)codes, c->w.out_area, out_channels,
                             (uint8_t *)call->out[0].data + n * kernel_strides_out(&c->w).image,
                             threads);
}

static assay_status run(const assay_fast *f, assay_call *call, assay_error *err)
{
    const conv *c = (const conv *)f;
    work k = {c, call};
    (void)err;
    assert(c->image_workers >= 1);
    fast_each(c->image_workers, c->w.batch, run_image, &k);
    return ASSAY_OK;
}

/* Filters as [output][cell][channel of the group], in either layout. A transposed convolution's
 * stand as [channel][output of the group][cell] (nchw), and its cells are met last to first. */
static assay_filters filters_of(const assay_fast_setup *s, const assay_window *w, int64_t group)
{
    const assay_value *weights = assay_node_in(s->graph, s->node, 1);
    const assay_value *bias = s->node->n_in > 2 ? assay_node_in(s->graph, s->node, 2) : NULL;
    const bool nhwc = s->node->attr.conv.layout == ASSAY_LAYOUT_NHWC;
    const bool transposed = s->node->op == ASSAY_OP_CONV_TRANSPOSE;
    const int64_t channels = w->in_channels / group, outputs = w->out_channels / group;
    const int64_t step = nhwc ? channels : 1, depth = channels * w->taps;
    const bool mixed = transposed && !nhwc;
    return (assay_filters){.weights = {(void *)(uintptr_t)weights->data, &weights->type},
                           .bias = bias ? (assay_view){(void *)(uintptr_t)bias->data, &bias->type}
                                        : (assay_view){0},
                           .outputs = w->out_channels,
                           .cells = w->taps,
                           .channels = channels,
                           .group_outputs = outputs,
                           .origin = transposed ? (w->taps - 1) * step : 0,
                           .group_step = outputs * depth,
                           .filter_step = mixed ? w->taps : depth,
                           .cell_step = transposed ? -step : step,
                           .channel_step = mixed  ? outputs * w->taps
                                           : nhwc ? 1
                                                  : w->taps};
}

/* A transposed convolution is a convolution of stride 1 over its input spread apart by the stride,
 * zeros between, with the kernel mirrored. False where it crops more than the kernel reaches.
 */
static bool spread_apart(const assay_fast_setup *s, assay_window *w, int64_t spread[3])
{
    for (int i = 0; i < 3; i++) {
        spread[i] = 1;
        if (s->node->op != ASSAY_OP_CONV_TRANSPOSE)
            continue;
        spread[i] = w->stride[i];
        w->stride[i] = 1;
        w->pad[i] = (w->kernel[i] - 1) * w->dilation[i] - w->pad[i];
        if (w->pad[i] < 0)
            return false;
    }
    return true;
}

static assay_status pack(const assay_fast_setup *s, const assay_filters *f, conv *c, int64_t groups,
                         assay_error *err)
{
    const assay_stage *g = &c->stage;
    const int64_t outputs = f->outputs / groups;
    assay_status status = ASSAY_OK;
    if (c->depthwise)
        return fast_depthwise_make(s, f, &c->w, &g->form, g->run, &c->taps, err);
    for (int64_t i = 0; i < groups && !status; i++) {
        status = fast_product_make(s, f, &g->form, i * outputs, outputs, g->run, g->n_runs,
                                   &c->product[i], err);
        c->groups += !status;
    }
    return status;
}

/* Windows may be read from the input where it is channels last, unsigned bytes without padding,
 * and runs end with a unit. */
static void arrange(assay_fast *f, bool in_last, bool out_last)
{
    conv *c = (conv *)f;
    assay_stage *g = &c->stage;
    g->nhwc = c->w.nhwc || in_last || g->cells == 1;
    c->out_last = c->w.nhwc || out_last;
    c->in_place = !c->depthwise && g->nhwc && g->form.bytes && g->form.up == 0 && !g->padded &&
                  c->whole_units;
}

assay_status fast_conv(const assay_fast_setup *s, assay_fast **out, assay_error *err)
{
    assay_window w;
    kernel_window_of_conv(&w, &s->node->attr.conv, &assay_node_in(s->graph, s->node, 0)->type,
                          &assay_node_out(s->graph, s->node, 0)->type);
    const int64_t group = s->node->attr.conv.group;
    const assay_filters f = filters_of(s, &w, group);
    const bool depthwise = group > 1 && group == w.in_channels && group == w.out_channels;
    const bool nhwc = s->node->attr.conv.layout == ASSAY_LAYOUT_NHWC;
    assay_operand_form form;
    bool memory = false;
    int64_t spread[3];
    const bool possible = spread_apart(s, &w, spread);
    int32_t *row = malloc((size_t)fast_filter_depth(&f) * sizeof *row);
    conv *c = fast_alloc(sizeof *c + (size_t)group * sizeof *c->product);
    if (!row || !c) {
        free(row);
        free(c);
        return fast_memory(s, err);
    }
    bool taken = possible && fast_filters_exact(s, &f, row, &form) &&
                 fast_stage_make(&w, spread, nhwc, &form, group == 1, &c->stage, &memory);
    free(row);
    if (!taken) {
        free(c);
        return memory ? fast_memory(s, err) : ASSAY_OK;
    }
    c->base = (assay_fast){.run = run,
                           .free = free_conv,
                           .threads = s->threads,
                           .layouts = nhwc ? ASSAY_LAYOUTS_FIXED : ASSAY_LAYOUTS_FREE,
                           .arrange = arrange};
    c->w = w;
    c->block = fast_sink_block(s);
    c->depthwise = depthwise;
    c->whole_units = fast_filter_depth(&f) / c->stage.n_runs % ASSAY_UNIT == 0;
    arrange(&c->base, false, false);
    c->image_workers = w.batch < s->threads
                           ? 1
                           : fast_threads(s->threads, w.batch * w.out_channels * w.out_area *
                                                          fast_filter_depth(&f) / 16);
    c->base.scratch = part_bytes(c) * (size_t)c->image_workers;
    assay_status status = pack(s, &f, c, group, err);
    if (status) {
        free_conv(&c->base);
        return status;
    }
    *out = &c->base;
    return ASSAY_OK;
}
