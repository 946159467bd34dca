/* assay tune: calibrations, and nodes in wider codes or in float, that lose no more accuracy than
 * is allowed. */
#include <math.h>
#include <string.h>

#include "interp/api/report.h"
#include "interp/cli/json.h"
#include "interp/cli/session.h"
#include "interp/measure/report.h"
#include "interp/page/column.h"
#include "interp/run/model.h"

static void print_line(void *notes, const char *line)
{
    fprintf(notes, "%s\n", line);
    fflush(notes);
}

/* In single quotes, for a shell. */
static void print_quoted(FILE *f, const char *before, const char *text, const char *after)
{
    fprintf(f, " %s'", before);
    for (; *text; text++)
        fprintf(f, *text == '\'' ? "'\\''" : "%c", *text);
    fprintf(f, "%s'", after);
}

static void print_precision(FILE *f, const assay_precision_rule *rule)
{
    char after[16], elem[8];
    snprintf(after, sizeof after, "=%s", assay_elem_print(rule->elem, elem));
    if (rule->elem.kind == ASSAY_KIND_F32)
        print_quoted(f, "--keep-float ", rule->pattern, "");
    else
        print_quoted(f, "--precision ", rule->pattern, after);
}

/* What was found, as options of `assay quantize`. */
static void print_options(FILE *f, const assay_quantize_options *found,
                          const assay_quantize_options *given)
{
    fprintf(f, "options:");
    if (found->calibration.method != given->calibration.method)
        fprintf(f, " --calibration %s", calibrate_name(found->calibration.method));
    for (int i = 0; i < found->n_calibrate - given->n_calibrate; i++) {
        char after[32];
        snprintf(after, sizeof after, "=%s", calibrate_name(found->calibrate[i].how.method));
        print_quoted(f, "--calibration ", found->calibrate[i].pattern, after);
    }
    for (int i = 0; i < found->n_precision - given->n_precision; i++)
        print_precision(f, &found->precision[i]);
    fprintf(f, found->calibration.method == given->calibration.method &&
                       found->n_calibrate == given->n_calibrate &&
                       found->n_precision == given->n_precision
                   ? " those that were given\n"
                   : "\n");
}

/* The network, and its report, into *json too. */
static int save(const cli_args *a, const assay_trial *t, const assay_quantize_options *o,
                json_t **json)
{
    const char *out = cli_value(a, "output", NULL);
    FILE *f = cli_notes_of(a);
    assay_quantize_report report;
    assay_graph *q = NULL;
    assay_error err;
    assay_status status =
        quantize_network(t->floating, t->profile, t->scheme, o, &q, &report, &err);

    if (!status) {
        cli_report_print(&report, f);
        page_json_set(json, "report", assay_report_json(&report));
        if (out)
            status = run_model_save(q, out, &err);
    }
    if (!status && out)
        fprintf(f, "%s: %d node%s\n", out, q->n_nodes, page_plural(q->n_nodes));
    quantize_report_free(&report);
    assay_graph_free(q);
    return !status ? CLI_OK : cli_failed(&err);
}

static void print_end(FILE *f, const assay_tune_options *o, const assay_tune_result *r)
{
    const double before = measure_fidelity_drop(&r->before),
                 after = measure_fidelity_drop(&r->after);

    fprintf(f, "stopped after %d trial%s: %s; ", r->trials, page_plural(r->trials), r->reason);
    if (!isnan(after))
        fprintf(f, "drop %.4f points of %s (was %.4f%s", after,
                measure_fidelity_drop_name(&r->after), before, o->target_sqnr > 0 ? "), " : ", ");
    if (!isnan(after) && o->target_sqnr <= 0)
        fprintf(f, "target %.4g), ", o->target_drop);
    fprintf(f, "output %.2f dB (was %.2f", r->after.output_sqnr, r->before.output_sqnr);
    if (o->target_sqnr > 0)
        fprintf(f, ", target %.4g", o->target_sqnr);
    fprintf(f, ")\n");
}

static int tune(const cli_args *a, const assay_trial *t)
{
    FILE *notes = cli_notes_of(a);
    assay_tune_options o = {.log = print_line, .user = notes};
    assay_tune_result r;
    assay_error err;
    const char *wide = cli_value(a, "wide", NULL);
    int64_t max;
    int status = CLI_OK;

    if (!cli_number(a, "target-drop", 0.5, 0, 100, &o.target_drop) ||
        !cli_number(a, "target-sqnr", 0, 0, 1000, &o.target_sqnr) ||
        !cli_integer(a, "max-float", 4, 0, 1000000, &max))
        return CLI_TROUBLE;
    o.max_float = (int)max;
    if (wide && assay_elem_parse(wide, &o.wide, &err))
        return cli_trouble("--wide: %s", err.text);
    if (measure_tune(t, &o, &r, &err)) {
        status = cli_failed(&err);
    } else {
        print_end(notes, &o, &r);
        print_options(notes, &r.options, t->options);
        json_t *json = measure_tune_json(&r, t->options);
        status = save(a, t, &r.options, &json);
        if (status == CLI_OK && cli_has(a, "json"))
            status = cli_json_write(a, json);
        else
            json_decref(json);
        if (status == CLI_OK && !r.reached)
            status = CLI_DIFFERENT;
    }
    measure_tune_result_free(&r);
    return status;
}

static int run(const cli_args *a)
{
    const int status = cli_check_output(a);
    return status == CLI_OK ? cli_trial_run(a, true, tune) : status;
}

static const cli_option options[] = {
    CLI_MODEL_OPTIONS,
    CLI_SCHEME_OPTIONS,
    CLI_DATA_OPTIONS,
    CLI_QUANTIZE_OPTIONS,
    CLI_JUDGE_OPTIONS,
    {"target-drop", 0, "POINTS",
     "what may be lost to the float network (default: 0.5): of top-1, of mean IoU with label maps, "
     "of agreement with float without labels"},
    {"target-sqnr", 0, "DB", "reach this signal-to-noise ratio of the first output instead"},
    {"wide", 0, "TYPE",
     "reach it with nodes in this wider type, such as i16, as few as possible, before any is kept "
     "in float"},
    {"max-float", 0, "N", "keep at most N nodes in float (default: 4)"},
    {"json", 0, "FILE", "what was found as JSON (- for standard output)"},
    {"output", 'o', "FILE.assay", "the integer network in text form"},
    {NULL, 0, NULL, NULL}};

const cli_command cli_cmd_tune = {
    .name = "tune",
    .usage = "MODEL --profile PROFILE.yaml --scheme S --dataset PATH [--target-drop 0.5]",
    .summary = "pick calibrations, and nodes to widen or keep in float; say why the search stopped",
    .examples = "  assay tune net.onnx -p profile.yaml -s npu16 -d train/ --target-drop 0.5 -o "
                "net-tuned.assay\n"
                "  assay tune denoiser.onnx -p denoiser.yaml -s npu16 -d noisy/ --target-sqnr 30\n"
                "  assay tune gpt.onnx -p gpt.yaml -s tflite -d tokens.txt --wide i16 "
                "--target-drop 1\n",
    .options = options,
    .min_args = 1,
    .max_args = 1,
    .run = run,
};
