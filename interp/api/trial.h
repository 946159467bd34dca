/* One rescale, explained step by step. */
#ifndef ASSAY_INTERP_API_TRIAL_H
#define ASSAY_INTERP_API_TRIAL_H

#include <stdio.h>

#include "interp/page/json.h"
#include "schemes/rescale/single.h"

/* `single` points into itself: not to be copied. */
typedef struct assay_single_trial {
    assay_single single;
    const assay_scheme *scheme;
    const assay_batch *row; /* of one row; borrowed */
} assay_single_trial;

/* ASSAY_ERR_SCHEME: the target refuses the scale. */
assay_status assay_single_trial_start(assay_single_trial *t, const assay_scheme *s,
                                      const assay_batch *row, assay_error *err);
void assay_single_trial_print(FILE *f, const void *trial);
json_t *assay_single_trial_json(const assay_single_trial *t);

#endif
