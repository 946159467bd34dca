/* Sums at a prepared node: kept as they are, held in a memory, taken in any order, saturated by
 * pairs, rescaled from 64 bits. */
#include "test/support/support.h"

#include <stdio.h>
#include <string.h>

#include "test/support/scheme_unit.h"

static const int32_t zeros[4] = {0, 0, 0, 0};

/* A weighted op with plain i32 output gives its sums modulo 2^32; SVDF's feature saturates to its
 * memory's type before the zero point is added, which then wraps. */
static void sums(void **state)
{
    (void)state;
    assay_scheme *s = unit_scheme("");
    const float one = 1;
    const int32_t five = 5;
    assay_type in[2] = {code_type(8, true, &one, zeros), code_type(8, true, &one, zeros)};
    assay_type plain = {.elem = {ASSAY_KIND_INT, 32, true}, .rank = 1, .dim = {1}};
    assay_unit_spec spec = unit_spec("matmul", in, 2, &plain);
    assay_unit *u = unit_prepare(s, &spec);
    const int64_t acc[3] = {INT64_C(-7), INT64_C(1) << 31, (INT64_C(1) << 32) + 9};
    int32_t y[3];
    s->vt->requantize(u, acc, 3, 0, y);
    assert_int_equal(y[0], -7);
    assert_int_equal(y[1], INT32_MIN);
    assert_int_equal(y[2], 9);
    s->vt->release(u);

    assay_type memory = code_type(16, true, &one, &five);
    spec = unit_spec("svdf_feature", in, 2, &memory);
    u = unit_prepare(s, &spec);
    const int64_t sum[3] = {-9, 40000, -40000};
    s->vt->requantize(u, sum, 3, 0, y);
    assert_int_equal(y[0], -4);
    assert_int_equal(y[1], 32767 + 5 - 65536);
    assert_int_equal(y[2], -32768 + 5);
    s->vt->release(u);
    assay_scheme_free(s);
}

/* SVDF's memory is what integer hardware has: signed, reached without floats. */
static void memories(void **state)
{
    (void)state;
    static const struct {
        const char *record;
        bool is_signed;
        const char *message;
    } list[] = {
        {"", true, NULL},
        {"rescale: {encoding: glow, left_shift: product, round: [half-up]}\n", true, NULL},
        {"", false, "SVDF's memory holds signed codes; found u8"},
        {"rescale: {encoding: float32, round: [half-even]}\n", true,
         "SVDF's feature needs rescale.encoding: multiplier, shift or glow"},
        {"rescale: {encoding: thresholds, round: [half-up]}\n", true,
         "SVDF's feature needs rescale.encoding: multiplier, shift or glow"},
    };
    const float one = 1;
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        assay_scheme *s = unit_scheme(list[i].record);
        const assay_type in[2] = {code_type(8, true, &one, zeros), code_type(8, true, &one, zeros)};
        const assay_type out = code_type(8, list[i].is_signed, &one, zeros);
        const assay_unit_spec spec = unit_spec("svdf_feature", in, 2, &out);
        assay_error err = {0};
        assay_unit *u = NULL;
        const assay_status status = s->vt->prepare(s, &spec, &u, &err);
        assert_int_equal(status, list[i].message ? ASSAY_ERR_SCHEME : ASSAY_OK);
        if (list[i].message)
            assert_non_null(strstr(err.text, list[i].message));
        else
            s->vt->release(u);
        assay_scheme_free(s);
    }
}

/* What an engine may add in its own order: sums inside the accumulator, pairs inside int16. */
static void exact_sums(void **state)
{
    (void)state;
    const float one = 1;
    assay_type in[2] = {code_type(8, false, &one, zeros), code_type(8, true, &one, zeros)};
    assay_type out = code_type(8, false, &one, zeros);
    const assay_unit_spec spec = unit_spec("conv", in, 2, &out);
    for (int pairs = 0; pairs < 2; pairs++) {
        assay_scheme *s = unit_scheme(pairs ? "accumulator: {bits: 20, saturate_pairs: yes}\n"
                                            : "accumulator: {bits: 20}\n");
        assay_unit *u = unit_prepare(s, &spec);
        assert_true(s->vt->facts->exact(u, 524287, 32767));
        assert_false(s->vt->facts->exact(u, 524288, 32767));
        assert_int_equal(s->vt->facts->exact(u, 524287, 32768), !pairs);
        s->vt->release(u);
        assay_scheme_free(s);
    }
}

/* Pairs of products that int16 cannot hold lose so much, whatever the accumulator then does. */
static void saturated_pairs(void **state)
{
    (void)state;
    static const char *const overflows[] = {"wrap", "saturate-at-end", "saturate-each-step"};
    const float one = 1;
    assay_type in[2] = {code_type(8, false, &one, zeros), code_type(8, true, &one, zeros)};
    assay_type out = code_type(8, false, &one, zeros);
    const assay_unit_spec spec = unit_spec("conv", in, 2, &out);
    const int32_t x[4] = {255, 255, 1, 2}, w[4] = {127, 127, 3, 4};
    for (int i = 0; i < (int)(sizeof overflows / sizeof *overflows); i++) {
        char record[100];
        bool trapped = false;
        snprintf(record, sizeof record, "accumulator: {overflow: %s, saturate_pairs: yes}\n",
                 overflows[i]);
        assay_scheme *s = unit_scheme(record);
        assay_unit *u = unit_prepare(s, &spec);
        assert_int_equal(s->vt->accumulate(u, x, w, 4, 100, 0, 0, &trapped), 100 + 32767 + 11);
        assert_int_equal(s->vt->accumulate(u, x + 2, w + 2, 2, 100, 0, 0, &trapped), 100 + 11);
        assert_false(trapped);
        s->vt->release(u);
        assay_scheme_free(s);
    }
}

/* A scale too large for the shifts: what the rule says, before anything is rounded. */
static void large_scales(void **state)
{
    (void)state;
    static const struct {
        const char *record;
        int64_t multiplier, shift; /* as the target writes it */
    } list[] = {
        {"rescale: {shift_min: 31, below_shift_min: zero}\n", 0, 0},
        {"rescale: {shift_min: 31, below_shift_min: zero, zero_shift: 7}\n", 0, 7},
        {"rescale: {shift_min: 31, below_shift_min: largest}\n", INT32_MAX, 0},
    };
    const float one = 1, two = 2;
    assay_type in[2] = {code_type(8, true, &one, zeros), code_type(8, true, &two, zeros)};
    assay_type out = code_type(8, true, &one, zeros);
    const assay_unit_spec spec = unit_spec("conv", in, 2, &out);
    for (int i = 0; i < 3; i++) {
        assay_scheme *s = unit_scheme(list[i].record);
        assay_unit *u = unit_prepare(s, &spec);
        assert_int_equal(unit_param_at(s, u, "multiplier", 0), list[i].multiplier);
        assert_int_equal(unit_param_at(s, u, "shift", 0), list[i].shift);
        s->vt->release(u);
        assay_scheme_free(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums),         cmocka_unit_test(memories),
        cmocka_unit_test(exact_sums),   cmocka_unit_test(saturated_pairs),
        cmocka_unit_test(large_scales),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
