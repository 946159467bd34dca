/* Depthwise convolution: every channel its own window, in blocks of ASSAY_DEPTHWISE channels. */
#ifndef ASSAY_INTERP_FAST_DEPTHWISE_H
#define ASSAY_INTERP_FAST_DEPTHWISE_H

#include "interp/fast/product.h"
#include "interp/kernel/window.h"

typedef struct assay_depthwise {
    const assay_isa_kernels *kernels;
    assay_operand_form form;
    int64_t channels;
    int64_t n_taps;        /* words: of a window */
    assay_columns columns; /* bytes: what all blocks share */
    int64_t cells;         /* output cells in a block: more than 1 where channels are few */
    int64_t row_cells;     /* output cells of a row: their windows stand side by side */
    int64_t windows;       /* cells that one call computes: blocks that share columns */
    assay_narrower narrowing;
    int32_t *tap; /* bytes from a window's first cell, or from a column's head */
    int64_t block_bytes;
    char *packed;
    int32_t *start;
} assay_depthwise;

/* run: bytes from a window's first cell to each cell under the kernel. */
assay_status fast_depthwise_make(const assay_fast_setup *s, const assay_filters *f,
                                 const assay_window *w, const assay_operand_form *form,
                                 const int32_t *run, assay_depthwise *out, assay_error *err);
void fast_depthwise_free(assay_depthwise *d);
/* Window i stands at left + row[i]. */
void fast_depthwise_run(const assay_depthwise *d, const char *left, const int32_t *row,
                        int64_t rows, const assay_sink *sink, int threads);

#endif
