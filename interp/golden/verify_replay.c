/* A bundle's own network under its own scheme on its own inputs, run again: the manifest is made
 * anew and compared entry by entry. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/files/json.h"
#include "graph/memory.h"
#include "interp/golden/bundle_writer.h"
#include "interp/golden/verify.h"
#include "interp/page/json.h"

/* ---- comparing ---- */

static void bad_entry(const assay_verifier *c, const char *path, const json_t *found,
                      const json_t *wanted)
{
    char *a = file_json_text(found, JSON_ENCODE_ANY | JSON_COMPACT);
    char *b = file_json_text(wanted, JSON_ENCODE_ANY | JSON_COMPACT);
    c->out->entries_bad++;
    golden_verifier_say(c, "manifest.json", "%.200s: %.80s, by a fresh run %.80s", path,
                        a ? a : "nothing", b ? b : "nothing");
    free(a);
    free(b);
}

static void compare(const assay_verifier *c, const char *path, const json_t *found,
                    const json_t *wanted);

static void compare_objects(const assay_verifier *c, const char *path, const json_t *found,
                            const json_t *wanted)
{
    char inner[1024];
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)wanted, key, value)
    {
        snprintf(inner, sizeof inner, "%.600s%s%.400s", path, *path ? "." : "", key);
        compare(c, inner, json_object_get(found, key), value);
    }
    json_object_foreach((json_t *)(uintptr_t)found, key, value)
    {
        snprintf(inner, sizeof inner, "%.600s%s%.400s", path, *path ? "." : "", key);
        if (!json_object_get(wanted, key))
            bad_entry(c, inner, value, NULL);
    }
}

/* Whether a list has the elements of an array that a fresh run writes to a file: earlier versions
 * had files of weights' parameters only. */
static bool is_listed(const assay_verifier *c, const json_t *found, const json_t *wanted)
{
    const char *digest = json_string_value(json_object_get(wanted, "xxh3"));
    char hex[33] = "";
    assay_type type;
    void *data;
    if (!digest || golden_bundle_parameter(c->bundle, "", found, &type, &data, NULL))
        return false;
    const bool is = !golden_digest_tensor(&type, data, hex, NULL) && strcmp(hex, digest) == 0;
    free(data);
    return is;
}

/* One fault an array: the first. */
static void compare_arrays(const assay_verifier *c, const char *path, const json_t *found,
                           const json_t *wanted)
{
    const size_t n = json_array_size(found), m = json_array_size(wanted);
    const int64_t before = c->out->entries_bad;
    char inner[1024];
    for (size_t i = 0; i < (n > m ? n : m) && c->out->entries_bad == before; i++) {
        snprintf(inner, sizeof inner, "%.900s[%zu]", path, i);
        compare(c, inner, json_array_get(found, i), json_array_get(wanted, i));
    }
}

static void compare(const assay_verifier *c, const char *path, const json_t *found,
                    const json_t *wanted)
{
    if (json_is_object(found) && json_is_object(wanted))
        compare_objects(c, path, found, wanted);
    else if (json_is_array(found) && json_is_array(wanted))
        compare_arrays(c, path, found, wanted);
    else if (!json_equal(found, wanted) && !(json_is_array(found) && is_listed(c, found, wanted)))
        bad_entry(c, path, found, wanted);
}

/* Entries of tensors: other bits are counted by tensor. */
static void compare_tensors(const assay_verifier *c, const json_t *found, const json_t *wanted)
{
    const size_t n = json_array_size(found), m = json_array_size(wanted);
    char path[64];
    for (size_t i = 0; i < (n > m ? n : m); i++) {
        json_t *a = json_array_get(found, i), *b = json_array_get(wanted, i);
        const char *name = json_string_value(json_object_get(b ? b : a, "name"));
        if (!a || !b || !json_equal(json_object_get(a, "xxh3"), json_object_get(b, "xxh3"))) {
            c->out->replay_bad++;
            golden_verifier_say(c, name ? name : "tensors", "%s",
                                !a   ? "not in the manifest"
                                : !b ? "a fresh run does not give it"
                                     : "a fresh run gives other bits");
            if (!a || !b)
                continue;
            json_object_del(a, "xxh3");
            json_object_del(b, "xxh3");
        }
        snprintf(path, sizeof path, "tensors[%zu]", i);
        compare(c, path, a, b);
    }
}

