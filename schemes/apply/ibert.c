/* GELU and softmax by I-BERT's polynomials; see ibert.h. */
#include "schemes/apply/ibert.h"

#include "schemes/apply/apply.h"
#include "schemes/apply/fixedpoint.h"
#include "schemes/apply/softfloat.h"

static int32_t gelu(int32_t q, int32_t b, int32_t c, const assay_teller *t)
{
    int64_t size = q < 0 ? -(int64_t)q : q;
    int64_t inner = (size < -(int64_t)b ? size : -(int64_t)b) + b;
    int32_t polynomial = apply_wrap32(inner * inner + c);
    int32_t erf = apply_wrap32((q < 0 ? -(int64_t)polynomial : polynomial) + (int64_t)c);
    apply_tell(t, "b", b);
    apply_tell(t, "c", c);
    apply_tell(t, "min(|q|, -b) + b", inner);
    apply_tell(t, "squared, plus c", polynomial);
    apply_tell(t, "with the sign of q, plus c", erf);
    apply_tell_product(t, "q times that", q, erf);
    return apply_wrap32((int64_t)q * erf);
}

int32_t apply_ibert_gelu(int32_t q, int32_t b, int32_t c)
{
    return gelu(q, b, c, NULL);
}

static int32_t exponential(int32_t q, int32_t b, int32_t c, int32_t ln2, int32_t ln2_inverse,
                           const assay_teller *t)
{
    int64_t z = -(int64_t)q * ln2_inverse / 65536;
    int64_t p = q + z * ln2 + b;
    apply_tell(t, "distance", q);
    apply_tell(t, "z: how often ln 2 is in it", z);
    apply_tell(t, "p: distance + z * ln 2 + b", p);
    apply_tell(t, "p squared, plus c", apply_wrap32(p * p + c));
    return z > 31 ? 0 : (int32_t)apply_shift_right(apply_wrap32(p * p + c), (unsigned)z);
}

int32_t apply_ibert_exp(int32_t q, int32_t b, int32_t c, int32_t ln2, int32_t ln2_inverse)
{
    return exponential(q, b, c, ln2, ln2_inverse, NULL);
}

/* out = rescale(-polynomial): k[0] b, k[1] c; the sign of the step is taken off. */
void apply_gelu_ibert(const assay_unit *u, const int32_t *x, size_t n, int32_t *out)
{
    for (size_t i = 0; i < n; i++) {
        int32_t q = (int32_t)(x[i] - u->in_zero[0]);
        const assay_teller *t = apply_teller(u, i);
        apply_tell(t, "q: code less zero point", q);
        int64_t v = gelu(q, (int32_t)u->k[0], (int32_t)u->k[1], t);
        out[i] = apply_rescale_one(&u->scale[ASSAY_OUT], -v, 0);
    }
}

/* Exponentials of x - max, times the float32 quotient 127 / their sum, rounded as the scheme's
 * float rescale does. k[0..3]: b, c, ln2, 1 / ln2. */
void apply_softmax_ibert(const assay_unit *u, const int32_t *x, size_t n, int32_t *out)
{
    const int32_t b = (int32_t)u->k[0], c = (int32_t)u->k[1];
    const int32_t ln2 = (int32_t)u->k[2], inverse = (int32_t)u->k[3];
    int32_t max = x[0];
    int64_t sum = 0;
    for (size_t i = 1; i < n; i++)
        max = x[i] > max ? x[i] : max;
    for (size_t i = 0; i < n; i++) {
        const assay_teller *t = apply_teller(u, i);
        out[i] = exponential(x[i] - max, b, c, ln2, inverse, t);
        apply_tell(t, "exponential: that / 2^z", out[i]);
        sum += out[i];
    }
    const int64_t share =
        apply_f32_div(apply_f32_from_i32(127), apply_f32_from_i32(apply_wrap32(sum)));
    assay_rescale r = u->scale[ASSAY_OUT];
    r.n = 1;
    r.scale = &share;
    apply_tell(u->teller, "sum of exponentials", sum);
    apply_tell_f32(u->teller, "127 / the sum", (uint32_t)share);
    for (size_t i = 0; i < n; i++) {
        apply_tell_rescale(apply_teller(u, i), &r, out[i]);
        out[i] = apply_rescale_element_float(&r, out[i], 0);
    }
}
