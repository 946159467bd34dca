/* Integer codes next to a matrix unit: weights of few bits, dequantized before the unit, and the
 * QDQ networks that contain them.
 *
 * dequantize   (code - zero point) * scale       the difference in binary32, then one product
 * quantize     round(x / scale) + zero point, clamped to the codes
 *
 * Each step is one IEEE operation, ties to even. NaN gives the zero point. (ONNX's DequantizeLinear
 * and QuantizeLinear in float32.) */
#include <stdlib.h>
#include <string.h>

#include "graph/core/type.h"
#include "graph/memory.h"
#include "schemes/apply/softfloat.h"
#include "schemes/mac/unit.h"

void mac_dequantize(const assay_unit *u, const int32_t *q, size_t n, size_t channel, uint32_t *bits)
{
    const assay_mac_node *m = mac_node(u);
    for (size_t i = 0; i < n; i++) {
        const size_t at = m->n_params > 1 ? channel + i : 0;
        const int64_t difference = (int64_t)q[i] - m->zero[at];
        const assay_teller *t = apply_tell_at(m->teller, i);
        bits[i] = apply_f32_mul(apply_f32_from_integer(difference), m->scale[at]);
        apply_tell(t, "code", q[i]);
        apply_tell(t, "less its zero point", difference);
        apply_tell_f32(t, "scale", m->scale[at]);
        apply_tell_f32(t, "times scale", bits[i]);
    }
}

void mac_quantize(const assay_unit *u, const uint32_t *bits, size_t n, size_t channel, int32_t *out)
{
    const assay_mac_node *m = mac_node(u);
    for (size_t i = 0; i < n; i++) {
        const size_t at = m->n_params > 1 ? channel + i : 0;
        const uint32_t quotient = apply_f32_div(bits[i], m->scale[at]);
        const int64_t code = apply_f32_to_int(quotient, ASSAY_ROUND_HALF_EVEN,
                                              m->least - m->zero[at], m->greatest - m->zero[at], 0);
        const assay_teller *t = apply_tell_at(m->teller, i);
        apply_tell_f32(t, "number", bits[i]);
        apply_tell_f32(t, "scale", m->scale[at]);
        apply_tell_f32(t, "divided by scale", quotient);
        apply_tell_rounded(t, quotient, code, ASSAY_ROUND_HALF_EVEN);
        apply_tell_sum(t, "plus zero point", code, m->zero[at]);
        out[i] = (int32_t)(code + m->zero[at]);
    }
}

assay_status mac_read_codes(const assay_type *codes, assay_mac_node *m, assay_error *err)
{
    const size_t n = codes->q.count;
    m->scale = malloc((n + 1) * sizeof *m->scale);
    m->zero = malloc((n + 1) * sizeof *m->zero);
    if (!m->scale || !m->zero)
        return assay_out_of_memory(err);
    memcpy(m->scale, codes->q.scale, n * sizeof *m->scale);
    memcpy(m->zero, codes->q.zero_point, n * sizeof *m->zero);
    m->n_params = n;
    m->least = assay_elem_min(codes->elem);
    m->greatest = assay_elem_max(codes->elem);
    return ASSAY_OK;
}
