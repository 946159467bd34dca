/* assay sensitivity: the cost of quantizing each node. */
#include <math.h>

#include "graph/memory.h"
#include "interp/cli/json.h"
#include "interp/cli/session.h"
#include "interp/measure/report.h"
#include "interp/page/column.h"

static void print_number(FILE *f, double x, int decimals)
{
    if (isnan(x))
        fprintf(f, " %8s", "-");
    else
        fprintf(f, " %8.*f", decimals, x);
}

static void print_ratio(FILE *f, double db)
{
    print_number(f, db, 2);
}

static void print_whole(FILE *f, const assay_fidelity *whole)
{
    const double drop = measure_fidelity_drop(whole);

    fprintf(f, "the whole: output %.2f dB (MSE %.6g)", whole->output_sqnr, whole->output_mse);
    if (!isnan(drop))
        fprintf(f, ", drop %.4f points of %s", drop, measure_fidelity_drop_name(whole));
    fprintf(f, ", over %lld samples\n", (long long)whole->samples);
}

static void print_table(FILE *f, const assay_sensitivity *s)
{
    char elem[8];
    int width = 36;

    for (int i = 0; i < s->n; i++)
        width = page_column_widen(width, s->row[i].node);
    fprintf(f, "%-*s %-16s %-4s %17s %19s %19s\n", width, "", "", "", "own output, dB",
            "only it integer", "only it float");
    fprintf(f, "%-*s %-16s %-4s %8s %8s  %8s %8s   %8s %8s\n", width, "node", "op", "type",
            "isolated", "in place", "dB", "drop", "dB", "drop");
    for (int i = 0; i < s->n; i++) {
        const assay_sensitivity_row *r = &s->row[i];
        page_column_put(f, 0, width, r->node);
        fprintf(f, " %-16s %-4s", r->op, assay_elem_print(r->elem, elem));
        print_ratio(f, r->isolated);
        print_ratio(f, r->cumulative);
        fprintf(f, " ");
        print_ratio(f, r->alone.output_sqnr);
        print_number(f, measure_fidelity_drop(&r->alone), 4);
        fprintf(f, "  ");
        print_ratio(f, r->without.output_sqnr);
        print_number(f, measure_fidelity_drop(&r->without), 4);
        fprintf(f, "\n");
    }
    print_whole(f, &s->whole);
}

static void step(void *user, int done, int of)
{
    cli_progress *p = user;
    if (done == 0)
        cli_progress_begin(p, "sensitivity", of, p->quiet);
    cli_progress_step(p);
}

static int sensitivity(const cli_args *a, const assay_trial *t)
{
    cli_progress progress = {.quiet = cli_has(a, "quiet")};
    assay_sensitivity table = {0};
    assay_error err;
    int status = CLI_OK;

    if (measure_sensitivity_measure(t, step, &progress, &table, &err))
        status = cli_failed(&err);
    cli_progress_end(&progress);
    if (status == CLI_OK)
        print_table(cli_notes_of(a), &table);
    if (status == CLI_OK && cli_has(a, "json"))
        status = cli_json_write(a, measure_sensitivity_json(&table));
    measure_sensitivity_free(&table);
    return status;
}

static int run(const cli_args *a)
{
    return cli_trial_run(a, false, sensitivity);
}

static const cli_option options[] = {CLI_MODEL_OPTIONS,    CLI_SCHEME_OPTIONS,   CLI_DATA_OPTIONS,
                                     CLI_JUDGE_OPTIONS,    CLI_QUANTIZE_OPTIONS, CLI_JSON_OPTION,
                                     {NULL, 0, NULL, NULL}};

const cli_command cli_cmd_sensitivity = {
    .name = "sensitivity",
    .usage = "MODEL --profile PROFILE.yaml --scheme S --dataset PATH",
    .summary =
        "measure what each node's quantization costs: alone, in place, and when only it is float",
    .examples =
        "  assay sensitivity net.onnx -p profile.yaml -s tflite -d test/ --limit 64\n"
        "  assay sensitivity net.onnx -p profile.yaml -s npu16 -d test/ -n 16 --json table.json\n",
    .options = options,
    .min_args = 1,
    .max_args = 1,
    .run = run,
};
