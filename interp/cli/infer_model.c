/* assay infer --model NET --dumps DIR: a network and a device's dumps of it, made a golden bundle
 * in a temporary folder, under the scheme that takes most of it in integers. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "graph/files/files.h"
#include "interp/cli/infer.h"
#include "interp/cli/session.h"
#include "interp/golden/dumps.h"
#include "interp/kernel/kernel.h"
#include "interp/run/model.h"
#include "opt/quantize/qdq.h"

/* Where samples come from: --input, else the dumps of the network's inputs. */
typedef struct origin {
    const cli_args *args;
    const char *dumps_path;
    cli_files files;
    assay_dumps dumps;
    int64_t samples, *number;
} origin;

/* The network in integers under a scheme. */
typedef struct candidate {
    assay_graph *graph;
    assay_scheme *scheme;
    assay_program *program;
    int in_float; /* nodes that stay there */
} candidate;

static void drop(candidate *c)
{
    assay_program_free(c->program);
    assay_scheme_free(c->scheme);
    assay_graph_free(c->graph);
    *c = (candidate){0};
}

/* ---- inputs ---- */

static int by_number(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* The samples that dumps are of; what is not numbered is sample 0. */
static int number_samples(origin *o)
{
    const size_t room = (size_t)(o->files.samples > o->dumps.n ? o->files.samples : o->dumps.n);
    o->number = calloc(room + 1, sizeof *o->number);
    if (!o->number)
        return cli_out_of_memory();
    o->samples = o->files.samples;
    for (int64_t k = 0; k < o->samples; k++)
        o->number[k] = k;
    if (o->samples > 0)
        return CLI_OK;
    for (int i = 0; i < o->dumps.n; i++)
        if (o->dumps.dump[i].sample >= 0)
            o->number[o->samples++] = o->dumps.dump[i].sample;
    qsort(o->number, (size_t)o->samples, sizeof *o->number, by_number);
    int64_t kept = o->samples > 0 ? 1 : 0;
    for (int64_t k = 1; k < o->samples; k++)
        if (o->number[k] != o->number[kept - 1])
            o->number[kept++] = o->number[k];
    o->samples = kept > 0 ? kept : 1;
    return CLI_OK;
}

static int open_origin(origin *o, const cli_args *a, const assay_graph *g)
{
    assay_error err;
    *o = (origin){.args = a, .dumps_path = cli_value(a, "dumps", "")};
    if (golden_dumps_open(o->dumps_path, 0, &o->dumps, &err))
        return cli_failed(&err);
    const int status = cli_files_open(&o->files, a, g);
    return status == CLI_OK ? number_samples(o) : status;
}

static void close_origin(origin *o)
{
    cli_files_close(&o->files);
    golden_dumps_close(&o->dumps);
    free(o->number);
}

static assay_status read_dumped(const origin *o, const assay_graph *g, int64_t sample, int i,
                                void *to, assay_error *err)
{
    const assay_value *in = &g->value[g->input[i]];
    const assay_bundle_tensor t = {
        .sample = o->number[sample], .index = i, .name = in->name, .op = "input", .type = in->type};
    const int at = golden_dumps_find(&o->dumps, &t, o->number[0], false);
    assay_type found;
    void *data = NULL;
    if (at < 0)
        return assay_fail(err, ASSAY_ERR_INPUT,
                          "%s: no dump of input '%.200s'%s; --input %.200s=FILE gives it",
                          o->dumps_path, in->name, o->samples > 1 ? " in a sample" : "", in->name);
    assay_status status = golden_dumps_read(&o->dumps, at, &in->type, &found, &data, err);
    if (!status && (found.elem.kind != in->type.elem.kind ||
                    assay_type_bytes(&found) != assay_type_bytes(&in->type)))
        status = assay_fail(err, ASSAY_ERR_INPUT,
                            "%s: the dump of input '%.200s' is of another type or size",
                            o->dumps_path, in->name);
    if (!status)
        status = cli_check_codes(in, data, o->dumps.dump[at].path, err);
    if (!status)
        memcpy(to, data, assay_type_bytes(&in->type));
    free(data);
    return status;
}

static assay_status read_sample(const origin *o, const assay_graph *g, int64_t sample,
                                assay_run *run, assay_error *err)
{
    assay_status status = ASSAY_OK;
    for (int i = 0; i < g->n_inputs && !status; i++) {
        void *to = assay_run_data(run, g->input[i]);
        status = o->files.samples > 0 ? cli_files_read(&o->files, sample, i, to, err)
                                      : read_dumped(o, g, sample, i, to, err);
    }
    return status;
}

/* ---- a bundle ---- */

static assay_status write_bundle(const candidate *c, const origin *o, const char *dir,
                                 assay_error *err)
{
    const assay_bundle_options options = {.dir = dir,
                                          .replace = true,
                                          .samples = o->samples,
                                          .sequence =
                                              run_model_has_state(c->graph) && o->samples > 1,
                                          .model_file = cli_value(o->args, "model", "")};
    assay_bundle_writer *writer = NULL;
    assay_run *run = NULL;
    assay_status status = golden_bundle_begin(&options, c->program, &writer, err);
    if (status)
        return status;
    status = assay_run_new(c->program, &run, err);
    for (int64_t k = 0; k < o->samples && !status; k++) {
        status = read_sample(o, c->graph, k, run, err);
        if (!status)
            status = golden_bundle_sample(writer, run, o->number[k], NULL, err);
    }
    assay_run_free(run);
    if (!status)
        return golden_bundle_commit(writer, NULL, err);
    golden_bundle_abort(writer);
    return status;
}

/* ---- a scheme ---- */

/* ASSAY_ERR_SCHEME, _UNSUPPORTED: this one does not take the network. */
static assay_status make(const cli_args *a, const char *name, candidate *c, assay_error *err)
{
    const char *path = cli_value(a, "model", "");
    const assay_program_options o = {.keep_all = true, .engine = ASSAY_ENGINE_FAST, .threads = 1};
    const assay_model_options model = {.keep_narrow = true};
    assay_quantize_report report = {0};
    *c = (candidate){0};
    assay_status status = run_model_load_canonical(path, &model, &c->graph, err);
    if (!status && !run_model_is_quantized(c->graph))
        return assay_fail(err, ASSAY_ERR_INPUT,
                          "%s: the network is float; what is inferred is of integers", path);
    if (!status)
        status = assay_scheme_open(name, &c->scheme, err);
    if (!status && run_model_is_onnx(path))
        status = quantize_group_qdq(c->graph, c->scheme, run_has_integer_kernel, &report, err);
    c->in_float = report.n_float;
    quantize_report_free(&report);
    return status ? status : run_program_make_with(c->graph, c->scheme, &o, &c->program, err);
}

static bool is_refusal(assay_status status)
{
    return status == ASSAY_ERR_SCHEME || status == ASSAY_ERR_UNSUPPORTED;
}

/* Tries a scheme; where fewer nodes stay in float than in *least (below 0: none has been written),
 * its bundle is the one. A refusal is told in *why. */
static int try_scheme(const cli_args *a, const char *name, const char *dir, int *least,
                      assay_error *why)
{
    assay_error err;
    candidate c;
    int trouble = CLI_OK;
    assay_status status = make(a, name, &c, &err);
    if (!status && (*least < 0 || c.in_float < *least)) {
        origin o;
        trouble = open_origin(&o, a, c.graph);
        if (trouble == CLI_OK)
            status = write_bundle(&c, &o, dir, &err);
        close_origin(&o);
        if (trouble == CLI_OK && !status)
            *least = c.in_float;
    }
    drop(&c);
    if (is_refusal(status) && *least < 0)
        *why = err;
    return trouble != CLI_OK ? trouble : status && !is_refusal(status) ? cli_failed(&err) : CLI_OK;
}

int cli_infer_capture(const cli_args *a, const char *const *among, int n_among,
                      char dir[CLI_INFER_FOLDER], char golden[CLI_INFER_FOLDER + 16])
{
    const char *tmp = getenv("TMPDIR");
    assay_error why = {0};
    int least = -1, status = CLI_OK;
    snprintf(dir, CLI_INFER_FOLDER, "%.150s/assay-infer-XXXXXX", tmp && *tmp ? tmp : "/tmp");
    if (!mkdtemp(dir)) {
        dir[0] = '\0';
        return cli_trouble("no temporary folder can be made in %s", tmp && *tmp ? tmp : "/tmp");
    }
    snprintf(golden, CLI_INFER_FOLDER + 16, "%s/golden", dir);
    for (int i = 0; i < n_among && status == CLI_OK && least != 0; i++)
        status = try_scheme(a, among[i], golden, &least, &why);
    for (const char *const *name = assay_scheme_presets(); *name && status == CLI_OK && least != 0;
         name++)
        status = try_scheme(a, *name, golden, &least, &why);
    if (status == CLI_OK && least < 0)
        status = cli_failed(&why);
    return status;
}
