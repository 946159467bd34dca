/* schemes/apply/softfloat.c against the floating-point hardware, which must be IEEE 754 in round to
 * nearest even. Operands: random bit patterns, random products of an int32 by a scale, and all
 * pairs of edge values.
 *
 * `test_softfloat` tries about a million random operand tuples an operation; `test_softfloat N`
 * tries N million, and every operand where there is one of 32 bits (./dev sweep: hundreds). Two
 * NaNs are equal. */
#include <fenv.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "schemes/apply/softfloat.h"
#include "test/support/roundings.h"
#include "test/support/support.h"

static uint64_t trials = 1000000;
static test_rng rng;

static uint64_t random64(void)
{
    return test_random(&rng);
}

static float as_float(uint32_t bits)
{
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}
static double as_double(uint64_t bits)
{
    double d;
    memcpy(&d, &bits, sizeof d);
    return d;
}
static uint32_t bits_of_float(float f)
{
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return isnan(f) ? ASSAY_F32_NAN : bits;
}
static uint64_t bits_of_double(double d)
{
    uint64_t bits;
    memcpy(&bits, &d, sizeof bits);
    return isnan(d) ? ASSAY_F64_NAN : bits;
}

/* ---- operands ---- */

/* Fields of exponents and fractions whose combinations are the edges of a format. */
static const uint64_t fractions[] = {0, 1, 2, 3, 5};
enum { EDGE_FRACTIONS = 3 * 5, EDGE_EXPONENTS = 18, EDGES = 2 * EDGE_FRACTIONS * EDGE_EXPONENTS };

/* The i-th edge of a format with p - 1 fraction bits and e exponent bits. */
static uint64_t edge(unsigned i, unsigned fraction_bits, unsigned exponent_bits)
{
    uint64_t all = ((uint64_t)1 << fraction_bits) - 1, ones = ((uint64_t)1 << exponent_bits) - 1;
    uint64_t near[EDGE_EXPONENTS] = {
        0,
        1,
        2,
        ones,
        ones - 1,
        ones - 2,
        ones / 2 - fraction_bits - 1,
        ones / 2 - 2,
        ones / 2 - 1,
        ones / 2,
        ones / 2 + 1,
        ones / 2 + fraction_bits - 1,
        ones / 2 + fraction_bits,
        ones / 2 + fraction_bits + 1,
        ones / 2 + 31,
        ones / 2 + 62,
        ones / 2 + 63,
        ones / 4,
    };
    uint64_t sign = i & 1, exponent = near[i / 2 % EDGE_EXPONENTS];
    unsigned k = i / 2 / EDGE_EXPONENTS;
    uint64_t fraction = k < 5    ? fractions[k]
                        : k < 10 ? all - fractions[k - 5]
                                 : ((all >> 1) + fractions[k - 10]) & all;
    return sign << (fraction_bits + exponent_bits) | exponent << fraction_bits | fraction;
}

/* Random encodings; every other one has an exponent near `anchor`, so that sums and products meet,
 * and short fractions are frequent, so that ties and exact results occur. */
static uint64_t operand(unsigned fraction_bits, unsigned exponent_bits, uint64_t anchor)
{
    uint64_t r = random64(), choice = random64();
    uint64_t width = fraction_bits + exponent_bits;
    uint64_t bits = r & (((uint64_t)2 << width) - 1);
    uint64_t all = ((uint64_t)1 << fraction_bits) - 1, ones = ((uint64_t)1 << exponent_bits) - 1;
    if (choice & 1) {
        uint64_t exponent = (anchor + (choice >> 8) % 64 - 32) & ones;
        bits = (bits & ~(ones << fraction_bits)) | exponent << fraction_bits;
    }
    if (choice & 2)
        bits &= ~all | all << (choice >> 16) % (fraction_bits + 1);
    if (choice & 4)
        bits |= all >> (choice >> 24) % (fraction_bits + 1);
    return bits;
}
static uint32_t operand32(void)
{
    return (uint32_t)operand(23, 8, 127);
}
static uint64_t operand64(void)
{
    return operand(52, 11, 1023);
}

