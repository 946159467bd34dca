/* Accuracy and profiles over samples, one run a thread. */
#include "interp/measure/eval.h"
#include "graph/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "interp/measure/part.h"
#include "interp/measure/workers.h"

static assay_status check_has_output(const assay_program *p, assay_error *err)
{
    return p->graph->n_outputs > 0 ? ASSAY_OK
                                   : assay_fail(err, ASSAY_ERR_UNSUPPORTED,
                                                "%s: the network has no output", p->graph->name);
}

void measure_output_hash(const assay_type *t, const void *data, XXH128_canonical_t *hash)
{
    XXH128_canonicalFromHash(
        hash, XXH3_128bits(data, (size_t)assay_shape_count(t) * assay_elem_size(t->elem)));
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
    assay_part part;      /* of all threads */
    int64_t *predictions; /* [sample], or NULL */
} evaluation;

/* What one thread has of its own. */
typedef struct worker {
    assay_run *run;
    assay_tally tally;
    int64_t *label; /* [places] */
} worker;

static assay_status start(void *job, void *own, int thread, assay_error *err)
{
    const evaluation *e = job;
    worker *w = own;
    assay_status status = assay_run_new(e->program, &w->run, err);

    (void)thread;
    if (!status)
        status = measure_tally_make(&e->judge, &w->tally, err);
    w->label = calloc((size_t)e->judge.places + 1, sizeof *w->label);
    if (!status && !w->label)
        status = assay_out_of_memory(err);
    return status;
}

static assay_status evaluate_sample(void *job, void *own, int64_t k, assay_error *err)
{
    const evaluation *e = job;
    worker *w = own;
    const assay_graph *g = e->program->graph;
    const assay_type *t = &g->value[g->output[0]].type;
    const int64_t i = e->samples->first + k;
    assay_status status = measure_sample_run(w->run, e->samples, g, i, err);

    if (status)
        return status;
    const void *scores = assay_run_data(w->run, g->output[0]);
    measure_output_hash(t, scores, &e->part.hash[1][k]);
    if (e->predictions)
        e->predictions[k] = e->judge.places == 1 ? measure_judge_best(&e->judge, t, scores, 0) : -1;
    status = measure_judge_labels(&e->judge, e->samples, i, w->label, err);
    if (!status)
        status = measure_tally_add(&w->tally, &e->judge, t, scores, w->label, err)
                     ? measure_sample_failed(e->samples, i, ASSAY_ERR_INPUT, err)
                     : ASSAY_OK;
    e->part.loss[1][k] = w->tally.loss;
    return status;
}

static assay_status finish(void *job, void *own, bool failed, assay_error *err)
{
    evaluation *e = job;
    worker *w = own;

    (void)err;
    if (!failed)
        measure_tally_join(&e->part.tally[1], &w->tally);
    measure_tally_free(&w->tally);
    free(w->label);
    assay_run_free(w->run);
    return ASSAY_OK;
}

assay_status measure_evaluate_part(const assay_program *p, const assay_samples *samples,
                                   int threads, int64_t *predictions, assay_part *out,
                                   assay_error *err)
{
    evaluation e = {.program = p,
                    .samples = samples,
                    .part = {.first = samples->first, .count = samples->count},
                    .predictions = predictions};
    const measure_work work = {samples, &e, sizeof(worker), start, evaluate_sample, finish};
    assay_status status = check_has_output(p, err);

    if (!status)
        status = measure_judge_make(&p->graph->value[p->graph->output[0]], samples, &e.judge, err);
    if (!status)
        status = measure_part_make(&e.part, false, err);
    if (!status)
        status = measure_tally_make(&e.judge, &e.part.tally[1], err);
    e.part.tokens = !status && e.judge.tokens;
    if (!status)
        status = measure_samples(&work, threads, err);
    *out = e.part;
    return status;
}

assay_status measure_evaluate(const assay_program *p, const assay_samples *samples, int threads,
                              int64_t *predictions, assay_accuracy *out, assay_error *err)
{
    assay_part part;
    const assay_status status = measure_evaluate_part(p, samples, threads, predictions, &part, err);

    *out = (assay_accuracy){0};
    if (!status) {
        measure_tally_end(&part.tally[1], part.tokens ? part.loss[1] : NULL, part.count, out);
        measure_accuracy_digest(part.hash[1], part.count, out->digest);
    }
    measure_part_free(&part);
    return status;
}

/* ---- profiles ---- */

/* What all threads of a profiling share: the first counts into `profile` itself. */
typedef struct profiling {
    const assay_program *program;
    const assay_samples *samples;
    assay_profile *profile;
} profiling;

typedef struct profiler {
    const assay_graph *graph;
    assay_run *run;
    assay_profile *profile;
} profiler;

static assay_status observe(void *user, assay_run *run, int node, const int64_t *accumulators,
                            assay_error *err)
{
    const profiler *p = user;
    const assay_node *n = &p->graph->node[node];

    (void)accumulators;
    (void)err;
    for (int k = 0; k < n->n_out; k++)
        if (n->out[k] >= 0 && p->graph->value[n->out[k]].type.elem.kind == ASSAY_KIND_F32)
            profile_observe(p->profile, n->out[k], run_value(run, n->out[k]),
                            (size_t)assay_shape_count(&p->graph->value[n->out[k]].type));
    return ASSAY_OK;
}

static assay_status profile_sample(void *job, void *own, int64_t k, assay_error *err)
{
    const profiling *p = job;
    profiler *mine = own;
    const assay_graph *g = mine->graph;
    const int64_t i = p->samples->first + k;
    assay_status status = measure_sample_read(mine->run, p->samples, g, i, err);

    if (status)
        return status;
    for (int n = 0; n < g->n_inputs; n++)
        if (g->value[g->input[n]].type.elem.kind == ASSAY_KIND_F32)
            profile_observe(mine->profile, g->input[n], assay_run_data(mine->run, g->input[n]),
                            (size_t)assay_shape_count(&g->value[g->input[n]].type));
    measure_sample_begin(mine->run, p->samples, i);
    status = run_execute(mine->run, observe, false, mine, err);
    return status ? measure_sample_failed(p->samples, i, status, err)
                  : profile_add_sample(mine->profile, (uint64_t)i, err);
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

static assay_status start_profiler(void *job, void *own, int thread, assay_error *err)
{
    const profiling *p = job;
    profiler *mine = own;
    assay_status status = ASSAY_OK;

    mine->graph = p->program->graph;
    if (thread == 0)
        mine->profile = p->profile;
    else
        status = profile_like(mine->graph, p->profile, &mine->profile, err);
    if (!status) {
        profile_follow_clamps(mine->profile, mine->graph);
        status = assay_run_new(p->program, &mine->run, err);
    }
    return status;
}

static assay_status finish_profiler(void *job, void *own, bool failed, assay_error *err)
{
    const profiling *p = job;
    profiler *mine = own;
    assay_status status = ASSAY_OK;

    if (mine->profile != p->profile) {
        if (!failed)
            status = profile_merge(p->profile, mine->profile, err);
        profile_free(mine->profile);
    }
    assay_run_free(mine->run);
    return status;
}

assay_status measure_profile_samples_of(const assay_program *p, const assay_samples *samples,
                                        int threads, assay_profile *profile, assay_error *err)
{
    profiling job = {p, samples, profile};
    const measure_work work = {samples,        &job,           sizeof(profiler),
                               start_profiler, profile_sample, finish_profiler};
    return measure_samples(&work, threads, err);
}
