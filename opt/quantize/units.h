/* Networks for matrix units of small floats. */
#ifndef ASSAY_OPT_QUANTIZE_UNITS_H
#define ASSAY_OPT_QUANTIZE_UNITS_H

#include "opt/quantize/quantize.h"

/* g, float and canonical, for a scheme with `mac`: conv, fc and matmul become products on the
 * scheme's first unit, or on the first that takes operands which come as patterns (float_decode),
 * as they are. No profile is needed: other scales come from the values themselves. Nodes that the
 * scheme has no arithmetic for are in the report's list. Free the report with quantize_report_free
 * whatever the status. */
assay_status quantize_for_units(const assay_graph *g, const assay_scheme *scheme, assay_graph **out,
                                assay_quantize_report *report, assay_error *err);

#endif
