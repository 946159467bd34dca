/* Element functions against naive twins on whole small domains, where the presets' vectors do not
 * reach: windows without a cell, division by zero, scales far apart, shifts to the left. */
#include "test/support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/core/attr.h"
#include "graph/core/type.h"
#include "schemes/apply/unit.h"
#include "test/support/scheme_unit.h"

/* A unit of two inputs and an output of 8 bits, and the scheme that it needs. */
typedef struct made {
    assay_scheme *scheme;
    assay_unit *unit;
    assay_type in[2], out;
    float s[3];
    int32_t z[3];
} made;

typedef struct node {
    const char *record, *op;
    float s[3];
    int32_t z[3];
    int64_t depth, flag;
} node;

static const node *current;

static void make(made *m, const node *n)
{
    char text[300];
    assay_error err = {0};
    current = n;
    memcpy(m->s, n->s, sizeof m->s);
    memcpy(m->z, n->z, sizeof m->z);
    for (int i = 0; i < 2; i++)
        m->in[i] = code_type(8, true, &m->s[i], &m->z[i]);
    m->out = code_type(8, true, &m->s[2], &m->z[2]);
    snprintf(text, sizeof text, "scheme: t\n%s", n->record);
    assert_ok(assay_scheme_parse("t", text, strlen(text), &m->scheme, &err), &err);
    assay_unit_spec spec = unit_spec(n->op, m->in, 2, &m->out);
    spec.depth = n->depth;
    spec.flag = n->flag;
    assert_ok(m->scheme->vt->prepare(m->scheme, &spec, &m->unit, &err), &err);
}

static void drop(made *m)
{
    m->scheme->vt->release(m->unit);
    assay_scheme_free(m->scheme);
}

static int32_t i8_ref(double v)
{
    return (int32_t)fmin(fmax(v, -128), 127);
}

static void equal(int32_t got, int32_t want, int64_t a, int64_t b)
{
    if (got != want)
        fail_msg("%s %s(%lld, %lld): %d, expected %d", current->record, current->op, (long long)a,
                 (long long)b, got, want);
}

/* ---- pools ---- */

/* Half the output scale of the input: the rescale is half up of v * 2. */
static int32_t doubled_ref(int64_t v, int32_t zero)
{
    return i8_ref((double)(2 * v + zero));
}

static void pools(void **state)
{
    (void)state;
    static const node nodes[] = {
        {"pool: {kind: divide}\n", "avg_pool", {1, 1, 1}, {5, 0, 5}, 9, 0},
        {"pool: {kind: divide, keep_zero_point: no}\n", "avg_pool", {1, 1, 1}, {5, 0, 5}, 9, 0},
        {"pool: {kind: divide, keep_zero_point: no}\n", "avg_pool", {1, 1, 0.5f}, {5, 0, -7}, 9, 0},
        {"pool: {kind: reciprocal}\n", "avg_pool", {1, 1, 1}, {5, 0, 5}, 9, 0},
        {"pool: {kind: rescale-divide}\n", "avg_pool", {1, 1, 1}, {5, 0, 5}, 9, 0},
    };
    for (size_t i = 0; i < sizeof nodes / sizeof *nodes; i++) {
        made m;
        make(&m, &nodes[i]);
        for (int32_t count = 0; count <= 9; count++)
            for (int64_t sum = -128 * count; sum <= 127 * count; sum++) {
                int32_t y;
                int64_t v = sum - 5 * count; /* without the zero point */
                double mean = count > 0 ? (double)v / count : 0;
                m.scheme->vt->pool(m.unit, &sum, &count, 1, &y);
                equal(y,
                      i == 0   ? i8_ref(count > 0 ? round((double)sum / count) : 5)
                      : i == 2 ? doubled_ref((int64_t)round(mean), -7)
                               /* the reciprocal's m is above 1 / count: its ties go away too */
                               : i8_ref(round(mean) + 5),
                      sum, count);
            }
        drop(&m);
    }
}

/* A rescale for each divisor: TFLite-like multipliers of 31 bits are exact enough for the nearest
 * code of sums this small, ties half up. */
