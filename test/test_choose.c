/* Choosing parameters: values that Glow's QuantizationTest and its formula give where they are
 * right, and the fixes where they are not (ranges around zero, tiny ranges). */
#include "test/support.h"

#include <math.h>
#include <string.h>

#include "opt/choose.h"

enum { ASYM, SYM, SYM_UNSIGNED, POW2 };

static void expect(assay_elem elem, int schema, double min, double max, double scale,
                   int32_t zero_point)
{
    assay_choice c = {.elem = elem, .schema = (assay_schema)schema};
    float s;
    int32_t z;
    assay_error err;
    assert_ok(assay_choose_qparams(&c, min, max, &s, &z, &err), &err);
    if (fabs((double)s - scale) > 1e-7 * scale || z != zero_point)
        fail_msg("%s%u schema %d [%g, %g]: scale %.9g zero point %d, expected %.9g and %d",
                 elem.is_signed ? "i" : "u", elem.bits, schema, min, max, (double)s, z, scale,
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
    assay_elem i8 = assay_int(8, true), u8 = assay_int(8, false);
    expect(i8, ASYM, -3, 3, .0235294122, 0);
    expect(u8, ASYM, -3, 3, .0235294122, 128); /* the middle, not 0 */
    expect(u8, SYM, -3, 3, 3.0 / 127, 128);
    expect(i8, ASYM, 0, 1e-7, 1e-7 / 255, -128); /* tiny ranges keep their zero point */
    expect(i8, ASYM, -5e-8, 3e-8, 8e-8 / 255, 31);
    expect(i8, ASYM, 0, 0, 1, -128);
    expect(i8, SYM, 0, 0, 1, 0);
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
            .schema = (assay_schema)test_between(&rng, ASYM, POW2),
            .narrow = test_between(&rng, 0, 1) != 0};
        double a = ldexp(2 * test_unit(&rng) - 1, (int)test_between(&rng, -20, 20));
        double b = ldexp(2 * test_unit(&rng) - 1, (int)test_between(&rng, -20, 20));
        double min = fmin(a, b), max = fmax(a, b);
        float s;
        int32_t z;
        int64_t lo, hi;
        assay_error err;
        assay_choice_codes(&c, &lo, &hi);
        assert_ok(assay_choose_qparams(&c, min, max, &s, &z, &err), &err);
        assert_true(s > 0 && z >= lo && z <= hi);
        double slack = (1 + 1e-6 * (double)(hi - lo)) * (double)s;
        assert_true((double)s * (double)(lo - z) <= fmin(min, 0) + slack);
        assert_true((double)s * (double)(hi - z) >= fmax(max, 0) - slack);
        if (c.schema == ASSAY_SCHEMA_POWER_OF_TWO) {
            int exponent;
            assert_true(frexpf(s, &exponent) == 0.5f);
        }
    }
}

static void test_refusals(void **state)
{
    (void)state;
    const double bad[][2] = {{1, 0}, {NAN, 1}, {0, NAN}, {-INFINITY, 0}, {0, INFINITY}};
    assay_choice c = {.elem = assay_int(8, true)};
    assay_schema schema;
    assay_error err;
    float s;
    int32_t z;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_refused(assay_choose_qparams(&c, bad[i][0], bad[i][1], &s, &z, &err), &err, "range");
    assert_true(assay_schema_find("power-of-two", &schema));
    assert_int_equal(schema, ASSAY_SCHEMA_POWER_OF_TWO);
    assert_false(assay_schema_find("symetric", &schema));
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
        assert_int_equal(assay_quantize_real(cases[i].x, 1, 3, -128, 127), cases[i].q);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_values),
        cmocka_unit_test(test_fixes),
        cmocka_unit_test(test_any_width_holds_its_range),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_quantize_real),
    };
    return cmocka_run_group_tests_name("choose", tests, NULL, NULL);
}
