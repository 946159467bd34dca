/* softmax, log softmax, L2 normalization. */
#include <assert.h>
#include <float.h>
#include <math.h>

#include "graph/core/type.h"
#include "schemes/apply/fixedpoint.h"
#include "schemes/derive/derive.h"

#define DIFF_BITS  5
#define DIFFERENCE "the difference of two codes"

/* The scale of differences: `real`, or the one that the device's compiler chose. */
static assay_status encode_difference(const assay_derive *d, double real, assay_encoded *e)
{
    const assay_unit *u = d->u;
    const assay_rule_rescale *k = &u->rec.rescale;
    const assay_precomputed *precomputed = derive_precomputed(d);
    char why[256];
    if (precomputed && precomputed->has_zero_point)
        return derive_fail(d, "given zero_point; a row's codes begin where its type does");
    if (precomputed && precomputed->has_diff_min && u->row == apply_softmax_lut16)
        return derive_fail(d, "given diff_min; a table counts every difference");
    if (precomputed)
        return derive_precomputed_encoded(d, precomputed, 1, k, e);
    return derive_encode(k, real, e, why, sizeof why) ? ASSAY_OK : derive_fail(d, "%s", why);
}

/* e^x is defined of what stays below 0 in 32 bits, whatever wraps on the way there. */
static assay_status check_differences(const assay_derive *d, int64_t max)
{
    const assay_rescale *r = &d->u->scale[ASSAY_FIRST];
    for (int64_t i = 0; i <= max; i++) {
        const assay_int128 v = apply_rescale_value(r, -i, 0);
        if (v > 0 || v < INT32_MIN)
            return derive_fail(d,
                               "the difference %lld of two codes is scaled to %lld; e^x needs a "
                               "number from -2^31 to 0",
                               (long long)-i, (long long)apply_saturate128(v, 64));
    }
    return ASSAY_OK;
}

/* TFLite PreprocessSoftmaxScaling and CalculateInputRadius: beta * s_in with 26 fraction bits as
 * multiplier and shift; differences below k[0] count as nothing. CMSIS-NN's kernels are given
 * multiplier, shift and k[0] (diff_min) apart. */
static assay_status fixed_scaling(const assay_derive *d, assay_encoded *e)
{
    assay_unit *u = d->u;
    bool single = u->rec.rescale.round.n == 1;
    double cap = single ? 1073741823.0 : 2147483647.0;
    double real = fmin(
        (double)derive_scale_of(&d->spec->in[0]) * d->spec->beta * ldexp(1, 31 - DIFF_BITS), cap);
    assay_status s = encode_difference(d, real, e);
    if (s)
        return s;
    int64_t left = u->rec.rescale.multiplier_bits - e->shift;
    if (left < 0 || left > 31) /* the cap itself has 31 */
        return derive_fail(d, "beta * input scale %.9g is out of reach of 5 integer bits",
                           real * ldexp(1, DIFF_BITS - 31));
    double radius = ldexp((1 << DIFF_BITS) - 1, 31 - DIFF_BITS) / ldexp(1, (int)left);
    const assay_precomputed *precomputed = derive_precomputed(d);
    u->k[0] =
        precomputed && precomputed->has_diff_min ? precomputed->diff_min : -(int64_t)floor(radius);
    const assay_status listed = derive_list_constants(d, 1);
    if (listed)
        return listed;
    derive_intermediate(&u->scale[ASSAY_FIRST]);
    s = derive_encoded(d, &u->scale[ASSAY_FIRST], e, 1, "_in");
    assert(d->spec->in[0].elem.bits <= 32);
    const int64_t widest = (INT64_C(1) << d->spec->in[0].elem.bits) - 1;
    const int64_t max = widest < -u->k[0] ? widest : -u->k[0];
    if (!s)
        s = derive_accepts(d, ASSAY_FIRST, (assay_interval){-max, 0}, DIFFERENCE);
    return !s ? check_differences(d, max) : s;
}

static assay_status softmax_fixed(const assay_derive *d)
{
    assay_unit *u = d->u;
    assay_encoded e;
    assay_status s = fixed_scaling(d, &e);
    u->k[1] = 31 - d->spec->out->elem.bits;
    u->row = apply_softmax_fixed;
    u->last = ASSAY_ROUND_HALF_AWAY;
    return s;
}

