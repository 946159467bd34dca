/* Quantizing and grouping networks, with reports. */
#include <string.h>

#include "interp/api/choices.h"
#include "interp/api/options.h"
#include "interp/api/report.h"
#include "interp/api/samples.h"
#include "interp/kernel/kernel.h"
#include "interp/measure/moments.h"
#include "interp/run/evaluate.h"
#include "interp/run/model.h"
#include "opt/quantize/adapt.h"
#include "opt/quantize/packed.h"
#include "opt/quantize/qdq.h"

/* The moments that GPTQ needs, of the samples given. */
static assay_status observe_moments(const assay_graph *g, const assay_quantizer_options *o,
                                    assay_moments **m, assay_error *err)
{
    const assay_labelled given = {.size = sizeof given, .count = o->n_samples, .input = o->samples};
    assay_arrays a;
    assay_samples samples;
    *m = NULL;
    if (!o->weights || strcmp(o->weights, "gptq") != 0)
        return ASSAY_OK;
    const assay_status status = assay_arrays_take(&given, g, &a, &samples, err);
    return status ? status : measure_moments(g, &samples, m, err);
}

static assay_status with_profile(const assay_graph *g, const assay_profile *p,
                                 const assay_scheme *s, const assay_quantize_options *options,
                                 assay_graph **out, assay_quantize_report *r, assay_error *err)
{
    assay_status status = p ? profile_complete(p, err)
                            : assay_fail(err, ASSAY_ERR_INPUT,
                                         "scheme '%s' needs a profile to quantize for", s->name);
    if (!status)
        status = profile_check(p, g, err);
    return !status ? quantize_network(g, p, s, options, out, r, err) : status;
}

assay_status assay_quantize(const assay_graph *g, const assay_profile *p, const assay_scheme *s,
                            const assay_quantizer_options *options, assay_graph **out,
                            char **report, assay_error *err)
{
    assay_quantizer_options o;
    assay_choices q = {0};
    assay_quantize_report r = {0};
    assay_moments *moments = NULL;
    assay_status status = ASSAY_OPTIONS_TAKE(options, &o, err);

    *out = NULL;
    if (report)
        *report = NULL;
    if (!status)
        status = assay_choices_make(&o, &q, err);
    if (!status && !s->mac)
        status = observe_moments(g, &o, &moments, err);
    q.options.moments = moments;
    if (!status)
        status = s->mac ? run_quantize_for_units(g, s, true, out, &r, err)
                        : with_profile(g, p, s, &q.options, out, &r, err);
    if (!status && report)
        status = assay_text_of_json(assay_report_json(&r), report, err);
    if (status) {
        assay_graph_free(*out);
        *out = NULL;
    }
    quantize_report_free(&r);
    assay_choices_free(&q);
    profile_moments_free(moments);
    return status;
}

assay_status assay_pack_weights(const assay_graph *g, const char *format, assay_graph **out,
                                char **report, assay_error *err)
{
    assay_quantize_report r = {0};
    assay_status status = ASSAY_OK;

    *out = NULL;
    if (report)
        *report = NULL;
    if (run_model_is_quantized(g))
        return assay_fail(err, ASSAY_ERR_INPUT,
                          "weights in %.40s are for networks whose weights are floats", format);
    status = quantize_pack_weights(g, format, out, &r, err);
    if (!status && report)
        status = assay_text_of_json(assay_report_json(&r), report, err);
    if (status) {
        assay_graph_free(*out);
        *out = NULL;
    }
    quantize_report_free(&r);
    return status;
}

assay_status assay_group(assay_graph *g, const assay_scheme *s, bool adapt, char **report,
                         assay_error *err)
{
    assay_quantize_report r = {0};
    assay_status status = adapt ? quantize_adapt_parameters(g, s, NULL, err) : ASSAY_OK;

    if (report)
        *report = NULL;
    if (!status)
        status = quantize_group_qdq(g, s, run_has_integer_kernel, &r, err);
    if (!status && report)
        status = assay_text_of_json(assay_report_json(&r), report, err);
    quantize_report_free(&r);
    return status;
}
