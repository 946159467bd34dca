/* Sensitivity and tuning over samples in memory. */
#include "interp/api/choices.h"
#include "interp/api/options.h"
#include "interp/api/report.h"
#include "interp/api/samples.h"
#include "interp/measure/report.h"
#include "opt/profile/profile.h"

/* ---- trials ---- */

static void forget(char **json)
{
    if (json)
        *json = NULL;
}

typedef struct trial {
    assay_trial of;
    assay_choices choices;
    assay_arrays arrays;
    assay_samples samples;
} trial;

static assay_status open_trial(trial *t, const assay_graph *g, const assay_profile *p,
                               const assay_scheme *s, const assay_quantizer_options *options,
                               const assay_labelled *given, assay_error *err)
{
    assay_quantizer_options o;
    assay_status status = ASSAY_OPTIONS_TAKE(options, &o, err);

    *t = (trial){0};
    if (!status)
        status = assay_choices_make(&o, &t->choices, err);
    if (!status && o.integer_io)
        status = assay_fail(err, ASSAY_ERR_INPUT,
                            "integer_io cannot be evaluated, as the samples are floats");
    if (!status)
        status = profile_complete(p, err);
    if (!status)
        status = profile_check(p, g, err);
    if (!status)
        status = assay_arrays_take(given, g, &t->arrays, &t->samples, err);
    t->of = (assay_trial){.floating = g,
                          .profile = p,
                          .scheme = s,
                          .options = &t->choices.options,
                          .samples = &t->samples,
                          .threads = t->arrays.of.threads};
    return status;
}

typedef struct telling {
    assay_progress progress;
    void *user;
} telling;

static void tell(void *user, int done, int of)
{
    const telling *t = user;
    t->progress(t->user, done, of);
}

assay_status assay_sensitivity_of(const assay_graph *g, const assay_profile *p,
                                  const assay_scheme *s, const assay_quantizer_options *options,
                                  const assay_labelled *given, assay_progress progress, void *user,
                                  char **json, assay_error *err)
{
    telling to = {progress, user};
    assay_sensitivity table = {0};
    trial t;
    assay_status status = open_trial(&t, g, p, s, options, given, err);

    forget(json);
    if (!status)
        status = measure_sensitivity_measure(&t.of, progress ? tell : NULL, &to, &table, err);
    if (!status && json)
        status = assay_text_of_json(measure_sensitivity_json(&table), json, err);
    measure_sensitivity_free(&table);
    assay_choices_free(&t.choices);
    return status;
}

assay_status assay_tune(const assay_graph *g, const assay_profile *p, const assay_scheme *s,
                        const assay_quantizer_options *options, const assay_labelled *given,
                        const assay_tuner_options *goal, assay_graph **out, char **json,
                        assay_error *err)
{
    assay_tuner_options o = {0};
    assay_tune_result r = {0};
    assay_quantize_report report = {0};
    trial t;
    assay_status status = open_trial(&t, g, p, s, options, given, err);

    *out = NULL;
    forget(json);
    if (!status)
        status = ASSAY_OPTIONS_TAKE(goal, &o, err);
    assay_tune_options own = {.target_drop = o.target_drop,
                              .target_sqnr = o.target_sqnr,
                              .max_float = o.max_float,
                              .log = o.log,
                              .user = o.user};
    if (!status && o.wide)
        status = assay_elem_parse(o.wide, &own.wide, err);
    if (!status)
        status = measure_tune(&t.of, &own, &r, err);
    if (!status)
        status = quantize_network(g, p, s, &r.options, out, &report, err);
    if (!status && json) {
        json_t *all = measure_tune_json(&r, t.of.options);
        page_json_set(&all, "report", assay_report_json(&report));
        status = assay_text_of_json(all, json, err);
    }
    if (status) {
        assay_graph_free(*out);
        *out = NULL;
    }
    quantize_report_free(&report);
    measure_tune_result_free(&r);
    assay_choices_free(&t.choices);
    return status;
}
