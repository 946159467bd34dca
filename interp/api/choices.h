/* Quantization choices, parsed from texts: types, calibrations, nodes that stay in float. */
#ifndef ASSAY_INTERP_API_CHOICES_H
#define ASSAY_INTERP_API_CHOICES_H

#include "interp/assay_tools.h"
#include "opt/quantize/quantize.h"

/* Quantizer options; patterns and the target are owned. */
typedef struct assay_choices {
    assay_quantize_options options;
    assay_precision_rule *rule;
    assay_calibrate_rule *calibrate;
    assay_target *target;
} assay_choices;

/* ASSAY_ERR_INPUT: an unknown text. Free with assay_choices_free whatever
 * the status. */
assay_status assay_choices_make(const assay_quantizer_options *o, assay_choices *q,
                                assay_error *err);
void assay_choices_free(assay_choices *q);

#endif
