/* Writing a golden bundle: every tensor as it is produced, the manifest last, then one rename. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "interp/bundle_writer.h"
#include "interp/digest.h"
#include "interp/files.h"
#include "interp/model.h"

static assay_status no_memory(assay_error *err)
{
    return assay_fail(err, ASSAY_ERR_MEMORY, "out of memory writing the bundle");
}

assay_status assay_bundle_path(assay_bundle_writer *w, const char *part, assay_error *err)
{
    if ((size_t)snprintf(w->path, sizeof w->path, "%s/%s", w->temporary, part) >= sizeof w->path)
        return assay_fail(err, ASSAY_ERR_LIMIT, "%s/%s: the path is too long", w->temporary, part);
    return ASSAY_OK;
}

static assay_status make_dir(assay_bundle_writer *w, const char *part, assay_error *err)
{
    assay_status status = assay_bundle_path(w, part, err);
    if (status == ASSAY_OK && mkdir(w->path, 0777) != 0 && errno != EEXIST)
        status = assay_fail(err, ASSAY_ERR_IO, "%s: %s", w->path, strerror(errno));
    return status;
}

void assay_bundle_number(const assay_graph *g, int *index)
{
    int next = 0;

    for (int v = 0; v < g->n_values; v++)
        index[v] = -1;
    for (int i = 0; i < g->n_inputs; i++)
        index[g->input[i]] = next++;
    for (int n = 0; n < g->n_nodes; n++)
        for (int k = 0; k < g->node[n].n_out; k++)
            if (g->node[n].out[k] >= 0)
                index[g->node[n].out[k]] = next++;
}

/* A constant of the network went to a file. */
static void note_constant(void *user, const assay_graph *g, int value, const char *file)
{
    assay_bundle_writer *w = user;
    const assay_value *v = &g->value[value];
    json_t *entry = assay_json_type(&v->type);
    char part[ASSAY_TEXT_FILE_NAME + 16], hex[33];

    if (w->status == ASSAY_OK)
        w->status = assay_digest_tensor(&v->type, v->data, hex, NULL);
    if (w->status != ASSAY_OK || !entry || json_array_append_new(w->constants, entry) != 0) {
        w->status = ASSAY_ERR_MEMORY;
        return;
    }
    snprintf(part, sizeof part, "constants/%s", file);
    json_object_set_new(entry, "name", json_string(v->name));
    json_object_set_new(entry, "file", json_string(part));
    json_object_set_new(entry, "xxh3", json_string(hex));
}

/* The folders, the network as text and its constants. */
static assay_status write_graph(assay_bundle_writer *w, assay_error *err)
{
    char constants[sizeof w->path];
    const assay_text_options text = {
        .constants_dir = constants, .inline_limit = 0, .on_file = note_constant, .user = w};
    assay_status status;

    if (w->options.digests_only)
        return ASSAY_OK;
    status = make_dir(w, "tensors", err);
    if (status == ASSAY_OK && w->options.accumulators)
        status = make_dir(w, "accumulators", err);
    if (status == ASSAY_OK)
        status = make_dir(w, "constants", err);
    memcpy(constants, w->path, sizeof constants);
    if (status == ASSAY_OK)
        status = assay_bundle_path(w, "graph.assay", err);
    if (status == ASSAY_OK)
        status = assay_text_save(w->program->graph, w->path, &text, err);
    if (status == ASSAY_OK && w->status != ASSAY_OK)
        status = no_memory(err);
    return status;
}

assay_status assay_bundle_begin(const assay_bundle_options *options, const assay_program *program,
                                assay_bundle_writer **out, assay_error *err)
{
    assay_bundle_writer *w = calloc(1, sizeof *w);
    const size_t length = strlen(options->dir);
    struct stat st;
    assay_status status;

    *out = NULL;
    if (!w)
        return no_memory(err);
    w->options = *options;
    w->options.forms |= ASSAY_FORM_NPY;
    w->program = program;
    w->dir = strdup(options->dir);
    w->temporary = malloc(length + 64);
    w->model_file = strdup(options->model_file ? options->model_file : "");
    w->preprocessing = options->preprocessing ? strdup(options->preprocessing) : NULL;
    w->constants = json_array();
    w->index = malloc(((size_t)program->graph->n_values + 1) * sizeof *w->index);
    if (!w->dir || !w->temporary || !w->model_file || !w->constants || !w->index) {
        free(w->temporary);
        w->temporary = NULL;
        assay_bundle_abort(w);
        return no_memory(err);
    }
    while (strlen(w->dir) > 1 && w->dir[strlen(w->dir) - 1] == '/')
        w->dir[strlen(w->dir) - 1] = 0;
    w->temporary[0] = 0;
    assay_bundle_number(program->graph, w->index);
    if (lstat(w->dir, &st) == 0 && !options->replace) {
        status = assay_fail(err, ASSAY_ERR_IO, "%s: exists already; --force replaces it", w->dir);
        goto fail;
    }
    snprintf(w->temporary, length + 64, "%s.partial-%ld", w->dir, (long)getpid());
    if (mkdir(w->temporary, 0777) != 0) {
        status = assay_fail(err, ASSAY_ERR_IO, "%s: cannot create the bundle: %s", w->temporary,
                            strerror(errno));
        w->temporary[0] = 0;
        goto fail;
    }
    status = write_graph(w, err);
    if (status != ASSAY_OK)
        goto fail;
    *out = w;
    return ASSAY_OK;
fail:
    assay_bundle_abort(w);
    return status;
}

