/* The passes that profiling makes over every element; see rows.h. */
#include "opt/profile/rows.h"

#include <float.h>
#include <string.h>

/* Which build of this file this is (opt/meson.build). */
#ifndef ROWS
#define ROWS profile_rows_any
#endif

static int32_t choose(int32_t a, int32_t b, int32_t second)
{
    return (a & ~second) | (b & second);
}

static int32_t bits_of(float x)
{
    int32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* For x < 0 the float next to it, nearer to zero: floor(x * scale) is -1 - trunc(|that| * scale),
 * also where the product underflows. Bits of positive floats are in the order of the floats.
 * Choices are arithmetic, not branches, so that the compiler makes vectors of them. */
static bool places(const float *restrict x, size_t n, assay_profile_split *s, uint16_t *restrict at)
{
    const float lo = s->lo, hi = s->hi;
    const int32_t scale[] = {bits_of(s->scale[0]), bits_of(s->scale[1])};
    const int32_t limits[] = {s->limit[0], s->limit[1]};
    float least = x[0], greatest = x[0];
    int32_t beyond = 0, below = 0, above = 0;
#pragma omp simd reduction(min : least) reduction(max : greatest) reduction(| : beyond)            \
    reduction(+ : below) reduction(+ : above)
    for (int32_t i = 0; i < (int32_t)n; i++) {
        const float real = x[i];
        const int32_t bits = bits_of(real);
        least = real < least ? real : least;
        greatest = real > greatest ? real : greatest;
        const int32_t less = -(int32_t)(real < lo), more = -(int32_t)(real > hi);
        const int32_t out = less | more;
        below -= less;
        above -= more;
        const int32_t sign = bits >> 31, magnitude = bits & INT32_MAX, inside = magnitude + sign;
        const int32_t limit = choose(limits[0], limits[1], out);
        beyond |= limit - inside; /* negative when it is */
        const uint32_t kept =
            (uint32_t)inside < (uint32_t)limit ? (uint32_t)inside : (uint32_t)limit;
        const int32_t factor = choose(scale[0], scale[1], out);
        float size, by;
        memcpy(&size, &kept, sizeof size);
        memcpy(&by, &factor, sizeof by);
        const int32_t bin = ((int32_t)(size * by) ^ sign) & (ASSAY_HISTOGRAM_BINS - 1);
        const int32_t zero = ASSAY_HISTOGRAM_BINS + (i & (ASSAY_PROFILE_ZEROS - 1));
        at[i] =
            (uint16_t)(choose(bin, zero, -(int32_t)(magnitude == 0)) + (out & ASSAY_PROFILE_ROW));
    }
    s->least = least;
    s->greatest = greatest;
    s->below = (uint32_t)below;
    s->above = (uint32_t)above;
    return beyond >= 0 && least >= -FLT_MAX; /* -inf is next to -2^128 */
}

static void count(const uint16_t *restrict at, size_t n, uint16_t *restrict table)
{
    const size_t quarter = n / 4;
    const uint16_t *second = at + quarter, *third = second + quarter, *fourth = third + quarter;
    for (size_t i = 0; i < quarter; i++) {
        table[at[i]]++;
        table[second[i]]++;
        table[third[i]]++;
        table[fourth[i]]++;
    }
    for (size_t i = 4 * quarter; i < n; i++)
        table[at[i]]++;
}

static uint16_t greatest(const uint16_t *table)
{
    uint16_t max = 0;
    for (int i = 0; i < ASSAY_PROFILE_TABLE; i++)
        max = table[i] > max ? table[i] : max;
    return max;
}

const assay_profile_rows ROWS = {places, count, greatest};
