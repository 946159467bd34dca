/* schemes/apply/fixedpoint.h against vectors that gemmlowp's and TensorFlow Lite Micro's own code
 * gave (the full files under ASSAY_SHARED when they are there, else the compact copies in
 * test/vectors), and against the worked values of the targets' documentation. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "schemes/apply/fixedpoint.h"
#include "test/support/npz.h"
#include "test/support/support.h"

static struct npz *vectors(const char *relative)
{
    struct npz *z = npz_vectors(relative);
    assert_non_null(z);
    return z;
}

static const int64_t *column(struct npz *z, const char *name, size_t *count)
{
    const int64_t *c = npz_i64(z, name, count, NULL);
    assert_non_null(c);
    return c;
}

/* got == column[i] for all rows; the functions under test are named by the caller. */
#define EXPECT_ROWS(z, name, got)                                                                  \
    do {                                                                                           \
        size_t rows;                                                                               \
        const int64_t *want = column(z, name, &rows);                                              \
        for (size_t i = 0; i < rows; i++) {                                                        \
            int64_t value = (got);                                                                 \
            if (value != want[i])                                                                  \
                fail_msg("%s row %zu: got %" PRId64 ", target %" PRId64, name, i, value, want[i]); \
        }                                                                                          \
        print_message("# %s: %zu tuples\n", name, rows);                                           \
    } while (0)

static void gemmlowp_primitives(void **unused)
{
    (void)unused;
    struct npz *z = vectors("gemmlowp/fixedpoint_primitives.npz");
    size_t n;
    const int64_t *a = column(z, "a", &n), *b = column(z, "b", &n);
    const int64_t *e = column(z, "exponent", &n);
    const int64_t *a16 = column(z, "a16", &n), *b16 = column(z, "b16", &n);
    EXPECT_ROWS(z, "srdhm", apply_srdhm((int32_t)a[i], (int32_t)b[i]));
    EXPECT_ROWS(z, "rdbpot", apply_rdbp((int32_t)a[i], (unsigned)e[i]));
    EXPECT_ROWS(z, "rounding_half_sum", apply_rhs((int32_t)a[i], (int32_t)b[i]));
    EXPECT_ROWS(z, "srdhm16", apply_srdhm16((int16_t)a16[i], (int16_t)b16[i]));
    EXPECT_ROWS(z, "srmbpot_m12", apply_srmbp((int32_t)a[i], -12));
    EXPECT_ROWS(z, "srmbpot_m5", apply_srmbp((int32_t)a[i], -5));
    EXPECT_ROWS(z, "srmbpot_m1", apply_srmbp((int32_t)a[i], -1));
    EXPECT_ROWS(z, "srmbpot_p1", apply_srmbp((int32_t)a[i], 1));
    EXPECT_ROWS(z, "srmbpot_p5", apply_srmbp((int32_t)a[i], 5));
    EXPECT_ROWS(z, "srmbpot_p12", apply_srmbp((int32_t)a[i], 12));
    npz_close(z);
}

static void gemmlowp_functions32(void **unused)
{
    (void)unused;
    struct npz *z = vectors("gemmlowp/fixedpoint_transcendental_int32.npz");
    size_t n;
    const int64_t *neg = column(z, "x_neg", &n), *quarter = column(z, "x_quarter", &n);
    const int64_t *x = column(z, "x", &n), *pos = column(z, "x_pos", &n);
    EXPECT_ROWS(z, "exp_q5", apply_fixed_exp_negative((int32_t)neg[i], 5));
    EXPECT_ROWS(z, "exp_q0", apply_fixed_exp_negative((int32_t)neg[i], 0));
    EXPECT_ROWS(z, "exp_quarter", apply_fixed_exp_quarter((int32_t)quarter[i]));
    EXPECT_ROWS(z, "logistic_q4", apply_fixed_logistic((int32_t)x[i], 4));
    EXPECT_ROWS(z, "tanh_q4", apply_fixed_tanh((int32_t)x[i], 4));
    EXPECT_ROWS(z, "one_over_one_plus_x", apply_fixed_one_over_one_plus((int32_t)pos[i]));
    npz_close(z);
}

static void gemmlowp_functions16(void **unused)
{
    (void)unused;
    struct npz *z = vectors("gemmlowp/fixedpoint_transcendental_int16.npz");
    EXPECT_ROWS(z, "logistic_q3", apply_fixed16_logistic((int16_t)((int)i - 32768), 3));
    EXPECT_ROWS(z, "tanh_q3", apply_fixed16_tanh((int16_t)((int)i - 32768), 3));
    EXPECT_ROWS(z, "exp_neg_q3", apply_fixed16_exp_negative((int16_t)((int)i - 32768), 3));
    npz_close(z);
}

