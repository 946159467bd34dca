/* im2col: a convolution as a matrix product. For every output position the inputs under its taps
 * are laid out in a patch matrix, whose product with the weights is the convolution. */
#include <string.h>

#include "interp/float/window.h"

#define TILE_FLOATS (1 << 18)

int64_t float_patch_tile(int64_t rows, int64_t positions)
{
    int64_t n = TILE_FLOATS / (rows > 0 ? rows : 1);
    n = n < 16 ? 16 : n;
    return n < positions ? n : positions;
}

/* Calls `visit` for every run of positions that lie in one row of the output. */
typedef void (*row_fn)(const assay_patches *p, const int64_t at[ASSAY_SPATIAL], int64_t offset,
                       int64_t n, float *x, float *column);

static void each_row(const assay_patches *p, row_fn visit, float *x, float *column)
{
    const assay_window *w = p->w;
    for (int64_t done = 0; done < p->n;) {
        int64_t position = p->first + done, rest = position / w->out[2];
        int64_t at[ASSAY_SPATIAL] = {rest / w->out[1], rest % w->out[1], position % w->out[2]};
        int64_t n = w->out[2] - at[2] < p->n - done ? w->out[2] - at[2] : p->n - done;
        visit(p, at, done, n, x, column);
        done += n;
    }
}

/* Element offset, inside one channel's plane, of the input row that tap (tz, ty) reads at output
 * row (at[0], at[1]); -1 when it lies outside. */
static int64_t input_row(const assay_window *w, const int64_t at[ASSAY_SPATIAL], int64_t tz,
                         int64_t ty)
{
    int64_t z = at[0] * w->stride[0] - w->pad[0] + tz * w->dilation[0];
    int64_t y = at[1] * w->stride[1] - w->pad[1] + ty * w->dilation[1];
    if (z < 0 || z >= w->in[0] || y < 0 || y >= w->in[1])
        return -1;
    return (z * w->in[1] + y) * w->in[2];
}

/* Part [first, last) of outputs at[2]..at[2]+n-1 for which tap tx reads inside. */
static void inside(const assay_window *w, int64_t at, int64_t n, int64_t tx, int64_t *first,
                   int64_t *last)
{
    float_window_valid(w, 2, tx, first, last);
    *first = *first < at ? 0 : *first - at;
    *last = *last < at ? 0 : *last - at;
    *first = *first > n ? n : *first;
    *last = *last > n ? n : *last;
}

/* One row of outputs under one tap, of every channel: `first` zeros, elements, zeros from `last`
 * on.
 */
static void gather_tap(const assay_patches *p, const float *from, int64_t first, int64_t last,
                       int64_t n, float *to)
{
    const int64_t stride = p->w->stride[2], step = p->w->taps * p->n;
    for (int64_t c = 0; c < p->channels; c++, from += p->w->in_area, to += step) {
        for (int64_t i = 0; i < first; i++)
            to[i] = 0;
        if (stride == 1 && last > first)
            memcpy(to + first, from + first, (size_t)(last - first) * sizeof *to);
        else
            for (int64_t i = first; i < last; i++)
                to[i] = from[i * stride];
        for (int64_t i = last; i < n; i++)
            to[i] = 0;
    }
}

static void gather_nchw(const assay_patches *p, const int64_t at[ASSAY_SPATIAL], int64_t offset,
                        int64_t n, float *x, float *column)
{
    const assay_window *w = p->w;
    const float *plane = x + p->channel * w->in_area;
    for (int64_t t = 0; t < w->taps; t++) {
        int64_t tx = t % w->kernel[2], rest = t / w->kernel[2], first = n, last = n;
        int64_t row = input_row(w, at, rest / w->kernel[1], rest % w->kernel[1]);
        if (row >= 0)
            inside(w, at[2], n, tx, &first, &last);
        gather_tap(p, plane + row + at[2] * w->stride[2] - w->pad[2] + tx * w->dilation[2], first,
                   last, n, column + offset + t * p->n);
    }
}

static void scatter_nchw(const assay_patches *p, const int64_t at[ASSAY_SPATIAL], int64_t offset,
                         int64_t n, float *x, float *column)
{
    const assay_window *w = p->w;
    const float *from = column + offset;
    for (int64_t c = 0; c < p->channels; c++) {
        float *plane = x + (p->channel + c) * w->in_area;
        for (int64_t t = 0; t < w->taps; t++, from += p->n) {
            int64_t tx = t % w->kernel[2], rest = t / w->kernel[2], first, last;
            int64_t row = input_row(w, at, rest / w->kernel[1], rest % w->kernel[1]);
            if (row < 0)
                continue;
            inside(w, at[2], n, tx, &first, &last);
            row += at[2] * w->stride[2] - w->pad[2] + tx * w->dilation[2];
            for (int64_t i = first; i < last; i++)
                plane[row + i * w->stride[2]] += from[i];
        }
    }
}

/* Offset of the input pixel that tap t reads at output i of the row, or -1. */
static int64_t pixel(const assay_window *w, const int64_t at[ASSAY_SPATIAL], int64_t i, int64_t t)
{
    int64_t tx = t % w->kernel[2], rest = t / w->kernel[2];
    int64_t row = input_row(w, at, rest / w->kernel[1], rest % w->kernel[1]);
    int64_t x = (at[2] + i) * w->stride[2] - w->pad[2] + tx * w->dilation[2];
    return row < 0 || x < 0 || x >= w->in[2] ? -1 : row + x;
}

static void gather_nhwc(const assay_patches *p, const int64_t at[ASSAY_SPATIAL], int64_t offset,
                        int64_t n, float *x, float *column)
{
    const assay_window *w = p->w;
    float *to = column + offset * w->taps * p->channels;
    for (int64_t i = 0; i < n; i++)
        for (int64_t t = 0; t < w->taps; t++, to += p->channels) {
            int64_t from = pixel(w, at, i, t);
            if (from < 0)
                memset(to, 0, (size_t)p->channels * sizeof *to);
            else
                memcpy(to, x + from * w->in_channels + p->channel,
                       (size_t)p->channels * sizeof *to);
        }
}

static void scatter_nhwc(const assay_patches *p, const int64_t at[ASSAY_SPATIAL], int64_t offset,
                         int64_t n, float *x, float *column)
{
    const assay_window *w = p->w;
    const float *from = column + offset * w->taps * p->channels;
    for (int64_t i = 0; i < n; i++)
        for (int64_t t = 0; t < w->taps; t++, from += p->channels) {
            int64_t to = pixel(w, at, i, t);
            for (int64_t c = 0; to >= 0 && c < p->channels; c++)
                x[to * w->in_channels + p->channel + c] += from[c];
        }
}

void float_im2col(const assay_patches *p, const float *x, float *column)
{
    each_row(p, p->w->nhwc ? gather_nhwc : gather_nchw, (float *)x, column);
}

void float_col2im(const assay_patches *p, const float *column, float *x)
{
    each_row(p, p->w->nhwc ? scatter_nhwc : scatter_nchw, x, (float *)column);
}