void assay_bundle_abort(assay_bundle_writer *w)
{
    if (!w)
        return;
    if (w->temporary && w->temporary[0])
        assay_remove_tree(w->temporary);
    for (size_t i = 0; i < w->inputs.n; i++)
        free((void *)(uintptr_t)w->inputs.list[i].source);
    free(w->inputs.list);
    free(w->tensors.list);
    json_decref(w->constants);
    free(w->dir);
    free(w->temporary);
    free(w->model_file);
    free(w->preprocessing);
    free(w->index);
    free(w);
}

static assay_status write_part(assay_bundle_writer *w, const char *kind, int value,
                               const assay_type *type, const void *data, assay_error *err)
{
    char part[ASSAY_BUNDLE_PART], folder[64];
    assay_bundle_folder(w, kind, w->sample, folder);
    assay_bundle_part(w, kind, value, w->sample, part);
    assay_status status = make_dir(w, folder, err);
    if (status == ASSAY_OK)
        status = assay_bundle_path(w, part, err);
    if (status == ASSAY_OK)
        status = assay_form_write(w->path, w->options.forms, w->options.hex_bits, type, data, err);
    return status;
}

/* A new note, or NULL for want of memory. */
static assay_bundle_note *add_note(assay_bundle_notes *all, int value, int64_t sample)
{
    if (all->n == all->room) {
        const size_t room = all->room ? 2 * all->room : 64;
        assay_bundle_note *list = realloc(all->list, room * sizeof *list);
        if (!list)
            return NULL;
        all->list = list;
        all->room = room;
    }
    all->list[all->n] = (assay_bundle_note){.value = value, .sample = sample};
    return &all->list[all->n++];
}

static assay_type sums_type(const assay_value *v)
{
    assay_type sums = v->type;
    memset(&sums.q, 0, sizeof sums.q);
    sums.elem = assay_int(64, true);
    return sums;
}

static assay_status record(assay_bundle_writer *w, assay_run *run, int value,
                           const int64_t *accumulators, assay_error *err)
{
    const assay_value *v = &w->program->graph->value[value];
    const void *data = assay_run_data(run, value);
    if (!data)
        return ASSAY_OK;
    assay_bundle_note *t = add_note(&w->tensors, value, w->sample);
    if (!t)
        return no_memory(err);
    assay_status status = assay_digest_tensor(&v->type, data, t->xxh3, err);
    if (status == ASSAY_OK && !w->options.digests_only)
        status = write_part(w, "tensors", value, &v->type, data, err);
    if (status == ASSAY_OK && accumulators && w->options.accumulators) {
        const assay_type sums = sums_type(v);
        t->has_sums = true;
        status = assay_digest_tensor(&sums, accumulators, t->sums, err);
        if (status == ASSAY_OK && !w->options.digests_only)
            status = write_part(w, "accumulators", value, &sums, accumulators, err);
    }
    return status;
}

static assay_status observe(void *user, assay_run *run, int node, const int64_t *accumulators,
                            assay_error *err)
{
    assay_bundle_writer *w = user;
    const assay_node *n = &w->program->graph->node[node];
    assay_status status = ASSAY_OK;

    for (int k = 0; k < n->n_out && status == ASSAY_OK; k++)
        if (n->out[k] >= 0)
            status = record(w, run, n->out[k], k == 0 ? accumulators : NULL, err);
    return status;
}

static assay_status record_input(assay_bundle_writer *w, assay_run *run, int value,
                                 const char *source, assay_error *err)
{
    assay_bundle_note *input = add_note(&w->inputs, value, w->sample);
    if (!input)
        return no_memory(err);
    if (source && !(input->source = strdup(assay_base_name(source))))
        return no_memory(err);
    assay_status status = record(w, run, value, NULL, err);
    if (status == ASSAY_OK)
        memcpy(input->xxh3, w->tensors.list[w->tensors.n - 1].xxh3, sizeof input->xxh3);
    return status;
}

assay_status assay_bundle_sample(assay_bundle_writer *w, assay_run *run, int64_t sample,
                                 const char *const *sources, assay_error *err)
{
    const assay_graph *g = w->program->graph;
    assay_status status = ASSAY_OK;

    w->sample = sample;
    for (int i = 0; i < g->n_inputs && status == ASSAY_OK; i++)
        status = record_input(w, run, g->input[i], sources ? sources[i] : NULL, err);
    if (status != ASSAY_OK)
        return status;
    return assay_run_execute(run, observe, w->options.accumulators, w, err);
}

assay_status assay_bundle_commit(assay_bundle_writer *w, char digest[33], assay_error *err)
{
    char hex[33];
    assay_status status = assay_bundle_manifest(w, hex, err);

    if (status == ASSAY_OK)
        status = assay_replace_tree(w->temporary, w->dir, w->options.replace, err);
    if (status == ASSAY_OK) {
        w->temporary[0] = 0;
        if (digest)
            memcpy(digest, hex, sizeof hex);
    }
    assay_bundle_abort(w);
    return status;
}
