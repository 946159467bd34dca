/* One rescale in words; see explain.h. */
#include <assert.h>

#include "schemes/explain/explain.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "schemes/rescale/trace.h"

#define MODE(m) assay_rounding_name((enum assay_rounding)(m))

const char *assay_explain_shift_sign(const assay_rule_rescale *k)
{
    switch ((enum assay_shift_sign)k->shift_sign) {
    case ASSAY_SHIFT_LEFT_OF_BITS:
        return "left of the multiplier's bits: m / 2^bits * 2^shift, so positive shifts to the "
               "left";
    case ASSAY_SHIFT_RIGHT_OF_BITS:
        return "right, after the multiplier's own bits: m / 2^bits / 2^shift";
    case ASSAY_SHIFT_LEFT:
        return "left: m * 2^shift";
    case ASSAY_SHIFT_RIGHT:
        break;
    }
    return "right: m / 2^shift";
}

static void formation(FILE *f, const assay_rule_rescale *k)
{
    static const char *const how[] = {
        [ASSAY_FORM_DOUBLE] = "formed in double precision, from float32 scales",
        [ASSAY_FORM_F32_PRODUCT] =
            "formed as a float32 product in * weight, then divided in double",
        [ASSAY_FORM_F32] = "formed in float32: (in * weight) / out, each step rounded",
        [ASSAY_FORM_F32_RECIPROCAL] =
            "formed in float32: (in * weight) * (1 / out), each step rounded",
        [ASSAY_FORM_F32_STEPS] =
            ("never formed: the accumulator is multiplied by in, then by weight, then "
             "divided by out, each in float32"),
        [ASSAY_FORM_F32_PRODUCT_TENSOR] =
            "formed in double; with one weight scale per tensor, in * "
            "weight is rounded to float32 first",
        [ASSAY_FORM_POW2] = "formed exactly: all scales are powers of two",
    };
    fprintf(f, "  R = in * weight / out is %s.\n", how[k->scale]);
}

/* A bound so far away is none. */
static void shift_range(FILE *f, const assay_rule_rescale *k)
{
    if (k->shift_min > -1100)
        fprintf(f, "%d <= ", k->shift_min);
    fprintf(f, k->shift_min > -1100 || k->shift_max < 1100 ? "s" : "any s");
    if (k->shift_max < 1100)
        fprintf(f, " <= %d", k->shift_max);
    fprintf(f, ".\n");
}

static void encoding(FILE *f, const assay_rule_rescale *k)
{
    switch ((enum assay_encoding)k->encoding) {
    case ASSAY_ENCODE_MULTIPLIER:
        fprintf(f, "  R becomes m / 2^s: m has %d bits, rounded %s%s; ", k->multiplier_bits,
                MODE(k->multiplier_round), k->multiplier_renormalise ? "" : ", not renormalised");
        shift_range(f, k);
        if (k->common_shift)
            fprintf(f, "  The channels of a layer share the s of the greatest R.\n");
        break;
    case ASSAY_ENCODE_SHIFT:
        fprintf(f, "  R becomes a shift alone: R = 1 / 2^s, ");
        shift_range(f, k);
        break;
    case ASSAY_ENCODE_GLOW:
        fprintf(f, "  R becomes a pre-shift, a multiplier of about 9 bits and a post-shift.\n");
        break;
    case ASSAY_ENCODE_THRESHOLDS:
        fprintf(f, "  R becomes sorted thresholds: q = least code + how many are <= acc.\n");
        break;
    case ASSAY_ENCODE_F32:
    case ASSAY_ENCODE_F64:
        fprintf(f, "  R stays a %s.\n",
                k->encoding == ASSAY_ENCODE_F32 ? "float32" : "float64 (binary64)");
    }
    if (k->reduced_bits > 0 && k->encoding == ASSAY_ENCODE_MULTIPLIER)
        fprintf(f, "  m is then rounded half-up to %d bits.\n", k->reduced_bits);
}

