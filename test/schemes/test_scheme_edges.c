/* The edges of a record's arithmetic: offsets before scaling, multipliers that lose all their bits,
 * values of more than 62 bits, ops that a class does not know. */
#include "test/support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schemes/derive/derive.h"
#include "schemes/rescale/batch.h"
#include "test/support/scheme_unit.h"

/* One rescale to a signed type of `bits` bits. */
static int64_t code_of(const char *record, int64_t acc, double scale, int64_t zero, unsigned bits)
{
    assay_scheme *s = unit_scheme(record);
    assay_error err = {0};
    int64_t out;
    const assay_batch b = {.n = 1,
                           .type = {ASSAY_KIND_INT, (uint8_t)bits, true},
                           .acc = &acc,
                           .scale = &scale,
                           .zero_point = &zero};
    assert_ok(assay_scheme_batch_apply(s, &b, &out, NULL, &err), &err);
    assay_scheme_free(s);
    return out;
}

/* NVDLA SDP: (x - offset) * scale >> truncate, nothing added after (schemes/SOURCES.md). */
static void offset_first(void **state)
{
    (void)state;
    static const char before[] = "rescale: {zero_point: before, left_shift: product, round: "
                                 "[half-up], sum_bits: 0}\n";
    static const char pre[] =
        "rescale: {zero_point: before, pre_shift: fixed, pre_shift_bits: 2, left_shift: product, "
        "round: [half-up], sum_bits: 0}\n";
    assert_int_equal(code_of(before, -6, 0.25, 5, 8), -3); /* -11 / 4 = -2.75 */
    assert_int_equal(code_of(before, 1000, 0.25, 900, 8), 25);
    assert_int_equal(code_of(before, 5, 0.25, 5, 8), 0);
    assert_int_equal(code_of(before, INT64_MIN, 0.25, 5, 8), -128);
    assert_int_equal(code_of(pre, 15, 0.5, 1, 8), 6); /* 14 >> 2 = 3, times 2 */
    assert_int_equal(code_of("extends: nvdla\n", 1000, 0.0625, 500, 8), 31); /* 31.25 */
}

/* A network's node takes the device's own offset, of the accumulator. */
static void given_offset(void **state)
{
    (void)state;
    const float one = 1;
    const int32_t zero = 0, five = 5;
    assay_scheme *s =
        unit_scheme("rescale: {zero_point: before, left_shift: product, round: [floor], "
                    "shift_sign: right}\nnodes: {node: {given: {multiplier: 1, shift: 3, "
                    "zero_point: -40}}}\n");
    const assay_type in[2] = {code_type(8, true, &one, &zero), code_type(8, true, &one, &zero)};
    const assay_type out = code_type(8, true, &one, &five);
    const assay_unit_spec spec = unit_spec("conv", in, 2, &out);
    assay_unit *u = unit_prepare(s, &spec);
    const int64_t acc[3] = {0, 7, -80};
    int32_t code[3];
    s->vt->requantize(u, acc, 3, 0, code);
    assert_int_equal(code[0], 5); /* 40 / 8 */
    assert_int_equal(code[1], 5);
    assert_int_equal(code[2], -5);
    s->vt->release(u);
    assay_scheme_free(s);
}

/* A multiplier of 15 bits that loses `lost` of them, rounded by every mode. */
static void denormals(void **state)
{
    (void)state;
    test_rng rng = test_seed("denormals", 14);
    for (int i = 0; i < 9 * 400; i++) {
        const enum assay_rounding mode = (enum assay_rounding)(i % 9);
        const int64_t m = test_between(&rng, 1 << 14, (1 << 15) - 1);
        const int lost = i % 5 ? (int)test_between(&rng, 1, 18) : (int)test_between(&rng, 1, 900);
        char record[200];
        snprintf(record, sizeof record,
                 "rescale: {multiplier_bits: 15, shift_max: 15, beyond_shift_max: denormal, "
                 "denormal_round: %s, left_shift: product, round: [floor], shift_sign: right}\n",
                 assay_rounding_name(mode));
        assay_scheme *s = unit_scheme(record);
        assay_error err = {0};
        const double real = ldexp((double)m, -15 - lost);
        const double exact = ldexp((double)m, -lost), low = floor(exact), rest = exact - low;
        const bool odd = fmod(low, 2) != 0;
        const bool up[9] = {rest >= 0.5,
                            rest >= 0.5,
                            rest > 0.5 || (rest == 0.5 && odd),
                            rest > 0.5,
                            false,
                            false,
                            rest > 0,
                            rest > 0 && !odd,
                            rest > 0};
        int64_t multiplier, shift;
        assert_ok(assay_scheme_batch_derive(s, NULL, false, &real, 1, &multiplier, &shift, NULL,
                                            NULL, &err),
                  &err);
        if (multiplier != (int64_t)low + up[mode] || shift != 15)
            fail_msg("%lld less %d bits %s: %lld, shift %lld", (long long)m, lost,
                     assay_rounding_name(mode), (long long)multiplier, (long long)shift);
        assay_scheme_free(s);
    }
}

