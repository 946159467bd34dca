/* Sums of many operands, multipliers under one shift, scales at the ends of the shifts, and floats
 * to codes in vectors. */
#include "test/support/support.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "interp/fast/isa.h"
#include "schemes/apply/unit.h"
#include "test/support/scheme_unit.h"

static const int32_t zeros[4] = {0, 0, 0, 0};

/* The sum of `count` codes, doubled by the output's scale: exact in every kind. */
static void many_operands(void **state)
{
    (void)state;
    static const struct {
        const char *record;
        int extra; /* zero points counted too often */
    } list[] = {{"", 0},
                {"add: {bits: 1}\n", 0},
                {"add: {bits: 0}\n", 0},
                {"add: {extra_zero_point: yes}\n", 1},
                {"add: {kind: float-ratio}\n", 0}};
    const float one = 1, half = 0.5f;
    const int32_t five = 5, seven = -7;
    const assay_type in = code_type(8, true, &one, &five), out = code_type(16, true, &half, &seven);
    const assay_unit_spec spec = unit_spec("add_n", &in, 1, &out);
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        assay_scheme *s = unit_scheme(list[i].record);
        assay_unit *u = unit_prepare(s, &spec);
        for (int32_t count = 1; count < 12; count++)
            for (int64_t sum = -128 * count; sum <= 127 * count; sum += 3) {
                int32_t y;
                s->vt->pool(u, &sum, &count, 1, &y);
                assert_int_equal(y, 2 * (sum - 5 * (count + list[i].extra)) - 7);
            }
        s->vt->release(u);
        assay_scheme_free(s);
    }
}

/* The ratio of a sum's scales has add.scale's precision: 24 bits of 31, or all of them. */
static void ratio_of_many(void **state)
{
    (void)state;
    const float tenth = 0.1f, third = 0.3f;
    const int32_t zero = 0;
    const assay_type in = code_type(8, true, &tenth, &zero),
                     out = code_type(8, true, &third, &zero);
    static const char *const op[] = {"add_n", "cumsum"};
    for (int i = 0; i < 4; i++) {
        const bool floats = i & 1;
        const assay_unit_spec spec = unit_spec(op[i / 2], &in, 1, &out);
        assay_scheme *s = unit_scheme(floats ? "add: {scale: float32}\n" : "");
        assay_unit *u = unit_prepare(s, &spec);
        size_t n;
        const double ratio = floats ? (double)(0.1f / 0.3f) : (double)0.1f / (double)0.3f;
        assert_int_equal(unit_param(s, u, "multiplier", &n)[0], llround(ldexp(ratio, 32)));
        s->vt->release(u);
        assay_scheme_free(s);
    }
}

/* The greatest scale of a layer takes all the bits; the others are rounded under its shift. */
static void one_shift(void **state)
{
    (void)state;
    const float one = 1;
    static const float scales[2][4] = {{0.3f, 1.5f, 0.01f, 1.4f}, {1e-30f, 1e-31f, 1e-32f, 1e-33f}};
    assay_scheme *s = unit_scheme("rescale: {common_shift: yes, multiplier_bits: 16, shift_sign: "
                                  "right}\n");
    for (int k = 0; k < 2; k++) {
        assay_type in[2] = {code_type(8, true, &one, zeros), code_type(8, true, &one, zeros)};
        const assay_type out = code_type(8, true, &one, zeros);
        in[1].dim[0] = 4;
        in[1].q = (assay_qparams){ASSAY_Q_AXIS, 0, 0, 4, scales[k], zeros};
        const assay_unit_spec spec = unit_spec("conv", in, 2, &out);
        assay_unit *u = unit_prepare(s, &spec);
        size_t n;
        const int64_t *m = unit_param(s, u, "multiplier", &n);
        const int64_t *shift = unit_param(s, u, "shift", &n);
        assert_int_equal(n, 4);
        for (int c = 0; c < 4; c++) {
            assert_int_equal(m[c], k == 0 ? llround(ldexp((double)scales[0][c], 15)) : 0);
            assert_int_equal(shift[c], k == 0 ? 15 : 0); /* beyond 2^-62 there is nothing */
        }
        s->vt->release(u);
    }
    assay_scheme_free(s);
}