/* TFLM int8: the argument is rescaled to F_4, the result rounded to 8 bits. */
static void int8_logistic_tanh(void **unused)
{
    (void)unused;
    struct npz *z = vectors("tflite-ops/logistic_tanh_int8_double.npz");
    size_t n;
    const double *scale = npz_f64(z, "in_scale", &n, NULL);
    const int64_t *zp = column(z, "in_zp", &n), *logistic = column(z, "logistic", &n);
    const int64_t *tanh8 = column(z, "tanh", &n);
    assert_non_null(scale);
    for (size_t i = 0; i < n; i++) {
        size_t combo = i / 256;
        int left;
        double fraction = frexp(scale[combo] * 134217728.0, &left); /* 2^27: F_4 */
        int32_t m = (int32_t)round(fraction * 2147483648.0);
        int64_t radius = (int64_t)floor(15 * 134217728.0 / ldexp(1, left));
        int64_t x = (int64_t)(i % 256) - 128 - zp[combo];
        int64_t l = -128, t = -128;
        if (x >= radius) {
            l = t = 127;
        } else if (x > -radius) {
            int32_t a = apply_mbqm_double((int32_t)x, m, left);
            l = apply_saturate(apply_rdbp(apply_fixed_logistic(a, 4), 23) - 128, 8);
            t = apply_saturate(apply_rdbp(apply_fixed_tanh(a, 4), 24), 8);
        }
        if (l != logistic[i] || t != tanh8[i])
            fail_msg("combo %zu, x %" PRId64 ": got %" PRId64 " %" PRId64 ", target %" PRId64
                     " %" PRId64,
                     combo, x, l, t, logistic[i], tanh8[i]);
    }
    print_message("# logistic, tanh int8: %zu tuples each\n", n);
    npz_close(z);
}

/* TFLM int16: scales in the order of the vector file's header. */
static void int16_logistic_tanh(void **unused)
{
    (void)unused;
    static const double scales[] = {0x1p-15, 0x1p-12,          0x1p-14,
                                    0x1p-12, 0x1p-14,          0.0005f,
                                    0.001f,  0.00018310546875, 0.0003265380801167339};
    struct npz *z = vectors("tflite-ops/logistic_tanh_int16.npz");
    for (unsigned k = 0; k < 9; k++) {
        int exponent;
        int power = frexp(scales[k], &exponent) == 0.5, log2_units = exponent - 1 + 12;
        for (int tanh16 = 0; tanh16 < 2; tanh16++) {
            int32_t m;
            unsigned shift = 0;
            if (power && (log2_units == 0 || (tanh16 && log2_units == 1))) {
                m = 3 << log2_units;
            } else {
                double v = scales[k] * 4096 * 3;
                for (; v <= 16383.5 && shift < 31; shift++)
                    v *= 2;
                m = (int32_t)v;
            }
            char name[16];
            snprintf(name, sizeof name, "%s_%u", tanh16 ? "tanh" : "logistic", k);
            size_t n;
            column(z, name, &n); /* every input, or each 16th in the compact copy */
            size_t step = 65536 / n;
            EXPECT_ROWS(z, name,
                        (tanh16 ? apply_table_tanh16 : apply_table_logistic16)(
                            (int16_t)((int)(i * step) - 32768), m, shift, NULL));
        }
    }
    npz_close(z);
}

/* L2 normalisation: each code times the inverse root of the sum of squares, to scale 1/128. */
static void int8_l2_normalization(void **unused)
{
    (void)unused;
    static const int32_t zp[] = {0, 0, 0, 3, -100, -128, 127};
    struct npz *z = vectors("tflite-ops/l2_normalization_int8.npz");
    size_t total = 0;
    for (unsigned k = 0; k < 7; k++) {
        char in[8], out[8];
        snprintf(in, sizeof in, "in_%u", k);
        snprintf(out, sizeof out, "out_%u", k);
        size_t n;
        struct npz_shape shape;
        const int64_t *x = npz_i64(z, in, &n, &shape), *want = npz_i64(z, out, &n, NULL);
        assert_non_null(x);
        assert_non_null(want);
        size_t depth = shape.dim[shape.ndim - 1];
        for (size_t row = 0; row < n; row += depth) {
            int32_t sum = 0;
            int shift;
            for (size_t i = row; i < row + depth; i++)
                sum += (int32_t)((x[i] - zp[k]) * (x[i] - zp[k]));
            int32_t m = apply_fixed_inverse_sqrt(sum, &shift);
            for (size_t i = row; i < row + depth; i++) {
                int32_t y = apply_mbqm_double((int32_t)x[i] - zp[k], m, shift + 7);
                assert_int_equal(apply_saturate(y, 8), want[i]);
            }
        }
        total += n;
    }
    print_message("# l2 normalisation: %zu tuples\n", total);
    npz_close(z);
}

