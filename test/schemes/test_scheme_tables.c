/* Tables of functions and rows that walk them, where the presets' vectors do not reach: the other
 * precision, 16-bit codes, sums that leave their register. */
#include "test/support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/core/attr.h"
#include "schemes/apply/unit.h"
#include "test/support/scheme_unit.h"

typedef struct made {
    assay_scheme *scheme;
    assay_unit *unit;
    assay_type in, out;
    float s_in, s_out;
    int32_t z_in, z_out;
} made;

typedef struct node {
    const char *record, *op;
    unsigned bits_in, bits_out;
    float s_in, s_out;
    int32_t z_in, z_out;
    int64_t flag, depth;
} node;

static void make(made *m, const node *n, bool in_signed)
{
    char text[300];
    assay_error err = {0};
    *m = (made){.s_in = n->s_in, .s_out = n->s_out, .z_in = n->z_in, .z_out = n->z_out};
    m->in = code_type(n->bits_in, in_signed, &m->s_in, &m->z_in);
    m->out = code_type(n->bits_out, true, &m->s_out, &m->z_out);
    snprintf(text, sizeof text, "scheme: t\n%s", n->record);
    assert_ok(assay_scheme_parse("t", text, strlen(text), &m->scheme, &err), &err);
    assay_unit_spec spec = unit_spec(n->op, &m->in, 1, &m->out);
    spec.flag = n->flag;
    spec.depth = n->depth;
    assert_ok(m->scheme->vt->prepare(m->scheme, &spec, &m->unit, &err), &err);
}

static void drop(made *m)
{
    m->scheme->vt->release(m->unit);
    assay_scheme_free(m->scheme);
}

static double gelu_ref(double x)
{
    return 0.5 * x * (1 + tanh(sqrt(2 / acos(-1)) * (x + 0.044715 * x * x * x)));
}
static double relu_ref(double x)
{
    return fmax(x, 0);
}
static double hard_swish_ref(double x)
{
    return x * fmin(fmax(x + 3, 0), 6) / 6;
}
static double same_ref(double x)
{
    return x;
}

/* Every code, within `units` of the real function's nearest. */
static void functions(void **state)
{
    (void)state;
    static const struct {
        node node;
        double (*f)(double);
        double units;
    } list[] = {
        {{"table: {precision: float64}\n", "gelu", 8, 8, 0.05f, 0.05f, 3, -7, ASSAY_GELU_TANH, 0},
         gelu_ref,
         0.51},
        {{"", "gelu", 8, 8, 0.05f, 0.05f, 3, -7, ASSAY_GELU_TANH, 0}, gelu_ref, 0.51},
        {{"unary: {rescale: table}\n", "relu", 8, 8, 0.05f, 0.04f, 3, -7, 0, 0}, relu_ref, 0.51},
        {{"unary: {rescale: table}\n", "relu", 8, 8, 0.05f, 0.04f, 3, -128, 0, 0}, relu_ref, 0.51},
        /* codes moved by the difference of the zero points */
        {{"", "relu", 8, 8, 0.05f, 0.05f, 3, -7, 0, 0}, relu_ref, 0.01},
        {{"", "relu", 17, 17, 0.05f, 0.04f, 3, -7, 0, 0}, relu_ref, 0.51},
        {{"unary: {rescale: table}\n", "rescale", 16, 8, 0.05f, 0.04f, 3, -7, 0, 0},
         same_ref,
         0.51},
        /* s_in / s_out / 128 just below a power of two: the 16-bit multiplier is 32767 */
        {{"unary: {hard_swish: fixed-point}\n", "hard_swish", 8, 8, 0.0624999f, 0.125f, 3, -7, 0,
          0},
         hard_swish_ref,
         1.51},
    };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        made m;
        make(&m, &list[i].node, true);
        const int64_t half = INT64_C(1) << (list[i].node.bits_in - 1);
        const double top = ldexp(1, (int)list[i].node.bits_out - 1);
        for (int64_t q = -half; q < half; q++) {
            const int32_t code = (int32_t)q;
            int32_t y;
            m.scheme->vt->unary(m.unit, &code, 1, &y);
            double x = (double)m.s_in * (double)(q - m.z_in);
            double want = list[i].f(x) / (double)m.s_out + m.z_out;
            want = fmin(fmax(want, -top), top - 1);
            if (!(fabs(y - want) <= list[i].units))
                fail_msg("%zu: %s(%g): %d, expected %g", i, list[i].node.op, x, y, want);
        }
        drop(&m);
    }
}

