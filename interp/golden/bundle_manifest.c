/* The manifest of a golden bundle: the program and what it ran on; bundle_tensors.c lists what came
 * out. */
#include <stdlib.h>
#include <string.h>

#include "graph/files/files.h"
#include "graph/files/json.h"
#include "graph/files/memory.h"
#include "graph/memory.h"
#include "graph/text/text.h"
#include "interp/golden/bundle_writer.h"
#include "interp/golden/contract.h"
#include "interp/golden/digest.h"
#include "interp/page/json.h"

static assay_status no_memory(assay_error *err)
{
    return assay_out_of_memory_for(err, "writing the bundle");
}

/* The entry of input `slot` of a record. */
static json_t *input_entry(const assay_bundle_writer *w, int64_t record, int slot)
{
    const assay_bundle_records *r = &w->records;
    const assay_graph *g = w->program->graph;
    const assay_value *v = &g->value[r->slot[slot].value];
    const char *source = r->source[record * g->n_inputs + slot];
    json_t *entry = golden_json_type(&v->type);
    char hex[33];
    golden_digest_print(r->tensor[record * r->n_slots + slot], hex);
    page_json_set(&entry, "name", page_json_text(v->name));
    if (w->options.samples > 1)
        page_json_set(&entry, "sample", json_integer(r->sample[record]));
    if (source)
        page_json_set(&entry, "file", page_json_text(source));
    page_json_set(&entry, "xxh3", json_string(hex));
    return entry;
}

/* The entries of all records' inputs, or NULL for want of memory. */
static json_t *input_list(const assay_bundle_writer *w)
{
    json_t *a = json_array();
    for (int64_t k = 0; k < w->records.n; k++)
        for (int i = 0; i < w->program->graph->n_inputs && a; i++)
            page_json_add(&a, input_entry(w, k, i));
    return a;
}

size_t golden_bundle_parameters(const assay_scheme_vtable *vt, const assay_unit *unit,
                                assay_unit_param list[ASSAY_BUNDLE_PARAMETERS])
{
    const size_t n = vt->params ? vt->params(unit, list, ASSAY_BUNDLE_PARAMETERS) : 0;
    return n < ASSAY_BUNDLE_PARAMETERS ? n : ASSAY_BUNDLE_PARAMETERS;
}

/* Where a node's parameters are, without ".NAME.npy". */
static void parameters_part(const assay_bundle_writer *w, int node, char part[ASSAY_BUNDLE_PART])
{
    const assay_graph *g = w->program->graph;
    const int value = g->node[node].out[0];
    char stem[ASSAY_BUNDLE_STEM] = "";
    if (value >= 0)
        golden_bundle_stem(w->index[value], golden_bundle_op(g, value), g->value[value].name, stem);
    snprintf(part, ASSAY_BUNDLE_PART, "parameters/%s", stem);
}

/* A list with an entry for each block of an operand, and long. */
static bool is_by_block(const assay_graph *g, const assay_node *n, const assay_unit_param *list)
{
    for (int k = 0; k < n->n_in; k++) {
        const assay_value *w = assay_node_in(g, n, k);
        if (w && text_params_in_files(&w->type.q) && list->count == w->type.q.count)
            return true;
    }
    return false;
}

/* A list as an array: PART.NAME in these forms, and in the manifest what stands for it. */
static assay_status put_array(assay_bundle_writer *w, const char *part, unsigned forms,
                              const assay_unit_param *list, json_t **entry, assay_error *err)
{
    const assay_type type = golden_bundle_parameter_type(list->value, list->count);
    char named[ASSAY_BUNDLE_PART + 64], file[ASSAY_BUNDLE_PART + 72], hex[33];
    void *data;
    snprintf(named, sizeof named, "%s.%.60s", part, list->name);
    snprintf(file, sizeof file, "%s.npy", named);
    assay_status status = golden_bundle_parameter_data(&type, list->value, &data, err);
    if (!status && forms)
        status = golden_bundle_put(w, named, forms, &type, data, err);
    if (!status && entry && !(status = golden_digest_tensor(&type, data, hex, err)))
        *entry = golden_json_array(w->options.digests_only ? NULL : file, hex);
    free(data);
    return status;
}

static json_t *integer_list(const assay_unit_param *list)
{
    json_t *a = json_array();
    for (size_t k = 0; k < list->count; k++)
        page_json_add(&a, json_integer(list->value[k]));
    return a;
}

/* The parameters of a node into its entry, and into files: those per block, and in forms other than
 * .npy all. */
