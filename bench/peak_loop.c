/* Dot products on registers, built for each instruction set by the exact ones that the fast engine
 * has there: bytes by vpdpbusd, words by vpmaddwd and vpaddd. */
#include "bench/peak.h"

#include <immintrin.h>

#include "bench/timing.h"

#ifdef __AVX512VNNI__
#define PEAK bench_peak_vnni
typedef __m512i vector;
enum { MACS = 64 };

static inline vector all(int byte)
{
    return _mm512_set1_epi8((char)byte);
}

static inline vector dot(vector acc, vector x, vector w)
{
    return _mm512_dpbusd_epi32(acc, x, w);
}
#else
#define PEAK bench_peak_avx2
typedef __m256i vector;
enum { MACS = 16 };

static inline vector all(int word)
{
    return _mm256_set1_epi16((short)word);
}

static inline vector dot(vector acc, vector x, vector w)
{
    return _mm256_add_epi32(acc, _mm256_madd_epi16(x, w));
}
#endif

enum { CHAINS = 12, ROUNDS = 4000000 };

static double once(void)
{
    vector acc[CHAINS], x = all(3), w = all(-5);
    for (int i = 0; i < CHAINS; i++)
        acc[i] = all(i);
    const double begin = bench_now();
    for (int r = 0; r < ROUNDS; r++)
#pragma GCC unroll 12
        for (int i = 0; i < CHAINS; i++) {
            acc[i] = dot(acc[i], x, w);
            __asm__ volatile("" : "+v"(x)); /* nothing is hoisted or shared */
        }
    const double ns = bench_now() - begin;
    for (int i = 0; i < CHAINS; i++)
        __asm__ volatile("" : : "v"(acc[i]));
    return (double)ROUNDS * (double)CHAINS * (double)MACS / ns * 1e9;
}

double PEAK(void)
{
    double best = 0;
    for (int i = 0; i < 5; i++) {
        const double rate = once();
        best = rate > best ? rate : best;
    }
    return best;
}
