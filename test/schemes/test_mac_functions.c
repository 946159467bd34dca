/* Functions of one and two operands under schemes of matrix units beside this machine's own floats,
 * operation after operation as functions.h writes them; element types and formats. */
#include "test/schemes/mac_values.h"

#include "schemes/mac/functions.h"
#include "schemes/mac/scheme.h"

enum { VALUES = 400 };

static float sigmoid_of(float x)
{
    return 1 / (1 + exp_of(-x));
}

static float tanh_of(float x)
{
    const float y = 1 - 2 / (exp_of(2 * fabsf(x)) + 1);
    return signbit(x) ? -y : y;
}

static float erf_of(float x)
{
    static const float c[] = {1.061405429F,  -1.453152027F, 1.421413741F,
                              -0.284496736F, 0.254829592F,  0};
    const float a = fabsf(x), t = 1 / (1 + 0.3275911F * a);
    const float y = 1 - horner(c, 6, t) * exp_of(-(a * a));
    return signbit(x) ? -y : y;
}

static float gelu_of(float x)
{
    return (x * 0.5F) * (1 + erf_of(x * 0.70710678F));
}

static float gelu_tanh_of(float x)
{
    return (x * 0.5F) * (1 + tanh_of(0.79788456F * (x + 0.044715F * ((x * x) * x))));
}

static float clamp_of(float x, float lo, float hi)
{
    return x < lo ? lo : x > hi ? hi : x;
}

static float hard_swish_of(float x)
{
    return x * clamp_of(x + 3, 0, 6) * (1.0F / 6);
}

static float hard_sigmoid_of(float x)
{
    return clamp_of(0.25F * x + 0.5F, 0, 1);
}

static float relu_of(float x)
{
    return x < 0 ? 0 : x;
}

static float leaky_of(float x)
{
    return x < 0 ? x * 0.25F : x;
}

static float same_of(float x)
{
    return x;
}

static float rsqrt_of(float x)
{
    return 1 / sqrtf(x);
}

static float square_of(float x)
{
    return x * x;
}

static float reciprocal_of(float x)
{
    return 1 / x;
}

static float neg_of(float x)
{
    return -x;
}

static const struct {
    const char *op;
    float (*f)(float);
    int64_t flag;
} functions[] = {
    {"relu", relu_of, 0},
    {"clip", same_of, 0},
    {"leaky_relu", leaky_of, 0},
    {"sigmoid", sigmoid_of, 0},
    {"tanh", tanh_of, 0},
    {"hard_swish", hard_swish_of, 0},
    {"hard_sigmoid", hard_sigmoid_of, 0},
    {"gelu", gelu_of, 0},
    {"gelu", gelu_tanh_of, 1},
    {"erf", erf_of, 0},
    {"exp", exp_of, 0},
    {"sqrt", sqrtf, 0},
    {"rsqrt", rsqrt_of, 0},
    {"square", square_of, 0},
    {"reciprocal", reciprocal_of, 0},
    {"abs", fabsf, 0},
    {"neg", neg_of, 0},
};

/* Floats of any size, most near 1, and the ends. */
static void draw(test_rng *r, int32_t *x, size_t n)
{
    static const float ends[] = {0,   -0.0F, INFINITY, -INFINITY, 88.7F,   88.73F,
                                 -88, -104,  -103.9F,  1e-42F,    -1e-45F, 3e38F};
    for (size_t i = 0; i < n; i++) {
        const float v = i < sizeof ends / sizeof *ends
                            ? ends[i]
                            : ldexpf((float)(test_unit(r) * 2 - 1), (int)test_between(r, -20, 7));
        x[i] = (int32_t)bits_of(v);
    }
}

