/* assay profile: what values a float network holds on real inputs. */
#include <stdlib.h>
#include <string.h>

#include "interp/cli/session.h"
#include "interp/model.h"

static int profile(const cli_args *a, const assay_graph *g, const assay_samples *samples,
                   int threads, const char *preprocessing)
{
    const char *out = cli_value(a, "output", "profile.yaml");
    assay_program *program = NULL;
    assay_profile *p = NULL;
    assay_error err;
    assay_status status = assay_program_make(g, NULL, false, &program, &err);

    if (status == ASSAY_OK)
        status = assay_profile_new(g, &p, &err);
    if (status == ASSAY_OK)
        status = assay_profile_set_preprocessing(p, preprocessing, &err);
    if (status == ASSAY_OK)
        status = assay_profile_samples_of(program, samples, threads, p, &err);
    if (status == ASSAY_OK)
        status = assay_profile_save(p, out, &err);
    if (status == ASSAY_OK)
        printf("%s: %d values over %lld samples\n", out, assay_profile_count(p),
               (long long)assay_profile_samples(p));
    assay_profile_free(p);
    assay_program_free(program);
    return status == ASSAY_OK ? CLI_OK : cli_failed(&err);
}

static int from_dataset(const cli_args *a, const assay_graph *g)
{
    cli_data d;
    int status = cli_data_open(&d, a, g, "profile");

    if (status == CLI_OK)
        status = profile(a, g, &d.samples, d.threads, d.preprocessing);
    cli_data_close(&d);
    return status;
}

static assay_status read_files(void *user, int64_t i, int k, void *input, assay_error *err)
{
    return cli_files_read(user, i, k, input, err);
}

static int from_files(const cli_args *a, const assay_graph *g)
{
    cli_files f;
    int64_t threads;
    int status = cli_files_open(&f, a, g);

    if (status == CLI_OK && !cli_integer(a, "threads", 0, 0, 4096, &threads))
        status = CLI_TROUBLE;
    if (status == CLI_OK) {
        const assay_samples samples = {.user = &f, .count = f.samples, .read = read_files};
        status = profile(a, g, &samples, (int)threads, "");
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
    if (assay_model_is_quantized(g)) {
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
     ".npy, .png or raw bytes; one for each input, again for each sample"},
    {"output", 'o', "FILE", "the profile (default: profile.yaml)"},
    {NULL, 0, NULL, NULL}};

const cli_command cli_profile = {
    .name = "profile",
    .usage = "MODEL (--dataset PATH | --input FILE ...) -o PROFILE.yaml",
    .summary = "measure the ranges of a float network's values on real inputs",
    .examples = "  assay profile net.onnx --dataset calibration/ -o profile.yaml\n"
                "  assay profile net.onnx -d train-images-idx3-ubyte --limit 500 -o profile.yaml\n"
                "  assay profile two.onnx -i a=a0.npy -i b=b0.npy -i a=a1.npy -i b=b1.npy\n",
    .options = options,
    .min_args = 1,
    .max_args = 1,
    .run = run,
};
