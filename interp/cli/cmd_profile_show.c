/* assay profile show: the ranges of a profile, its histograms, and what codes would represent. */
#include <fnmatch.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "graph/files/files.h"
#include "interp/cli/json.h"
#include "interp/cli/session.h"
#include "interp/report/profile_draw.h"

/* What a value's codes would be, and the name of the scheme that says it, or "". */
typedef struct codes {
    assay_choice choice;
    char scheme[80];
} codes;

/* The scheme's activations, or --type and --symmetry. */
static int codes_of(const cli_args *a, const assay_choices *q, codes *out)
{
    assay_choice *c = &out->choice;
    const char *scheme = cli_value(a, "scheme", NULL), *type = cli_value(a, "type", NULL);
    assay_scheme *s;
    assay_error err;

    *out = (codes){.choice = q->options.activation};
    c->elem = assay_int(8, true);
    if (scheme) {
        assay_scheme_caps caps;
        if (assay_scheme_open(scheme, &s, &err))
            return cli_failed(&err);
        assay_scheme_get_caps(s, &caps);
        snprintf(out->scheme, sizeof out->scheme, "%s", s->name);
        assay_scheme_free(s);
        c->elem = assay_int(caps.activation_bits, caps.activation_signed);
        c->power_of_two = caps.power_of_two;
        if (!cli_has(a, "symmetry") && (!caps.activation_zero_point || caps.zero_point_middle_only))
            c->symmetry = ASSAY_SYMMETRIC;
    }
    if (type && assay_elem_parse(type, &c->elem, &err))
        return cli_failed(&err);
    if (c->elem.kind != ASSAY_KIND_INT || c->elem.bits < 2 || c->elem.bits > 16)
        return cli_trouble("profile show: --type takes i2..i16 or u2..u16, not '%s'", type);
    return CLI_OK;
}

static int view_of(const char *name, int channel, const assay_histogram *seen,
                   const assay_choice *c, const assay_calibrate_how *how, report_profile_view *v)
{
    assay_error err;
    return !report_profile_view_of(name, channel, seen, c, how, v, &err) ? CLI_OK
                                                                         : cli_failed(&err);
}

static const assay_calibrate_how *how_of(const assay_choices *q, const char *value)
{
    for (int i = 0; i < q->options.n_calibrate; i++)
        if (fnmatch(q->calibrate[i].pattern, value, 0) == 0)
            return &q->calibrate[i].how;
    return &q->options.calibration;
}

static void print_table(const assay_profile *p, const report_profile_view *v, int n)
{
    const assay_profile_origin o = profile_get_origin(p);
    char elem[8];
    int width = 36;

    for (int i = 0; i < n; i++)
        width = cli_widen(width, v[i].name);
    printf("model %s  data '%s'  %" PRIu64 " samples of [%" PRIu64 ", %" PRIu64 ")\n", o.model,
           o.dataset, profile_samples(p), o.whole.first, o.whole.end);
    printf("%-*s %12s %12s %12s %6s %6s  %-4s %12s %6s %12s %12s %9s\n", width, "value", "min",
           "max", "elements", "NaN", "inf", "type", "scale", "zp", "from", "to", "beyond %");
    for (int i = 0; i < n; i++) {
        const assay_histogram *h = v[i].seen;
        char name[64];
        snprintf(name, sizeof name, "  channel %d", v[i].channel);
        cli_put_name(stdout, width, v[i].channel < 0 ? v[i].name : name);
        printf(" %12.6g %12.6g %12" PRIu64 " %6" PRIu64 " %6" PRIu64
               "  %-4s %12.6g %6d %12.6g %12.6g %9.3g%s%s\n",
               (double)h->min, (double)h->max, h->finite, h->nan, h->inf,
               assay_elem_print(v[i].elem, elem), (double)v[i].scale, v[i].zero_point, v[i].lo,
               v[i].hi, 100 * v[i].range.clipped, v[i].range.note ? "  " : "",
               v[i].range.note ? v[i].range.note : "");
    }
}

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

static json_t *json_table(const assay_profile *p, const report_profile_view *v, int n)
{
    const assay_profile_origin from = profile_get_origin(p);
    json_t *o = json_object(), *values = json_array();
    for (int i = 0; i < n; i++)
        page_json_add(&values, json_view(&v[i]));
    page_json_set(&o, "model", page_json_text(from.model));
    page_json_set(&o, "dataset", page_json_text(from.dataset));
    page_json_set(&o, "samples", json_integer((json_int_t)profile_samples(p)));
    page_json_set(&o, "values", values);
    return o;
}

typedef struct drawing {
    void (*put)(FILE *, const char *, const report_profile_view *, int);
    char title[600];
    const report_profile_view *v;
    int n;
} drawing;

static void put_drawing(FILE *f, const void *what)
{
    const drawing *d = what;
    d->put(f, d->title, d->v, d->n);
}

