/* assay sensitivity: what the quantization of each node costs. */
#include <math.h>

#include "graph/memory.h"
#include "interp/cli/session.h"
#include "interp/measure/sensitivity.h"
#include "interp/page/json.h"

static void print_number(double x, int decimals)
{
    if (isnan(x))
        printf(" %8s", "-");
    else
        printf(" %8.*f", decimals, x);
}

static void print_ratio(double db)
{
    print_number(db, 2);
}

static void print_whole(const assay_fidelity *f)
{
    const double drop = measure_fidelity_drop(f);

    printf("the whole: output %.2f dB (MSE %.6g)", f->output_sqnr, f->output_mse);
    if (!isnan(drop))
        printf(", drop %.4f points of %s", drop, measure_fidelity_drop_name(f));
    printf(", over %lld samples\n", (long long)f->samples);
}

static void print_table(const assay_sensitivity *s)
{
    char elem[8];
    int width = 36;

    for (int i = 0; i < s->n; i++)
        width = cli_widen(width, s->row[i].node);
    printf("%-*s %-16s %-4s %17s %19s %19s\n", width, "", "", "", "own output, dB",
           "only it integer", "only it float");
    printf("%-*s %-16s %-4s %8s %8s  %8s %8s   %8s %8s\n", width, "node", "op", "type", "isolated",
           "in place", "dB", "drop", "dB", "drop");
    for (int i = 0; i < s->n; i++) {
        const assay_sensitivity_row *r = &s->row[i];
        cli_put_name(stdout, width, r->node);
        printf(" %-16s %-4s", r->op, assay_elem_print(r->elem, elem));
        print_ratio(r->isolated);
        print_ratio(r->cumulative);
        printf(" ");
        print_ratio(r->alone.output_sqnr);
        print_number(measure_fidelity_drop(&r->alone), 4);
        printf("  ");
        print_ratio(r->without.output_sqnr);
        print_number(measure_fidelity_drop(&r->without), 4);
        printf("\n");
    }
    print_whole(&s->whole);
}

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

static int write_json(const char *path, const assay_sensitivity *s)
{
    const assay_fidelity *whole = &s->whole;
    json_t *rows = json_array(), *o = json_object();
    assay_error err;

    page_json_set(&o, "output_db", page_json_number(whole->output_sqnr));
    page_json_set(&o, "output_mse", page_json_number(whole->output_mse));
    page_json_set(&o, "drop", page_json_number(measure_fidelity_drop(whole)));
    page_json_set(&o, "drop_of", json_string(measure_fidelity_drop_name(whole)));
    page_json_set(&o, "samples", json_integer(whole->samples));
    for (int i = 0; i < s->n; i++)
        page_json_add(&rows, json_row(&s->row[i]));
    page_json_set(&o, "nodes", rows);
    const assay_status status = page_json_write(path, o, &err);
    json_decref(o);
    return !status ? CLI_OK : cli_failed(&err);
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
        print_table(&table);
    if (status == CLI_OK && cli_has(a, "json"))
        status = write_json(cli_value(a, "json", ""), &table);
    measure_sensitivity_free(&table);
    return status;
}

static int run(const cli_args *a)
{
    return cli_trial_run(a, sensitivity);
}

static const cli_option options[] = {
    CLI_MODEL_OPTIONS,    CLI_SCHEME_OPTIONS,
    CLI_DATA_OPTIONS,     CLI_JUDGE_OPTIONS,
    CLI_QUANTIZE_OPTIONS, {"json", 0, "FILE", "the table as JSON (- for standard output)"},
    {NULL, 0, NULL, NULL}};

const cli_command cli_sensitivity = {
    .name = "sensitivity",
    .usage = "MODEL --profile PROFILE.yaml --scheme S --dataset PATH",
    .summary = "what each node's quantization costs: alone, in place, and when only it is float",
    .examples =
        "  assay sensitivity net.onnx -p profile.yaml -s tflite -d test/ --limit 64\n"
        "  assay sensitivity net.onnx -p profile.yaml -s npu16 -d test/ -n 16 --json table.json\n",
    .options = options,
    .min_args = 1,
    .max_args = 1,
    .run = run,
};
