/* Overrides of a scheme that hold for a node: wide or unsigned codes, depthwise; and which records
 * the short forms may compute. */
#include "graph/core/op.h"
#include "schemes/apply/known.h"
#include "schemes/derive/derive.h"

/* Of wide activations, a convolution and a fully connected node whose bias is narrow, or absent,
 * keep the narrow accumulator (TFLite micro/kernels/conv.cc, fully_connected.cc: the width of the
 * accumulator is that of the bias; CMSIS-NN arm_convolve_s16 likewise). Grouped convolutions, the
 * depthwise ones among them, do so only when a narrow bias is there (depthwise_conv.cc takes none
 * but wide ones). */
static bool narrow_bias(const assay_unit_spec *spec)
{
    enum assay_op op = assay_op_find(spec->op);
    bool has_bias = spec->n_in >= 3 && spec->in[2].elem.kind != ASSAY_KIND_NONE;
    if (op != ASSAY_OP_FC && op != ASSAY_OP_CONV)
        return false;
    return has_bias ? spec->in[2].elem.bits <= 32 : op == ASSAY_OP_FC || spec->flag <= 1;
}

/* The type whose codes decide which overrides hold: the first input's, of quantize what it makes.
 */
static assay_elem codes_of(const assay_unit_spec *spec)
{
    return assay_op_find(spec->op) == ASSAY_OP_QUANTIZE ? spec->out->elem : spec->in[0].elem;
}

static bool is_wide(const assay_unit_spec *spec)
{
    const assay_elem e = codes_of(spec);
    return e.kind == ASSAY_KIND_INT && e.bits > 8 && !narrow_bias(spec);
}

unsigned derive_variant_of(const assay_unit_spec *spec)
{
    const assay_elem e = codes_of(spec);
    bool is_unsigned = e.kind == ASSAY_KIND_INT && !e.is_signed;
    bool depthwise = assay_op_find(spec->op) == ASSAY_OP_CONV && spec->flag > 1;
    return (is_wide(spec) ? ASSAY_VARIANT_WIDE : 0U) | (is_unsigned ? ASSAY_VARIANT_UNSIGNED : 0U) |
           (depthwise ? ASSAY_VARIANT_DEPTHWISE : 0U);
}

bool derive_is_untold(const assay_record *r)
{
    size_t n;
    const apply_place *known = apply_known(&n);
    assay_record plain;
    assay_record_default(&plain);
    return !apply_is_plain_beside(r, &plain, known, n);
}
