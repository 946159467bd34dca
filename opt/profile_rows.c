#include "opt/profile_rows.h"

#include <float.h>
#include <string.h>

/* Which build of this file this is (opt/meson.build). */
#ifndef ROWS
#define ROWS assay_profile_rows_any
#endif

/* For x < 0 the float next to it, nearer to zero: floor(x * scale) is -1 - trunc(|that| * scale),
 * also where the product underflows. Bits of positive floats are in the order of the floats.
 * Choices are arithmetic, not branches, so that the compiler makes vectors of them. */
static bool places(const float *restrict x, size_t n, float scale, int32_t limit,
                   int32_t *restrict at, float *least, float *greatest)
{
    float lo = x[0], hi = x[0];
    int32_t top = 0;
#pragma omp simd reduction(min : lo) reduction(max : hi) reduction(max : top)
    for (int32_t i = 0; i < (int32_t)n; i++) {
        float real = x[i], size;
        int32_t bits;
        memcpy(&bits, &real, sizeof bits);
        lo = real < lo ? real : lo;
        hi = real > hi ? real : hi;
        int32_t sign = bits >> 31, magnitude = bits & INT32_MAX, inside = magnitude + sign;
        top = inside > top ? inside : top;
        uint32_t kept = (uint32_t)inside < (uint32_t)limit ? (uint32_t)inside : (uint32_t)limit;
        memcpy(&size, &kept, sizeof size);
        int32_t bin = ((int32_t)(size * scale) ^ sign) & (ASSAY_HISTOGRAM_BINS - 1);
        int32_t zero = ASSAY_HISTOGRAM_BINS + (i & (ASSAY_PROFILE_ZEROS - 1));
        int32_t is_zero = -(int32_t)(magnitude == 0);
        at[i] = (zero & is_zero) | (bin & ~is_zero);
    }
    *least = lo;
    *greatest = hi;
    return top <= limit && lo >= -FLT_MAX; /* -inf is next to -2^128 */
}

static void count(const int32_t *at, size_t n, uint16_t (*table)[ASSAY_PROFILE_ROW])
{
    uint16_t *a = table[0], *b = table[1];
#pragma GCC unroll 4
    for (size_t i = 0; i < n; i += 2) {
        a[at[i]]++;
        b[at[i + 1]]++;
    }
}

static void fold(uint16_t (*table)[ASSAY_PROFILE_ROW], uint16_t *restrict into)
{
    const uint16_t *restrict a = table[0], *restrict b = table[1];
    for (int i = 0; i < ASSAY_PROFILE_ROW; i++)
        into[i] = (uint16_t)(into[i] + a[i] + b[i]);
    memset(table, 0, 2 * sizeof *table);
}

const assay_profile_rows ROWS = {places, count, fold};