static void check_shared(const char *rule, const int64_t *m, const int *shift)
{
    const float one = 1;
    static const float scales[3] = {0.5f, 0.0625f, 0.0009765625f};
    char text[200];
    size_t n;
    snprintf(text, sizeof text, "rescale: {common_shift: yes, shift_sign: right, %s}\n", rule);
    assay_scheme *s = unit_scheme(text);
    assay_type in[2] = {code_type(8, true, &one, zeros), code_type(8, true, &one, zeros)};
    const assay_type out = code_type(8, true, &one, zeros);
    in[1].dim[0] = 3;
    in[1].q = (assay_qparams){ASSAY_Q_AXIS, 0, 0, 3, scales, zeros};
    const assay_unit_spec spec = unit_spec("conv", in, 2, &out);
    assay_unit *u = unit_prepare(s, &spec);
    const int64_t *multiplier = unit_param(s, u, "multiplier", &n);
    const int64_t *right = unit_param(s, u, "shift", &n);
    for (int c = 0; c < 3; c++) {
        assert_int_equal(multiplier[c], m[c]);
        assert_int_equal(right[c], shift[c]);
    }
    s->vt->release(u);
    assay_scheme_free(s);
}

/* Where the shift is beyond its limits: below shift_min those that the multiplier's bits do not
 * hold under it are too large, the rest keep their values; beyond shift_max all lose what the
 * greatest loses. */
static void one_shift_at_its_limits(void **state)
{
    (void)state;
    static const struct {
        const char *rule;
        int64_t m[3];
        int shift[3];
    } rows[] = {
        {"multiplier_bits: 32, shift_min: 64, shift_max: 68, below_shift_min: largest",
         {0xffffffff, 0xffffffff, 0xffffffff},
         {64, 64, 64}},
        {"multiplier_bits: 16, shift_min: 19, below_shift_min: largest",
         {65535, 32768, 512},
         {19, 19, 19}},
        {"multiplier_bits: 16, shift_min: 20, below_shift_min: largest",
         {65535, 65535, 1024},
         {20, 20, 20}},
        {"multiplier_bits: 16, shift_min: 24, below_shift_min: largest",
         {65535, 65535, 16384},
         {24, 24, 24}},
        {"multiplier_bits: 16, shift_min: 20, below_shift_min: zero, zero_shift: 3",
         {0, 0, 1024},
         {3, 3, 20}},
        {"multiplier_bits: 16, shift_min: 19, below_shift_min: zero", {0, 32768, 512}, {0, 19, 19}},
        {"multiplier_bits: 16, shift_max: 18, beyond_shift_max: refuse",
         {32768, 4096, 64},
         {16, 16, 16}}, /* each alone: shifts of 16, 19 and 25 */
        {"multiplier_bits: 8, multiplier_round: ceil, shift_max: 4, beyond_shift_max: denormal",
         {8, 1, 0}, /* 128, 16 and 0.25, which is 1; without their last four bits */
         {4, 4, 4}},
        {"multiplier_bits: 8, multiplier_round: ceil, shift_max: 4, beyond_shift_max: unnormalised",
         {8, 1, 1},
         {4, 4, 4}},
        {"multiplier_bits: 8, shift_max: 4, beyond_shift_max: zero", {0, 0, 0}, {0, 0, 0}},
        {"multiplier_bits: 31, shift_min: 2, shift_max: 62, below_shift_min: tosa-generator",
         {INT64_C(1) << 30, INT64_C(1) << 27, INT64_C(1) << 21},
         {31, 31, 31}},
        {"multiplier_bits: 1, shift_min: 2, below_shift_min: tosa-generator",
         {0, 0, 0}, /* 1 at a shift of 1, halved */
         {2, 2, 2}},
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
        check_shared(rows[k].rule, rows[k].m, rows[k].shift);
}

static void last_shifts(void **state)
{
    (void)state;
    static const char tosa[] = "rescale: {shift_min: 2, shift_max: 62, below_shift_min: "
                               "tosa-generator, beyond_shift_max: tosa-generator, shift_sign: "
                               "right}\n";
    static const char tosa32[] = "rescale: {shift_min: 2, shift_max: 62, beyond_shift_max: "
                                 "tosa-generator, multiplier_bits: 32, shift_sign: right}\n";
    static const struct {
        const char *record;
        float s1, s2;
        int64_t multiplier, shift;
    } list[] = {
        {tosa, 0x1p-33f, 1, INT64_C(1) << 31, 62}, /* the one that the generator doubles */
        {tosa, 0x1.8p-33f, 1, 3 << 28, 62},
        {tosa, 0x1.8p-70f, 1, 0, 62},
        {tosa, 0x1.8p30f, 1, 3 << 27, 2}, /* shift 0: a quarter of it */
        {tosa, 0x1.8p29f, 1, 3 << 28, 2}, /* shift 1: half of it */
        {tosa32, 0x1.8p-65f, 1, 1, 62},   /* no more than 31 bits of 32 are lost */
        {"rescale: {scale: f32, shift_sign: right}\n", 1e-30f, 1e-30f, 0,
         0}, /* underflow: R is 0 */
    };
    const float one = 1;
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        assay_scheme *s = unit_scheme(list[i].record);
        const assay_type in[2] = {code_type(8, true, &list[i].s1, zeros),
                                  code_type(8, true, &list[i].s2, zeros)};
        const assay_type out = code_type(8, true, &one, zeros);
        const assay_unit_spec spec = unit_spec("conv", in, 2, &out);
        assay_unit *u = unit_prepare(s, &spec);
        size_t n;
        if (unit_param(s, u, "multiplier", &n)[0] != list[i].multiplier ||
            unit_param(s, u, "shift", &n)[0] != list[i].shift)
            fail_msg("%zu: %lld, %lld", i, (long long)unit_param(s, u, "multiplier", &n)[0],
                     (long long)unit_param(s, u, "shift", &n)[0]);
        s->vt->release(u);
        assay_scheme_free(s);
    }
}

