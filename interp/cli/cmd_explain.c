/* assay explain: one output element, worked through. */

#include "interp/blame/worked.h"
#include "interp/cli/cli.h"
#include "interp/page/json.h"

static int show(const cli_args *a, const blame_report *r, const blame_worked *w)
{
    const char *json = cli_value(a, "json", NULL);
    assay_error err;
    blame_worked_print(r, w, cli_notes_of(a));
    if (!json)
        return CLI_OK;
    json_t *o = blame_worked_json(r, w);
    const assay_status status = page_json_write(json, o, &err);
    json_decref(o);
    return !status ? CLI_OK : cli_failed(&err);
}

static int explain(const cli_args *a, const char *what, blame_options *o)
{
    const char *device = a->n_positional > 2 ? a->positional[1] : NULL;
    blame_report *r = NULL;
    blame_worked w = {0};
    assay_error err;
    int64_t sample, element;
    int row, status = CLI_TROUBLE;
    if (!cli_integer(a, "sample", -1, 0, INT32_MAX, &sample))
        return CLI_TROUBLE;
    if (blame_run(a->positional[0], device, o, &r, &err) ||
        blame_parse_element(r, what, &row, &element, &err) ||
        blame_work(r, row, sample, element, &w, &err))
        status = cli_failed(&err);
    else
        status = show(a, r, &w);
    blame_worked_free(&w);
    blame_free(r);
    return status;
}

static int run(const cli_args *a)
{
    const char *what = a->positional[a->n_positional - 1];
    blame_options o = {.threads = 2, .rel = -1, .work = BLAME_WORK, .only = what};
    int64_t hex_bits;
    if (!cli_integer(a, "hex-bits", 0, 0, 1024, &hex_bits) ||
        !cli_number(a, "rel", -1, 0, 1, &o.rel))
        return CLI_TROUBLE;
    o.hex_bits = (unsigned)hex_bits;
    return explain(a, what, &o);
}

static const cli_option options[] = {
    {"sample", 0, "N", "the sample's number (default: the first in which the element differs)"},
    {"rel", 0, "R",
     "floats may differ by R times the reference, sums by what their order can make (default: not "
     "at all)"},
    {"hex-bits", 0, "N", "width in bits of a word in .hex dumps (default: as the files show)"},
    {"json", 0, "FILE", "the steps as JSON (- for standard output)"},
    {NULL, 0, NULL, NULL}};

const cli_command cli_cmd_explain = {
    .name = "explain",
    .usage = "GOLDEN [DEVICE] NODE[ELEMENT] [--sample N] [--json FILE]",
    .summary =
        "work through one output element step by step, and show where a device departs from it",
    .examples = "  assay explain golden-cat '/stem/conv/Conv[0,3,5,7]'\n"
                "  assay explain golden-cat device-dumps/ /stem/conv/Conv\n",
    .options = options,
    .min_args = 2,
    .max_args = 3,
    .run = run,
};
