/* Writing a golden bundle: every tensor as it is produced, the manifest last, then one rename. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "interp/bundle.h"
#include "interp/contract.h"
#include "interp/digest.h"
#include "interp/files.h"
#include "interp/model.h"

struct assay_bundle_writer {
    assay_bundle_options options;
    const assay_program *program;
    char *dir, *temporary, *model_file, *preprocessing;
    json_t *inputs, *tensors, *constants;
    int *index;          /* execution index by value, -1 before it is known */
    int64_t sample;      /* the one being recorded */
    assay_status status; /* of what cannot return one: notes of constants */
    char path[4096];
};

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static assay_status no_memory(assay_error *err)
{
    return assay_fail(err, ASSAY_ERR_MEMORY, "out of memory writing the bundle");
}

/* w->path = temporary/part */
static assay_status in_bundle(assay_bundle_writer *w, const char *part, assay_error *err)
{
    if ((size_t)snprintf(w->path, sizeof w->path, "%s/%s", w->temporary, part) >= sizeof w->path)
        return assay_fail(err, ASSAY_ERR_LIMIT, "%s/%s: the path is too long", w->temporary, part);
    return ASSAY_OK;
}

static assay_status make_dir(assay_bundle_writer *w, const char *part, assay_error *err)
{
    assay_status status = in_bundle(w, part, err);
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
        status = in_bundle(w, "graph.assay", err);
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
    w->inputs = json_array();
    w->tensors = json_array();
    w->constants = json_array();
    w->index = malloc(((size_t)program->graph->n_values + 1) * sizeof *w->index);
    if (!w->dir || !w->temporary || !w->model_file || !w->inputs || !w->tensors || !w->constants ||
        !w->index) {
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
    json_decref(w->inputs);
    json_decref(w->tensors);
    json_decref(w->constants);
    free(w->dir);
    free(w->temporary);
    free(w->model_file);
    free(w->preprocessing);
    free(w->index);
    free(w);
}

void assay_bundle_stem(int index, const char *op, const char *name, char stem[ASSAY_BUNDLE_STEM])
{
    char *p;

    snprintf(stem, ASSAY_BUNDLE_STEM, "%04d_%s_%.160s", index, op, name);
    for (p = stem; *p; p++)
        if (!((*p >= '0' && *p <= '9') || (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') ||
              *p == '_' || *p == '-' || *p == '.'))
            *p = '_';
}

static int node_layout(const assay_node *n)
{
    const assay_attr_field *f = assay_attr_find(assay_op_get(n->op)->attrs, "layout");
    return *(const int *)((const char *)&n->attr + f->offset);
}

/* The layout of a value of rank 3 to 5: that of the node that makes it, or of one that uses it. */
static const char *layout_of(const assay_graph *g, int value)
{
    for (int i = -1; i < g->n_nodes; i++) {
        const int n = i < 0 ? g->value[value].producer : i;
        bool touches = i < 0 && n >= 0;
        if (n < 0 || !(assay_op_get(g->node[n].op)->traits & ASSAY_T_LAYOUT))
            continue;
        touches = touches || (g->node[n].n_in > 0 && g->node[n].in[0] == value);
        if (touches && g->value[value].type.rank >= 3)
            return node_layout(&g->node[n]) == ASSAY_LAYOUT_NHWC ? "NHWC" : "NCHW";
    }
    return NULL;
}

/* Writes one tensor as FOLDER/STEM.* and notes the .npy file in `entry`. */
static assay_status write_part(assay_bundle_writer *w, const char *folder, const char *stem,
                               unsigned forms, const assay_type *type, const void *data,
                               json_t *entry, assay_error *err)
{
    char part[512];
    assay_status status;

    snprintf(part, sizeof part, "%s/%s", folder, stem);
    status = in_bundle(w, part, err);
    if (status == ASSAY_OK)
        status = assay_form_write(w->path, forms, w->options.hex_bits, type, data, err);
    if (status == ASSAY_OK && (forms & ASSAY_FORM_NPY)) {
        snprintf(part + strlen(part), sizeof part - strlen(part), ".npy");
        json_object_set_new(entry, "file", json_string(part));
    }
    return status;
}

/* "tensors", or "tensors/s00003" when there are several samples. */
static assay_status sample_folder(assay_bundle_writer *w, const char *kind, char folder[64],
                                  assay_error *err)
{
    if (w->options.samples > 1)
        snprintf(folder, 64, "%s/s%05lld", kind, (long long)w->sample);
    else
        snprintf(folder, 64, "%s", kind);
    return make_dir(w, folder, err);
}

static assay_status record(assay_bundle_writer *w, assay_run *run, int value, const char *op,
                           const int64_t *accumulators, assay_error *err)
{
    const assay_value *v = &w->program->graph->value[value];
    const void *data = assay_run_data(run, value);
    const char *layout = layout_of(w->program->graph, value);
    json_t *entry, *type;
    char hex[33], stem[ASSAY_BUNDLE_STEM], folder[64];
    assay_status status;

    if (!data)
        return ASSAY_OK;
    entry = json_object();
    type = assay_json_type(&v->type);
    if (!entry || !type || json_array_append_new(w->tensors, entry) != 0) {
        json_decref(type);
        return no_memory(err);
    }
    assay_bundle_stem(w->index[value], op, v->name, stem);
    json_object_set_new(entry, "index", json_integer(w->index[value]));
    if (w->options.samples > 1)
        json_object_set_new(entry, "sample", json_integer(w->sample));
    if (v->source_index >= 0)
        json_object_set_new(entry, "source_index", json_integer(v->source_index));
    json_object_set_new(entry, "name", json_string(v->name));
    json_object_set_new(entry, "op", json_string(op));
    json_object_update(entry, type);
    json_decref(type);
    json_object_set_new(entry, "layout", layout ? json_string(layout) : json_null());
    status = assay_digest_tensor(&v->type, data, hex, err);
    if (status != ASSAY_OK)
        return status;
    json_object_set_new(entry, "xxh3", json_string(hex));
    if (!w->options.digests_only) {
        status = sample_folder(w, "tensors", folder, err);
        if (status == ASSAY_OK)
            status = write_part(w, folder, stem, w->options.forms, &v->type, data, entry, err);
    }
    if (status == ASSAY_OK && accumulators && w->options.accumulators) {
        assay_type sums = v->type;
        json_t *sub = json_object();
        memset(&sums.q, 0, sizeof sums.q);
        sums.elem = assay_int(64, true);
        json_object_set_new(entry, "accumulators", sub);
        json_object_set_new(sub, "dtype", json_string("int64"));
        status = assay_digest_tensor(&sums, accumulators, hex, err);
        if (status != ASSAY_OK)
            return status;
        json_object_set_new(sub, "xxh3", json_string(hex));
        if (!w->options.digests_only) {
            status = sample_folder(w, "accumulators", folder, err);
            if (status == ASSAY_OK)
                status =
                    write_part(w, folder, stem, w->options.forms, &sums, accumulators, sub, err);
        }
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
            status = record(w, run, n->out[k], assay_op_get(n->op)->name,
                            k == 0 ? accumulators : NULL, err);
    return status;
}

assay_status assay_bundle_sample(assay_bundle_writer *w, assay_run *run, int64_t sample,
                                 const char *const *sources, assay_error *err)
{
    const assay_graph *g = w->program->graph;
    assay_status status = ASSAY_OK;

    w->sample = sample;
    for (int i = 0; i < g->n_inputs && status == ASSAY_OK; i++) {
        const assay_value *v = &g->value[g->input[i]];
        json_t *entry = assay_json_type(&v->type);
        char hex[33];
        if (!entry || json_array_append_new(w->inputs, entry) != 0)
            return no_memory(err);
        status = assay_digest_tensor(&v->type, assay_run_data(run, g->input[i]), hex, err);
        json_object_set_new(entry, "name", json_string(v->name));
        if (w->options.samples > 1)
            json_object_set_new(entry, "sample", json_integer(sample));
        if (sources && sources[i])
            json_object_set_new(entry, "file", json_string(base_name(sources[i])));
        json_object_set_new(entry, "xxh3", json_string(hex));
        if (status == ASSAY_OK)
            status = record(w, run, g->input[i], "input", NULL, err);
    }
    if (status != ASSAY_OK)
        return status;
    return assay_run_execute(run, observe, w->options.accumulators, w, err);
}

static json_t *node_list(const assay_program *p)
{
    json_t *a = json_array();
    for (int n = 0; n < p->graph->n_nodes; n++)
        json_array_append_new(
            a, assay_json_node(p->graph, n, p->scheme ? p->scheme->vt : NULL, p->unit[n]));
    return a;
}

/* Digest over the tensors' digests in their order, each as its 32 hex digits. */
static assay_status bundle_digest(const json_t *tensors, char hex[33], assay_error *err)
{
    const size_t n = json_array_size(tensors);
    char *all = calloc(n + 1, 32);

    if (!all)
        return no_memory(err);
    for (size_t i = 0; i < n; i++)
        memcpy(all + 32 * i, json_string_value(json_object_get(json_array_get(tensors, i), "xxh3")),
               32);
    assay_digest_bytes(all, 32 * n, hex);
    free(all);
    return ASSAY_OK;
}

static assay_status write_manifest(assay_bundle_writer *w, char digest[33], assay_error *err)
{
    const assay_program *p = w->program;
    json_t *m = json_object();
    json_t *graph = json_object();
    char hex[33];
    assay_status status;

    json_object_set_new(m, "format", json_string("assay-golden-1"));
    json_object_set_new(m, "assay", json_string(ASSAY_VERSION));
    json_object_set_new(
        m, "model",
        json_pack("{s:s,s:s}", "file", base_name(w->model_file), "xxh3", p->graph->model_digest));
    json_object_set_new(m, "scheme",
                        p->scheme ? json_pack("{s:s,s:s,s:s}", "name", p->scheme->name, "xxh3",
                                              p->scheme->digest, "text", p->scheme->text)
                                  : json_null());
    if (w->preprocessing)
        json_object_set_new(m, "preprocessing", json_string(w->preprocessing));
    if (w->options.sequence)
        json_object_set_new(m, "sequence", json_true());
    json_object_set(m, "inputs", w->inputs);
    json_object_set_new(m, "graph", graph);
    json_object_set_new(m, "nodes", node_list(p));
    json_object_set(m, "constants", w->constants);
    json_object_set(m, "tensors", w->tensors);
    status = bundle_digest(w->tensors, digest, err);
    if (p->scheme)
        json_object_set_new(m, "contract", assay_contract_json(p));
    json_object_set_new(m, "digest", json_string(status == ASSAY_OK ? digest : ""));
    if (status == ASSAY_OK && !w->options.digests_only) {
        status = in_bundle(w, "graph.assay", err);
        if (status == ASSAY_OK)
            status = assay_digest_file(w->path, hex, err);
        json_object_set_new(graph, "file", json_string("graph.assay"));
        json_object_set_new(graph, "xxh3", json_string(status == ASSAY_OK ? hex : ""));
    }
    if (status == ASSAY_OK)
        status = in_bundle(w, "manifest.json", err);
    if (status == ASSAY_OK)
        status = assay_json_write(w->path, m, err);
    json_decref(m);
    return status;
}

assay_status assay_bundle_commit(assay_bundle_writer *w, char digest[33], assay_error *err)
{
    char hex[33];
    assay_status status = write_manifest(w, hex, err);

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
