/* Convolution: the image is staged (image.h), windows are rows of a product or taps of a depthwise
 * block, and where the network is channels first the codes are transposed back at the end. */
#include <stdlib.h>

#include "interp/fast/depthwise.h"
#include "interp/fast/image.h"
#include "interp/ref/ref.h"

typedef struct conv {
    assay_fast base;
    assay_window w;
    assay_stage stage;
    assay_block_fn block;
    bool in_place, depthwise; /* in_place: windows are read from the input itself */
    int64_t groups;
    assay_depthwise taps;
    assay_product product[]; /* one a group; none when depthwise */
} conv;

static void free_conv(assay_fast *f)
{
    conv *c = (conv *)f;
    for (int64_t g = 0; g < c->groups; g++)
        assay_product_free(&c->product[g]);
    assay_depthwise_free(&c->taps);
    assay_stage_free(&c->stage);
    free(c);
}

static assay_sink sink_of(const conv *c, assay_call *call, int64_t n, char *codes)
{
    const assay_steps out = assay_steps_out(&c->w);
    return (assay_sink){.call = call,
                        .block = c->block,
                        .codes = c->w.nhwc ? (char *)call->out[0].data + n * out.image : codes,
                        .codes_step = c->w.out_channels,
                        .first = n * out.image,
                        .row_step = out.cell,
                        .column_step = out.channel};
}

static void run_image(const conv *c, assay_call *call, int64_t n, char *staged, char *codes)
{
    const assay_view *x = &call->in[0];
    const int64_t in_channels = c->w.in_channels, out_channels = c->w.out_channels;
    const int threads = c->base.threads;
    const char *left =
        c->in_place ? (const char *)x->data + n * assay_steps_in(&c->w).image : staged;
    assay_sink sink = sink_of(c, call, n, codes);
    if (!c->in_place)
        assay_stage_fill(&c->stage, x, n * assay_steps_in(&c->w).image, staged, threads);
    if (c->depthwise)
        assay_depthwise_run(&c->taps, &c->stage.form, left, c->stage.row, c->w.out_area, &sink,
                            threads);
    for (int64_t g = 0; g < c->groups; g++) {
        const int64_t channel = out_channels / c->groups * g;
        assay_sink part = sink;
        part.codes += channel;
        part.first += channel * assay_steps_out(&c->w).channel;
        part.channel = channel;
        assay_product_run(&c->product[g],
                          left + in_channels / c->groups * g * c->stage.form.element, c->stage.row,
                          c->w.out_area, &part, threads);
    }
    if (sink.block && sink.codes == codes)
        assay_transpose_bytes((const uint8_t *)codes, c->w.out_area, out_channels,
                              (uint8_t *)call->out[0].data + n * assay_steps_out(&c->w).image,
                              threads);
}

static assay_status run(const assay_fast *f, assay_call *call, assay_error *err)
{
    const conv *c = (const conv *)f;
    char *staged = call->scratch;
    (void)err;
    for (int64_t n = 0; n < c->w.batch; n++)
        run_image(c, call, n, staged, staged + assay_stage_bytes(&c->stage));
    return ASSAY_OK;
}

/* Filters as [output][cell][channel of the group], in either layout. */
static assay_filters filters_of(const assay_fast_setup *s, const assay_window *w, int64_t group)
{
    const assay_value *weights = assay_node_in(s->graph, s->node, 1);
    const assay_value *bias = s->node->n_in > 2 ? assay_node_in(s->graph, s->node, 2) : NULL;
    bool nhwc = s->node->attr.conv.layout == ASSAY_LAYOUT_NHWC;
    int64_t channels = w->in_channels / group;
    return (assay_filters){.weights = {(void *)(uintptr_t)weights->data, &weights->type},
                           .bias = bias ? (assay_view){(void *)(uintptr_t)bias->data, &bias->type}
                                        : (assay_view){0},
                           .outputs = w->out_channels,
                           .cells = w->taps,
                           .channels = channels,
                           .filter_step = channels * w->taps,
                           .cell_step = nhwc ? channels : 1,
                           .channel_step = nhwc ? 1 : w->taps};
}

static assay_status pack(const assay_fast_setup *s, const assay_filters *f, conv *c, int64_t groups,
                         assay_error *err)
{
    const assay_stage *g = &c->stage;
    const int64_t outputs = f->outputs / groups;
    assay_status status = ASSAY_OK;
    if (c->depthwise)
        return assay_depthwise_make(s, f, &g->form, g->run, &c->taps, err);
    for (int64_t i = 0; i < groups && status == ASSAY_OK; i++) {
        status = assay_product_make(s, f, &g->form, i * outputs, outputs, g->run, g->n_runs,
                                    &c->product[i], err);
        c->groups += status == ASSAY_OK;
    }
    return status;
}

/* Windows may be read from the input where it is channels last, unsigned bytes without padding,
 * and runs end with a unit. */
static bool reads_in_place(const assay_stage *g, const assay_filters *f)
{
    return g->nhwc && g->form.bytes && g->form.up == 0 && !g->padded &&
           assay_filter_depth(f) / g->n_runs % ASSAY_UNIT == 0;
}

assay_status assay_fast_conv(const assay_fast_setup *s, assay_fast **out, assay_error *err)
{
    assay_window w;
    assay_window_of_conv(&w, &s->node->attr.conv, &assay_node_in(s->graph, s->node, 0)->type,
                         &assay_node_out(s->graph, s->node, 0)->type);
    const int64_t group = s->node->attr.conv.group;
    const assay_filters f = filters_of(s, &w, group);
    const bool depthwise = group > 1 && group == w.in_channels && group == w.out_channels;
    const bool nhwc = s->node->attr.conv.layout == ASSAY_LAYOUT_NHWC;
    assay_form form;
    bool memory = false;
    int32_t *row = malloc((size_t)assay_filter_depth(&f) * sizeof *row);
    conv *c = assay_fast_alloc(sizeof *c + (size_t)group * sizeof *c->product);
    if (!row || !c) {
        free(row);
        free(c);
        return assay_fast_memory(s, err);
    }
    bool taken = assay_filters_exact(s, &f, row, &form) &&
                 assay_stage_make(&w, nhwc, &form, group == 1, &c->stage, &memory);
    free(row);
    if (!taken) {
        free(c);
        return memory ? assay_fast_memory(s, err) : ASSAY_OK;
    }
    c->base = (assay_fast){run, free_conv, 0, s->threads};
    c->w = w;
    c->block = assay_sink_block(s);
    c->depthwise = depthwise;
    c->in_place = !depthwise && reads_in_place(&c->stage, &f);
    c->base.scratch = assay_stage_bytes(&c->stage) +
                      (nhwc ? 0 : (size_t)assay_steps_out(&w).image) + ASSAY_DEPTHWISE;
    assay_status status = pack(s, &f, c, group, err);
    if (status != ASSAY_OK) {
        free_conv(&c->base);
        return status;
    }
    *out = &c->base;
    return ASSAY_OK;
}
