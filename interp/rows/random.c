/* Random numbers; see random.h. */
#include "interp/rows/random.h"

uint64_t rows_next(rows_random *r)
{
    uint64_t z = r->state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

int64_t rows_between(rows_random *r, int64_t lo, int64_t hi)
{
    const uint64_t span = (uint64_t)hi - (uint64_t)lo + 1;
    const uint64_t v = rows_next(r);
    return (int64_t)((uint64_t)lo + (span ? v % span : v));
}
