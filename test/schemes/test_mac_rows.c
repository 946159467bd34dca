/* Rows under schemes of matrix units beside this machine's own floats; bounds and the format
 * between nodes; scales of blocks and their elements. */
#include "test/schemes/mac_values.h"

#include "schemes/mac/scale.h"
#include "schemes/mac/scheme.h"

enum { ROW = 7 };

static float sum_of(const float *x)
{
    float sum = 0;
    for (int i = 0; i < ROW; i++)
        sum = sum + x[i];
    return sum;
}

static void softmax_of(const float *x, float beta, float *y)
{
    float max = x[0];
    for (int i = 1; i < ROW; i++)
        max = x[i] > max ? x[i] : max;
    for (int i = 0; i < ROW; i++)
        y[i] = exp_of((x[i] - max) * beta);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows),
        cmocka_unit_test(formats_between),
        cmocka_unit_test(blocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