/* ---- floats to codes ---- */

static float draw(test_rng *r, float scale)
{
    static const float ends[] = {NAN,    INFINITY, -INFINITY, 0.0f,    -0.0f,   3e38f,
                                 -3e38f, 1e-45f,   -1e-45f,   0x1p31f, -0x1p31f};
    switch (test_between(r, 0, 3)) {
    case 0:
        return ends[test_between(r, 0, 10)];
    case 1: /* halves */
        return (float)test_between(r, -600, 600) * 0.5f * scale;
    default:
        return (float)(test_unit(r) * 600 - 300) * scale;
    }
}

static void encodings(void **state)
{
    (void)state;
    static const enum assay_isa isas[] = {ASSAY_ISA_PORTABLE, ASSAY_ISA_AVX2, ASSAY_ISA_VNNI};
    static const char *const names[] = {"portable", "avx2", "vnni"};
    test_rng r = test_seed("encodings", 12);
    for (int k = 0; k < 2 * 8 * ASSAY_ROUND_COUNT; k++) {
        const char *mode = assay_rounding_name((enum assay_rounding)(k % ASSAY_ROUND_COUNT));
        const int form = k / ASSAY_ROUND_COUNT % 8;
        const bool tenth = k / ASSAY_ROUND_COUNT >= 8;
        const float scale = tenth ? 0.1f : 0.25f;
        const int32_t zero = tenth ? 33 : -5;
        char record[200];
        snprintf(record, sizeof record,
                 "convert: {round: %s, division: %s, zero_point: %s, nan: %s}\n", mode,
                 form & 1 ? "divide" : "reciprocal", form & 2 ? "inside" : "after",
                 form & 4 ? "least" : "zero-point");
        assay_scheme *s = unit_scheme(record);
        const assay_type in = {.elem = {ASSAY_KIND_F32, 32, true}, .rank = 1, .dim = {1}};
        const assay_type out = code_type(8, !tenth, &scale, &zero);
        const assay_unit_spec spec = unit_spec("quantize", &in, 1, &out);
        assay_unit *u = unit_prepare(s, &spec);
        for (int i = 0; i < 3; i++) {
            const assay_isa_kernels *kernels;
            float x[203];
            uint32_t bits[203];
            int32_t want[203];
            uint8_t got[204] = {0};
            assay_encode_fn encode = s->vt->simd->encode(u, isas[i]);
            if (fast_isa_choose(names[i], &kernels, NULL) != ASSAY_OK)
                continue;
            assert_non_null(encode);
            for (int j = 0; j < 203; j++)
                x[j] = draw(&r, scale);
            memcpy(bits, x, sizeof bits);
            s->vt->quantize(u, bits, 203, 0, want);
            encode(u, x, 203, got);
            for (int j = 0; j < 203; j++)
                if (got[j] != (uint8_t)want[j])
                    fail_msg("%s %s: %a is %d, in vectors %d", record, names[i], (double)x[j],
                             (uint8_t)want[j], got[j]);
            assert_int_equal(got[203], 0);
        }
        s->vt->release(u);
        assay_scheme_free(s);
    }
}

