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
    int32_t *y;     /* C */
} pool_scratch;

static size_t carve(const assay_slide *w, char *memory, pool_scratch *s)
{
    size_t used = 0;
    s->image = assay_carve(memory, &used, w->in.image, sizeof *s->image);
    s->tap = assay_carve(memory, &used, w->kernel_cells, sizeof *s->tap);
    s->best = assay_carve(memory, &used, w->in.channels, sizeof *s->best);
    s->sum = assay_carve(memory, &used, w->in.channels, sizeof *s->sum);
    s->y = assay_carve(memory, &used, w->in.channels, sizeof *s->y);
    return used;
}

/* Global pooling is one window without padding that covers the image. */
static assay_slide slide_of(const assay_graph *g, const assay_node *n)
{
    return n->op == ASSAY_OP_GLOBAL_AVG_POOL ? assay_slide_global(g, n) : assay_slide_pool(g, n);
}

size_t assay_ref_pool_scratch(const assay_graph *g, const assay_node *n)
{
    pool_scratch s;
    assay_slide w = slide_of(g, n);
    return carve(&w, NULL, &s);
}

assay_status assay_ref_max_pool(assay_call *call, assay_error *err)
{
    const assay_slide w = slide_of(call->graph, call->node);
    int32_t least = (int32_t)assay_elem_min(call->in[0].type->elem);
    size_t channels = (size_t)w.in.channels;
    pool_scratch s;
    (void)err;

    carve(&w, call->scratch, &s);
    for (int64_t n = 0; n < w.batch; n++) {
        assay_load_row(&call->in[0], n * w.in.image, 1, (size_t)w.in.image, s.image);
        for (int64_t p = 0; p < w.out.cells; p++) {
            assay_slide_taps(&w, p, s.tap);
            for (size_t c = 0; c < channels; c++)
                s.best[c] = least;
            for (int64_t k = 0; k < w.kernel_cells; k++) {
                if (s.tap[k] < 0)
                    continue;
                const int32_t *x = s.image + s.tap[k];
                for (size_t c = 0; c < channels; c++, x += w.in.channel_step)
                    if (s.best[c] < *x)
                        s.best[c] = *x;
            }
            call->vt->unary(call->unit, s.best, channels, s.y);
            assay_store_row(&call->out[0], n * w.out.image + p * w.out.cell_step,
                            w.out.channel_step, channels, s.y);
        }
    }
    return ASSAY_OK;
}

assay_status assay_ref_avg_pool(assay_call *call, assay_error *err)
{
    const assay_slide w = slide_of(call->graph, call->node);
    bool global = call->node->op == ASSAY_OP_GLOBAL_AVG_POOL;
    bool include_pad = !global && call->node->attr.pool.count_include_pad;
    int32_t zx = assay_zero_point(call->in[0].type, 0);
    pool_scratch s;
    (void)err;

    carve(&w, call->scratch, &s);
    for (int64_t n = 0; n < w.batch; n++) {
        assay_load_row(&call->in[0], n * w.in.image, 1, (size_t)w.in.image, s.image);
        for (int64_t p = 0; p < w.out.cells; p++) {
            int64_t inside = assay_slide_taps(&w, p, s.tap);
            int64_t count = include_pad ? assay_slide_padded_count(&w, p) : inside;
            for (int64_t c = 0; c < w.in.channels; c++) {
                s.sum[c] = (count - inside) * zx;
                s.best[c] = (int32_t)count;
            }
            for (int64_t k = 0; k < w.kernel_cells; k++) {
                if (s.tap[k] < 0)
                    continue;
                const int32_t *x = s.image + s.tap[k];
                for (int64_t c = 0; c < w.in.channels; c++)
                    s.sum[c] += x[c * w.in.channel_step];
            }
            assay_finish_pool(call, n * w.out.image + p * w.out.cell_step, w.out.channel_step,
                              (size_t)w.in.channels, s.sum, s.best, s.y);
        }
    }
    return ASSAY_OK;
}
