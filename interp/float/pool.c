/* max_pool: y[p] = max over taps t inside x of x[p*stride - pad + t*dilation].
 * avg_pool: the mean over those taps; with count_include_pad, padding counts as zeros, but cells
 * beyond the padding (reached with ceil_mode) never count.
 * global_avg_pool: the mean over all spatial positions. */
#include <math.h>

#include "interp/float/float.h"
#include "interp/float/window.h"
#include "interp/move/move.h"

/* One window: its taps inside the input, and the input element of tap (0, 0, 0) in a plane. */
typedef struct placed {
    int64_t lo[ASSAY_SPATIAL], hi[ASSAY_SPATIAL], origin[ASSAY_SPATIAL];
} placed;

static placed place(const assay_window *w, int64_t p)
{
    placed at;
    for (int d = ASSAY_SPATIAL - 1; d >= 0; d--) {
        int64_t o = p % w->out[d];
        p /= w->out[d];
        float_window_taps(w, d, o, &at.lo[d], &at.hi[d]);
        at.origin[d] = o * w->stride[d] - w->pad[d];
    }
    return at;
}

/* Cells of the window that lie inside the input and its padding. */
static int64_t padded_count(const assay_window *w, const placed *at)
{
    int64_t count = 1;
    for (int d = 0; d < ASSAY_SPATIAL; d++) {
        int64_t room = w->in[d] + w->pad_end[d] - at->origin[d]; /* to the end of the padding */
        int64_t taps = (room + w->dilation[d] - 1) / w->dilation[d];
        count *= taps < w->kernel[d] ? taps : w->kernel[d];
    }
    return count;
}

#define EACH_TAP(w, at, element, body)                                                             \
    for (int64_t tz = (at).lo[0]; tz < (at).hi[0]; tz++)                                           \
        for (int64_t ty = (at).lo[1]; ty < (at).hi[1]; ty++)                                       \
            for (int64_t tx = (at).lo[2]; tx < (at).hi[2]; tx++) {                                 \
                int64_t iz = (at).origin[0] + tz * (w).dilation[0];                                \
                int64_t iy = (at).origin[1] + ty * (w).dilation[1];                                \
                int64_t ix = (at).origin[2] + tx * (w).dilation[2];                                \
                int64_t element = (iz * (w).in[1] + iy) * (w).in[2] + ix;                          \
                body                                                                               \
            }

/* In nhwc a pixel's channels are adjacent; in nchw a channel's pixels are. */
typedef struct steps {
    int64_t channel_in, channel_out, pixel;
} steps;

static steps steps_of(const assay_window *w)
{
    return w->nhwc ? (steps){1, 1, w->in_channels} : (steps){w->in_area, w->out_area, 1};
}

static float max_of_window(const assay_window *w, const placed *at, const float *x, int64_t pixel)
{
    float top = -INFINITY;
    EACH_TAP(*w, *at, i, {
        float v = x[i * pixel];
        top = v > top ? v : top;
    })
    return top;
}

static float sum_of_window(const assay_window *w, const placed *at, const float *x, int64_t pixel)
{
    float sum = 0;
    EACH_TAP(*w, *at, i, { sum += x[i * pixel]; })
    return sum;
}

/* Each column of the window first, then the columns' sums. */
static float sum_of_columns(const assay_window *w, const placed *at, const float *x, int64_t pixel)
{
    float sum = 0;
    for (int64_t tx = at->lo[2]; tx < at->hi[2]; tx++) {
        placed column = *at;
        column.lo[2] = tx;
        column.hi[2] = tx + 1;
        sum += sum_of_window(w, &column, x, pixel);
    }
    return sum;
}

/* Of a plane: four sums of every fourth, added crosswise, and what is left over in turn. */
static float sum_of_plane(const float *x, int64_t n, int64_t step)
{
    float lane[4] = {0};
    int64_t i = 0;
    for (; i < n / 4 * 4; i++)
        lane[i % 4] += x[i * step];
    float sum = (lane[0] + lane[2]) + (lane[1] + lane[3]);
    for (; i < n; i++)
        sum += x[i * step];
    return sum;
}

/* Orders of addition: one tap after another, or as MLAS does (pooling.cpp), which ONNX Runtime
 * calls for opsets before 19. */
typedef enum pool_order { TAPS, COLUMNS, PLANE } pool_order;

static pool_order order_of(const assay_attr_pool *a, const assay_window *w)
{
    bool whole = true, narrow = a->kernel.n >= 2 && w->stride[2] <= 2 &&
                                w->in[2] + w->pad[2] + w->pad_end[2] <= 2045;
    for (int d = 0; d < ASSAY_SPATIAL; d++) {
        whole = whole && w->kernel[d] == w->in[d] && w->stride[d] == 1 && w->pad[d] == 0 &&
                w->pad_end[d] == 0;
        narrow = narrow && w->kernel[d] <= 32;
    }
    return !a->columns_first ? TAPS : whole ? PLANE : narrow ? COLUMNS : TAPS;
}

