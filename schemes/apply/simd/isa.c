/* Vector forms of a unit by instruction set. */
#include "schemes/apply/apply.h"
#include "schemes/apply/simd.h"

assay_pair_fn simd_pair(const assay_unit *u, enum assay_isa isa)
{
#ifdef ASSAY_X86
    if (isa == ASSAY_ISA_VNNI)
        return simd_add_avx512(u);
#endif
    (void)u;
    (void)isa;
    return NULL;
}

assay_encode_fn simd_encode(const assay_unit *u, enum assay_isa isa)
{
    const assay_rescale *o = &u->scale[ASSAY_OUT];
    if (u->untold || o->n != 1 || !simd_is_near(o->lo) || !simd_is_near(o->hi) ||
        !simd_is_near(u->list[0][0]) || o->scale[0] <= 0 || o->scale[0] >= 0x7f800000 ||
        u->rec.convert.division == ASSAY_QUANTIZE_DIVIDE_F64)
        return NULL;
    switch (isa) {
#ifdef ASSAY_X86
    case ASSAY_ISA_VNNI:
        return simd_encode_avx512(u);
    case ASSAY_ISA_AVX2:
        return simd_encode_avx2(u);
#endif
    default:
        return simd_encode_portable(u);
    }
}

assay_codes_fn simd_codes(const assay_unit *u, enum assay_isa isa, int64_t reach)
{
    switch (isa) {
#ifdef ASSAY_X86
    case ASSAY_ISA_VNNI:
        return simd_codes_avx512(u, reach);
    case ASSAY_ISA_AVX2:
        return simd_codes_avx2(u, reach);
#endif
    default:
        return simd_codes_portable(u, reach);
    }
}

assay_interpolate_fn simd_interpolated(const assay_unit *u, enum assay_isa isa)
{
    if (u->untold)
        return NULL;
    switch (isa) {
#ifdef ASSAY_X86
    case ASSAY_ISA_VNNI:
        return simd_interpolate_avx512(u);
    case ASSAY_ISA_AVX2:
        return simd_interpolate_avx2(u);
#endif
    default:
        return simd_interpolate_portable(u);
    }
}

assay_row_fn simd_bytes(const assay_unit *u, enum assay_isa isa)
{
    const bool norm = u->row == apply_layer_norm;
    if (u->untold)
        return NULL;
    switch (isa) {
#ifdef ASSAY_X86
    case ASSAY_ISA_VNNI:
        return norm ? simd_layer_norm_avx512(u) : simd_softmax_avx512(u);
    case ASSAY_ISA_AVX2:
        return norm ? simd_layer_norm_avx2(u) : simd_softmax_avx2(u);
#endif
    default:
        return norm ? simd_layer_norm_portable(u) : simd_softmax_portable(u);
    }
}
