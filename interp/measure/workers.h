/* Threads over samples: what the loops of eval.c and fidelity.c share. */
#ifndef ASSAY_INTERP_WORKERS_H
#define ASSAY_INTERP_WORKERS_H

#ifdef _OPENMP
#include <omp.h>
#endif

#include "interp/measure/eval.h"

/* The first error of any thread wins; the others' work is dropped. */
typedef struct assay_shared_error {
    assay_status status;
    assay_error *err;
} assay_shared_error;

static inline void measure_share_error(assay_shared_error *s, assay_status status,
                                       const assay_error *e)
{
#pragma omp critical(assay_shared_error)
    {
        if (!s->status) {
            s->status = status;
            if (s->err)
                *s->err = *e;
        }
    }
}

static inline bool measure_has_failed(const assay_shared_error *s)
{
    assay_status status;
#pragma omp atomic read
    status = s->status;
    return status;
}

/* threads <= 0: all cores; never more than samples. */
static inline int measure_worker_count(int threads, int64_t samples)
{
#ifdef _OPENMP
    if (threads <= 0)
        threads = omp_get_num_procs();
#else
    threads = 1;
#endif
    return threads > samples ? (int)(samples > 0 ? samples : 1) : threads;
}

static inline void measure_sample_done(const assay_samples *s)
{
    if (!s->done)
        return;
#pragma omp critical(assay_measure_sample_done)
    s->done(s->user);
}

/* Fills the inputs of a run with sample i. */
static inline assay_status measure_sample_read(assay_run *run, const assay_samples *s,
                                               const assay_graph *g, int64_t i, assay_error *err)
{
    assay_status status = ASSAY_OK;
    for (int k = 0; k < g->n_inputs && !status; k++)
        status = s->read(s->user, i, k, assay_run_data(run, g->input[k]), err);
    return status;
}

#endif
