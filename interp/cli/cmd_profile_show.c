/* assay profile show: the ranges of a profile, its histograms, and what codes would represent. */
#include <inttypes.h>
#include <stdlib.h>

#include "interp/api/shown.h"
#include "interp/cli/json.h"
#include "interp/cli/session.h"
#include "interp/page/column.h"

static void print_table(const assay_profile *p, const report_profile_view *v, int n)
{
    const assay_profile_origin o = profile_get_origin(p);
    char elem[8];
    int width = 36;

    for (int i = 0; i < n; i++)
        width = page_column_widen(width, v[i].name);
    printf("model %s  data '%s'  %" PRIu64 " samples of [%" PRIu64 ", %" PRIu64 ")\n", o.model,
           o.dataset, profile_samples(p), o.whole.first, o.whole.end);
    printf("%-*s %12s %12s %12s %6s %6s  %-4s %12s %6s %12s %12s %9s\n", width, "value", "min",
           "max", "elements", "NaN", "inf", "type", "scale", "zp", "from", "to", "beyond %");
    for (int i = 0; i < n; i++) {
        const assay_histogram *h = v[i].seen;
        char name[64];
        snprintf(name, sizeof name, "  channel %d", v[i].channel);
        page_column_put(stdout, 0, width, v[i].channel < 0 ? v[i].name : name);
        printf(" %12.6g %12.6g %12" PRIu64 " %6" PRIu64 " %6" PRIu64
               "  %-4s %12.6g %6d %12.6g %12.6g %9.3g%s%s\n",
               (double)h->min, (double)h->max, h->finite, h->nan, h->inf,
               assay_elem_print(v[i].elem, elem), (double)v[i].scale, v[i].zero_point, v[i].lo,
               v[i].hi, 100 * v[i].range.clipped, v[i].range.note ? "  " : "",
               v[i].range.note ? v[i].range.note : "");
    }
}

static int show(const cli_args *a, const assay_profile *p, const assay_show_options *o)
{
    assay_shown s;
    assay_error err;
    const assay_status made = assay_shown_make(p, o, &s, &err);
    int status = made ? cli_failed(&err) : CLI_OK;
    if (status == CLI_OK && !o->svg && !o->html && !cli_has(a, "json"))
        print_table(p, s.view, s.n);
    if (status == CLI_OK && cli_has(a, "json"))
        status = cli_json_write(a, assay_shown_json(p, &s));
    if (status == CLI_OK && assay_shown_draw(&s, o, &err))
        status = cli_failed(&err);
    for (int k = 0; k < 2 && status == CLI_OK; k++)
        if (k ? o->html : o->svg)
            fprintf(cli_notes_of(a), "%s: %d histograms\n", k ? o->html : o->svg, s.n);
    assay_shown_free(&s);
    return status;
}

static int show_under(const cli_args *a, const assay_profile *p, const assay_scheme *scheme)
{
    const char **room = calloc((size_t)a->n_given + 1, sizeof *room);
    assay_quantizer_options q;
    const assay_show_options o = {.name = a->positional[0],
                                  .value = cli_value(a, "value", NULL),
                                  .channels = cli_has(a, "channels"),
                                  .scheme = scheme,
                                  .type = cli_value(a, "type", NULL),
                                  .choices = &q,
                                  .svg = cli_value(a, "svg", NULL),
                                  .html = cli_value(a, "html", NULL)};
    if (!room)
        return cli_out_of_memory();
    q = cli_quantizer_options(a, room);
    const int status = show(a, p, &o);
    free(room);
    return status;
}

static int run(const cli_args *a)
{
    const char *name = cli_value(a, "scheme", NULL);
    assay_scheme *s = NULL;
    assay_profile *p;
    assay_error err;

    if (profile_load(a->positional[0], &p, &err))
        return cli_failed(&err);
    const int status =
        name && assay_scheme_open(name, &s, &err) ? cli_failed(&err) : show_under(a, p, s);
    assay_scheme_free(s);
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
