/* Quantizing and grouping networks, with reports. */
#include "interp/api/choices.h"
#include "interp/api/options.h"
#include "interp/kernel/kernel.h"
#include "opt/quantize/adapt.h"
#include "opt/quantize/qdq.h"

/* ---- reports of quantizing ---- */

static json_t *json_float_node(const assay_float_node *n)
{
    json_t *o = json_object();
    page_json_set(&o, "node", page_json_text(n->node));
    page_json_set(&o, "op", page_json_text(n->op));
    page_json_set(&o, "reason", page_json_text(n->reason));
    return o;
}

static json_t *json_range(const assay_value_choice *c)
{
    char elem[8];
    json_t *o = json_object();
    page_json_set(&o, "value", page_json_text(c->value));
    page_json_set(&o, "method", json_string(c->fixed ? "fixed" : calibrate_name(c->range.used)));
    page_json_set(&o, "seen_min", page_json_number(c->seen_min));
    page_json_set(&o, "seen_max", page_json_number(c->seen_max));
    page_json_set(&o, "min", page_json_number(c->range.min));
    page_json_set(&o, "max", page_json_number(c->range.max));
    page_json_set(&o, "clipped", page_json_number(c->range.clipped));
    page_json_set(&o, "type", json_string(assay_elem_print(c->elem, elem)));
    page_json_set(&o, "scale", page_json_number((double)c->scale));
    page_json_set(&o, "zero_point", json_integer(c->zero_point));
    page_json_set(&o, "note", c->range.note ? json_string(c->range.note) : json_null());
    return o;
}

static json_t *json_report(const assay_quantize_report *r)
{
    json_t *o = json_object(), *floats = json_array(), *ranges = json_array();
    for (int i = 0; i < r->n_float; i++)
        page_json_add(&floats, json_float_node(&r->float_node[i]));
    for (int i = 0; i < r->n_choices; i++)
        page_json_add(&ranges, json_range(&r->choice[i]));
    page_json_set(&o, "integer", json_integer(r->n_integer));
    page_json_set(&o, "fused", json_integer(r->n_fused));
    page_json_set(&o, "rescales", json_integer(r->n_rescale));
    page_json_set(&o, "conversions", json_integer(r->n_convert));
    page_json_set(&o, "float", floats);
    page_json_set(&o, "ranges", ranges);
    return o;
}

/* ---- quantizing ---- */

assay_status assay_quantize(const assay_graph *g, const assay_profile *p, const assay_scheme *s,
                            const assay_quantizer_options *options, assay_graph **out,
                            char **report, assay_error *err)
{
    assay_quantizer_options o;
    assay_choices q = {0};
    assay_quantize_report r = {0};
    assay_status status = ASSAY_OPTIONS_TAKE(options, &o, err);

    *out = NULL;
    if (report)
        *report = NULL;
    if (!status)
        status = assay_choices_make(&o, &q, err);
    if (!status)
        status = profile_complete(p, err);
    if (!status)
        status = profile_check(p, g, err);
    if (!status)
        status = quantize_network(g, p, s, &q.options, out, &r, err);
    if (!status && report)
        status = assay_text_of_json(json_report(&r), report, err);
    if (status) {
        assay_graph_free(*out);
        *out = NULL;
    }
    quantize_report_free(&r);
    assay_choices_free(&q);
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
        status = assay_text_of_json(json_report(&r), report, err);
    quantize_report_free(&r);
    return status;
}
