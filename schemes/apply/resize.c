/* Bilinear interpolation of four codes (TFLite resize_bilinear.h with 10 fraction bits). */
#include <assert.h>

#include "schemes/apply/apply.h"
#include "schemes/round.h"

/* c holds (y0,x0), (y0,x1), (y1,x0), (y1,x1) of each element. k[0]: input and output have the same
 * parameters, else the result is rescaled; k[1]: fraction bits, told when n is 0. */
void apply_interpolate(const assay_unit *u, const int32_t *c, const int32_t *fy, const int32_t *fx,
                       size_t n, int32_t *out)
{
    const assay_rescale *o = &u->scale[ASSAY_OUT];
    enum assay_rounding mode = (enum assay_rounding)u->rec.resize.round;
    const unsigned bits = (unsigned)u->k[1];
    assert(u->k[1] >= 1 && u->k[1] <= 15); /* two weights and a code of 16 bits: below 2^46 */
    const int64_t one = INT64_C(1) << bits;
    if (n == 0)
        *out = (int32_t)bits;
    for (size_t i = 0; i < n; i++, c += 4) {
        int64_t y = fy[i], x = fx[i];
        int64_t sum = (one - y) * ((one - x) * c[0] + x * c[1]) + y * ((one - x) * c[2] + x * c[3]);
        const assay_teller *t = apply_teller(u, i);
        apply_tell_product(t, "first corner", (one - y) * (one - x), c[0]);
        apply_tell_product(t, "second corner", (one - y) * x, c[1]);
        apply_tell_product(t, "third corner", y * (one - x), c[2]);
        apply_tell_product(t, "fourth corner", y * x, c[3]);
        apply_tell(t, "sum", sum);
        int64_t v = apply_tell_shift(t, "rounding 1", sum, 2 * bits, mode);
        out[i] = u->k[0] ? apply_tell_store(t, o, v) : apply_rescale_one(o, v - u->in_zero[0], 0);
    }
}
