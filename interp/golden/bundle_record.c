/* Recording samples: a digest of every tensor as it is produced, and its file. What can be known
 * before is: a record is an array of digests, and a tensor costs no more than its hash. */
#include <stdlib.h>
#include <string.h>

#include "graph/files/files.h"
#include "graph/memory.h"
#include "interp/golden/bundle_writer.h"

/* Bytes of tensors that wait to be hashed together, where a program keeps them all: hashes one
 * after another run in half the time that they take between kernels, each time from cold. They
 * should be in the second level of cache still. */
enum { MAX_WAITING = 1 << 17 };

static assay_status no_memory(assay_error *err)
{
    return assay_out_of_memory_for(err, "recording the bundle's samples");
}

/* ---- slots ---- */

static void add_slot(assay_bundle_records *r, const assay_graph *g, int value, bool of_constants)
{
    const assay_type *type = &g->value[value].type;
    const size_t width = assay_elem_size(type->elem);
    r->slot[r->n_slots++] =
        (assay_bundle_slot){.value = value,
                            .of_constants = of_constants && golden_bundle_is_computed(type),
                            .width = width,
                            .bytes = (size_t)assay_shape_count(type) * width};
}

/* of_constants: by value, whether it is made of constants alone and needs no file. */
static void add_slots(assay_bundle_records *r, const assay_graph *g, const bool *of_constants)
{
    for (int i = 0; i < g->n_inputs; i++)
        add_slot(r, g, g->input[i], false);
    for (int i = 0; i < g->n_nodes; i++) {
        r->first[i] = r->n_slots;
        for (int k = 0; k < g->node[i].n_out; k++)
            if (g->node[i].out[k] >= 0)
                add_slot(r, g, g->node[i].out[k], of_constants[g->node[i].out[k]]);
    }
    r->first[g->n_nodes] = r->n_slots;
}

/* After which nodes slots are recorded: those that more than max bytes wait for. */
static void set_stops(assay_bundle_records *r, const assay_graph *g, size_t max)
{
    size_t waiting = 0;
    for (int i = 0; i < g->n_nodes; i++) {
        for (int k = r->first[i]; k < r->first[i + 1]; k++)
            waiting += r->slot[k].bytes;
        r->stop[i] = waiting > max;
        r->stops = r->stops || r->stop[i];
        waiting = r->stop[i] ? 0 : waiting;
    }
}

/* ---- room ---- */

/* Makes *list one of `room` times n elements of `size` bytes. */
static bool grow(void *list, int64_t room, int n, size_t size)
{
    void *old, *grown;
    memcpy(&old, list, sizeof old);
    grown = reallocarray(old, (size_t)room, (size_t)(n > 0 ? n : 1) * size);
    if (grown)
        memcpy(list, &grown, sizeof grown);
    return grown != NULL;
}

static assay_status make_room(assay_bundle_writer *w, int64_t room, assay_error *err)
{
    assay_bundle_records *r = &w->records;
    if (room > INT64_MAX / 2 || !grow(&r->sample, room, 1, sizeof *r->sample) ||
        !grow(&r->source, room, w->program->graph->n_inputs, sizeof *r->source) ||
        !grow(&r->tensor, room, r->n_slots, sizeof *r->tensor) ||
        (w->options.accumulators && !grow(&r->sums, room, r->n_slots, sizeof *r->sums)))
        return no_memory(err);
    r->room = room;
    return ASSAY_OK;
}

assay_status golden_bundle_records_begin(assay_bundle_writer *w, assay_error *err)
{
    assay_bundle_records *r = &w->records;
    const assay_graph *g = w->program->graph;
    size_t slots = (size_t)g->n_inputs + 1;
    for (int i = 0; i < g->n_nodes; i++)
        slots += (size_t)g->node[i].n_out;
    r->slot = calloc(slots, sizeof *r->slot);
    r->first = calloc((size_t)g->n_nodes + 1, sizeof *r->first);
    r->stop = calloc((size_t)g->n_nodes + 1, sizeof *r->stop);
    bool *of_constants;
    assay_status status = golden_bundle_of_constants(g, &of_constants, err);
    if (status || !r->slot || !r->first || !r->stop) {
        free(of_constants);
        return no_memory(err);
    }
    if (w->options.digests_only || w->options.whole)
        memset(of_constants, 0, (size_t)g->n_values * sizeof *of_constants);
    add_slots(r, g, of_constants);
    free(of_constants);
    set_stops(r, g, w->program->keep_all ? MAX_WAITING : 0);
    return make_room(w, w->options.samples > 0 ? w->options.samples : 1, err);
}

