/* Floats of this machine beside a matrix unit's: bits, the exponential, types and schemes of the
 * tests. */
#ifndef TEST_SCHEMES_MAC_VALUES_H
#define TEST_SCHEMES_MAC_VALUES_H

#include "test/support/support.h"

#include <math.h>
#include <string.h>

#include "graph/core/type.h"
#include "test/support/scheme_unit.h"

static inline uint32_t bits_of(float x)
{
    uint32_t b;
    memcpy(&b, &x, sizeof b);
    return b;
}

static inline float float_of(uint32_t b)
{
    float x;
    memcpy(&x, &b, sizeof x);
    return x;
}

static inline bool same(uint32_t found, float expected)
{
    return isnan(expected) ? isnan(float_of(found)) : found == bits_of(expected);
}

static inline void expect(const char *what, uint32_t found, float expected)
{
    if (!same(found, expected))
        fail_msg("%s: %08x, expected %08x", what, found, bits_of(expected));
}

static const assay_type f32_type = {.elem = {ASSAY_KIND_F32, 32, true}, .rank = 1, .dim = {1}};

static inline assay_type type_of(assay_kind k)
{
    return (assay_type){.elem = k == ASSAY_KIND_F32    ? assay_f32()
                                : k == ASSAY_KIND_INT  ? assay_int(8, true)
                                : k == ASSAY_KIND_NONE ? (assay_elem){0}
                                                       : assay_small_float(k),
                        .rank = 1,
                        .dim = {1}};
}

static inline assay_scheme *scheme_of(const char *units, const char *more)
{
    char text[300];
    snprintf(text, sizeof text, "mac: {units: [%s]%s%s}\n", units, more[0] ? ", " : "", more);
    return unit_scheme(text);
}

/* As functions.h writes it. */
static inline float horner(const float *c, size_t n, float t)
{
    float p = c[0];
    for (size_t i = 1; i < n; i++) {
        const float product = p * t;
        p = product + c[i];
    }
    return p;
}

static inline float exp_of(float x)
{
    static const float c[] = {1.9875691500E-4F, 1.3981999507E-3F, 8.3334519073E-3F,
                              4.1665795894E-2F, 1.6666665459E-1F, 5.0000001201E-1F};
    if (x > 88.72284F)
        return INFINITY;
    if (x < -103.97284F)
        return 0;
    if (isnan(x))
        return x;
    const float n = rintf(x * 1.44269504F);
    const float first = x - n * 0.693359375F;
    const float r = first - n * -2.12194440e-4F;
    const float y = (horner(c, 6, r) * (r * r) + r) + 1;
    const int i = (int)n;
    return ldexpf(1, i - i / 2) * y * ldexpf(1, i / 2);
}

#endif
