/* Parts of the search of tune.c, lowest first: trials, and nodes in a wider type. */
#ifndef ASSAY_INTERP_TUNE_PARTS_H
#define ASSAY_INTERP_TUNE_PARTS_H

#include "interp/measure/tune.h"

typedef struct measure_tuner {
    const assay_trial *trial;
    const assay_tune_options *o;
    assay_tune_result *r;
    assay_sensitivity table;
    bool at_limit; /* as many nodes were in float as may be */
    assay_error *err;
} measure_tuner;

/* Quantizes with the options found so far, and measures. */
assay_status measure_tuner_try(measure_tuner *t, assay_fidelity *f);
bool measure_tuner_is_better(const measure_tuner *t, const assay_fidelity *a,
                             const assay_fidelity *b);
/* Is f within the target? */
bool measure_tuner_is_reached(const measure_tuner *t, const assay_fidelity *f);
/* A line of the log: what was tried, and what came of it. */
void measure_tuner_tell(const measure_tuner *t, const char *what, const assay_fidelity *f,
                        const char *verdict);

/* tune_wide.c: a small set of nodes reaches the target in the wider type o->wide; all that have it
 * where they are better together than none; else none. */
assay_status measure_tuner_widen(measure_tuner *t);

#endif
