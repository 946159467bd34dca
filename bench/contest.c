/* Entrants timed in turns; see contest.h. */
#include "bench/contest.h"

#include <string.h>

static const double enough = 4e6; /* ns of a measurement */

void bench_contest(bench_entrant *e, int n)
{
    for (int round = 0; round < BENCH_ROUNDS; round++)
        for (int i = 0; i < n; i++) {
            const double once = e[i].time(e[i].user, 1);
            const int calls = once > enough ? 1 : (int)(enough / once) + 1;
            e[i].ns[round] = e[i].time(e[i].user, calls) / calls;
        }
}

bench_times bench_entrant_times(const bench_entrant *e)
{
    double t[BENCH_ROUNDS];
    memcpy(t, e->ns, sizeof t);
    qsort(t, BENCH_ROUNDS, sizeof *t, bench_ascending);
    return (bench_times){t[BENCH_ROUNDS / 2], t[0], t[BENCH_ROUNDS - 1]};
}

double bench_entrant_ratio(const bench_entrant *e, const bench_entrant *peer)
{
    double t[BENCH_ROUNDS];
    for (int i = 0; i < BENCH_ROUNDS; i++)
        t[i] = peer->ns[i] / e->ns[i];
    qsort(t, BENCH_ROUNDS, sizeof *t, bench_ascending);
    return t[BENCH_ROUNDS / 2];
}