/* Adds the counts of a contract's list of ops to those in *sum. */
static void add_counts(json_t **sum, const json_t *list)
{
    const char *op;
    json_t *count;
    json_object_foreach((json_t *)(uintptr_t)list, op, count)
    {
        const json_int_t before = json_integer_value(json_object_get(*sum, op));
        page_json_set(sum, op, json_integer(before + json_integer_value(count)));
    }
}

/* A contract without what is claimed, which is no part of a scheme's text: nodes by op alone. Takes
 * and returns the manifest, NULL when out of memory. */
static json_t *drop_claims(json_t *m)
{
    json_t *contract = json_incref(json_object_get(m, "contract")), *sum = json_object();
    add_counts(&sum, json_object_get(contract, "exact"));
    add_counts(&sum, json_object_get(contract, "not_exact"));
    json_object_del(contract, "words");
    json_object_del(contract, "not_exact");
    page_json_set(&contract, "exact", sum);
    page_json_set(&m, "contract", contract);
    return m;
}

/* The manifest's own digest covers what a run cannot know. Takes and returns the manifest, as
 * above. */
static json_t *drop_origin(json_t *m, bool claims)
{
    json_object_del(m, "assay");
    json_object_del(m, "xxh3");
    json_object_del(m, "tensors");
    return claims || !json_is_object(json_object_get(m, "contract")) ? m : drop_claims(m);
}

/* Reads what was printed as ASSAY_JSON_FORMAT here, or NULL when out of memory: the reader of
 * jansson 2.14 then may leave out characters. */
static json_t *read_printed(const char *text, size_t size)
{
    json_t *o = json_loadb(text, size, 0, NULL);
    char *again = file_json_text(o, ASSAY_JSON_FORMAT);
    const size_t n = again ? strlen(again) : 0;
    const bool whole = n > 0 && n <= size && memcmp(again, text, n) == 0;
    free(again);
    if (whole)
        return o;
    json_decref(o);
    return NULL;
}

/* A manifest again, or NULL when out of memory: json_deep_copy (jansson 2.14) would leave out
 * keys.
 */
static json_t *copy_manifest(const json_t *m)
{
    char *text = file_json_text(m, ASSAY_JSON_FORMAT);
    json_t *copy = text ? read_printed(text, strlen(text)) : NULL;
    free(text);
    return copy;
}

/* claims: those of the scheme are known. */
static assay_status compare_manifests(const assay_verifier *c, const char *text, size_t size,
                                      bool claims, assay_error *err)
{
    json_t *wanted = read_printed(text, size);
    json_t *found = copy_manifest(c->bundle->manifest);
    if (wanted && found) {
        compare_tensors(c, json_object_get(found, "tensors"), json_object_get(wanted, "tensors"));
        found = drop_origin(found, claims);
        wanted = drop_origin(wanted, claims);
    }
    if (wanted && found)
        compare(c, "", found, wanted);
    const bool good = wanted && found;
    json_decref(wanted);
    json_decref(found);
    return good ? ASSAY_OK : assay_out_of_memory(err);
}

/* ---- running ---- */

typedef struct replay {
    const assay_verifier *c;
    assay_graph *graph;
    assay_scheme *scheme;
    bool preset; /* the scheme is one of ours */
    assay_program *program;
    assay_run *run;
    assay_bundle_writer *writer;
} replay;

static assay_status load(replay *r, const assay_program_options *engine, assay_error *err)
{
    assay_program_options options = *engine;
    assay_status status =
        golden_bundle_network(r->c->bundle, &r->graph, &r->scheme, &r->preset, err);

    options.keep_all = true;
    if (!status)
        status = run_program_make_with(r->graph, r->scheme, &options, &r->program, err);
    return !status ? assay_run_new(r->program, &r->run, err) : status;
}

/* Entries are sample-major: a sample ends where its number changes. */
static int end_of(const assay_bundle *b, int first)
{
    int end = first + 1;
    while (end < b->n_tensors && b->tensor[end].sample == b->tensor[first].sample)
        end++;
    return end;
}

/* Whether a tensor that would be computed has a file: the bundle is of an earlier version. */
static assay_status find_whole(const replay *r, bool *whole, assay_error *err)
{
    const assay_bundle *b = r->c->bundle;
    const assay_graph *g = r->graph;
    int *index = calloc((size_t)g->n_values + 1, sizeof *index);
    bool *made;
    assay_status status = golden_bundle_of_constants(g, &made, err);
    if (!status && !index)
        status = assay_out_of_memory(err);
    if (!status)
        golden_bundle_number(g, index);
    for (int v = 0; !status && v < g->n_values; v++)
        if (made[v] && golden_bundle_is_computed(&g->value[v].type) && index[v] < b->n_tensors)
            *whole = *whole || b->tensor[index[v]].file;
    free(made);
    free(index);
    return status;
}

