/* Choosing parameters: values that Glow's QuantizationTest and its formula give where they are
 * right, and the fixes where they are not (ranges around zero, tiny ranges). */
#include "test/support/support.h"

#include <math.h>
#include <string.h>

#include "opt/calibrate/qparams.h"

enum { ASYM, SYM, SYM_UNSIGNED, POW2 };

static void expect(assay_elem elem, int symmetry, double min, double max, double scale,
                   int32_t zero_point)
{
    assay_choice c = {.elem = elem, .symmetry = (assay_symmetry)symmetry};
    float s;
    int32_t z;
    assay_error err;
    assert_ok(calibrate_choose_qparams(&c, min, max, &s, &z, &err), &err);
    if (fabs((double)s - scale) > 1e-7 * scale || z != zero_point)
        fail_msg("%s%u symmetry %d [%g, %g]: scale %.9g zero point %d, expected %.9g and %d",
                 elem.is_signed ? "i" : "u", elem.bits, symmetry, min, max, (double)s, z, scale,
                 zero_point);
}

static void test_known_values(void **state)
{
    (void)state;
    assay_elem i8 = assay_int(8, true), u8 = assay_int(8, false), i16 = assay_int(16, true);
    expect(i8, ASYM, 0, 6, .0235294122, -128);
    expect(i8, SYM, 0, 6, .0472440943, 0);
    expect(i8, SYM_UNSIGNED, 0, 6, .0235294122, -128);
    expect(i8, POW2, 0, 6, .0625, 0);
    expect(u8, ASYM, 0, 6, .0235294122, 0);
    expect(i16, ASYM, 0, 6, 9.15541314e-5, -32768);
    expect(i16, SYM, 0, 6, 1.83111057e-4, 0);
    expect(i8, ASYM, -2, 5, .0274509806, -55);
    expect(u8, ASYM, -2, 5, .0274509806, 73);
    expect(i16, ASYM, -2, 5, 1.06813153e-4, -14044);
    expect(i8, SYM_UNSIGNED, -2, 5, .0393700786, 0);
    expect(i8, ASYM, 2, 5, .0196078438, -128); /* takes in 0 */
    expect(i8, ASYM, -8, -2, .0313725509, 127);
    expect(i8, SYM, -8, -2, .0625, 0);  /* -128 is used */
    expect(i8, POW2, -8, -2, .0625, 0); /* a power of two is not doubled */
    expect(i8, POW2, -3, 3, .03125, 0);
    expect(i8, SYM, -1, 0, .0078125, 0);
    expect(i8, ASYM, -128, 127, 1, 0);
    expect(u8, ASYM, -128, 127, 1, 128);
    expect(i16, ASYM, -128, 127, .00389105058, 128);
    expect(i8, ASYM, -.1, 100, .392549008, -128);
}

static void test_fixes(void **state)
{
    (void)state;
    assay_elem i8 = assay_int(8, true), u8 = assay_int(8, false), i16 = assay_int(16, true);
    expect(i8, ASYM, -3, 3, .0235294122, 0);
    expect(u8, ASYM, -3, 3, .0235294122, 128); /* the middle, not 0 */
    expect(u8, SYM, -3, 3, 3.0 / 127, 128);
    expect(i8, ASYM, 0, 1e-7, 1e-7 / 255, -128); /* tiny ranges keep their zero point */
    expect(i8, ASYM, -5e-8, 3e-8, 8e-8 / 255, 31);
    expect(i8, ASYM, 0, 0, 1, -128);
    expect(i8, SYM, 0, 0, 1, 0);
    expect(i16, SYM, 0, 0, 0x1p-15, 0);
    expect(i16, ASYM, 0, 0, 0x1p-15, -32768);
    expect(i8, ASYM, -3.4e38, 3.4e38, 0x1p61 / 255, 0); /* scales stay where products are finite */
    expect(i8, SYM, -1e-40, 1e-40, 0x1p-60, 0);
}

/* For any width, both signs and random ranges: 0 is a code exactly, and neither end is further
 * from its nearest code than half a step (a whole one at the side that the zero point's rounding
 * takes from). */
