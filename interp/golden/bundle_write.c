/* A golden bundle from its beginning to the move that makes it appear; bundle_record.c records the
 * samples between, bundle_manifest.c writes the manifest, partial.c moves it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "graph/files/files.h"
#include "graph/memory.h"
#include "graph/text/constant.h"
#include "graph/text/text.h"
#include "interp/golden/bundle_files.h"
#include "interp/golden/bundle_writer.h"
#include "interp/page/json.h"

static assay_status no_memory(assay_error *err)
{
    return assay_out_of_memory_for(err, "writing the bundle");
}

/* The entry of a constant of the network. */
static json_t *constant_entry(assay_bundle_writer *w, const assay_value *v)
{
    const assay_qparams *q = &v->type.q;
    if (!w->params[0])
        return golden_json_type(&v->type);
    json_t *zero = w->params[1] ? w->params[1] : json_integer(q->zero_point[0]);
    json_t *entry = golden_json_type_with(&v->type, w->params[0], zero);
    w->params[0] = w->params[1] = NULL;
    return entry;
}

/* A constant's files, PART.npy packed: other forms as of any array. */
static assay_status put_packed(assay_bundle_writer *w, const char *part,
                               const assay_text_array *array, assay_error *err)
{
    const unsigned npy = w->options.forms & ASSAY_DUMP_NPY, others = w->options.forms & ~npy;
    char file[ASSAY_TEXT_FILE_NAME + 24];
    assay_status status = golden_bundle_put(w, part, others, array->type, array->data, err);

    snprintf(file, sizeof file, "%s.npy", part);
    if (!status && npy && golden_bundle_has_files(w) &&
        !(status = golden_bundle_path(w, file, err)))
        status = text_constant_write(w->path, array->type, array->data, err);
    return status;
}

/* An array of a constant: its files and, with the elements, the constant's entry in the manifest.
 */
static assay_status put_array(void *user, const assay_graph *g, const assay_text_array *array,
                              const char *file, const char *digest, assay_error *err)
{
    assay_bundle_writer *w = user;
    const assay_value *v = &g->value[array->value];
    const bool is_packed = !w->options.wide && text_constant_is_packed(array->type);
    char part[ASSAY_TEXT_FILE_NAME + 16];

    snprintf(part, sizeof part, "constants/%s", file);
    if (array->part != ASSAY_TEXT_ELEMENTS) {
        json_t *entry = golden_json_array(part, digest);
        w->params[array->part == ASSAY_TEXT_ZERO_POINTS] = entry;
        if (!entry)
            return no_memory(err);
    } else {
        json_t *entry = constant_entry(w, v);
        page_json_set(&entry, "name", page_json_text(v->name));
        if (is_packed)
            page_json_set(&entry, "packed", json_true());
        page_json_set(&entry, "file", json_string(part));
        page_json_set(&entry, "xxh3", json_string(digest));
        page_json_add(&w->constants, entry);
        if (!w->constants)
            return no_memory(err);
    }
    part[strlen(part) - strlen(".npy")] = 0;
    return is_packed ? put_packed(w, part, array, err)
                     : golden_bundle_put(w, part, w->options.forms, array->type, array->data, err);
}

/* The network as text, and its constants. */
static assay_status write_graph(assay_bundle_writer *w, assay_error *err)
{
    const assay_text_options text = {
        .inline_limit = 0, .put = put_array, .user = w, .lists = w->options.lists};
    assay_buf buf = {0};
    assay_status status = text_graph_print_with(w->program->graph, &text, &buf, err);

    if (!status)
        golden_digest_bytes(buf.text, buf.length, w->graph_digest);
    if (!status && golden_bundle_has_files(w)) {
        status = golden_bundle_path(w, "graph.assay", err);
        if (!status)
            status = file_bytes_write(w->path, buf.text, buf.length, err);
    }
    assay_buf_free(&buf);
    return status;
}

/* Whether nodes' parameters will be in files: all in other forms, those per block in each. */
static bool has_parameters(const assay_bundle_writer *w)
{
    const assay_graph *g = w->program->graph;
    bool has = w->options.forms != ASSAY_DUMP_NPY;
    for (int v = 0; v < g->n_values && w->program->scheme; v++)
        has |= text_params_in_files(&g->value[v].type.q);
    return has;
}