static assay_status begin(replay *r, assay_error *err)
{
    const assay_bundle *b = r->c->bundle;
    const json_t *m = b->manifest;
    assay_bundle_options o = {
        .accumulators = false,
        .forms = b->forms,
        .hex_bits = b->hex_bits,
        .lists = b->lists,
        .wide = b->wide,
        .sequence = json_is_true(json_object_get(m, "sequence")),
        .model_file = json_string_value(json_object_get(json_object_get(m, "model"), "file")),
        .preprocessing = json_string_value(json_object_get(m, "preprocessing"))};
    for (int first = 0; first < b->n_tensors; first = end_of(b, first))
        o.samples++;
    for (int i = 0; i < b->n_tensors; i++)
        o.accumulators = o.accumulators || b->tensor[i].sums_digest;
    assay_status status = find_whole(r, &o.whole, err);
    return !status ? golden_bundle_begin(&o, r->program, &r->writer, err) : status;
}

/* The entry of the graph's input i among a sample's, or -1. */
static int entry_of_input(const replay *r, int i, int first, int end)
{
    const assay_bundle *b = r->c->bundle;
    int e = first;
    while (e < end && b->tensor[e].index != i) /* inputs are numbered first */
        e++;
    return e < end ? e : -1;
}

/* Puts input i of a sample in place, from the bundle's own tensor. */
static assay_status read_input(replay *r, int i, int first, int end, assay_error *err)
{
    const assay_bundle *b = r->c->bundle;
    const int value = r->graph->input[i], e = entry_of_input(r, i, first, end);
    const assay_value *v = &r->graph->value[value];
    void *data;
    assay_status status;

    if (e < 0)
        return assay_fail(err, ASSAY_ERR_INPUT, "%s: input '%s' of sample %lld is missing", b->dir,
                          v->name, (long long)b->tensor[first].sample);
    if (!b->tensor[e].file)
        return golden_bundle_read(b, e, &data, err);
    status = golden_bundle_read_array(b, b->tensor[e].file, &v->type, &data, err);
    if (!status)
        memcpy(assay_run_data(r->run, value), data, assay_type_bytes(&v->type));
    free(data);
    return status;
}

/* Name of the file that input i of the k-th sample came from, or NULL. */
static const char *source_of(const replay *r, int64_t k, int i)
{
    const json_t *inputs = json_object_get(r->c->bundle->manifest, "inputs");
    const size_t at = (size_t)(k * r->graph->n_inputs + i);
    return json_string_value(json_object_get(json_array_get(inputs, at), "file"));
}

static assay_status run_sample(replay *r, int64_t k, int first, int end, assay_error *err)
{
    const assay_bundle *b = r->c->bundle;
    const int n = r->graph->n_inputs;
    const char **sources = calloc((size_t)n + 1, sizeof *sources);
    assay_status status = sources ? ASSAY_OK : assay_out_of_memory(err);

    for (int i = 0; i < n && !status; i++) {
        sources[i] = source_of(r, k, i);
        status = read_input(r, i, first, end, err);
    }
    if (!json_is_true(json_object_get(b->manifest, "sequence")))
        assay_run_reset(r->run);
    if (!status)
        status = golden_bundle_sample(r->writer, r->run, b->tensor[first].sample, sources, err);
    free(sources);
    return status;
}

static void close_replay(replay *r)
{
    golden_bundle_abort(r->writer);
    assay_run_free(r->run);
    assay_program_free(r->program);
    assay_scheme_free(r->scheme);
    assay_graph_free(r->graph);
}

assay_status golden_verify_replay(const assay_verifier *c, const assay_program_options *engine,
                                  assay_error *err)
{
    const assay_bundle *b = c->bundle;
    replay r = {.c = c};
    char digest[33];
    file_memory text = {0};
    int64_t k = 0;
    assay_status status = load(&r, engine, err);

    if (!status)
        status = begin(&r, err);
    for (int first = 0, end; first < b->n_tensors && !status; first = end, k++) {
        end = end_of(b, first);
        status = run_sample(&r, k, first, end, err);
    }
    if (!status)
        status = golden_bundle_manifest(r.writer, digest, &text, err);
    if (!status)
        status = compare_manifests(c, text.text, text.length, r.preset, err);
    free(text.text);
    close_replay(&r);
    return status;
}
