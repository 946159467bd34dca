/* Nodes under schemes of matrix units: functions, rows and products beside this machine's own
 * floats, operation after operation as functions.h and scheme.h write them; and what is refused.
 * Every allocation fails in turn (the linker wraps malloc, test/meson.build). */
#include "test/support/support.h"

#include <math.h>
#include <string.h>

#include "graph/core/type.h"
#include "schemes/mac/functions.h"
#include "schemes/mac/scale.h"
#include "schemes/mac/scheme.h"
#include "test/support/alloc_fails.h"
#include "test/support/scheme_unit.h"

enum { VALUES = 400, ROW = 7 };

static uint32_t bits_of(float x)
{
    uint32_t b;
    memcpy(&b, &x, sizeof b);
    return b;
}

static float float_of(uint32_t b)
{
    float x;
    memcpy(&x, &b, sizeof x);
    return x;
}

static bool same(uint32_t found, float expected)
{
    return isnan(expected) ? isnan(float_of(found)) : found == bits_of(expected);
}

static void expect(const char *what, uint32_t found, float expected)
{
    if (!same(found, expected))
        fail_msg("%s: %08x, expected %08x", what, found, bits_of(expected));
}

static const assay_type f32_type = {.elem = {ASSAY_KIND_F32, 32, true}, .rank = 1, .dim = {1}};

static assay_type type_of(assay_kind k)
{
    return (assay_type){.elem = k == ASSAY_KIND_F32    ? assay_f32()
                                : k == ASSAY_KIND_INT  ? assay_int(8, true)
                                : k == ASSAY_KIND_NONE ? (assay_elem){0}
                                                       : assay_small_float(k),
                        .rank = 1,
                        .dim = {1}};
}

static assay_scheme *scheme_of(const char *units, const char *more)
{
    char text[300];
    snprintf(text, sizeof text, "mac: {units: [%s]%s%s}\n", units, more[0] ? ", " : "", more);
    return unit_scheme(text);
}

/* ---- functions ---- */

static float horner(const float *c, size_t n, float t)
{
    float p = c[0];
    for (size_t i = 1; i < n; i++) {
        const float product = p * t;
        p = product + c[i];
    }
    return p;
}

static float exp_of(float x)
{
    static const float c[] = {1.9875691500E-4F, 1.3981999507E-3F, 8.3334519073E-3F,
                              4.1665795894E-2F, 1.6666665459E-1F, 5.0000001201E-1F};
    if (x > 88.72284F)
        return INFINITY;
    if (x < -103.97284F)
        return 0;
    if (isnan(x))
        return x;
    const float n = rintf(x * 1.44269504F);
    const float first = x - n * 0.693359375F;
    const float r = first - n * -2.12194440e-4F;
    const float y = (horner(c, 6, r) * (r * r) + r) + 1;
    const int i = (int)n;
    return ldexpf(1, i - i / 2) * y * ldexpf(1, i / 2);
}

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
    assert_true(isnan(float_of(mac_exp(bits_of(NAN)))));
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

/* ---- rows ---- */

static float sum_of(const float *x)
{
    float sum = 0;
    for (int i = 0; i < ROW; i++)
        sum = sum + x[i];
    return sum;
}

static void softmax_of(const float *x, float beta, float *y)
{
    float most = x[0];
    for (int i = 1; i < ROW; i++)
        most = x[i] > most ? x[i] : most;
    for (int i = 0; i < ROW; i++)
        y[i] = exp_of((x[i] - most) * beta);
    const float sum = sum_of(y);
    for (int i = 0; i < ROW; i++)
        y[i] = y[i] / sum;
}

static void l2_norm_of(const float *x, float epsilon, float *y)
{
    float squares[ROW];
    for (int i = 0; i < ROW; i++)
        squares[i] = x[i] * x[i];
    const float sum = sum_of(squares), root = sqrtf(sum > epsilon ? sum : epsilon);
    for (int i = 0; i < ROW; i++)
        y[i] = x[i] / root;
}

/* gamma and beta follow x where they are there. */
static void layer_norm_of(const float *x, float epsilon, bool gamma, bool beta, float *y)
{
    float squares[ROW];
    const float mean = sum_of(x) / ROW;
    for (int i = 0; i < ROW; i++) {
        y[i] = x[i] - mean;
        squares[i] = y[i] * y[i];
    }
    const float r = 1 / sqrtf(sum_of(squares) / ROW + epsilon);
    for (int i = 0; i < ROW; i++) {
        const float scaled = gamma ? y[i] * r * x[ROW + i] : y[i] * r;
        y[i] = beta ? scaled + x[2 * ROW + i] : scaled;
    }
}

