#include "opt/profile_rows.h"

/* Which build of this file this is (opt/meson.build). */
#ifndef ROWS
#define ROWS assay_profile_rows_any
#endif

static bool survey(const float *x, size_t n, float *least, float *greatest)
{
    float lo = x[0], hi = x[0];
    int32_t odd = 0;
#pragma omp simd reduction(min : lo) reduction(max : hi) reduction(| : odd)
    for (size_t i = 0; i < n; i++) {
        lo = x[i] < lo ? x[i] : lo;
        hi = x[i] > hi ? x[i] : hi;
        odd |= (x[i] - x[i]) != 0.0f; /* inf - inf and NaN - NaN are NaN */
    }
    *least = lo;
    *greatest = hi;
    return odd == 0;
}

/* Scaling by a power of two is exact but for underflow, which may turn a negative x into -0. The
 * choices are arithmetic, not branches, so that the compiler makes vectors of them. */
static void bins(const float *x, size_t n, float scale, int32_t *bin)
{
#pragma omp simd
    for (int32_t i = 0; i < (int32_t)n; i++) {
        float t = x[i] * scale;
        int32_t whole = (int32_t)t;
        int32_t below = t < (float)whole;
        int32_t lost = (t == 0.0f) & (x[i] < 0.0f);
        int32_t at = ASSAY_PROFILE_HALF + whole - (below | lost);
        int32_t zero = ASSAY_PROFILE_BINS + (i & (ASSAY_PROFILE_ZEROS - 1));
        int32_t is_zero = -(int32_t)(x[i] == 0.0f);
        bin[i] = (zero & is_zero) | (at & ~is_zero);
    }
}

static void count(const int32_t *bin, size_t n, uint16_t (*table)[ASSAY_PROFILE_ROW])
{
    uint16_t *a = table[0], *b = table[1];
#pragma GCC unroll 4
    for (size_t i = 0; i < n; i += 2) {
        a[bin[i]]++;
        b[bin[i + 1]]++;
    }
}

const assay_profile_rows ROWS = {survey, bins, count};