/* 513 points are for signed 16-bit codes in and 16 bits out; else one entry per code. Both
 * precisions and both forms are close to the function. */
static void interpolation(void **state)
{
    (void)state;
    static const struct {
        node node;
        bool in_signed;
        size_t entries;
    } list[] = {
        {{"table: {kind: interpolated-513}\n", "tanh", 16, 16, 0x1p-12f, 0x1p-15f, 0, 0, 0, 0},
         true,
         513},
        {{"table: {kind: interpolated-513, precision: float64}\n", "tanh", 16, 16, 0x1p-12f,
          0x1p-15f, 0, 0, 0, 0},
         true,
         513},
        {{"table: {kind: interpolated-513}\n", "tanh", 16, 16, 0x1p-13f, 0x1p-15f, 32768, 0, 0, 0},
         false,
         65536},
        {{"table: {kind: interpolated-513}\n", "tanh", 16, 8, 0x1p-12f, 0x1p-7f, 0, 0, 0, 0},
         true,
         65536},
        {{"table: {kind: full}\n", "tanh", 16, 16, 0x1p-12f, 0x1p-15f, 0, 0, 0, 0}, true, 65536},
        {{"table: {kind: interpolated-513}\n", "tanh", 8, 16, 0x1p-4f, 0x1p-15f, 0, 0, 0, 0},
         true,
         256},
    };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        made m;
        size_t entries;
        make(&m, &list[i].node, list[i].in_signed);
        unit_param(m.scheme, m.unit, "table", &entries);
        assert_int_equal(entries, list[i].entries);
        const int64_t n = INT64_C(1) << list[i].node.bits_in, lo = list[i].in_signed ? -n / 2 : 0;
        for (int64_t q = lo; q < lo + n; q += 7) {
            const int32_t code = (int32_t)q;
            int32_t y;
            m.scheme->vt->unary(m.unit, &code, 1, &y);
            double want = tanh((double)m.s_in * (double)(q - m.z_in)) / (double)m.s_out;
            /* 512 steps of 65535 / 512 codes, read as 128 each: TFLite's own drift */
            double allowed = entries == 513 ? 8 : 0.51;
            if (!(fabs(y - fmin(want, 1 / (double)m.s_out - 1)) <= allowed))
                fail_msg("%zu: tanh of code %lld: %d, expected %g", i, (long long)q, y, want);
        }
        drop(&m);
    }
}

/* The argument times 3 in 3 + 12 bits: scales of 2^-12 (and for tanh 2^-11) are used as they are,
 * others as a multiplier of at most 15 bits that is shifted at most 31 places. */
static void wide_logistic(void **state)
{
    (void)state;
    static const struct {
        const char *op;
        float s;
        int64_t multiplier, shift;
    } list[] = {
        {"sigmoid", 0x1p-12f, 3, 0},      {"tanh", 0x1p-12f, 3, 0},
        {"sigmoid", 0x1p-11f, 24576, 12}, {"tanh", 0x1p-11f, 6, 0},
        {"tanh", 0x1p-10f, 24576, 11},    {"sigmoid", 0x1p-13f, 24576, 14},
        {"tanh", 0x3p-13f, 18432, 12},    {"tanh", 0x1p-45f, 0, 31},
    };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        const node n = {"unary: {logistic: fixed-point}\n",
                        list[i].op,
                        16,
                        16,
                        list[i].s,
                        0x1p-15f,
                        0,
                        0,
                        0,
                        0};
        made m;
        size_t count;
        make(&m, &n, true);
        const int64_t *k = unit_param(m.scheme, m.unit, "constants", &count);
        assert_int_equal(count, 2);
        assert_int_equal(k[0], list[i].multiplier);
        assert_int_equal(k[1], list[i].shift);
        drop(&m);
    }
}