/* By enum assay_narrowing. */
static const char *const narrows[] = {"wraps", "saturates", "is refused beyond"};

static void integer_application(FILE *f, const assay_rule_rescale *k)
{
    if (k->pre_shift == ASSAY_PRE_FIXED)
        fprintf(f, "  x is shifted right by %d first, rounded %s.\n", k->pre_shift_bits,
                MODE(k->pre_shift_round));
    else if (k->pre_shift == ASSAY_PRE_REST)
        fprintf(f, "  x is first shifted right, rounded %s, by all but the last %d bits.\n",
                MODE(k->pre_shift_round), k->round.step[0].bits);
    else if (k->encoding == ASSAY_ENCODE_GLOW)
        fprintf(f, "  x is first shifted right by the pre-shift (floor).\n");
    if (k->operand_bits > 0)
        fprintf(f, "  x saturates to %d bits.\n", k->operand_bits);
    if (k->left_shift != ASSAY_LEFT_PRODUCT)
        fprintf(f, "  A shift to the left is made before the multiplication and %s in 32 bits.\n",
                k->left_shift == ASSAY_LEFT_WRAP ? "wraps" : "saturates");
    if (k->product_bits > 0)
        fprintf(f, "  x * m wraps to %d bits.\n", k->product_bits);
    bool pre = k->pre_shift != ASSAY_PRE_NONE || k->encoding == ASSAY_ENCODE_GLOW;
    fprintf(f, "  %s is shifted right by %s in %d rounding%s:",
            k->encoding == ASSAY_ENCODE_SHIFT ? "x" : "x * m", pre ? "the rest of s" : "s",
            k->round.n, k->round.n > 1 ? "s" : "");
    for (int i = 0; i < k->round.n; i++) {
        fprintf(f, "%s ", i > 0 ? ", then" : "");
        if (k->round.step[i].bits > 0)
            fprintf(f, "%d bits ", k->round.step[i].bits);
        fprintf(f, "%s", MODE(k->round.step[i].mode));
    }
    fprintf(f, ".\n");
    if (k->result_bits > 0)
        fprintf(f, "  The result %s %s%d bits.\n", narrows[k->result_overflow],
                k->result_overflow == ASSAY_NARROW_REFUSE ? "" : "to ", k->result_bits);
}

void assay_explain_formula(FILE *f, const assay_record *rec)
{
    const assay_rule_rescale *k = &rec->rescale;
    bool is_float = k->encoding == ASSAY_ENCODE_F32 || k->encoding == ASSAY_ENCODE_F64;
    formation(f, k);
    encoding(f, k);
    if (k->zero_point == ASSAY_STAGE_BEFORE)
        fprintf(f, "  The zero point is an offset: it is subtracted before the multiplication, and "
                   "nothing is added after.\n");
    if (is_float)
        fprintf(f, "  x * R is a product of floats; %s to an integer %s%s.\n",
                k->zero_point == ASSAY_STAGE_INSIDE ? "plus the zero point it is rounded"
                                                    : "it is rounded",
                MODE(k->round.step[0].mode),
                k->float_rounding == ASSAY_FLOAT_ROUND_ADD_ONE
                    ? " (the neighbour found by adding 1.0f)"
                    : "");
    else if (k->encoding == ASSAY_ENCODE_THRESHOLDS)
        fprintf(f,
                "  A threshold is where the exact product acc * R, rounded %s, takes the code.\n",
                MODE(k->round.step[0].mode));
    else
        integer_application(f, k);
    const bool has_zero = rec->types.activation_zero_point != ASSAY_ZERO_POINT_NONE;
    const bool adds = has_zero && k->zero_point == ASSAY_STAGE_AFTER;
    if (adds)
        fprintf(f, "  The zero point is added to the rounded integer");
    if (adds && k->sum_bits > 0 && k->encoding != ASSAY_ENCODE_THRESHOLDS)
        fprintf(f, ", which %s%s %d bits", narrows[k->sum_overflow],
                k->sum_overflow == ASSAY_NARROW_REFUSE ? "" : " in", k->sum_bits);
    if (adds)
        fprintf(f, ".\n");
    fprintf(f, "  The %s %s.\n", has_zero ? "sum" : "result",
            k->store == ASSAY_STORE_WRAP ? "is clamped, and its low bits are stored"
                                         : "saturates to the output's range");
    if (apply_rescale_can_refuse(k))
        fprintf(f, "  A run stops at an accumulator that is refused; a node that rescales anything "
                   "else of\n  which some could be is refused before.\n");
}