void golden_bundle_records_free(assay_bundle_writer *w)
{
    assay_bundle_records *r = &w->records;
    for (int64_t i = 0; i < r->n * w->program->graph->n_inputs; i++)
        free(r->source[i]);
    free(r->slot);
    free(r->first);
    free(r->stop);
    free(r->sample);
    free(r->source);
    free(r->tensor);
    free(r->sums);
}

/* ---- a sample ---- */

static assay_status write_part(assay_bundle_writer *w, const char *kind, int value,
                               const assay_type *type, const void *data, assay_error *err)
{
    const int64_t sample = w->records.sample[w->records.n - 1];
    char part[ASSAY_BUNDLE_PART];
    if (!golden_bundle_has_files(w))
        return ASSAY_OK;
    golden_bundle_part(w, kind, value, sample, part);
    return golden_bundle_put(w, part, w->options.forms, type, data, err);
}

/* Digest and file of the accumulators of a slot. */
static assay_status record_sums(assay_bundle_writer *w, int slot, const int64_t *accumulators,
                                assay_error *err)
{
    assay_bundle_records *r = &w->records;
    assay_bundle_slot *t = &r->slot[slot];
    assay_digest *digest = r->sums + (r->n - 1) * r->n_slots + slot;
    const assay_type sums = golden_bundle_sums_type(&w->program->graph->value[t->value].type);
    t->has_sums = true;
    assay_status status = golden_digest_elements(
        accumulators, t->bytes / t->width * sizeof(int64_t), sizeof(int64_t), digest, err);
    if (!status)
        status = write_part(w, "accumulators", t->value, &sums, accumulators, err);
    return status;
}

/* Digests and files of the slots up to `end` that have none yet. */
static assay_status record_up_to(assay_bundle_writer *w, assay_run *run, int end, assay_error *err)
{
    assay_bundle_records *r = &w->records;
    assay_digest *digest = r->tensor + (r->n - 1) * r->n_slots;
    assay_status status = ASSAY_OK;
    for (; r->done < end && !status; r->done++) {
        const assay_bundle_slot *t = &r->slot[r->done];
        const void *data = run_value(run, t->value);
        status = golden_digest_elements(data, t->bytes, t->width, &digest[r->done], err);
        if (!status && !t->of_constants)
            status = write_part(w, "tensors", t->value, &w->program->graph->value[t->value].type,
                                data, err);
    }
    return status;
}

static assay_status observe(void *user, assay_run *run, int node, const int64_t *accumulators,
                            assay_error *err)
{
    assay_bundle_writer *w = user;
    const assay_bundle_records *r = &w->records;
    const assay_status status =
        r->stop[node] ? record_up_to(w, run, r->first[node + 1], err) : ASSAY_OK;
    return !status && accumulators ? record_sums(w, r->first[node], accumulators, err) : status;
}

/* The folders of a sample's files. */
static assay_status make_dirs(assay_bundle_writer *w, int64_t sample, assay_error *err)
{
    char folder[64];
    golden_bundle_folder(w, "tensors", sample, folder);
    assay_status status = golden_bundle_make_dir(w, folder, err);
    if (!status && w->options.accumulators) {
        golden_bundle_folder(w, "accumulators", sample, folder);
        status = golden_bundle_make_dir(w, folder, err);
    }
    return status;
}

/* Begins the next record. */
static assay_status begin_record(assay_bundle_writer *w, int64_t sample, const char *const *sources,
                                 assay_error *err)
{
    assay_bundle_records *r = &w->records;
    const int n_inputs = w->program->graph->n_inputs;
    if (r->n == r->room) {
        assay_status status = make_room(w, 2 * r->room, err);
        if (status)
            return status;
    }
    char **source = r->source + r->n * n_inputs;
    memset(source, 0, (size_t)n_inputs * sizeof *source);
    r->sample[r->n++] = sample;
    for (int i = 0; sources && i < n_inputs; i++)
        if (sources[i] && !(source[i] = strdup(file_base_name(sources[i]))))
            return no_memory(err);
    return golden_bundle_has_files(w) ? make_dirs(w, sample, err) : ASSAY_OK;
}

assay_status golden_bundle_sample(assay_bundle_writer *w, assay_run *run, int64_t sample,
                                  const char *const *sources, assay_error *err)
{
    const bool observed = w->records.stops || w->options.accumulators;
    assay_status status = begin_record(w, sample, sources, err);
    w->records.done = 0;
    if (!status)
        status = record_up_to(w, run, w->program->graph->n_inputs, err);
    if (!status)
        status = run_execute(run, observed ? observe : NULL, w->options.accumulators, w, err);
    return !status ? record_up_to(w, run, w->records.n_slots, err) : status;
}
