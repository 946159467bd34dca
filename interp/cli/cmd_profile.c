/* assay profile: what values a float network holds on real inputs. */
#include <stdlib.h>
#include <string.h>

#include "interp/cli/session.h"
#include "interp/model.h"

static int profile(const cli_args *a, const assay_graph *g, cli_data *d)
{
    const char *out = cli_value(a, "output", "profile.yaml");
    assay_program *program = NULL;
    assay_profile *p = NULL;
    assay_error err;
    assay_status status = assay_program_make(g, NULL, true, &program, &err);

    if (status == ASSAY_OK)
        status = assay_profile_new(g, &p, &err);
    if (status == ASSAY_OK)
        status = assay_profile_set_preprocessing(p, d->preprocessing, &err);
    if (status == ASSAY_OK)
        status = assay_profile_samples_of(program, &d->samples, d->threads, p, &err);
    if (status == ASSAY_OK)
        status = assay_profile_save(p, out, &err);
    cli_data_close(d);
    if (status == ASSAY_OK)
        printf("%s: %d values over %lld samples\n", out, assay_profile_count(p),
               (long long)assay_profile_samples(p));
    assay_profile_free(p);
    assay_program_free(program);
    return status == ASSAY_OK ? CLI_OK : cli_failed(&err);
}

static int run(const cli_args *a)
{
    assay_graph *g;
    cli_data d;
    assay_error err;
    int status;

    if (assay_model_load_canonical(a->positional[0], NULL, &g, &err) != ASSAY_OK)
        return cli_failed(&err);
    if (assay_model_is_quantized(g)) {
        status = cli_trouble("%s: the network is quantized already; profiles are of float networks",
                             a->positional[0]);
    } else {
        status = cli_data_open(&d, a, g, "profile");
        if (status == CLI_OK)
            status = profile(a, g, &d);
        cli_data_close(&d);
    }
    assay_graph_free(g);
    return status;
}

static const cli_option options[] = {CLI_DATA_OPTIONS,
                                     {"output", 'o', "FILE", "the profile (default: profile.yaml)"},
                                     {NULL, 0, NULL, NULL}};

const cli_command cli_profile = {
    .name = "profile",
    .usage = "MODEL --dataset PATH -o PROFILE.yaml",
    .summary = "measure the ranges of a float network's values on real inputs",
    .examples = "  assay profile net.onnx --dataset calibration/ -o profile.yaml\n"
                "  assay profile net.onnx -d train-images-idx3-ubyte --limit 500 -o profile.yaml\n",
    .options = options,
    .min_args = 1,
    .max_args = 1,
    .run = run,
};
