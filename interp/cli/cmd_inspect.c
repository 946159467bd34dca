/* assay inspect: the network as a table. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "graph/files/files.h"
#include "graph/text/text.h"
#include "interp/cli/session.h"
#include "interp/page/column.h"
#include "interp/run/model.h"
#include "interp/run/program.h"

/* "i8[1,8,32,32] q(0.02,-3)", with long lists of parameters only counted. */
static void print_type(const assay_type *t, char *buf, size_t size)
{
    char elem[8];
    size_t n = (size_t)snprintf(buf, size, "%s[", assay_elem_print(t->elem, elem));

    for (int d = 0; d < t->rank && n < size; d++)
        n += (size_t)snprintf(buf + n, size - n, "%s%" PRId64, d ? "," : "", t->dim[d]);
    if (n < size)
        n += (size_t)snprintf(buf + n, size - n, "]");
    if (t->q.granularity == ASSAY_Q_TENSOR && n < size)
        snprintf(buf + n, size - n, " q(%.6g,%d)", (double)t->q.scale[0], t->q.zero_point[0]);
    else if (t->q.granularity != ASSAY_Q_NONE && n < size)
        snprintf(buf + n, size - n, " q(%zu scales, axis %d)", t->q.count, t->q.axis);
}

/* Elements of the constants among a node's inputs. */
static int64_t constants_of(const assay_graph *g, const assay_node *n)
{
    int64_t count = 0;
    for (int i = 0; i < n->n_in; i++)
        if (n->in[i] >= 0 && g->value[n->in[i]].data)
            count += assay_shape_count(&g->value[n->in[i]].type);
    return count;
}

static void print_nodes(const assay_graph *g)
{
    int width = 28;

    for (int i = 0; i < g->n_nodes; i++)
        width = page_column_widen(width, g->node[i].name);
    printf("%4s  %-18s %-*s %-44s %12s %10s\n", "#", "op", width, "name", "output", "MACs",
           "params");
    for (int i = 0; i < g->n_nodes; i++) {
        const assay_node *n = &g->node[i];
        char type[160] = "";
        if (n->n_out > 0 && n->out[0] >= 0)
            print_type(&g->value[n->out[0]].type, type, sizeof type);
        printf("%4d  %-18s ", i, assay_op_get(n->op)->name);
        page_column_put(stdout, 25, width, n->name);
        printf(" %-44s %12" PRId64 " %10" PRId64 "\n", type, assay_node_macs(g, n),
               constants_of(g, n));
    }
}

/* How many values have which type of elements. */
static void print_type_counts(const assay_graph *g)
{
    enum { MAX = 80 }; /* integers of 1 to 32 bits with and without sign, and a few others */
    struct {
        assay_elem elem;
        int count;
    } seen[MAX];
    int n = 0;

    for (int v = 0; v < g->n_values; v++) {
        int k = 0;
        while (k < n && !assay_elem_equal(seen[k].elem, g->value[v].type.elem))
            k++;
        if (k == n && n < MAX) {
            seen[n].elem = g->value[v].type.elem;
            seen[n++].count = 0;
        }
        if (k < n)
            seen[k].count++;
    }
    printf("types:");
    for (int k = 0; k < n; k++) {
        char name[8];
        printf(" %s %d", assay_elem_print(seen[k].elem, name), seen[k].count);
    }
    printf("\n");
}

static void print_counts(const assay_graph *g)
{
    int ops[ASSAY_OP_COUNT] = {0};
    int quantized = 0;
    int64_t macs = 0, integer_macs = 0, bytes = 0;

    for (int i = 0; i < g->n_nodes; i++) {
        const bool q = assay_node_is_quantized(g, &g->node[i]);
        ops[g->node[i].op]++;
        quantized += q;
        macs += assay_node_macs(g, &g->node[i]);
        integer_macs += q ? assay_node_macs(g, &g->node[i]) : 0;
    }
    for (int v = 0; v < g->n_values; v++)
        if (g->value[v].data)
            bytes += assay_shape_count(&g->value[v].type) *
                     (int64_t)assay_elem_size(g->value[v].type.elem);
    printf("\n%d node%s (%d in integers), %" PRId64 " MACs (%.1f %% in integers), %" PRId64
           " bytes of constants\nops:",
           g->n_nodes, page_plural(g->n_nodes), quantized, macs,
           macs ? 100.0 * (double)integer_macs / (double)macs : 0.0, bytes);
    for (int op = 0; op < ASSAY_OP_COUNT; op++)
        if (ops[op])
            printf(" %s %d", assay_op_get((assay_op)op)->name, ops[op]);
    printf("\n");
    print_type_counts(g);
}