static void test_any_width_holds_its_range(void **state)
{
    test_rng rng = test_seed("choose", 7);
    (void)state;
    for (int i = 0; i < 20000; i++) {
        assay_choice c = {
            .elem = assay_int((unsigned)test_between(&rng, 2, 32), test_between(&rng, 0, 1) != 0),
            .symmetry = (assay_symmetry)test_between(&rng, ASYM, POW2),
            .narrow = test_between(&rng, 0, 1) != 0};
        double a = ldexp(2 * test_unit(&rng) - 1, (int)test_between(&rng, -20, 20));
        double b = ldexp(2 * test_unit(&rng) - 1, (int)test_between(&rng, -20, 20));
        double min = fmin(a, b), max = fmax(a, b);
        float s;
        int32_t z;
        int64_t lo, hi;
        assay_error err;
        calibrate_choice_codes(&c, &lo, &hi);
        assert_ok(calibrate_choose_qparams(&c, min, max, &s, &z, &err), &err);
        assert_true(s > 0 && z >= lo && z <= hi);
        double slack = (1 + 1e-6 * (double)(hi - lo)) * (double)s;
        assert_true((double)s * (double)(lo - z) <= fmin(min, 0) + slack);
        assert_true((double)s * (double)(hi - z) >= fmax(max, 0) - slack);
        if (c.symmetry == ASSAY_SYMMETRIC_POWER_OF_TWO) {
            int exponent;
            assert_true(frexpf(s, &exponent) == 0.5f);
        }
    }
}

/* Glow's chooseQuantizationParams (schemes/SOURCES.md), computed from Glow's own formula: every bit
 * of the scale.
 */
static void test_glow_table(void **state)
{
    (void)state;
    const assay_elem i8 = assay_int(8, true), u8 = assay_int(8, false), i16 = assay_int(16, true);
    const struct {
        double min, max;
        struct {
            float scale;
            int32_t zero_point;
        } asym, sym, uns, pow2, u8, asym16, sym16;
    } rows[] = {
        {0, 0, {.1f, 0}, {.1f, 0}, {.1f, 0}, {.125f, 0}, {.1f, 0}, {.1f, 0}, {.1f, 0}},
        {0,
         6,
         {.0235294122f, -128},
         {.0472440943f, 0},
         {.0235294122f, -128},
         {.0625f, 0},
         {.0235294122f, 0},
         {9.15541314e-5f, -32768},
         {1.83111057e-4f, 0}},
        {-3,
         3,
         {.0235294122f, 0},
         {.0236220472f, 0},
         {.0236220472f, 0},
         {.03125f, 0},
         {.0235294122f, 0},
         {9.15541314e-5f, 0},
         {9.15555283e-5f, 0}},
        {-2,
         5,
         {.0274509806f, -55},
         {.0393700786f, 0},
         {.0393700786f, 0},
         {.0625f, 0},
         {.0274509806f, 73},
         {1.06813153e-4f, -14044},
         {1.52592547e-4f, 0}},
        {2,
         5,
         {.0196078438f, -128},
         {.0393700786f, 0},
         {.0196078438f, -128},
         {.0625f, 0},
         {.0196078438f, 0},
         {7.62951095e-5f, -32768},
         {1.52592547e-4f, 0}},
        {-8,
         -2,
         {.0313725509f, 127},
         {.0625f, 0},
         {.0625f, 0},
         {.0625f, 0},
         {.0313725509f, 255},
         {1.22072175e-4f, 32767},
         {2.44140625e-4f, 0}},
        {0,
         1,
         {.00392156886f, -128},
         {.00787401572f, 0},
         {.00392156886f, -128},
         {.015625f, 0},
         {.00392156886f, 0},
         {1.52590219e-5f, -32768},
         {3.05185094e-5f, 0}},
        {-1,
         0,
         {.00392156886f, 127},
         {.0078125f, 0},
         {.0078125f, 0},
         {.0078125f, 0},
         {.00392156886f, 255},
         {1.52590219e-5f, 32767},
         {3.05175781e-5f, 0}},
        {-128,
         127,
         {1, 0},
         {1, 0},
         {1, 0},
         {1, 0},
         {1, 128},
         {.00389105058f, 128},
         {.00390625f, 0}},
        {-.1,
         100,
         {.392549008f, -128},
         {.787401557f, 0},
         {.787401557f, 0},
         {1, 0},
         {.392549008f, 0},
         {.00152742804f, -32703},
         {.00305185094f, 0}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct {
            assay_elem elem;
            int symmetry;
            float scale;
            int32_t zero_point;
        } cases[] = {{i8, ASYM, rows[i].asym.scale, rows[i].asym.zero_point},
                     {i8, SYM, rows[i].sym.scale, rows[i].sym.zero_point},
                     {i8, SYM_UNSIGNED, rows[i].uns.scale, rows[i].uns.zero_point},
                     {i8, POW2, rows[i].pow2.scale, rows[i].pow2.zero_point},
                     {u8, ASYM, rows[i].u8.scale, rows[i].u8.zero_point},
                     {i16, ASYM, rows[i].asym16.scale, rows[i].asym16.zero_point},
                     {i16, SYM, rows[i].sym16.scale, rows[i].sym16.zero_point}};
        for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
            assay_choice c = {.elem = cases[k].elem,
                              .symmetry = (assay_symmetry)cases[k].symmetry,
                              .method = ASSAY_QPARAMS_GLOW};
            float s;
            int32_t z;
            assay_error err;
            assert_ok(calibrate_choose_qparams(&c, rows[i].min, rows[i].max, &s, &z, &err), &err);
            if (s != cases[k].scale || z != cases[k].zero_point)
                fail_msg("[%g, %g] case %zu: scale %.9g zero point %d, Glow has %.9g and %d",
                         rows[i].min, rows[i].max, k, (double)s, z, (double)cases[k].scale,
                         cases[k].zero_point);
        }
    }
}

