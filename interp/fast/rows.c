/* Rows of bytes in C that compilers turn into vectors, built once for each instruction set, which
 * ROW_NAME appends to the name. */
#include <string.h>

#include "interp/fast/isa.h"

#define JOIN2(a, b) a##_##b
#define JOIN(a, b)  JOIN2(a, b)

/* |v| < 2^22: adding 1.5 * 2^23 rounds it to an integer, half to even, and leaves that in the low
 * bits. */
static void linear(const assay_linear *l, const uint8_t *restrict a, const uint8_t *restrict b,
                   size_t n, uint8_t *restrict y)
{
    const assay_linear k = *l;
    for (size_t i = 0; i < n; i++) {
        const float x = (float)(uint8_t)(a[i] ^ k.flip[0]);
        float v = (float)(uint8_t)(b[i] ^ k.flip[1]) * k.slope[1] + k.offset;
        uint32_t bits;
        v = x * k.slope[0] + v;
        v = v < k.lo ? k.lo : v;
        v = v > k.hi ? k.hi : v;
        v += 12582912.0f;
        memcpy(&bits, &v, sizeof bits);
        y[i] = (uint8_t)(bits + k.zero);
    }
}

static void max(const uint8_t *restrict x, size_t n, uint8_t flip, uint8_t *restrict best)
{
    for (size_t i = 0; i < n; i++) {
        const uint8_t v = x[i] ^ flip;
        best[i] = best[i] > v ? best[i] : v;
    }
}

static void flip_bytes(const uint8_t *restrict x, size_t n, uint8_t flip, uint8_t *restrict y)
{
    for (size_t i = 0; i < n; i++)
        y[i] = x[i] ^ flip;
}

static void weave(const uint8_t *restrict x, size_t step, int planes, size_t n, uint8_t flip,
                  uint8_t *restrict y)
{
    if (planes == 3)
        for (size_t i = 0; i < n; i++) {
            y[3 * i] = x[i] ^ flip;
            y[3 * i + 1] = x[step + i] ^ flip;
            y[3 * i + 2] = x[2 * step + i] ^ flip;
        }
    else
        for (int c = 0; c < planes; c++)
            for (size_t i = 0; i < n; i++)
                y[i * (size_t)planes + (size_t)c] = x[(size_t)c * step + i] ^ flip;
}

const assay_rows JOIN(assay_rows, ROW_NAME) = {
    .linear = linear, .max = max, .flip = flip_bytes, .weave = weave};
