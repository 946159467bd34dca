/* conv, conv_transpose, fc, matmul, SVDF's steps: an accumulator and one output rescale, or none
 * where the sums themselves are wanted. */
#include "graph/type.h"
#include "schemes/derive/derive.h"

/* SVDF's feature saturates to the memory's type before its zero point is added, and the sum keeps
 * the low bits (micro/kernels/svdf_common.cc): that is the op's definition, whatever the target. */
static void store_feature(const assay_derive *d)
{
    assay_rule_rescale *rule = &d->u->rec.rescale;
    rule->result_bits = rule->sum_bits = d->spec->out->elem.bits;
    rule->result_overflow = ASSAY_NARROW_SATURATE;
    rule->sum_overflow = ASSAY_NARROW_WRAP;
}

assay_status assay_derive_weighted(const assay_derive *d)
{
    const assay_type *x = &d->spec->in[0], *w = &d->spec->in[1];
    const assay_qparams *q = &w->q;
    if (q->granularity == ASSAY_Q_BLOCK)
        return assay_derive_fail(d, "weights with one scale a block are not supported here");
    if (d->u->op == ASSAY_OP_SVDF_FEATURE)
        store_feature(d);
    if (assay_is_accumulator(d->spec->out)) {
        d->u->scale[ASSAY_OUT].row = assay_rescale_row_sums;
        return ASSAY_OK;
    }
    return assay_derive_output(d, assay_scale_of(x), q->scale, q->count,
                               assay_scale_of(d->spec->out));
}
