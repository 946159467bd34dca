/* assay eval: accuracy of a network, and its distance from its float twin. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "graph/memory.h"
#include "interp/cli/json.h"
#include "interp/cli/session.h"
#include "interp/golden/contract.h"
#include "interp/measure/report.h"
#include "interp/run/model.h"

/* What was asked for, and what came of it. */
typedef struct evaluation {
    const cli_args *args;
    FILE *notes;               /* where the text goes */
    const char *name;          /* of the scheme */
    const assay_graph *twin;   /* NULL: nothing to compare with */
    bool labelled, has_pixels; /* the samples' labels; by pixel */
    double max_drop, min_sqnr; /* infinite, where none was asked for */
    assay_fidelity result;     /* without a twin only `other` */
} evaluation;

static double points(const assay_accuracy *r, int k)
{
    return r->samples ? 100.0 * (double)r->top[k - 1] / (double)r->samples : 0.0;
}

/* What --max-drop is about. */
static double score(const assay_accuracy *r)
{
    return isnan(r->mean_iou) ? points(r, 1) : 100.0 * r->mean_iou;
}

/* ---- text ---- */

static void print_row(const evaluation *e, const char *what, const assay_accuracy *r)
{
    fprintf(e->notes, "%-28.60s ", what);
    if (e->labelled && e->has_pixels)
        fprintf(e->notes, "mean IoU %8.4f %%  pixels %8.4f %%  (%" PRId64 " of %" PRId64 ")  ",
                score(r), points(r, 1), r->top[0], r->samples);
    else if (e->labelled)
        fprintf(e->notes, "top-1 %8.4f %%  top-5 %8.4f %%  (%" PRId64 " of %" PRId64 ")  ",
                points(r, 1), points(r, 5), r->top[0], r->samples);
    fprintf(e->notes, "outputs %s\n", r->digest);
}

static void print_difference(const evaluation *e)
{
    const assay_accuracy *r = &e->result.other, *f = &e->result.reference;

    if (e->labelled && e->has_pixels)
        fprintf(e->notes, "%-28s mean IoU %+8.4f    pixels %+8.4f    points\n", "difference",
                score(r) - score(f), points(r, 1) - points(f, 1));
    else if (e->labelled)
        fprintf(e->notes, "%-28s top-1 %+8.4f    top-5 %+8.4f    points\n", "difference",
                points(r, 1) - points(f, 1), points(r, 5) - points(f, 5));
    fprintf(e->notes, "%-28s SQNR %.2f dB  MSE %.6g", "outputs against float",
            e->result.output_sqnr, e->result.output_mse);
    if (e->result.compared)
        fprintf(e->notes, "  agreement %.4f %%  (%" PRId64 " of %" PRId64 "%s)",
                100.0 * (double)e->result.agree / (double)e->result.compared, e->result.agree,
                e->result.compared, e->result.compared > e->result.samples ? " pixels" : "");
    fprintf(e->notes, "\n");
}

static int write_json(const evaluation *e)
{
    json_t *o = json_object();

    page_json_set(&o, "scheme", page_json_text(e->name));
    measure_eval_json(&o, &e->result, e->twin != NULL, e->labelled, e->has_pixels);
    return cli_json_write(e->args, o);
}

/* ---- running ---- */

/* Before anything runs: is there what was asked for to judge by? */
static int check(evaluation *e, const cli_data *d, const assay_program *p)
{
    const char *path = cli_value(e->args, "dataset", "");
    const assay_graph *g = p->graph;
    assay_judge judge;
    int status;

    if (g->n_outputs < 1)
        return cli_trouble("%s: the network has no output", e->args->positional[0]);
    status = cli_data_judge(d, &g->value[g->output[0]], &judge, &e->labelled);
    e->has_pixels = judge.maps;
    if (status != CLI_OK || e->labelled)
        return status;
    if (cli_has(e->args, "max-drop"))
        return cli_trouble(
            "%s: no sample has a label that --max-drop could count by; pass --labels "
            "PATH, or --min-sqnr DB",
            path);
    return e->twin ? CLI_OK
                   : cli_trouble("%s: no sample has a label, and there is no float twin to compare "
                                 "with; pass --labels PATH, or --float MODEL with --scheme",
                                 path);
}

static int evaluate_alone(evaluation *e, cli_data *d, const assay_program *p)
{
    assay_error err;
    e->result.samples = d->samples.count;
    return !measure_evaluate(p, &d->samples, d->threads, NULL, &e->result.other, &err)
               ? CLI_OK
               : cli_failed(&err);
}

