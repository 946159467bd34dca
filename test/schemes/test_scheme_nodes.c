/* Parts of a prepared node, beyond the presets: given multipliers, the record in force for a
 * node's form, outputs that the target fixes, sums kept as they are. */
#include "test/support/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/core/type.h"
#include "schemes/derive/derive.h"
#include "schemes/prepare/asks.h"
#include "test/support/scheme_unit.h"

static const int32_t zeros[4] = {0, 0, 0, 0};

/* A compiler's own numbers, in each convention of shifts, one for all channels or one each. The
 * rule is half up, once: (acc * m + 2^(s-1)) >> s, then the device's zero point. */
static void given(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int sign, offset; /* what the target writes: sign * (right shift) + offset */
    } told[] = {{"right", 1, 0},
                {"left-of-multiplier", -1, 31},
                {"right-of-multiplier", 1, -31},
                {"left", -1, 0}};
    const int shift[2] = {34, 37};
    const int64_t m[2] = {1300000001, 1610612737}, acc[2] = {123457, 123457};
    const float one = 1, ones[2] = {1, 1};
    const int32_t three = 3;
    assay_type in[2] = {code_type(8, true, &one, zeros), code_type(8, true, &one, zeros)};
    assay_type out = code_type(8, true, &one, &three);
    in[1].dim[0] = 2;
    in[1].q = (assay_qparams){ASSAY_Q_AXIS, 0, 0, 2, ones, zeros};
    for (int i = 0; i < 8; i++) {
        const int n = 1 + i % 2, k = i / 2;
        char record[512], list[2][64];
        int written[2];
        for (int c = 0; c < 2; c++)
            written[c] = told[k].sign * shift[c] + told[k].offset;
        snprintf(list[0], 64, n > 1 ? "[%lld, %lld]" : "%lld", (long long)m[0], (long long)m[1]);
        snprintf(list[1], 64, n > 1 ? "[%d, %d]" : "%d", written[0], written[1]);
        snprintf(record, sizeof record,
                 "rescale: {round: [half-up], left_shift: product, shift_sign: %s}\n"
                 "nodes:\n  other: {given: {multiplier: 1, shift: 1}}\n"
                 "  node: {given: {multiplier: %s, shift: %s, zero_point: -7}}\n",
                 told[k].name, list[0], list[1]);
        assay_scheme *s = unit_scheme(record);
        assay_unit_spec spec = unit_spec("conv", in, 2, &out);
        assay_unit *u = unit_prepare(s, &spec);
        int32_t y[2];
        s->vt->requantize(u, acc, 2, 0, y);
        for (int c = 0; c < 2; c++) {
            const int at = n > 1 ? c : 0;
            __int128 v = (__int128)acc[c] * m[at] + ((__int128)1 << (shift[at] - 1));
            int64_t code = (int64_t)(v >> shift[at]) - 7;
            assert_int_equal(y[c], code > 127 ? 127 : code);
        }
        assert_int_equal(unit_param_at(s, u, "zero_point", 0), -7);
        assert_int_equal(unit_param_at(s, u, "shift", 0), written[0]);
        s->vt->release(u);
        spec.node = "another"; /* derives its own: R = 1 = 2^30 / 2^30 */
        u = unit_prepare(s, &spec);
        assert_int_equal(unit_param_at(s, u, "zero_point", 0), 3);
        assert_int_equal(unit_param_at(s, u, "multiplier", 0), INT64_C(1) << 30);
        assert_int_equal(unit_param_at(s, u, "shift", 0), told[k].sign * 30 + told[k].offset);
        s->vt->release(u);
        assay_scheme_free(s);
    }
}

/* A scheme of a record that was made: its fields and multipliers are in force, its likeness's are
 * not; what changes no bits of a node is told from what does. */