static void pools_by_count(void **state)
{
    (void)state;
    static const node nodes[] = {
        {"pool: {kind: rescale}\nrescale: {encoding: float64, round: [half-even]}\n",
         "avg_pool",
         {1, 1, 0.5f},
         {5, 0, -7},
         9,
         0},
        {"pool: {kind: rescale-divide}\nrescale: {encoding: float64, round: [half-even]}\n",
         "avg_pool",
         {1, 1, 0.5f},
         {5, 0, -7},
         9,
         1},
        {"pool: {kind: rescale}\nrescale: {encoding: float64, round: [half-even]}\n",
         "global_avg_pool",
         {1, 1, 0.5f},
         {5, 0, -7},
         4,
         0},
    };
    for (size_t i = 0; i < sizeof nodes / sizeof *nodes; i++) {
        made m;
        make(&m, &nodes[i]);
        for (int32_t count = i == 2 ? 4 : 0; count <= (i == 2 ? 4 : 9); count++)
            for (int64_t sum = -128 * count; sum <= 127 * count; sum++) {
                int32_t y;
                volatile double real = 1.0 / 0.5 / (count > 0 ? count : 1);
                volatile double v = (double)(sum - 5 * count) * real;
                m.scheme->vt->pool(m.unit, &sum, &count, 1, &y);
                equal(y, i8_ref(rint(v) - 7), sum, count);
            }
        drop(&m);
    }
}

/* The DPU's 1/4 is 1 * 2^-2; an output 16 times finer turns the shift to the left. */
static void pool_to_the_left(void **state)
{
    (void)state;
    static const node n = {"pool: {kind: dpu}\n", "avg_pool", {1, 1, 0.0625f}, {0, 0, 3}, 4, 0};
    made m;
    const int32_t count = 4;
    make(&m, &n);
    for (int64_t sum = -512; sum <= 508; sum++) {
        int32_t y;
        m.scheme->vt->pool(m.unit, &sum, &count, 1, &y);
        equal(y, i8_ref((double)sum / 4 * 16 + 3), sum, 4);
    }
    drop(&m);
}

/* ---- two operands ---- */

typedef int32_t (*twin)(const made *m, int32_t a, int32_t b);

static void all_pairs(const node *n, twin ref)
{
    made m;
    make(&m, n);
    for (int32_t a = -128; a < 128; a++)
        for (int32_t b = -128; b < 128; b++) {
            int32_t y;
            m.scheme->vt->binary(m.unit, &a, &b, 1, &y);
            equal(y, ref(&m, a, b), a, b);
        }
    drop(&m);
}

static int32_t by_zero_ref(const made *m, int32_t x)
{
    return x > 0 ? 127 : x < 0 ? -128 : m->z[2];
}

/* Toward zero, then doubled. */
static int32_t div_truncate_ref(const made *m, int32_t a, int32_t b)
{
    int32_t x = a - m->z[0], y = b - m->z[1];
    return y == 0 ? by_zero_ref(m, x) : i8_ref(x / y * 2 + m->z[2]);
}

static int32_t div_float_ref(const made *m, int32_t a, int32_t b)
{
    int32_t x = a - m->z[0], y = b - m->z[1];
    if (y == 0)
        return by_zero_ref(m, x);
    volatile float below = m->s[1] * m->s[2], top = (float)x * m->s[0], v = (float)y * below;
    v = top / v;
    v = v + (float)m->z[2];
    return i8_ref((double)rintf(v));
}

static int32_t compare_ref(const made *m, int32_t a, int32_t b)
{
    long double x = (long double)m->s[0] * (a - m->z[0]), y = (long double)m->s[1] * (b - m->z[1]);
    return strcmp(current->op, "less") == 0            ? x < y
           : strcmp(current->op, "less_equal") == 0    ? x <= y
           : strcmp(current->op, "greater") == 0       ? x > y
           : strcmp(current->op, "greater_equal") == 0 ? x >= y
           : strcmp(current->op, "equal") == 0         ? x == y
                                                       : x != y;
}

/* Powers of two: each operand is cut (floor) to so many bits below the coarser scale, 1; then the
 * sum is exact. */
