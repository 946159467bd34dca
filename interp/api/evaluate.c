/* Accuracy over samples in memory, whole and in shards. */
#include <stdlib.h>

#include "graph/memory.h"
#include "interp/api/options.h"
#include "interp/api/samples.h"
#include "interp/api/shard.h"
#include "interp/golden/contract.h"
#include "interp/measure/report.h"

static assay_status check_alike(const assay_graph *a, const assay_graph *b, assay_error *err)
{
    bool alike = a->n_inputs == b->n_inputs;
    for (int k = 0; k < a->n_inputs && alike; k++) {
        const assay_type *x = &a->value[a->input[k]].type, *y = &b->value[b->input[k]].type;
        alike = assay_elem_equal(x->elem, y->elem) && assay_type_bytes(x) == assay_type_bytes(y);
    }
    return alike ? ASSAY_OK
                 : assay_fail(err, ASSAY_ERR_INPUT, "%s and %s take different inputs", a->name,
                              b->name);
}

/* What is measured, and on what. */
typedef struct measured {
    assay_arrays arrays;
    assay_samples samples;
    assay_judge judge;
    bool labelled;
} measured;

static assay_status open_measured(const assay_program *p, const assay_program *reference,
                                  const assay_labelled *given, measured *m, assay_error *err)
{
    assay_status status = assay_arrays_take(given, p->graph, &m->arrays, &m->samples, err);

    if (!status)
        status =
            measure_judge_make(&p->graph->value[p->graph->output[0]], &m->samples, &m->judge, err);
    if (!status && m->samples.tokens && !m->judge.tokens)
        status = assay_fail(
            err, ASSAY_ERR_INPUT, "output '%.200s' has no scores for each of %lld tokens",
            p->graph->value[p->graph->output[0]].name, (long long)m->samples.tokens);
    if (!status)
        m->labelled = measure_judge_has_labels(&m->judge, &m->samples);
    if (!status && reference)
        status = check_alike(p->graph, reference->graph, err);
    return status;
}

static assay_status measure(const assay_program *p, const assay_program *reference,
                            const measured *m, int64_t *predictions, assay_part *part,
                            assay_error *err)
{
    const int threads = m->arrays.of.threads;
    assay_accuracy unused;
    assay_status status = ASSAY_OK;

    if (predictions && reference)
        status = measure_evaluate(p, &m->samples, threads, predictions, &unused, err);
    if (status)
        return status;
    return reference ? measure_fidelity_part(reference, p, &m->samples, threads, part, err)
                     : measure_evaluate_part(p, &m->samples, threads, predictions, part, err);
}

/* *o, what is said of a part that is all there is. */
static void tell(json_t **o, const assay_part *part, bool labelled, const assay_judge *judge)
{
    assay_fidelity f;
    measure_fidelity_of(part, &f);
    measure_eval_json(o, &f, part->noise != NULL, labelled, judge);
    if (labelled && part->tally[1].truth)
        measure_classes_json(o, part);
}

assay_status assay_evaluate(const assay_program *p, const assay_program *reference,
                            const assay_labelled *given, int64_t *predictions, char **json,
                            assay_error *err)
{
    measured m = {0};
    assay_part part = {0};
    assay_status status = open_measured(p, reference, given, &m, err);

    if (json)
        *json = NULL;
    if (!status)
        status = measure(p, reference, &m, predictions, &part, err);
    if (!status && json) {
        json_t *o = json_object();
        tell(&o, &part, m.labelled, &m.judge);
        status = assay_text_of_json(o, json, err);
    }
    measure_part_free(&part);
    return status;
}

/* ---- shards ---- */

static assay_status take_shard(const assay_shard *given, measured *m, assay_shard *s,
                               assay_error *err)
{
    const uint64_t max = UINT64_C(1) << 40, count = (uint64_t)m->samples.count;
    const assay_status status = ASSAY_OPTIONS_TAKE(given, s, err);

    if (status)
        return status;
    if (s->all > max || s->all_first > max || s->first < s->all_first || count > s->all ||
        s->first - s->all_first > s->all - count)
        return assay_fail(err, ASSAY_ERR_INPUT,
                          "a shard of %llu samples from number %llu on is not part of %llu from "
                          "number %llu on",
                          (unsigned long long)count, (unsigned long long)s->first,
                          (unsigned long long)s->all, (unsigned long long)s->all_first);
    m->arrays.first = m->samples.first = (int64_t)s->first;
    return ASSAY_OK;
}

static assay_status save(const assay_program *p, const assay_program *reference, const measured *m,
                         const assay_shard *s, const char *path, const assay_part *part,
                         assay_error *err)
{
    const assay_shard_of of = {.program = p,
                               .twin = reference ? reference->graph : NULL,
                               .dataset = s->dataset ? s->dataset : "",
                               .preprocessing = s->preprocessing ? s->preprocessing : "",
                               .samples = &m->samples,
                               .first = (int64_t)s->all_first,
                               .count = (int64_t)s->all,
                               .labelled = m->labelled,
                               .maps = m->judge.maps,
                               .ignored = -1};
    const assay_part_file f = {.path = path, .of = assay_shard_describe(&of), .part = *part};
    const assay_status status = measure_part_save(&f, err);
    json_decref(f.of);
    return status;
}

assay_status assay_evaluate_shard(const assay_program *p, const assay_program *reference,
                                  const assay_labelled *given, const assay_shard *shard,
                                  const char *path, assay_error *err)
{
    measured m = {0};
    assay_part part = {0};
    assay_shard s;
    assay_status status = open_measured(p, reference, given, &m, err);

    if (!status)
        status = take_shard(shard, &m, &s, err);
    if (!status)
        status = measure(p, reference, &m, NULL, &part, err);
    if (!status)
        status = save(p, reference, &m, &s, path, &part, err);
    measure_part_free(&part);
    return status;
}

static assay_status merge(assay_part_file *f, int n, char **json, assay_error *err)
{
    assay_shard_said said;
    assay_part whole = {0};
    assay_status status = assay_shard_read(f, &said, err);

    if (!status)
        status = measure_part_join(f, n, said.first, said.count, &whole, err);
    if (!status && json) {
        json_t *o = json_object();
        page_json_set(&o, "scheme", page_json_text(said.scheme));
        tell(&o, &whole, said.labelled, &said.judge);
        status = assay_text_of_json(o, json, err);
    }
    measure_part_free(&whole);
    return status;
}

assay_status assay_evaluate_merge(const char *const *path, size_t n, char **json, assay_error *err)
{
    const int max = 1 << 20;
    assay_part_file *f = n > 0 && n <= (size_t)max ? calloc(n, sizeof *f) : NULL;
    assay_status status = f ? ASSAY_OK
                          : n > 0 && n <= (size_t)max
                              ? assay_out_of_memory(err)
                              : assay_fail(err, ASSAY_ERR_INPUT, "%zu shards cannot be merged", n);

    if (json)
        *json = NULL;
    for (size_t i = 0; i < n && !status; i++)
        status = measure_part_load(path[i], &f[i], err);
    if (!status)
        status = merge(f, (int)n, json, err);
    for (size_t i = 0; f && i < n; i++)
        measure_part_file_free(&f[i]);
    free(f);
    return status;
}
