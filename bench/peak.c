#include "bench/peak.h"

#include <immintrin.h>

#include "bench/timing.h"

enum { CHAINS = 12, ROUNDS = 4000000, MACS = 64 };

static double once(void)
{
    __m512i acc[CHAINS], x = _mm512_set1_epi8(3), w = _mm512_set1_epi8(-5);
    for (int i = 0; i < CHAINS; i++)
        acc[i] = _mm512_set1_epi32(i);
    const double begin = bench_now();
    for (int r = 0; r < ROUNDS; r++) {
#pragma GCC unroll 12
        for (int i = 0; i < CHAINS; i++)
            acc[i] = _mm512_dpbusd_epi32(acc[i], x, w);
        __asm__ volatile("" : "+v"(x), "+v"(w)); /* nothing is hoisted */
    }
    const double ns = bench_now() - begin;
    for (int i = 0; i < CHAINS; i++)
        __asm__ volatile("" : : "v"(acc[i]));
    return (double)ROUNDS * CHAINS * MACS / ns * 1e9;
}

double bench_peak_vnni(void)
{
    double best = 0;
    if (!__builtin_cpu_supports("avx512vnni"))
        return 0;
    for (int i = 0; i < 5; i++) {
        const double rate = once();
        best = rate > best ? rate : best;
    }
    return best;
}
