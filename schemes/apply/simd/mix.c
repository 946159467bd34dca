/* Bilinear sums to codes (resize.c) in C loops that compilers turn into vectors: built once for
 * each instruction set, which SIMD_NAME appends to the names. */
#include "schemes/apply/apply.h"
#include "schemes/apply/round.h"

#define JOIN2(a, b) a##_##b
#define JOIN(a, b)  JOIN2(a, b)
#define INLINE      static inline __attribute__((always_inline))

/* As assay_round_shift with 0 < s < 63, which blend's fraction bits are. */
INLINE int64_t round_sum(int64_t sum, unsigned s, const enum assay_rounding mode)
{
    const int64_t q = sum >> s;
    return q + assay_rounds_up(mode, sum < 0, q & 1, (uint64_t)sum << (64 - s));
}

INLINE void mix(const assay_unit *u, const int64_t *sum, size_t n, size_t size, void *out,
                const enum assay_rounding mode)
{
    const unsigned s = 2 * (unsigned)u->k[1];
    if (size == 1)
        for (size_t i = 0; i < n; i++)
            ((uint8_t *)out)[i] = (uint8_t)round_sum(sum[i], s, mode);
    else
        for (size_t i = 0; i < n; i++)
            ((uint16_t *)out)[i] = (uint16_t)round_sum(sum[i], s, mode);
}

#define MIX(name, mode)                                                                            \
    static void mix_##name(const assay_unit *u, const int64_t *sum, size_t n, size_t size,         \
                           void *out)                                                              \
    {                                                                                              \
        mix(u, sum, n, size, out, mode);                                                           \
    }

MIX(half_up, ASSAY_ROUND_HALF_UP)
MIX(half_away, ASSAY_ROUND_HALF_AWAY)
MIX(half_even, ASSAY_ROUND_HALF_EVEN)
MIX(half_zero, ASSAY_ROUND_HALF_ZERO)
MIX(floor, ASSAY_ROUND_FLOOR)
MIX(trunc, ASSAY_ROUND_TRUNC)
MIX(ceil, ASSAY_ROUND_CEIL)
MIX(odd, ASSAY_ROUND_ODD)
MIX(away, ASSAY_ROUND_AWAY)

assay_mix_fn JOIN(assay_simd_mix, SIMD_NAME)(const assay_unit *u)
{
    static const assay_mix_fn forms[ASSAY_ROUND_COUNT] = {[ASSAY_ROUND_HALF_UP] = mix_half_up,
                                                          [ASSAY_ROUND_HALF_AWAY] = mix_half_away,
                                                          [ASSAY_ROUND_HALF_EVEN] = mix_half_even,
                                                          [ASSAY_ROUND_HALF_ZERO] = mix_half_zero,
                                                          [ASSAY_ROUND_FLOOR] = mix_floor,
                                                          [ASSAY_ROUND_TRUNC] = mix_trunc,
                                                          [ASSAY_ROUND_CEIL] = mix_ceil,
                                                          [ASSAY_ROUND_ODD] = mix_odd,
                                                          [ASSAY_ROUND_AWAY] = mix_away};
    return u->blend == assay_apply_blend ? forms[u->rec.resize.round] : NULL;
}
