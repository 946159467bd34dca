/* assay eval: top-1 and top-5 of a network, and of its float twin. */
#include <inttypes.h>
#include <string.h>

#include "interp/cli/session.h"
#include "interp/golden/contract.h"
#include "interp/golden/files.h"
#include "interp/run/model.h"

static double points(const assay_accuracy *r, int k)
{
    return r->samples ? 100.0 * (double)r->top[k - 1] / (double)r->samples : 0.0;
}

static void print_row(const char *what, const assay_accuracy *r)
{
    printf("%-28.60s top-1 %8.4f %%  top-5 %8.4f %%  (%" PRId64 " of %" PRId64 ")  outputs %s\n",
           what, points(r, 1), points(r, 5), r->top[0], r->samples, r->digest);
}

/* Evaluates one program over --dataset; `codes` as in cli_data_open_twin. */
static int evaluate(const cli_args *a, const assay_program *p, const assay_value *codes,
                    const char *what, assay_accuracy *r)
{
    cli_data d;
    assay_error err;
    int status = cli_data_open_twin(&d, a, p->graph, codes, what);

    if (status == CLI_OK && assay_evaluate(p, &d.samples, d.threads, NULL, r, &err) != ASSAY_OK) {
        cli_data_close(&d);
        status = cli_failed(&err);
    }
    cli_data_close(&d);
    if (status == CLI_OK && r->samples == 0)
        status = cli_trouble("%s: no sample has a label", cli_value(a, "dataset", ""));
    return status;
}

/* The float twin of the network whose input is `codes`. */
static int evaluate_float(const cli_args *a, const assay_graph *g, const assay_value *codes,
                          assay_accuracy *r)
{
    assay_program *p;
    assay_error err;
    int status;

    if (assay_program_make(g, NULL, false, &p, &err) != ASSAY_OK)
        return cli_failed(&err);
    status = evaluate(a, p, codes, "float", r);
    assay_program_free(p);
    return status;
}

static int write_json(const char *path, const char *name, const assay_accuracy *r,
                      const assay_accuracy *twin)
{
    json_t *o =
        json_pack("{s:s,s:I,s:f,s:f,s:s}", "scheme", name, "samples", (json_int_t)r->samples,
                  "top1", points(r, 1), "top5", points(r, 5), "outputs", r->digest);
    assay_error err;
    assay_status status;

    if (o && twin) {
        json_object_set_new(o, "float_top1", json_real(points(twin, 1)));
        json_object_set_new(o, "float_top5", json_real(points(twin, 5)));
    }
    status =
        o ? assay_json_write(path, o, &err) : assay_fail(&err, ASSAY_ERR_MEMORY, "out of memory");
    json_decref(o);
    return status == ASSAY_OK ? CLI_OK : cli_failed(&err);
}

static int compare(const cli_args *a, const cli_session *s)
{
    const assay_graph *twin = s->floating;
    const char *name = s->scheme ? s->scheme->name : "float";
    const char *json = cli_value(a, "json", NULL);
    assay_graph *loaded = NULL;
    assay_accuracy r, f;
    assay_error err;
    double drop;
    int status = CLI_OK;

    if (!cli_number(a, "max-drop", 100.0, 0.0, 100.0, &drop))
        return CLI_TROUBLE;
    if (cli_has(a, "float")) {
        if (s->graph->n_inputs < 1)
            return cli_trouble("%s: the network has no input", a->positional[0]);
        if (assay_model_load_canonical(cli_value(a, "float", ""), NULL, &loaded, &err) != ASSAY_OK)
            return cli_failed(&err);
        twin = loaded;
    }
    if (twin && s->scheme)
        status = evaluate_float(a, twin, &s->graph->value[s->graph->input[0]], &f);
    if (status == CLI_OK)
        status = evaluate(a, s->program, NULL, name, &r);
    if (status == CLI_OK) {
        if (twin && s->scheme)
            print_row("float", &f);
        print_row(name, &r);
        if (twin && s->scheme)
            printf("%-28s top-1 %+8.4f    top-5 %+8.4f    points\n", "difference",
                   points(&r, 1) - points(&f, 1), points(&r, 5) - points(&f, 5));
        assay_contract_print(s->program, stdout);
        if (json)
            status = write_json(json, name, &r, twin && s->scheme ? &f : NULL);
        if (status == CLI_OK && twin && s->scheme && points(&f, 1) - points(&r, 1) > drop)
            status = CLI_DIFFERENT;
    }
    assay_graph_free(loaded);
    return status;
}

static int run(const cli_args *a)
{
    cli_session s;
    int status = cli_session_open(&s, a, false);

    if (status == CLI_OK)
        status = compare(a, &s);
    cli_session_close(&s);
    return status;
}

static const cli_option options[] = {
    CLI_RUN_OPTIONS,
    CLI_DATA_OPTIONS,
    {"float", 0, "MODEL", "the float twin to compare with (default: the model itself, if float)"},
    {"max-drop", 0, "POINTS", "exit 1 when top-1 falls by more than this below the float twin's"},
    {"json", 0, "FILE", "the result as JSON (- for standard output)"},
    {NULL, 0, NULL, NULL}};

const cli_command cli_eval = {
    .name = "eval",
    .usage = "MODEL --dataset PATH [--scheme S [--profile PROFILE.yaml]]",
    .summary = "top-1 and top-5 over a data set, beside the float twin's",
    .examples =
        "  assay eval net.onnx --dataset test/\n"
        "  assay eval net.onnx --profile profile.yaml --scheme tflite --dataset test/\n"
        "  assay eval net-int8.assay --scheme tflite -d test/ --float net.onnx --max-drop 0.5\n"
        "  assay eval net-int8.tflite --scheme tflite -d codes.npy --labels labels.npy --float "
        "net-float.tflite\n",
    .options = options,
    .min_args = 1,
    .max_args = 1,
    .run = run,
};
