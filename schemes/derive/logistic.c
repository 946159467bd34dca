/* sigmoid, tanh and hard swish: the fixed-point forms of TFLite, as tables when codes have at most
 * 8 bits. Otherwise these are ordinary tables. */
#include <math.h>

#include "graph/core/type.h"
#include "schemes/apply/fixedpoint.h"
#include "schemes/derive/derive.h"

/* A table of one entry per code, filled by `entry`. */
static assay_status fill(const assay_derive *d,
                         int64_t (*entry)(const assay_derive *d, int64_t centred,
                                          const assay_teller *t))
{
    assay_unit *u = d->u;
    const assay_elem e = d->spec->in[0].elem;
    int64_t lo = assay_elem_min(e), hi = assay_elem_max(e);
    const assay_rescale *o = &u->scale[ASSAY_OUT];
    int64_t *table = derive_unit_array(u, "table", (size_t)(hi - lo + 1));
    if (!table)
        return derive_memory(d);
    for (int64_t q = lo; q <= hi; q++) {
        const assay_teller *t = derive_teller(d, q - lo);
        apply_tell_sum(t, "minus zero point", q, -u->in_zero[0]);
        table[q - lo] = apply_tell_store(t, o, entry(d, q - u->in_zero[0], t));
    }
    u->table = table;
    u->table_min = lo;
    u->unary = apply_table;
    return ASSAY_OK;
}

/* reference/integer_ops/logistic.h, tanh.h: the argument in 4 integer bits; beyond k[2] it is flat.
 */
static int64_t fixed_entry(const assay_derive *d, int64_t x, int32_t (*function)(int32_t, unsigned),
                           unsigned shift, assay_interval ends, const assay_teller *t)
{
    const assay_unit *u = d->u;
    const int64_t zero = u->scale[ASSAY_OUT].zero_point, flat = x < 0 ? ends.lo : ends.hi;
    if (x <= -u->k[2] || x >= u->k[2]) {
        apply_tell_sum(t, "flat that far from 0, plus zero point", flat, zero);
        return flat + zero;
    }
    const int32_t a = apply_wrap32((int64_t)apply_rescale_value(&u->scale[ASSAY_FIRST], x, 0));
    const int32_t y = function(a, 4);
    apply_tell_fixed(t, "rescaled to 4 integer bits", a, 27);
    apply_tell_fixed(t, "function", y, 31);
    const int64_t code = apply_tell_shift(t, "rounding", y, shift, ASSAY_ROUND_HALF_AWAY);
    apply_tell_sum(t, "plus zero point", code, zero);
    return code + zero;
}

static int64_t logistic_entry(const assay_derive *d, int64_t x, const assay_teller *t)
{
    return fixed_entry(d, x, apply_fixed_logistic, 23, (assay_interval){0, 255}, t);
}

static int64_t tanh_entry(const assay_derive *d, int64_t x, const assay_teller *t)
{
    return fixed_entry(d, x, apply_fixed_tanh, 24, (assay_interval){-128, 127}, t);
}

static assay_status logistic8(const assay_derive *d)
{
    assay_unit *u = d->u;
    int exponent;
    double q = frexp((double)derive_scale_of(&d->spec->in[0]) * (1 << 27), &exponent);
    assay_encoded e = {(int64_t)round(q * 2147483648.0), 31 - exponent, 0};
    if (exponent < 0 || exponent > 30)
        return derive_fail(d, "the input scale is out of reach of 4 integer bits");
    derive_intermediate(&u->scale[ASSAY_FIRST]);
    assay_status s = derive_encoded(d, &u->scale[ASSAY_FIRST], &e, 1, "_in");
    u->k[2] = (int64_t)floor(15.0 * (1 << 27) / ldexp(1, exponent));
    if (!s) {
        assay_interval code = derive_codes(&d->spec->in[0]); /* within the flat ends */
        code.lo = code.lo > 1 - u->k[2] ? code.lo : 1 - u->k[2];
        code.hi = code.hi < u->k[2] - 1 ? code.hi : u->k[2] - 1;
        s = derive_accepts(d, ASSAY_FIRST, code, "a code less its zero point");
    }
    return s ? s : fill(d, u->op == ASSAY_OP_SIGMOID ? logistic_entry : tanh_entry);
}

/* CheckedLog2 of kernels/internal/quantization_util.cc: the exponent of a scale that is a power of
 * two within 0.07 %, in float32 as there. */
static bool checked_log2(float scale, int *exponent)
{
    const float log = logf(scale) * (1.0f / logf(2.0f));
    const float rounded = roundf(log);
    *exponent = (int)rounded;
    return fabsf(log - rounded) < 1e-3f;
}

/* logistic_common.cc, tanh.cc: a power-of-two scale is used as it is, else a 15-bit multiplier. */
static assay_status logistic16(const assay_derive *d)
{
    assay_unit *u = d->u;
    float s = derive_scale_of(&d->spec->in[0]);
    int exponent;
    bool near = checked_log2(s, &exponent);
    int left = exponent + 12;
    bool pot = near && (left == 0 || (left == 1 && u->op == ASSAY_OP_TANH));
    if (pot) {
        u->k[0] = INT64_C(3) << left;
        u->k[1] = 0;
    } else {
        double m = (double)s * 4096 * 3;
        int shift = 0;
        while (m <= 32767.0 / 2 && shift <= 30) {
            m *= 2;
            shift++;
        }
        u->k[0] = (int64_t)m;
        u->k[1] = shift;
    }
    u->unary = u->op == ASSAY_OP_SIGMOID ? apply_logistic16 : apply_tanh16;
    return derive_list_constants(d, 2);
}

