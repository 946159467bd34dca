/* Regions of OpenMP threads within a node.
 *
 * A thread begins on the CPU of the one that made it, and both wait for each other without
 * sleeping: Linux sees two busy threads, and may leave them together for tens of regions while
 * another CPU is idle. So a worker that finds itself on its caller's CPU asks to be elsewhere,
 * once; where it may run is as before. */
#include "interp/fast/fast.h"

#if defined _OPENMP && defined __linux__
#include <sched.h>

static int this_cpu(void)
{
    return sched_getcpu();
}

/* Systems with more CPUs than a cpu_set_t holds, and sandboxes, may refuse: then nothing happens.
 */
static void leave(int cpu)
{
    cpu_set_t allowed, others;
    if (cpu < 0 || cpu >= CPU_SETSIZE || sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        return;
    others = allowed;
    CPU_CLR((size_t)cpu, &others);
    if (CPU_COUNT(&others) > 0 && sched_setaffinity(0, sizeof others, &others) == 0)
        sched_setaffinity(0, sizeof allowed, &allowed);
}
#else
static int this_cpu(void)
{
    return -1;
}

static void leave(int cpu)
{
    (void)cpu;
}
#endif

void fast_each(int workers, int64_t n, void (*body)(void *user, int64_t i), void *user)
{
    if (workers <= 1) {
        for (int64_t i = 0; i < n; i++)
            body(user, i);
        return;
    }
    const int caller = this_cpu();
#pragma omp parallel num_threads(workers)
    {
        if (fast_worker(workers) > 0 && caller >= 0 && this_cpu() == caller)
            leave(caller);
#pragma omp for schedule(static)
        for (int64_t i = 0; i < n; i++)
            body(user, i);
    }
}
