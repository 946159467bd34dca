/* assay eval: accuracy of a network, and its distance from its float twin. */
#include <stdlib.h>

#include "interp/api/shard.h"
#include "interp/cli/eval.h"
#include "interp/run/model.h"

/* Before anything runs: is there what was asked for to judge by? */
static int check(cli_evaluation *e, const cli_data *d, const assay_program *p)
{
    const char *path = cli_value(e->args, "dataset", "");
    const assay_graph *g = p->graph;
    int status;

    if (g->n_outputs < 1)
        return cli_trouble("%s: the network has no output", e->args->positional[0]);
    status = cli_data_judge(d, &g->value[g->output[0]], &e->judge, &e->labelled);
    e->by_agreement = d->samples.by_agreement;
    if (status == CLI_OK)
        status = cli_evaluation_judges(e, path, false);
    if (status == CLI_OK && e->by_agreement && !(e->twin && e->judge.places > 0))
        return cli_trouble("--by agreement: %s",
                           e->twin
                               ? "the first output has no classes; --class-axis N says which of "
                                 "its axes counts them"
                               : "there is no float twin to compare with; pass --float MODEL "
                                 "with --scheme");
    if (status != CLI_OK || e->labelled)
        return status;
    return e->twin ? CLI_OK
                   : cli_trouble("%s: no sample has a label, and there is no float twin to compare "
                                 "with; pass --labels PATH, or --float MODEL with --scheme",
                                 path);
}

/* What goes to a shard is neither printed nor judged. */
static int check_shard(const cli_args *a)
{
    static const char *const of_whole[] = {"json", "max-drop", "min-sqnr"};

    if (cli_has(a, "shard") != cli_has(a, "output"))
        return cli_trouble("eval: --shard K/N goes with -o FILE, which 'assay eval merge' reads");
    for (size_t i = 0; i < sizeof of_whole / sizeof *of_whole; i++)
        if (cli_has(a, "shard") && cli_has(a, of_whole[i]))
            return cli_trouble("eval: --%s applies to all samples; give it to 'assay eval merge'",
                               of_whole[i]);
    return CLI_OK;
}

/* The twin takes the same samples, in its own type. */
static int measure_both(const cli_evaluation *e, const assay_graph *floating, cli_data *d,
                        const assay_program *p, assay_part *part)
{
    cli_data twin = {0};
    assay_program *program = NULL;
    assay_error err;
    int status = cli_data_open_twin(&twin, e->args, floating, p->graph, "float");

    if (status == CLI_OK && assay_program_make(floating, NULL, false, &program, &err))
        status = cli_failed(&err);
    d->samples.reference = &twin.samples;
    if (status == CLI_OK &&
        measure_fidelity_part(program, p, &d->samples, d->threads, part, &err)) {
        cli_data_end(d);
        status = cli_failed(&err);
    }
    d->samples.reference = NULL;
    assay_program_free(program);
    cli_data_close(&twin);
    return status;
}

static int measure(const cli_evaluation *e, const assay_graph *twin, cli_data *d,
                   const assay_program *p, assay_part *part)
{
    assay_error err;
    const int status = twin ? measure_both(e, twin, d, p, part)
                       : !measure_evaluate_part(p, &d->samples, d->threads, NULL, part, &err)
                           ? CLI_OK
                           : cli_failed(&err);
    cli_data_end(d);
    return status;
}

static int evaluate(cli_evaluation *e, const cli_session *s, const assay_graph *twin)
{
    const cli_args *a = e->args;
    char *contract;
    cli_data d = {0};
    assay_part part = {0};
    assay_samples whole = {0};
    assay_error err;
    int status = assay_shard_contract(s->program, &contract, &err)
                     ? cli_failed(&err)
                     : cli_data_open(&d, a, s->graph, e->name);

    e->contract = contract;
    if (status == CLI_OK)
        status = check(e, &d, s->program);
    whole = d.samples;
    if (status == CLI_OK)
        status = cli_data_shard(&d, a);
    if (status == CLI_OK)
        status = measure(e, twin, &d, s->program, &part);
    if (status == CLI_OK)
        status = cli_has(a, "shard") ? cli_shard_save(e, s, twin, &d, &whole, &part)
                                     : cli_evaluation_report(e, &part);
    measure_part_free(&part);
    cli_data_close(&d);
    free(contract);
    return status;
}

static int compare(const cli_args *a, const cli_session *s)
{
    cli_evaluation e = {.name = s->scheme ? s->scheme->name : "float"};
    const assay_graph *twin = s->floating;
    assay_graph *loaded = NULL;
    assay_error err;
    int status = cli_evaluation_options(a, &e);

    if (status == CLI_OK)
        status = check_shard(a);
    if (status == CLI_OK && s->graph->n_inputs < 1)
        status = cli_trouble("%s: the network has no input", a->positional[0]);
    if (status != CLI_OK)
        return status;
    if (cli_has(a, "float")) {
        if (run_model_load_canonical(cli_value(a, "float", ""), NULL, &loaded, &err))
            return cli_failed(&err);
        twin = loaded;
    }
    e.twin = s->scheme && twin;
    status = evaluate(&e, s, e.twin ? twin : NULL);
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
    CLI_VERDICT_OPTIONS,
    {"shard", 0, "K/N", "only the K-th of N parts of the samples; 'assay eval merge' joins them"},
    {"output", 'o', "FILE", "the shard's results"},
    {NULL, 0, NULL, NULL}};

const cli_command cli_cmd_eval = {
    .name = "eval",
    .usage = "MODEL --dataset PATH [--scheme S [--profile PROFILE.yaml]]",
    .summary =
        "measure accuracy over a data set, per sample or per pixel; noise and agreement with "
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
        "  assay eval gpt.onnx -p gpt.yaml -s tflite -d tokens.txt --max-drop 1\n"
        "  assay eval gpt.onnx -p gpt.yaml -s tflite -d tokens.txt --by agreement --max-drop 1\n"
        "  assay eval net.onnx -p profile.yaml -s tflite -d test/ --shard 3/8 -o part3.json\n"
        "  assay eval two.onnx -p two.yaml -s tflite -d a=pairs/a.npy -d b=pairs/b.npy\n",
    .options = options,
    .min_args = 1,
    .max_args = 1,
    .run = run,
};
