/* Threads over samples: the one loop of accuracy, fidelity and profiles. */
#ifndef ASSAY_INTERP_MEASURE_WORKERS_H
#define ASSAY_INTERP_MEASURE_WORKERS_H

#include "interp/measure/eval.h"

/* What is done with samples. A worker is the memory of one thread: worker_bytes, zero at
 * first. */
typedef struct measure_work {
    const assay_samples *samples;
    void *job; /* what all threads share; start and sample only read it */
    size_t worker_bytes;
    assay_status (*start)(void *job, void *worker, int thread, assay_error *err);
    /* Sample k of samples->count, the first being 0. */
    assay_status (*sample)(void *job, void *worker, int64_t k, assay_error *err);
    /* One thread after another, once no thread has a sample left; of each worker, whatever failed.
     */
    assay_status (*finish)(void *job, void *worker, bool failed, assay_error *err);
} measure_work;

/* threads <= 0: all cores; never more than samples, one for steps of a sequence. The first error of
 * any thread wins; samples that come after it are left out. */
assay_status measure_samples(const measure_work *w, int threads, assay_error *err);

/* Fills the inputs of a run with sample i of the data set. */
assay_status measure_sample_read(assay_run *run, const assay_samples *s, const assay_graph *g,
                                 int64_t i, assay_error *err);

/* Puts the sample's name before the line of an error about it; returns the status. */
assay_status measure_sample_failed(const assay_samples *s, int64_t i, assay_status status,
                                   assay_error *err);

/* The state that sample i begins with: the initial one, or what the step before left. */
void measure_sample_begin(assay_run *run, const assay_samples *s, int64_t i);

/* Sample i through the run, from that state; outputs stay in the run. */
assay_status measure_sample_run(assay_run *run, const assay_samples *s, const assay_graph *g,
                                int64_t i, assay_error *err);

#endif