static float reduced(const char *op, const float *x)
{
    float y = x[0];
    if (strcmp(op, "reduce_sum") == 0)
        return sum_of(x);
    if (strstr(op, "mean") || strstr(op, "avg"))
        return sum_of(x) / ROW;
    for (int i = 1; i < ROW; i++)
        y = (strstr(op, "max") ? x[i] > y : x[i] < y) ? x[i] : y;
    return y;
}

/* A row of the op's, of n results, from x; in x: gamma and beta behind, or a count. */
static void check_row(const assay_scheme *s, const assay_unit_spec *spec, const int32_t *x,
                      const float *expected, int n)
{
    int32_t y[ROW];
    assay_unit *u = unit_prepare(s, spec);
    s->vt->row(u, x, ROW, y);
    for (int i = 0; i < n; i++)
        expect(spec->op, (uint32_t)y[i], expected[i]);
    s->vt->release(u);
}

static void rows(void **state)
{
    static const char *const reductions[] = {
        "reduce_sum", "reduce_mean",     "reduce_max", "reduce_min",
        "avg_pool",   "global_avg_pool", "max_pool",
    };
    test_rng r = test_seed("rows of floats", 22);
    assay_scheme *s = scheme_of("nv-hopper-e4m3-f32", "");
    (void)state;
    for (int k = 0; k < 50; k++) {
        int32_t x[3 * ROW];
        float f[3 * ROW], y[ROW];
        for (int i = 0; i < 3 * ROW; i++) {
            f[i] = ldexpf((float)(test_unit(&r) * 2 - 1), (int)test_between(&r, -3, 4));
            x[i] = (int32_t)bits_of(f[i]);
        }
        assay_type in[3] = {f32_type, k & 1 ? f32_type : type_of(ASSAY_KIND_NONE),
                            k & 2 ? f32_type : type_of(ASSAY_KIND_NONE)};
        assay_unit_spec spec = unit_spec("softmax", in, 1, &f32_type);
        spec.beta = k % 3 ? 1 : 2.5;
        softmax_of(f, (float)spec.beta, y);
        check_row(s, &spec, x, y, ROW);
        spec = unit_spec("l2_norm", in, 1, &f32_type);
        spec.epsilon = k % 2 ? 1e-6 : 1000;
        l2_norm_of(f, (float)spec.epsilon, y);
        check_row(s, &spec, x, y, ROW);
        spec = unit_spec("layer_norm", in, k & 4 ? 3 : 1 + (k & 1), &f32_type);
        spec.epsilon = 1e-5;
        layer_norm_of(f, 1e-5F, spec.n_in > 1 && (k & 1), spec.n_in > 2 && (k & 2), y);
        check_row(s, &spec, x, y, ROW);
        x[ROW] = ROW;
        for (size_t i = 0; i < sizeof reductions / sizeof *reductions; i++) {
            spec = unit_spec(reductions[i], in, 1, &f32_type);
            y[0] = reduced(reductions[i], f);
            check_row(s, &spec, x, y, 1);
        }
    }
    assay_scheme_free(s);
}

/* Results are bounded, then rounded to the format of floats between nodes. */
static void formats_between(void **state)
{
    static const struct {
        const char *floats;
        uint32_t third, big;
    } list[] = {{"floats: f32", 0x3eaaaaab, 0x47800000},
                {"floats: bf16", 0x3eab0000, 0x47800000},
                {"floats: f16", 0x3eaaa000, 0x7f800000}};
    (void)state;
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        assay_scheme *s = scheme_of("nv-hopper-e4m3-f32", list[i].floats);
        assay_unit_spec spec = unit_spec("reciprocal", &f32_type, 1, &f32_type);
        const int32_t x[2] = {0x40400000, 0x37800000}; /* 3, 2^-16 */
        int32_t y[2];
        assay_unit *u = unit_prepare(s, &spec);
        s->vt->unary(u, x, 2, y);
        assert_int_equal((uint32_t)y[0], list[i].third);
        assert_int_equal((uint32_t)y[1], list[i].big);
        s->vt->release(u);
        spec.act_hi = 6;
        u = unit_prepare(s, &spec);
        s->vt->unary(u, x, 2, y);
        assert_int_equal((uint32_t)y[1], bits_of(6));
        assert_int_equal(s->vt->params(u, NULL, 0), 0);
        s->vt->release(u);
        assay_scheme_free(s);
    }
}

/* ---- products ---- */

