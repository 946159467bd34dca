/* Depthwise convolution in nchw without a patch matrix. A few rows of a plane are staged between
 * zeros, each cut into phases, one for each place modulo the stride: what a tap reads for a row of
 * outputs is then side by side.
 *
 *   a b c d e with a pad of 1 and a stride of 2 is staged as  0 b d 0 | a c e
 *
 * Products are added in the order in which assay_gemm adds those of one row (gemm.c): by fours,
 * then two, then one. The bits are those of the product with a patch matrix. */
#include <string.h>

#include "interp/float/window.h"

#define STAGED_FLOATS (1 << 13) /* wanted, so that they stay in the cache; at most MAX_FLOATS */
#define MAX_FLOATS    (1 << 18)
#define MAX_TAPS      64

/* For `rows` rows of outputs: `planes` times `lines` lines of `pitch` floats, `phase` of each. */
typedef struct stage {
    int64_t rows, planes, lines, phase, pitch;
} stage;

/* What `outputs` outputs along an axis read of it, from the first to the last. */
static int64_t extent(const assay_window *w, int axis, int64_t outputs)
{
    return (outputs - 1) * w->stride[axis] + (w->kernel[axis] - 1) * w->dilation[axis] + 1;
}

/* False when not even the rows of one row of outputs can be staged. */
static bool choose(stage *s, const assay_window *w)
{
    const int64_t line = extent(w, 2, w->out[2]), lines = extent(w, 1, 1);

    if (w->taps < 1 || w->taps > MAX_TAPS || w->out_area < 1 || line > MAX_FLOATS ||
        lines > MAX_FLOATS)
        return false;
    s->planes = w->kernel[0];
    s->phase = (line + w->stride[2] - 1) / w->stride[2];
    s->pitch = s->phase * w->stride[2];
    if (s->planes * lines * s->pitch > MAX_FLOATS)
        return false;
    s->rows = (STAGED_FLOATS / (s->planes * s->pitch) - lines) / w->stride[1] + 1;
    s->rows = s->rows < 1 ? 1 : s->rows > w->out[1] ? w->out[1] : s->rows;
    s->lines = extent(w, 1, s->rows);
    return true;
}

/* One line: input positions from -pad, 0 beyond both ends. `row` is NULL outside of the plane. */
static void stage_line(const assay_window *w, const stage *s, const float *row, float *to)
{
    const int64_t stride = w->stride[2];
    for (int64_t f = 0; f < stride; f++, to += s->phase) {
        const int64_t from = f - w->pad[2]; /* position i of the phase is from + i * stride */
        int64_t first = from < 0 ? (-from + stride - 1) / stride : 0;
        int64_t end = from < w->in[2] ? (w->in[2] - from + stride - 1) / stride : 0;
        end = !row || end < 0 ? 0 : end < s->phase ? end : s->phase;
        first = first < end ? first : end;
        memset(to, 0, (size_t)first * sizeof *to);
        for (int64_t i = first; stride > 1 && i < end; i++)
            to[i] = row[from + i * stride];
        if (stride == 1 && end > first)
            memcpy(to + first, row + from + first, (size_t)(end - first) * sizeof *to);
        memset(to + end, 0, (size_t)(s->phase - end) * sizeof *to);
    }
}

/* What rows [oy, oy + rows) at depth oz read of a plane. */
static void stage_rows(const assay_window *w, const stage *s, const float *plane, int64_t oz,
                       int64_t oy, int64_t rows, float *to)
{
    const int64_t lines = extent(w, 1, rows);
    for (int64_t t = 0; t < s->planes; t++) {
        const int64_t z = oz * w->stride[0] - w->pad[0] + t * w->dilation[0];
        for (int64_t l = 0; l < lines; l++) {
            const int64_t y = oy * w->stride[1] - w->pad[1] + l;
            const bool inside = z >= 0 && z < w->in[0] && y >= 0 && y < w->in[1];
            stage_line(w, s, inside ? plane + (z * w->in[1] + y) * w->in[2] : NULL,
                       to + (t * s->lines + l) * s->pitch);
        }
    }
}

/* y (+)= x at[0] * weight[0] + x at[1] * weight[1] + ... of `count` taps. */
static inline __attribute__((always_inline)) void add_taps(int count, const float *x,
                                                           const int64_t *at, const float *weight,
                                                           int64_t n, bool add, float *restrict y)
{
    const float *tap[4];
    for (int t = 0; t < count; t++)
        tap[t] = x + at[t];
    for (int64_t i = 0; i < n; i++) {
        float sum = weight[0] * tap[0][i];
        for (int t = 1; t < count; t++)
            sum += weight[t] * tap[t][i];
        y[i] = sum + (add ? y[i] : 0);
    }
}

static void conv_row(const float *x, const int64_t *at, const float *weight, int64_t taps,
                     int64_t n, float *y)
{
    int64_t t = 0;
    for (; t + 4 <= taps; t += 4)
        add_taps(4, x, at + t, weight + t, n, t > 0, y);
    if (t + 2 <= taps) {
        add_taps(2, x, at + t, weight + t, n, t > 0, y);
        t += 2;
    }
    if (t < taps)
        add_taps(1, x, at + t, weight + t, n, t > 0, y);
}

int64_t float_plane_floats(const assay_window *w)
{
    stage s;
    return choose(&s, w) ? s.planes * s.lines * s.pitch : 0;
}

/* Where each tap reads for the first output. */
static void place_taps(const assay_window *w, const stage *s, int64_t at[MAX_TAPS])
{
    for (int64_t t = 0; t < w->taps; t++) {
        const int64_t z = t / w->kernel[2] / w->kernel[1],
                      down = t / w->kernel[2] % w->kernel[1] * w->dilation[1],
                      along = t % w->kernel[2] * w->dilation[2];
        at[t] = (z * s->lines + down) * s->pitch + along % w->stride[2] * s->phase +
                along / w->stride[2];
    }
}

void float_conv_planes(const assay_window *w, const float *x, const float *weight, float *staged,
                       float *y)
{
    int64_t at[MAX_TAPS];
    stage s;

    choose(&s, w);
    place_taps(w, &s, at);
    for (int64_t c = 0; c < w->in_channels; c++, x += w->in_area, weight += w->taps)
        for (int64_t oz = 0; oz < w->out[0]; oz++)
            for (int64_t oy = 0; oy < w->out[1]; oy += s.rows) {
                const int64_t rows = w->out[1] - oy < s.rows ? w->out[1] - oy : s.rows;
                stage_rows(w, &s, x, oz, oy, rows, staged);
                for (int64_t r = 0; r < rows; r++, y += w->out[2])
                    conv_row(staged + r * w->stride[1] * s.pitch, at, weight, w->taps, w->out[2],
                             y);
            }
}
