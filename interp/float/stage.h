/* Input of a convolution in nchw, staged so that what a tap reads for outputs side by side is side
 * by side: a few rows of a plane between zeros, cut into phases, one for each place modulo the
 * strides. Rows of outputs follow one another as one long row with gaps.
 *
 *   a b c d e with a pad of 1 and a stride of 2 is staged as  0 b d 0 | a c e */
#ifndef ASSAY_INTERP_FLOAT_STAGE_H
#define ASSAY_INTERP_FLOAT_STAGE_H

#include "interp/kernel/window.h"

/* For `rows` rows of outputs; row r, column i of them is element r * pitch + i of the long row. A
 * plane is `plane` floats: by the phase along a line, the phase of lines and the axis before them,
 * `lines` lines of `pitch` floats. */
typedef struct float_stage {
    int64_t rows, lines, pitch, plane;
    bool whole; /* one stage holds what all outputs read: zeros stay from image to image */
} float_stage;

/* How much scratch may hold, in floats: input, and a long row for each of `outputs` channels. */
typedef struct float_stage_room {
    int64_t staged, sums, max; /* wanted, so that they stay in a cache; at most, of each */
} float_stage_room;

enum {
    FLOAT_STAGE_STEP = 16, /* floats beyond the last that may be read, and are not used */
    FLOAT_STAGE_TAPS = 64, /* of a window, at most */
};

/* For `channels` planes side by side. False when there are more taps, or when not even the rows of
 * one row of outputs can be staged. */
bool float_stage_choose(float_stage *s, const assay_window *w, int64_t channels, int64_t outputs,
                        const float_stage_room *room);

/* Floats of `channels` planes, and of one long row. */
int64_t float_stage_floats(const float_stage *s, int64_t channels);
int64_t float_stage_row(const float_stage *s);

/* What rows [oy, oy + rows) of outputs at depth oz read of an image's plane. Zeros are written only
 * where !whole. */
void float_stage_fill(const float_stage *s, const assay_window *w, const float *plane, int64_t oz,
                      int64_t oy, int64_t rows, float *to);

/* Where each tap reads in a plane for the first output. */
void float_stage_place(const float_stage *s, const assay_window *w, int64_t at[FLOAT_STAGE_TAPS]);

#endif
