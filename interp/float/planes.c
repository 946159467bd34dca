/* Depthwise convolution in nchw without a patch matrix, a plane after the other (stage.h). The bits
 * are those of the product with a patch matrix (taps.h). */
#include <string.h>

#include "interp/float/stage.h"
#include "interp/float/taps.h"
#include "interp/float/window.h"

static const float_stage_room room = {1 << 13, 1 << 13, 1 << 18};

int64_t float_plane_floats(const assay_window *w)
{
    float_stage s;
    return float_stage_choose(&s, w, 1, 1, &room) ? float_stage_floats(&s, 1) + float_stage_row(&s)
                                                  : 0;
}

void float_conv_planes(const assay_window *w, const float *x, const float *weight,
                       const float_finish *f, float *scratch, float *y)
{
    const float_taps *taps = float_taps_choose();
    int64_t at[FLOAT_STAGE_TAPS];
    float_stage s;

    float_stage_choose(&s, w, 1, 1, &room);
    float_stage_place(&s, w, at);
    float *staged = scratch, *sums = scratch + float_stage_floats(&s, 1);
    memset(staged, 0, (size_t)float_stage_floats(&s, 1) * sizeof *staged);
    for (int64_t c = 0; c < w->in_channels; c++, x += w->in_area, weight += w->taps)
        for (int64_t oz = 0; oz < w->out[0]; oz++)
            for (int64_t oy = 0; oy < w->out[1]; oy += s.rows) {
                const int64_t rows = w->out[1] - oy < s.rows ? w->out[1] - oy : s.rows;
                float_stage_fill(&s, w, x, oz, oy, rows, staged);
                taps->sum(staged, at, weight, w->taps, float_stage_row(&s), sums);
                for (int64_t r = 0; r < rows; r++, y += w->out[2])
                    float_finish_plane(f, c, sums + r * s.pitch, w->out[2], y);
            }
}
