/* The manifest of a golden bundle: the program and what it ran on; bundle_tensors.c lists what came
 * out. */
#include <stdlib.h>
#include <string.h>

#include "interp/golden/bundle_writer.h"
#include "interp/golden/contract.h"
#include "interp/golden/digest.h"
#include "interp/golden/files.h"

static assay_status no_memory(assay_error *err)
{
    return assay_fail(err, ASSAY_ERR_MEMORY, "out of memory writing the bundle");
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

void assay_bundle_folder(const assay_bundle_writer *w, const char *kind, int64_t sample,
                         char folder[64])
{
    if (w->options.samples > 1)
        snprintf(folder, 64, "%s/s%05lld", kind, (long long)sample);
    else
        snprintf(folder, 64, "%s", kind);
}

const char *assay_bundle_op(const assay_graph *g, int value)
{
    const int n = g->value[value].producer;
    return n >= 0 ? assay_op_get(g->node[n].op)->name : "input";
}

void assay_bundle_part(const assay_bundle_writer *w, const char *kind, int value, int64_t sample,
                       char part[ASSAY_BUNDLE_PART])
{
    const assay_graph *g = w->program->graph;
    char stem[ASSAY_BUNDLE_STEM], folder[64];
    assay_bundle_stem(w->index[value], assay_bundle_op(g, value), g->value[value].name, stem);
    assay_bundle_folder(w, kind, sample, folder);
    snprintf(part, ASSAY_BUNDLE_PART, "%s/%s", folder, stem);
}

/* The entry of input `slot` of a record. */
static json_t *input_entry(const assay_bundle_writer *w, int64_t record, int slot)
{
    const assay_bundle_records *r = &w->records;
    const assay_graph *g = w->program->graph;
    const assay_value *v = &g->value[r->slot[slot].value];
    const char *source = r->source[record * g->n_inputs + slot];
    json_t *entry = assay_json_type(&v->type);
    char hex[33];
    assay_digest_print(r->tensor[record * r->n_slots + slot], hex);
    json_object_set_new(entry, "name", json_string(v->name));
    if (w->options.samples > 1)
        json_object_set_new(entry, "sample", json_integer(r->sample[record]));
    if (source)
        json_object_set_new(entry, "file", json_string(source));
    json_object_set_new(entry, "xxh3", json_string(hex));
    return entry;
}

/* The entries of all records' inputs, or NULL for want of memory. */
static json_t *input_list(const assay_bundle_writer *w)
{
    json_t *a = json_array();
    for (int64_t k = 0; k < w->records.n; k++)
        for (int i = 0; i < w->program->graph->n_inputs && a; i++)
            if (json_array_append_new(a, input_entry(w, k, i)) != 0) {
                json_decref(a);
                a = NULL;
            }
    return a;
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
static assay_status bundle_digest(const assay_bundle_records *r, char hex[33], assay_error *err)
{
    const size_t n = (size_t)r->n * (size_t)r->n_slots;
    char *all = calloc(n + 1, 32), one[33];

    if (!all)
        return no_memory(err);
    for (size_t i = 0; i < n; i++) {
        assay_digest_print(r->tensor[i], one);
        memcpy(all + 32 * i, one, 32);
    }
    assay_digest_bytes(all, 32 * n, hex);
    free(all);
    return ASSAY_OK;
}

/* The manifest, whose list of tensors is empty as yet, with that list. */
static assay_status write_manifest(const assay_bundle_writer *w, const json_t *m, assay_error *err)
{
    static const char list[] = "\n \"tensors\": [";
    char *text = json_dumps(m, ASSAY_JSON_FORMAT), *all = NULL;
    const char *rest = text ? strstr(text, list) + strlen(list) : NULL;
    size_t size = 0;
    FILE *f = text ? open_memstream(&all, &size) : NULL;
    assay_status status = f ? ASSAY_OK : no_memory(err);

    if (status == ASSAY_OK) {
        fwrite(text, 1, (size_t)(rest - text), f);
        status = assay_bundle_tensors_print(w, f, err);
        fputs(rest, f);
        if ((ferror(f) | fclose(f)) != 0 && status == ASSAY_OK)
            status = no_memory(err);
    }
    if (status == ASSAY_OK)
        status = assay_write_file(w->path, all, size, err);
    free(all);
    free(text);
    return status;
}

assay_status assay_bundle_manifest(assay_bundle_writer *w, char digest[33], assay_error *err)
{
    const assay_program *p = w->program;
    json_t *m = json_object();
    json_t *graph = json_object();
    json_t *inputs = input_list(w);
    json_t *tensors = json_array(); /* filled in as text */
    char hex[33];
    assay_status status;

    if (!m || !graph || !inputs || !tensors) {
        json_decref(m);
        json_decref(graph);
        json_decref(inputs);
        json_decref(tensors);
        return no_memory(err);
    }
    json_object_set_new(m, "format", json_string("assay-golden-1"));
    json_object_set_new(m, "assay", json_string(ASSAY_VERSION));
    json_object_set_new(m, "model",
                        json_pack("{s:s,s:s}", "file", assay_base_name(w->model_file), "xxh3",
                                  p->graph->model_digest));
    json_object_set_new(m, "scheme",
                        p->scheme ? json_pack("{s:s,s:s,s:s}", "name", p->scheme->name, "xxh3",
                                              p->scheme->digest, "text", p->scheme->text)
                                  : json_null());
    if (w->preprocessing)
        json_object_set_new(m, "preprocessing", json_string(w->preprocessing));
    if (w->options.sequence)
        json_object_set_new(m, "sequence", json_true());
    json_object_set_new(m, "inputs", inputs);
    json_object_set_new(m, "graph", graph);
    json_object_set_new(m, "nodes", node_list(p));
    json_object_set(m, "constants", w->constants);
    json_object_set_new(m, "tensors", tensors);
    status = bundle_digest(&w->records, digest, err);
    if (p->scheme)
        json_object_set_new(m, "contract", assay_contract_json(p));
    json_object_set_new(m, "digest", json_string(status == ASSAY_OK ? digest : ""));
    if (status == ASSAY_OK && !w->options.digests_only) {
        status = assay_bundle_path(w, "graph.assay", err);
        if (status == ASSAY_OK)
            status = assay_digest_file(w->path, hex, err);
        json_object_set_new(graph, "file", json_string("graph.assay"));
        json_object_set_new(graph, "xxh3", json_string(status == ASSAY_OK ? hex : ""));
    }
    if (status == ASSAY_OK)
        status = assay_bundle_path(w, "manifest.json", err);
    if (status == ASSAY_OK)
        status = write_manifest(w, m, err);
    json_decref(m);
    return status;
}
