/* assay check-proof: a certificate checked, by code that shares nothing with the optimizer. */
#include <stdlib.h>

#include "graph/core/slurp.h"
#include "interp/api/report.h"
#include "interp/cli/cli.h"
#include "interp/cli/json.h"
#include "interp/cli/session.h"
#include "interp/kernel/kernel.h"
#include "interp/run/model.h"
#include "opt/check/proof.h"
#include "opt/quantize/qdq.h"

/* The network as `assay optimize` saw it. */
static int load_model(const cli_args *a, const assay_scheme *s, assay_graph **g)
{
    const char *path = cli_value(a, "model", NULL);
    assay_error err;
    int status;

    if (!path)
        return CLI_OK;
    if ((status = cli_model_load(a, path, true, g)) != CLI_OK || !run_model_is_onnx(path))
        return status;
    if (!s)
        return cli_trouble("check-proof: an ONNX model is grouped under a scheme; give --scheme");
    return !quantize_group_qdq(*g, s, run_has_integer_kernel, NULL, &err) ? CLI_OK
                                                                          : cli_failed(&err);
}

static void print(FILE *f, const char *path, const assay_proof_report *r, const char *bad,
                  bool with_model)
{
    if (bad) {
        fprintf(f, "%s: BAD: %s\n", path, bad);
        return;
    }
    fprintf(f, "%s: good: %d steps, %d proved exact", path, r->steps, r->proved);
    if (r->given)
        fprintf(f, "; of %d the interval of accumulators was taken as given%s", r->given,
                with_model ? "" : " (--model checks it)");
    fprintf(f, "\n");
}

static int check(const cli_args *a, const assay_proof_networks *networks)
{
    const char *path = a->positional[0];
    assay_proof_report r = {0};
    assay_error err;
    unsigned char *text = NULL;
    size_t length = 0;

    if (assay_slurp(path, &text, &length, &err))
        return cli_failed(&err);
    const assay_status status = check_proof((const char *)text, length, path, networks, &r, &err);
    free(text);
    if (status && status != ASSAY_ERR_INPUT)
        return cli_failed(&err);
    const char *why = status ? err.text : NULL;
    print(cli_notes_of(a), path, &r, why, networks->model != NULL);
    if (cli_has(a, "json") && cli_json_write(a, assay_proof_json(&r, why)) != CLI_OK)
        return CLI_TROUBLE;
    return status ? CLI_DIFFERENT : CLI_OK;
}

static int run(const cli_args *a)
{
    const char *result = cli_value(a, "result", NULL), *scheme = cli_value(a, "scheme", NULL);
    assay_graph *model = NULL, *after = NULL;
    assay_scheme *s = NULL;
    assay_error err;
    int status = CLI_OK;

    if (scheme && assay_scheme_open(scheme, &s, &err))
        status = cli_failed(&err);
    if (status == CLI_OK)
        status = load_model(a, s, &model);
    if (status == CLI_OK && result)
        status = cli_model_load(a, result, true, &after);
    if (status == CLI_OK)
        status = check(a, &(assay_proof_networks){model, after, s});
    assay_scheme_free(s);
    assay_graph_free(model);
    assay_graph_free(after);
    return status;
}

static const cli_option options[] = {
    CLI_MODEL_OPTIONS,
    {"model", 'm', "MODEL", "the network that was optimized, so that its weights are checked too"},
    {"result", 0, "FILE.assay", "the optimized network, to be compared with the certificate's"},
    {"scheme", 's', "NAME|FILE",
     "the scheme that optimize was given, for an ONNX model or a plugin"},
    CLI_JSON_OPTION,
    {NULL, 0, NULL, NULL}};

const cli_command cli_cmd_check_proof = {
    .name = "check-proof",
    .usage = "CERTIFICATE.json [--model MODEL] [--result FILE.assay]",
    .summary = "check an optimizer's certificate with an evaluator of its own",
    .examples = "  assay check-proof cert.json --model net-int8.assay --result net-opt.assay\n",
    .options = options,
    .min_args = 1,
    .max_args = 1,
    .run = run,
};
