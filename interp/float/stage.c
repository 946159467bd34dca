/* Staged input of a convolution in nchw; see stage.h. */
#include "interp/float/stage.h"

#include <string.h>

#include "interp/float/taps.h"

const float_taps *float_taps_choose(void)
{
#ifdef ASSAY_X86
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw"))
        return &float_taps_avx512;
    if (__builtin_cpu_supports("avx2"))
        return &float_taps_avx2;
#endif
    return &float_taps_portable;
}

/* What `outputs` outputs along an axis read of it, from the first to the last. */
static int64_t extent(const assay_window *w, int axis, int64_t outputs)
{
    return (outputs - 1) * w->stride[axis] + (w->kernel[axis] - 1) * w->dilation[axis] + 1;
}

static int64_t up_to_step(int64_t n)
{
    return (n + FLOAT_STAGE_STEP - 1) / FLOAT_STAGE_STEP * FLOAT_STAGE_STEP;
}

bool float_stage_choose(float_stage *s, const assay_window *w, int64_t channels, int64_t outputs,
                        const float_stage_room *room)
{
    const int64_t line = extent(w, 2, w->out[2]), lines = extent(w, 1, 1);
    int64_t floats, rows;

    /* Strides are at most 2^30 (graph/core/infer_conv.c), so the products below are exact. */
    if (w->taps < 1 || w->taps > FLOAT_STAGE_TAPS || w->out_area < 1 || channels < 1 ||
        outputs < 1 || line > room->max || lines > room->max || channels > room->max ||
        outputs > room->max)
        return false;
    s->pitch = (line + w->stride[2] - 1) / w->stride[2];
    floats = w->kernel[0] * s->pitch * w->stride[2] * channels; /* of a line */
    if (floats > room->max / (lines + w->stride[1]) || outputs * s->pitch > room->max)
        return false;
    rows = (room->staged / floats - lines) / w->stride[1] + 1;
    if (rows > room->sums / (outputs * s->pitch))
        rows = room->sums / (outputs * s->pitch);
    s->rows = rows < 1 ? 1 : rows > w->out[1] ? w->out[1] : rows;
    s->lines = (extent(w, 1, s->rows) + w->stride[1] - 1) / w->stride[1];
    s->plane = w->stride[2] * w->stride[1] * w->kernel[0] * s->lines * s->pitch;
    s->whole = s->rows == w->out[1] && w->out[0] == 1;
    return true;
}

int64_t float_stage_floats(const float_stage *s, int64_t channels)
{
    return channels * s->plane + FLOAT_STAGE_STEP;
}

int64_t float_stage_row(const float_stage *s)
{
    return up_to_step(s->rows * s->pitch);
}

/* One phase of a line: the input at positions from + i * stride, i in [first, end), between zeros.
 */
typedef struct phase {
    const float_stage *s;
    const float_taps *taps;
    int64_t stride, from, first, end;
} phase;

static phase phase_at(const float_stage *s, const assay_window *w, int64_t number)
{
    phase p = {s, float_taps_choose(), w->stride[2], number - w->pad[2], 0, 0};
    if (p.from < 0)
        p.first = (-p.from + p.stride - 1) / p.stride;
    if (p.from < w->in[2])
        p.end = (w->in[2] - p.from + p.stride - 1) / p.stride;
    p.end = p.end < s->pitch ? p.end : s->pitch;
    p.first = p.first < p.end ? p.first : p.end;
    return p;
}

/* `row` is NULL outside of the plane. */
static void fill_line(const phase *p, const float *row, float *to)
{
    const int64_t first = row ? p->first : 0, end = row ? p->end : 0;
    if (!p->s->whole) {
        memset(to, 0, (size_t)first * sizeof *to);
        memset(to + end, 0, (size_t)(p->s->pitch - end) * sizeof *to);
    }
    if (end > first)
        p->taps->copy(row + p->from + first * p->stride, p->stride, end - first, to + first);
}

/* One phase of the lines that `rows` rows of outputs from oy on read of the axis' plane z. */
static void fill_lines(const phase *p, const assay_window *w, const float *plane, int64_t z,
                       int64_t oy, int64_t rows, float *to)
{
    const int64_t stride = w->stride[1], next = w->kernel[0] * p->s->lines * p->s->pitch;
    const int64_t lines = extent(w, 1, rows);
    int64_t y = oy * stride - w->pad[1];

    for (int64_t l = 0, turn = 0; l < lines; l++, y++) {
        const bool inside = z >= 0 && z < w->in[0] && y >= 0 && y < w->in[1];
        fill_line(p, inside ? plane + (z * w->in[1] + y) * w->in[2] : NULL, to + turn * next);
        if (++turn == stride) {
            turn = 0;
            to += p->s->pitch;
        }
    }
}

void float_stage_fill(const float_stage *s, const assay_window *w, const float *plane, int64_t oz,
                      int64_t oy, int64_t rows, float *to)
{
    const int64_t next = s->plane / w->stride[2];

    for (int64_t f = 0; f < w->stride[2]; f++, to += next) {
        const phase p = phase_at(s, w, f);
        for (int64_t t = 0; t < w->kernel[0]; t++)
            fill_lines(&p, w, plane, oz * w->stride[0] - w->pad[0] + t * w->dilation[0], oy, rows,
                       to + t * s->lines * s->pitch);
    }
}

void float_stage_place(const float_stage *s, const assay_window *w, int64_t at[FLOAT_STAGE_TAPS])
{
    const int64_t next = s->plane / w->stride[2];

    for (int64_t t = 0; t < w->taps; t++) {
        const int64_t z = t / w->kernel[2] / w->kernel[1],
                      down = t / w->kernel[2] % w->kernel[1] * w->dilation[1],
                      along = t % w->kernel[2] * w->dilation[2];
        at[t] =
            along % w->stride[2] * next + along / w->stride[2] +
            ((down % w->stride[1] * w->kernel[0] + z) * s->lines + down / w->stride[1]) * s->pitch;
    }
}
