/* Cells under a window at one output cell; see slide.h. */
#include <assert.h>

#include "interp/ref/slide.h"

/* A cell's coordinates. */
static void coordinates(const int64_t extent[ASSAY_SPATIAL], int64_t cell,
                        int64_t at[ASSAY_SPATIAL])
{
    assert(cell >= 0 && cell < extent[0] * extent[1] * extent[2]);
    at[2] = cell % extent[2];
    at[1] = cell / extent[2] % extent[1];
    at[0] = cell / extent[2] / extent[1];
}

int64_t ref_slide_taps(const assay_window *w, int64_t cell, int64_t *tap)
{
    int64_t origin[ASSAY_SPATIAL], inside = 0, step = kernel_strides_in(w).cell;
    coordinates(w->out, cell, origin);
    for (int i = 0; i < ASSAY_SPATIAL; i++)
        origin[i] = origin[i] * w->stride[i] - w->pad[i];
    for (int64_t k0 = 0; k0 < w->kernel[0]; k0++) {
        int64_t i0 = origin[0] + k0 * w->dilation[0];
        bool in0 = i0 >= 0 && i0 < w->in[0];
        for (int64_t k1 = 0; k1 < w->kernel[1]; k1++) {
            int64_t i1 = origin[1] + k1 * w->dilation[1];
            bool in1 = in0 && i1 >= 0 && i1 < w->in[1];
            for (int64_t k2 = 0; k2 < w->kernel[2]; k2++) {
                int64_t i2 = origin[2] + k2 * w->dilation[2];
                bool in2 = in1 && i2 >= 0 && i2 < w->in[2];
                int64_t in_cell = (i0 * w->in[1] + i1) * w->in[2] + i2;
                *tap++ = in2 ? in_cell * step : -1;
                inside += in2;
            }
        }
    }
    return inside;
}

int64_t ref_slide_taps_transposed(const assay_window *w, int64_t cell, int64_t *tap)
{
    int64_t o[ASSAY_SPATIAL], k[ASSAY_SPATIAL], inside = 0, step = kernel_strides_in(w).cell;
    coordinates(w->out, cell, o);
    for (int64_t c = 0; c < w->taps; c++) {
        int64_t in_cell = 0;
        bool valid = true;
        coordinates(w->kernel, c, k);
        for (int i = 0; i < ASSAY_SPATIAL; i++) {
            int64_t from = o[i] + w->pad[i] - k[i] * w->dilation[i];
            int64_t at = from / w->stride[i];
            valid = valid && from >= 0 && from % w->stride[i] == 0 && at < w->in[i];
            in_cell = in_cell * w->in[i] + at;
        }
        tap[c] = valid ? in_cell * step : -1;
        inside += valid;
    }
    return inside;
}

int64_t ref_slide_padded_count(const assay_window *w, int64_t cell)
{
    int64_t o[ASSAY_SPATIAL], count = 1;
    coordinates(w->out, cell, o);
    for (int i = 0; i < ASSAY_SPATIAL; i++) {
        int64_t along = 0, end = w->in[i] + w->pad_end[i];
        for (int64_t k = 0; k < w->kernel[i]; k++)
            along += o[i] * w->stride[i] - w->pad[i] + k * w->dilation[i] < end;
        count *= along;
    }
    return count;
}
