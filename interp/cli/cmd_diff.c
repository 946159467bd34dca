/* assay diff: two bundles, or a bundle and a device's dumps, tensor by tensor. */
#include <stdlib.h>
#include <string.h>

#include "interp/cli/cli.h"
#include "interp/golden/diff.h"

static const char *const measures[] = {"max-lsb", "rel", "abs", "cosine", "sqnr"};

static double *limit_of(assay_thresholds *t, int measure)
{
    double *const field[] = {&t->max_lsb, &t->rel, &t->abs, &t->cosine, &t->sqnr};
    return field[measure];
}

/* "0.01" sets the general limit, "conv1=0.01" that of one tensor. */
static bool parse_limits(const cli_args *a, assay_diff_options *o, assay_diff_override *list,
                         char **names)
{
    for (int m = 0; m < 5; m++)
        for (int k = 0; cli_value_at(a, measures[m], k); k++) {
            const char *text = cli_value_at(a, measures[m], k);
            const char *equals = strrchr(text, '=');
            const char *number = equals ? equals + 1 : text;
            char *end;
            const double v = strtod(number, &end);
            if (end == number || *end || !(v >= 0.0)) {
                cli_trouble("diff: --%s takes a number of 0 or more, or TENSOR=NUMBER, not '%s'",
                            measures[m], text);
                return false;
            }
            if (!equals) {
                *limit_of(&o->limits, m) = v;
                continue;
            }
            names[o->n_overrides] = strndup(text, (size_t)(equals - text));
            list[o->n_overrides].tensor = names[o->n_overrides];
            list[o->n_overrides].limits = (assay_thresholds)ASSAY_THRESHOLDS_EXACT;
            *limit_of(&list[o->n_overrides].limits, m) = v;
            o->n_overrides++;
        }
    o->overrides = list;
    return true;
}

static int compare(const cli_args *a, const assay_diff_options *o)
{
    const char *json = cli_value(a, "json", NULL), *junit = cli_value(a, "junit", NULL);
    assay_diff *d;
    assay_error err;
    assay_status status;
    int verdict;

    if (golden_diff_paths(a->positional[0], a->positional[1], o, &d, &err))
        return cli_failed(&err);
    if (!cli_has(a, "quiet"))
        golden_diff_print(d, cli_notes_of(a));
    status = json ? golden_diff_write_json(d, json, &err) : ASSAY_OK;
    if (!status && junit)
        status = golden_diff_write_junit(d, junit, &err);
    verdict = d->n_failed ? CLI_DIFFERENT : CLI_OK;
    golden_diff_free(d);
    return !status ? verdict : cli_failed(&err);
}

static int run(const cli_args *a)
{
    assay_diff_options o = {.limits = ASSAY_THRESHOLDS_EXACT};
    assay_diff_override *list = calloc((size_t)a->n_given + 1, sizeof *list);
    char **names = calloc((size_t)a->n_given + 1, sizeof *names);
    int status = CLI_TROUBLE;
    int64_t hex_bits = 0;

    if (!list || !names)
        cli_out_of_memory();
    else if (cli_integer(a, "hex-bits", 0, 1, 1024, &hex_bits) &&
             parse_limits(a, &o, list, names)) {
        o.hex_bits = (unsigned)hex_bits;
        status = compare(a, &o);
    }
    for (int i = 0; names && i < o.n_overrides; i++)
        free(names[i]);
    free(names);
    free(list);
    return status;
}

static const cli_option options[] = {
    {"max-lsb", 0, "[TENSOR=]N", "codes may differ by N"},
    {"rel", 0, "[TENSOR=]R", "real values may differ by R times the reference"},
    {"abs", 0, "[TENSOR=]A", "real values may differ by A"},
    {"cosine", 0, "[TENSOR=]C", "the tensor's cosine similarity is at least C"},
    {"sqnr", 0, "[TENSOR=]DB", "signal-to-quantization-noise ratio at least DB"},
    {"hex-bits", 0, "N", "width in bits of a word in .hex dumps (default: as the files show)"},
    {"json", 0, "FILE", "the whole report as JSON (- for standard output)"},
    {"junit", 0, "FILE", "one test case per tensor, for CI"},
    {"quiet", 'q', NULL, "no report, only the exit status"},
    {NULL, 0, NULL, NULL}};

const cli_command cli_cmd_diff = {
    .name = "diff",
    .usage = "REFERENCE OTHER [thresholds]",
    .summary = "compare two bundles, or a bundle and a device's dumps, in execution order",
    .examples =
        "  assay diff golden-out/tflite golden-out/npu16\n"
        "  assay diff golden-cat device-dumps/ --max-lsb 1 --rel logits=0.01 --junit diff.xml\n"
        "  assay diff reference.npy device.npy --sqnr 40\n",
    .options = options,
    .min_args = 2,
    .max_args = 2,
    .run = run,
};
