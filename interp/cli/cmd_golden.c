/* assay golden: every tensor of every layer, hashed and dumped. */
#include <stdlib.h>
#include <string.h>

#include "interp/cli/session.h"
#include "interp/golden/bundle.h"
#include "interp/golden/contract.h"
#include "interp/page/column.h"
#include "interp/run/model.h"

static bool parse_forms(const char *text, unsigned *forms)
{
    *forms = 0;
    while (*text) {
        const size_t n = strcspn(text, ",");
        const unsigned form = golden_dump_find(text, n);
        if (!form) {
            cli_trouble("golden: --format takes a list of " ASSAY_DUMP_NAMES "not '%.*s'", (int)n,
                        text);
            return false;
        }
        *forms |= form;
        text += n + (text[n] == ',');
    }
    return true;
}

/* Where samples come from: files or a data set. `sequence`: the state goes on between them. */
typedef struct origin {
    cli_files *files;
    cli_data *data;
    bool sequence;
} origin;

/* Samples of --input files. */
static int from_files(const origin *from, const assay_program *p, assay_bundle_writer *w,
                      assay_run *run)
{
    const char **sources = calloc((size_t)p->graph->n_inputs + 1, sizeof *sources);
    assay_error err;
    int status = sources ? CLI_OK : cli_out_of_memory();

    for (int64_t k = 0; k < from->files->samples && status == CLI_OK; k++)
        if (cli_inputs_read(from->files, k, run, sources, &err) ||
            golden_bundle_sample(w, run, k, sources, &err))
            status = cli_failed(&err);
    free(sources);
    return status;
}

#define NAME 512

/* Sample i into every input. */
static assay_status read_sample(cli_data *d, int64_t i, assay_run *run, char (*name)[NAME],
                                const char **sources, assay_error *err)
{
    assay_status status = ASSAY_OK;

    for (int k = 0; k < d->graph->n_inputs && !status; k++) {
        if (d->source[k].dataset)
            sources[k] = dataset_sample_name(d->source[k].dataset, i, name[k], sizeof name[k]);
        status = d->samples.read(d, i, k, assay_run_data(run, d->graph->input[k]), err);
    }
    return status;
}

/* Samples of --dataset, one after another. */
static int from_dataset(const origin *from, assay_bundle_writer *w, assay_run *run)
{
    cli_data *d = from->data;
    const size_t n = (size_t)d->graph->n_inputs;
    char(*name)[NAME] = calloc(n, sizeof *name);
    const char **sources = calloc(n, sizeof *sources);
    int status = name && sources ? CLI_OK : cli_out_of_memory();
    assay_error err;

    for (int64_t k = 0; k < d->samples.count && status == CLI_OK; k++) {
        const int64_t i = d->samples.first + k;
        if (!from->sequence)
            assay_run_reset(run);
        if (read_sample(d, i, run, name, sources, &err) ||
            golden_bundle_sample(w, run, i, sources, &err))
            status = cli_failed(&err);
        else
            cli_progress_step(&d->progress);
    }
    free(sources);
    free(name);
    return status;
}

static int write_bundle(const assay_program *p, assay_bundle_options *o, const origin *from)
{
    assay_bundle_writer *w = NULL;
    assay_run *run = NULL;
    assay_error err;
    char digest[33];
    int status;

    if (assay_run_new(p, &run, &err))
        return cli_failed(&err);
    if (golden_bundle_begin(o, p, &w, &err)) {
        assay_run_free(run);
        return cli_failed(&err);
    }
    status = from->data ? from_dataset(from, w, run) : from_files(from, p, w, run);
    assay_run_free(run);
    if (status != CLI_OK) {
        golden_bundle_abort(w);
        return status;
    }
    if (golden_bundle_commit(w, digest, &err))
        return cli_failed(&err);
    printf("%s: %lld %s%s, digest %s\n", o->dir, (long long)o->samples,
           o->sequence ? "step" : "sample", page_plural(o->samples), digest);
    golden_contract_print(p, stdout);
    return CLI_OK;
}

