/* Reports of what was made of a network, as JSON. */
#ifndef ASSAY_INTERP_API_REPORT_H
#define ASSAY_INTERP_API_REPORT_H

#include "interp/page/json.h"
#include "opt/quantize/quantize.h"

/* New references; NULL when memory is short. */
json_t *assay_report_json(const assay_quantize_report *r);

#endif
