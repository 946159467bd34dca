/* clang-format off */
/* Scales of blocks of small floats, and elements under a scale. Integers only.
 *
 * m is a block's greatest magnitude, max the greatest number of the elements' format, emax the
 * exponent of its leading digit. All but floor of log2 is binary32, rounded to nearest, ties to
 * even.
 *
 *   rule      scale                                                           (source)
 *   amax      m / max, to f32; 1 where that is 0. In other formats: clamped to the least normal and
 *             the greatest number, then rounded. With a scale's scale s: (m / max) / s.
 *                                                                             (vLLM; torchao)
 *   floor     2^S, S = floor(log2 m) - emax                                   (OCP MX 1.0, 6.3)
 *   ceil      S = ceil(log2 m) - emax                                         (torchao)
 *   even      S = floor(log2 m') - emax, m' is m rounded to the elements'     (torchao)
 *             fraction bits, ties away; beyond f32 it is Inf
 *   round_up  S = ceil(log2(m * (1 / max)))                                   (cuBLAS; torchao)
 *
 * S is kept within -127 and 127, so m = 0 gives 2^-127; Inf or NaN in a block gives e8m0's NaN.
 *
 *   by          element, rounded once more to its format
 *   divide      x / t        t = scale, or s * scale
 *   reciprocal  x * t        t = 1 / scale, or (1 / s) / scale
 *
 * Under a scale of e8m0 both are x * 2^-S, exact.
 *
 * An element of e8m0 is a power of two, `round` says which; saturate: Inf is the greatest one, what
 * is below the least one that, 0 too; else all of these are NaN. NaN and numbers below 0 are NaN.
 * (ONNX Cast, opset 24: its two columns) */
/* clang-format on */
#ifndef ASSAY_SCHEMES_MAC_SCALE_H
#define ASSAY_SCHEMES_MAC_SCALE_H

#include "graph/core/attr.h"
#include "schemes/apply/tell.h"
#include "schemes/mac/formats.h"

typedef struct assay_mac_scaling {
    enum assay_mac_format elements, to;
    enum assay_scale_rule rule;
    enum assay_scale_by by;
    bool saturate;
    enum assay_power_round round; /* of elements of e8m0 */
    uint32_t reach; /* f32: for rule amax, the format's greatest number times this is max */
} assay_mac_scaling;

/* The scale, in format `to`, of n f32 patterns; second: the f32 scale of this scale, 1 if there is
 * none. `teller` receives the steps (under element teller->at) and may be NULL. */
uint32_t mac_scale_of(const assay_mac_scaling *s, const int32_t *x, size_t n, uint32_t second,
                      const assay_teller *teller);
/* n f32 patterns to elements with a scale, and back. in and out may be the same. */
void mac_scale_encode(const assay_mac_scaling *s, const int32_t *x, size_t n, uint32_t scale,
                      uint32_t second, int32_t *out, const assay_teller *teller);
void mac_scale_decode(const assay_mac_scaling *s, const int32_t *x, size_t n, uint32_t scale,
                      uint32_t second, int32_t *out, const assay_teller *teller);
/* A pattern as f32 (always exact: f32 represents every number of every format); and an f32 rounded
 * to a format, ties to even. */
uint32_t mac_to_f32(enum assay_mac_format f, uint32_t pattern);
uint32_t mac_from_f32(enum assay_mac_format f, uint32_t bits, bool saturate);
/* The greatest number of a format, as f32. */
uint32_t mac_format_greatest(enum assay_mac_format f);
/* Whether elements have the range of `out`: if a row is scaled to the greatest of them, hardly any
 * product is finite. */
bool mac_format_reaches(enum assay_mac_format elements, enum assay_mac_format out);

#endif