static void made_records(void **state)
{
    char node[] = "node";
    int64_t m = INT64_C(1) << 29, shift = 30;
    const assay_precomputed given = {.node = node, .n = 1, .multiplier = &m, .shift = &shift};
    const float one = 1;
    const assay_type in[2] = {code_type(8, true, &one, zeros), code_type(8, true, &one, zeros)};
    const assay_type out = code_type(8, true, &one, zeros);
    const assay_unit_spec spec = unit_spec("conv", in, 2, &out);
    assay_scheme *like = unit_scheme("rescale: {round: [half-up], shift_sign: right}\n"), *s[4];
    assay_record r = assay_data(like)->base;
    assay_error err = {0};
    (void)state;
    assert_ok(assay_scheme_of_record(like, &r, NULL, &s[0], &err), &err);
    assert_ok(assay_scheme_of_record(like, &r, &given, &s[1], &err), &err);
    r.softmax.kind = ASSAY_SOFTMAX_FLOAT_TABLE; /* which conv does not read */
    assert_ok(assay_scheme_of_record(like, &r, NULL, &s[2], &err), &err);
    r.rescale.round.step[0].mode = ASSAY_ROUND_FLOOR;
    assert_ok(assay_scheme_of_record(like, &r, NULL, &s[3], &err), &err);
    const int64_t acc = 5, want[4] = {5, 3, 5, 5}; /* 5 / 2 half up */
    for (int i = 0; i < 4; i++) {
        assay_unit *u = unit_prepare(s[i], &spec);
        int32_t y;
        s[i]->vt->requantize(u, &acc, 1, 0, &y);
        assert_int_equal(y, want[i]);
        assert_int_equal(assay_reads_same(like, s[i], &spec), i == 0 || i == 2);
        assert_int_equal(assay_reads_same(s[i], like, &spec), i == 0 || i == 2);
        s[i]->vt->release(u);
    }
    r.rescale.multiplier_bits = 0;
    assay_scheme *none;
    assert_int_equal(assay_scheme_of_record(like, &r, NULL, &none, &err), ASSAY_ERR_SCHEME);
    assert_null(none);
    assert_string_equal(err.text,
                        "scheme t: rescale.reduced_bits 0 must be less than multiplier_bits 0");
    for (int i = 0; i < 4; i++)
        assay_scheme_free(s[i]);
    assay_scheme_free(like);
}

static int accumulator_bits(const assay_scheme *s, const char *op, unsigned bits,
                            unsigned bias_bits, bool is_signed, int n_in, int64_t group)
{
    const float one = 1;
    assay_type in[3] = {
        code_type(bits, is_signed, &one, zeros), code_type(8, true, &one, zeros), {.rank = 0}};
    if (bias_bits > 0)
        in[2] = code_type(bias_bits, true, &one, zeros);
    assay_type out = code_type(bits, is_signed, &one, zeros);
    assay_unit_spec spec = unit_spec(op, in, n_in, &out);
    spec.flag = group;
    assay_unit *u = unit_prepare(s, &spec);
    int found = u->rec.accumulator.bits;
    s->vt->release(u);
    return found;
}

/* 16-bit activations: the accumulator of conv and fc follows the bias (TFLM conv.cc, measured on
 * grouped ones too), that of a grouped conv without one and all else is wide. Unsigned codes and
 * unsigned depthwise nodes have overrides of their own. */
static void forms(void **state)
{
    (void)state;
    static const char *const spelled[] = {
        "wide: {accumulator: {bits: 48}}\n"
        "unsigned_ops: {conv: {accumulator: {bits: 30}}}\n"
        "unsigned_depthwise: {accumulator: {bits: 29}}\n",
        "wide: {accumulator: {bits: 48}}\n"
        "unsigned_ops: {depthwise: {accumulator: {bits: 29}}, conv: {accumulator: {bits: 30}}}\n"};
    static const struct {
        const char *op;
        unsigned bits, bias_bits; /* 0: the input is there, but absent */
        bool is_signed;
        int n_in;
        int64_t group;
        int accumulator;
    } cases[] = {
        {"conv", 8, 32, true, 3, 1, 32},   {"conv", 16, 32, true, 3, 1, 32},
        {"conv", 16, 64, true, 3, 1, 48},  {"conv", 16, 0, true, 3, 1, 32},
        {"conv", 16, 0, true, 2, 1, 32},   {"conv", 16, 32, true, 3, 4, 32},
        {"conv", 16, 64, true, 3, 4, 48},  {"conv", 16, 0, true, 2, 4, 48},
        {"fc", 16, 64, true, 3, 0, 48},    {"fc", 16, 32, true, 3, 0, 32},
        {"matmul", 16, 0, true, 2, 0, 48}, {"conv", 8, 32, false, 3, 1, 30},
        {"conv", 8, 32, false, 3, 4, 29},  {"fc", 8, 32, false, 3, 4, 32},
    };
    assay_scheme *s[] = {unit_scheme(spelled[0]), unit_scheme(spelled[1])};
    for (size_t i = 0; i < 2 * (sizeof cases / sizeof *cases); i++) {
        const size_t k = i / 2;
        int bits = accumulator_bits(s[i % 2], cases[k].op, cases[k].bits, cases[k].bias_bits,
                                    cases[k].is_signed, cases[k].n_in, cases[k].group);
        if (bits != cases[k].accumulator)
            fail_msg("case %zu: %d bits", k, bits);
    }
    assert_string_equal(s[0]->text, s[1]->text);
    assay_scheme_free(s[1]);
    assay_scheme_free(s[0]);
}

/* Depthwise stands beside the ops and wins over conv in the same key, in whichever order the file
 * has them; later keys win over earlier ones. */
