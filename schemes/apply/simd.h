/* Rescales of whole blocks of int32 accumulators to one-byte codes, in vectors.
 *
 * A rule that has a vector form here gives the bits of its row in rescale.c or rescale_float.c;
 * test/schemes/test_simd.c compares the two. What has none is left to the rows. */
#ifndef ASSAY_SCHEMES_APPLY_SIMD_H
#define ASSAY_SCHEMES_APPLY_SIMD_H

#include "schemes/round.h"
#include "schemes/vtable.h"

struct assay_rescale;

enum assay_simd_way {
    ASSAY_SIMD_NONE,
    ASSAY_SIMD_ONE_ROUNDING, /* x * m / 2^s by `mode` */
    ASSAY_SIMD_DOUBLE_LEFT,  /* x << left in 32 bits, * m, half up by 31, half away by the rest */
    ASSAY_SIMD_DOUBLE,       /* x * m, half up by 31 (or fewer), half away by the rest */
    ASSAY_SIMD_GLOW,         /* floor of x / 2^pre, * m in 32 bits, half up */
    ASSAY_SIMD_FLOAT         /* float(x) * scale (or * scale * scale_w / scale_out), by `mode` */
};

/* How a vector form does a rescale. Chosen by simd_choose (simd.c). */
typedef struct assay_simd {
    enum assay_simd_way way;
    enum assay_rounding mode;
    bool steps;      /* float: three scales one after the other */
    bool inside;     /* float: the zero point is added before rounding */
    bool indefinite; /* float: what leaves int32 becomes INT32_MIN; else it saturates */
    bool truncate;   /* integers: to int32 by its low bits; else saturating */
    bool wrap_sum;   /* the zero point is added modulo 2^32; else exactly */
    /* No result comes nearer to the ends of int32 than 2^24, whatever the accumulator, and the
     * codes are those of a byte: so the zero point may be added, and the codes packed, with
     * saturation to 16 and 8 bits. Double roundings then shift by 31 and by 1 to 31 more. */
    bool packed;
    int32_t lo, hi, zero_point;
} assay_simd;

/* Codes and zero points of the final clamp stay below 2^16. */
static inline bool simd_is_near(int64_t x)
{
    return x > -(1 << 16) && x < 1 << 16;
}

assay_simd simd_choose(const struct assay_rescale *r);

/* Additions of one-byte codes that have a vector form. */
enum assay_simd_add {
    ASSAY_SIMD_ADD_NONE,
    ASSAY_SIMD_ADD_DOUBLE,  /* add.c left_shift by ASSAY_SIMD_DOUBLE_LEFT rescales */
    ASSAY_SIMD_ADD_HALF_UP, /* the same by one rounding half up */
    ASSAY_SIMD_ADD_FLOAT    /* add_float.c float_scaled, half even */
};
enum assay_simd_add simd_add_choose(const assay_unit *u);

/* plain.c, by instruction set: blocks, and float32 to codes; NULL where there is no form. */
assay_block_fn simd_plain_portable(const assay_simd *s);
assay_encode_fn simd_encode_portable(const assay_unit *u);

/* codes.c, by instruction set: element-wise functions of codes at most `reach` from their zero
 * points; NULL where u has none. */
assay_codes_fn simd_codes_portable(const assay_unit *u, int64_t reach);
/* interpolate.c, by instruction set: bilinear sums to codes; NULL where u has none. */
assay_interpolate_fn simd_interpolate_portable(const assay_unit *u);
/* softmax.c, layer_norm.c, by instruction set: rows to bytes; NULL where u has none. */
assay_row_fn simd_softmax_portable(const assay_unit *u);
assay_row_fn simd_layer_norm_portable(const assay_unit *u);

#ifdef ASSAY_X86
assay_codes_fn simd_codes_avx2(const assay_unit *u, int64_t reach);
assay_codes_fn simd_codes_avx512(const assay_unit *u, int64_t reach);
assay_interpolate_fn simd_interpolate_avx2(const assay_unit *u);
assay_interpolate_fn simd_interpolate_avx512(const assay_unit *u);
assay_row_fn simd_softmax_avx2(const assay_unit *u);
assay_row_fn simd_softmax_avx512(const assay_unit *u);
assay_row_fn simd_layer_norm_avx2(const assay_unit *u);
assay_row_fn simd_layer_norm_avx512(const assay_unit *u);
assay_block_fn simd_plain_avx2(const assay_simd *s);
assay_encode_fn simd_encode_avx2(const assay_unit *u);
assay_block_fn simd_plain_avx512(const assay_simd *s);
assay_encode_fn simd_encode_avx512(const assay_unit *u);
/* packed.c: the block function for a way whose results are packed. */
assay_block_fn simd_packed_avx512(const assay_simd *s);
/* avx512.c: the block function for a way, or NULL. */
assay_block_fn simd_avx512(const assay_simd *s);
/* add_avx512.c: the form that simd_add_choose names, or NULL. */
assay_pair_fn simd_add_avx512(const assay_unit *u);
#endif

#endif