static assay_status add_parameters(assay_bundle_writer *w, int node, json_t **o, assay_error *err)
{
    const assay_program *p = w->program;
    const unsigned files = w->options.digests_only ? 0 : w->options.forms;
    const unsigned others = files & ~(unsigned)ASSAY_DUMP_NPY;
    assay_unit_param list[ASSAY_BUNDLE_PARAMETERS];
    char part[ASSAY_BUNDLE_PART];
    const size_t n = golden_bundle_parameters(run_vtable_of(p, node), p->unit[node], list);
    json_t *all = json_object();
    assay_status status = ASSAY_OK;

    parameters_part(w, node, part);
    for (size_t i = 0; i < n && !status; i++) {
        const bool by_block =
            !w->options.lists && is_by_block(p->graph, &p->graph->node[node], &list[i]);
        json_t *entry = by_block ? NULL : integer_list(&list[i]);
        if (by_block || others)
            status = put_array(w, part, by_block ? files : others, &list[i],
                               by_block ? &entry : NULL, err);
        page_json_set(&all, list[i].name, entry);
    }
    page_json_set(o, "parameters", all);
    if (n > 0 && others)
        page_json_set(o, "parameter_files", json_string(part));
    return status;
}

static assay_status add_nodes(assay_bundle_writer *w, json_t **m, assay_error *err)
{
    const assay_program *p = w->program;
    json_t *a = json_array();
    assay_status status = ASSAY_OK;
    for (int n = 0; n < p->graph->n_nodes && !status; n++) {
        json_t *o = golden_json_node(p->graph, n);
        if (p->unit[n])
            status = add_parameters(w, n, &o, err);
        page_json_add(&a, o);
    }
    page_json_set(m, "nodes", a);
    return status;
}

static json_t *form_list(unsigned forms)
{
    json_t *a = json_array();
    for (unsigned form = 1; form & ASSAY_DUMP_ALL; form <<= 1)
        if (forms & form)
            page_json_add(&a, json_string(golden_dump_name((enum assay_dump_format)form)));
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
        golden_digest_print(r->tensor[i], one);
        memcpy(all + 32 * i, one, 32);
    }
    golden_digest_bytes(all, 32 * n, hex);
    free(all);
    return ASSAY_OK;
}

/* The manifest, whose list of tensors is empty as yet, with that list and sealed; NULL, which
 * memory was short for, is an error here. */
static assay_status print_manifest(const assay_bundle_writer *w, const json_t *m, file_memory *all,
                                   assay_error *err)
{
    static const char list[] = "\n \"tensors\": [";
    char *text = file_json_text(m, ASSAY_JSON_FORMAT), hex[33] = "";
    char *rest = text ? strstr(text, list) + strlen(list) : NULL;
    FILE *f = text ? file_memory_open(all) : NULL;
    assay_status status = f ? ASSAY_OK : no_memory(err);

    if (!status) {
        fwrite(text, 1, (size_t)(rest - text), f);
        status = golden_bundle_tensors_print(w, f, err);
        rest[strlen(rest) - strlen("\n}")] = 0;
        fputs(rest, f);
        if (fflush(f) == 0)
            golden_digest_bytes(all->text, all->length, hex);
        fprintf(f, ASSAY_BUNDLE_SEAL "%s\"\n}\n", hex);
        if (!file_memory_close(f) && !status)
            status = no_memory(err);
    }
    free(text);
    return status;
}

/* What ran, on what, and how it was written. */
static json_t *origin(const assay_bundle_writer *w)
{
    const assay_program *p = w->program;
    json_t *m = json_object();
    page_json_set(&m, "format", json_string("assay-golden-1"));
    page_json_set(&m, "assay", json_string(ASSAY_VERSION));
    page_json_set(&m, "model",
                  json_pack("{s:o,s:s}", "file", page_json_text(file_base_name(w->model_file)),
                            "xxh3", p->graph->model_digest));
    page_json_set(&m, "scheme",
                  p->scheme ? json_pack("{s:s,s:s,s:s}", "name", p->scheme->name, "xxh3",
                                        p->scheme->digest, "text", p->scheme->text)
                            : json_null());
    if (w->preprocessing)
        page_json_set(&m, "preprocessing", page_json_text(w->preprocessing));
    if (w->options.sequence)
        page_json_set(&m, "sequence", json_true());
    page_json_set(&m, "forms", form_list(w->options.forms));
    if (w->options.hex_bits)
        page_json_set(&m, "hex_bits", json_integer(w->options.hex_bits));
    return m;
}

assay_status golden_bundle_manifest(assay_bundle_writer *w, char digest[33], file_memory *text,
                                    assay_error *err)
{
    const assay_program *p = w->program;
    json_t *m = origin(w), *graph = json_object();
    assay_status status;

    if (!w->options.digests_only) {
        page_json_set(&graph, "file", json_string("graph.assay"));
        page_json_set(&graph, "xxh3", json_string(w->graph_digest));
    }
    page_json_set(&m, "inputs", input_list(w));
    page_json_set(&m, "graph", graph);
    status = add_nodes(w, &m, err);
    page_json_set(&m, "constants", json_incref(w->constants));
    page_json_set(&m, "tensors", json_array()); /* filled in as text */
    if (!status)
        status = bundle_digest(&w->records, digest, err);
    if (p->scheme)
        page_json_set(&m, "contract", golden_contract_json(p));
    if (!status) {
        page_json_set(&m, "digest", json_string(digest));
        status = print_manifest(w, m, text, err);
    }
    json_decref(m);
    return status;
}
