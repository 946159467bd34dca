/* mul, min, max, prelu, div, squared difference and comparisons. */
#include <assert.h>
#include <math.h>

#include "graph/core/type.h"
#include "schemes/derive/derive.h"

static assay_status minmax(const assay_derive *d)
{
    assay_unit *u = d->u;
    const float one = 1;
    const assay_type *out = d->spec->out;
    assay_status s = derive_range(d);
    u->binary = apply_minmax;
    for (int i = 0; i < 2 && !s; i++) {
        assay_rescale *r = &u->scale[ASSAY_FIRST + i];
        const assay_type *in = &d->spec->in[i];
        u->k[i] = derive_same_params(in, out);
        r->zero_point = u->scale[ASSAY_OUT].zero_point;
        derive_end(r, out->elem, NULL, NULL);
        if (!u->k[i])
            s = derive_ratio(d, r, derive_scale_of(in), &one, 1, derive_scale_of(out),
                             i == 0 ? "_1" : "_2");
        if (!u->k[i] && !s)
            s = derive_accepts(d, i, derive_codes(in), "a code less its zero point");
    }
    return s;
}

/* What the rescale of one operand makes of its shifted codes. Where values may wrap on their way
 * each is tried, if 17 bits count them. */
static assay_interval rescaled(const assay_derive *d, int operand, assay_interval code)
{
    assert(d->u->k[0] >= 0 && d->u->k[0] <= 30); /* binary.squared_difference_bits, or 8 */
    const int64_t step = INT64_C(1) << d->u->k[0];
    const assay_rescale *r = &d->u->scale[operand == 0 ? ASSAY_FIRST : ASSAY_SECOND];
    if (!apply_rescale_wraps(r) || (code.hi - code.lo) / step >= 1 << 17)
        return apply_rescale_reach(r, code);
    assay_interval all = {INT64_MAX, INT64_MIN};
    for (int64_t x = code.lo; x <= code.hi; x += step) {
        const int64_t value = (int64_t)apply_rescale_value(r, x, 0);
        all.lo = value < all.lo ? value : all.lo;
        all.hi = value > all.hi ? value : all.hi;
    }
    return all;
}

static assay_status square_fits(const assay_derive *d, const assay_interval code[2])
{
    const assay_interval scaled[2] = {rescaled(d, 0, code[0]), rescaled(d, 1, code[1])};
    const double max = (double)derive_magnitudes(derive_minus(scaled[0], scaled[1])).hi;
    return derive_fits(d, 0, max * max, 32, "the square of a difference");
}

/* TFLite reference squared_difference: as ADD with left shift 7 (8-bit) or 0 (wide), the sum's
 * scale T^2 / (2^(2*shift) * s_out). */
static assay_status squared_difference(const assay_derive *d)
{
    assay_unit *u = d->u;
    double s1 = (double)derive_scale_of(&d->spec->in[0]),
           s2 = (double)derive_scale_of(&d->spec->in[1]);
    double s_out = (double)derive_scale_of(d->spec->out), twice = 2 * (s1 > s2 ? s1 : s2);
    int bits = d->spec->in[0].elem.bits > 8 ? 0 : u->rec.binary.squared_difference_bits;
    const assay_interval code[2] = {derive_shifted(derive_codes(&d->spec->in[0]), bits),
                                    derive_shifted(derive_codes(&d->spec->in[1]), bits)};
    assay_interval both[2];
    derive_intermediate(&u->scale[ASSAY_FIRST]);
    derive_intermediate(&u->scale[ASSAY_SECOND]);
    u->k[0] = bits;
    u->binary = apply_squared_difference;
    assay_status s = derive_hold_both(d, code, "a shifted code");
    if (!s)
        s = derive_range(d);
    if (!s)
        s = derive_one(d, &u->scale[ASSAY_FIRST], s1 / twice, "_1");
    if (!s)
        s = derive_one(d, &u->scale[ASSAY_SECOND], s2 / twice, "_2");
    if (!s)
        s = square_fits(d, code);
    if (!s)
        s = derive_one(d, &u->scale[ASSAY_OUT], twice * twice / (ldexp(1, 2 * bits) * s_out), "");
    if (s)
        return s;
    s = derive_accepts_both(d, code, "a shifted code", both);
    if (s)
        return s;
    const int64_t max = derive_magnitudes(derive_minus(both[0], both[1])).hi;
    const assay_interval square = {0, max < 1 << 16 ? max * max : INT64_C(1) << 31};
    return derive_accepts(d, ASSAY_OUT, square, "the square of a difference");
}

static assay_status check_product(const assay_derive *d)
{
    return derive_fits_product(d, derive_codes(&d->spec->in[0]), derive_codes(&d->spec->in[1]), 1,
                               63, "the product of two codes");
}

static assay_status multiply(const assay_derive *d)
{
    assay_status s = check_product(d);
    d->u->binary = apply_mul;
    return s ? s
             : derive_output_rescale(d, derive_scale_of(&d->spec->in[0]), d->spec->in[1].q.scale, 1,
                                     derive_scale_of(d->spec->out));
}

/* Negative inputs: s_in * s_slope / s_out on the product of the codes. */
static assay_status prelu(const assay_derive *d)
{
    assay_status s = check_product(d);
    d->u->binary = apply_prelu;
    return s ? s : derive_slope(d, derive_scale_of(&d->spec->in[1]));
}

/* A float32 scale as an integer of 24 bits times 2^*exponent. */
static int64_t integer_of(float s, int *exponent)
{
    float f = frexpf(s, exponent);
    *exponent -= 24;
    return (int64_t)ldexpf(f, 24);
}