static void depthwise(void **state)
{
    (void)state;
    assay_scheme *s = unit_scheme(
        "ops: {depthwise: {accumulator: {bits: 31}}, conv: {accumulator: {bits: 30}}}\n"
        "wide_ops: {depthwise: {accumulator: {bits: 41}}, conv: {accumulator: {bits: 40}}}\n"
        "unsigned_ops: {conv: {accumulator: {bits: 29}}}\n");
    assay_error err = {0};
    assay_scheme *again;
    assert_int_equal(accumulator_bits(s, "conv", 8, 32, true, 3, 1), 30);
    assert_int_equal(accumulator_bits(s, "conv", 8, 32, true, 3, 4), 31);
    assert_int_equal(accumulator_bits(s, "conv", 16, 64, true, 3, 1), 40);
    assert_int_equal(accumulator_bits(s, "conv", 16, 64, true, 3, 4), 41);
    assert_int_equal(accumulator_bits(s, "conv", 8, 32, false, 3, 4), 29);
    assert_int_equal(accumulator_bits(s, "conv_transpose", 8, 32, true, 3, 4), 32);
    assert_non_null(
        strstr(s->text, "ops:\n  conv:\n    accumulator:\n      bits: 30\n  depthwise:\n"));
    assert_ok(assay_scheme_parse("again", s->text, strlen(s->text), &again, &err), &err);
    assert_string_equal(s->text, again->text);
    assay_scheme_free(again);
    assay_scheme_free(s);
}

static void fixed_outputs(void **state)
{
    (void)state;
    assay_scheme *all = unit_scheme("unary: {logistic: fixed-point}\n"
                                    "softmax: {kind: fixed-point, log_softmax: yes, l2_norm: "
                                    "newton-inverse-sqrt}\n");
    assay_scheme *none = unit_scheme("");
    static const struct {
        const char *op;
        unsigned bits;
        bool is_signed;
        float scale;
        int32_t zero;
    } cases[] = {
        {"sigmoid", 8, true, 0x1p-8f, -128},    {"sigmoid", 8, false, 0x1p-8f, 0},
        {"sigmoid", 16, true, 0x1p-15f, 0},     {"tanh", 8, true, 0x1p-7f, 0},
        {"tanh", 8, false, 0x1p-7f, 128},       {"tanh", 16, true, 0x1p-15f, 0},
        {"softmax", 8, true, 0x1p-8f, -128},    {"softmax", 16, true, 0x1p-15f, 0},
        {"log_softmax", 8, true, 0x1p-4f, 127}, {"l2_norm", 8, true, 0x1p-7f, 0},
        {"l2_norm", 8, false, 0x1p-7f, 128},
    };
    float scale;
    int32_t zero;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const assay_elem e = assay_int(cases[i].bits, cases[i].is_signed);
        assert_true(assay_scheme_fixed_output(all, cases[i].op, e, &scale, &zero));
        assert_true(scale == cases[i].scale);
        assert_int_equal(zero, cases[i].zero);
        assert_false(assay_scheme_fixed_output(none, cases[i].op, e, &scale, &zero));
    }
    assert_false(assay_scheme_fixed_output(all, "conv", assay_int(8, true), &scale, &zero));
    assay_scheme_free(all);
    assay_scheme_free(none);
}

/* MLAS walks broadcast operands in runs; constants[3] tells whether the first is a single element
 * in them. */
static void broadcast_runs(void **state)
{
    (void)state;
    static const struct {
        int rank_a, rank_b;
        int64_t a[3], b[3];
        int single;
    } cases[] = {
        {1, 1, {4}, {4}, 0},
        {1, 1, {1}, {4}, 1},
        {1, 1, {4}, {1}, 0},
        {1, 1, {1}, {1}, 1},
        {3, 1, {2, 3, 1}, {1}, 0},
        {1, 3, {1}, {2, 3, 1}, 1},
        {3, 3, {2, 1, 1}, {2, 3, 1}, 1},
        {0, 1, {0}, {4}, 1},
        {0, 0, {0}, {0}, 1},
        {2, 3, {3, 1}, {2, 1, 1}, 0},
    };
    const float one = 1;
    assay_scheme *s = unit_scheme("add: {kind: float-scaled, fused: yes}\n");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assay_type in[2] = {code_type(8, true, &one, zeros), code_type(8, true, &one, zeros)};
        assay_type out = code_type(8, true, &one, zeros);
        in[0].rank = cases[i].rank_a;
        in[1].rank = cases[i].rank_b;
        memcpy(in[0].dim, cases[i].a, sizeof cases[i].a);
        memcpy(in[1].dim, cases[i].b, sizeof cases[i].b);
        assay_unit_spec spec = unit_spec("add", in, 2, &out);
        assay_unit *u = unit_prepare(s, &spec);
        if (unit_param_at(s, u, "constants", 3) != cases[i].single)
            fail_msg("case %zu", i);
        s->vt->release(u);
    }
    assay_scheme_free(s);
}

