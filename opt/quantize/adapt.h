/* A QDQ network's parameters, replaced by ones that a target can represent. */
#ifndef ASSAY_OPT_ADAPT_H
#define ASSAY_OPT_ADAPT_H

#include "graph/core/graph.h"
#include "schemes/scheme.h"

/* Before grouping (opt/quantize/qdq.h): where the scheme takes only power-of-two scales, or no zero
 * points, values between quantize and dequantize get the least symmetric parameters that hold their
 * old range, constants new codes for their old real values, and biases become floats, which the
 * grouping quantizes. Where only the signedness is not the scheme's, codes and zero points move by
 * half the range and stand for the same numbers. Parameters that the scheme can have stay, as do
 * codes that are the network's inputs or outputs, or that anything but a conversion touches.
 * *n_changed (may be NULL): how many values. */
assay_status quantize_adapt_parameters(assay_graph *g, const assay_scheme *scheme, int *n_changed,
                                       assay_error *err);

#endif
