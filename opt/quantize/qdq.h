/* Grouping of dequantize -> op -> quantize into integer nodes (README.md has the rules).
 *
 * A QDQ network describes an integer network by floats between conversions. Under a scheme the
 * group *is* the integer op: its result is defined by the scheme and need not equal that of the
 * floats. Everything outside groups stays as the network says. */
#ifndef ASSAY_OPT_QDQ_H
#define ASSAY_OPT_QDQ_H

#include "opt/quantize/quantize.h"

/* Rewrites g, which stays valid; a network without conversions does not change. has_kernel as in
 * assay_quantize_options. `report` may be NULL, else free it with quantize_report_free
 * whatever the status: n_integer counts the nodes on codes, n_fused activations in groups,
 * n_rescale and n_convert the conversions that the network is left with, and the float nodes are
 * listed with the reason. */
assay_status quantize_group_qdq(assay_graph *g, const assay_scheme *scheme,
                                bool (*has_kernel)(assay_op op), assay_quantize_report *report,
                                assay_error *err);

#endif
