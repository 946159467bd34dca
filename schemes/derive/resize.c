/* Bilinear resize: blending of codes, then a rescale when the output has other parameters. */
#include "graph/core/attr.h"
#include "schemes/derive/derive.h"

assay_status assay_derive_resize(const assay_derive *d)
{
    assay_unit *u = d->u;
    const float one = 1;
    const assay_type *in = &d->spec->in[0], *out = d->spec->out;
    if (d->spec->flag != ASSAY_RESIZE_LINEAR)
        return assay_derive_unary(d); /* nearest: codes are chosen, as max pool does */
    u->k[0] = assay_same_params(in, out);
    u->k[1] = u->rec.resize.bits;
    u->interpolate = assay_apply_interpolate;
    return u->k[0] ? assay_derive_range(d)
                   : assay_derive_output(d, assay_scale_of(in), &one, 1, assay_scale_of(out));
}