/* Worked values computed from the targets' headers (arithmetic notes, sections 2.2 and 10). For
 * 6028 the table there has 24 under two half-up roundings, but its formula gives 25: the first
 * rounding makes 3136, and 3136 / 2^7 = 24.5 is a tie, which goes up. */
static void multiplier_table(void **unused)
{
    (void)unused;
    static const struct {
        int32_t x, m;
        int shift;
        int32_t twice, single, half_up;
    } rows[] = {
        {12345, 1117186560, -7, 50, 50, 50},
        {6028, 1117186560, -7, 25, 24, 25},
        {-6028, 1117186560, -7, -25, -24, -24},
        {1, 1288490240, -1, 1, 0, 1},
        {-1, 1288490240, -1, -1, 0, 0},
        {1, 1073741824, -1, 1, 0, 1},
        {-2, 1073741824, -1, -1, 0, 0},
        {-1, 1073741824, 0, 0, 0, 0},
        {135, 2034096512, -8, 1, 0, 1},
        {(1 << 28) - 1, 1073741824, 3, 1073741820, 1073741820, 1073741820},
        {1 << 28, 1073741824, 3, -1073741824, 1073741824, -1073741824},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(apply_mbqm_double(rows[i].x, rows[i].m, rows[i].shift), rows[i].twice);
        assert_int_equal(apply_mbqm_single(rows[i].x, rows[i].m, rows[i].shift), rows[i].single);
        assert_int_equal(apply_mbqm_half_up(rows[i].x, rows[i].m, rows[i].shift), rows[i].half_up);
    }
    assert_int_equal(apply_reduce_multiplier16(1690499128), 25795);
    assert_int_equal(apply_mbqm64(100000, 1690499128, -6), 1230);
    assert_int_equal(apply_mbqm64(-100000, 1690499128, -6), -1230);
    assert_int_equal(apply_mbqm64(2000000000, 1690499128, -6), 24600029);
    assert_int_equal(apply_mbqm64((INT64_C(1) << 33) + 12345, 1690499128, -6), 105656472);
    assert_int_equal(apply_reduce_multiplier16(2147483433), 32767);
    assert_int_equal(apply_mbqm64(-100000, 2147483433, 0), -99997);
    assert_int_equal(apply_mbqm64(2000000000, 2147483433, 0), 1999938965);
}

static void reciprocal_root_logarithm(void **unused)
{
    (void)unused;
    static const struct {
        int32_t x, m;
        int bits;
    } reciprocals[] = {{1 << 19, 2147483647, 0},   {(1 << 19) + 1, 2147479552, 0},
                       {1 << 20, 2147483647, 1},   {3 << 19, 1431655762, 1},
                       {123456789, 1167333038, 7}, {INT32_MAX, 1073741820, 11}};
    static const struct {
        int32_t x, m;
        int shift;
    } roots[] = {{0, 2147483647, 0},
                 {1, 2147483647, 0},
                 {2, 1518498372, 0},
                 {3, 1239850284, 0},
                 {4, 1073741828, 0},
                 {100, 214748363, 0},
                 {65025, 269488147, -5},
                 {1000000, 274877901, -7},
                 {1 << 29, 379624593, -12},
                 {INT32_MAX, 189812531, -12},
                 /* just below the range that is divided by 4 first */ {268447801, 268429280, -11},
                 {302315675, 252946979, -11},
                 {331742579, 241467802, -11},
                 {536870911, 189812531, -11}};
    static const struct {
        int32_t x, log;
    } logarithms[] = {{1 << 19, 0},        {(1 << 19) + 1, 128}, {1 << 20, 46516320},
                      {1425117, 67106720}, {1 << 22, 139548960}, {INT32_MAX, 558195838}};
    int got;
    for (size_t i = 0; i < sizeof reciprocals / sizeof reciprocals[0]; i++) {
        assert_int_equal(apply_fixed_reciprocal(reciprocals[i].x, 12, &got), reciprocals[i].m);
        assert_int_equal(got, reciprocals[i].bits);
    }
    for (size_t i = 0; i < sizeof roots / sizeof roots[0]; i++) {
        assert_int_equal(apply_fixed_inverse_sqrt(roots[i].x, &got), roots[i].m);
        assert_int_equal(got, roots[i].shift);
    }
    for (size_t i = 0; i < sizeof logarithms / sizeof logarithms[0]; i++)
        assert_int_equal(apply_fixed_log(logarithms[i].x, 12, 5), logarithms[i].log);
}