/* Glow's flaws, reproduced; what it does not have is refused. */
static void test_glow_flaws(void **state)
{
    (void)state;
    assay_choice c = {.elem = assay_int(8, true), .method = ASSAY_QPARAMS_GLOW};
    float s;
    int32_t z;
    assay_error err;
    assert_ok(calibrate_choose_qparams(&c, 0, 1e-7, &s, &z, &err), &err);
    assert_int_equal(z, 0); /* a tiny range loses its zero point; ours has -128 */
    assert_ok(calibrate_choose_qparams(&c, -3e38, 3e38, &s, &z, &err), &err);
    assert_true(s == (float)((2 * (double)3e38f) / 255));
    c.elem = assay_int(32, true); /* 30 bits of 32 */
    assert_ok(calibrate_choose_qparams(&c, -1, 1, &s, &z, &err), &err);
    assert_true(s == (float)(2.0 / ((1 << 30) - 1)));
    c.elem = assay_int(8, false);
    c.symmetry = ASSAY_SYMMETRIC;
    assert_refused(calibrate_choose_qparams(&c, -1, 1, &s, &z, &err), &err, "symmetric range");
    c.elem.is_signed = true;
    c.narrow = true;
    assert_refused(calibrate_choose_qparams(&c, -1, 1, &s, &z, &err), &err, "narrow range");
    c.narrow = false;
    c.symmetry = ASSAY_SYMMETRIC_POWER_OF_TWO;
    c.nearest = true;
    assert_refused(calibrate_choose_qparams(&c, -1, 1, &s, &z, &err), &err, "nearest");
}

/* Up never saturates more; nearest is within half an octave. */
static void test_power_of_two_rounding(void **state)
{
    (void)state;
    const struct {
        double max, up, nearest;
    } cases[] = {{127, 1, 1},
                 {127 * 1.3, 2, 1},
                 {127 * 1.5, 2, 2},
                 {127 * .7, 1, .5},
                 {127 * .7072, 1, 1},
                 {127 * 0.5, .5, .5},
                 {1e-3, 1. / 65536, 1. / 131072}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assay_choice c = {.elem = assay_int(8, true), .symmetry = ASSAY_SYMMETRIC_POWER_OF_TWO};
        float s;
        int32_t z;
        assay_error err;
        assert_ok(calibrate_choose_qparams(&c, 0, cases[i].max, &s, &z, &err), &err);
        assert_true((double)s == cases[i].up);
        c.nearest = true;
        assert_ok(calibrate_choose_qparams(&c, 0, cases[i].max, &s, &z, &err), &err);
        assert_true((double)s == cases[i].nearest && z == 0);
    }
}

static void test_refusals(void **state)
{
    (void)state;
    const double bad[][2] = {{1, 0}, {NAN, 1}, {0, NAN}, {-INFINITY, 0}, {0, INFINITY}};
    assay_choice c = {.elem = assay_int(8, true)};
    assay_error err;
    float s;
    int32_t z;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_refused(calibrate_choose_qparams(&c, bad[i][0], bad[i][1], &s, &z, &err), &err,
                       "range");
    assert_true(calibrate_symmetry_find("power-of-two-nearest", &c));
    assert_true(c.symmetry == ASSAY_SYMMETRIC_POWER_OF_TWO && c.nearest && !c.narrow);
    assert_false(calibrate_symmetry_find("symetric", &c));
}

static void test_quantize_real(void **state)
{
    (void)state;
    const struct {
        double x;
        int64_t q;
    } cases[] = {{0, 3},    {0.5, 4},   {-0.5, 2},    {0.49, 3},    {1.5, 5},
                 {-1.5, 1}, {200, 127}, {-200, -128}, {1e300, 127}, {-1e300, -128}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(
            calibrate_quantize_real(cases[i].x, 1, 3, -128, 127, ASSAY_ROUND_HALF_AWAY),
            cases[i].q);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_values),
        cmocka_unit_test(test_fixes),
        cmocka_unit_test(test_any_width_holds_its_range),
        cmocka_unit_test(test_glow_table),
        cmocka_unit_test(test_glow_flaws),
        cmocka_unit_test(test_power_of_two_rounding),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_quantize_real),
    };
    return cmocka_run_group_tests_name("choose", tests, NULL, NULL);
}
