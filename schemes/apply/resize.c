/* Bilinear interpolation of four codes, fractions in 1/1024 (TFLite resize_bilinear.h). */
#include "schemes/apply/apply.h"
#include "schemes/apply/round.h"

/* c holds (y0,x0), (y0,x1), (y1,x0), (y1,x1) of each element. k[0]: input and output have the same
 * parameters, else the result is rescaled. */
void assay_apply_blend(const assay_unit *u, const int32_t *c, const int32_t *fy, const int32_t *fx,
                       size_t n, int32_t *out)
{
    const assay_rescale *o = &u->scale[ASSAY_OUT];
    enum assay_rounding mode = (enum assay_rounding)u->rec.resize.round;
    for (size_t i = 0; i < n; i++, c += 4) {
        int64_t y = fy[i], x = fx[i];
        int64_t sum =
            (1024 - y) * ((1024 - x) * c[0] + x * c[1]) + y * ((1024 - x) * c[2] + x * c[3]);
        int64_t v = assay_round_shift(sum, 20, mode);
        out[i] = u->k[0] ? (int32_t)assay_clamp(v, o->lo, o->hi)
                         : assay_rescale_one(o, v - u->in_zero[0], 0);
    }
}
