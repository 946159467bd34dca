/* A profile's values beside the codes that would represent them; see shown.h. */
#include "interp/api/shown.h"

#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "graph/files/files.h"
#include "graph/memory.h"
#include "interp/api/choices.h"
#include "interp/api/options.h"

/* ---- codes ---- */

/* The scheme's activations, or type and symmetry. */
static assay_status codes_of(const assay_show_options *o, const assay_choices *q, assay_choice *c,
                             assay_error *err)
{
    *c = q->options.activation;
    c->elem = assay_int(8, true);
    if (o->scheme) {
        assay_scheme_caps caps;
        assay_scheme_get_caps(o->scheme, &caps);
        c->elem = assay_int(caps.activation_bits, caps.activation_signed);
        c->power_of_two = caps.power_of_two;
        if (!q->options.has_symmetry &&
            (!caps.activation_zero_point || caps.zero_point_middle_only))
            c->symmetry = ASSAY_SYMMETRIC;
    }
    if (o->type && assay_elem_parse(o->type, &c->elem, err))
        return ASSAY_ERR_INPUT;
    if (c->elem.kind != ASSAY_KIND_INT || c->elem.bits < 2 || c->elem.bits > 16)
        return assay_fail(err, ASSAY_ERR_INPUT, "type takes i2..i16 or u2..u16, not '%.40s'",
                          o->type ? o->type : "that of the scheme's activations");
    return ASSAY_OK;
}

static const assay_calibrate_how *how_of(const assay_choices *q, const char *value)
{
    for (int i = 0; i < q->options.n_calibrate; i++)
        if (fnmatch(q->calibrate[i].pattern, value, 0) == 0)
            return &q->calibrate[i].how;
    return &q->options.calibration;
}

/* ---- views ---- */

static assay_status view_entry(const assay_profile_entry *e, bool channels,
                               const assay_choice *choice, const assay_calibrate_how *how,
                               assay_shown *out, assay_error *err)
{
    report_profile_view *whole = &out->view[out->n++];
    assay_status status = report_profile_view_of(e->name, -1, &e->seen, choice, how, whole, err);
    for (int k = 0; channels && k < e->n_channels && !status; k++) {
        report_profile_view *v = &out->view[out->n++];
        status = report_profile_view_of(e->name, k, &e->channel[k], choice, how, v, err);
        v->left = fmin(v->left, whole->left);
        v->right = fmax(v->right, whole->right);
    }
    return status;
}

static assay_status view_all(const assay_profile *p, const assay_show_options *o,
                             const assay_choice *choice, const assay_choices *q, assay_shown *out,
                             assay_error *err)
{
    const char *pattern = o->value ? o->value : "*", *name = o->name ? o->name : "profile";
    const assay_profile_entry **order = report_profile_order(p);
    bool has_channels = false;
    assay_status status = order ? ASSAY_OK : assay_out_of_memory(err);

    for (int i = 0; i < profile_count(p) && !status; i++)
        if (fnmatch(pattern, order[i]->name, 0) == 0) {
            has_channels |= order[i]->n_channels > 0;
            status = view_entry(order[i], o->channels, choice, how_of(q, order[i]->name), out, err);
        }
    free(order);
    if (!status && out->n == 0)
        return assay_fail(err, ASSAY_ERR_INPUT, "%s: no value's name matches '%s'", name, pattern);
    if (!status && o->channels && !has_channels)
        return assay_fail(err, ASSAY_ERR_INPUT,
                          "%s: it has no channels; one taken with `per_channel` has", name);
    return status;
}