static void unary(void **state)
{
    test_rng r = test_seed("functions of floats", 20);
    assay_scheme *s = scheme_of("nv-hopper-e4m3-f32", "");
    int32_t x[VALUES], y[VALUES];
    (void)state;
    draw(&r, x, VALUES);
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        assay_unit_spec spec = unit_spec(functions[i].op, &f32_type, 1, &f32_type);
        spec.alpha = 0.25;
        spec.beta = 0.5;
        spec.flag = functions[i].flag;
        assay_unit *u = unit_prepare(s, &spec);
        s->vt->unary(u, x, VALUES, y);
        for (size_t k = 0; k < VALUES; k++)
            expect(functions[i].op, (uint32_t)y[k], functions[i].f(float_of((uint32_t)x[k])));
        s->vt->release(u);
    }
    assert_true(isnan(float_of(mac_exp(bits_of(NAN), NULL))));
    assay_scheme_free(s);
}

static float two_of(const char *op, float a, float b)
{
    if (strcmp(op, "add") == 0)
        return a + b;
    if (strcmp(op, "sub") == 0)
        return a - b;
    if (strcmp(op, "mul") == 0)
        return a * b;
    if (strcmp(op, "div") == 0)
        return a / b;
    if (strcmp(op, "min") == 0)
        return a < b ? a : b;
    if (strcmp(op, "max") == 0)
        return a > b ? a : b;
    if (strcmp(op, "prelu") == 0)
        return a < 0 ? a * b : a;
    const float d = a - b;
    return d * d;
}

static void binary(void **state)
{
    static const char *const ops[] = {"add", "sub", "mul",   "div",
                                      "min", "max", "prelu", "squared_difference"};
    test_rng r = test_seed("two floats", 21);
    assay_scheme *s = scheme_of("nv-hopper-e4m3-f32", "");
    const assay_type in[2] = {f32_type, f32_type};
    int32_t a[VALUES], b[VALUES], y[VALUES];
    (void)state;
    draw(&r, a, VALUES);
    draw(&r, b, VALUES);
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
        const assay_unit_spec spec = unit_spec(ops[i], in, 2, &f32_type);
        assay_unit *u = unit_prepare(s, &spec);
        s->vt->binary(u, a, b, VALUES, y);
        for (size_t k = 0; k < VALUES; k++)
            expect(ops[i], (uint32_t)y[k],
                   two_of(ops[i], float_of((uint32_t)a[k]), float_of((uint32_t)b[k])));
        s->vt->release(u);
    }
    assay_scheme_free(s);
}

/* ---- what is told ---- */

enum { MAX_HEARD = 400 };

typedef struct heard {
    const char *name[MAX_HEARD];
    uint32_t bits[MAX_HEARD];
    int n;
} heard;

static void hear(void *to, const assay_told *step)
{
    heard *h = to;
    assert_true(h->n < MAX_HEARD);
    h->name[h->n] = step->name;
    h->bits[h->n++] = (uint32_t)step->a;
}

/* The number of the last step of this name. */
static uint32_t told(const heard *h, const char *name)
{
    for (int i = h->n - 1; i >= 0; i--)
        if (strcmp(h->name[i], name) == 0)
            return h->bits[i];
    fail_msg("'%s' was not told", name);
    return 0;
}

static int count_of(const heard *h, const char *name)
{
    int n = 0;
    for (int i = 0; i < h->n; i++)
        n += strcmp(h->name[i], name) == 0;
    return n;
}

/* Sums: each on its way in a short row, some thirty of a long one, the last always; elements of the
 * greatest and the least of a short one. */