/* The twin takes the same samples, in its own type. */
static int evaluate_both(evaluation *e, cli_data *d, const assay_program *p)
{
    cli_data twin = {0};
    assay_program *floating = NULL;
    assay_error err;
    int status = cli_data_open_twin(&twin, e->args, e->twin, p->graph, "float");

    if (status == CLI_OK && assay_program_make(e->twin, NULL, false, &floating, &err))
        status = cli_failed(&err);
    d->samples.reference = &twin.samples;
    if (status == CLI_OK && measure_fidelity_measure(floating, p, &d->samples, d->threads, NULL, 0,
                                                     NULL, NULL, &e->result, &err)) {
        cli_data_close(d); /* ends the line of progress */
        status = cli_failed(&err);
    }
    assay_program_free(floating);
    cli_data_close(&twin);
    return status;
}

static int report(const evaluation *e, const assay_program *p)
{
    const assay_fidelity *f = &e->result;
    int status = CLI_OK;

    if (e->twin)
        print_row(e, "float", &f->reference);
    print_row(e, e->name, &f->other);
    if (e->twin)
        print_difference(e);
    golden_contract_print(p, e->notes);
    if (cli_has(e->args, "json"))
        status = write_json(e);
    if (status == CLI_OK && e->twin &&
        ((e->labelled && score(&f->reference) - score(&f->other) > e->max_drop) ||
         f->output_sqnr < e->min_sqnr))
        status = CLI_DIFFERENT;
    return status;
}

static int compare(const cli_args *a, const cli_session *s)
{
    evaluation e = {.args = a,
                    .notes = cli_notes_of(a),
                    .name = s->scheme ? s->scheme->name : "float",
                    .twin = s->floating};
    assay_graph *loaded = NULL;
    cli_data d = {0};
    assay_error err;
    int status = CLI_OK;

    if (!cli_number(a, "max-drop", 100.0, 0.0, 100.0, &e.max_drop) ||
        !cli_number(a, "min-sqnr", -INFINITY, -1000, 1000, &e.min_sqnr))
        return CLI_TROUBLE;
    if (s->graph->n_inputs < 1)
        return cli_trouble("%s: the network has no input", a->positional[0]);
    if (cli_has(a, "float")) {
        if (run_model_load_canonical(cli_value(a, "float", ""), NULL, &loaded, &err))
            return cli_failed(&err);
        e.twin = loaded;
    }
    e.twin = s->scheme ? e.twin : NULL;
    if (cli_has(a, "min-sqnr") && !e.twin)
        status = cli_trouble("--min-sqnr needs a float twin to compare with; pass --float MODEL "
                             "with --scheme");
    if (status == CLI_OK)
        status = cli_data_open(&d, a, s->graph, e.name);
    if (status == CLI_OK)
        status = check(&e, &d, s->program);
    if (status == CLI_OK)
        status = e.twin ? evaluate_both(&e, &d, s->program) : evaluate_alone(&e, &d, s->program);
    cli_data_close(&d);
    if (status == CLI_OK)
        status = report(&e, s->program);
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
    CLI_JUDGE_OPTIONS,
    {"float", 0, "MODEL", "the float twin to compare with (default: the model itself, if float)"},
    {"max-drop", 0, "POINTS",
     "exit 1 when top-1 (mean IoU, with label maps) falls by more than this below the float "
     "twin's"},
    {"min-sqnr", 0, "DB",
     "exit 1 when the output's signal to noise ratio against the float twin is less"},
    {"json", 0, "FILE", "the result as JSON (- for standard output)"},
    {NULL, 0, NULL, NULL}};

const cli_command cli_eval = {
    .name = "eval",
    .usage = "MODEL --dataset PATH [--scheme S [--profile PROFILE.yaml]]",
    .summary = "measure accuracy over a data set, by sample or by pixel; noise and agreement with "
               "the float twin",
    .examples =
        "  assay eval net.onnx --dataset test/\n"
        "  assay eval net.onnx --profile profile.yaml --scheme tflite --dataset test/\n"
        "  assay eval net-int8.assay --scheme tflite -d test/ --float net.onnx --max-drop 0.5\n"
        "  assay eval net-int8.tflite --scheme tflite -d codes.npy --labels labels.npy --float "
        "net-float.tflite\n"
        "  assay eval segment.onnx -p segment.yaml -s tflite -d images/ --labels maps/ "
        "--ignore-label 255\n"
        "  assay eval denoiser.onnx -p denoiser.yaml -s tflite -d noisy/ --min-sqnr 30\n"
        "  assay eval two.onnx -p two.yaml -s tflite -d a=pairs/a.npy -d b=pairs/b.npy\n",
    .options = options,
    .min_args = 1,
    .max_args = 1,
    .run = run,
};