static void function_table(void **unused)
{
    (void)unused;
    static const int32_t exp5[][2] = {{0, 2147483647},
                                      {-1, 2147483124},
                                      {-(1 << 20), 2114189749},
                                      {-(1 << 24), 1672462419},
                                      {-((1 << 25) + 12345), 1302274797},
                                      {-(1 << 26), 790015308},
                                      {-(3 << 26), 106916946},
                                      {-(1 << 29), 720401},
                                      {-(1 << 30), 242},
                                      {INT32_MIN, 0}};
    for (size_t i = 0; i < sizeof exp5 / sizeof exp5[0]; i++)
        assert_int_equal(apply_fixed_exp_negative(exp5[i][0], 5), exp5[i][1]);
    static const int32_t exp4[][2] = {{-1, 2147483140},
                                      {-(1 << 27), 790015308},
                                      {-(1 << 28), 290630390},
                                      {-200000000, 483927985},
                                      {-1000000000, 1247912}};
    for (size_t i = 0; i < sizeof exp4 / sizeof exp4[0]; i++)
        assert_int_equal(apply_fixed_exp_negative(exp4[i][0], 4), exp4[i][1]);
    static const int32_t ratio[][2] = {{0, 2147483647},
                                       {1 << 29, 1288490180},
                                       {1 << 30, 715827876},
                                       {1500000000, 381210912},
                                       {INT32_MAX, -8}};
    for (size_t i = 0; i < sizeof ratio / sizeof ratio[0]; i++)
        assert_int_equal(apply_fixed_one_minus_over_one_plus(ratio[i][0]), ratio[i][1]);
    /* the same real number in F_5 and F_6; beyond -32 the exponential is cut off where the format
     * reaches that far */
    for (int32_t a = INT32_MIN / 2; a <= 0; a += 9973)
        assert_int_equal(apply_fixed_exp_negative(a, 6), apply_fixed_exp_negative(2 * a, 5));
    assert_int_equal(apply_fixed_exp_negative(-(1 << 30) - 1, 6), 0);
    assert_int_equal(apply_fixed16_exp_negative(INT16_MIN, 6), 0);
}

static void tables_and_counts(void **unused)
{
    (void)unused;
    static const int16_t xs[] = {-32768, -4096, -1, 0, 1, 4096, 12345, 32767};
    static const int16_t logistic[] = {11, 8812, 16382, 16384, 16386, 23956, 31234, 32757};
    static const int16_t tanh16[] = {-32767, -24956, -8, 0, 8, 24956, 32611, 32767};
    for (unsigned i = 0; i < 8; i++) {
        assert_int_equal(apply_table_logistic16(xs[i], 3, 0, NULL), logistic[i]);
        assert_int_equal(apply_table_tanh16(xs[i], 3, 0, NULL), tanh16[i]);
    }
    assert_int_equal(apply_table_logistic16(4096, 30198, 13, NULL), 25349);
    assert_int_equal(apply_table_tanh16(-4096, 30198, 13, NULL), -27598);
    /* a straight table is reproduced, and a jump is interpolated by floor(slope * o / 128 + 1/2) */
    int16_t lut[513];
    for (int i = 0; i <= 512; i++)
        lut[i] = (int16_t)(i == 512 ? 32767 : 128 * (i - 256));
    for (int x = -32768; x < 32767 - 127; x++)
        assert_int_equal(apply_table_lookup16((int16_t)x, lut), x);
    lut[256] = 0, lut[257] = -3;
    assert_int_equal(apply_table_lookup16(64, lut), -1); /* -1.5 */
    assert_int_equal(apply_table_lookup16(21, lut), 0);  /* -0.492 */
    assert_int_equal(apply_clz32(0), 32);
    assert_int_equal(apply_clz32(1), 31);
    assert_int_equal(apply_clz64(0), 64);
    assert_int_equal(apply_clz64(INT64_MAX), 1);
    assert_int_equal(apply_sign_bits32(0), 31);
    assert_int_equal(apply_sign_bits32(-1), 31);
    assert_int_equal(apply_sign_bits32(INT32_MIN), 0);
    assert_int_equal(apply_sign_bits32(0x3fffffff), 1);
    assert_int_equal(apply_wshl(-3, 31), INT32_MIN);
    assert_int_equal(apply_wshl(1, 32), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gemmlowp_primitives),  cmocka_unit_test(gemmlowp_functions32),
        cmocka_unit_test(gemmlowp_functions16), cmocka_unit_test(int8_logistic_tanh),
        cmocka_unit_test(int16_logistic_tanh),  cmocka_unit_test(int8_l2_normalization),
        cmocka_unit_test(multiplier_table),     cmocka_unit_test(reciprocal_root_logarithm),
        cmocka_unit_test(function_table),       cmocka_unit_test(tables_and_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
