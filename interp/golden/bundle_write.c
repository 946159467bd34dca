/* A golden bundle from its beginning to the rename that makes it appear; bundle_record.c records
 * the samples between, bundle_manifest.c writes the manifest. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "interp/golden/bundle_writer.h"
#include "interp/golden/digest.h"
#include "interp/golden/files.h"
#include "interp/run/model.h"

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

assay_status assay_bundle_make_dir(assay_bundle_writer *w, const char *part, assay_error *err)
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
    status = assay_bundle_make_dir(w, "tensors", err);
    if (status == ASSAY_OK && w->options.accumulators)
        status = assay_bundle_make_dir(w, "accumulators", err);
    if (status == ASSAY_OK)
        status = assay_bundle_make_dir(w, "constants", err);
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
    if (status == ASSAY_OK)
        status = assay_bundle_records_begin(w, err);
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
    assay_bundle_records_free(w);
    json_decref(w->constants);
    free(w->dir);
    free(w->temporary);
    free(w->model_file);
    free(w->preprocessing);
    free(w->index);
    free(w);
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