/* x * 2^20 of x up to 2^50: what wraps keeps the low bits, what saturates the sign. */
static void wide_values(void **state)
{
    (void)state;
#define WIDE "rescale: {left_shift: product, round: [half-up], "
    test_rng rng = test_seed("wide", 15);
    for (int i = 0; i < 200; i++) {
        const int64_t x = test_between(&rng, -(INT64_C(1) << 50), INT64_C(1) << 50);
        const int64_t max = x > 0 ? INT32_MAX : INT32_MIN;
        const uint64_t low = (uint64_t)x << 20;
        assert_int_equal(code_of(WIDE "sum_bits: 32, store: wrap}\n", x, 0x1p20, 0, 32),
                         (int32_t)(uint32_t)low);
        assert_int_equal(code_of(WIDE "sum_bits: 0, store: wrap}\n", x, 0x1p20, 3, 32),
                         (int32_t)((uint32_t)low + 3));
        assert_int_equal(code_of(WIDE "result_bits: 32, sum_bits: 32}\n", x, 0x1p20, 0, 32), max);
        assert_int_equal(code_of(WIDE "result_bits: 64, result_overflow: wrap, sum_bits: 0}\n", x,
                                 0x1p20, 0, 32),
                         (int64_t)low > INT32_MAX   ? INT32_MAX
                         : (int64_t)low < INT32_MIN ? INT32_MIN
                                                    : (int64_t)low);
        assert_int_equal(code_of(WIDE "sum_bits: 32, store: wrap}\n", x, 0x1p100, 7, 8), 7);
        assert_int_equal(code_of(WIDE "sum_bits: 0}\n", x, 0x1p100, 7, 32), max);
    }
}

/* A class of ops that support.c gives an op which it does not know. */
static void unknown_ops(void **state)
{
    (void)state;
    static const struct {
        assay_status (*derive)(const assay_derive *d);
        enum assay_op op;
    } list[] = {{derive_table, ASSAY_OP_CONV}, {derive_unary, ASSAY_OP_EXP},
                {derive_binary, ASSAY_OP_ADD}, {derive_add, ASSAY_OP_MUL},
                {derive_pool, ASSAY_OP_ADD_N}, {derive_logistic, ASSAY_OP_EXP},
                {derive_row, ASSAY_OP_CUMSUM}};
    const float one = 1;
    const int32_t zero = 0;
    assay_scheme *s = unit_scheme("");
    const assay_type in[2] = {code_type(8, true, &one, &zero), code_type(8, true, &one, &zero)};
    const assay_type out = code_type(8, true, &one, &zero);
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        const char *name = assay_op_get(list[i].op)->name;
        const assay_unit_spec spec = unit_spec(name, in, 2, &out);
        assay_unit *u = calloc(1, sizeof *u);
        assay_error err = {0};
        char expected[100];
        assert_non_null(u);
        u->op = list[i].op;
        u->rec = assay_data(s)->base;
        for (int k = 0; k < 3; k++)
            u->scale[k].rule = &u->rec.rescale;
        const assay_derive d = {u, &spec, s, &err};
        assert_int_equal(list[i].derive(&d), ASSAY_ERR_SCHEME);
        snprintf(expected, sizeof expected,
                 "scheme t, node node (%s): no arithmetic of this op is known", name);
        assert_string_equal(err.text, expected);
        derive_unit_release(u);
    }
    assay_scheme_free(s);
}

/* No op of a table has the identity for it, but those that keep their value. */
static void tables_differ(void **state)
{
    (void)state;
    const float scale = 0.125f, out_scale = 0.25f;
    const int32_t zero = 0;
    assay_scheme *s = unit_scheme("table: {kind: full}\n");
    const assay_type in = code_type(8, true, &scale, &zero);
    const assay_type out = code_type(8, true, &out_scale, &zero);
    for (int op = 0; op < ASSAY_OP_COUNT; op++) {
        if (derive_class_of((enum assay_op)op).derive != derive_table)
            continue;
        assay_unit_spec spec = unit_spec(assay_op_get((enum assay_op)op)->name, &in, 1, &out);
        spec.alpha = 0.5;
        assay_unit *u = unit_prepare(s, &spec);
        int differs = 0;
        for (int32_t q = -128; q < 128; q++) {
            const int64_t same = assay_round_div(q, 2, ASSAY_ROUND_HALF_AWAY);
            int32_t code;
            s->vt->unary(u, &q, 1, &code);
            differs += code != same;
        }
        if (differs == 0)
            fail_msg("%s is the identity", spec.op);
        s->vt->release(u);
    }
    assay_scheme_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(offset_first), cmocka_unit_test(denormals),
        cmocka_unit_test(given_offset), cmocka_unit_test(wide_values),
        cmocka_unit_test(unknown_ops),  cmocka_unit_test(tables_differ)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
