/* Trials of the search of tune.c, their measure beside the target, and their lines in the log. */
#include "interp/measure/tune_parts.h"

#include <math.h>
#include <stdio.h>

assay_status measure_tuner_try(measure_tuner *t, assay_fidelity *f)
{
    assay_trial trial = *t->trial;
    trial.options = &t->r->options;
    t->r->trials++;
    return measure_trial_run(&trial, NULL, 0, NULL, f, NULL, NULL, t->err);
}

bool measure_tuner_is_better(const measure_tuner *t, const assay_fidelity *a,
                             const assay_fidelity *b)
{
    const bool by_drop = t->o->target_sqnr <= 0;
    const double x = by_drop ? measure_fidelity_drop(a) : 0,
                 y = by_drop ? measure_fidelity_drop(b) : 0;
    return x < y || (x == y && a->output_sqnr > b->output_sqnr);
}

bool measure_tuner_is_reached(const measure_tuner *t, const assay_fidelity *f)
{
    return t->o->target_sqnr > 0 ? f->output_sqnr >= t->o->target_sqnr
                                 : measure_fidelity_drop(f) <= t->o->target_drop;
}

void measure_tuner_tell(const measure_tuner *t, const char *what, const assay_fidelity *f,
                        const char *verdict)
{
    char drop[32] = "", line[400];
    if (!t->o->log)
        return;
    if (!isnan(measure_fidelity_drop(f)))
        snprintf(drop, sizeof drop, "drop %7.4f  ", measure_fidelity_drop(f));
    snprintf(line, sizeof line, "%-56s %soutput %6.2f dB%s", what, drop, f->output_sqnr, verdict);
    t->o->log(t->o->user, line);
}
