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
    int64_t after, end; /* samples that are run only, and all of them */
} origin;

#define NAME 512

/* Sample k into every input; its number. */
static assay_status take(const origin *from, int64_t k, assay_run *run, char (*name)[NAME],
                         const char **sources, int64_t *number, assay_error *err)
{
    cli_data *d = from->data;
    assay_status status = ASSAY_OK;

    *number = d ? d->samples.first + k : k;
    if (!d)
        return cli_inputs_read(from->files, k, run, sources, err);
    if (!from->sequence)
        assay_run_reset(run);
    for (int i = 0; i < d->graph->n_inputs && !status; i++) {
        if (d->source[i].dataset)
            sources[i] =
                dataset_sample_name(d->source[i].dataset, *number, name[i], sizeof name[i]);
        status = d->samples.read(d, *number, i, assay_run_data(run, d->graph->input[i]), err);
    }
    return status;
}

/* Samples begin to end, into the bundle (NULL: they are only run). */
static int each_sample(const origin *from, const assay_program *p, int64_t begin, int64_t end,
                       assay_bundle_writer *w, assay_run *run)
{
    const size_t n = (size_t)p->graph->n_inputs + 1;
    char(*name)[NAME] = calloc(n, sizeof *name);
    const char **sources = calloc(n, sizeof *sources);
    int status = name && sources ? CLI_OK : cli_out_of_memory();
    assay_error err;
    int64_t i;

    for (int64_t k = begin; k < end && status == CLI_OK; k++)
        if (take(from, k, run, name, sources, &i, &err) ||
            (w ? golden_bundle_sample(w, run, i, sources, &err) : assay_execute(run, &err)))
            status = cli_failed(&err);
        else if (from->data)
            cli_progress_step(&from->data->progress);
    free(sources);
    free(name);
    return status;
}

/* Has a body variables that are not those of the graph around it? */
static bool bodies_keep_state(const assay_graph *g)
{
    for (int i = 0; i < g->n_subgraphs; i++) {
        const assay_graph *body = g->subgraph[i];
        for (int v = 0; v < body->n_values; v++) {
            const int same =
                body->value[v].is_variable ? assay_graph_find_value(g, body->value[v].name) : -1;
            if (body->value[v].is_variable && (same < 0 || !g->value[same].is_variable))
                return true;
        }
        if (bodies_keep_state(body))
            return true;
    }
    return false;
}

/* Runs the samples before the bundle's; the network then begins with the state that they leave. */
static int advance(const origin *from, const assay_program *p, assay_graph *g)
{
    assay_run *run = NULL;
    assay_error err;

    if (assay_run_new(p, &run, &err))
        return cli_failed(&err);
    int status = each_sample(from, p, 0, from->after, NULL, run);
    for (int v = 0; v < g->n_values && status == CLI_OK; v++) {
        const void *now = g->value[v].is_variable ? assay_run_data(run, v) : NULL;
        if (!now)
            continue;
        void *kept = assay_arena_copy(g->arena, now, assay_type_bytes(&g->value[v].type));
        if (kept)
            g->value[v].data = kept;
        else
            status = cli_out_of_memory();
    }
    assay_run_free(run);
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
    status = each_sample(from, p, from->after, from->end, w, run);
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

/* The bundle of the samples behind those that are only run. */
static int write_after(const cli_args *a, const assay_program *p, assay_graph *g,
                       assay_bundle_options *o, origin *from, int64_t samples)
{
    int status = CLI_OK;

    if (!cli_integer(a, "after", 0, 0, samples - 1, &from->after))
        return CLI_TROUBLE;
    if (from->after && !from->sequence)
        return cli_trouble("golden: --after is for a network with state whose samples are the "
                           "steps of one sequence (--sequence)");
    if (from->after && bodies_keep_state(g))
        return cli_trouble("golden: --after: a body of the network has state of its own");
    from->end = samples;
    o->samples = samples - from->after;
    o->sequence = from->sequence && o->samples > 1;
    if (from->after)
        status = advance(from, p, g);
    return status == CLI_OK ? write_bundle(p, o, from) : status;
}

static int golden(const cli_args *a, const assay_program *p, assay_graph *g)
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
    origin from = {.sequence = run_model_has_state(p->graph)};
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
        if (status == CLI_OK)
            status = write_after(a, p, g, &o, &from, f.samples);
        cli_files_close(&f);
        return status;
    }
    status = cli_data_open(&d, a, p->graph, "golden");
    if (status == CLI_OK) {
        from.data = &d;
        from.sequence = d.samples.sequence;
        o.preprocessing = d.preprocessing;
        status = write_after(a, p, g, &o, &from, d.samples.count);
    }
    cli_data_close(&d);
    return status;
}

static int run(const cli_args *a)
{
    cli_session s;
    int status = cli_session_open(&s, a, true);

    if (status == CLI_OK)
        status = golden(a, s.program, s.graph);
    cli_session_close(&s);
    return status;
}

static const cli_option options[] = {
    CLI_RUN_OPTIONS,
    CLI_INPUT_OPTION,
    CLI_DATA_OPTIONS,
    {"output", 'o', "DIR", "the bundle; must not exist yet"},
    {"force", 'f', NULL, "replace a golden bundle (nothing else)"},
    {"after", 0, "N",
     "run N steps of the sequence first: the bundle has the others, and its network begins with "
     "the state that they leave"},
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
        "  assay golden streaming.tflite -s tflite -i t0.npy -i t1.npy -i t2.npy -o steps\n"
        "  assay golden streaming.tflite -s tflite -i t0.npy -i t1.npy -i t2.npy --after 2 -o "
        "step2\n",
    .options = options,
    .min_args = 1,
    .max_args = 1,
    .run = run,
};
