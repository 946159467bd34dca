/* assay convert: a network from one form into another. */
#include <string.h>

#include "interp/cli/cli.h"
#include "interp/cli/session.h"
#include "interp/page/column.h"
#include "interp/run/model.h"

static assay_status group(const cli_args *a, const char *name, assay_graph *g, assay_error *err)
{
    assay_scheme *scheme;
    assay_status status = assay_scheme_open(name, &scheme, err);

    if (status)
        return status;
    status = cli_group(a, g, scheme, NULL, err);
    if (!status && !cli_has(a, "as-is"))
        status = cli_admits(a, g, scheme, err);
    assay_scheme_free(scheme);
    return status;
}

static bool has_end(const char *path, const char *end)
{
    const size_t n = strlen(path), m = strlen(end);
    return n > m && strcmp(path + n - m, end) == 0;
}

/* The first node of an op whose input `input` holds codes with such parameters; *others: there are
 * more. -1: none. */
static int first_with(const assay_graph *g, assay_op op, int input, int granularity, bool *others)
{
    int first = -1;
    *others = false;
    for (int i = 0; i < g->n_nodes; i++) {
        const assay_node *n = &g->node[i];
        if (n->op != op || (int)g->value[n->in[input]].type.q.granularity != granularity)
            continue;
        *others = first >= 0;
        first = first < 0 ? i : first;
    }
    return first;
}

/* What a known runtime computes otherwise, though the format can say it. */
static void warn(const assay_graph *g)
{
    static const struct {
        assay_op op;
        int input, granularity;
        const char *what;
    } known[] = {
        {ASSAY_OP_FC, 1, ASSAY_Q_AXIS,
         "has a scale for each output channel; TensorFlow Lite 2.9 and older take the first scale "
         "for all of them, newer ones and LiteRT do not"},
        {ASSAY_OP_REDUCE_SUM, 0, ASSAY_Q_TENSOR,
         "is SUM of codes; TensorFlow Lite 2.9 forms it in float32 and wraps, LiteRT's reference "
         "adds raw codes of equal scales, TFLite Micro and XNNPACK rescale the sum"},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        bool others;
        const int at = first_with(g, known[i].op, known[i].input, known[i].granularity, &others);
        if (at >= 0)
            fprintf(stderr, "assay: warning: node '%s' (%s)%s %s\n",
                    g->value[g->node[at].out[0]].name, assay_op_get(known[i].op)->name,
                    others ? " and others" : "", known[i].what);
    }
}

static int run(const cli_args *a)
{
    const char *model = a->positional[0], *out = cli_value(a, "output", NULL);
    const char *scheme = cli_value(a, "scheme", NULL);
    assay_graph *g;
    assay_error err;
    int status;

    if (!out)
        return cli_trouble(
            "convert: --output is needed; FILE.onnx becomes ONNX, FILE.tflite TFLite, "
            "FILE.assay text form");
    if (cli_check_output(a) != CLI_OK)
        return CLI_TROUBLE;
    /* TFLite has no BatchNormalization and other ops that lowering takes away */
    status = cli_model_load(a, model, has_end(out, ".tflite") && run_model_is_onnx(model), &g);
    if (status == CLI_OK && ((scheme && group(a, scheme, g, &err)) || run_model_save(g, out, &err)))
        status = cli_failed(&err);
    if (status == CLI_OK)
        fprintf(cli_notes(out), "%s: %d node%s\n", out, g->n_nodes, page_plural(g->n_nodes));
    if (status == CLI_OK && has_end(out, ".tflite"))
        warn(g);
    assay_graph_free(g);
    return status;
}

static const cli_option options[] = {
    CLI_MODEL_OPTIONS,
    {"scheme", 's', "NAME|FILE",
     "first turn a QDQ network into integer nodes, where the scheme can"},
    CLI_QDQ_OPTIONS,
    CLI_AS_IS_OPTION,
    {"output", 'o', "FILE",
     "FILE.onnx: quantized values between standard QuantizeLinear and DequantizeLinear; "
     "FILE.tflite: TFLite's operators, channels last; FILE.assay or -: text form"},
    {NULL, 0, NULL, NULL}};

const cli_command cli_cmd_convert = {
    .name = "convert",
    .usage = "MODEL [--scheme S] -o FILE",
    .summary = "write a network as QDQ ONNX, as TFLite or in text form",
    .examples = "  assay convert net-int8.assay -o net-int8.onnx\n"
                "  assay convert net-int8.assay -o net-int8.tflite\n"
                "  assay convert net-qlinear.onnx -o net-qdq.onnx\n"
                "  assay convert net-qdq.onnx --scheme onnxruntime -o net.assay\n",
    .options = options,
    .min_args = 1,
    .max_args = 1,
    .run = run,
};
