/* Quantize and dequantize: float bits of the scales, zero points per channel or block. */
#include "schemes/derive/derive.h"

assay_status derive_convert(const assay_derive *d)
{
    assay_unit *u = d->u;
    bool to_codes = u->op == ASSAY_OP_QUANTIZE;
    const assay_type *t = to_codes ? d->spec->out : &d->spec->in[0];
    const assay_qparams *q = &t->q;
    u->rec.rescale.store =
        ASSAY_STORE_SATURATE; /* `store` is of sums and products, not of floats */
    assay_status s = to_codes ? derive_range(d) : ASSAY_OK;
    int64_t *scale = derive_unit_array(u, "scale_bits", q->count);
    int64_t *zero = derive_unit_array(u, "zero_points", q->count);
    if (s)
        return s;
    if (!scale || !zero)
        return derive_memory(d);
    for (size_t c = 0; c < q->count; c++) {
        scale[c] =
            to_codes ? derive_quantize_bits(&u->rec, q->scale[c]) : derive_bits_of(q->scale[c]);
        zero[c] = q->zero_point ? q->zero_point[c] : 0;
    }
    u->scale[ASSAY_OUT].n = q->count;
    u->scale[ASSAY_OUT].scale = scale;
    u->list[0] = zero;
    u->k[0] = !to_codes && t->elem.bits == 32 && !t->elem.is_signed;
    return ASSAY_OK;
}