/* The cells of a window that is not large, for whoever asks. */
static void tell_cells(const assay_window *w, const placed *at, const float *x, int64_t pixel,
                       const assay_teller *t)
{
    if (t && w->taps <= FLOAT_TOLD)
        EACH_TAP(*w, *at, i, { apply_tell_float(t, "cell", x[i * pixel]); })
}

static float quotient(float sum, int64_t cells, const assay_teller *t)
{
    const float mean = sum / (float)cells;
    apply_tell_float(t, "their sum", sum);
    apply_tell(t, "divided by so many cells", cells);
    apply_tell_float(t, "mean", mean);
    return mean;
}

static float mean_of_window(const assay_window *w, const placed *at, const assay_attr_pool *a,
                            const float *x, int64_t pixel, const assay_teller *t)
{
    const pool_order order = order_of(a, w);
    int64_t count = a->count_include_pad ? padded_count(w, at) : 1;
    for (int d = 0; d < ASSAY_SPATIAL && !a->count_include_pad; d++)
        count *= at->hi[d] > at->lo[d] ? at->hi[d] - at->lo[d] : 0;
    if (count == 0)
        return 0;
    float sum = order == PLANE     ? sum_of_plane(x, w->in_area, pixel)
                : order == COLUMNS ? sum_of_columns(w, at, x, pixel)
                                   : sum_of_window(w, at, x, pixel);
    tell_cells(w, at, x, pixel, t);
    return quotient(sum, count, t);
}

static void float_pool(const assay_call *call, const assay_window *w)
{
    const assay_attr_pool *a = &call->node->attr.pool;
    const float *x = call->in[0].data;
    float *y = call->out[0].data, *const first = y;
    const bool max = call->node->op == ASSAY_OP_MAX_POOL;
    steps s = steps_of(w);

    for (int64_t n = 0; n < w->batch; n++) {
        for (int64_t p = 0; p < w->out_area; p++) {
            placed at = place(w, p);
            for (int64_t c = 0; c < w->in_channels; c++) {
                const float *plane = x + c * s.channel_in;
                float *to = y + c * s.channel_out + p * s.pixel;
                const assay_teller *t = float_teller(call, to - first);
                *to = max ? max_of_window(w, &at, plane, s.pixel)
                          : mean_of_window(w, &at, a, plane, s.pixel, t);
            }
        }
        x += w->in_channels * w->in_area;
        y += w->out_channels * w->out_area;
    }
}

/* On integers of any width. */
static void integer_max_pool(const assay_call *call, const assay_window *w)
{
    const assay_view *x = &call->in[0];
    steps s = steps_of(w);

    for (int64_t n = 0; n < w->batch; n++)
        for (int64_t p = 0; p < w->out_area; p++) {
            placed at = place(w, p);
            for (int64_t c = 0; c < w->in_channels; c++) {
                int64_t first = n * w->in_channels * w->in_area + c * s.channel_in;
                int64_t to = n * w->out_channels * w->out_area + c * s.channel_out + p * s.pixel;
                int64_t top = assay_elem_min(x->type->elem);
                EACH_TAP(*w, at, i, {
                    int64_t v;
                    float_load_integers(x, first + i * s.pixel, 1, 1, &v);
                    top = v > top ? v : top;
                })
                float_store_integers(&call->out[0], to, 1, &top);
            }
        }
}

assay_status float_max_pool(assay_call *call, assay_error *err)
{
    assay_window w;
    (void)err;
    kernel_window_of_pool(&w, &call->node->attr.pool, call->in[0].type, call->out[0].type);
    if (float_holds_f32(&call->in[0]))
        float_pool(call, &w);
    else
        integer_max_pool(call, &w);
    return ASSAY_OK;
}

assay_status float_avg_pool(assay_call *call, assay_error *err)
{
    assay_window w;
    (void)err;
    kernel_window_of_pool(&w, &call->node->attr.pool, call->in[0].type, call->out[0].type);
    float_pool(call, &w);
    return ASSAY_OK;
}

assay_status float_global_avg_pool(assay_call *call, assay_error *err)
{
    const assay_type *t = call->in[0].type;
    bool nhwc = call->node->attr.layout.layout == ASSAY_LAYOUT_NHWC;
    int64_t channels = t->dim[nhwc ? t->rank - 1 : 1];
    int64_t area = nhwc ? move_extent(t, 1, t->rank - 1) : move_extent(t, 2, t->rank);
    const float *x = call->in[0].data;
    float *y = call->out[0].data;

    (void)err;
    for (int64_t n = 0; n < t->dim[0]; n++, x += channels * area)
        for (int64_t c = 0; c < channels; c++) {
            float sum = sum_of_plane(nhwc ? x + c : x + c * area, area, nhwc ? channels : 1);
            *y++ = quotient(sum, area, float_teller(call, n * channels + c));
        }
    return ASSAY_OK;
}