assay_status assay_shown_make(const assay_profile *p, const assay_show_options *o, assay_shown *out,
                              assay_error *err)
{
    assay_quantizer_options choices = {0};
    size_t room = (size_t)profile_count(p) + 1;
    assay_choice choice;
    assay_choices q;

    *out = (assay_shown){0};
    snprintf(out->title, sizeof out->title, "%s%s%s", o->name ? o->name : "profile",
             o->scheme ? " under " : "", o->scheme ? o->scheme->name : "");
    for (int i = 0; i < profile_count(p); i++)
        room += (size_t)profile_get(p, i)->n_channels;
    out->view = calloc(room, sizeof *out->view);
    assay_status status =
        out->view ? ASSAY_OPTIONS_TAKE(o->choices, &choices, err) : assay_out_of_memory(err);
    if (status)
        return status;
    status = assay_choices_make(&choices, &q, err);
    if (!status)
        status = codes_of(o, &q, &choice, err);
    if (!status)
        status = view_all(p, o, &choice, &q, out, err);
    assay_choices_free(&q);
    return status;
}

void assay_shown_free(assay_shown *s)
{
    free(s->view);
}

/* ---- for programs, and drawings ---- */

static json_t *json_view(const report_profile_view *v)
{
    const assay_histogram *h = v->seen;
    char elem[8];
    json_t *o = json_object();
    page_json_set(&o, "value", page_json_text(v->name));
    page_json_set(&o, "channel", v->channel < 0 ? json_null() : json_integer(v->channel));
    page_json_set(&o, "min", page_json_number((double)h->min));
    page_json_set(&o, "max", page_json_number((double)h->max));
    page_json_set(&o, "elements", json_integer((json_int_t)h->finite));
    page_json_set(&o, "nan", json_integer((json_int_t)h->nan));
    page_json_set(&o, "inf", json_integer((json_int_t)h->inf));
    page_json_set(&o, "type", json_string(assay_elem_print(v->elem, elem)));
    page_json_set(&o, "scale", page_json_number((double)v->scale));
    page_json_set(&o, "zero_point", json_integer(v->zero_point));
    page_json_set(&o, "from", page_json_number(v->lo));
    page_json_set(&o, "to", page_json_number(v->hi));
    page_json_set(&o, "beyond", page_json_number(v->range.clipped));
    page_json_set(&o, "note", v->range.note ? json_string(v->range.note) : json_null());
    return o;
}

json_t *assay_shown_json(const assay_profile *p, const assay_shown *s)
{
    const assay_profile_origin from = profile_get_origin(p);
    json_t *o = json_object(), *values = json_array();
    for (int i = 0; i < s->n; i++)
        page_json_add(&values, json_view(&s->view[i]));
    page_json_set(&o, "model", page_json_text(from.model));
    page_json_set(&o, "dataset", page_json_text(from.dataset));
    page_json_set(&o, "samples", json_integer((json_int_t)profile_samples(p)));
    page_json_set(&o, "values", values);
    return o;
}

static void put_svg(FILE *f, const void *what)
{
    const assay_shown *s = what;
    report_profile_svg(f, s->title, s->view, s->n);
}

static void put_html(FILE *f, const void *what)
{
    const assay_shown *s = what;
    report_profile_html(f, s->title, s->view, s->n);
}

assay_status assay_shown_draw(const assay_shown *s, const assay_show_options *o, assay_error *err)
{
    const assay_status status = o->svg ? file_print(o->svg, put_svg, s, err) : ASSAY_OK;
    return !status && o->html ? file_print(o->html, put_html, s, err) : status;
}

assay_status assay_profile_show(const assay_profile *p, const assay_show_options *options,
                                char **json, assay_error *err)
{
    char **const texts[] = {json};
    assay_show_options o;
    assay_shown s;

    assay_texts_begin(texts, 1);
    assay_status status = ASSAY_OPTIONS_TAKE(options, &o, err);
    if (status)
        return status;
    status = assay_shown_make(p, &o, &s, err);
    if (!status)
        status = assay_shown_draw(&s, &o, err);
    if (!status && json)
        status = assay_text_of_json(assay_shown_json(p, &s), json, err);
    assay_shown_free(&s);
    return assay_texts_end(status, texts, 1);
}
