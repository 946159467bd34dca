/* Accuracy, sensitivity and tuning over samples in memory. */
#include <string.h>

#include "graph/memory.h"
#include "interp/api/choices.h"
#include "interp/api/options.h"
#include "interp/api/report.h"
#include "interp/measure/judge.h"
#include "interp/measure/report.h"
#include "opt/profile/profile.h"

/* ---- samples ---- */

typedef struct arrays {
    assay_labelled of;
    const assay_graph *graph; /* whose inputs they are */
} arrays;

static assay_status read_array(void *user, int64_t i, int k, void *input, assay_error *err)
{
    const arrays *a = user;
    const size_t bytes = assay_type_bytes(&a->graph->value[a->graph->input[k]].type);
    (void)err;
    memcpy(input, (const char *)a->of.input[k] + (size_t)i * bytes, bytes);
    return ASSAY_OK;
}

static int64_t read_label(void *user, int64_t i)
{
    const arrays *a = user;
    return a->of.label ? a->of.label[i] : -1;
}

static assay_status take(const assay_labelled *given, const assay_graph *g, arrays *a,
                         assay_samples *samples, assay_error *err)
{
    a->graph = g;
    const assay_status status = ASSAY_OPTIONS_TAKE(given, &a->of, err);

    *samples = (assay_samples){
        .user = a, .count = (int64_t)a->of.count, .read = read_array, .label = read_label};
    if (status)
        return status;
    if (a->of.count < 1 || a->of.count > UINT64_C(1) << 40 || !a->of.input)
        return assay_fail(err, ASSAY_ERR_INPUT, "no samples, or more than 2^40");
    if (g->n_outputs < 1)
        return assay_fail(err, ASSAY_ERR_INPUT, "%s: the network has no output", g->name);
    return ASSAY_OK;
}

static void forget(char **json)
{
    if (json)
        *json = NULL;
}

/* ---- accuracy ---- */

static assay_status check_alike(const assay_graph *a, const assay_graph *b, assay_error *err)
{
    bool alike = a->n_inputs == b->n_inputs;
    for (int k = 0; k < a->n_inputs && alike; k++) {
        const assay_type *x = &a->value[a->input[k]].type, *y = &b->value[b->input[k]].type;
        alike = assay_elem_equal(x->elem, y->elem) && assay_type_bytes(x) == assay_type_bytes(y);
    }
    return alike
               ? ASSAY_OK
               : assay_fail(err, ASSAY_ERR_INPUT, "%s and %s take other inputs", a->name, b->name);
}

assay_status assay_evaluate(const assay_program *p, const assay_program *reference,
                            const assay_labelled *given, int64_t *predictions, char **json,
                            assay_error *err)
{
    arrays a = {0};
    assay_samples samples;
    assay_judge judge;
    assay_accuracy unused;
    assay_fidelity f;
    assay_part part = {0};
    assay_status status = take(given, p->graph, &a, &samples, err);

    forget(json);
    if (!status)
        status = measure_judge_make(&p->graph->value[p->graph->output[0]], &samples, &judge, err);
    if (!status && reference)
        status = check_alike(p->graph, reference->graph, err);
    if (!status && predictions && reference)
        status = measure_evaluate(p, &samples, a.of.threads, predictions, &unused, err);
    if (!status)
        status = reference
                     ? measure_fidelity_part(reference, p, &samples, a.of.threads, &part, err)
                     : measure_evaluate_part(p, &samples, a.of.threads, predictions, &part, err);
    if (!status && json) {
        const bool labelled = measure_judge_has_labels(&judge, &samples);
        json_t *o = json_object();
        measure_fidelity_of(&part, &f);
        measure_eval_json(&o, &f, reference != NULL, labelled, &judge);
        if (labelled && part.tally[1].truth)
            measure_classes_json(&o, &part);
        status = assay_text_of_json(o, json, err);
    }
    measure_part_free(&part);
    return status;
}

/* ---- trials ---- */

typedef struct trial {
    assay_trial of;
    assay_choices choices;
    arrays arrays;
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
        status =
            assay_fail(err, ASSAY_ERR_INPUT, "integer_io cannot be judged: the samples are floats");
    if (!status)
        status = profile_complete(p, err);
    if (!status)
        status = profile_check(p, g, err);
    if (!status)
        status = take(given, g, &t->arrays, &t->samples, err);
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
    assay_tuner_options o;
    assay_tune_result r = {0};
    assay_quantize_report report = {0};
    trial t;
    assay_status status = open_trial(&t, g, p, s, options, given, err);

    *out = NULL;
    forget(json);
    if (!status)
        status = ASSAY_OPTIONS_TAKE(goal, &o, err);
    if (!status) {
        const assay_tune_options own = {.target_drop = o.target_drop,
                                        .target_sqnr = o.target_sqnr,
                                        .max_float = o.max_float,
                                        .log = o.log,
                                        .user = o.user};
        status = measure_tune(&t.of, &own, &r, err);
    }
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
