/* Timing for benchmarks: repeated runs, median with least and greatest. */
#ifndef ASSAY_BENCH_TIMING_H
#define ASSAY_BENCH_TIMING_H

#include <stdlib.h>
#include <time.h>

enum { BENCH_MAX_RUNS = 101 };

typedef struct bench_times {
    double median, least, greatest; /* ns */
} bench_times;

static inline double bench_clock(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static inline double bench_now(void)
{
    return bench_clock(CLOCK_MONOTONIC);
}

static inline int bench_ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Times `runs` calls (at most BENCH_MAX_RUNS) after one that warms up. */
static inline bench_times bench_measure(void (*call)(void *), void *user, int runs)
{
    double t[BENCH_MAX_RUNS];

    call(user);
    for (int i = 0; i < runs; i++) {
        const double start = bench_now();
        call(user);
        t[i] = bench_now() - start;
    }
    qsort(t, (size_t)runs, sizeof *t, bench_ascending);
    return (bench_times){t[runs / 2], t[0], t[runs - 1]};
}

#endif
