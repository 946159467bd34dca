/* assay quantize: a float network made an integer network, by a profile and a scheme. */
#include <string.h>

#include "interp/api/report.h"
#include "interp/cli/json.h"
#include "interp/cli/session.h"
#include "interp/page/column.h"
#include "interp/run/model.h"
#include "opt/quantize/packed.h"

/* What was chosen for every activation, and why. */
static void print_ranges(const assay_quantize_report *r, FILE *f)
{
    char elem[8];
    int width = 36;

    for (int i = 0; i < r->n_choices; i++)
        width = page_column_widen(width, r->choice[i].value);
    fprintf(f, "%-*s %-10s %12s %12s %12s %12s %9s  %-4s %12s %6s\n", width, "value", "method",
            "seen min", "seen max", "min", "max", "beyond %", "type", "scale", "zp");
    for (int i = 0; i < r->n_choices; i++) {
        const assay_value_choice *c = &r->choice[i];
        page_column_put(f, 0, width, c->value);
        fprintf(f, " %-10s %12.6g %12.6g %12.6g %12.6g %9.3g  %-4s %12.6g %6d%s%s\n",
                c->fixed ? "fixed" : calibrate_name(c->range.used), c->seen_min, c->seen_max,
                c->range.min, c->range.max, 100 * c->range.clipped, assay_elem_print(c->elem, elem),
                (double)c->scale, c->zero_point, c->range.note ? "  " : "",
                c->range.note ? c->range.note : "");
    }
}

static int save(const cli_args *a, const cli_session *s)
{
    const char *out = cli_value(a, "output", NULL);
    FILE *notes = cli_notes_of(a);
    assay_error err;

    cli_report_print(&s->report, notes);
    if (cli_has(a, "smooth") && s->report.smoothing.n == 0)
        fputs("  smoothed: nothing: no value that layers alone read has constants by channel "
              "before it\n",
              notes);
    if (cli_has(a, "ranges"))
        print_ranges(&s->report, notes);
    if (out && run_model_save(s->graph, out, &err))
        return cli_failed(&err);
    if (out)
        fprintf(notes, "%s: %d node%s\n", out, s->graph->n_nodes, page_plural(s->graph->n_nodes));
    if (cli_has(a, "json") && cli_json_write(a, assay_report_json(&s->report)) != CLI_OK)
        return CLI_TROUBLE;
    return cli_has(a, "strict") && s->report.n_float ? CLI_DIFFERENT : CLI_OK;
}

/* A float network with its weights in blocks. */
static int pack(const cli_args *a, cli_session *s)
{
    const char *format = cli_value(a, "weights", NULL), *out = cli_value(a, "output", NULL);
    const assay_quantize_report *r = &s->report;
    FILE *notes = cli_notes_of(a);
    assay_graph *packed;
    assay_error err;

    if (run_model_is_quantized(s->graph))
        return cli_trouble("%s: --weights is for networks whose weights are floats",
                           a->positional[0]);
    if (quantize_pack_weights(s->graph, format, &packed, &s->report, &err))
        return cli_failed(&err);
    s->floating = s->graph;
    s->graph = packed;
    fprintf(notes, "weights in %s: %d; nodes whose weights stay: %d\n", format, r->n_integer,
            r->n_float);
    for (int i = 0; i < r->n_float; i++)
        fprintf(notes, "  float: %-28s %-16s %s\n", r->float_node[i].node, r->float_node[i].op,
                r->float_node[i].reason);
    if (out && run_model_save(s->graph, out, &err))
        return cli_failed(&err);
    if (out)
        fprintf(notes, "%s: %d node%s\n", out, s->graph->n_nodes, page_plural(s->graph->n_nodes));
    if (cli_has(a, "json") && cli_json_write(a, assay_report_json(r)) != CLI_OK)
        return CLI_TROUBLE;
    return cli_has(a, "strict") && r->n_float ? CLI_DIFFERENT : CLI_OK;
}

static int run(const cli_args *a)
{
    static const char *const others[] = {"scheme", "profile", "ranges", "target"};
    const bool packs = cli_has(a, "weights");
    cli_session s;
    int status;

    for (size_t i = 0; packs && i < sizeof others / sizeof *others; i++)
        if (cli_has(a, others[i]))
            return cli_trouble("quantize: --weights makes a network in float; --%s is for the next "
                               "step",
                               others[i]);
    if (cli_has(a, "dataset") && strcmp(cli_value(a, "calibrate-weights", ""), "gptq") != 0)
        return cli_trouble("quantize: --dataset is for --calibrate-weights gptq; a profile has the "
                           "rest");
    if (!packs && !cli_has(a, "scheme"))
        return cli_trouble("quantize: --profile and --scheme are needed, or --weights");
    if (cli_check_output(a) != CLI_OK)
        return CLI_TROUBLE;
    status = cli_session_load(&s, a);
    if (status == CLI_OK)
        status = packs ? pack(a, &s) : save(a, &s);
    cli_session_close(&s);
    return status;
}

static const cli_option options[] = {
    CLI_MODEL_OPTIONS,
    CLI_SCHEME_OPTIONS,
    CLI_QUANTIZE_OPTIONS,
    CLI_DATA_OPTIONS,
    {"weights", 0, "FORMAT",
     "in place of a scheme: a float network with its weights in blocks of q4_0, q8_0, q4_K or "
     "q6_K"},
    {"ranges", 0, NULL, "show the method, range, scale and zero point of every activation"},
    {"json", 0, "FILE", "the report and the ranges as JSON (- for standard output)"},
    {"output", 'o', "FILE.assay", "the integer network in text form (default: report only)"},
    {NULL, 0, NULL, NULL}};

const cli_command cli_cmd_quantize = {
    .name = "quantize",
    .usage = "MODEL --profile PROFILE.yaml --scheme S [-o FILE.assay]",
    .summary = "quantize a float network under a scheme; report what stays in float and why",
    .examples =
        "  assay quantize net.onnx --profile profile.yaml --scheme tflite -o net-int8.assay\n"
        "  assay quantize net.onnx -p profile.yaml -s npu16 --keep-float '/fc*' --strict\n"
        "  assay quantize net.onnx -p profile.yaml -s tflite --target device.yaml --ranges\n"
        "  assay quantize net.onnx -p profile.yaml -s ./w4.yaml --calibrate-weights gptq -d "
        "calibration/\n"
        "  assay quantize net.onnx --weights q4_0 -o net-q4.assay\n"
        "  assay quantize net.onnx -p profile.yaml -s tflite --calibration percentile "
        "--precision '/fc*=i16'\n",
    .options = options,
    .min_args = 1,
    .max_args = 1,
    .run = run,
};