/* What op gives for below, at and above; false where it is no comparison. */
static bool order_of(assay_op op, int64_t holds[3])
{
    static const struct {
        assay_op op;
        bool holds[3];
    } list[] = {{ASSAY_OP_EQUAL, {0, 1, 0}},   {ASSAY_OP_NOT_EQUAL, {1, 0, 1}},
                {ASSAY_OP_LESS, {1, 0, 0}},    {ASSAY_OP_LESS_EQUAL, {1, 1, 0}},
                {ASSAY_OP_GREATER, {0, 0, 1}}, {ASSAY_OP_GREATER_EQUAL, {0, 1, 1}}};
    bool found = false;
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        for (int k = 0; k < 3 && list[i].op == op; k++) {
            holds[k] = list[i].holds[k];
            found = true;
        }
    return found;
}

static assay_status compare(const assay_derive *d)
{
    assay_unit *u = d->u;
    if (!order_of(u->op, &u->k[3]))
        return derive_unknown(d);
    float s1 = derive_scale_of(&d->spec->in[0]), s2 = derive_scale_of(&d->spec->in[1]);
    int e1, e2;
    u->binary = apply_compare;
    u->k[0] = integer_of(s1, &e1);
    u->k[1] = integer_of(s2, &e2);
    u->k[2] = e1 - e2;
    if (u->rec.binary.compare == ASSAY_COMPARE_EXACT)
        return ASSAY_OK;
    derive_intermediate(&u->scale[ASSAY_FIRST]);
    derive_intermediate(&u->scale[ASSAY_SECOND]);
    const assay_interval code[2] = {derive_shifted(derive_codes(&d->spec->in[0]), 8),
                                    derive_shifted(derive_codes(&d->spec->in[1]), 8)};
    assay_interval compared[2];
    assay_status s = derive_hold_both(d, code, "a code shifted left by 8");
    if (!s)
        s = derive_one(d, &u->scale[ASSAY_FIRST], (double)s1, "_1");
    if (!s)
        s = derive_one(d, &u->scale[ASSAY_SECOND], (double)s2, "_2");
    return s ? s : derive_accepts_both(d, code, "a shifted code", compared);
}

/* Quotients of Newton's reciprocal have 31 bits, and a shift that the lengths of the two operands
 * decide. */
static assay_status accepts_quotients(const assay_derive *d, int64_t r1, int64_t r2)
{
    const assay_rescale *o = &d->u->scale[ASSAY_OUT];
    assay_status s = ASSAY_OK;
    for (int a = 0; a < 32 && r1 >> a > 0; a++)
        for (int b = 0; b < 32 && r2 >> b > 0 && !s; b++) {
            int64_t shift = o->shift[0] + b + (30 - a);
            assay_rescale form = *o;
            form.shift = &shift;
            s = derive_accepts_form(d, ASSAY_OUT, &form, (assay_interval){-INT32_MAX, INT32_MAX},
                                    "a quotient of 31 bits");
        }
    return s;
}

/* Codes of the first operand, negated too where the second has a code of -1. */
static assay_interval quotients(const assay_derive *d)
{
    const assay_interval a = derive_codes(&d->spec->in[0]), b = derive_codes(&d->spec->in[1]);
    const assay_interval one = {b.lo < 0 ? -1 : 0, b.hi > 0 ? 1 : 0};
    return derive_times(a, one);
}

/* Newton's reciprocal has both operands in 32 bits, and the divisor above 0. */
static assay_status division_fits(const assay_derive *d)
{
    const assay_interval operand[2] = {quotients(d),
                                       derive_magnitudes(derive_codes(&d->spec->in[1]))};
    return d->u->rec.binary.div == ASSAY_DIV_RECIPROCAL
               ? derive_hold_both(d, operand, "a code less its zero point")
               : ASSAY_OK;
}

static assay_status accepts_division(const assay_derive *d, int64_t r1, int64_t r2)
{
    return d->u->rec.binary.div == ASSAY_DIV_RECIPROCAL
               ? accepts_quotients(d, r1, r2)
               : derive_accepts(d, ASSAY_OUT, quotients(d), "a quotient of two codes");
}

/* Real scale s1 / (s2 * s_out), formed in float32 by TFLite. */
assay_status derive_div(const assay_derive *d)
{
    assay_unit *u = d->u;
    float s1 = derive_scale_of(&d->spec->in[0]), s2 = derive_scale_of(&d->spec->in[1]);
    float s_out = derive_scale_of(d->spec->out);
    float product = s2 * s_out;
    float real = s1 / product;
    int64_t r1 = derive_reach(&d->spec->in[0]), r2 = derive_reach(&d->spec->in[1]);
    assay_status s = division_fits(d);
    if (!s)
        s = derive_range(d);
    u->k[0] = derive_bits_of(s1);
    u->k[1] = derive_bits_of(product);
    u->binary = u->rec.binary.div == ASSAY_DIV_RECIPROCAL ? apply_div_reciprocal
                : u->rec.binary.div == ASSAY_DIV_FLOAT    ? apply_div_float
                                                          : apply_div_truncate;
    if (s || u->rec.binary.div == ASSAY_DIV_FLOAT)
        return s;
    s = derive_one(d, &u->scale[ASSAY_OUT], (double)real, "");
    return s ? s : accepts_division(d, r1, r2);
}

assay_status derive_binary(const assay_derive *d)
{
    assay_unit *u = d->u;
    switch (u->op) {
    case ASSAY_OP_MUL:
        return multiply(d);
    case ASSAY_OP_MIN:
    case ASSAY_OP_MAX:
        return minmax(d);
    case ASSAY_OP_SQUARED_DIFFERENCE:
        return squared_difference(d);
    case ASSAY_OP_PRELU:
        return prelu(d);
    default:
        return compare(d);
    }
}