assay_status derive_logistic(const assay_derive *d)
{
    assay_unit *u = d->u;
    const assay_type *in = &d->spec->in[0], *out = d->spec->out;
    if (u->op != ASSAY_OP_SIGMOID && u->op != ASSAY_OP_TANH)
        return derive_unknown(d);
    if (u->rec.unary.logistic == ASSAY_LOGISTIC_TABLE)
        return derive_table(d);
    assay_status s = derive_range(d);
    float scale;
    int32_t zero;
    if (s)
        return s;
    assay_fixed_output(&u->rec, u->op, out->elem, &scale, &zero);
    int wanted, found;
    checked_log2(scale, &wanted);
    bool fits = out->elem.bits > 8 /* what TFLite asks of either */
                    ? checked_log2(derive_scale_of(out), &found) && found == wanted
                    : scale == derive_scale_of(out);
    if (!fits || zero != derive_zero_of(out))
        return derive_fail(d,
                           "the output must have scale %.9g and zero point %d; found %.9g "
                           "and %d",
                           (double)scale, zero, (double)derive_scale_of(out), derive_zero_of(out));
    if (in->elem.bits <= 8 && out->elem.bits <= 8)
        return logistic8(d);
    if (in->elem.bits != 16 || out->elem.bits != 16 || !in->elem.is_signed ||
        !out->elem.is_signed || derive_zero_of(in) != 0)
        return derive_fail(d, "fixed-point needs 8-bit codes or signed 16-bit codes with "
                              "zero point 0");
    return logistic16(d);
}

/* reference/hard_swish.h in 16-bit fixed point; k[4] output multiplier, k[5] its exponent, k[6]
 * multiplier to relu6's scale, k[7] its exponent. */
static int64_t hard_swish_entry(const assay_derive *d, int64_t x, const assay_teller *t)
{
    const assay_unit *u = d->u;
    int64_t exponent = u->k[7];
    int16_t high = (int16_t)(x * 128);
    int16_t pre = apply_srdhm16(high, (int16_t)u->k[4]);
    int64_t r = high;
    if (exponent > 0)
        r = apply_shift_left_saturate(r, (unsigned)(exponent - 1), 16);
    r = apply_srdhm16((int16_t)r, (int16_t)u->k[6]);
    if (exponent > 0)
        r = apply_shift_left_saturate(r, 1, 16);
    if (exponent < 0)
        r = assay_round_shift(r, (unsigned)-exponent, ASSAY_ROUND_HALF_AWAY);
    r = apply_shift_right(r + 32768, 1);
    apply_tell_fixed(t, "relu6(x + 3) / 6", r, 15);
    apply_tell(t, "x at the output's scale, before its shift", pre);
    int64_t p =
        apply_saturate(apply_tell_shift(t, "their product", r * pre, 15, ASSAY_ROUND_TRUNC), 16);
    p = apply_tell_shift(t, "the shift", p, (unsigned)-u->k[5], ASSAY_ROUND_HALF_AWAY);
    apply_tell_sum(t, "plus zero point", p, u->scale[ASSAY_OUT].zero_point);
    return apply_saturate(p + u->scale[ASSAY_OUT].zero_point, 16);
}

/* A real factor as a 16-bit multiplier and an exponent (positive: left), rounded from 31 bits as by
 * TFLite's QuantizeMultiplier, whatever the scheme's rescales are. */
static bool encode16(float real, int64_t *m, int64_t *exponent)
{
    assay_encoded e;
    char why[256];
    assay_record plain; /* 31 bits, half away */
    assay_record_default(&plain);
    if (!derive_encode(&plain.rescale, (double)real, &e, why, sizeof why))
        return false;
    *m = e.multiplier >= INT64_C(0x7fff8000) - 1
             ? 32767
             : assay_round_shift(e.multiplier, 16, ASSAY_ROUND_HALF_UP);
    *exponent = 31 - e.shift;
    return true;
}

assay_status derive_hard_swish(const assay_derive *d)
{
    assay_unit *u = d->u;
    bool fixed = u->rec.unary.hard_swish == ASSAY_HARD_SWISH_FIXED && d->spec->in[0].elem.bits <= 8;
    if (!fixed)
        return derive_table(d);
    float hires = (1.0f / 128.0f) * derive_scale_of(&d->spec->in[0]);
    assay_status s = derive_range(d);
    if (s)
        return s;
    if (!encode16(hires / derive_scale_of(d->spec->out), &u->k[4], &u->k[5]) ||
        !encode16(hires / (3.0f / 32768.0f), &u->k[6], &u->k[7]) || u->k[5] > 0 || u->k[7] > 16)
        return derive_fail(d, "the scales %.9g and %.9g are out of reach of the 16-bit form",
                           (double)derive_scale_of(&d->spec->in[0]),
                           (double)derive_scale_of(d->spec->out));
    return fill(d, hard_swish_entry);
}
