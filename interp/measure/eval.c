/* Accuracy and profiling over samples, one run a thread. */
#include "interp/measure/eval.h"
#include "graph/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "interp/measure/judge.h"
#include "interp/measure/workers.h"

/* Runs sample i; outputs stay in the run. */
static assay_status run_sample(assay_run *run, const assay_samples *s, const assay_graph *g,
                               int64_t i, assay_error *err)
{
    assay_status status = measure_sample_read(run, s, g, i, err);
    if (!status) {
        assay_run_reset(run);
        status = run_execute(run, NULL, false, NULL, err);
    }
    return status;
}

static assay_status check_has_output(const assay_program *p, assay_error *err)
{
    return p->graph->n_outputs > 0 ? ASSAY_OK
                                   : assay_fail(err, ASSAY_ERR_UNSUPPORTED,
                                                "%s: the network has no output", p->graph->name);
}

void measure_accuracy_digest(const XXH128_canonical_t *hash, int64_t n, char digest[33])
{
    const XXH128_hash_t all = XXH3_128bits(hash, (size_t)n * sizeof *hash);
    snprintf(digest, 33, "%016llx%016llx", (unsigned long long)all.high64,
             (unsigned long long)all.low64);
}

/* What all threads of an evaluation read, and where each writes what is its own. */
typedef struct evaluation {
    const assay_program *program;
    const assay_samples *samples;
    assay_judge judge;
    XXH128_canonical_t *hash; /* [sample] */
    int64_t *predictions;     /* [sample], or NULL */
} evaluation;

/* What one thread has of its own. */
typedef struct worker {
    assay_run *run;
    assay_tally tally;
    int64_t *label; /* [places] */
} worker;

static assay_status start(const evaluation *e, worker *w, assay_error *err)
{
    assay_status status = assay_run_new(e->program, &w->run, err);
    if (!status)
        status = measure_tally_make(&e->judge, &w->tally, err);
    w->label = calloc((size_t)e->judge.places + 1, sizeof *w->label);
    if (!status && !w->label)
        status = assay_out_of_memory(err);
    return status;
}

static assay_status evaluate_sample(const evaluation *e, worker *w, int64_t k, assay_error *err)
{
    const assay_graph *g = e->program->graph;
    const assay_type *t = &g->value[g->output[0]].type;
    const int64_t i = e->samples->first + k;
    assay_status status = run_sample(w->run, e->samples, g, i, err);

    if (status)
        return status;
    const void *scores = assay_run_data(w->run, g->output[0]);
    XXH128_canonicalFromHash(
        &e->hash[k], XXH3_128bits(scores, (size_t)assay_shape_count(t) * assay_elem_size(t->elem)));
    if (e->predictions)
        e->predictions[k] = e->judge.places == 1 ? measure_judge_best(&e->judge, t, scores, 0) : -1;
    status = measure_judge_labels(&e->judge, e->samples, i, w->label, err);
    return status ? status : measure_tally_add(&w->tally, &e->judge, t, scores, w->label, i, err);
}

static void evaluate_all(const evaluation *e, int threads, assay_tally *sum,
                         assay_shared_error *shared)
{
#pragma omp parallel num_threads(measure_worker_count(threads, e->samples->count))
    {
        worker mine = {0};
        assay_error err;
        assay_status status = start(e, &mine, &err);

        if (status)
            measure_share_error(shared, status, &err);
#pragma omp for schedule(dynamic, 4)
        for (int64_t k = 0; k < e->samples->count; k++) {
            if (measure_has_failed(shared))
                continue;
            status = evaluate_sample(e, &mine, k, &err);
            if (status)
                measure_share_error(shared, status, &err);
            else
                measure_sample_done(e->samples);
        }
#pragma omp critical(assay_eval_counts)
        measure_tally_join(sum, &mine.tally);
        measure_tally_free(&mine.tally);
        free(mine.label);
        assay_run_free(mine.run);
    }
}

