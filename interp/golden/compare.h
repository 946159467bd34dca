/* Measures between two tensors, and the thresholds that turn them into a verdict. */
#ifndef ASSAY_INTERP_COMPARE_H
#define ASSAY_INTERP_COMPARE_H

#include "graph/core/type.h"
#include "interp/assay.h"

/* Real value of element i of a tensor: scale * (code - zero point) when quantized, else the number
 * itself. */
double golden_element_real(const assay_type *type, const void *data, int64_t i);
/* Code of element i of an integer or bool tensor. */
int64_t golden_element_code(const assay_type *type, const void *data, int64_t i);

/* One element of two tensors of the same shape, measured against element-wise limits. */
typedef struct assay_element_error {
    double a, b;          /* real values */
    double lsb, abs, rel; /* lsb is 0 unless both are codes */
    bool same; /* equal codes, or equal floats with equal signs; any NaN equals any NaN */
    bool good; /* same, or within one of the limits that are set */
} assay_element_error;
assay_element_error golden_element_compare(const assay_type *type_a, const void *a,
                                           const assay_type *type_b, const void *b, int64_t i,
                                           const assay_thresholds *limits);

#endif