static int32_t align_ref(const made *m, int32_t a, int32_t b)
{
    double guard = strcmp(current->op, "sub") == 0 ? 4 : 1; /* 2 bits or none */
    double x = floor((double)m->s[0] * (a - m->z[0]) * guard) / guard;
    double y = floor((double)m->s[1] * (b - m->z[1]) * guard) / guard;
    return i8_ref((guard > 1 ? x - y : x + y) / (double)m->s[2] + m->z[2]);
}

static int32_t fixed_scale_ref(const made *m, int32_t a, int32_t b)
{
    volatile float one = m->s[0] / 0x1p-10f, two = m->s[1] / 0x1p-10f, last = 0x1p-10f / m->s[2];
    volatile float x = (float)(a - m->z[0]) * one, y = (float)(b - m->z[1]) * two;
    volatile float sum = (float)((int64_t)roundf(x) - (int64_t)roundf(y));
    sum = sum * last;
    sum = sum + (float)m->z[2];
    return i8_ref((double)roundf(sum));
}

/* An overflow of int32 gives INT32_MIN, hence the least code, whatever its sign. */
static int32_t float_scaled_ref(const made *m, int32_t a, int32_t b)
{
    volatile float r1 = m->s[0] / m->s[2], r2 = m->s[1] / m->s[2];
    volatile float p1 = r1 * (float)m->z[0], p2 = r2 * (float)m->z[1], both = p1 + p2;
    volatile float f = (float)m->z[2] - both, x = (float)a * r1, y = (float)b * r2;
    f = f + x;
    f = f + y;
    return fabsf(f) >= 0x1p31f ? -128 : i8_ref((double)rintf(f));
}

static int32_t float_ratio_ref(const made *m, int32_t a, int32_t b)
{
    volatile float r1 = m->s[0] / m->s[2], r2 = m->s[1] / m->s[2];
    volatile float x = (float)(a - m->z[0]) * r1, y = (float)(b - m->z[1]) * r2;
    volatile float f = strcmp(current->op, "sub") == 0 ? x - y : x + y;
    f = f + (float)m->z[2];
    return i8_ref((double)rintf(f));
}

static void pairs(void **state)
{
    (void)state;
    static const struct {
        node node;
        twin ref;
    } list[] = {
        {{"binary: {div: truncate-then-scale}\n", "div", {1, 1, 0.5f}, {3, -2, 7}, 0, 0},
         div_truncate_ref},
        {{"binary: {div: float}\nrescale: {round: [half-even]}\n",
          "div",
          {0.1f, 0.3f, 0.02f},
          {3, -2, 7},
          0,
          0},
         div_float_ref},
        {{"", "less", {0.1f, 0.3f, 1}, {3, -2, 0}, 0, 0}, compare_ref},
        {{"", "less_equal", {0.3f, 0.1f, 1}, {3, -2, 0}, 0, 0}, compare_ref},
        {{"", "greater", {1, 8, 1}, {3, -2, 0}, 0, 0}, compare_ref},
        {{"", "greater_equal", {8, 1, 1}, {3, -2, 0}, 0, 0}, compare_ref},
        {{"", "equal", {0x1p90f, 1, 1}, {3, -2, 0}, 0, 0}, compare_ref},
        {{"", "not_equal", {1, 0x1p90f, 1}, {3, -2, 0}, 0, 0}, compare_ref},
        {{"", "less", {0x1p90f, 1, 1}, {3, -2, 0}, 0, 0}, compare_ref},
        {{"add: {kind: align-power-of-two, bits: 0}\n",
          "add",
          {1, 0.25f, 0.0625f},
          {0, 0, 3},
          0,
          0},
         align_ref},
        {{"add: {kind: align-power-of-two, bits: 2}\n", "sub", {1, 0.25f, 0.25f}, {4, -3, 3}, 0, 0},
         align_ref},
        {{"add: {kind: fixed-scale, bits: 10, round: half-away}\n",
          "sub",
          {0.1f, 0.3f, 0.2f},
          {3, -2, 7},
          0,
          0},
         fixed_scale_ref},
        {{"add: {kind: float-scaled, float_overflow: int-min, round: half-even}\n",
          "add",
          {0x1p26f, 1, 1},
          {3, -2, 7},
          0,
          0},
         float_scaled_ref},
        {{"add: {kind: float-ratio, round: half-even}\n",
          "sub",
          {0.1f, 0.3f, 0.2f},
          {3, -2, 7},
          0,
          0},
         float_ratio_ref},
        {{"add: {kind: float-ratio, round: half-even}\n",
          "add",
          {0.1f, 0.3f, 0.2f},
          {3, -2, 7},
          0,
          0},
         float_ratio_ref},
    };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        all_pairs(&list[i].node, list[i].ref);
}