/* A 128-bit integer in decimal. */
static const char *decimal(assay_int128 v, char buf[48])
{
    assay_uint128 u = v < 0 ? -(assay_uint128)v : (assay_uint128)v;
    char *p = buf + 47;
    *p = '\0';
    do {
        *--p = (char)('0' + (int)(u % 10));
        u /= 10;
    } while (u > 0);
    if (v < 0)
        *--p = '-';
    return p;
}

static double f32_value(uint64_t bits)
{
    uint32_t low = (uint32_t)bits;
    float v;
    memcpy(&v, &low, sizeof v);
    return (double)v;
}

static double f64_value(uint64_t bits)
{
    double v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

static bool is_tie(assay_int128 v, unsigned bits)
{
    assert(bits < 128);
    return bits > 0 && ((assay_uint128)v << (128 - bits)) == (assay_uint128)1 << 127;
}

/* n / 2^bits in as many digits as keep it apart from a tie or an integer that it is not. */
static const char *quotient(assay_int128 n, unsigned bits, char *text, size_t size)
{
    assert(bits < 128);
    const double v = ldexp((double)n, -(int)bits);
    const assay_uint128 rest = bits > 0 ? (assay_uint128)n << (128 - bits) : 0;
    for (int digits = 12; digits <= 17; digits++) {
        double shown;
        snprintf(text, size, "%.*g", digits, v);
        shown = strtod(text, NULL);
        if ((shown == floor(shown)) == (rest == 0) &&
            (shown - floor(shown) == 0.5) == is_tie(n, bits))
            return text;
    }
    double nearest = rint(2 * v) / 2; /* double does not hold the difference */
    bool half = nearest != floor(nearest), upper = rest >> 127;
    snprintf(text, size, "%.17g %s a trifle", nearest, half == upper ? "plus" : "less");
    return text;
}

const char *assay_explain_bits(assay_int128 v, unsigned cut, char text[ASSAY_EXPLAIN_BITS])
{
    unsigned n = 1, used = 2;
    assert(cut < 128);
    while (n < 128 && (v >> (n - 1)) != 0 && (v >> (n - 1)) != -1)
        n++;
    n = n <= cut ? cut + 1 : n;
    text[0] = '0';
    text[1] = 'b';
    while (n-- > 0) {
        text[used++] = (char)('0' + (int)(v >> n & 1));
        if (n == cut && cut > 0)
            text[used++] = '.';
    }
    text[used] = 0;
    return text;
}

static void bits_of(FILE *f, assay_int128 v)
{
    char text[ASSAY_EXPLAIN_BITS];
    fprintf(f, "  %-*s%s\n", ASSAY_EXPLAIN_NAME, "in binary", assay_explain_bits(v, 0, text));
}

/* A rounding in binary, what it cuts off behind the point. */
static void cut_of(FILE *f, assay_int128 before, unsigned bits, assay_int128 after)
{
    char a[ASSAY_EXPLAIN_BITS], b[ASSAY_EXPLAIN_BITS];
    const char *digits = assay_explain_bits(before, bits, a), *rest = strchr(digits, '.');
    fprintf(f, "  %-*s%s -> %s, cut off: %s\n", ASSAY_EXPLAIN_NAME, "in binary", digits,
            assay_explain_bits(after, 0, b), rest ? rest : "nothing");
}

static void integer_steps(FILE *f, const assay_single *o, const assay_trace *t, bool binary)
{
    const assay_rule_rescale *k = &o->rule;
    char a[48], b[48], q[64];
    if (o->r.pre)
        fprintf(f, "  pre-shift               %" PRId64 " >> %" PRId64 " = %" PRId64 "\n",
                t->operand, o->pre, t->shifted);
    if (k->operand_bits > 0)
        fprintf(f, "  saturated to %2d bits    %" PRId64 "\n", k->operand_bits, t->saturated);
    if (t->left > 0)
        fprintf(f, "  shifted left            %" PRId64 " * 2^%u = %" PRId64 " in 32 bits%s\n",
                t->saturated, t->left, t->lifted, t->zone[0] != 0 ? " (wrapped around)" : "");
    fprintf(f, "  product                 %" PRId64 " * %" PRId64 " = %s\n", t->lifted,
            o->multiplier, decimal(t->exact, a));
    if (binary)
        bits_of(f, t->product);
    if (t->product != t->exact)
        fprintf(f, "  product in %2d bits      %s\n", k->product_bits, decimal(t->product, a));
    if (t->product_left > 0)
        fprintf(f, "  product shifted left    by %u\n", t->product_left);
    for (int i = 0; i < t->n_rounds; i++) {
        fprintf(f, "  rounding %d              %s / 2^%u = %s -> %s, %s%s\n", i + 1,
                decimal(t->round[i].before, a), t->round[i].bits,
                quotient(t->round[i].before, t->round[i].bits, q, sizeof q),
                decimal(t->round[i].after, b), MODE(t->round[i].mode),
                is_tie(t->round[i].before, t->round[i].bits) ? " (a tie)" : "");
        if (binary)
            cut_of(f, t->round[i].before, t->round[i].bits, t->round[i].after);
    }
    if (t->narrowed != t->round[t->n_rounds - 1].after)
        fprintf(f, "  narrowed to %2d bits     %s\n", k->result_bits, decimal(t->narrowed, a));
}

static void float_steps(FILE *f, const assay_single *o, const assay_trace *t, bool binary)
{
    const assay_rule_rescale *k = &o->rule;
    bool wide = k->encoding == ASSAY_ENCODE_F64;
    double (*value)(uint64_t) = wide ? f64_value : f32_value;
    const char *name = wide ? "float64" : "float32";
    fprintf(f, "  as %s              %.9g\n", name, value(t->f_acc));
    if (k->scale == ASSAY_FORM_F32_STEPS && o->r.scale_w) {
        fprintf(f, "  times in scale          %.9g * %.9g = %.9g\n", value(t->f_acc),
                f32_value((uint64_t)o->scale), value(t->f_first));
        fprintf(f, "  times weight scale      * %.9g = %.9g\n", f32_value((uint64_t)o->scale_w),
                value(t->f_second));
        fprintf(f, "  divided by out scale    / %.9g = %.9g\n", f32_value((uint64_t)o->scale_out),
                value(t->f_product));
    } else {
        fprintf(f, "  times R in %s      %.9g * %.9g = %.*g\n", name, value(t->f_acc),
                value((uint64_t)o->scale), wide ? 17 : 9, value(t->f_product));
    }
    if (k->zero_point == ASSAY_STAGE_INSIDE)
        fprintf(f, "  plus zero point         + %" PRId64 " = %.9g\n", o->r.zero_point,
                value(t->f_inside));
    if (binary)
        fprintf(f, "  %-*s0x%0*" PRIx64 "\n", ASSAY_EXPLAIN_NAME, "its IEEE bits", wide ? 16 : 8,
                t->f_inside);
    double rest = fabs(value(t->f_inside) - trunc(value(t->f_inside)));
    fprintf(f, "  rounded                 %" PRId64 ", %s%s\n", (int64_t)t->rounded,
            MODE(k->round.step[0].mode), rest == 0.5 ? " (a tie)" : "");
}

static void threshold_step(FILE *f, const assay_single *o, int64_t acc)
{
    size_t n = 0;
    while (n < o->r.n_thresholds && o->r.threshold[n] <= acc)
        n++;
    fprintf(f, "  thresholds at most it   %zu of %zu\n", n, o->r.n_thresholds);
}

/* The bounds that acted: before low bits are stored they may lie beyond the type, or be missing. */
static void clamp_step(FILE *f, const assay_rescale *r, const char *clamped)
{
    if (r->clamp_lo == INT64_MIN)
        fprintf(f, "  at most %-16" PRId64 "%s\n", r->clamp_hi, clamped);
    else if (r->clamp_hi == INT64_MAX)
        fprintf(f, "  at least %-15" PRId64 "%s\n", r->clamp_lo, clamped);
    else
        fprintf(f, "  saturated to %" PRId64 "..%" PRId64 "  %s\n", r->clamp_lo, r->clamp_hi,
                clamped);
}

static void steps(FILE *f, const assay_single *o, int64_t acc, bool binary)
{
    const assay_rescale *r = &o->r;
    assay_trace t;
    int64_t held = acc;
    const bool fits = assay_single_apply_overflow(o, &held);
    const bool before = o->rule.zero_point == ASSAY_STAGE_BEFORE;
    char sum[48], clamped[48], rounded[48];
    fprintf(f, "  accumulator             %" PRId64 "\n", acc);
    if (!fits)
        fprintf(f, "  beyond %d bits, which the target refuses\n", o->rec.accumulator.bits);
    else if (held != acc)
        fprintf(f, "  %s %2d bits    %" PRId64 "\n",
                o->rec.accumulator.overflow == ASSAY_OVERFLOW_WRAP ? "wrapped to  "
                                                                   : "saturated to",
                o->rec.accumulator.bits, held);
    if (!fits)
        return;
    acc = held;
    if (binary)
        bits_of(f, acc);
    const int64_t centred = acc - r->in_zero;
    assay_trace_run(r, acc, 0, &t);
    if (r->in_zero != 0)
        fprintf(f, "  minus input zero point  %" PRId64 " - %" PRId64 " = %" PRId64 "\n", acc,
                r->in_zero, centred);
    if (before && r->zero_point != 0)
        fprintf(f, "  minus zero point        %" PRId64 " - %" PRId64 " = %" PRId64 "\n", centred,
                r->zero_point, t.operand);
    if (!t.accepted) {
        fprintf(f, "  the target refuses this accumulator\n");
        return;
    }
    if (o->rule.encoding == ASSAY_ENCODE_THRESHOLDS)
        threshold_step(f, o, acc);
    else if (assay_single_is_float(o))
        float_steps(f, o, &t, binary);
    else
        integer_steps(f, o, &t, binary);
    if (o->rule.zero_point == ASSAY_STAGE_AFTER && r->zero_point != 0)
        fprintf(f, "  plus zero point         %s + %" PRId64 " = %s\n", decimal(t.rounded, rounded),
                r->zero_point, decimal(t.sum, sum));
    if (t.clamped != t.sum)
        clamp_step(f, r, decimal(t.clamped, clamped));
    if (t.code != t.clamped)
        fprintf(f, "  low %u bits              %" PRId64 "\n", r->out_bits, t.code);
    fprintf(f, "  code                    %d\n", apply_rescale_one(r, acc, 0));
    if (binary)
        bits_of(f, apply_rescale_one(r, acc, 0));
}

void assay_explain_steps(FILE *f, const assay_single *o, int64_t acc)
{
    steps(f, o, acc, false);
}

void assay_explain_steps_in_binary(FILE *f, const assay_single *o, int64_t acc)
{
    steps(f, o, acc, true);
}
