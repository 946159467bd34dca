/* Chains of fused multiply-adds. */
#include "schemes/mac/chain.h"

#include "schemes/mac/formats.h"

static bool is_held(int64_t format)
{
    return format == ASSAY_MAC_F32 || format == ASSAY_MAC_TF32 || format == ASSAY_MAC_BF16 ||
           format == ASSAY_MAC_F16;
}

static bool is_in_order(const assay_mac *m)
{
    return m->group == 1 && m->order == 0 && m->k_order == ASSAY_MAC_ASCENDING && m->chains == 1 &&
           m->start == ASSAY_MAC_START_ACC && m->phases == 1 && m->promote == 0 &&
           m->split_k == 1 && m->accumulator == ASSAY_MAC_ACC_JOINED &&
           m->align_bits == ASSAY_MAC_NONE; /* joined: by no pairs */
}

static bool is_ieee(const assay_mac *m)
{
    return m->out_round == ASSAY_ROUND_HALF_EVEN && (m->out_frac == 0 || m->out_frac == 23) &&
           m->overflow != ASSAY_MAC_LARGEST && m->zero_sign == ASSAY_MAC_ZERO_IEEE &&
           m->flush_in == ASSAY_MAC_FLUSH_NONE && m->flush_acc == ASSAY_MAC_FLUSH_NONE &&
           m->flush_out == ASSAY_MAC_TINY_NONE;
}

bool mac_chain_takes(const assay_mac *m)
{
    return is_held(m->a) && is_held(m->b) && m->acc == ASSAY_MAC_F32 && m->out == ASSAY_MAC_F32 &&
           is_in_order(m) && is_ieee(m) && m->scale_block == 0 && m->a_digits == ASSAY_MAC_NONE &&
           m->b_digits == ASSAY_MAC_NONE && m->product_limit == ASSAY_MAC_NONE &&
           m->product_round == ASSAY_MAC_NONE;
}

#define RUN                                                                                        \
    for (int j = 0; j < MAC_CHAIN; j++)                                                            \
        y[j] = 0;                                                                                  \
    for (size_t k = 0; k < n; k++)                                                                 \
        for (int j = 0; j < MAC_CHAIN; j++)                                                        \
            y[j] = __builtin_fmaf(a[k], b[k * MAC_CHAIN + (size_t)j], y[j]);

#ifdef ASSAY_X86
__attribute__((target("avx2,fma"))) static void run_fma(const float *a, const float *b, size_t n,
                                                        float y[MAC_CHAIN])
{
    RUN
}
#endif

static void run_portable(const float *a, const float *b, size_t n, float y[MAC_CHAIN]){RUN}

mac_chain_fn mac_chain_choose(enum assay_isa isa)
{
#ifdef ASSAY_X86
    if (isa != ASSAY_ISA_PORTABLE && __builtin_cpu_supports("fma"))
        return run_fma;
#endif
    (void)isa;
    return run_portable;
}