/* Calls check(a, b, c) on all pairs of edges, each with a varying third, and on random operands. */
static void on_f32(void (*check)(uint32_t, uint32_t, uint32_t))
{
    rng = test_seed("softfloat", 20261121);
    for (unsigned i = 0; i < EDGES; i++)
        for (unsigned j = 0; j < EDGES; j++)
            check((uint32_t)edge(i, 23, 8), (uint32_t)edge(j, 23, 8),
                  (uint32_t)edge((unsigned)(random64() % EDGES), 23, 8));
    for (uint64_t i = 0; i < trials; i++) {
        uint32_t a = operand32(), b = operand32(), c = operand32();
        check(a, b, c);
        /* an addend that cancels the product but for its last bits */
        check(a, b, bits_of_float(-(as_float(a) * as_float(b))) + (c & 3) - 1);
    }
}
static void on_f64(void (*check)(uint64_t, uint64_t, uint64_t))
{
    rng = test_seed("softfloat", 20261121);
    for (unsigned i = 0; i < EDGES; i++)
        for (unsigned j = 0; j < EDGES; j++)
            check(edge(i, 52, 11), edge(j, 52, 11), edge((unsigned)(random64() % EDGES), 52, 11));
    for (uint64_t i = 0; i < trials; i++) {
        uint64_t a = operand64(), b = operand64(), c = operand64();
        check(a, b, c);
        check(a, b, bits_of_double(-(as_double(a) * as_double(b))) + (c & 3) - 1);
    }
}

static void expect(const char *what, uint64_t got, uint64_t want, uint64_t a, uint64_t b,
                   uint64_t c)
{
    if (got != want)
        fail_msg("%s: operands %" PRIx64 " %" PRIx64 " %" PRIx64 ": got %" PRIx64
                 ", hardware %" PRIx64,
                 what, a, b, c, got, want);
}

/* ---- arithmetic ---- */

static void check_f32_arithmetic(uint32_t a, uint32_t b, uint32_t c)
{
    float x = as_float(a), y = as_float(b), z = as_float(c);
    expect("f32 add", apply_f32_add(a, b), bits_of_float(x + y), a, b, c);
    expect("f32 add", apply_f32_add(b, c), bits_of_float(y + z), a, b, c);
    expect("f32 sub", apply_f32_sub(a, b), bits_of_float(x - y), a, b, c);
    expect("f32 mul", apply_f32_mul(a, b), bits_of_float(x * y), a, b, c);
    expect("f32 mul, long path", apply_f32_mul_full(a, b), bits_of_float(x * y), a, b, c);
    expect("f32 div", apply_f32_div(a, b), bits_of_float(x / y), a, b, c);
    expect("f32 fma", apply_f32_fma(a, b, c), bits_of_float(fmaf(x, y, z)), a, b, c);
}
static void check_f32_unary(uint32_t a, uint32_t b, uint32_t c)
{
    float x = as_float(a), y = as_float(b);
    expect("f32 sqrt", apply_f32_sqrt(a), bits_of_float(sqrtf(x)), a, b, c);
    expect("f32 lt", apply_f32_lt(a, b), x < y, a, b, c);
    expect("f32 le", apply_f32_le(a, b), x <= y, a, b, c);
    expect("f32 min", apply_f32_min(a, b), y < x ? b : a, a, b, c);
    expect("f32 max", apply_f32_max(a, b), x < y ? b : a, a, b, c);
    expect("f64 from f32", apply_f64_from_f32(a), bits_of_double(x), a, b, c);
    expect("f32 floor", apply_f32_round(a, ASSAY_ROUND_FLOOR), bits_of_float(floorf(x)), a, b, c);
    expect("f32 ceil", apply_f32_round(a, ASSAY_ROUND_CEIL), bits_of_float(ceilf(x)), a, b, c);
    expect("f32 trunc", apply_f32_round(a, ASSAY_ROUND_TRUNC), bits_of_float(truncf(x)), a, b, c);
    expect("f32 round", apply_f32_round(a, ASSAY_ROUND_HALF_AWAY), bits_of_float(roundf(x)), a, b,
           c);
    expect("f32 rint", apply_f32_round(a, ASSAY_ROUND_HALF_EVEN), bits_of_float(rintf(x)), a, b, c);
}
static void check_f64_arithmetic(uint64_t a, uint64_t b, uint64_t c)
{
    double x = as_double(a), y = as_double(b), z = as_double(c);
    expect("f64 add", apply_f64_add(a, b), bits_of_double(x + y), a, b, c);
    expect("f64 add", apply_f64_add(b, c), bits_of_double(y + z), a, b, c);
    expect("f64 sub", apply_f64_sub(a, b), bits_of_double(x - y), a, b, c);
    expect("f64 mul", apply_f64_mul(a, b), bits_of_double(x * y), a, b, c);
    expect("f64 div", apply_f64_div(a, b), bits_of_double(x / y), a, b, c);
    expect("f64 fma", apply_f64_fma(a, b, c), bits_of_double(fma(x, y, z)), a, b, c);
}
static void check_f64_unary(uint64_t a, uint64_t b, uint64_t c)
{
    double x = as_double(a), y = as_double(b);
    expect("f64 lt", apply_f64_lt(a, b), x < y, a, b, c);
    expect("f64 le", apply_f64_le(a, b), x <= y, a, b, c);
    expect("f64 min", apply_f64_min(a, b), y < x ? b : a, a, b, c);
    expect("f64 max", apply_f64_max(a, b), x < y ? b : a, a, b, c);
    expect("f32 from f64", apply_f32_from_f64(a), bits_of_float((float)x), a, b, c);
    expect("f64 floor", apply_f64_round(a, ASSAY_ROUND_FLOOR), bits_of_double(floor(x)), a, b, c);
    expect("f64 ceil", apply_f64_round(a, ASSAY_ROUND_CEIL), bits_of_double(ceil(x)), a, b, c);
    expect("f64 trunc", apply_f64_round(a, ASSAY_ROUND_TRUNC), bits_of_double(trunc(x)), a, b, c);
    expect("f64 round", apply_f64_round(a, ASSAY_ROUND_HALF_AWAY), bits_of_double(round(x)), a, b,
           c);
    expect("f64 rint", apply_f64_round(a, ASSAY_ROUND_HALF_EVEN), bits_of_double(rint(x)), a, b, c);
}

