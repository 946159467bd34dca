/* One of our programs, ready to be timed. */
#ifndef ASSAY_BENCH_OURS_H
#define ASSAY_BENCH_OURS_H

#include "bench/contest.h"
#include "interp/run/program.h"

typedef struct bench_ours {
    const assay_graph *graph; /* borrowed */
    assay_scheme *scheme;     /* NULL: a float network's */
    assay_program *program;
    assay_run *run;
    clockid_t clock;    /* of bench_ours_time: CLOCK_MONOTONIC unless changed */
    double prepare_ns;  /* scheme, program and arena */
    int64_t peak_bytes; /* by which preparing and one run raised the process's peak; 0: unknown */
} bench_ours;

/* Prepares g with fixed bytes as inputs and runs it once. scheme may be NULL. A failure ends the
 * process: a benchmark that cannot run has nothing to say. */
void bench_ours_open(bench_ours *o, const assay_graph *g, const char *scheme,
                     const assay_program_options *how);
void bench_ours_close(bench_ours *o);

/* For bench_entrant.time: ns of so many runs of a bench_ours. */
double bench_ours_time(void *ours, int calls);

/* ns of one run of the reference engine. */
double bench_reference_ns(const assay_graph *g, const char *scheme);

/* Prints where the time goes: the least time of each node. */
void bench_ours_profile(const bench_ours *o);

int64_t bench_macs(const assay_graph *g);
void bench_check(assay_status status, const assay_error *err);

#endif
