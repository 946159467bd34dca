/* JSON of what was measured. */
#ifndef ASSAY_INTERP_MEASURE_REPORT_H
#define ASSAY_INTERP_MEASURE_REPORT_H

#include "interp/measure/judge.h"
#include "interp/measure/part.h"
#include "interp/measure/tune.h"
#include "interp/page/json.h"

/* Percent of the samples whose label is among the k greatest outputs. */
double measure_points(const assay_accuracy *r, int k);
/* A network's accuracy and, with a twin, the twin's and the distance between them, into *o.
 * labelled: the samples have labels, which are what the judge says. */
void measure_eval_json(json_t **o, const assay_fidelity *f, bool twin, bool labelled,
                       const assay_judge *judge);
/* By class, where one has labels or was answered: how many samples (pixels) have that label, of how
 * many the best class is right, of how many it is this; of the twin, too. The part has counts by
 * class. */
void measure_classes_json(json_t **o, const assay_part *p);
/* New references; NULL when out of memory. `given`: what the search began with. */
json_t *measure_sensitivity_json(const assay_sensitivity *s);
json_t *measure_tune_json(const assay_tune_result *r, const assay_quantize_options *given);

#endif
