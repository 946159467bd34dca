/* Entrants timed in turns, so that whatever else the machine does meets all of them alike. */
#ifndef ASSAY_BENCH_CONTEST_H
#define ASSAY_BENCH_CONTEST_H

#include "bench/timing.h"

enum { BENCH_ROUNDS = 11 };

typedef struct bench_entrant {
    double (*time)(void *user, int calls); /* ns of so many calls */
    void *user;
    double ns[BENCH_ROUNDS]; /* a call's, by round: filled in by bench_contest */
} bench_entrant;

/* Every round each entrant runs once unobserved, then as many calls as last some milliseconds. */
void bench_contest(bench_entrant *e, int n);

/* Median, least and greatest of an entrant's rounds. */
bench_times bench_entrant_times(const bench_entrant *e);
/* How many times as fast as `peer` an entrant is: the median over the rounds. */
double bench_entrant_ratio(const bench_entrant *e, const bench_entrant *peer);

#endif