/* ---- resize ---- */

/* Its 16-bit multipliers are its own: the same codes beside any rescale. */
static void hard_swish(void **state)
{
    (void)state;
    static const char *const rescales[] = {
        "", "rescale: {encoding: float32, round: [half-even]}\n",
        "rescale: {encoding: glow, left_shift: product, round: [half-up]}\n",
        "rescale: {multiplier_bits: 15, multiplier_round: floor, shift_max: 16, "
        "beyond_shift_max: refuse}\n",
        "types: {power_of_two_scales: yes, activation_zero_point: none}\n"
        "rescale: {scale: power-of-two, encoding: shift, left_shift: product, round: [floor]}\n"};
    int32_t x[256], want[256], got[256];
    for (int i = 0; i < 256; i++)
        x[i] = i - 128;
    for (size_t i = 0; i < sizeof rescales / sizeof *rescales; i++) {
        made m;
        char text[256];
        snprintf(text, sizeof text, "unary: {hard_swish: fixed-point}\n%s", rescales[i]);
        const node n = {text, "hard_swish", {0.0625F, 1, 0.03125F}, {0, 0, 0}, 0, 0};
        make(&m, &n);
        m.scheme->vt->unary(m.unit, x, 256, i == 0 ? want : got);
        for (int k = 0; i > 0 && k < 256; k++)
            equal(got[k], want[k], x[k], 0);
        drop(&m);
    }
    assert_int_equal(want[255], 127);
    assert_int_equal(want[128 + 16], 21); /* 1 * 4/6 / 0.03125 */
}

/* Bilinear: four codes weighted in 1/1024, rounded once; where the output has other parameters,
 * then brought to its scale. */
static void blends(void **state)
{
    (void)state;
    static const node nodes[2] = {
        {"resize: {round: half-up}\n", "resize", {1, 1, 0.5f}, {5, 0, -7}, 0, ASSAY_RESIZE_LINEAR},
        {"resize: {round: half-up}\n", "resize", {1, 1, 1}, {5, 0, 5}, 0, ASSAY_RESIZE_LINEAR}};
    test_rng rng = test_seed("blends", 3);
    for (int k = 0; k < 2; k++) {
        made m;
        make(&m, &nodes[k]);
        for (int i = 0; i < 2000; i++) {
            int32_t c[4], y;
            for (int j = 0; j < 4; j++)
                c[j] = (int32_t)test_between(&rng, -128, 127);
            const int32_t fy = (int32_t)test_between(&rng, 0, 1024);
            const int32_t fx = (int32_t)test_between(&rng, 0, 1024);
            m.scheme->vt->interpolate(m.unit, c, &fy, &fx, 1, &y);
            double top = c[0] + (c[1] - c[0]) * (fx / 1024.0);
            double bottom = c[2] + (c[3] - c[2]) * (fx / 1024.0);
            double v = floor(top + (bottom - top) * (fy / 1024.0) + 0.5); /* exact: 20 bits */
            equal(y, k == 0 ? doubled_ref((int64_t)v - 5, -7) : i8_ref(v), fy, fx);
        }
        drop(&m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(pools),
                                       cmocka_unit_test(pools_by_count),
                                       cmocka_unit_test(pool_to_the_left),
                                       cmocka_unit_test(pairs),

                                       cmocka_unit_test(hard_swish),
                                       cmocka_unit_test(blends)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