static assay_status log_softmax(const assay_derive *d)
{
    assay_unit *u = d->u;
    assay_encoded e;
    assay_status s = fixed_scaling(d, &e);
    if (s)
        return s;
    u->row = apply_log_softmax;
    u->last = ASSAY_ROUND_HALF_AWAY;
    int64_t left = u->rec.rescale.multiplier_bits - e.shift;
    double reverse = ldexp(1, (int)(31 - left)) / (double)e.multiplier;
    derive_intermediate(&u->scale[ASSAY_SECOND]);
    s = derive_one(d, &u->scale[ASSAY_SECOND], reverse, "_reverse");
    return s ? s
             : derive_accepts(d, ASSAY_SECOND, (assay_interval){INT32_MIN, 0},
                              "the logarithm of the sum");
}

/* e^x, or 1 / (1 + x), in the table's precision. */
static double evaluate(bool exponential, bool f32, double x)
{
    float f = (float)x;
    if (f32)
        return (double)(exponential ? expf(f) : 1.0f / (1.0f + f));
    return exponential ? exp(x) : 1 / (1 + x);
}

/* a op b rounded as the table's precision demands. */
static double fit(bool f32, double x)
{
    return f32 ? (double)(float)x : x;
}

/* TFLite LUTPopulate of a function with output in [-1, 1), as 513 int16; float32 in TFLM, float64
 * in LiteRT. Products and sums of two float32 in float64 round to what float32 gives. */
static void fill513(bool exponential, bool f32, double min, double max, int64_t *table)
{
    double step = fit(f32, (max - min) / 512), half = fit(f32, step / 2), inverse = 32768;
    for (int i = 0; i < 512; i++) {
        double x = fit(f32, min + fit(f32, i * step));
        double next = fit(f32, min + fit(f32, (i + 1) * step));
        double value = round(fit(f32, evaluate(exponential, f32, x) * inverse));
        double middle = round(fit(f32, evaluate(exponential, f32, fit(f32, x + half)) * inverse));
        double end = fit(f32, evaluate(exponential, f32, next) * inverse);
        double line = round(fit(f32, fit(f32, end + value) / 2));
        double bias = round(fit(f32, (line - middle) / 2));
        table[i] = (int64_t)fmin(fmax(value - bias, -32768), 32767);
    }
    double last = round(fit(f32, evaluate(exponential, f32, max) * inverse));
    table[512] = (int64_t)fmin(fmax(last, -32768), 32767);
}

/* Differences are scaled so that -10 is the least int16 (range 10 / 65535 a step). */
static assay_status softmax_lut16(const assay_derive *d)
{
    assay_unit *u = d->u;
    int64_t *exps = derive_unit_array(u, "table_exp", 513);
    int64_t *reciprocals = derive_unit_array(u, "table_reciprocal", 513);
    if (!exps || !reciprocals)
        return derive_memory(d);
    bool f32 = u->rec.table.precision == ASSAY_PRECISION_F32;
    fill513(true, f32, -10, 0, exps);
    fill513(false, f32, 0, 1, reciprocals);
    u->table = exps;
    u->list[0] = reciprocals;
    u->row = apply_softmax_lut16;
    u->last = ASSAY_ROUND_HALF_UP;
    assay_encoded e;
    assay_status s = encode_difference(
        d, (double)derive_scale_of(&d->spec->in[0]) * d->spec->beta / (10.0 / 65535.0), &e);
    derive_intermediate(&u->scale[ASSAY_FIRST]);
    if (!s)
        s = derive_encoded(d, &u->scale[ASSAY_FIRST], &e, 1, "_in");
    return !s ? derive_accepts(d, ASSAY_FIRST, (assay_interval){-UINT16_MAX, 0}, DIFFERENCE) : s;
}