static void print_ends(const assay_graph *g)
{
    char type[160];

    for (int i = 0; i < g->n_inputs; i++) {
        print_type(&g->value[g->input[i]].type, type, sizeof type);
        printf("input   %-28s %s\n", g->value[g->input[i]].name, type);
    }
    for (int i = 0; i < g->n_outputs; i++) {
        print_type(&g->value[g->output[i]].type, type, sizeof type);
        printf("output  %-28s %s\n", g->value[g->output[i]].name, type);
    }
}

static assay_status print_text(const assay_graph *g, assay_error *err)
{
    assay_buf text = {0};
    assay_status status = text_graph_print(g, NULL, &text, err);

    if (!status)
        fwrite(text.text, 1, text.length, stdout);
    assay_buf_free(&text);
    return status;
}

static assay_status write_json(const assay_graph *g, const char *path, assay_error *err)
{
    char *json;
    assay_status status = assay_graph_json(g, &json, err);

    if (!status) {
        const size_t size = strlen(json);
        json[size] = '\n';
        status = file_write_file(path, json, size + 1, err);
    }
    free(json);
    return status;
}

static assay_status print_plan(const assay_graph *g, bool drawn, assay_error *err)
{
    assay_plan *plan = NULL;
    assay_status status = run_plan_make(g, false, &plan, err);

    if (!status && drawn)
        page_plan_draw(stdout, g, plan);
    else if (!status)
        run_plan_print(stdout, g, plan);
    run_plan_free(plan);
    return status;
}

/* A QDQ network is floats between conversions until a scheme says what is computed on codes. */
static bool waits_for_scheme(const assay_graph *g)
{
    bool converts = false, computes = false;
    for (int i = 0; i < g->n_nodes; i++) {
        const assay_node *n = &g->node[i];
        const bool conversion = n->op == ASSAY_OP_QUANTIZE || n->op == ASSAY_OP_DEQUANTIZE;
        converts = converts || conversion;
        computes = computes || (!conversion && assay_node_is_quantized(g, n));
    }
    return converts && !computes;
}

/* A line of the table of a TFLite model that cannot be imported. */
static void print_operator(void *to, const assay_tflite_row *row)
{
    char type[160] = "", place[32];

    if (row->subgraph)
        snprintf(place, sizeof place, "%d:%d", row->subgraph, row->index);
    else
        snprintf(place, sizeof place, "%d", row->index);
    if (row->type && row->type->elem.kind != ASSAY_KIND_NONE)
        print_type(row->type, type, sizeof type);
    assay_buf_printf(to, "%6s  %-22s %-28s %-44s %s%s\n", place, row->kind, row->output, type,
                     row->why ? "not supported: " : "", row->why ? row->why : "");
}

/* All operators of a TFLite model that has some that are not supported, and which those are. */
static void print_unsupported(const char *path)
{
    assay_buf table = {0};
    const assay_tflite_options options = {.seen = print_operator, .to = &table};
    assay_graph *g = NULL;
    assay_error err;

    if (tfl_import_file_with(path, &options, &g, &err) == ASSAY_ERR_UNSUPPORTED &&
        !assay_buf_status(&table, &err) && table.length > 0)
        printf("%6s  %-22s %-28s %s\n%s", "#", "operator", "output", "type", table.text);
    assay_buf_free(&table);
    assay_graph_free(g);
}

