/* Narrow floats: float16 and bfloat16 are float32 values here that a narrower format can hold. A
 * cast to one of them rounds each value to the nearest that it has, ties to even; beyond the
 * greatest is infinity (IEEE 754; ONNX Cast). */
#ifndef ASSAY_GRAPH_NARROW_H
#define ASSAY_GRAPH_NARROW_H

#include <math.h>
#include <stdint.h>
#include <string.h>

/* x rounded to a float of 8 exponent bits and 23 - `drop` fraction bits. */
static inline float assay_drop_fraction(float x, unsigned drop)
{
    uint32_t u;
    memcpy(&u, &x, sizeof u);
    u += (UINT32_C(1) << (drop - 1)) - 1 + (u >> drop & 1);
    u &= ~((UINT32_C(1) << drop) - 1);
    memcpy(&x, &u, sizeof x);
    return x;
}

/* Below 2^-14 the steps are 2^-24: adding 0.5, whose last place that is, rounds to them. */
static inline float assay_round_f16(float x)
{
    const float magnitude = fabsf(x);
    float y = magnitude;
    if (magnitude >= 65520.0f) /* halfway from the largest, 65504, to 65536 */
        y = INFINITY;
    else if (magnitude < 0x1p-14f)
        y = (magnitude + 0.5f) - 0.5f;
    else if (magnitude == magnitude)
        y = assay_drop_fraction(magnitude, 13);
    return copysignf(y, x);
}

static inline float assay_round_bf16(float x)
{
    return x != x ? x : assay_drop_fraction(x, 16);
}

#endif
