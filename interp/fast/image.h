/* The left operand of a convolution: an image as the inner loops read it, whatever the layout and
 * type that it came in: channels last, padding filled in, bytes moved up to unsigned or words
 * centred. A window then is a few runs of consecutive bytes, and no im2col matrix is made. */
#ifndef ASSAY_INTERP_FAST_IMAGE_H
#define ASSAY_INTERP_FAST_IMAGE_H

#include "interp/fast/weights.h"
#include "interp/kernel/window.h"

typedef struct assay_stage {
    assay_operand_form form;
    bool nhwc, padded;
    int64_t cells, channels;
    int64_t row_cells;  /* consecutive input cells that stay consecutive */
    int64_t count;      /* elements of a staged image */
    int64_t step[3];    /* elements from a cell to the next along each axis */
    int32_t *place;     /* by input cell: where it goes, in elements */
    int32_t *row, *run; /* bytes: each output cell's window; each of its runs */
    int64_t n_runs;
} assay_stage;

/* Lays out the windows of w over a staged image. spread: cells between neighbours of the input
 * along each axis, 1 unless the input is spread apart for a transposed convolution. merge: cells
 * that are neighbours under the kernel make one run (all channels are wanted). False when an offset
 * would not fit int32 or memory is short (*memory says which). */
bool fast_stage_make(const assay_window *w, const int64_t spread[3], bool nhwc,
                     const assay_operand_form *form, bool merge, assay_stage *out, bool *memory);
void fast_stage_free(assay_stage *g);

/* Bytes of a staged image, with room for loads that reach over its end. */
size_t fast_stage_bytes(const assay_stage *g);

/* Stages the image whose first element is `first` of x. */
void fast_stage_fill(const assay_stage *g, const assay_view *x, int64_t first, char *to,
                     int threads);

/* Elements of any 8- or 16-bit type to a form's elements. */
void fast_form_row(const assay_operand_form *form, const assay_view *x, int64_t first, int64_t n,
                   char *to);

#endif