enum { DEPTH = 80 };

typedef struct product {
    const char *units;
    assay_kind elements, scales;
    int64_t a_run, b_run;
    bool second, bias;
} product;

static const product products[] = {
    {"nv-hopper-e4m3-f32", ASSAY_KIND_F8E4M3FN, ASSAY_KIND_F32, DEPTH, DEPTH, false, true},
    {"nv-hopper-e4m3-f32", ASSAY_KIND_F8E4M3FN, ASSAY_KIND_F32, 100, 128, true, false},
    {"nv-hopper-e4m3-f32", ASSAY_KIND_F8E4M3FN, ASSAY_KIND_F32, 32, 64, false, true},
    {"nv-hopper-e4m3-f32", ASSAY_KIND_F8E4M3FN, ASSAY_KIND_F8E8M0, 48, 16, false, false},
    {"nv-hopper-e4m3-f16", ASSAY_KIND_F8E4M3FN, ASSAY_KIND_F32, DEPTH, DEPTH, false, false},
    {"nv-hopper-bf16-f32", ASSAY_KIND_BF16, ASSAY_KIND_F32, DEPTH, 16, false, false},
    {"nv-hopper-tf32-f32", ASSAY_KIND_TF32, ASSAY_KIND_F32, DEPTH, DEPTH, false, true},
    {"nv-blackwell-mxf8-e4m3", ASSAY_KIND_F8E4M3FN, ASSAY_KIND_F8E8M0, 32, 64, false, true},
    {"nv-blackwell-nvf4", ASSAY_KIND_F4E2M1, ASSAY_KIND_F8E4M3FN, 16, 16, true, true},
};

/* Patterns of numbers that are neither large nor small. */
static int32_t pattern(test_rng *r, assay_kind k)
{
    const uint32_t sign = (uint32_t)test_between(r, 0, 1);
    switch (k) {
    case ASSAY_KIND_F8E4M3FN:
        return (int32_t)(sign << 7 | (uint32_t)test_between(r, 0x28, 0x48));
    case ASSAY_KIND_F4E2M1:
        return (int32_t)(sign << 3 | (uint32_t)test_between(r, 0, 7));
    case ASSAY_KIND_F8E8M0:
        return (int32_t)test_between(r, 120, 130);
    case ASSAY_KIND_BF16:
        return (int32_t)(sign << 15 | (uint32_t)test_between(r, 0x3e00, 0x4100));
    default:
        return (int32_t)(sign << 31 | (uint32_t)test_between(r, 0x3e000000, 0x41000000));
    }
}

static float scale_at(const assay_kind k, int32_t code)
{
    enum assay_mac_format f;
    assert_true(mac_format_of(type_of(k).elem, &f));
    return float_of(mac_to_f32(f, (uint32_t)code));
}

/* The unit's dot of elements first to last, zeros behind. */
static float unit_dot(const product *p, const assay_dot *d, size_t first, size_t last)
{
    assay_mac_unit u;
    assay_error err = {0};
    uint32_t a[2 * DEPTH] = {0}, b[2 * DEPTH] = {0}, y = 0;
    uint8_t sa[DEPTH] = {0}, sb[DEPTH] = {0};
    assert_ok(mac_open(p->units, &u, &err), &err);
    const size_t multiple = mac_multiple(&u.record), block = (size_t)u.record.scale_block;
    const size_t k = (last - first + multiple - 1) / multiple * multiple;
    const size_t size = p->elements == ASSAY_KIND_TF32 ? 4 : p->elements == ASSAY_KIND_BF16 ? 2 : 1;
    for (size_t i = first; i < last; i++) { /* little-endian */
        memcpy((char *)a + (i - first) * size, &d->a[i], size);
        memcpy((char *)b + (i - first) * size, &d->b[i], size);
    }
    for (size_t i = 0; block && i < k / block; i++) {
        const size_t at = i * block < DEPTH ? i * block : DEPTH - 1;
        sa[i] = (uint8_t)d->a_scale[at / (size_t)p->a_run];
        sb[i] = (uint8_t)d->b_scale[at / (size_t)p->b_run];
    }
    const assay_mac_rows in = {
        .k = k, .a = a, .b = b, .scale_a = block ? sa : NULL, .scale_b = block ? sb : NULL};
    assert_ok(mac_dots(&u.record, 1, &in, &y, &err), &err);
    return float_of(mac_to_f32((enum assay_mac_format)u.record.out, y));
}