assay_status measure_evaluate(const assay_program *p, const assay_samples *samples, int threads,
                              int64_t *predictions, assay_accuracy *out, assay_error *err)
{
    evaluation e = {.program = p, .samples = samples, .predictions = predictions};
    assay_shared_error shared = {check_has_output(p, err), err};
    assay_tally sum = {0};

    *out = (assay_accuracy){0};
    if (!shared.status)
        shared.status =
            measure_judge_make(&p->graph->value[p->graph->output[0]], samples, &e.judge, err);
    if (!shared.status)
        shared.status = measure_tally_make(&e.judge, &sum, err);
    e.hash = calloc((size_t)samples->count + 1, sizeof *e.hash);
    if (!shared.status && !e.hash)
        shared.status = assay_out_of_memory(err);
    if (!shared.status)
        evaluate_all(&e, threads, &sum, &shared);
    if (!shared.status) {
        measure_tally_end(&sum, out);
        measure_accuracy_digest(e.hash, samples->count, out->digest);
    }
    measure_tally_free(&sum);
    free(e.hash);
    return shared.status;
}

typedef struct profiling {
    const assay_graph *graph;
    assay_profile *profile;
} profiling;

static assay_status observe(void *user, assay_run *run, int node, const int64_t *accumulators,
                            assay_error *err)
{
    const profiling *p = user;
    const assay_node *n = &p->graph->node[node];

    (void)accumulators;
    (void)err;
    for (int k = 0; k < n->n_out; k++)
        if (n->out[k] >= 0 && p->graph->value[n->out[k]].type.elem.kind == ASSAY_KIND_F32)
            profile_observe(p->profile, n->out[k], run_value(run, n->out[k]),
                            (size_t)assay_shape_count(&p->graph->value[n->out[k]].type));
    return ASSAY_OK;
}

/* One thread's share: samples that no other thread takes. */
static assay_status profile_sample(profiling *mine, assay_run *run, const assay_samples *s,
                                   int64_t i, assay_error *err)
{
    const assay_graph *g = mine->graph;
    assay_status status = measure_sample_read(run, s, g, i, err);

    if (status)
        return status;
    for (int k = 0; k < g->n_inputs; k++)
        if (g->value[g->input[k]].type.elem.kind == ASSAY_KIND_F32)
            profile_observe(mine->profile, g->input[k], assay_run_data(run, g->input[k]),
                            (size_t)assay_shape_count(&g->value[g->input[k]].type));
    assay_run_reset(run);
    status = run_execute(run, observe, false, mine, err);
    if (!status)
        status = profile_add_sample(mine->profile, (uint64_t)i, err);
    return status;
}

/* An empty profile for one more thread: its samples are added to `like` afterwards. */
static assay_status profile_like(const assay_graph *g, const assay_profile *like,
                                 assay_profile **out, assay_error *err)
{
    const assay_profile_origin origin = profile_get_origin(like);
    assay_status status = profile_new(g, out, err);

    if (!status)
        status = profile_set_preprocessing(*out, origin.preprocessing, err);
    if (!status)
        status = profile_set_dataset(*out, origin.dataset, err);
    if (!status && origin.whole.end > 0)
        status = profile_set_whole(*out, origin.whole, err);
    if (!status)
        status = profile_channels_like(*out, like, err);
    return status;
}

assay_status measure_profile_samples_of(const assay_program *p, const assay_samples *samples,
                                        int threads, assay_profile *profile, assay_error *err)
{
    assay_shared_error shared = {ASSAY_OK, err};
    bool taken = false; /* one of the threads counts into `profile` itself */

    threads = measure_worker_count(threads, samples->count);
#pragma omp parallel num_threads(threads)
    {
        profiling mine = {p->graph, NULL};
        assay_run *run = NULL;
        assay_error e;
        assay_status status = ASSAY_OK;

#pragma omp critical(assay_profile_merge)
        {
            mine.profile = taken ? NULL : profile;
            taken = true;
        }
        if (!mine.profile)
            status = profile_like(p->graph, profile, &mine.profile, &e);
        if (!status)
            profile_follow_clamps(mine.profile, p->graph);
        if (!status)
            status = assay_run_new(p, &run, &e);
        if (status)
            measure_share_error(&shared, status, &e);
#pragma omp for schedule(dynamic, 4)
        for (int64_t k = 0; k < samples->count; k++) {
            if (measure_has_failed(&shared))
                continue;
            status = profile_sample(&mine, run, samples, samples->first + k, &e);
            if (status)
                measure_share_error(&shared, status, &e);
            else
                measure_sample_done(samples);
        } /* all threads wait for each other here */
        if (mine.profile != profile) {
#pragma omp critical(assay_profile_merge)
            {
                if (!measure_has_failed(&shared)) {
                    status = profile_merge(profile, mine.profile, &e);
                    if (status)
                        measure_share_error(&shared, status, &e);
                }
            }
            profile_free(mine.profile);
        }
        assay_run_free(run);
    }
    return shared.status;
}