static void f32_arithmetic(void **unused)
{
    (void)unused;
    on_f32(check_f32_arithmetic);
}
static void f32_unary(void **unused)
{
    (void)unused;
    on_f32(check_f32_unary);
}
static void f64_arithmetic(void **unused)
{
    (void)unused;
    on_f64(check_f64_arithmetic);
}
static void f64_unary(void **unused)
{
    (void)unused;
    on_f64(check_f64_unary);
}

/* ---- integers ---- */

static void check_from_integer(int64_t n)
{
    int32_t n32 = (int32_t)(uint32_t)(uint64_t)n;
    uint64_t bits = (uint64_t)n;
    expect("f32 from i32", apply_f32_from_i32(n32), bits_of_float((float)n32), bits, 0, 0);
    expect("f32 from i64", apply_f32_from_i64(n), bits_of_float((float)n), bits, 0, 0);
    expect("f64 from i64", apply_f64_from_i64(n), bits_of_double((double)n), bits, 0, 0);
}

static void from_integer(void **unused)
{
    (void)unused;
    rng = test_seed("softfloat", 20261121);
    for (int n = -70000; n <= 70000; n++)
        check_from_integer(n);
    for (unsigned s = 0; s < 64; s++)
        for (unsigned t = 0; t < 64; t++)
            for (int d = -2; d <= 2; d++) {
                uint64_t n = ((uint64_t)1 << s) + ((uint64_t)1 << t) + (uint64_t)(int64_t)d;
                check_from_integer((int64_t)n);
                check_from_integer((int64_t)(0 - n));
            }
    for (uint64_t i = 0; i < trials; i++) {
        uint64_t r = random64();
        check_from_integer((int64_t)(r >> (random64() & 63)));
        check_from_integer(-(int64_t)(r >> (1 + (random64() & 31))));
    }
}

/* x to an integer by the definition of each mode, in doubles: exact below 2^52, and beyond x is
 * integral anyway. Saturation in double, which holds the ends chosen below exactly. */
static int64_t to_int_ref(double x, enum assay_rounding mode, int64_t lo, int64_t hi, int64_t nan)
{
    if (isnan(x))
        return nan;
    /* Beyond 2^62 a double is whole; below, what it rounds to is one. */
    const double r = fabs(x) >= 0x1p62 ? x : (double)test_rounded(x, mode);
    if (r < (double)lo)
        return lo;
    return r >= (double)hi ? hi : (int64_t)r;
}