static float expected_dot(const product *p, const assay_dot *d)
{
    const size_t run = (size_t)(p->a_run < p->b_run ? p->a_run : p->b_run);
    const bool in_unit = strstr(p->units, "blackwell") != NULL;
    float y = 0;
    if (in_unit)
        y = unit_dot(p, d, 0, DEPTH);
    for (size_t i = 0; !in_unit && i < DEPTH; i += run) {
        const float part = unit_dot(p, d, i, i + run < DEPTH ? i + run : DEPTH);
        const float scale = scale_at(p->scales, d->a_scale[i / (size_t)p->a_run]) *
                            scale_at(p->scales, d->b_scale[i / (size_t)p->b_run]);
        y = run >= DEPTH ? part * scale : fmaf(scale, part, y);
    }
    if (p->second)
        y = y * (float_of((uint32_t)d->a_second) * float_of((uint32_t)d->b_second));
    return p->bias ? y + float_of((uint32_t)d->bias) : y;
}

static assay_unit_spec product_spec(const product *p, assay_type in[7])
{
    const assay_kind none = ASSAY_KIND_NONE;
    in[0] = in[1] = type_of(p->elements);
    in[2] = in[3] = type_of(p->scales);
    in[4] = in[5] = type_of(p->second ? ASSAY_KIND_F32 : none);
    in[6] = type_of(p->bias ? ASSAY_KIND_F32 : none);
    assay_unit_spec spec = unit_spec("scaled_matmul", in,
                                     p->bias     ? 7
                                     : p->second ? 6
                                                 : 4,
                                     &f32_type);
    spec.depth = DEPTH;
    spec.window[0] = p->a_run;
    spec.window[1] = p->b_run;
    return spec;
}

static void dots(void **state)
{
    test_rng r = test_seed("products under scales", 23);
    (void)state;
    for (size_t i = 0; i < sizeof products / sizeof *products; i++) {
        const product *p = &products[i];
        assay_scheme *s = scheme_of(p->units, "");
        assay_type in[7];
        const assay_unit_spec spec = product_spec(p, in);
        assay_unit *u = unit_prepare(s, &spec);
        for (int k = 0; k < 20; k++) {
            int32_t a[DEPTH], b[DEPTH], sa[DEPTH], sb[DEPTH], y;
            assay_error err = {0};
            for (int j = 0; j < DEPTH; j++) {
                a[j] = pattern(&r, p->elements);
                b[j] = pattern(&r, p->elements);
                sa[j] = pattern(&r, p->scales) & 0x7fffffff;
                sb[j] = pattern(&r, p->scales) & 0x7fffffff;
            }
            const assay_dot d = {.k = DEPTH,
                                 .a = a,
                                 .b = b,
                                 .a_scale = sa,
                                 .b_scale = sb,
                                 .a_second = p->second ? 0x3fa00000 : 0x3f800000,
                                 .b_second = 0x3f800000,
                                 .bias = p->bias ? 0x3e99999a : 0};
            assert_ok(s->vt->dot(u, &d, &y, &err), &err);
            expect(p->units, (uint32_t)y, expected_dot(p, &d));
            alloc_countdown = 1;
            assert_int_equal(s->vt->dot(u, &d, &y, &err), ASSAY_ERR_MEMORY);
            assert_int_equal(alloc_countdown, 0);
        }
        s->vt->release(u);
        assay_scheme_free(s);
    }
}

/* ---- scales and elements as rows ---- */

static void blocks(void **state)
{
    assay_scheme *s = scheme_of("nv-hopper-e4m3-f32", "");
    const assay_type codes = type_of(ASSAY_KIND_F8E4M3FN);
    assay_type in[3] = {f32_type, f32_type, f32_type};
    const int32_t one = (int32_t)bits_of(1);
    int32_t x[5] = {one, (int32_t)bits_of(-100), (int32_t)bits_of(10), one, 0}, y[3];
    (void)state;
    assay_unit_spec spec = unit_spec("block_scale", in, 1, &f32_type);
    spec.flag = ASSAY_FLOAT_F8E4M3FN;
    spec.alpha = 1;
    assay_unit *u = unit_prepare(s, &spec);
    s->vt->row(u, x, 3, y);
    assert_int_equal(y[0], 0x3e649249); /* 100 / 448 */
    s->vt->release(u);

    x[3] = y[0];
    x[4] = one;
    spec = unit_spec("float_encode", in, 2, &codes);
    spec.flag = ASSAY_SCALE_BY_DIVIDE | 2;
    u = unit_prepare(s, &spec);
    s->vt->row(u, x, 3, y);
    assert_int_equal(y[1], 0xfe);
    s->vt->release(u);

    memcpy(x, y, sizeof y);
    in[0] = codes;
    spec = unit_spec("float_decode", in, 2, &f32_type);
    u = unit_prepare(s, &spec);
    s->vt->row(u, x, 3, y);
    assert_int_equal((uint32_t)y[1], bits_of(-100));
    s->vt->release(u);
    assay_scheme_free(s);
}

