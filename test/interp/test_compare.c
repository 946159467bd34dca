/* Measures between tensors: known values, thresholds, and what each element kind means. */
#include <math.h>
#include <string.h>

#include "interp/golden/compare.h"
#include "test/support/support.h"

static assay_type vector(assay_elem e, int64_t n)
{
    assay_type t = {.elem = e, .rank = 1, .dim = {n}};
    return t;
}

static assay_comparison compare(const assay_type *t, const void *a, const void *b,
                                assay_thresholds limits)
{
    assay_comparison c;
    assay_error err;
    assert_int_equal(assay_compare(t, a, t, b, &limits, &c, &err), ASSAY_OK);
    return c;
}

static void test_codes(void **state)
{
    const int8_t a[4] = {1, -2, 127, -128}, b[4] = {1, -1, 127, 127};
    const assay_type t = vector(assay_int(8, true), 4);
    assay_thresholds limits = ASSAY_THRESHOLDS_EXACT;
    assay_comparison c = compare(&t, a, b, limits);

    (void)state;
    assert_false(c.pass);
    assert_int_equal(c.differing, 2);
    assert_int_equal(c.mismatches, 2);
    assert_int_equal(c.first, 1);
    assert_true(c.max_lsb == 255.0);
    limits.max_lsb = 1.0;
    c = compare(&t, a, b, limits);
    assert_int_equal(c.mismatches, 1);
    assert_int_equal(c.first, 3);
    limits.max_lsb = 255.0;
    assert_true(compare(&t, a, b, limits).pass);
}

static void test_quantized_real_values(void **state)
{
    const float scale[2] = {0.5f, 2.0f};
    const int32_t zero[2] = {0, 1};
    const int8_t a[4] = {2, 2, 4, 3};
    const assay_type t = {.elem = assay_int(8, true),
                          .rank = 2,
                          .dim = {2, 2},
                          .q = {ASSAY_Q_AXIS, 1, 0, 2, scale, zero}};

    (void)state;
    assert_true(golden_element_real(&t, a, 0) == 1.0);
    assert_true(golden_element_real(&t, a, 1) == 2.0);
    assert_true(golden_element_real(&t, a, 2) == 2.0);
    assert_true(golden_element_real(&t, a, 3) == 4.0);
}

/* A device that gives the floats of codes: scale * (code - zero point), one binary32 product. */
static void test_codes_beside_floats(void **state)
{
    static const float scale[1] = {0.1f};
    static const int32_t zero[1] = {-3};
    const int8_t a[3] = {0, 4, 90};
    volatile float s = 0.1f;
    float b[3] = {s * 3, s * 7, s * 93};
    const assay_type codes = {.elem = assay_int(8, true),
                              .rank = 1,
                              .dim = {3},
                              .q = {ASSAY_Q_TENSOR, 0, 0, 1, scale, zero}};
    const assay_type floats = vector(assay_f32(), 3);
    const assay_thresholds limits = ASSAY_THRESHOLDS_EXACT;
    assay_comparison c;
    assay_error err;

    (void)state;
    assert_true((double)b[1] != (double)scale[0] * 7.0); /* it is rounded */
    assert_int_equal(assay_compare(&codes, a, &floats, b, &limits, &c, &err), ASSAY_OK);
    assert_true(c.pass && c.differing == 0 && isinf(c.sqnr));
    assert_int_equal(assay_compare(&floats, b, &codes, a, &limits, &c, &err), ASSAY_OK);
    assert_true(c.pass);
    b[1] = nextafterf(b[1], 1.0f);
    assert_int_equal(assay_compare(&codes, a, &floats, b, &limits, &c, &err), ASSAY_OK);
    assert_int_equal(c.differing, 1);
    assert_int_equal(c.first, 1);
}

