/* Pooling over windows of 1 to 3 spatial axes.
 *
 *   max_pool         y[n,c,p] = f(max over k of x[n,c,i])         f: activation and rescale
 *   avg_pool         y[n,c,p] = pool(sum over k of x[n,c,i], how many k)
 *   global_avg_pool  the same over all cells
 *
 * i = p*stride - pad + k*dilation. Cells in the padding are left out; where count_include_pad holds
 * an average counts them as the zero point. Sums are of raw codes. */
#include "interp/ref/ref.h"
#include "interp/ref/slide.h"

typedef struct pool_scratch {
    int32_t *image; /* one image of raw codes, in the order of memory */
    int64_t *tap;   /* kernel cells */
    int32_t *best;  /* C: maxima, or counts */
    int64_t *sum;   /* C */
    int32_t *codes; /* kernel cells: one window */
    int32_t *y;     /* C */
} pool_scratch;

static size_t carve(const assay_window *w, char *memory, pool_scratch *s)
{
    size_t used = 0;
    s->image = ref_carve(memory, &used, w->in_channels * w->in_area, sizeof *s->image);
    s->tap = ref_carve(memory, &used, w->taps, sizeof *s->tap);
    s->best = ref_carve(memory, &used, w->in_channels, sizeof *s->best);
    s->sum = ref_carve(memory, &used, w->in_channels, sizeof *s->sum);
    s->codes = ref_carve(memory, &used, w->taps, sizeof *s->codes);
    s->y = ref_carve(memory, &used, w->in_channels, sizeof *s->y);
    return used;
}

/* Global pooling is one window without padding that covers the image. */
static assay_window window_of(const assay_graph *g, const assay_node *n)
{
    const assay_type *x = &assay_node_in(g, n, 0)->type, *y = &assay_node_out(g, n, 0)->type;
    assay_window w;
    if (n->op != ASSAY_OP_GLOBAL_AVG_POOL) {
        kernel_window_of_pool(&w, &n->attr.pool, x, y);
        return w;
    }
    kernel_window_of_layout(&w, n->attr.layout.layout, x, y);
    for (int i = 0; i < ASSAY_SPATIAL; i++)
        w.kernel[i] = w.in[i];
    w.taps = w.in_area;
    return w;
}

size_t ref_pool_scratch(const assay_graph *g, const assay_node *n)
{
    pool_scratch s;
    assay_window w = window_of(g, n);
    return carve(&w, NULL, &s);
}

assay_status ref_max_pool(assay_call *call, assay_error *err)
{
    const assay_window w = window_of(call->graph, call->node);
    const assay_strides in = kernel_strides_in(&w), out = kernel_strides_out(&w);
    int32_t least = (int32_t)assay_elem_min(call->in[0].type->elem);
    size_t channels = (size_t)w.in_channels;
    pool_scratch s;
    (void)err;

    carve(&w, call->scratch, &s);
    for (int64_t n = 0; n < w.batch; n++) {
        ref_load_row(&call->in[0], n * in.image, 1, (size_t)in.image, s.image);
        for (int64_t p = 0; p < w.out_area; p++) {
            ref_slide_taps(&w, p, s.tap);
            for (size_t c = 0; c < channels; c++)
                s.best[c] = least;
            for (int64_t k = 0; k < w.taps; k++) {
                if (s.tap[k] < 0)
                    continue;
                const int32_t *x = s.image + s.tap[k];
                for (size_t c = 0; c < channels; c++, x += in.channel)
                    if (s.best[c] < *x)
                        s.best[c] = *x;
            }
            ref_finish_unary(call, n * out.image + p * out.cell, out.channel, channels, s.best,
                             s.y);
        }
    }
    return ASSAY_OK;
}

/* Whether the scheme adds the cells of a window in their order. */
static bool is_ordered(const assay_call *call)
{
    const assay_scheme_vtable *vt = call->vt;
    return vt->window && vt->window(call->unit, NULL, 0, 0, NULL);
}

/* One output cell of all channels, each window's codes in C order. */
static void pool_in_order(const assay_call *call, const assay_window *w, int64_t count,
                          int64_t channel_step, const pool_scratch *s)
{
    for (int64_t c = 0; c < w->in_channels; c++) {
        size_t n = 0;
        for (int64_t k = 0; k < w->taps; k++)
            if (s->tap[k] >= 0)
                s->codes[n++] = s->image[s->tap[k] + c * channel_step];
        call->vt->window(call->unit, s->codes, n, (int32_t)count, &s->y[c]);
    }
}

assay_status ref_avg_pool(assay_call *call, assay_error *err)
{
    const assay_window w = window_of(call->graph, call->node);
    const assay_strides in = kernel_strides_in(&w), out = kernel_strides_out(&w);
    bool global = call->node->op == ASSAY_OP_GLOBAL_AVG_POOL;
    bool include_pad = !global && call->node->attr.pool.count_include_pad;
    bool ordered = is_ordered(call);
    int32_t zx = ref_zero_point(call->in[0].type, 0);
    pool_scratch s;
    (void)err;

    carve(&w, call->scratch, &s);
    for (int64_t n = 0; n < w.batch; n++) {
        ref_load_row(&call->in[0], n * in.image, 1, (size_t)in.image, s.image);
        for (int64_t p = 0; p < w.out_area; p++) {
            int64_t inside = ref_slide_taps(&w, p, s.tap);
            int64_t count = include_pad ? ref_slide_padded_count(&w, p) : inside;
            if (ordered) {
                pool_in_order(call, &w, count, in.channel, &s);
                ref_store_row(&call->out[0], n * out.image + p * out.cell, out.channel,
                              (size_t)w.in_channels, s.y);
                continue;
            }
            for (int64_t c = 0; c < w.in_channels; c++) {
                s.sum[c] = (count - inside) * zx;
                s.best[c] = (int32_t)count;
            }
            for (int64_t k = 0; k < w.taps; k++) {
                if (s.tap[k] < 0)
                    continue;
                const int32_t *x = s.image + s.tap[k];
                for (int64_t c = 0; c < w.in_channels; c++)
                    s.sum[c] += x[c * in.channel];
            }
            ref_finish_pool(call, n * out.image + p * out.cell, out.channel, (size_t)w.in_channels,
                            s.sum, s.best, s.y);
        }
    }
    return ASSAY_OK;
}
