/* assay report: one page of a network and of all that was measured of it. */
#include "interp/cli/cli.h"
#include "interp/page/column.h"
#include "interp/report/report.h"

static int write_all(const cli_args *a, const report *r)
{
    const char *page = cli_value(a, "output", NULL), *data = cli_value(a, "model-explorer", NULL);
    assay_error err;
    if (page && report_write_html(r, page, &err))
        return cli_failed(&err);
    if (page)
        fprintf(cli_notes_of(a), "%s: %d chapter%s\n", page, a->n_positional,
                page_plural(a->n_positional));
    if (data && report_write_explorer(r, data, &err))
        return cli_failed(&err);
    return CLI_OK;
}

static int run(const cli_args *a)
{
    report *r = NULL;
    assay_error err;
    if (!cli_has(a, "output") && !cli_has(a, "model-explorer"))
        return cli_trouble("report: pass -o FILE.html, --model-explorer DIR, or both");
    int status = report_open(a->positional, a->positional, a->n_positional,
                             cli_value(a, "value", "*"), &r, &err)
                     ? cli_failed(&err)
                     : write_all(a, r);
    report_free(r);
    return status;
}

static const cli_option options[] = {
    {"output", 'o', "FILE", "the page (- for standard output)"},
    {"model-explorer", 0, "DIR",
     "a folder for the first bundle's measures per node, as files that Google's Model Explorer "
     "takes as node data"},
    {"value", 0, "PATTERN", "look only into tensors of bundles whose name matches (default: all)"},
    {NULL, 0, NULL, NULL}};

const cli_command cli_cmd_report = {
    .name = "report",
    .usage = "BUNDLE|PROFILE|JSON... -o FILE.html",
    .summary = "gather bundles, profiles and the --json of run, eval, sensitivity, diff and blame "
               "in a page of HTML",
    .examples = "  assay report golden-out/tflite -o report.html\n"
                "  assay report golden profile.yaml eval.json sensitivity.json -o report.html\n"
                "  assay report golden blame.json diff.json -o report.html\n",
    .options = options,
    .min_args = 1,
    .max_args = -1,
    .run = run,
};
