/* Choosing quantization parameters; see qparams.h. */
#include "opt/calibrate/qparams.h"

#include <math.h>
#include <string.h>

#include "schemes/derive/real.h"

#define MIN_SCALE     0x1p-60
#define GREATEST_REAL 0x1p60
#define TIE           1e-9 /* a zero point this close below a half is a tie */

static double power_of_two(double s, bool nearest)
{
    int exponent;
    double mantissa = frexp(s, &exponent); /* s = mantissa * 2^exponent, mantissa in [0.5, 1) */
    bool down = nearest ? mantissa < M_SQRT1_2 : mantissa == 0.5;
    return ldexp(1.0, down ? exponent - 1 : exponent);
}

/* The scale of what is 0 alone. Functions of more than 8 bits are tables of a few points, between
 * which they are straight: their operand's codes stay within 1 of it (at 1 for a scale, the table
 * of e^x would go from 0 to infinity between two points). */
static double of_zeros(assay_elem e)
{
    return e.bits > 8 ? ldexp(1.0, 1 - e.bits) : 1.0;
}

assay_status calibrate_choose_qparams(const assay_choice *c, double min, double max, float *scale,
                                      int32_t *zero_point, assay_error *err)
{
    int64_t lo, hi;
    if (!isfinite(min) || !isfinite(max) || min > max)
        return assay_fail(err, ASSAY_ERR_INPUT,
                          "range [%g, %g] cannot be quantized: expected finite min <= max", min,
                          max);
    if (c->method == ASSAY_QPARAMS_GLOW)
        return calibrate_choose_glow(c, min, max, scale, zero_point, err);
    if (c->method == ASSAY_QPARAMS_FBGEMM)
        return calibrate_choose_fbgemm(c, min, max, scale, zero_point, err);
    calibrate_choice_codes(c, &lo, &hi);
    min = fmax(fmin(min, 0.0), -GREATEST_REAL);
    max = fmin(fmax(max, 0.0), GREATEST_REAL);

    bool whole =
        c->symmetry == ASSAY_ASYMMETRIC || (c->symmetry == ASSAY_SYMMETRIC_UNSIGNED && min == 0.0);
    int64_t zp = c->elem.is_signed ? 0 : (hi + 1) / 2; /* the middle code */
    double s;
    if (whole)
        s = (max - min) / (double)(hi - lo);
    else
        s = fmax(-min / (double)(zp - lo), max / (double)(hi - zp));
    s = s > 0.0 ? fmax(s, MIN_SCALE) : of_zeros(c->elem);
    if (c->power_of_two || c->symmetry == ASSAY_SYMMETRIC_POWER_OF_TWO)
        s = power_of_two(s, c->nearest);
    *scale = (float)s;
    if (whole) {
        double z = floor((double)lo - min / s + 0.5 + TIE);
        zp = z < (double)lo ? lo : z > (double)hi ? hi : (int64_t)z;
    }
    *zero_point = (int32_t)zp;
    return ASSAY_OK;
}

int64_t calibrate_quantize_real(double x, double scale, int64_t zero_point, int64_t lo, int64_t hi,
                                enum assay_rounding round)
{
    return apply_clamp_to(derive_round_real(x / scale, round) + zero_point, lo, hi);
}

const char calibrate_symmetry_names[] =
    "asymmetric, symmetric, symmetric-narrow, symmetric-unsigned, "
    "power-of-two or power-of-two-nearest";

bool calibrate_symmetry_find(const char *name, assay_choice *c)
{
    static const struct {
        const char *name;
        assay_symmetry symmetry;
        bool narrow, nearest;
    } known[] = {{"asymmetric", ASSAY_ASYMMETRIC, false, false},
                 {"symmetric", ASSAY_SYMMETRIC, false, false},
                 {"symmetric-narrow", ASSAY_SYMMETRIC, true, false},
                 {"symmetric-unsigned", ASSAY_SYMMETRIC_UNSIGNED, false, false},
                 {"power-of-two", ASSAY_SYMMETRIC_POWER_OF_TWO, false, false},
                 {"power-of-two-nearest", ASSAY_SYMMETRIC_POWER_OF_TWO, false, true}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(name, known[i].name) == 0) {
            c->symmetry = known[i].symmetry;
            c->narrow = known[i].narrow;
            c->nearest = known[i].nearest;
            return true;
        }
    return false;
}