/* Tables indexed by max - x. */
static assay_status softmax_table(const assay_derive *d)
{
    assay_unit *u = d->u;
    int kind = u->rec.softmax.kind;
    const double share_of_code = 65536.0 / (double)derive_scale_of(d->spec->out);
    float s_in = derive_scale_of(&d->spec->in[0]), s_out = derive_scale_of(d->spec->out);
    float beta = (float)d->spec->beta;
    double row = d->spec->depth > 0 ? (double)d->spec->depth : 1;
    assert(d->spec->in[0].elem.bits <= 8);
    size_t n = (size_t)1 << d->spec->in[0].elem.bits;
    if (kind == ASSAY_SOFTMAX_INT_TABLE && row > (double)UINT32_MAX)
        return derive_fail(d, "needs rows of fewer than 2^32 codes; found %lld",
                           (long long)d->spec->depth);
    if (kind == ASSAY_SOFTMAX_Q31_TABLE && share_of_code > (double)UINT32_MAX)
        return derive_fail(d, "needs an output scale above 2^-16; found %.9g", (double)s_out);
    int64_t *table = derive_unit_array(u, "table", n);
    int64_t *k = derive_unit_array(u, "constants", 1);
    if (!table || !k)
        return derive_memory(d);
    float share = FLT_MAX / (float)row;
    double raise = fmax(0, (double)logf(share) - 5) / (double)s_in; /* a float's log, in MLAS */
    double top = fmin(floor(4294967295.0 / row), 8388607.0);
    for (size_t i = 0; i < n; i++) {
        float x = -s_in * beta * (float)i;
        double e = exp(-(double)(s_in * beta) * (double)i);
        if (kind == ASSAY_SOFTMAX_FLOAT_TABLE)
            table[i] = derive_bits_of(expf(x));
        else if (kind == ASSAY_SOFTMAX_FLOAT_SUM)
            table[i] = derive_bits_of((float)exp((raise - (double)i) * (double)s_in));
        else
            table[i] = (int64_t)rint((kind == ASSAY_SOFTMAX_INT_TABLE ? top : 2147483647.0) * e);
    }
    u->k[0] = kind == ASSAY_SOFTMAX_FLOAT_TABLE ? derive_bits_of(s_out)
              : kind == ASSAY_SOFTMAX_FLOAT_SUM ? derive_bits_of(floorf(1.0f / s_out))
                                                : (int64_t)rint(share_of_code);
    k[0] = u->k[0];
    u->table = table;
    u->row = kind == ASSAY_SOFTMAX_FLOAT_TABLE ? apply_softmax_float_table
             : kind == ASSAY_SOFTMAX_FLOAT_SUM ? apply_softmax_float_sum
             : kind == ASSAY_SOFTMAX_INT_TABLE ? apply_softmax_integer_table
                                               : apply_softmax_q31;
    u->last = kind == ASSAY_SOFTMAX_FLOAT_SUM   ? ASSAY_ROUND_HALF_EVEN
              : kind == ASSAY_SOFTMAX_INT_TABLE ? ASSAY_ROUND_HALF_UP
                                                : ASSAY_ROUND_HALF_AWAY;
    return ASSAY_OK;
}

/* The exponentials of all distances in 32 bits, where the kind has a vector form. */
static assay_status shorten_exponentials(const assay_derive *d)
{
    assay_unit *u = d->u;
    const bool fixed = u->row == apply_softmax_fixed;
    if (!fixed && (!u->table || u->row == apply_softmax_lut16))
        return ASSAY_OK;
    assert(d->spec->in[0].elem.bits <= 8);
    const int distances = 1 << d->spec->in[0].elem.bits;
    int32_t *e = derive_unit_alloc(u, 256 * sizeof *e);
    if (!e)
        return derive_memory(d);
    for (int i = 0; i < distances; i++)
        if (!fixed)
            e[i] = (int32_t)u->table[i];
        else if (-i >= u->k[0])
            e[i] = apply_softmax_exponential(u, -i);
    u->exponential = e;
    return ASSAY_OK;
}

/* Kinds whose formula ends in codes of one scale, 2^-`bits` from `zero`, whatever the type says:
 * the type must say that (within what TensorFlow Lite allows). */
static assay_status check_shares(const assay_derive *d, int kind)
{
    const assay_elem e = d->spec->out->elem;
    const bool lut16 = kind == ASSAY_SOFTMAX_LUT16;
    const int bits = lut16 ? 15 : kind == ASSAY_SOFTMAX_INT_TABLE ? 8 : e.bits;
    const int32_t zero = lut16 ? 0 : (int32_t)assay_elem_min(e);
    const double wanted = ldexp(1, -bits), found = (double)derive_scale_of(d->spec->out);
    if (kind != ASSAY_SOFTMAX_FIXED && kind != ASSAY_SOFTMAX_INT_TABLE && !lut16)
        return ASSAY_OK;
    if (e.bits <= 16 && fabs(found - wanted) <= wanted / 1000 &&
        derive_zero_of(d->spec->out) == zero)
        return ASSAY_OK;
    return derive_fail(
        d, "its codes count 2^-%d from %d; the output has %u bits, scale %.9g, zero point %d", bits,
        zero, e.bits, found, derive_zero_of(d->spec->out));
}

static assay_status derive_kind(const assay_derive *d, int kind)
{
    static assay_status (*const kinds[])(const assay_derive *) = {
        [ASSAY_SOFTMAX_NONE] = derive_unknown,        [ASSAY_SOFTMAX_FIXED] = softmax_fixed,
        [ASSAY_SOFTMAX_IBERT] = derive_softmax_ibert, [ASSAY_SOFTMAX_LUT16] = softmax_lut16,
        [ASSAY_SOFTMAX_FLOAT_TABLE] = softmax_table,  [ASSAY_SOFTMAX_INT_TABLE] = softmax_table,
        [ASSAY_SOFTMAX_Q31_TABLE] = softmax_table,    [ASSAY_SOFTMAX_FLOAT_SUM] = softmax_table,
    };
    return d->u->op == ASSAY_OP_LOG_SOFTMAX ? log_softmax(d) : kinds[kind](d);
}

