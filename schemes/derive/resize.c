/* Bilinear resize: interpolation of codes, then a rescale when the output has other parameters. */
#include "graph/core/attr.h"
#include "schemes/derive/derive.h"

assay_status derive_resize(const assay_derive *d)
{
    assay_unit *u = d->u;
    const float one = 1;
    const assay_type *in = &d->spec->in[0], *out = d->spec->out;
    if (d->spec->flag != ASSAY_RESIZE_LINEAR)
        return derive_unary(d); /* nearest: codes are chosen, as max pool does */
    u->k[0] = derive_same_params(in, out);
    u->k[1] = u->rec.resize.bits;
    u->interpolate = apply_interpolate;
    if (u->k[0])
        return derive_range(d);
    const assay_status s =
        derive_output_rescale(d, derive_scale_of(in), &one, 1, derive_scale_of(out));
    return s ? s
             : derive_accepts(d, ASSAY_OUT, derive_codes(in),
                              "an interpolated code less its zero point");
}