static void told_sums(void **state)
{
    static const size_t lengths[] = {1, 5, 31, 32, 33, 100, 399};
    test_rng r = test_seed("told sums", 23);
    int32_t x[VALUES];
    (void)state;
    draw(&r, x, VALUES);
    for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++) {
        const size_t n = lengths[k];
        heard h = {.n = 0}, greatest = {.n = 0}, least = {.n = 0};
        const assay_teller t = {.tell = hear, .to = &h}, up = {.tell = hear, .to = &greatest},
                           down = {.tell = hear, .to = &least};
        float sum = 0;
        int at = 0;
        const uint32_t whole = mac_sum_of(x, n, &t);
        for (size_t i = 0; i < n; i++) {
            sum += float_of((uint32_t)x[i]);
            if (at < h.n && h.bits[at] == (uint32_t)x[i]) {
                expect("sum up to it", h.bits[at + 1], sum);
                at += 2;
            }
        }
        assert_int_equal(at, h.n); /* none was told that is not one of these */
        assert_in_range(count_of(&h, "element"), n < 32 ? n : 32 / 2, n < 33 ? n : 33);
        assert_int_equal(told(&h, "sum up to it"), whole);
        assert_int_equal(mac_sum_of(x, n, NULL), whole);
        assert_int_equal(mac_greatest_of(x, n, &up), mac_greatest_of(x, n, NULL));
        assert_int_equal(mac_least_of(x, n, &down), mac_least_of(x, n, NULL));
        assert_int_equal(count_of(&greatest, "element"), n <= 32 ? n : 0);
        assert_int_equal(count_of(&least, "element"), n <= 32 ? n : 0);
    }
}

/* Rows: of the element that is asked for, and of none beside it, the numbers lead to the result. */
static void told_rows(void **state)
{
    enum { N = 5, AT = 3 };
    static const float x[N] = {0.5F, -1, 2, 0.25F, 1.5F}, gamma[N] = {1, 2, 3, 4, 5},
                       beta[N] = {0.5F, 0.25F, -1, 2, 1};
    int32_t in[N], g[N], b[N], y[N];
    (void)state;
    memcpy(in, x, sizeof in);
    memcpy(g, gamma, sizeof g);
    memcpy(b, beta, sizeof b);

    heard h = {.n = 0};
    const assay_teller t = {.tell = hear, .to = &h, .at = AT};
    mac_softmax(in, N, ASSAY_F32_ONE, y, &t);
    expect("distance", told(&h, "distance from the greatest"), x[AT] - 2);
    assert_int_equal(count_of(&h, "distance from the greatest"), 1);
    expect("share", (uint32_t)y[AT],
           float_of(told(&h, "times 2^n")) / float_of(told(&h, "sum of exponentials")));

    h.n = 0;
    mac_l2_norm(in, N, 0, y, &t);
    expect("sum of squares", told(&h, "sum of squares"), 0.25F + 1 + 4 + 0.0625F + 2.25F);
    expect("normed", (uint32_t)y[AT], x[AT] / float_of(told(&h, "its root")));

    for (int with = 0; with < 4; with++) {
        h.n = 0;
        mac_layer_norm(in, N, with & 1 ? g : NULL, with & 2 ? b : NULL, 0, y, &t);
        expect("mean", told(&h, "mean"), 3.25F / 5);
        float v = float_of(told(&h, "distance from the mean"));
        expect("distance", told(&h, "distance from the mean"), x[AT] - 3.25F / 5);
        v *= float_of(told(&h, "1 / its root"));
        expect("normalized", told(&h, "normalized"), v);
        v *= with & 1 ? gamma[AT] : 1;
        assert_int_equal(count_of(&h, "times gamma"), with & 1);
        if (with & 1)
            expect("times gamma", told(&h, "times gamma"), v);
        expect("result", (uint32_t)y[AT], with & 2 ? v + beta[AT] : v);
    }
}

/* Element types and formats are each other's. */
static void elements(void **state)
{
    enum assay_mac_format f;
    (void)state;
    assert_false(mac_format_of(assay_bool(), &f));
    assert_true(mac_format_of(assay_f32(), &f));
    assert_int_equal(mac_elem_of(f), ASSAY_FLOAT_F32);
    for (int k = ASSAY_KIND_F16; k <= ASSAY_KIND_INT8MX; k++) {
        assert_true(mac_format_of(assay_small_float((assay_kind)k), &f));
        assert_int_equal(mac_elem_of(f), k - ASSAY_KIND_F16 + ASSAY_FLOAT_F16);
    }
    assert_int_equal(mac_elem_of(ASSAY_MAC_UE4M3), ASSAY_FLOAT_F8E4M3FN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unary),     cmocka_unit_test(binary),   cmocka_unit_test(told_sums),
        cmocka_unit_test(told_rows), cmocka_unit_test(elements),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