static int golden(const cli_args *a, const assay_program *p)
{
    int64_t hex_bits;
    assay_bundle_options o = {.dir = cli_value(a, "output", NULL),
                              .replace = cli_has(a, "force"),
                              .digests_only = cli_has(a, "digests-only"),
                              .accumulators = cli_has(a, "accumulators"),
                              .model_file = a->positional[0],
                              .samples = 1};
    cli_files f;
    cli_data d;
    origin from = {NULL, NULL, run_model_has_state(p->graph)};
    int status;

    if (!o.dir)
        return cli_trouble("golden: -o DIR is needed");
    if (!parse_forms(cli_value(a, "format", "npy"), &o.forms) ||
        !cli_integer(a, "hex-bits", 0, 1, 1024, &hex_bits))
        return CLI_TROUBLE;
    if (cli_has(a, "hex-bits") && !(o.forms & ASSAY_DUMP_HEX))
        return cli_trouble("golden: --hex-bits applies to --format hex, which is not asked for");
    if (cli_has(a, "format") && o.digests_only)
        return cli_trouble("golden: --format applies to tensors, and --digests-only writes none");
    o.hex_bits = (unsigned)hex_bits;
    if (cli_has(a, "input") == cli_has(a, "dataset"))
        return cli_trouble("golden: give either --input FILE ... or --dataset PATH");
    if (cli_has(a, "input")) {
        status = cli_inputs_open(&f, a, p->graph);
        from.files = &f;
        o.samples = f.samples;
        o.sequence = from.sequence && o.samples > 1;
        if (status == CLI_OK)
            status = write_bundle(p, &o, &from);
        cli_files_close(&f);
        return status;
    }
    status = cli_data_open(&d, a, p->graph, "golden");
    if (status == CLI_OK) {
        from.data = &d;
        from.sequence = d.samples.sequence;
        o.samples = d.samples.count;
        o.sequence = from.sequence && o.samples > 1;
        o.preprocessing = d.preprocessing;
        status = write_bundle(p, &o, &from);
    }
    cli_data_close(&d);
    return status;
}

static int run(const cli_args *a)
{
    cli_session s;
    int status = cli_session_open(&s, a, true);

    if (status == CLI_OK)
        status = golden(a, s.program);
    cli_session_close(&s);
    return status;
}

static const cli_option options[] = {
    CLI_RUN_OPTIONS,
    CLI_INPUT_OPTION,
    CLI_DATA_OPTIONS,
    {"output", 'o', "DIR", "the bundle; must not exist yet"},
    {"force", 'f', NULL, "replace a golden bundle (nothing else)"},
    {"digests-only", 0, NULL, "hashes only, no tensors"},
    {"accumulators", 0, NULL, "also the sums before each rescale"},
    {"format", 0, "LIST",
     "of " ASSAY_DUMP_NAMES
     "for tensors, constants and parameters; npy is always written, hex is for $readmemh"},
    {"hex-bits", 0, "N",
     "width in bits of a $readmemh word (default: one element); an element may span several words"},
    {NULL, 0, NULL, NULL}};

const cli_command cli_cmd_golden = {
    .name = "golden",
    .usage = "MODEL --scheme S (--input FILE ... | --dataset PATH) -o DIR",
    .summary = "run a network and write a golden bundle: every tensor, hashed and dumped",
    .examples =
        "  assay golden net-int8.assay --scheme tflite --input cat.png -o golden-cat\n"
        "  assay golden net.onnx --profile profile.yaml --scheme npu16 -d test/ --limit 8 "
        "-o golden-8\n"
        "  assay golden net-int8.assay -s ./my-npu.yaml -i image=x.npy --accumulators "
        "--format npy,hex --hex-bits 128 -o tb\n"
        "  assay golden streaming.tflite -s tflite -i t0.npy -i t1.npy -i t2.npy -o steps\n",
    .options = options,
    .min_args = 1,
    .max_args = 1,
    .run = run,
};
