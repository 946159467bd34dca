/* Accuracy and profiling over samples, one run a thread. */
#include "interp/measure/eval.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "interp/golden/compare.h"
#include "interp/run/workers.h"

/* How many classes come before class c: greater scores, or equal ones of lower index. */
static int64_t rank_of(const assay_type *t, const void *scores, int64_t n, int64_t c)
{
    const double mine = assay_element_real(t, scores, c);
    int64_t before = 0;

    for (int64_t i = 0; i < n; i++) {
        const double other = assay_element_real(t, scores, i);
        before += other > mine || (other == mine && i < c);
    }
    return before;
}

static int64_t best_of(const assay_type *t, const void *scores, int64_t n)
{
    int64_t best = 0;
    for (int64_t i = 1; i < n; i++)
        if (assay_element_real(t, scores, i) > assay_element_real(t, scores, best))
            best = i;
    return best;
}

/* Runs sample i; outputs stay in the run. */
static assay_status run_sample(assay_run *run, const assay_samples *s, const assay_graph *g,
                               int64_t i, assay_error *err)
{
    assay_status status = assay_sample_read(run, s, g, i, err);
    if (status == ASSAY_OK) {
        assay_run_reset(run);
        status = assay_run_execute(run, NULL, false, NULL, err);
    }
    return status;
}

static assay_status check_has_output(const assay_program *p, assay_error *err)
{
    return p->graph->n_outputs > 0 ? ASSAY_OK
                                   : assay_fail(err, ASSAY_ERR_UNSUPPORTED,
                                                "%s: the network has no output", p->graph->name);
}

typedef struct counts {
    int64_t samples;
    int64_t top[ASSAY_EVAL_TOP];
} counts;

static void count_sample(counts *c, const assay_type *t, const void *scores, int64_t label)
{
    const int64_t n = assay_shape_count(t);
    int64_t rank;

    if (label < 0 || label >= n)
        return;
    rank = rank_of(t, scores, n, label);
    c->samples++;
    for (int64_t k = rank; k < ASSAY_EVAL_TOP; k++)
        c->top[k]++;
}

assay_status assay_evaluate(const assay_program *p, const assay_samples *samples, int threads,
                            int64_t *predictions, assay_accuracy *out, assay_error *err)
{
    const assay_graph *g = p->graph;
    XXH128_canonical_t *hash = calloc((size_t)samples->count + 1, sizeof *hash);
    assay_shared_error shared = {check_has_output(p, err), err};
    int64_t label_bad = -1;

    memset(out, 0, sizeof *out);
    if (!hash)
        return assay_fail(err, ASSAY_ERR_MEMORY, "out of memory");
    threads = assay_worker_count(threads, samples->count);
#pragma omp parallel num_threads(threads)
    {
        assay_run *run = NULL;
        assay_error e;
        counts mine = {0};
        assay_status status =
            assay_has_failed(&shared) ? ASSAY_ERR_INPUT : assay_run_new(p, &run, &e);

        if (status != ASSAY_OK && !assay_has_failed(&shared))
            assay_share_error(&shared, status, &e);
#pragma omp for schedule(dynamic, 4)
        for (int64_t k = 0; k < samples->count; k++) {
            const assay_type *t = &g->value[g->output[0]].type;
            const int64_t i = samples->first + k;
            const void *scores;
            if (assay_has_failed(&shared))
                continue;
            status = run_sample(run, samples, g, i, &e);
            if (status != ASSAY_OK) {
                assay_share_error(&shared, status, &e);
                continue;
            }
            scores = assay_run_data(run, g->output[0]);
            XXH128_canonicalFromHash(&hash[k], XXH3_128bits(scores, (size_t)assay_shape_count(t) *
                                                                        assay_elem_size(t->elem)));
            if (samples->label(samples->user, i) >= assay_shape_count(t)) {
#pragma omp atomic write
                label_bad = i;
            }
            count_sample(&mine, t, scores, samples->label(samples->user, i));
            if (predictions)
                predictions[k] = best_of(t, scores, assay_shape_count(t));
            assay_sample_done(samples);
        }
#pragma omp critical(assay_eval_counts)
        {
            out->samples += mine.samples;
            for (int k = 0; k < ASSAY_EVAL_TOP; k++)
                out->top[k] += mine.top[k];
        }
        assay_run_free(run);
    }
    if (shared.status == ASSAY_OK && label_bad >= 0)
        shared.status = assay_fail(
            err, ASSAY_ERR_INPUT, "sample %lld has label %lld, but the network has %lld classes",
            (long long)label_bad, (long long)samples->label(samples->user, label_bad),
            (long long)assay_shape_count(&g->value[g->output[0]].type));
    {
        const XXH128_hash_t all = XXH3_128bits(hash, (size_t)samples->count * sizeof *hash);
        snprintf(out->digest, sizeof out->digest, "%016llx%016llx", (unsigned long long)all.high64,
                 (unsigned long long)all.low64);
    }
    free(hash);
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
            assay_profile_observe(p->profile, n->out[k], assay_run_value(run, n->out[k]),
                                  (size_t)assay_shape_count(&p->graph->value[n->out[k]].type));
    return ASSAY_OK;
}

