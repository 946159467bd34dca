/* Choosing quantization parameters: from a range of real values to a scale and a zero point.
 *
 * The range always includes 0, so that 0 is exactly a code (padding, ReLU, absent taps). */
#ifndef ASSAY_OPT_QPARAMS_H
#define ASSAY_OPT_QPARAMS_H

#include "graph/core/type.h"
#include "schemes/round.h"

typedef enum assay_symmetry {
    ASSAY_ASYMMETRIC,            /* [min, max] over all codes */
    ASSAY_SYMMETRIC,             /* zero point 0, or the middle code of an unsigned type */
    ASSAY_SYMMETRIC_UNSIGNED,    /* symmetric, but a range without negative values takes all
                                          codes: zero point = least code ("symmetric with uint8") */
    ASSAY_SYMMETRIC_POWER_OF_TWO /* symmetric, and the scale is a power of two */
} assay_symmetry;

typedef enum assay_qparams_method {
    ASSAY_QPARAMS_ASSAY, /* the formula below */
    ASSAY_QPARAMS_GLOW,  /* Glow's numbers to the bit, including its flaws (qparams_glow.c) */
    ASSAY_QPARAMS_FBGEMM /* FBGEMM's, as PyTorch uses it on x86 (qparams_fbgemm.c) */
} assay_qparams_method;

typedef struct assay_choice {
    assay_elem elem; /* integer of 2..32 bits */
    assay_symmetry symmetry;
    bool narrow;       /* leave the least code of a signed type unused: [-127, 127] */
    bool power_of_two; /* the scale is a power of two: rounded up, which never saturates more ... */
    bool nearest;      /* ... or to the nearest one (in the exponent), which may */
    assay_qparams_method method;
    bool final; /* glow: the range is its calibration's, neither to be widened nor stretched */
} assay_choice;

/* Least and greatest code in use. Codes of more than 30 bits use 30, so that differences of codes
 * and sums of a few of them stay inside an int32. */
void calibrate_choice_codes(const assay_choice *c, int64_t *lo, int64_t *hi);

/* scale = (max - min) / (codes - 1) and zero_point = lo_code - min / scale rounded half up and
 * clamped, after the range is widened to include 0; symmetric ranges use the least scale that
 * holds both ends. Rounding half up treats signed and unsigned types alike ([-3, 3] has zero
 * point 0 as i8 and 128 as u8), and no range is small enough to lose its zero point. An empty
 * range [0, 0] gets scale 1. Ranges are clipped to [-2^60, 2^60] and scales are at least 2^-60, so
 * that the product of two scales is a normal float.
 * ASSAY_ERR_INPUT when min > max or either is not a number; infinities are refused too. */
assay_status calibrate_choose_qparams(const assay_choice *c, double min, double max, float *scale,
                                      int32_t *zero_point, assay_error *err);

/* What Glow's qparams method makes of a range first: 0 included, stretched to where symmetric
 * codes reach. */
assay_status calibrate_choose_glow_range(const assay_choice *c, double min, double max,
                                         float *least, float *greatest, bool *symmetric,
                                         assay_error *err);

/* As calibrate_choose_qparams for ASSAY_QPARAMS_GLOW. Its flaws: unsigned [-3, 3] has zero point 0
 * and loses every negative value; so does any range with |min + max| below 2^-23; an empty range
 * has scale 0.1. ASSAY_ERR_INPUT for what Glow does not have: narrow, nearest, symmetric unsigned
 * codes. */
assay_status calibrate_choose_glow(const assay_choice *c, double min, double max, float *scale,
                                   int32_t *zero_point, assay_error *err);

/* As calibrate_choose_qparams for ASSAY_QPARAMS_FBGEMM: scales are at least 6.1e-5, an empty range
 * has scale 0.1, a zero point is rounded half to even; symmetric ranges are its preserve_sparsity,
 * whose zero point for signed codes is that of (least + greatest) / 2. ASSAY_ERR_INPUT for nearest,
 * and for symmetric unsigned codes by data. */
assay_status calibrate_choose_fbgemm(const assay_choice *c, double min, double max, float *scale,
                                     int32_t *zero_point, assay_error *err);

/* round(x / scale) + zero_point, clamped to [lo, hi]; how it rounds is the scheme's constant_round.
 */
int64_t calibrate_quantize_real(double x, double scale, int64_t zero_point, int64_t lo, int64_t hi,
                                enum assay_rounding round);

/* "asymmetric", "symmetric", "symmetric-narrow", "symmetric-unsigned", "power-of-two",
 * "power-of-two-nearest": sets symmetry, narrow and nearest of c; false for any other name. */
bool calibrate_symmetry_find(const char *name, assay_choice *c);
/* The names on one line, for messages. */
extern const char calibrate_symmetry_names[];

#endif