/* int16 softmax in both precisions: table entries within a step of the function's, sums of the
 * probabilities near 1. */
static void wide_softmax(void **state)
{
    (void)state;
    static const char *const records[] = {"softmax: {kind: lut-16}\ntable: {precision: float32}\n",
                                          "softmax: {kind: lut-16}\ntable: {precision: float64}\n"};
    test_rng rng = test_seed("wide_softmax", 4);
    for (int i = 0; i < (int)(sizeof records / sizeof *records); i++) {
        const node n = {records[i], "softmax", 16, 16, 0x1p-11f, 0x1p-15f, 0, 0, 0, 24};
        made m;
        size_t count;
        int32_t x[24], y[24];
        make(&m, &n, true);
        const int64_t *exps = unit_param(m.scheme, m.unit, "table_exp", &count);
        assert_int_equal(count, 513);
        for (int e = 0; e < 513; e++)
            assert_true(fabs((double)exps[e] - fmin(32768 * exp(-10 + e / 51.2), 32767)) <= 4);
        for (int row = 0; row < 200; row++) {
            double total = 0;
            int64_t sum = 0;
            for (int j = 0; j < 24; j++)
                x[j] = (int32_t)test_between(&rng, -10000, 10000);
            m.scheme->vt->row(m.unit, x, 24, y);
            for (int j = 0; j < 24; j++)
                total += exp(x[j] / 2048.0);
            for (int j = 0; j < 24; j++) {
                assert_true(fabs(y[j] - 32768 * exp(x[j] / 2048.0) / total) < 12);
                sum += y[j];
            }
            assert_in_range(sum, 32768 - 200, 32768 + 200);
        }
        drop(&m);
    }
}

/* Rows so long that the sum leaves its register: the target's own arithmetic goes on with what is
 * left, and so do we, without a shift by a negative number. */
static void long_rows(void **state)
{
    (void)state;
    static const node fixed = {
        "softmax: {kind: fixed-point}\n", "softmax", 8, 8, 0.125f, 0x1p-8f, 0, -128, 0, 4096};
    static const node wide = {
        "softmax: {kind: lut-16}\n", "softmax", 16, 16, 0x1p-11f, 0x1p-15f, 0, 0, 0, 70000};
    int32_t *x = calloc(140000, sizeof *x), *y = calloc(140000, sizeof *y);
    made m;
    assert_non_null(x);
    assert_non_null(y);
    /* 4095 exponentials of 2^19 stay below 2^31, 4096 wrap to INT32_MIN: no reciprocal, all 0. */
    make(&m, &fixed, true);
    m.scheme->vt->row(m.unit, x, 4095, y);
    assert_int_equal(y[0], -128); /* 1 / 4095 is less than half a step of 1 / 256 */
    m.scheme->vt->row(m.unit, x, 4096, y);
    for (int i = 0; i < 4096; i++)
        assert_int_equal(y[i], -128);
    m.scheme->vt->row(m.unit, x, 4, y);
    assert_int_equal(y[3], -64);             /* 1/4 */
    const int32_t far[3] = {127, -127, 127}; /* beyond 31 / 0.125 nothing counts */
    m.scheme->vt->row(m.unit, far, 3, y);
    assert_int_equal(y[0], 0);
    assert_int_equal(y[1], -128);
    assert_int_equal(y[2], 0);
    drop(&m);
    /* 70,000 of 32767 are negative in 32 bits; 131,076 and a 4 more are 2^32, hence 0. */
    make(&m, &wide, true);
    m.scheme->vt->row(m.unit, x, 2, y);
    assert_in_range(y[0], 16384 - 2, 16384 + 2);
    m.scheme->vt->row(m.unit, x, 70000, y);
    for (int i = 0; i < 70000; i++)
        assert_in_range(y[i], 0, 32767);
    drop(&m);
    free(x);
    free(y);
}

