/* Inputs of an ONNX model that become constants, such as the numbers that its shapes follow from.
 */
#ifndef ASSAY_INTERP_API_FIXED_H
#define ASSAY_INTERP_API_FIXED_H

#include "graph/onnx/onnx.h"

typedef struct assay_fixed {
    assay_onnx_fixed *list;
    size_t n;
} assay_fixed;

/* n texts, "INPUT=NUMBER,..." or "INPUT=FILE.npy". ASSAY_ERR_INPUT: one that has neither form.
 * assay_fixed_free either way. */
assay_status assay_fixed_read(const char *const *text, size_t n, assay_fixed *out,
                              assay_error *err);
void assay_fixed_free(assay_fixed *fixed);

#endif
