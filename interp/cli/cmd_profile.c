/* assay profile: the values that a float network holds on real inputs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "interp/cli/session.h"
#include "interp/run/model.h"

/* What the samples are and which of them this run takes. */
typedef struct task {
    assay_samples samples; /* all, then this shard's */
    const char *preprocessing, *dataset;
    int threads;
    cli_progress *progress; /* of the samples; or NULL */
} task;

static assay_status describe(const cli_args *a, const assay_graph *g, const task *t,
                             assay_profile *p, assay_error *err)
{
    const assay_profile_range whole = {(uint64_t)t->samples.first,
                                       (uint64_t)(t->samples.first + t->samples.count)};
    assay_status status = profile_set_preprocessing(p, t->preprocessing, err);

    if (!status)
        status = profile_set_dataset(p, t->dataset, err);
    if (!status)
        status = profile_set_whole(p, whole, err);
    if (!status && (cli_has(a, "per-channel") || cli_has(a, "per-channel-of")))
        status = profile_by_channel(p, g, cli_value(a, "per-channel-of", "*"), err);
    return status;
}

static int profile(const cli_args *a, const assay_graph *g, task *t)
{
    const char *out = cli_value(a, "output", "profile.yaml");
    assay_program *program = NULL;
    assay_profile *p = NULL;
    assay_error err;
    assay_status status = profile_new(g, &p, &err);
    int shard = CLI_OK;

    if (!status)
        status = describe(a, g, t, p, &err);
    if (!status)
        shard = cli_take_shard(a, &t->samples);
    if (t->progress)
        t->progress->total = t->samples.count;
    if (!status && shard == CLI_OK)
        status = assay_program_make(g, NULL, false, &program, &err);
    if (!status && shard == CLI_OK)
        status = measure_profile_samples_of(program, &t->samples, t->threads, p, &err);
    if (!status && shard == CLI_OK)
        status = profile_save(p, out, &err);
    if (!status && shard == CLI_OK)
        shard = cli_profile_report(a, out, p);
    profile_free(p);
    assay_program_free(program);
    return !status ? shard : cli_failed(&err);
}

static int from_dataset(const cli_args *a, const assay_graph *g)
{
    cli_data d;
    char *name = NULL;
    int status = cli_data_open(&d, a, g, "profile");

    if (status == CLI_OK && !(name = cli_data_names(&d)))
        status = cli_out_of_memory();
    if (status == CLI_OK) {
        task t = {d.samples, d.preprocessing, name, d.threads, &d.progress};
        status = profile(a, g, &t);
    }
    cli_data_close(&d);
    free(name);
    return status;
}

static assay_status read_files(void *user, int64_t i, int k, void *input, assay_error *err)
{
    return cli_files_read(user, i, k, input, err);
}

static const char *name_files(void *user, int64_t i, char *buf, size_t size)
{
    snprintf(buf, size, "%s", cli_files_name(user, i, 0));
    return buf;
}

static int from_files(const cli_args *a, const assay_graph *g)
{
    cli_files f;
    int64_t threads;
    int status = cli_files_open(&f, a, g);

    if (status == CLI_OK && !cli_integer(a, "threads", 0, 0, 4096, &threads))
        status = CLI_TROUBLE;
    if (status == CLI_OK) {
        const assay_samples samples = {.user = &f,
                                       .count = f.samples,
                                       .sequence = run_model_has_state(g),
                                       .read = read_files,
                                       .name = name_files};
        task t = {samples, "", "", (int)threads, NULL};
        status = profile(a, g, &t);
    }
    cli_files_close(&f);
    return status;
}

static int run(const cli_args *a)
{
    assay_graph *g;
    int status;

    if (cli_model_load(a, a->positional[0], true, &g) != CLI_OK)
        return CLI_TROUBLE;
    assay_error err;
    if (run_model_decode(&g, NULL, true, &err))
        return cli_failed(&err);
    if (run_model_is_quantized(g)) {
        status = cli_trouble("%s: the network is quantized already; profiles are of float networks",
                             a->positional[0]);
    } else if (cli_has(a, "input") == cli_has(a, "dataset")) {
        status = cli_trouble("profile: give either --dataset PATH or --input FILE ...");
    } else {
        status = cli_has(a, "input") ? from_files(a, g) : from_dataset(a, g);
    }
    assay_graph_free(g);
    return status;
}

static const cli_option options[] = {
    CLI_MODEL_OPTIONS,
    CLI_DATA_OPTIONS,
    {"input", 'i', "[NAME=]FILE",
     ".npy, .png or raw bytes; one for each input, repeated for each sample, or each step of a "
     "network with "
     "state"},
    {"shard", 0, "K/N",
     "only the K-th of N parts of the samples; 'assay profile merge' joins them"},
    {"per-channel", 0, NULL, "also a histogram of each channel, 56 KiB each"},
    {"per-channel-of", 0, "PATTERN", "the same for values whose name matches only"},
    {"json", 0, "FILE", "how much was seen, as JSON (- for standard output)"},
    {"output", 'o', "FILE", "the profile (default: profile.yaml)"},
    {NULL, 0, NULL, NULL}};

const cli_command cli_cmd_profile = {
    .name = "profile",
    .usage = "MODEL (--dataset PATH | --input FILE ...) [--shard K/N] -o PROFILE.yaml",
    .summary = "measure the ranges of a float network's values on real inputs",
    .examples =
        "  assay profile net.onnx --dataset calibration/ -o profile.yaml\n"
        "  assay profile net.onnx -d train-images-idx3-ubyte --limit 500 -o mnist.yaml\n"
        "  assay profile net.onnx -d calibration/ --shard 3/16 -o shard3.yaml\n"
        "  assay profile two.onnx -i a=a0.npy -i b=b0.npy -i a=a1.npy -i b=b1.npy -o two.yaml\n",
    .options = options,
    .min_args = 1,
    .max_args = 1,
    .run = run,
};
