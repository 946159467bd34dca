/* Verifying a bundle: its files against its manifest, and its manifest against a fresh run. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "interp/golden/bundle.h"
#include "interp/golden/digest.h"
#include "interp/run/model.h"

typedef struct checker {
    const assay_bundle *bundle;
    void (*report)(void *, const char *);
    void *user;
    assay_verify_result *out;
    const assay_program *program;
    int *index; /* by value: execution index or -1 */
    int *entry; /* by execution index: entry of this sample in the bundle, or -1 */
} checker;

static void say(const checker *c, const char *name, const char *fault)
{
    char line[1024];
    if (!c->report)
        return;
    snprintf(line, sizeof line, "%s: %s", name, fault);
    c->report(c->user, line);
}

static void check_files(checker *c)
{
    for (int i = 0; i < c->bundle->n_tensors; i++) {
        const assay_bundle_tensor *t = &c->bundle->tensor[i];
        assay_error e;
        void *data;
        char hex[33];
        c->out->tensors++;
        if (!t->file)
            continue;
        if (assay_bundle_read(c->bundle, i, &data, &e) != ASSAY_OK) {
            c->out->files_bad++;
            say(c, t->name, e.text);
            continue;
        }
        if (assay_digest_tensor(&t->type, data, hex, &e) != ASSAY_OK ||
            strcmp(hex, t->digest) != 0) {
            c->out->files_bad++;
            say(c, t->file, "the file's digest is not the manifest's");
        }
        free(data);
    }
}

/* Entry of a value in the sample at hand, or -1. */
static int entry_of(const checker *c, int value)
{
    const int index = c->index[value];
    const int e = index < 0 ? -1 : c->entry[index];
    if (e < 0 || strcmp(c->bundle->tensor[e].name, c->program->graph->value[value].name) != 0)
        return -1;
    return e;
}

static assay_status observe(void *user, assay_run *run, int node, const int64_t *accumulators,
                            assay_error *err)
{
    checker *c = user;
    const assay_graph *g = c->program->graph;

    (void)accumulators;
    for (int k = 0; k < g->node[node].n_out; k++) {
        const int v = g->node[node].out[k];
        char hex[33];
        assay_status status;
        if (v < 0 || !assay_run_data(run, v))
            continue;
        status = assay_digest_tensor(&g->value[v].type, assay_run_data(run, v), hex, err);
        if (status != ASSAY_OK)
            return status;
        if (entry_of(c, v) < 0 || strcmp(c->bundle->tensor[entry_of(c, v)].digest, hex) != 0) {
            c->out->replay_bad++;
            say(c, g->value[v].name,
                entry_of(c, v) < 0 ? "not in the manifest" : "a fresh run gives other bits");
        }
    }
    return ASSAY_OK;
}

/* Runs one sample, entries first to end - 1: its inputs come from the bundle's own tensors. */
static assay_status replay_sample(checker *c, assay_run *run, int first, int end, assay_error *err)
{
    const assay_graph *g = c->program->graph;

    for (int v = 0; v < g->n_values; v++)
        c->entry[v] = -1;
    for (int e = first; e < end; e++)
        if (c->bundle->tensor[e].index >= 0 && c->bundle->tensor[e].index < g->n_values)
            c->entry[c->bundle->tensor[e].index] = e;
    for (int i = 0; i < g->n_inputs; i++) {
        const assay_value *v = &g->value[g->input[i]];
        const int e = entry_of(c, g->input[i]);
        void *data;
        assay_status status;
        if (e < 0)
            return assay_fail(err, ASSAY_ERR_INPUT, "%s: input '%s' of sample %lld is missing",
                              c->bundle->dir, v->name, (long long)c->bundle->tensor[first].sample);
        status = assay_bundle_read(c->bundle, e, &data, err);
        if (status != ASSAY_OK)
            return status;
        if (!assay_shape_equal(&v->type, &c->bundle->tensor[e].type) ||
            !assay_elem_equal(v->type.elem, c->bundle->tensor[e].type.elem)) {
            free(data);
            return assay_fail(err, ASSAY_ERR_INPUT, "%s: input '%s' is not of the graph's type",
                              c->bundle->dir, v->name);
        }
        memcpy(assay_run_data(run, g->input[i]), data,
               (size_t)assay_shape_count(&v->type) * assay_elem_size(v->type.elem));
        free(data);
    }
    return assay_run_execute(run, observe, false, c, err);
}

static assay_status replay(checker *c, const assay_program_options *engine, assay_error *err)
{
    const json_t *scheme = json_object_get(c->bundle->manifest, "scheme");
    const char *name = json_string_value(json_object_get(scheme, "name"));
    const char *text = json_string_value(json_object_get(scheme, "text"));
    assay_graph *g = NULL;
    assay_scheme *s = NULL;
    assay_program *p = NULL;
    assay_run *run = NULL;
    char path[4096], constants[4096];
    assay_program_options options = *engine;
    assay_status status;

    options.keep_all = true;
    snprintf(path, sizeof path, "%s/graph.assay", c->bundle->dir);
    snprintf(constants, sizeof constants, "%s/constants", c->bundle->dir);
    status = assay_text_load(path, constants, &g, err);
    if (status == ASSAY_OK && name && text)
        status = assay_scheme_parse(name, text, strlen(text), &s, err);
    if (status == ASSAY_OK)
        status = assay_program_make_with(g, s, &options, &p, err);
    if (status == ASSAY_OK)
        status = assay_run_new(p, &run, err);
    if (status == ASSAY_OK) {
        c->program = p;
        c->entry = malloc(((size_t)g->n_values + 1) * sizeof *c->entry);
        c->index = malloc(((size_t)g->n_values + 1) * sizeof *c->index);
        if (c->index)
            assay_bundle_number(g, c->index);
        if (!c->entry || !c->index)
            status = assay_fail(err, ASSAY_ERR_MEMORY, "out of memory");
    }
    /* Entries are sample-major: a sample ends where its number changes. */
    for (int first = 0, end; first < c->bundle->n_tensors && status == ASSAY_OK; first = end) {
        const assay_bundle_tensor *t = c->bundle->tensor;
        for (end = first + 1; end < c->bundle->n_tensors && t[end].sample == t[first].sample; end++)
            ;
        if (!json_is_true(json_object_get(c->bundle->manifest, "sequence")))
            assay_run_reset(run);
        status = replay_sample(c, run, first, end, err);
    }
    free(c->index);
    free(c->entry);
    assay_run_free(run);
    assay_program_free(p);
    assay_scheme_free(s);
    assay_graph_free(g);
    return status;
}

assay_status assay_bundle_verify(const char *dir, const assay_program_options *engine,
                                 void (*report)(void *, const char *), void *user,
                                 assay_verify_result *out, assay_error *err)
{
    assay_bundle *b;
    checker c = {.report = report, .user = user, .out = out};
    assay_status status = assay_bundle_open(dir, &b, err);

    memset(out, 0, sizeof *out);
    if (status != ASSAY_OK)
        return status;
    c.bundle = b;
    check_files(&c);
    if (engine)
        status = replay(&c, engine, err);
    assay_bundle_free(b);
    return status;
}