static int draw(const cli_args *a, const char *scheme, const char *option,
                void (*put)(FILE *, const char *, const report_profile_view *, int),
                const report_profile_view *v, int n)
{
    const char *path = cli_value(a, option, NULL);
    drawing d = {.put = put, .v = v, .n = n};
    assay_error err;

    if (!path)
        return CLI_OK;
    snprintf(d.title, sizeof d.title, "%s%s%s", a->positional[0], *scheme ? " under " : "", scheme);
    if (file_print(path, put_drawing, &d, &err))
        return cli_failed(&err);
    fprintf(cli_notes_of(a), "%s: %d histograms\n", path, n);
    return CLI_OK;
}

/* Views of the values whose names match, and with --channels of each channel behind its value. */
static int view_all(const cli_args *a, const assay_profile *p, const assay_choice *choice,
                    const assay_choices *q, report_profile_view *v, int *n)
{
    const char *pattern = cli_value(a, "value", "*");
    const assay_profile_entry **order = report_profile_order(p);
    bool has_channels = false;
    int status = order ? CLI_OK : cli_out_of_memory();

    for (int i = 0; i < profile_count(p) && status == CLI_OK; i++) {
        const assay_profile_entry *e = order[i];
        const assay_calibrate_how *how = how_of(q, e->name);
        if (fnmatch(pattern, e->name, 0) != 0)
            continue;
        has_channels |= e->n_channels > 0;
        const report_profile_view *whole = &v[*n];
        status = view_of(e->name, -1, &e->seen, choice, how, &v[(*n)++]);
        for (int k = 0; cli_has(a, "channels") && k < e->n_channels && status == CLI_OK; k++) {
            status = view_of(e->name, k, &e->channel[k], choice, how, &v[*n]);
            v[*n].left = fmin(v[*n].left, whole->left);
            v[*n].right = fmax(v[*n].right, whole->right);
            ++*n;
        }
    }
    free(order);
    if (status == CLI_OK && *n == 0)
        status = cli_trouble("%s: no value's name matches '%s'", a->positional[0], pattern);
    if (status == CLI_OK && cli_has(a, "channels") && !has_channels)
        status = cli_trouble("%s: it has no channels; 'assay profile --per-channel' counts them",
                             a->positional[0]);
    return status;
}

static int show(const cli_args *a, const assay_profile *p, const assay_choices *q)
{
    size_t room = (size_t)profile_count(p);
    int n = 0;

    for (int i = 0; i < profile_count(p); i++)
        room += (size_t)profile_get(p, i)->n_channels;
    report_profile_view *v = calloc(room, sizeof *v);
    codes as;
    int status = v ? codes_of(a, q, &as) : cli_out_of_memory();
    if (status == CLI_OK)
        status = view_all(a, p, &as.choice, q, v, &n);
    if (status == CLI_OK && !cli_has(a, "svg") && !cli_has(a, "html") && !cli_has(a, "json"))
        print_table(p, v, n);
    if (status == CLI_OK && cli_has(a, "json"))
        status = cli_json_write(a, json_table(p, v, n));
    if (status == CLI_OK)
        status = draw(a, as.scheme, "svg", report_profile_svg, v, n);
    if (status == CLI_OK)
        status = draw(a, as.scheme, "html", report_profile_html, v, n);
    free(v);
    return status;
}

static int run(const cli_args *a)
{
    assay_profile *p;
    assay_error err;

    if (profile_load(a->positional[0], &p, &err))
        return cli_failed(&err);
    assay_choices q;
    int status = cli_quantize_options(a, &q);
    if (status == CLI_OK)
        status = show(a, p, &q);
    assay_choices_free(&q);
    profile_free(p);
    return status;
}

static const cli_option options[] = {
    {"value", 0, "PATTERN", "only values whose name matches"},
    {"channels", 0, NULL, "also each channel of a value, where they were profiled"},
    {"scheme", 's', "NAME|FILE", "whose activations the codes are (default: i8, asymmetric)"},
    {"type", 0, "KIND", "of the codes: i8, u8, i16, ..."},
    CLI_CHOICE_OPTIONS,
    CLI_JSON_OPTION,
    {"svg", 0, "FILE", "histograms with the range that the codes represent behind them"},
    {"html", 0, "FILE", "the same and the table, as a page"},
    {NULL, 0, NULL, NULL}};

const cli_command cli_cmd_profile_show = {
    .name = "profile show",
    .usage = "PROFILE.yaml [--json FILE | --svg FILE | --html FILE]",
    .summary =
        "show a profile's ranges and histograms, and the part of them that codes would represent",
    .examples = "  assay profile show profile.yaml\n"
                "  assay profile show profile.yaml --scheme tflite --calibration kl --html p.html\n"
                "  assay profile show profile.yaml --value '*stem*' --type u4 --svg stem.svg\n",
    .options = options,
    .min_args = 1,
    .max_args = 1,
    .run = run,
};