/* ---- refusals ---- */

static void refused(const assay_scheme *s, const assay_unit_spec *spec, const char *part)
{
    assay_error err = {0};
    assay_unit *u;
    assert_refused(s->vt->prepare(s, spec, &u, &err), &err, part);
    assert_null(u);
}

static void refusals(void **state)
{
    assay_scheme *hopper = scheme_of("nv-hopper-e4m3-f32", "");
    assay_scheme *mx = scheme_of("nv-blackwell-mxf8-e4m3", "");
    const assay_type codes = type_of(ASSAY_KIND_F8E4M3FN), i8 = type_of(ASSAY_KIND_INT);
    assay_type in[7] = {f32_type, f32_type};
    product p = products[0];
    (void)state;
    assay_unit_spec spec = unit_spec("resize", in, 1, &f32_type);
    refused(hopper, &spec, "node 'node' (resize): scheme 't': no arithmetic for this op");
    spec = unit_spec("add", in, 2, &codes);
    refused(hopper, &spec, "it computes with f32 there");
    in[1] = i8;
    spec = unit_spec("add", in, 2, &f32_type);
    refused(hopper, &spec, "it computes with f32 there");
    spec = unit_spec("float_encode", in, 2, &codes);
    refused(hopper, &spec, "expected scales of floats");
    spec = unit_spec("float_encode", in, 2, &i8);
    refused(hopper, &spec, "expected elements of small floats");
    in[0] = i8;
    spec = unit_spec("float_decode", in, 2, &f32_type);
    refused(hopper, &spec, "expected elements of small floats");
    for (int i = 0; i < 4; i++) {
        spec = product_spec(&p, in);
        in[i] = i8;
        refused(hopper, &spec, "expected floats");
    }
    spec = product_spec(&p, in);
    in[1] = type_of(ASSAY_KIND_F8E5M2);
    refused(hopper, &spec, "it has no unit for e4m3fn by e5m2");
    in[0] = in[1];
    refused(hopper, &spec, "it has no unit for e5m2 by e5m2");
    p.a_run = 32;
    p.b_run = 48;
    spec = product_spec(&p, in);
    refused(hopper, &spec, "do not lie within each other");
    p.a_run = 48;
    p.b_run = 32;
    spec = product_spec(&p, in);
    refused(hopper, &spec, "do not lie within each other");
    p = products[7];
    spec = product_spec(&p, in);
    in[3] = f32_type;
    refused(mx, &spec, "scales of another format");
    in[3] = in[2];
    in[2] = f32_type;
    refused(mx, &spec, "scales of another format");
    p.a_run = 16;
    spec = product_spec(&p, in);
    refused(mx, &spec, "fewer elements of K");
    p.a_run = 32;
    p.b_run = 48;
    spec = product_spec(&p, in);
    refused(mx, &spec, "fewer elements of K");
    alloc_countdown = 1;
    assay_error err = {0};
    assay_unit *u;
    assert_int_equal(mx->vt->prepare(mx, &spec, &u, &err), ASSAY_ERR_MEMORY);
    assay_scheme_free(hopper);
    assay_scheme_free(mx);
}

/* Element types and formats are each other's. */
static void elements(void **state)
{
    enum assay_mac_format f;
    (void)state;
    assert_false(mac_format_of(assay_bool(), &f));
    assert_true(mac_format_of(assay_f32(), &f));
    assert_int_equal(mac_elem_of(f), ASSAY_FLOAT_F32);
    for (int k = ASSAY_KIND_F16; k <= ASSAY_KIND_F8E8M0; k++) {
        assert_true(mac_format_of(assay_small_float((assay_kind)k), &f));
        assert_int_equal(mac_elem_of(f), k - ASSAY_KIND_F16 + ASSAY_FLOAT_F16);
    }
    assert_int_equal(mac_elem_of(ASSAY_MAC_UE4M3), ASSAY_FLOAT_F8E4M3FN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unary),           cmocka_unit_test(binary),   cmocka_unit_test(rows),
        cmocka_unit_test(formats_between), cmocka_unit_test(dots),     cmocka_unit_test(blocks),
        cmocka_unit_test(refusals),        cmocka_unit_test(elements),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