/* One thread's share: samples that no other thread takes. */
static assay_status profile_sample(profiling *mine, assay_run *run, const assay_samples *s,
                                   int64_t i, assay_error *err)
{
    const assay_graph *g = mine->graph;
    assay_status status = assay_sample_read(run, s, g, i, err);

    if (status != ASSAY_OK)
        return status;
    for (int k = 0; k < g->n_inputs; k++)
        if (g->value[g->input[k]].type.elem.kind == ASSAY_KIND_F32)
            assay_profile_observe(mine->profile, g->input[k], assay_run_data(run, g->input[k]),
                                  (size_t)assay_shape_count(&g->value[g->input[k]].type));
    assay_run_reset(run);
    status = assay_run_execute(run, observe, false, mine, err);
    if (status == ASSAY_OK)
        status = assay_profile_add_sample(mine->profile, (uint64_t)i, err);
    return status;
}

/* An empty profile for one more thread: its samples are added to `like` afterwards. */
static assay_status profile_like(const assay_graph *g, const assay_profile *like,
                                 assay_profile **out, assay_error *err)
{
    const assay_profile_origin origin = assay_profile_get_origin(like);
    assay_status status = assay_profile_new(g, out, err);

    if (status == ASSAY_OK)
        status = assay_profile_set_preprocessing(*out, origin.preprocessing, err);
    if (status == ASSAY_OK)
        status = assay_profile_set_dataset(*out, origin.dataset, err);
    if (status == ASSAY_OK && origin.whole.end > 0)
        status = assay_profile_set_whole(*out, origin.whole, err);
    if (status == ASSAY_OK)
        status = assay_profile_channels_like(*out, like, err);
    return status;
}

assay_status assay_profile_samples_of(const assay_program *p, const assay_samples *samples,
                                      int threads, assay_profile *profile, assay_error *err)
{
    assay_shared_error shared = {ASSAY_OK, err};
    bool taken = false; /* one of the threads counts into `profile` itself */

    threads = assay_worker_count(threads, samples->count);
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
        if (status == ASSAY_OK)
            assay_profile_follow_clamps(mine.profile, p->graph);
        if (status == ASSAY_OK)
            status = assay_run_new(p, &run, &e);
        if (status != ASSAY_OK)
            assay_share_error(&shared, status, &e);
#pragma omp for schedule(dynamic, 4)
        for (int64_t k = 0; k < samples->count; k++) {
            if (assay_has_failed(&shared))
                continue;
            status = profile_sample(&mine, run, samples, samples->first + k, &e);
            if (status != ASSAY_OK)
                assay_share_error(&shared, status, &e);
            else
                assay_sample_done(samples);
        } /* all threads wait for each other here */
        if (mine.profile != profile) {
#pragma omp critical(assay_profile_merge)
            {
                if (!assay_has_failed(&shared)) {
                    status = assay_profile_merge(profile, mine.profile, &e);
                    if (status != ASSAY_OK)
                        assay_share_error(&shared, status, &e);
                }
            }
            assay_profile_free(mine.profile);
        }
        assay_run_free(run);
    }
    return shared.status;
}
