/* conv, conv_transpose, fc, matmul: an accumulator and one output rescale. */
#include "schemes/derive/derive.h"

assay_status assay_derive_weighted(const assay_derive *d)
{
    const assay_type *x = &d->spec->in[0], *w = &d->spec->in[1];
    const assay_qparams *q = &w->q;
    if (q->granularity == ASSAY_Q_BLOCK)
        return assay_derive_fail(d, "weights with one scale a block are not supported here");
    return assay_derive_output(d, assay_scale_of(x), q->scale, q->count,
                               assay_scale_of(d->spec->out));
}