static void check_to_int(uint64_t a, uint32_t b)
{
    static const struct {
        int64_t lo, hi;
    } ranges[] = {
        {-128, 127}, {0, 255}, {-32768, 32767}, {INT32_MIN, INT32_MAX}, {INT64_MIN, INT64_MAX}};
    for (unsigned i = 0; i < ASSAY_ROUND_COUNT; i++)
        for (unsigned r = 0; r < 5; r++) {
            enum assay_rounding mode = (enum assay_rounding)i;
            int64_t lo = ranges[r].lo, hi = ranges[r].hi;
            expect("f64 to int", (uint64_t)apply_f64_to_int(a, mode, lo, hi, 77),
                   (uint64_t)to_int_ref(as_double(a), mode, lo, hi, 77), a, i, r);
            expect("f32 to int", (uint64_t)apply_f32_to_int(b, mode, lo, hi, 77),
                   (uint64_t)to_int_ref((double)as_float(b), mode, lo, hi, 77), b, i, r);
        }
}

static void to_integer(void **unused)
{
    (void)unused;
    rng = test_seed("softfloat", 20261121);
    for (unsigned i = 0; i < EDGES; i++)
        check_to_int(edge(i, 52, 11), (uint32_t)edge(i, 23, 8));
    for (int eighths = -20000; eighths <= 20000; eighths++)
        check_to_int(bits_of_double(eighths / 8.0), bits_of_float((float)eighths / 8.0f));
    for (uint64_t i = 0; i < trials / 20; i++)
        check_to_int(operand64(), operand32());
}

/* The chain of a float-offset requantize, on accumulators and scales such as networks have. */
static void chain(void **unused)
{
    (void)unused;
    rng = test_seed("softfloat", 20261121);
    for (uint64_t i = 0; i < trials; i++) {
        int32_t acc = (int32_t)(uint32_t)random64() >> (random64() & 31);
        uint32_t scale = (uint32_t)((100 + random64() % 40) << 23 | random64() >> 41);
        float product = (float)acc * as_float(scale);
        float clipped = fminf(fmaxf(product, -1000.f), 1000.f);
        uint32_t soft = apply_f32_mul(apply_f32_from_i32(acc), scale);
        uint32_t soft_clipped =
            apply_f32_clamp(soft, bits_of_float(-1000.f), bits_of_float(1000.f));
        expect("product", soft, bits_of_float(product), (uint32_t)acc, scale, 0);
        expect("clamp", soft_clipped, bits_of_float(clipped), (uint32_t)acc, scale, 0);
        int64_t rounded = apply_f32_to_int(soft_clipped, ASSAY_ROUND_HALF_EVEN, -1000, 1000, 0);
        expect("code", (uint64_t)rounded, (uint64_t)(int64_t)lrintf(clipped), (uint32_t)acc, scale,
               0);
        uint64_t wide = apply_f64_mul(apply_f64_from_i64(acc), apply_f64_from_f32(scale));
        uint64_t clamped = apply_f64_clamp(wide, bits_of_double(-1000), bits_of_double(1000));
        expect("f64 clamp", clamped,
               bits_of_double(fmin(fmax((double)acc * (double)as_float(scale), -1000), 1000)),
               (uint32_t)acc, scale, 0);
    }
}

/* The short paths and the root over all 2^32 operands in a sweep, over each 4099th otherwise. */
static void every_operand(void **unused)
{
    (void)unused;
    uint64_t step = trials > 1000000 ? 1 : 4099;
    for (uint64_t i = 0; i <= UINT32_MAX; i += step) {
        uint32_t a = (uint32_t)i;
        float x = as_float(a);
        int64_t code = x != x ? 7 : x < -128 ? -128 : x > 127 ? 127 : (int64_t)rintf(x);
        expect("f32 sqrt", apply_f32_sqrt(a), bits_of_float(sqrtf(x)), a, 0, 0);
        expect("f32 from i32", apply_f32_from_i32((int32_t)a), bits_of_float((float)(int32_t)a), a,
               0, 0);
        expect("f32 to i8", (uint64_t)apply_f32_to_int(a, ASSAY_ROUND_HALF_EVEN, -128, 127, 7),
               (uint64_t)code, a, 0, 0);
    }
}

int main(int argc, char **argv)
{
    if (argc > 1)
        trials = strtoull(argv[1], NULL, 10) * 1000000;
    if (trials == 0 || fegetround() != FE_TONEAREST)
        return 2;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(f32_arithmetic), cmocka_unit_test(f32_unary),
        cmocka_unit_test(f64_arithmetic), cmocka_unit_test(f64_unary),
        cmocka_unit_test(from_integer),   cmocka_unit_test(to_integer),
        cmocka_unit_test(chain),          cmocka_unit_test(every_operand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
