/* Rows that are not softmax.
 *
 * L2 normalization of a row (TFLite reference/l2normalization.h): times the Newton inverse square
 * root of the sum of squares; output scale 1/128. */
#include "schemes/apply/apply.h"
#include "schemes/apply/fixedpoint.h"

void apply_l2_norm(const assay_unit *u, const int32_t *x, size_t n, int32_t *out)
{
    const assay_rescale *o = &u->scale[ASSAY_OUT];
    int64_t squares = 0;
    for (size_t i = 0; i < n; i++) {
        int64_t v = x[i] - u->in_zero[0];
        squares += v * v;
    }
    const assay_teller *t = u->teller;
    int left;
    int64_t multiplier = apply_fixed_inverse_sqrt(apply_saturate32(squares), &left);
    apply_tell(t, "sum of squares", squares);
    apply_tell_fixed(t, "its inverse root", multiplier, 31 - left);
    int64_t shift = 31 - (left + 7);
    assay_rescale r = *o;
    r.n = 1;
    r.multiplier = &multiplier;
    r.shift = &shift;
    for (size_t i = 0; i < n; i++) {
        const int64_t d = x[i] - u->in_zero[0];
        t = apply_teller(u, i);
        apply_tell_product(t, "times the inverse root", d, multiplier);
        out[i] = apply_tell_finish(t, o, apply_rescale_value(&r, d, 0));
    }
}

/* A product of codes (TFLite reference/reduce.h, QuantizedReduceProd): out[0] = the first factor,
 * times each other one and rescaled, then rescaled once more. */
void apply_product(const assay_unit *u, const int32_t *x, size_t n, int32_t *out)
{
    const assay_rescale *o = &u->scale[ASSAY_OUT];
    int64_t product = n ? x[0] - u->in_zero[0] : 0;
    apply_tell(u->teller, "first factor", product);
    for (size_t i = 1; i < n; i++) {
        apply_tell_product(u->teller, "times the next", product, x[i] - u->in_zero[0]);
        product =
            apply_wrap((int64_t)apply_rescale_value(o, product * (x[i] - u->in_zero[0]), 0), 32);
        apply_tell(u->teller, "rescaled", product);
    }
    out[0] = apply_tell_finish(u->teller, o, apply_rescale_value(o, product, 0));
}
