/* A network and a device's dumps of it, made a golden bundle in a temporary folder, under the
 * scheme that takes most of it in integers; see capture.h. */
#include "interp/api/capture.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "graph/files/files.h"
#include "graph/memory.h"
#include "interp/api/data.h"
#include "interp/golden/dumps.h"
#include "interp/kernel/kernel.h"
#include "interp/run/model.h"
#include "opt/quantize/qdq.h"

/* Where samples come from: the caller, else the dumps of the network's inputs. */
typedef struct origin {
    const assay_capture *from;
    bool given;
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

/* The samples that dumps are of, each once; what is not numbered is sample 0. */
static void number_dumped(origin *o)
{
    for (int i = 0; i < o->dumps.n; i++)
        if (o->dumps.dump[i].sample >= 0)
            o->number[o->samples++] = o->dumps.dump[i].sample;
    qsort(o->number, (size_t)o->samples, sizeof *o->number, by_number);
    int64_t kept = o->samples > 0 ? 1 : 0;
    for (int64_t k = 1; k < o->samples; k++)
        if (o->number[k] != o->number[kept - 1])
            o->number[kept++] = o->number[k];
    o->samples = kept > 0 ? kept : 1;
}

static assay_status open_origin(origin *o, const assay_capture *from, const assay_graph *g,
                                assay_error *err)
{
    *o = (origin){.from = from};
    assay_status status = golden_dumps_open(from->dumps, 0, &o->dumps, err);
    if (!status && from->open)
        status = from->open(from->user, g, &o->samples, err);
    if (status)
        return status;
    o->given = o->samples > 0;
    o->number = calloc((size_t)(o->given ? o->samples : o->dumps.n) + 1, sizeof *o->number);
    if (!o->number)
        return assay_out_of_memory(err);
    for (int64_t k = 0; k < o->samples; k++)
        o->number[k] = k;
    if (!o->given)
        number_dumped(o);
    return ASSAY_OK;
}

static void close_origin(origin *o)
{
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
                          "%s: no dump of input '%.200s'%s; `inputs` gives what is not dumped",
                          o->from->dumps, in->name, o->samples > 1 ? " in a sample" : "");
    assay_status status = golden_dumps_read(&o->dumps, at, &in->type, &found, &data, err);
    if (!status && (found.elem.kind != in->type.elem.kind ||
                    assay_type_bytes(&found) != assay_type_bytes(&in->type)))
        status = assay_fail(err, ASSAY_ERR_INPUT,
                            "%s: the dump of input '%.200s' differs from it in type or size",
                            o->from->dumps, in->name);
    if (!status)
        status = assay_codes_check(in, data, o->dumps.dump[at].path, err);
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
        status = o->given ? o->from->read(o->from->user, g, sample, i, to, err)
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
                                          .model_file = o->from->model};
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
static assay_status make(const char *path, const char *name, candidate *c, assay_error *err)
{
    const assay_program_options o = {.keep_all = true, .engine = ASSAY_ENGINE_FAST, .threads = 1};
    const assay_model_options model = {.keep_narrow = true};
    assay_quantize_report report = {0};
    *c = (candidate){0};
    assay_status status = run_model_load_canonical(path, &model, &c->graph, err);
    if (!status && !run_model_is_quantized(c->graph))
        return assay_fail(err, ASSAY_ERR_INPUT,
                          "%s: the network is float; only integer arithmetic can be inferred",
                          path);
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
 * its bundle is the one. A refusal is no failure but told in *why. */
static assay_status try_scheme(const assay_capture *from, const char *name, const char *dir,
                               int *least, assay_error *why, assay_error *err)
{
    candidate c;
    assay_status taken = make(from->model, name, &c, err), status = ASSAY_OK;
    if (!taken && (*least < 0 || c.in_float < *least)) {
        origin o;
        status = open_origin(&o, from, c.graph, err);
        if (!status)
            taken = write_bundle(&c, &o, dir, err);
        close_origin(&o);
        if (!status && !taken)
            *least = c.in_float;
    }
    drop(&c);
    if (is_refusal(taken) && *least < 0)
        *why = *err;
    return status || is_refusal(taken) ? status : taken;
}

assay_status assay_capture_make(assay_capture *c, assay_error *err)
{
    assay_error why = {0}, own;
    int least = -1;
    err = err ? err : &own; /* which refusals are copied from */
    assay_status status = file_temporary_make(c->dir, err);
    if (status)
        return status;
    snprintf(c->golden, sizeof c->golden, "%s/golden", c->dir);
    for (int i = 0; i < c->n_schemes && !status && least != 0; i++)
        status = try_scheme(c, c->schemes[i], c->golden, &least, &why, err);
    for (const char *const *name = assay_scheme_presets(); *name && !status && least != 0; name++)
        status = try_scheme(c, *name, c->golden, &least, &why, err);
    if (!status && least < 0)
        return assay_fail(err, why.status, "%s", why.text);
    return status;
}

void assay_capture_end(assay_capture *c)
{
    file_temporary_remove(c->dir);
}
