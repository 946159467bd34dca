/* Rows of depthwise convolutions and of staged images in C that compilers turn into vectors, built
 * once for each instruction set, which ROW_NAME appends to the name. */
#include "interp/float/taps.h"

#ifdef __AVX512F__
#include <immintrin.h>
#endif
#include <stdbool.h>
#include <string.h>

#define JOIN2(a, b) a##_##b
#define JOIN(a, b)  JOIN2(a, b)

/* y[i] of the taps that one pass adds; `count` is a constant where this is inlined. */
static inline __attribute__((always_inline)) float sum(int count, const float *const *tap,
                                                       const float *weight, int64_t i)
{
    float s = weight[0] * tap[0][i];
    for (int t = 1; t < count; t++)
        s += weight[t] * tap[t][i];
    return s;
}

static inline __attribute__((always_inline)) void add_taps(int count, const float *x,
                                                           const int64_t *at, const float *weight,
                                                           int64_t n, bool add, float *restrict y)
{
    const float *tap[4];
    for (int t = 0; t < count; t++)
        tap[t] = x + at[t];
    for (int64_t i = 0; i < n; i++)
        y[i] = sum(count, tap, weight, i) + (add ? y[i] : 0);
}

/* Windows of 3x3, the most frequent by far, in one pass. */
static void nine(const float *x, const int64_t *at, const float *weight, int64_t n,
                 float *restrict y)
{
    const float *tap[9];
    float w[9];
    for (int t = 0; t < 9; t++) {
        tap[t] = x + at[t];
        w[t] = weight[t];
    }
    for (int64_t i = 0; i < n; i++) {
        const float first = sum(4, tap, w, i) + 0; /* as add_taps does: -0 becomes 0 */
        const float second = sum(4, tap + 4, w + 4, i) + first;
        y[i] = w[8] * tap[8][i] + second;
    }
}

static void sum_taps(const float *x, const int64_t *at, const float *weight, int64_t taps,
                     int64_t n, float *y)
{
    int64_t t = 0;

    if (taps == 9) {
        nine(x, at, weight, n, y);
        return;
    }
    for (; t + 4 <= taps; t += 4)
        add_taps(4, x, at + t, weight + t, n, t > 0, y);
    if (t + 2 <= taps) {
        add_taps(2, x, at + t, weight + t, n, t > 0, y);
        t += 2;
    }
    if (t < taps)
        add_taps(1, x, at + t, weight + t, n, t > 0, y);
}

#ifdef __AVX512F__
/* Rows of small images are shorter than a call of memcpy takes. */
static void copy_row(const float *x, int64_t n, float *y)
{
    for (; n > 0; n -= 16, x += 16, y += 16) {
        const __mmask16 mask = (__mmask16)(0xFFFFU >> (n < 16 ? 16 - n : 0));
        _mm512_mask_storeu_ps(y, mask, _mm512_maskz_loadu_ps(mask, x));
    }
}
#else
static void copy_row(const float *x, int64_t n, float *y)
{
    memcpy(y, x, (size_t)n * sizeof *y);
}
#endif

static void copy(const float *x, int64_t stride, int64_t n, float *restrict y)
{
    if (stride == 1)
        copy_row(x, n, y);
    else if (stride == 2)
        for (int64_t i = 0; i < n; i++)
            y[i] = x[2 * i];
    else
        for (int64_t i = 0; i < n; i++)
            y[i] = x[i * stride];
}

const float_taps JOIN(float_taps, ROW_NAME) = {sum_taps, copy};
