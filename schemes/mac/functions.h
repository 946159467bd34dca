/* Functions of binary32 in stated steps: what a scheme of matrix units computes between products.
 *
 * Each step is one IEEE operation on binary32, rounded to nearest, ties to even, in the order
 * written; no step is fused with another. An f32 is its pattern. `t` receives the steps of element
 * t->at of a row; it may be NULL. */
#ifndef ASSAY_SCHEMES_MAC_FUNCTIONS_H
#define ASSAY_SCHEMES_MAC_FUNCTIONS_H

#include <stddef.h>

#include "schemes/apply/softfloat.h"
#include "schemes/apply/tell.h"

#define ASSAY_F32_ONE  UINT32_C(0x3f800000)
#define ASSAY_F32_HALF UINT32_C(0x3f000000)

/* e^x: n = round-half-even(x * log2 e), r = (x - n * 0.693359375) - n * -2.12194440e-4, p by
 * Horner,
 * ((p * (r * r)) + r) + 1, times 2^(n - n div 2), times 2^(n div 2). Beyond 88.72284 Inf, below
 * -103.97284 zero. Coefficients: Cephes, single precision expf. */
uint32_t mac_exp(uint32_t x, const assay_teller *t);
/* 1 / (1 + e^-x) */
uint32_t mac_sigmoid(uint32_t x, const assay_teller *t);
/* 1 - 2 / (e^(2|x|) + 1), with the sign of x */
uint32_t mac_tanh(uint32_t x, const assay_teller *t);
/* 1 - p(t) * e^-(x * x), t = 1 / (1 + 0.3275911 |x|), p by Horner, with the sign of x: Abramowitz
 * and Stegun 7.1.26 */
uint32_t mac_erf(uint32_t x, const assay_teller *t);
/* (x * 1/2) * (1 + erf(x * 0.70710678)), or with tanh:
 * (x * 1/2) * (1 + tanh(0.79788456 * (x + 0.044715 * ((x * x) * x)))) */
uint32_t mac_gelu(uint32_t x, bool with_tanh, const assay_teller *t);

/* Rows: sums run from the first element to the last, from +0.
 *
 * softmax: m the greatest, e = exp((x - m) * beta) (without the product where beta is 1), e / sum e
 * l2_norm: x / sqrt(max(sum (x * x), epsilon))
 * layer_norm: mean = sum x / n, d = x - mean, r = 1 / sqrt(sum (d * d) / n + epsilon), d * r, times
 * gamma, plus beta, each where it is there (NULL: not) */
void mac_softmax(const int32_t *x, size_t n, uint32_t beta, int32_t *out, const assay_teller *t);
void mac_l2_norm(const int32_t *x, size_t n, uint32_t epsilon, int32_t *out, const assay_teller *t);
void mac_layer_norm(const int32_t *x, size_t n, const int32_t *gamma, const int32_t *beta,
                    uint32_t epsilon, int32_t *out, const assay_teller *t);
uint32_t mac_sum_of(const int32_t *x, size_t n, const assay_teller *t);
/* The greatest or least element, the first of equal ones; a NaN is kept only if it comes first. For
 * n = 0: -Inf and +Inf. */
uint32_t mac_greatest_of(const int32_t *x, size_t n, const assay_teller *t);
uint32_t mac_least_of(const int32_t *x, size_t n, const assay_teller *t);

#endif
