/* assay quantize: a float network and a profile into an integer network under a scheme. */
#include "interp/cli/session.h"
#include "interp/model.h"

static int save(const cli_args *a, const cli_session *s)
{
    const char *out = cli_value(a, "output", NULL);
    assay_error err;

    cli_report_print(&s->report, stdout);
    if (out && assay_model_save(s->graph, out, &err) != ASSAY_OK)
        return cli_failed(&err);
    if (out)
        printf("%s: %d nodes\n", out, s->graph->n_nodes);
    return cli_has(a, "strict") && s->report.n_float ? CLI_DIFFERENT : CLI_OK;
}

static int run(const cli_args *a)
{
    cli_session s;
    int status;

    if (!cli_has(a, "profile") || !cli_has(a, "scheme"))
        return cli_trouble("quantize: --profile and --scheme are needed");
    status = cli_session_load(&s, a);
    if (status == CLI_OK)
        status = save(a, &s);
    cli_session_close(&s);
    return status;
}

static const cli_option options[] = {
    CLI_MODEL_OPTIONS,
    CLI_SCHEME_OPTIONS,
    CLI_QUANTIZE_OPTIONS,
    {"output", 'o', "FILE.assay", "the integer network in text form (default: report only)"},
    {NULL, 0, NULL, NULL}};

const cli_command cli_quantize_command = {
    .name = "quantize",
    .usage = "MODEL --profile PROFILE.yaml --scheme S [-o FILE.assay]",
    .summary = "quantize a float network under a scheme; report what stays in float and why",
    .examples =
        "  assay quantize net.onnx --profile profile.yaml --scheme tflite -o net-int8.assay\n"
        "  assay quantize net.onnx -p profile.yaml -s npu16 --keep-float softmax --strict\n"
        "  assay quantize net.onnx -p profile.yaml -s tflite --calibration percentile "
        "--precision 'head*=i16'\n",
    .options = options,
    .min_args = 1,
    .max_args = 1,
    .run = run,
};
