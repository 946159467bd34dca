/* Operators on signals: sums and products of plain integers with roundings of their own, which no
 * scheme chooses. Both engines use them. Compiled without floating point. */
#ifndef ASSAY_INTERP_SIGNAL_H
#define ASSAY_INTERP_SIGNAL_H

#include "interp/kernel/kernel.h"

/* ---- fft.c: rfft and irfft ---- */
assay_status signal_fft(assay_call *call, assay_error *err);
size_t signal_fft_scratch(const assay_graph *g, const assay_node *n);

/* ---- features.c ---- */
assay_status signal_scale(assay_call *call, assay_error *err);
assay_status signal_root(assay_call *call, assay_error *err);
assay_status signal_pcan(assay_call *call, assay_error *err);
assay_status signal_log(assay_call *call, assay_error *err);

#endif