/* Zero points may be left out; params() writes no more than it is asked for. */
static void absent_zero_points(void **state)
{
    (void)state;
    const float half = 0.5f;
    assay_type in = code_type(8, true, &half, NULL), out = {.elem = assay_f32()};
    assay_scheme *s = unit_scheme("");
    assay_unit_spec spec = unit_spec("dequantize", &in, 1, &out);
    assay_unit *u = unit_prepare(s, &spec);
    const int32_t q = 3;
    uint32_t bits;
    s->vt->dequantize(u, &q, 1, 0, &bits);
    assert_int_equal(bits, 0x3fc00000); /* 1.5f */
    assay_unit_param list[2] = {{"untouched", 7, NULL}, {"untouched", 7, NULL}};
    assert_true(s->vt->params(u, list, 1) > 1);
    assert_string_not_equal(list[0].name, "untouched");
    assert_string_equal(list[1].name, "untouched");
    s->vt->release(u);
    s->vt->release(NULL); /* as free(NULL) */
    assay_scheme_free(s);
}

/* A relu by thresholds counts from its own least code: 2 * x, and none below the zero point. */
static void relu_by_thresholds(void **state)
{
    (void)state;
    const float two = 1.0f, half = 0.5f;
    const int32_t zero = -1;
    assay_type in = code_type(8, true, &two, NULL), out = code_type(8, true, &half, &zero);
    assay_scheme *s = unit_scheme("extends: finn-threshold\n");
    assay_unit_spec spec = unit_spec("relu", &in, 1, &out);
    assay_unit *u = unit_prepare(s, &spec);
    const int32_t x[5] = {-128, -1, 0, 5, 127}, expected[5] = {-1, -1, -1, 9, 127};
    int32_t y[5];
    s->vt->unary(u, x, 5, y);
    assert_memory_equal(y, expected, sizeof y);
    s->vt->release(u);
    assay_scheme_free(s);
}

/* A relu ends at the zero point of its output's type: of (x - 3) / 2 below 0, and of x / 2 + 3
 * below -1. */
static void relu_of_given(void **state)
{
    (void)state;
    static const struct {
        const char *record;
        int32_t zero, y[4];
    } list[] = {{"rescale: {zero_point: before, round: [half-up]}\n", 0, {0, 0, 4, 62}},
                {"rescale: {round: [half-up]}\n", -1, {-1, 1, 8, 67}}};
    const float one = 1.0f, two = 2.0f;
    const int32_t x[4] = {-128, -4, 10, 127};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        char record[200];
        snprintf(record, sizeof record,
                 "%snodes: {node: {given: {multiplier: 1073741824, shift: 0, zero_point: 3}}}\n",
                 list[i].record);
        assay_type in = code_type(8, true, &one, NULL),
                   out = code_type(8, true, &two, &list[i].zero);
        assay_scheme *s = unit_scheme(record);
        assay_unit_spec spec = unit_spec("relu", &in, 1, &out);
        assay_unit *u = unit_prepare(s, &spec);
        int32_t y[4];
        s->vt->unary(u, x, 4, y);
        assert_memory_equal(y, list[i].y, sizeof y);
        s->vt->release(u);
        assay_scheme_free(s);
    }
}

/* What is given to a node of which only its network tells the op. */
static void unread(void **state)
{
    (void)state;
    const float one = 1;
    const assay_type in[2] = {code_type(8, true, &one, zeros), code_type(8, true, &one, zeros)};
    const assay_type out = code_type(8, true, &one, zeros);
    const assay_unit_spec conv = unit_spec("conv", in, 2, &out),
                          pool = unit_spec("avg_pool", in, 1, &out);
    assay_scheme *s = unit_scheme("nodes: {node: {pool: {round: floor}}}\n");
    assay_unit *u = unit_prepare(s, &pool);
    assay_error err = {0};
    s->vt->release(u);
    assert_refused(s->vt->prepare(s, &conv, &u, &err), &err,
                   "node 'node': scheme t gives it pool.round, which conv does not read");
    assay_scheme_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(given),
        cmocka_unit_test(made_records),
        cmocka_unit_test(forms),
        cmocka_unit_test(depthwise),
        cmocka_unit_test(fixed_outputs),
        cmocka_unit_test(broadcast_runs),
        cmocka_unit_test(absent_zero_points),
        cmocka_unit_test(relu_by_thresholds),
        cmocka_unit_test(relu_of_given),
        cmocka_unit_test(unread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
