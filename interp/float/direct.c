/* Convolution in nchw as a product whose second operand is the staged image itself (stage.h): row
 * c*taps + t of it begins where tap t of channel c reads for the first output, and neither a patch
 * matrix nor a copy of it is made. The bits are those of the product with a patch matrix. */
#include <string.h>

#include "interp/float/float.h"
#include "interp/float/gemm_tile.h"
#include "interp/float/stage.h"
#include "interp/float/window.h"

_Static_assert((int)FLOAT_STAGE_STEP >= (int)TILE_STEP,
               "a tile reads columns up to a multiple of its step");

static const float_stage_room room = {1 << 17, 1 << 17, 1 << 21};

int64_t float_direct_floats(const assay_window *w, int64_t channels, int64_t outputs)
{
    float_stage s;
    if (w->nhwc || w->taps <= 1 || outputs <= 1 || w->out_area <= 1 ||
        !float_stage_choose(&s, w, channels, outputs, &room))
        return 0;
    return float_stage_floats(&s, channels) + outputs * float_stage_row(&s);
}

void float_conv_direct(const float_direct *d, const float *x, float *scratch, float *y)
{
    const assay_window *w = d->w;
    int64_t at[FLOAT_STAGE_TAPS];
    float_stage s;

    float_stage_choose(&s, w, d->channels, d->outputs, &room);
    float_stage_place(&s, w, at);
    float *sums = scratch + float_stage_floats(&s, d->channels);
    const assay_gemm whole = {.m = d->outputs, .n = w->out_area, .k = d->channels * w->taps};
    assay_gemm g = {.m = d->outputs,
                    .k = whole.k,
                    .a = d->weight,
                    .lda = whole.k,
                    .b = scratch,
                    .b_window = {at, w->taps, s.plane},
                    .c = sums,
                    .ldc = float_stage_row(&s),
                    .block = float_gemm_block(&whole)};
    memset(scratch, 0, (size_t)float_stage_floats(&s, d->channels) * sizeof *scratch);
    for (int64_t oz = 0; oz < w->out[0]; oz++)
        for (int64_t oy = 0; oy < w->out[1]; oy += s.rows) {
            const int64_t rows = w->out[1] - oy < s.rows ? w->out[1] - oy : s.rows;
            for (int64_t c = 0; c < d->channels; c++)
                float_stage_fill(&s, w, x + c * w->in_area, oz, oy, rows, scratch + c * s.plane);
            g.n = (rows - 1) * s.pitch + w->out[2];
            float_gemm_run(&g);
            for (int64_t o = 0; o < d->outputs; o++)
                for (int64_t r = 0; r < rows; r++)
                    float_finish_plane(d->finish, d->first_output + o,
                                       sums + o * g.ldc + r * s.pitch, w->out[2],
                                       y + o * w->out_area + (oz * w->out[1] + oy + r) * w->out[2]);
        }
}
