/* The manifest of a golden bundle: the program, and an entry for each tensor that samples left. */
#include <stdlib.h>
#include <string.h>

#include "interp/bundle_writer.h"
#include "interp/contract.h"
#include "interp/digest.h"
#include "interp/files.h"

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

static const char *op_of(const assay_graph *g, int value)
{
    const int n = g->value[value].producer;
    return n >= 0 ? assay_op_get(g->node[n].op)->name : "input";
}

void assay_bundle_part(const assay_bundle_writer *w, const char *kind, int value, int64_t sample,
                       char part[ASSAY_BUNDLE_PART])
{
    const assay_graph *g = w->program->graph;
    char stem[ASSAY_BUNDLE_STEM], folder[64];
    assay_bundle_stem(w->index[value], op_of(g, value), g->value[value].name, stem);
    assay_bundle_folder(w, kind, sample, folder);
    snprintf(part, ASSAY_BUNDLE_PART, "%s/%s", folder, stem);
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

static void set_digest(json_t *entry, assay_digest d)
{
    char hex[33];
    assay_digest_print(d, hex);
    json_object_set_new(entry, "xxh3", json_string(hex));
}

/* The entry of input `slot` of a record. */
static json_t *input_entry(const assay_bundle_writer *w, int64_t record, int slot)
{
    const assay_bundle_records *r = &w->records;
    const assay_graph *g = w->program->graph;
    const assay_value *v = &g->value[r->slot[slot].value];
    const char *source = r->source[record * g->n_inputs + slot];
    json_t *entry = assay_json_type(&v->type);
    json_object_set_new(entry, "name", json_string(v->name));
    if (w->options.samples > 1)
        json_object_set_new(entry, "sample", json_integer(r->sample[record]));
    if (source)
        json_object_set_new(entry, "file", json_string(source));
    set_digest(entry, r->tensor[record * r->n_slots + slot]);
    return entry;
}

static void set_file(const assay_bundle_writer *w, const char *kind, int value, int64_t sample,
                     json_t *entry)
{
    char part[ASSAY_BUNDLE_PART];
    if (w->options.digests_only)
        return;
    assay_bundle_part(w, kind, value, sample, part);
    json_object_set_new(entry, "file", json_sprintf("%s.npy", part));
}

static json_t *tensor_entry(const assay_bundle_writer *w, int64_t record, int slot)
{
    const assay_bundle_records *r = &w->records;
    const assay_bundle_slot *t = &r->slot[slot];
    const int64_t sample = r->sample[record];
    const assay_graph *g = w->program->graph;
    const assay_value *v = &g->value[t->value];
    const char *layout = layout_of(g, t->value);
    json_t *entry = json_object(), *type = assay_json_type(&v->type);
    json_object_set_new(entry, "index", json_integer(w->index[t->value]));
    if (w->options.samples > 1)
        json_object_set_new(entry, "sample", json_integer(sample));
    if (v->source_index >= 0)
        json_object_set_new(entry, "source_index", json_integer(v->source_index));
    json_object_set_new(entry, "name", json_string(v->name));
    json_object_set_new(entry, "op", json_string(op_of(g, t->value)));
    json_object_update(entry, type);
    json_decref(type);
    json_object_set_new(entry, "layout", layout ? json_string(layout) : json_null());
    set_digest(entry, r->tensor[record * r->n_slots + slot]);
    set_file(w, "tensors", t->value, sample, entry);
    if (t->has_sums) {
        json_t *sub = json_object();
        json_object_set_new(entry, "accumulators", sub);
        json_object_set_new(sub, "dtype", json_string("int64"));
        set_digest(sub, r->sums[record * r->n_slots + slot]);
        set_file(w, "accumulators", t->value, sample, sub);
    }
    return entry;
}

/* The entries of the first `slots` slots of all records, or NULL for want of memory. */
static json_t *entry_list(const assay_bundle_writer *w, int slots,
                          json_t *(*make)(const assay_bundle_writer *w, int64_t record, int slot))
{
    json_t *a = json_array();
    for (int64_t k = 0; k < w->records.n; k++)
        for (int i = 0; i < slots && a; i++)
            if (json_array_append_new(a, make(w, k, i)) != 0) {
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

assay_status assay_bundle_manifest(assay_bundle_writer *w, char digest[33], assay_error *err)
{
    const assay_program *p = w->program;
    json_t *m = json_object();
    json_t *graph = json_object();
    json_t *inputs = entry_list(w, p->graph->n_inputs, input_entry);
    json_t *tensors = entry_list(w, w->records.n_slots, tensor_entry);
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
        status = assay_json_write(w->path, m, err);
    json_decref(m);
    return status;
}