static const char *const forms[] = {"text", "json", "plan", "plan-svg"}; /* beside the table */
enum { N_FORMS = sizeof forms / sizeof *forms };

static int count_forms(const cli_args *a)
{
    int n = 0;
    for (int i = 0; i < N_FORMS; i++)
        n += cli_has(a, forms[i]);
    return n;
}

static assay_status show(const cli_args *a, const assay_graph *g, assay_error *err)
{
    if (cli_has(a, "text"))
        return print_text(g, err);
    if (cli_has(a, "json"))
        return write_json(g, cli_value(a, "json", "-"), err);
    if (cli_has(a, "plan") || cli_has(a, "plan-svg"))
        return print_plan(g, cli_has(a, "plan-svg"), err);
    printf("%s: %s\n", a->positional[0], g->name);
    if (g->model_digest[0])
        printf("model digest %s\n", g->model_digest);
    if (g->quantized_for)
        printf("quantized for %s\n", g->quantized_for);
    print_ends(g);
    print_nodes(g);
    print_counts(g);
    if (!cli_has(a, "scheme") && waits_for_scheme(g))
        printf("a QDQ network, as it is written: --scheme NAME shows what becomes integer, and "
               "what stays "
               "in float and why\n");
    return ASSAY_OK;
}

/* Under a scheme: what it makes of the network's conversions. */
static assay_status group(const cli_args *a, assay_graph *g, assay_quantize_report *report,
                          assay_error *err)
{
    assay_scheme *scheme;
    assay_status status = assay_scheme_open(cli_value(a, "scheme", NULL), &scheme, err);

    if (status)
        return status;
    status = cli_group(a, g, scheme, report, err);
    assay_scheme_free(scheme);
    return status;
}

static int run(const cli_args *a)
{
    const bool grouped = cli_has(a, "scheme");
    assay_quantize_report report = {0};
    assay_graph *g = NULL;
    assay_error err;
    int status;

    if (count_forms(a) > 1)
        return cli_trouble("inspect: one of --text, --json, --plan and --plan-svg at a time");
    status = cli_model_load(a, a->positional[0], cli_has(a, "canonical"), &g);

    if (status == CLI_OK && ((grouped && group(a, g, &report, &err)) || show(a, g, &err)))
        status = cli_failed(&err);
    if (status == CLI_OK && report.n_integer && !count_forms(a))
        cli_report_print(&report, stdout);
    if (!g && !count_forms(a))
        print_unsupported(a->positional[0]);
    quantize_report_free(&report);
    assay_graph_free(g);
    return status;
}

static const cli_option options[] = {
    CLI_MODEL_OPTIONS,
    {"canonical", 'c', NULL, "after constant folding and BatchNorm folding, as profiled"},
    {"scheme", 's', "NAME|FILE",
     "what a quantized ONNX network becomes under it, what stays in float and why"},
    CLI_QDQ_OPTIONS,
    {"text", 't', NULL, "the network in text form instead of the table"},
    {"json", 0, "FILE", "the network as JSON instead of the table (- for standard output)"},
    {"plan", 0, NULL, "the memory plan instead of the table"},
    {"plan-svg", 0, NULL, "the memory plan as a drawing"},
    {NULL, 0, NULL, NULL}};

const cli_command cli_cmd_inspect = {
    .name = "inspect",
    .usage = "MODEL [--canonical] [--scheme NAME] [--text | --json FILE | --plan | --plan-svg]",
    .summary = "show a network: nodes, types, shapes, MACs",
    .examples = "  assay inspect net.onnx\n"
                "  assay inspect net.onnx --canonical --text\n"
                "  assay inspect net.onnx --json -\n"
                "  assay inspect net.onnx --shape image=1x1x64x64\n"
                "  assay inspect net-qdq.onnx --scheme onnxruntime\n"
                "  assay inspect net-qdq.onnx --scheme pow2 --adapt\n"
                "  assay inspect net-int8.assay --plan\n"
                "  assay inspect net-int8.assay --plan-svg > plan.svg\n",
    .options = options,
    .min_args = 1,
    .max_args = 1,
    .run = run,
};