/* The folders of what comes. */
static assay_status make_dirs(assay_bundle_writer *w, assay_error *err)
{
    assay_status status = golden_bundle_make_dir(w, "tensors", err);
    if (!status && w->options.accumulators)
        status = golden_bundle_make_dir(w, "accumulators", err);
    if (!status)
        status = golden_bundle_make_dir(w, "constants", err);
    if (!status && has_parameters(w))
        status = golden_bundle_make_dir(w, "parameters", err);
    return status;
}

/* Where `replace` would refuse as well, the message does not mention it. */
static assay_status in_the_way(assay_bundle_writer *w, assay_error *err)
{
    assay_error why;
    const bool bundle = !golden_bundle_may_replace(w->dir, &w->old, &why);
    return assay_fail(err, ASSAY_ERR_IO, "%s: exists already%s", w->dir,
                      bundle ? "; `replace` replaces it" : ", and is not a golden bundle alone");
}

/* The folder under its temporary name, and what is known before the first sample. */
static assay_status begin(assay_bundle_writer *w, assay_error *err)
{
    assay_status status = ASSAY_OK;
    struct stat st;

    if (w->options.dir) {
        if (lstat(w->dir, &st) == 0)
            status = w->options.replace ? golden_bundle_may_replace(w->dir, &w->old, err)
                                        : in_the_way(w, err);
        if (!status)
            status = file_partial_folder(w->dir, golden_bundle_is_partial, &w->partial, err);
    }
    if (!status && golden_bundle_has_files(w))
        status = make_dirs(w, err);
    if (!status && !w->options.digests_only)
        status = write_graph(w, err);
    if (!status)
        status = golden_bundle_records_begin(w, err);
    return status;
}

assay_status golden_bundle_begin(const assay_bundle_options *options, const assay_program *program,
                                 assay_bundle_writer **out, assay_error *err)
{
    assay_bundle_writer *w = calloc(1, sizeof *w);
    assay_status status;

    *out = NULL;
    if (!w)
        return no_memory(err);
    w->options = *options;
    w->options.forms |= ASSAY_DUMP_NPY;
    w->program = program;
    w->partial = (assay_partial)ASSAY_PARTIAL_NONE;
    w->dir = strdup(options->dir ? options->dir : "");
    w->model_file = strdup(options->model_file ? options->model_file : "");
    w->preprocessing = options->preprocessing ? strdup(options->preprocessing) : NULL;
    w->constants = json_array();
    w->index = malloc(((size_t)program->graph->n_values + 1) * sizeof *w->index);
    if (!w->dir || !w->model_file || (options->preprocessing && !w->preprocessing) ||
        !w->constants || !w->index) {
        golden_bundle_abort(w);
        return no_memory(err);
    }
    while (strlen(w->dir) > 1 && w->dir[strlen(w->dir) - 1] == '/')
        w->dir[strlen(w->dir) - 1] = 0;
    golden_bundle_number(program->graph, w->index);
    status = begin(w, err);
    if (status) {
        golden_bundle_abort(w);
        return status;
    }
    *out = w;
    return ASSAY_OK;
}

void golden_bundle_abort(assay_bundle_writer *w)
{
    if (!w)
        return;
    if (w->partial.path[0])
        file_remove_tree(w->partial.path);
    file_partial_close(&w->partial);
    golden_bundle_records_free(w);
    golden_bundle_list_free(&w->old.files);
    json_decref(w->constants);
    json_decref(w->params[0]);
    json_decref(w->params[1]);
    free(w->dir);
    free(w->model_file);
    free(w->preprocessing);
    free(w->index);
    free(w);
}

/* Moves the bundle into place. The one that stood there goes, unless it is no longer what it was a
 * moment ago. */
static assay_status place(assay_bundle_writer *w, assay_error *err)
{
    assay_status status = file_partial_folder_place(
        &w->partial, w->dir, w->options.replace ? golden_bundle_may_replace : NULL, &w->old, err);
    if (status || !w->partial.path[0])
        return status;
    status = golden_bundle_may_replace(w->partial.path, &w->old, err);
    if (status)
        w->partial.path[0] = 0; /* left where it is */
    return status;
}

assay_status golden_bundle_commit(assay_bundle_writer *w, char digest[33], assay_error *err)
{
    char hex[33];
    file_memory text = {0};
    assay_status status = golden_bundle_manifest(w, hex, &text, err);

    if (!status)
        status = golden_bundle_path(w, "manifest.json", err);
    if (!status)
        status = file_bytes_write(w->path, text.text, text.length, err);
    if (!status)
        status = place(w, err);
    if (!status && digest)
        memcpy(digest, hex, sizeof hex);
    free(text.text);
    golden_bundle_abort(w);
    return status;
}
