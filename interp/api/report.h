/* Reports on a rewritten or quantized network, and on its proof, as JSON. */
#ifndef ASSAY_INTERP_API_REPORT_H
#define ASSAY_INTERP_API_REPORT_H

#include "interp/page/json.h"
#include "opt/check/proof.h"
#include "opt/quantize/quantize.h"

/* New references; NULL when out of memory. */
json_t *assay_report_json(const assay_quantize_report *r);
/* why: the certificate is not good; NULL: it is. */
json_t *assay_proof_json(const assay_proof_report *r, const char *why);

#endif
