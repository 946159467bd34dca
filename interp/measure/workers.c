/* Threads over samples; see workers.h. */
#include "interp/measure/workers.h"
#include "graph/memory.h"

#include <stdlib.h>

#ifdef _OPENMP
#include <omp.h>
#endif

typedef struct shared_error {
    assay_status status;
    assay_error *err;
} shared_error;

static void share_error(shared_error *s, assay_status status, const assay_error *e)
{
#pragma omp critical(assay_measure_error)
    {
        if (!s->status) {
            s->status = status;
            if (s->err)
                *s->err = *e;
        }
    }
}

static bool has_failed(const shared_error *s)
{
    assay_status status;
#pragma omp atomic read
    status = s->status;
    return status;
}

static int worker_count(int threads, const assay_samples *s)
{
    if (s->sequence)
        return 1;
#ifdef _OPENMP
    if (threads <= 0)
        threads = omp_get_num_procs();
#else
    threads = 1;
#endif
    return threads > s->count ? (int)(s->count > 0 ? s->count : 1) : threads;
}

static int thread_number(void)
{
#ifdef _OPENMP
    return omp_get_thread_num();
#else
    return 0;
#endif
}

static void sample_done(const assay_samples *s)
{
    if (!s->done)
        return;
#pragma omp critical(assay_measure_done)
    s->done(s->user);
}

assay_status measure_samples(const measure_work *w, int threads, assay_error *err)
{
    shared_error shared = {ASSAY_OK, err};
#pragma omp parallel num_threads(worker_count(threads, w->samples))
    {
        void *const worker = calloc(1, w->worker_bytes);
        assay_error e;
        assay_status status =
            worker ? w->start(w->job, worker, thread_number(), &e) : assay_out_of_memory(&e);
        if (status)
            share_error(&shared, status, &e);
#pragma omp for schedule(monotonic : dynamic, 4)
        for (int64_t k = 0; k < w->samples->count; k++) {
            if (has_failed(&shared))
                continue;
            status = w->sample(w->job, worker, k, &e);
            if (status)
                share_error(&shared, status, &e);
            else
                sample_done(w->samples);
        } /* all threads wait for each other here */
#pragma omp critical(assay_measure_finish)
        status = worker ? w->finish(w->job, worker, has_failed(&shared), &e) : ASSAY_OK;
        if (status)
            share_error(&shared, status, &e);
        free(worker);
    }
    return shared.status;
}

assay_status measure_sample_read(assay_run *run, const assay_samples *s, const assay_graph *g,
                                 int64_t i, assay_error *err)
{
    assay_status status = ASSAY_OK;
    for (int k = 0; k < g->n_inputs && !status; k++)
        status = s->read(s->user, i, k, assay_run_data(run, g->input[k]), err);
    return status;
}

assay_status measure_sample_failed(const assay_samples *s, int64_t i, assay_status status,
                                   assay_error *err)
{
    char name[300], number[32];
    const assay_error found = *err;

    snprintf(number, sizeof number, "sample %lld", (long long)i);
    return assay_fail(err, status, "%s: %s",
                      s->name ? s->name(s->user, i, name, sizeof name) : number, found.text);
}

void measure_sample_begin(assay_run *run, const assay_samples *s, int64_t i)
{
    if (!s->sequence || i == s->first)
        assay_run_reset(run);
}

assay_status measure_sample_run(assay_run *run, const assay_samples *s, const assay_graph *g,
                                int64_t i, assay_error *err)
{
    assay_status status = measure_sample_read(run, s, g, i, err);
    if (!status) {
        measure_sample_begin(run, s, i);
        status = run_execute(run, NULL, false, NULL, err);
        if (status)
            status = measure_sample_failed(s, i, status, err);
    }
    return status;
}