/* MLAS: in a row of one or two the numerator overflows float32, the conversion gives INT32_MIN, and
 * that plus the zero point wraps: signed codes are clamped then, unsigned ones its low bits. */
static void overflowing_quotients(void **state)
{
    (void)state;
    static const struct {
        bool is_signed;
        int32_t zero, code;
    } list[] = {{true, 5, -128}, {true, 0, -128}, {true, -5, 127}, {false, 5, 5}, {false, 0, 0}};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        const float s_in = 0.125f, s_out = 0x1p-8f;
        const int32_t z_in = 0, x[24] = {0};
        assay_type in = code_type(8, true, &s_in, &z_in);
        assay_type out = code_type(8, list[i].is_signed, &s_out, &list[i].zero);
        assay_error err = {0};
        assay_scheme *s;
        assay_unit *u;
        static const char text[] = "scheme: t\nsoftmax: {kind: float-sum}\n";
        int32_t y[24];
        assert_ok(assay_scheme_parse("t", text, strlen(text), &s, &err), &err);
        assay_unit_spec spec = unit_spec("softmax", &in, 1, &out);
        spec.depth = 1;
        assert_ok(s->vt->prepare(s, &spec, &u, &err), &err);
        s->vt->row(u, x, 1, y);
        assert_int_equal(y[0], list[i].code);
        s->vt->release(u);
        spec.depth = 24; /* long enough: 256 / 24 */
        assert_ok(s->vt->prepare(s, &spec, &u, &err), &err);
        s->vt->row(u, x, 24, y);
        assert_int_equal(y[23], 11 + list[i].zero);
        s->vt->release(u);
        assay_scheme_free(s);
    }
}

/* Log softmax within a step of the real one, from rows that one code rules (their log is 0) to rows
 * of equal codes. */
static void log_rows(void **state)
{
    (void)state;
    static const node n = {
        "softmax: {log_softmax: yes}\n", "log_softmax", 8, 8, 0.12f, 0x1p-4f, 3, 127, 0, 24};
    test_rng rng = test_seed("log_rows", 11);
    made m;
    make(&m, &n, true);
    for (int row = 0; row < 500; row++) {
        int32_t x[24], y[24];
        double total = 0;
        const int64_t spread = row < 256 ? row : 255;
        for (int j = 0; j < 24; j++)
            x[j] = (int32_t)test_between(&rng, -128, -128 + (row % 3 ? spread : 0));
        x[row % 24] = (int32_t)(-128 + spread);
        for (int j = 0; j < 24; j++)
            total += exp(x[j] * 0.12);
        m.scheme->vt->row(m.unit, x, 24, y);
        for (int j = 0; j < 24; j++) {
            double want = (x[j] * 0.12 - log(total)) * 16 + 127;
            if (!(fabs(y[j] - fmax(want, -128)) <= 1))
                fail_msg("row %d, element %d: %d, expected %g", row, j, y[j], want);
        }
    }
    drop(&m);
}

/* A row of unknown length is a row of one: the same table. */
static void unknown_depth(void **state)
{
    (void)state;
    made m[2];
    const int64_t *table[2];
    size_t count[2];
    for (int i = 0; i < 2; i++) {
        const node n = {
            "softmax: {kind: integer-table}\n", "softmax", 8, 8, 0.125f, 0x1p-8f, 0, -128, 0, i};
        make(&m[i], &n, true);
        table[i] = unit_param(m[i].scheme, m[i].unit, "table", &count[i]);
        assert_int_equal(count[i], 256);
    }
    assert_memory_equal(table[0], table[1], 256 * sizeof **table);
    assert_int_equal(table[0][0], 8388607);
    drop(&m[0]);
    drop(&m[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions),     cmocka_unit_test(interpolation),
        cmocka_unit_test(wide_logistic), cmocka_unit_test(wide_softmax),
        cmocka_unit_test(long_rows),     cmocka_unit_test(log_rows),
        cmocka_unit_test(unknown_depth), cmocka_unit_test(overflowing_quotients)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
