/* JSON of what was measured. */
#include "interp/measure/report.h"

#include <math.h>

/* ---- accuracy ---- */

double measure_points(const assay_accuracy *r, int k)
{
    return r->samples ? 100.0 * (double)r->top[k - 1] / (double)r->samples : 0.0;
}

static void put_accuracy(json_t **o, const char *prefix, const assay_accuracy *r,
                         const assay_judge *j)
{
    const char *of = j->maps ? "pixel_" : j->tokens ? "token_" : "";
    char key[32];
    for (int k = 1; k <= ASSAY_EVAL_TOP; k += ASSAY_EVAL_TOP - 1) {
        snprintf(key, sizeof key, "%s%stop%d", prefix, of, k);
        page_json_set(o, key, page_json_number(measure_points(r, k)));
    }
    snprintf(key, sizeof key, "%smean_iou", prefix);
    if (j->maps)
        page_json_set(o, key, page_json_number(100.0 * r->mean_iou));
    snprintf(key, sizeof key, "%sperplexity", prefix);
    if (j->tokens)
        page_json_set(o, key, page_json_number(exp(r->loss)));
}

void measure_eval_json(json_t **o, const assay_fidelity *f, bool twin, bool labelled,
                       const assay_judge *judge)
{
    page_json_set(o, "samples", json_integer(labelled ? f->other.samples : f->samples));
    page_json_set(o, "outputs", json_string(f->other.digest));
    if (labelled)
        put_accuracy(o, "", &f->other, judge);
    if (!twin)
        return;
    if (labelled)
        put_accuracy(o, "float_", &f->reference, judge);
    page_json_set(o, "sqnr_db", page_json_number(f->output_sqnr));
    page_json_set(o, "mse", page_json_number(f->output_mse));
    page_json_set(o, "agreement",
                  f->compared ? json_real(100.0 * (double)f->agree / (double)f->compared)
                              : json_null());
}

static json_t *json_class(const assay_part *p, int64_t c)
{
    const assay_tally *t = &p->tally[1], *twin = p->noise ? &p->tally[0] : NULL;
    const int64_t either = t->truth[c] + t->chosen[c] - t->both[c];
    const bool twin_has = twin && twin->truth && c < twin->classes;
    json_t *o = json_object();
    page_json_set(&o, "class", json_integer(c));
    page_json_set(&o, "samples", json_integer(t->truth[c]));
    page_json_set(&o, "right", json_integer(t->both[c]));
    page_json_set(&o, "answered", json_integer(t->chosen[c]));
    if (t->maps)
        page_json_set(&o, "iou", page_json_number(100.0 * (double)t->both[c] / (double)either));
    if (twin)
        page_json_set(&o, "float_right", json_integer(twin_has ? twin->both[c] : 0));
    return o;
}

void measure_classes_json(json_t **o, const assay_part *p)
{
    const assay_tally *t = &p->tally[1];
    json_t *rows = json_array();
    for (int64_t c = 0; c < t->classes; c++)
        if (t->truth[c] > 0 || t->chosen[c] > 0)
            page_json_add(&rows, json_class(p, c));
    page_json_set(o, "classes", rows);
}

static void put_fidelity(json_t **o, const assay_fidelity *f)
{
    page_json_set(o, "output_db", page_json_number(f->output_sqnr));
    page_json_set(o, "output_mse", page_json_number(f->output_mse));
    page_json_set(o, "drop", page_json_number(measure_fidelity_drop(f)));
    page_json_set(o, "drop_of", json_string(measure_fidelity_drop_name(f)));
    page_json_set(o, "samples", json_integer(f->samples));
}

/* ---- sensitivity ---- */

static json_t *json_row(const assay_sensitivity_row *r)
{
    json_t *o = json_object();
    char elem[8];
    page_json_set(&o, "node", page_json_text(r->node));
    page_json_set(&o, "op", json_string(r->op));
    page_json_set(&o, "value", page_json_text(r->value));
    page_json_set(&o, "type", json_string(assay_elem_print(r->elem, elem)));
    page_json_set(&o, "isolated_db", page_json_number(r->isolated));
    page_json_set(&o, "cumulative_db", page_json_number(r->cumulative));
    page_json_set(&o, "alone_db", page_json_number(r->alone.output_sqnr));
    page_json_set(&o, "alone_drop", page_json_number(measure_fidelity_drop(&r->alone)));
    page_json_set(&o, "without_db", page_json_number(r->without.output_sqnr));
    page_json_set(&o, "without_drop", page_json_number(measure_fidelity_drop(&r->without)));
    return o;
}

json_t *measure_sensitivity_json(const assay_sensitivity *s)
{
    json_t *rows = json_array(), *o = json_object();

    put_fidelity(&o, &s->whole);
    for (int i = 0; i < s->n; i++)
        page_json_add(&rows, json_row(&s->row[i]));
    page_json_set(&o, "nodes", rows);
    return o;
}

/* ---- tuning ---- */

static json_t *json_precision(const assay_precision_rule *rule)
{
    json_t *o = json_object();
    char elem[8];
    page_json_set(&o, "node", page_json_text(rule->pattern));
    page_json_set(&o, "type", json_string(assay_elem_print(rule->elem, elem)));
    return o;
}

/* Only what was found: it stands before what was given. */
static json_t *json_options(const assay_quantize_options *found,
                            const assay_quantize_options *given)
{
    json_t *o = json_object(), *calibrations = json_array(), *floats = json_array(),
           *precision = json_array();
    for (int i = 0; i < found->n_calibrate - given->n_calibrate; i++) {
        json_t *rule = json_object();
        page_json_set(&rule, "value", page_json_text(found->calibrate[i].pattern));
        page_json_set(&rule, "method", json_string(calibrate_name(found->calibrate[i].how.method)));
        page_json_add(&calibrations, rule);
    }
    for (int i = 0; i < found->n_precision - given->n_precision; i++) {
        const assay_precision_rule *rule = &found->precision[i];
        const bool is_float = rule->elem.kind == ASSAY_KIND_F32;
        page_json_add(is_float ? &floats : &precision,
                      is_float ? page_json_text(rule->pattern) : json_precision(rule));
    }
    page_json_set(&o, "calibration", json_string(calibrate_name(found->calibration.method)));
    page_json_set(&o, "calibrations", calibrations);
    page_json_set(&o, "keep_float", floats);
    page_json_set(&o, "precision", precision);
    return o;
}

json_t *measure_tune_json(const assay_tune_result *r, const assay_quantize_options *given)
{
    json_t *o = json_object(), *before = json_object(), *after = json_object();
    put_fidelity(&before, &r->before);
    put_fidelity(&after, &r->after);
    page_json_set(&o, "reached", json_boolean(r->reached));
    page_json_set(&o, "trials", json_integer(r->trials));
    page_json_set(&o, "reason", json_string(r->reason));
    page_json_set(&o, "before", before);
    page_json_set(&o, "after", after);
    page_json_set(&o, "options", json_options(&r->options, given));
    return o;
}