/* Codes, zero points and scales that a vector of float32 does not hold have no such form. */
static void not_encoded(void **state)
{
    (void)state;
    static const struct {
        unsigned bits;
        bool is_signed;
        float scale;
        int32_t zero;
        int64_t changed; /* float bits that take the place of the scale's; 0: none */
        bool encoded;
    } list[] = {
        {8, true, 0.5f, 3, 0, true},       {18, true, 0.5f, 3, 0, false},
        {18, false, 0.5f, 3, 0, false},    {8, true, 0.5f, 70000, 0, false},
        {8, true, 0.5f, -70000, 0, false}, {8, true, 0.5f, 3, 0x7f800001, false},
        {8, true, 0.5f, 3, -1, false},     {8, true, 0.5f, 3, 0x7f800000, false},
    };
    assay_scheme *s = unit_scheme("convert: {division: reciprocal}\n");
    const assay_type in = {.elem = {ASSAY_KIND_F32, 32, true}, .rank = 1, .dim = {1}};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        const assay_type out =
            code_type(list[i].bits, list[i].is_signed, &list[i].scale, &list[i].zero);
        const assay_unit_spec spec = unit_spec("quantize", &in, 1, &out);
        assay_unit *u = unit_prepare(s, &spec);
        assay_unit copy = *u;
        if (list[i].changed != 0)
            copy.scale[ASSAY_OUT].scale = &list[i].changed;
        if ((s->vt->simd->encode(&copy, ASSAY_ISA_PORTABLE) != NULL) != list[i].encoded)
            fail_msg("case %zu", i);
        copy.scale[ASSAY_OUT].n = 2; /* by channel */
        assert_null(s->vt->simd->encode(&copy, ASSAY_ISA_PORTABLE));
        copy.scale[ASSAY_OUT].n = 1;
        copy.rec.convert.division = ASSAY_QUANTIZE_DIVIDE_F64;
        assert_null(s->vt->simd->encode(&copy, ASSAY_ISA_PORTABLE));
        s->vt->release(u);
    }
    assay_scheme_free(s);
}

/* ---- what a file says of fusing and of narrow weights ---- */

static void statements(void **state)
{
    (void)state;
    assay_scheme_caps caps;
    assay_scheme plugin = {.name = "p"};
    assay_scheme *s =
        unit_scheme("unfused_ops: [conv]\nwide_unfused_ops: [fc]\nnarrow_unfused_ops: [fc]\n"
                    "mixed_unfused_ops: [conv]\nclamped_unfused_ops: [fc]\n"
                    "bare_unfused_ops: [fc]\nconvert: {merge_pairs: yes, group_narrow_floats: no}\n"
                    "types: {weight_bits: 1}\n");
    assert_false(assay_scheme_fuses(s, "conv", 8));
    assert_true(assay_scheme_fuses(s, "conv", 16));
    assert_true(assay_scheme_fuses(s, "fc", 8));
    assert_false(assay_scheme_fuses(s, "fc", 16));
    assert_true(assay_scheme_fuses_narrow(s, "conv"));
    assert_false(assay_scheme_fuses_narrow(s, "fc"));
    assert_true(assay_scheme_fuses_narrow(s, "nothing"));
    assert_true(assay_scheme_fuses_narrow(&plugin, "fc"));
    assert_false(assay_scheme_fuses_mixed(s, "conv"));
    assert_true(assay_scheme_fuses_mixed(s, "fc"));
    assert_true(assay_scheme_fuses_clamped(s, "conv"));
    assert_false(assay_scheme_fuses_clamped(s, "fc"));
    assert_true(assay_scheme_fuses_bare(s, "conv"));
    assert_false(assay_scheme_fuses_bare(s, "fc"));
    assert_true(assay_scheme_merges_pairs(s));
    assert_false(assay_scheme_merges_pairs(&plugin));
    assert_false(assay_scheme_groups_narrow_floats(s));
    assert_true(assay_scheme_groups_narrow_floats(&plugin));
    assert_true(assay_scheme_fuses_mixed(s, "nothing"));
    assert_true(assay_scheme_fuses_mixed(&plugin, "conv"));
    assert_true(assay_scheme_fuses(s, "nothing", 8));
    assert_true(assay_scheme_fuses(&plugin, "conv", 8));
    assay_scheme_get_caps(s, &caps);
    assert_false(caps.weight_narrow); /* one bit has no code to spare */
    assay_scheme_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_operands), cmocka_unit_test(ratio_of_many),
        cmocka_unit_test(one_shift),     cmocka_unit_test(one_shift_at_its_limits),
        cmocka_unit_test(last_shifts),   cmocka_unit_test(encodings),
        cmocka_unit_test(not_encoded),   cmocka_unit_test(statements)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
