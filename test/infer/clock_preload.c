/* A processor clock for LD_PRELOAD on which 100 s pass between two looks, as on a slow machine. */
#pragma GCC visibility push(default)
#include <dlfcn.h>
#include <time.h>

int clock_gettime(clockid_t which, struct timespec *now)
{
    static int (*next)(clockid_t, struct timespec *);
    static time_t passed;
    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "clock_gettime");
    const int status = next(which, now);
    if (which == CLOCK_PROCESS_CPUTIME_ID)
        now->tv_sec += passed += 100;
    return status;
}