/* A code times the inverse root of a sum of squares that has the code's own in it; the root's shift
 * changes with every other bit of the sum. */
static assay_status l2_norm(const assay_derive *d)
{
    const double reach = (double)derive_reach(&d->spec->in[0]);
    const assay_interval code = derive_codes(&d->spec->in[0]);
    const double sum = reach * reach * (double)d->spec->depth;
    assay_status s = derive_fits(d, 0, sum, 32, "the sum of squares");
    for (int64_t v = 1; !s && (double)v <= sum; v *= 2) {
        assay_rescale form = d->u->scale[ASSAY_OUT];
        int left;
        const int64_t multiplier = apply_fixed_inverse_sqrt((int32_t)v, &left);
        const int64_t shift = 31 - (left + 7);
        form.multiplier = &multiplier;
        form.shift = &shift;
        const double max = floor(sqrt(2 * (double)v));
        s = derive_accepts_form(
            d, ASSAY_OUT, &form,
            derive_around(fmax((double)code.lo, -max), fmin((double)code.hi, max)),
            "a code less its zero point");
    }
    return s;
}

assay_status derive_row(const assay_derive *d)
{
    assay_unit *u = d->u;
    const assay_elem in = d->spec->in[0].elem, out = d->spec->out->elem;
    if (u->op != ASSAY_OP_SOFTMAX && u->op != ASSAY_OP_LOG_SOFTMAX && u->op != ASSAY_OP_L2_NORM)
        return derive_unknown(d);
    if (u->op != ASSAY_OP_L2_NORM) /* their formulas name the least and the greatest code */
        u->rec.rescale.store = ASSAY_STORE_SATURATE;
    assay_status s = derive_range(d);
    if (s)
        return s;
    if (u->op == ASSAY_OP_L2_NORM) {
        u->row = apply_l2_norm;
        return l2_norm(d);
    }
    int kind = u->op == ASSAY_OP_LOG_SOFTMAX ? ASSAY_SOFTMAX_FIXED : u->rec.softmax.kind;
    bool lut16 = kind == ASSAY_SOFTMAX_LUT16;
    if (!(d->spec->beta > 0) || !isfinite(d->spec->beta))
        return derive_fail(d, "beta %g; expected a finite number above 0", d->spec->beta);
    if (lut16 ? in.bits != 16 || out.bits != 16 || !in.is_signed || !out.is_signed : in.bits > 8)
        return derive_fail(d, lut16 ? "needs signed 16-bit codes in and out"
                                    : "needs input codes of at most 8 bits");
    if (kind == ASSAY_SOFTMAX_FLOAT_SUM && out.bits > 8)
        return derive_fail(d, "float-sum needs output codes of at most 8 bits");
    s = derive_kind(d, kind);
    if (!s && u->op == ASSAY_OP_SOFTMAX)
        s = check_shares(d, kind);
    return !s ? shorten_exponentials(d) : s;
}

/* What the factors before a code have left in so many bits. */
static assay_interval factors(int bits)
{
    assert(bits >= 1 && bits <= 64);
    const int64_t max = INT64_MAX >> (64 - bits);
    return (assay_interval){-max - 1, max};
}

/* TFLite reduce.cc, GetQuantProdScaling: s_in / s_out^(1/n) after each of the n factors, so that
 * the product stays within 32 bits. Only a rescale of wide products with a short multiplier does.
 */
assay_status derive_product(const assay_derive *d)
{
    assay_unit *u = d->u;
    assay_status s = derive_range(d);
    if (s)
        return s;
    if (u->rec.rescale.reduced_bits == 0)
        return derive_fail(d, "no product of codes is defined (rescale.reduced_bits)");
    if (u->rec.rescale.result_bits == 0)
        return derive_fail(d, "a product of many codes needs rescale.result_bits");
    const assay_interval code = derive_codes(&d->spec->in[0]),
                         left = factors(u->rec.rescale.result_bits);
    s = derive_fits_product(d, code, left, 1, 63, "a product times one more code");
    if (s)
        return s;
    u->row = apply_product;
    double root = pow((double)derive_scale_of(d->spec->out), 1.0 / (double)d->spec->depth);
    s = derive_one(d, &u->scale[ASSAY_OUT], (double)derive_scale_of(&d->spec->in[0]) / root, "");
    return s ? s : derive_accepts(d, ASSAY_OUT, derive_times(code, left), "a product of codes");
}