static void test_floats(void **state)
{
    const float a[4] = {1.0f, 0.0f, NAN, -4.0f}, b[4] = {1.0f, -0.0f, NAN, -4.04f};
    const assay_type t = vector(assay_f32(), 4);
    assay_thresholds limits = ASSAY_THRESHOLDS_EXACT;
    assay_comparison c = compare(&t, a, b, limits);

    (void)state;
    assert_int_equal(c.differing, 2); /* the sign of zero and the last */
    limits.rel = 0.011;
    limits.abs = 0.0;
    assert_true(compare(&t, a, b, limits).pass);
    limits.rel = 0.009;
    assert_int_equal(compare(&t, a, b, limits).first, 3);
}

/* 0 and -0 are nothing apart, whatever the limit; what is no number is far from every number. */
static void test_edges_of_floats(void **state)
{
    const float zero[3] = {0.0f, -0.0f, 2.0f}, turned[3] = {-0.0f, 0.0f, 2.0f};
    const float a[4] = {NAN, INFINITY, -INFINITY, 1.0f}, b[4] = {1.0f, 1.0f, INFINITY, 1.0f};
    assay_type t = vector(assay_f32(), 3);
    assay_thresholds limits = ASSAY_THRESHOLDS_EXACT;
    assay_comparison c = compare(&t, zero, turned, limits);

    (void)state;
    assert_int_equal(c.mismatches, 2);
    assert_true(c.max_rel == 0.0 && c.max_abs == 0.0);
    assert_true(c.cosine == 1.0 && isinf(c.sqnr));
    limits.rel = 0.0;
    assert_true(compare(&t, zero, turned, limits).pass);
    t = vector(assay_f32(), 4);
    limits.rel = 1e30;
    c = compare(&t, a, b, limits);
    assert_int_equal(c.mismatches, 3);
    assert_true(isinf(c.max_rel) && isinf(c.max_abs));
    assert_true(c.cosine == 0.0 && c.sqnr < 0.0);
    c = compare(&t, a, a, limits);
    assert_true(c.pass && c.max_rel == 0.0 && c.cosine == 1.0 && c.sqnr > 0.0);
}

static void test_whole_tensor_measures(void **state)
{
    const float a[2] = {3.0f, 4.0f}, b[2] = {3.0f, 4.5f};
    const assay_type t = vector(assay_f32(), 2);
    assay_thresholds limits = ASSAY_THRESHOLDS_EXACT;
    assay_comparison c = compare(&t, a, b, limits);

    (void)state;
    assert_true(fabs(c.sqnr - 20.0) < 1e-9); /* 25 / 0.25 */
    assert_true(fabs(c.cosine - 27.0 / (5.0 * sqrt(29.25))) < 1e-12);
    limits.sqnr = 19.9;
    c = compare(&t, a, b, limits);
    assert_true(c.pass);
    assert_int_equal(c.mismatches, 0);
    limits.sqnr = 20.1;
    c = compare(&t, a, b, limits);
    assert_false(c.pass);
    assert_int_equal(c.first, 1);
    limits.sqnr = -1.0;
    limits.cosine = 0.999999;
    assert_false(compare(&t, a, b, limits).pass);
}

static void test_shapes_must_agree(void **state)
{
    const float a[2] = {0};
    const assay_type one = vector(assay_f32(), 1), two = vector(assay_f32(), 2);
    const assay_thresholds limits = ASSAY_THRESHOLDS_EXACT;
    assay_comparison c;
    assay_error err;

    (void)state;
    assert_int_equal(assay_compare(&one, a, &two, a, &limits, &c, &err), ASSAY_ERR_INPUT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_codes),
        cmocka_unit_test(test_quantized_real_values),
        cmocka_unit_test(test_codes_beside_floats),
        cmocka_unit_test(test_floats),
        cmocka_unit_test(test_edges_of_floats),
        cmocka_unit_test(test_whole_tensor_measures),
        cmocka_unit_test(test_shapes_must_agree),
    };
    return cmocka_run_group_tests_name("compare", tests, NULL, NULL);
}
