/* Depthwise convolution: every channel its own window, in blocks of ASSAY_DEPTHWISE channels. */
#ifndef ASSAY_INTERP_FAST_DEPTHWISE_H
#define ASSAY_INTERP_FAST_DEPTHWISE_H

#include "interp/fast/product.h"

typedef struct assay_depthwise {
    assay_taps_fn taps;
    int64_t channels, n_taps; /* taps: in bytes up to a multiple of 4, the rest with weight 0 */
    int32_t *tap;             /* bytes from a window's first cell */
    int64_t block_bytes;
    char *packed;
    int32_t *start;
} assay_depthwise;

/* run: bytes from a window's first cell to each cell under the kernel. */
assay_status assay_depthwise_make(const assay_fast_setup *s, const assay_filters *f,
                                  const assay_form *form, const int32_t *run, assay_depthwise *out,
                                  assay_error *err);
void assay_depthwise_free(assay_depthwise *d);
void assay_depthwise_run(const assay_depthwise *d, const assay_form *form, const char *left,
                         const int32_t *row, int64_t rows, const assay_sink *sink, int threads);

#endif
