/* Bilinear sums to codes (resize.c) in C loops that compilers turn into vectors: built once for
 * each instruction set, which SIMD_NAME appends to the names. */
#include <assert.h>

#include "schemes/apply/apply.h"
#include "schemes/apply/simd/round.h"

/* As assay_round_shift with 0 < s < 63, which `interpolate` asserts before its loops. */
INLINE int64_t round_sum(int64_t sum, unsigned s, const enum assay_rounding mode)
{
    const int64_t q = sum >> s;
    return q + assay_rounds_up(mode, sum < 0, q & 1, (uint64_t)sum << (64 - s));
}

INLINE void interpolate(const assay_unit *u, const int64_t *sum, size_t n, size_t size, void *out,
                        const enum assay_rounding mode)
{
    const unsigned s = 2 * (unsigned)u->k[1];
    assert(s > 0 && s < 63);
    if (size == 1)
        for (size_t i = 0; i < n; i++)
            ((uint8_t *)out)[i] = (uint8_t)round_sum(sum[i], s, mode);
    else
        for (size_t i = 0; i < n; i++)
            ((uint16_t *)out)[i] = (uint16_t)round_sum(sum[i], s, mode);
}

#define INTERPOLATE(ID, name, ...)                                                                 \
    static void interpolate_##name(const assay_unit *u, const int64_t *sum, size_t n, size_t size, \
                                   void *out)                                                      \
    {                                                                                              \
        interpolate(u, sum, n, size, out, ASSAY_ROUND_##ID);                                       \
    }
#define ENTRY(ID, name, ...) interpolate_##name,

ASSAY_ROUNDINGS(INTERPOLATE)

assay_interpolate_fn NAMED(simd_interpolate)(const assay_unit *u)
{
    static const assay_interpolate_fn forms[ASSAY_ROUND_COUNT] = {ASSAY_ROUNDINGS(ENTRY)};
    return u->interpolate == apply_interpolate ? forms[u->rec.resize.round] : NULL;
}
