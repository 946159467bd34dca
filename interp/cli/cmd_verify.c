/* assay verify: a bundle's files against its manifest, and against a fresh run. */
#include <inttypes.h>

#include "interp/cli/cli.h"
#include "interp/cli/session.h"
#include "interp/golden/bundle.h"

static void print_fault(void *user, const char *line)
{
    (void)user;
    printf("  %s\n", line);
}

static int run(const cli_args *a)
{
    assay_program_options engine = {0};
    int status = cli_engine_options(a, &engine);

    if (status != CLI_OK)
        return status;
    for (int i = 0; i < a->n_positional; i++) {
        assay_verify_result r;
        assay_error err;
        if (golden_bundle_verify(a->positional[i], cli_has(a, "files-only") ? NULL : &engine,
                                 print_fault, NULL, &r, &err))
            return cli_failed(&err);
        const bool bad = r.files_bad || r.replay_bad || r.entries_bad;
        if (bad)
            status = CLI_DIFFERENT;
        printf("%s: %s: %" PRId64 " tensors, %" PRId64 " bad files, %" PRId64
               " tensors that a fresh run gives otherwise",
               a->positional[i], bad ? "BAD" : "good", r.tensors, r.files_bad, r.replay_bad);
        if (r.entries_bad)
            printf(", %" PRId64 " other entries of the manifest", r.entries_bad);
        putchar('\n');
    }
    return status;
}

static const cli_option options[] = {
    CLI_ENGINE_OPTIONS,
    {"files-only", 0, NULL, "check digests of files, do not run the network again"},
    {NULL, 0, NULL, NULL}};

const cli_command cli_verify = {
    .name = "verify",
    .usage = "BUNDLE ... [--engine E] [--files-only]",
    .summary = "check a golden bundle's files, and run its network again",
    .examples = "  assay verify golden-out/tflite\n"
                "  assay verify --engine both golden-out/onnxruntime\n"
                "  assay verify --files-only device-delivery/\n",
    .options = options,
    .min_args = 1,
    .max_args = -1,
    .run = run,
};
