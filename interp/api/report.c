/* Reports of what was made of a network, and of its proof, as JSON. */
#include "interp/api/report.h"

#include "opt/calibrate/calibrate.h"

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

static json_t *json_weak(const assay_weak_node *n)
{
    json_t *o = json_object();
    page_json_set(&o, "node", page_json_text(n->node));
    page_json_set(&o, "op", page_json_text(n->op));
    page_json_set(&o, "sqnr", page_json_number(n->sqnr));
    return o;
}

static json_t *json_smoothed(const assay_smoothed *s)
{
    json_t *o = json_object();
    page_json_set(&o, "value", page_json_text(s->value));
    page_json_set(&o, "channels", json_integer(s->channels));
    page_json_set(&o, "other", s->other ? page_json_text(s->other) : json_null());
    page_json_set(&o, "layers", json_integer(s->layers));
    page_json_set(&o, "least", json_integer(s->least));
    page_json_set(&o, "greatest", json_integer(s->greatest));
    return o;
}

json_t *assay_report_json(const assay_quantize_report *r)
{
    json_t *o = json_object(), *floats = json_array(), *ranges = json_array(),
           *smoothed = json_array(), *weak = json_array();
    for (int i = 0; i < r->n_float; i++)
        page_json_add(&floats, json_float_node(&r->float_node[i]));
    for (int i = 0; i < r->n_choices; i++)
        page_json_add(&ranges, json_range(&r->choice[i]));
    for (int i = 0; i < r->smoothing.n; i++)
        page_json_add(&smoothed, json_smoothed(&r->smoothing.value[i]));
    for (int i = 0; i < r->n_weak; i++)
        page_json_add(&weak, json_weak(&r->weak[i]));
    page_json_set(&o, "integer", json_integer(r->n_integer));
    page_json_set(&o, "fused", json_integer(r->n_fused));
    page_json_set(&o, "rescales", json_integer(r->n_rescale));
    page_json_set(&o, "conversions", json_integer(r->n_convert));
    page_json_set(&o, "gptq", json_integer(r->n_gptq));
    page_json_set(&o, "float", floats);
    page_json_set(&o, "ranges", ranges);
    page_json_set(&o, "smoothed", smoothed);
    page_json_set(&o, "weak", weak);
    return o;
}

json_t *assay_proof_json(const assay_proof_report *r, const char *why)
{
    json_t *o = json_object();
    page_json_set(&o, "good", json_boolean(!why));
    page_json_set(&o, "why", why ? page_json_text(why) : json_null());
    page_json_set(&o, "steps", json_integer(r->steps));
    page_json_set(&o, "proved", json_integer(r->proved));
    page_json_set(&o, "given", json_integer(r->given));
    return o;
}
