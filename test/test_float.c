/* The float kernels against naive twins in double over random geometry, and against worked values
 * where a formula has corners. */
#include "test/op_case.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS 40

static const float *floats(const op_tensor *t)
{
    return t->data;
}

static int64_t count_of(const op_tensor *t)
{
    return assay_shape_count(&t->type);
}

static float *wanted(const op_tensor *t)
{
    float *want = calloc((size_t)count_of(t) + 1, sizeof *want);
    assert_non_null(want);
    return want;
}

/* ---- windows: one place for indices, in either layout ---- */

static int64_t at_pixel(const assay_type *t, bool nhwc, int64_t n, int64_t c, const int64_t *p)
{
    int64_t index[ASSAY_MAX_RANK] = {n};
    int spatial = t->rank - 2;
    index[nhwc ? t->rank - 1 : 1] = c;
    for (int d = 0; d < spatial; d++)
        index[(nhwc ? 1 : 2) + d] = p[d];
    return op_ravel(t, index);
}

/* Splits element i into batch, channel and position. */
static void pixel_of(const assay_type *t, bool nhwc, int64_t i, int64_t *n, int64_t *c, int64_t *p)
{
    int64_t index[ASSAY_MAX_RANK];
    op_unravel(t, i, index);
    *n = index[0];
    *c = index[nhwc ? t->rank - 1 : 1];
    for (int d = 0; d < t->rank - 2; d++)
        p[d] = index[(nhwc ? 1 : 2) + d];
}

static void set_shape(int64_t *dim, bool nhwc, int spatial, int64_t first, int64_t channels,
                      const int64_t *extent)
{
    dim[0] = first;
    dim[nhwc ? spatial + 1 : 1] = channels;
    for (int d = 0; d < spatial; d++)
        dim[(nhwc ? 1 : 2) + d] = extent[d];
}

static void any_window(test_rng *rng, assay_attr_conv *a, int spatial, int64_t *extent)
{
    a->kernel.n = a->stride.n = a->dilation.n = a->pad_begin.n = a->pad_end.n = spatial;
    a->output_padding.n = spatial;
    for (int d = 0; d < spatial; d++) {
        a->kernel.v[d] = test_between(rng, 1, 3);
        a->stride.v[d] = test_between(rng, 1, 3);
        a->dilation.v[d] = test_between(rng, 1, 2);
        a->pad_begin.v[d] = test_between(rng, 0, 2);
        a->pad_end.v[d] = test_between(rng, 0, 2);
        a->output_padding.v[d] = 0;
        extent[d] = test_between(rng, (a->kernel.v[d] - 1) * a->dilation.v[d] + 1, 7);
    }
}

/* ---- conv and its transpose ---- */

/* Every pair of an input element and a weight, and where its product lands. */
static void naive_conv(const op_case *c, bool transposed, float *want)
{
    const assay_attr_conv *a = &c->attr.conv;
    const assay_type *x = &c->in[0].type, *w = &c->in[1].type, *y = &c->out[0].type;
    bool nhwc = a->layout == ASSAY_LAYOUT_NHWC;
    const assay_type *wide = transposed ? y : x, *steps = transposed ? x : y;
    int spatial = x->rank - 2;
    double *sum = calloc((size_t)count_of(&c->out[0]), sizeof *sum);

    assert_non_null(sum);
    for (int64_t i = 0; i < assay_shape_count(w); i++) {
        int64_t first, second, tap[3], n_first = w->dim[0];
        pixel_of(w, nhwc, i, &first, &second, tap);
        int64_t per_group = n_first / a->group;
        /* conv: (output, input in group); transposed nchw: (input, output in group); nhwc: (o, i)
         */
        int64_t group = first / per_group;
        int64_t n_second = w->dim[nhwc ? w->rank - 1 : 1];
        int64_t other = group * n_second + second;
        bool first_is_output = !transposed || nhwc;
        int64_t out = first_is_output ? first : other, in = first_is_output ? other : first;
        for (int64_t s = 0; s < assay_shape_count(steps); s++) {
            int64_t n, channel, p[3], q[3];
            bool inside = true;
            pixel_of(steps, nhwc, s, &n, &channel, p);
            if (channel != (transposed ? in : out))
                continue;
            for (int d = 0; d < spatial; d++) {
                q[d] = p[d] * a->stride.v[d] - a->pad_begin.v[d] + tap[d] * a->dilation.v[d];
                inside = inside && q[d] >= 0 && q[d] < wide->dim[(nhwc ? 1 : 2) + d];
            }
            if (!inside)
                continue;
            int64_t far = at_pixel(wide, nhwc, n, transposed ? out : in, q);
            int64_t xi = transposed ? s : far, yi = transposed ? far : s;
            sum[yi] += (double)floats(&c->in[0])[xi] * (double)floats(&c->in[1])[i];
        }
    }
    for (int64_t i = 0; i < count_of(&c->out[0]); i++) {
        int64_t n, channel, p[3];
        pixel_of(y, nhwc, i, &n, &channel, p);
        want[i] = (float)(sum[i] + (c->n_in > 2 ? (double)floats(&c->in[2])[channel] : 0));
    }
    free(sum);
}

static void conv_round(test_rng *rng, bool transposed, int round)
{
    bool nhwc = round & 1;
    int spatial = 1 + round % 3;
    int64_t extent[3], dim[5], per_in = test_between(rng, 1, 3), per_out = test_between(rng, 1, 3);
    op_case c =
        op_begin(transposed ? ASSAY_OP_CONV_TRANSPOSE : ASSAY_OP_CONV, round % 5 ? 3 : 2, 1);
    assay_attr_conv *a = &c.attr.conv;

    any_window(rng, a, spatial, extent);
    if (transposed) /* pads that leave an output */
        for (int d = 0; d < spatial; d++)
            a->pad_begin.v[d] = a->pad_end.v[d] = a->kernel.v[d] > 1 ? 1 : 0;
    a->layout = nhwc ? ASSAY_LAYOUT_NHWC : ASSAY_LAYOUT_NCHW;
    a->group = transposed && nhwc ? 1 : test_between(rng, 1, 3);
    if (round % 4 == 0)
        per_in = 1; /* depthwise when in groups */
    int64_t inputs = per_in * a->group, outputs = per_out * a->group;
    set_shape(dim, nhwc, spatial, 2, inputs, extent);
    c.in[0] = op_noise(rng, assay_f32(), spatial + 2, dim);
    if (transposed && !nhwc)
        set_shape(dim, nhwc, spatial, inputs, per_out, a->kernel.v);
    else
        set_shape(dim, nhwc, spatial, outputs, per_in, a->kernel.v);
    c.in[1] = op_noise(rng, assay_f32(), spatial + 2, dim);
    if (c.n_in > 2)
        c.in[2] = op_noise(rng, assay_f32(), 1, &outputs);
    op_run(&c);
    float *want = wanted(&c.out[0]);
    naive_conv(&c, transposed, want);
    op_assert_close(&c.out[0], want, transposed ? "conv_transpose" : "conv");
    free(want);
    op_end(&c);
}

static void conv_equals_naive_sums(void **state)
{
    test_rng rng = test_seed(__func__, 20260711);
    (void)state;
    for (int round = 0; round < 2 * ROUNDS; round++)
        conv_round(&rng, false, round);
}

static void conv_transpose_equals_naive_sums(void **state)
{
    test_rng rng = test_seed(__func__, 20260711);
    (void)state;
    for (int round = 0; round < ROUNDS; round++)
        conv_round(&rng, true, round);
}

/* Large enough for several tiles of the patch matrix, whose seams must not show. */
static void conv_in_tiles(void **state)
{
    test_rng rng = test_seed(__func__, 20260711);
    (void)state;
    for (int nhwc = 0; nhwc < 2; nhwc++)
        for (int pointwise = 0; pointwise < 2; pointwise++) {
            op_case c = op_begin(ASSAY_OP_CONV, 2, 1);
            assay_attr_conv *a = &c.attr.conv;
            int64_t k = pointwise ? 1 : 3, pad = k / 2, channels = pointwise ? 300 : 40;
            int64_t x[4], w[4];
            a->layout = nhwc;
            a->kernel = (assay_list){2, {k, k}};
            a->stride = a->dilation = (assay_list){2, {1, 1}};
            a->pad_begin = a->pad_end = (assay_list){2, {pad, pad}};
            set_shape(x, nhwc, 2, 1, channels, (int64_t[]){37, 41});
            set_shape(w, nhwc, 2, 2, channels, a->kernel.v);
            c.in[0] = op_noise(&rng, assay_f32(), 4, x);
            c.in[1] = op_noise(&rng, assay_f32(), 4, w);
            op_run(&c);
            float *want = wanted(&c.out[0]), *got = c.out[0].data;
            naive_conv(&c, false, want);
            for (int64_t i = 0; i < count_of(&c.out[0]); i++)
                assert_true(fabsf(got[i] - want[i]) < 1e-3F);
            free(want);
            op_end(&c);
        }
}

/* ---- matrices ---- */

static void fc_equals_naive_sums(void **state)
{
    test_rng rng = test_seed(__func__, 20260711);
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        int64_t k = test_between(&rng, 1, 9), o = test_between(&rng, 1, 9), n = round % 4 + 1;
        op_case c = op_begin(ASSAY_OP_FC, 2 + round % 2, 1);
        c.in[0] = op_noise(&rng, assay_f32(), 3, (int64_t[]){2, n, k});
        c.in[1] = op_noise(&rng, assay_f32(), 2, (int64_t[]){o, k});
        if (round % 2)
            c.in[2] = op_noise(&rng, assay_f32(), 1, &o);
        op_run(&c);
        float *want = wanted(&c.out[0]);
        for (int64_t i = 0; i < count_of(&c.out[0]); i++) {
            double sum = round % 2 ? (double)floats(&c.in[2])[i % o] : 0;
            for (int64_t j = 0; j < k; j++)
                sum += (double)floats(&c.in[0])[i / o * k + j] *
                       (double)floats(&c.in[1])[i % o * k + j];
            want[i] = (float)sum;
        }
        op_assert_close(&c.out[0], want, "fc");
        free(want);
        op_end(&c);
    }
}

static void matmul_broadcasts_batches(void **state)
{
    test_rng rng = test_seed(__func__, 20260711);
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        int64_t m = test_between(&rng, 1, 5), n = test_between(&rng, 1, 5),
                k = test_between(&rng, 1, 5);
        bool ta = round & 1, tb = round & 2, one_a = round & 4, one_b = round & 8;
        op_case c = op_begin(ASSAY_OP_MATMUL, 2, 1);
        c.attr.matmul = (assay_attr_matmul){.transpose_a = ta, .transpose_b = tb};
        c.in[0] =
            op_noise(&rng, assay_f32(), 4, (int64_t[]){3, one_a ? 1 : 2, ta ? k : m, ta ? m : k});
        c.in[1] =
            op_noise(&rng, assay_f32(), 3, (int64_t[]){one_b ? 1 : 2, tb ? n : k, tb ? k : n});
        op_run(&c);
        int64_t inner = one_a && one_b ? 1 : 2;
        assert_int_equal(count_of(&c.out[0]), 3 * inner * m * n);
        float *want = wanted(&c.out[0]);
        for (int64_t i = 0; i < count_of(&c.out[0]); i++) {
            int64_t row = i / n % m, column = i % n, b = i / n / m;
            int64_t a_at = one_a ? b / inner : b / inner * 2 + b % inner;
            int64_t b_at = one_b ? 0 : b % inner;
            double sum = 0;
            for (int64_t j = 0; j < k; j++)
                sum +=
                    (double)floats(&c.in[0])[a_at * m * k + (ta ? j * m + row : row * k + j)] *
                    (double)floats(&c.in[1])[b_at * n * k + (tb ? column * k + j : j * n + column)];
            want[i] = (float)sum;
        }
        op_assert_close(&c.out[0], want, "matmul");
        free(want);
        op_end(&c);
    }
    op_case v = op_begin(ASSAY_OP_MATMUL, 2, 1);
    v.in[0] = op_floats(1, (int64_t[]){2}, (float[]){1, 2});
    v.in[1] = op_floats(1, (int64_t[]){2}, (float[]){3, 4});
    op_run(&v);
    assert_int_equal(v.out[0].type.rank, 0);
    op_assert_close(&v.out[0], (float[]){11}, "matmul of vectors");
    op_end(&v);
}

/* ---- pools ---- */

static float naive_pool(const op_case *c, int64_t i)
{
    const assay_attr_pool *a = &c->attr.pool;
    const assay_type *x = &c->in[0].type;
    bool nhwc = a->layout == ASSAY_LAYOUT_NHWC, max = c->op == ASSAY_OP_MAX_POOL;
    int64_t n, channel, p[3] = {0}, taps = 1, cells = 0;
    double sum = 0, top = -INFINITY;

    pixel_of(&c->out[0].type, nhwc, i, &n, &channel, p);
    for (int d = 0; d < x->rank - 2; d++)
        taps *= a->kernel.v[d];
    for (int64_t t = 0; t < taps; t++) {
        int64_t q[3], rest = t;
        bool inside = true, padded = true;
        for (int d = x->rank - 3; d >= 0; d--) {
            int64_t extent = x->dim[(nhwc ? 1 : 2) + d];
            q[d] = p[d] * a->stride.v[d] - a->pad_begin.v[d] +
                   rest % a->kernel.v[d] * a->dilation.v[d];
            rest /= a->kernel.v[d];
            inside = inside && q[d] >= 0 && q[d] < extent;
            padded = padded && q[d] < extent + a->pad_end.v[d];
        }
        cells += a->count_include_pad ? padded : inside;
        if (!inside)
            continue;
        double v = (double)floats(&c->in[0])[at_pixel(x, nhwc, n, channel, q)];
        sum += v;
        top = v > top ? v : top;
    }
    return (float)(max ? top : sum / (double)cells);
}

static void pools_equal_naive_windows(void **state)
{
    test_rng rng = test_seed(__func__, 20260711);
    (void)state;
    for (int round = 0; round < 3 * ROUNDS; round++) {
        bool nhwc = round & 1;
        int spatial = 1 + round % 3;
        int64_t extent[3], dim[5];
        assay_attr_conv w;
        op_case c = op_begin(round & 2 ? ASSAY_OP_MAX_POOL : ASSAY_OP_AVG_POOL, 1, 1);
        assay_attr_pool *a = &c.attr.pool;
        any_window(&rng, &w, spatial, extent);
        *a = (assay_attr_pool){.layout = nhwc,
                               .kernel = w.kernel,
                               .stride = w.stride,
                               .dilation = w.dilation,
                               .pad_begin = w.pad_begin,
                               .pad_end = w.pad_end,
                               .ceil_mode = round & 4,
                               .count_include_pad = round & 8};
        for (int d = 0; d < spatial; d++) { /* every window meets the input */
            if (a->kernel.v[d] == 1)
                a->pad_begin.v[d] = a->pad_end.v[d] = 0;
            else
                a->pad_begin.v[d] %= 2, a->pad_end.v[d] %= 2;
        }
        set_shape(dim, nhwc, spatial, 2, 3, extent);
        c.in[0] = op_noise(&rng, assay_f32(), spatial + 2, dim);
        op_run(&c);
        float *want = wanted(&c.out[0]);
        for (int64_t i = 0; i < count_of(&c.out[0]); i++)
            want[i] = naive_pool(&c, i);
        op_assert_close(&c.out[0], want, assay_op_get(c.op)->name);
        free(want);
        op_end(&c);
    }
}

static void integer_max_pool_and_global_mean(void **state)
{
    const uint8_t x[] = {1, 200, 3, 4, 5, 255, 7, 8, 9}, want[] = {200, 255, 8, 255};
    (void)state;
    op_case c = op_begin(ASSAY_OP_MAX_POOL, 1, 1);
    c.in[0] = op_zeros(assay_int(8, false), 4, (int64_t[]){1, 1, 3, 3});
    memcpy(c.in[0].data, x, sizeof x);
    c.attr.pool.kernel = (assay_list){2, {2, 2}};
    op_run(&c);
    assert_memory_equal(c.out[0].data, want, sizeof want);
    op_end(&c);

    for (int nhwc = 0; nhwc < 2; nhwc++) {
        op_case g = op_begin(ASSAY_OP_GLOBAL_AVG_POOL, 1, 1);
        g.attr.layout.layout = nhwc;
        g.in[0] = op_floats(4, nhwc ? (int64_t[]){1, 1, 3, 2} : (int64_t[]){1, 2, 1, 3},
                            (float[]){1, 2, 3, 4, 5, 6});
        op_run(&g);
        op_assert_close(&g.out[0], nhwc ? (float[]){3, 4} : (float[]){2, 5}, "global_avg_pool");
        op_end(&g);
    }
}

/* ---- element-wise ---- */

static void unary_worked_values(void **state)
{
    const float x[] = {-3, -0.5F, 0, 0.5F, 2.5F};
    const struct {
        assay_op op;
        float want[5];
    } cases[] = {
        {ASSAY_OP_RELU, {0, 0, 0, 0.5F, 2.5F}},
        {ASSAY_OP_LEAKY_RELU, {-0.03F, -0.005F, 0, 0.5F, 2.5F}},
        {ASSAY_OP_SIGMOID, {0.04742587F, 0.37754067F, 0.5F, 0.62245933F, 0.92414182F}},
        {ASSAY_OP_TANH, {-0.99505475F, -0.46211716F, 0, 0.46211716F, 0.98661430F}},
        {ASSAY_OP_HARD_SWISH, {0, -0.20833333F, 0, 0.29166667F, 2.29166667F}},
        {ASSAY_OP_HARD_SIGMOID, {0, 0.4F, 0.5F, 0.6F, 1}},
        {ASSAY_OP_ELU, {-0.0095021293F, -0.0039346934F, 0, 0.5F, 2.5F}},
        {ASSAY_OP_GELU, {-0.0040496940F, -0.15426877F, 0, 0.34573123F, 2.4844758F}},
        {ASSAY_OP_ERF, {-0.99997791F, -0.52049988F, 0, 0.52049988F, 0.99959305F}},
        {ASSAY_OP_EXP, {0.049787068F, 0.60653066F, 1, 1.6487213F, 12.182494F}},
        {ASSAY_OP_SQUARE, {9, 0.25F, 0, 0.25F, 6.25F}},
        {ASSAY_OP_ABS, {3, 0.5F, 0, 0.5F, 2.5F}},
        {ASSAY_OP_NEG, {3, 0.5F, 0, -0.5F, -2.5F}},
        {ASSAY_OP_SIGN, {-1, -1, 0, 1, 1}},
        {ASSAY_OP_FLOOR, {-3, -1, 0, 0, 2}},
        {ASSAY_OP_CEIL, {-3, 0, 0, 1, 3}},
        {ASSAY_OP_ROUND, {-3, 0, 0, 0, 2}},
        {ASSAY_OP_SIN, {-0.14112001F, -0.47942554F, 0, 0.47942554F, 0.59847214F}},
        {ASSAY_OP_COS, {-0.98999250F, 0.87758256F, 1, 0.87758256F, -0.80114362F}},
        {ASSAY_OP_SOFTPLUS, {0.048587352F, 0.47407698F, 0.69314718F, 0.97407698F, 2.5788907F}},
    };
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        op_case c = op_begin(cases[k].op, 1, 1);
        c.in[0] = op_floats(1, (int64_t[]){5}, x);
        op_run(&c);
        op_assert_close(&c.out[0], cases[k].want, assay_op_get(c.op)->name);
        op_end(&c);
    }
    const float positive[] = {0.25F, 1, 4}, root[] = {0.5F, 1, 2}, inverse[] = {4, 1, 0.25F};
    const float ln[] = {-1.3862944F, 0, 1.3862944F}, rsqrt[] = {2, 1, 0.5F};
    const struct {
        assay_op op;
        const float *want;
    } roots[] = {{ASSAY_OP_SQRT, root},
                 {ASSAY_OP_RSQRT, rsqrt},
                 {ASSAY_OP_RECIPROCAL, inverse},
                 {ASSAY_OP_LOG, ln}};
    for (size_t k = 0; k < sizeof roots / sizeof *roots; k++) {
        op_case c = op_begin(roots[k].op, 1, 1);
        c.in[0] = op_floats(1, (int64_t[]){3}, positive);
        op_run(&c);
        op_assert_close(&c.out[0], roots[k].want, assay_op_get(c.op)->name);
        op_end(&c);
    }
}

static void gelu_with_tanh_and_clip(void **state)
{
    (void)state;
    op_case g = op_begin(ASSAY_OP_GELU, 1, 1);
    g.attr.gelu.approximate = ASSAY_GELU_TANH;
    g.in[0] = op_floats(1, (int64_t[]){2}, (float[]){-1, 2});
    op_run(&g);
    op_assert_close(&g.out[0], (float[]){-0.15880801F, 1.95459769F}, "gelu tanh");
    op_end(&g);

    op_case c = op_begin(ASSAY_OP_CLIP, 1, 1);
    c.attr.clip = (assay_attr_clip){.lo = -1.5F, .hi = 2.5F};
    c.in[0] = op_zeros(assay_int(8, true), 1, (int64_t[]){3});
    memcpy(c.in[0].data, (int8_t[]){-100, 1, 100}, 3);
    op_run(&c);
    assert_memory_equal(c.out[0].data, ((int8_t[]){-1, 1, 2}), 3);
    op_end(&c);
}

static void fused_activation_bounds_every_kernel(void **state)
{
    (void)state;
    op_case c = op_begin(ASSAY_OP_ADD, 2, 1);
    c.fused = true;
    c.act_lo = 0;
    c.act_hi = 6;
    c.in[0] = op_floats(1, (int64_t[]){3}, (float[]){-5, 1, 5});
    c.in[1] = op_floats(1, (int64_t[]){1}, (float[]){2});
    op_run(&c);
    op_assert_close(&c.out[0], (float[]){0, 3, 6}, "add with relu6");
    op_end(&c);
}

static void binary_floats(void **state)
{
    const float a[] = {-7, 7, -7, 7}, b[] = {3, 3, -3, -3};
    const struct {
        assay_op op;
        float want[4];
    } cases[] = {
        {ASSAY_OP_ADD, {-4, 10, -10, 4}},
        {ASSAY_OP_SUB, {-10, 4, -4, 10}},
        {ASSAY_OP_MUL, {-21, 21, 21, -21}},
        {ASSAY_OP_DIV, {-7 / 3.0F, 7 / 3.0F, 7 / 3.0F, -7 / 3.0F}},
        {ASSAY_OP_MIN, {-7, 3, -7, -3}},
        {ASSAY_OP_MAX, {3, 7, -3, 7}},
        {ASSAY_OP_POW, {-343, 343, 1 / -343.0F, 1 / 343.0F}},
        {ASSAY_OP_MOD, {2, 1, -1, -2}},
        {ASSAY_OP_FLOOR_DIV, {-3, 2, 2, -3}},
        {ASSAY_OP_SQUARED_DIFFERENCE, {100, 16, 16, 100}},
        {ASSAY_OP_PRELU, {-21, 7, 21, 7}},
    };
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        op_case c = op_begin(cases[k].op, 2, 1);
        c.in[0] = op_floats(1, (int64_t[]){4}, a);
        c.in[1] = op_floats(1, (int64_t[]){4}, b);
        op_run(&c);
        op_assert_close(&c.out[0], cases[k].want, assay_op_get(c.op)->name);
        op_end(&c);
    }
    op_case t = op_begin(ASSAY_OP_MOD, 2, 1);
    t.attr.mod.truncated = true;
    t.in[0] = op_floats(1, (int64_t[]){4}, a);
    t.in[1] = op_floats(1, (int64_t[]){4}, b);
    op_run(&t);
    op_assert_close(&t.out[0], (float[]){-1, 1, -1, 1}, "mod truncated");
    op_end(&t);
}

static void binary_integers(void **state)
{
    const int8_t a[] = {-7, 7, -128, 100}, b[] = {3, -3, -1, 100};
    const struct {
        assay_op op;
        int8_t want[4];
    } cases[] = {
        {ASSAY_OP_ADD, {-4, 4, 127, -56}},       {ASSAY_OP_SUB, {-10, 10, -127, 0}},
        {ASSAY_OP_MUL, {-21, -21, -128, 16}},    {ASSAY_OP_DIV, {-2, -2, -128, 1}},
        {ASSAY_OP_FLOOR_DIV, {-3, -3, -128, 1}}, {ASSAY_OP_MOD, {2, -2, 0, 0}},
        {ASSAY_OP_MIN, {-7, -3, -128, 100}},     {ASSAY_OP_MAX, {3, 7, -1, 100}},
    };
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        op_case c = op_begin(cases[k].op, 2, 1);
        c.in[0] = op_zeros(assay_int(8, true), 1, (int64_t[]){4});
        c.in[1] = op_zeros(assay_int(8, true), 1, (int64_t[]){4});
        memcpy(c.in[0].data, a, sizeof a);
        memcpy(c.in[1].data, b, sizeof b);
        op_run(&c);
        assert_memory_equal(c.out[0].data, cases[k].want, 4);
        op_end(&c);
    }
    op_case z = op_begin(ASSAY_OP_DIV, 2, 1);
    assay_error err = {0};
    z.in[0] = op_zeros(assay_int(64, true), 1, (int64_t[]){1});
    z.in[1] = op_zeros(assay_int(64, true), 1, (int64_t[]){1});
    assert_refused(op_try(&z, &err), &err, "division by zero");
    op_end(&z);
}

static void comparisons_and_logic(void **state)
{
    const struct {
        assay_op op;
        uint8_t want[3]; /* of 1 ? 2, 2 ? 2, 3 ? 2 */
    } cases[] = {{ASSAY_OP_EQUAL, {0, 1, 0}},   {ASSAY_OP_NOT_EQUAL, {1, 0, 1}},
                 {ASSAY_OP_LESS, {1, 0, 0}},    {ASSAY_OP_LESS_EQUAL, {1, 1, 0}},
                 {ASSAY_OP_GREATER, {0, 0, 1}}, {ASSAY_OP_GREATER_EQUAL, {0, 1, 1}}};
    (void)state;
    for (size_t k = 0; k < 2 * sizeof cases / sizeof *cases; k++) {
        op_case c = op_begin(cases[k / 2].op, 2, 1);
        if (k % 2) {
            c.in[0] = op_floats(1, (int64_t[]){3}, (float[]){1, 2, 3});
            c.in[1] = op_floats(0, NULL, (float[]){2});
        } else {
            c.in[0] = op_zeros(assay_int(64, true), 1, (int64_t[]){3});
            c.in[1] = op_zeros(assay_int(64, true), 0, NULL);
            memcpy(c.in[0].data, (int64_t[]){1, 2, 3}, 24);
            memcpy(c.in[1].data, (int64_t[]){2}, 8);
        }
        op_run(&c);
        assert_memory_equal(c.out[0].data, cases[k / 2].want, 3);
        op_end(&c);
    }
    for (int k = 0; k < 3; k++) {
        const assay_op ops[] = {ASSAY_OP_LOGICAL_AND, ASSAY_OP_LOGICAL_OR, ASSAY_OP_LOGICAL_NOT};
        const uint8_t want[3][4] = {{0, 0, 0, 1}, {0, 1, 1, 1}, {1, 1, 0, 0}};
        op_case c = op_begin(ops[k], k == 2 ? 1 : 2, 1);
        for (int i = 0; i < c.n_in; i++)
            c.in[i] = op_zeros(assay_bool(), 1, (int64_t[]){4});
        memcpy(c.in[0].data, (uint8_t[]){0, 0, 1, 1}, 4);
        if (c.n_in > 1)
            memcpy(c.in[1].data, (uint8_t[]){0, 1, 0, 1}, 4);
        op_run(&c);
        assert_memory_equal(c.out[0].data, want[k], 4);
        op_end(&c);
    }
}

/* ---- rows and channels ---- */

static void softmax_along_any_axis(void **state)
{
    test_rng rng = test_seed(__func__, 20260711);
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        bool is_log = round & 1;
        int64_t axis = round % 3, dim[] = {2, 3, 4};
        op_case c = op_begin(is_log ? ASSAY_OP_LOG_SOFTMAX : ASSAY_OP_SOFTMAX, 1, 1);
        c.attr.softmax.axis = axis;
        c.attr.softmax.beta = 1.5F;
        c.in[0] = op_noise(&rng, assay_f32(), 3, dim);
        if (round == 1)
            ((float *)c.in[0].data)[0] = 10000; /* would overflow without the maximum taken out */
        op_run(&c);
        float *want = wanted(&c.out[0]);
        for (int64_t i = 0; i < 24; i++) {
            int64_t at[ASSAY_MAX_RANK];
            double sum = 0, x = (double)floats(&c.in[0])[i];
            op_unravel(&c.in[0].type, i, at);
            for (at[axis] = 0; at[axis] < dim[axis]; at[axis]++)
                sum += exp(1.5 * ((double)floats(&c.in[0])[op_ravel(&c.in[0].type, at)] - x));
            want[i] = (float)(is_log ? -log(sum) : 1 / sum);
        }
        if (round == 1)
            assert_true(isfinite(floats(&c.out[0])[0]) && floats(&c.out[0])[0] == 0);
        else
            op_assert_close(&c.out[0], want, "softmax");
        free(want);
        op_end(&c);
    }
}

static void normalizations(void **state)
{
    (void)state;
    op_case b = op_begin(ASSAY_OP_BATCH_NORM, 5, 1);
    b.in[0] = op_floats(3, (int64_t[]){1, 2, 2}, (float[]){1, 2, 3, 4});
    b.in[1] = op_floats(1, (int64_t[]){2}, (float[]){2, 3});
    b.in[2] = op_floats(1, (int64_t[]){2}, (float[]){10, 20});
    b.in[3] = op_floats(1, (int64_t[]){2}, (float[]){1, 3});
    b.in[4] = op_floats(1, (int64_t[]){2}, (float[]){3, 8});
    b.attr.batch_norm.epsilon = 1;
    op_run(&b);
    op_assert_close(&b.out[0], (float[]){10, 11, 20, 21}, "batch_norm");
    op_end(&b);

    op_case n = op_begin(ASSAY_OP_L2_NORM, 1, 1);
    n.attr.norm = (assay_attr_norm){.axis = 0, .epsilon = 1e-12F};
    n.in[0] = op_floats(2, (int64_t[]){2, 2}, (float[]){3, 5, 4, 12});
    op_run(&n);
    op_assert_close(&n.out[0], (float[]){0.6F, 5 / 13.0F, 0.8F, 12 / 13.0F}, "l2_norm");
    op_end(&n);

    op_case l = op_begin(ASSAY_OP_LAYER_NORM, 3, 1);
    l.attr.norm = (assay_attr_norm){.axis = 1, .epsilon = 0};
    l.in[0] = op_floats(2, (int64_t[]){2, 2}, (float[]){1, 3, 10, 30});
    l.in[1] = op_floats(1, (int64_t[]){2}, (float[]){2, 5});
    l.in[2] = op_floats(1, (int64_t[]){1}, (float[]){1});
    op_run(&l);
    op_assert_close(&l.out[0], (float[]){-1, 6, -1, 6}, "layer_norm");
    op_end(&l);

    op_case r = op_begin(ASSAY_OP_LRN, 1, 1);
    r.attr.lrn = (assay_attr_lrn){.size = 2, .alpha = 2, .beta = 1, .bias = 1};
    r.in[0] = op_floats(3, (int64_t[]){1, 3, 1}, (float[]){1, 2, 3});
    op_run(&r); /* of size 2, the window reaches one channel ahead */
    op_assert_close(&r.out[0], (float[]){1 / 6.0F, 2 / 14.0F, 3 / 10.0F}, "lrn");
    op_end(&r);
}

static void reductions(void **state)
{
    const assay_op ops[] = {ASSAY_OP_REDUCE_SUM, ASSAY_OP_REDUCE_MEAN, ASSAY_OP_REDUCE_PROD,
                            ASSAY_OP_REDUCE_MAX, ASSAY_OP_REDUCE_MIN};
    test_rng rng = test_seed(__func__, 20260711);
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        int64_t dim[] = {2, 3, 2, 4};
        unsigned axes = (unsigned)test_between(&rng, 1, 15);
        op_case c = op_begin(ops[round % 5], 1, 1);
        c.attr.reduce.keepdims = true;
        for (int d = 0; d < 4; d++)
            if (axes >> d & 1)
                c.attr.reduce.axes.v[c.attr.reduce.axes.n++] = d;
        c.in[0] = op_noise(&rng, assay_f32(), 4, dim);
        op_run(&c);
        float *want = wanted(&c.out[0]);
        for (int64_t o = 0; o < count_of(&c.out[0]); o++) {
            double sum = 0, product = 1, top = -INFINITY, least = INFINITY, n = 0;
            for (int64_t i = 0; i < 48; i++) {
                int64_t at[ASSAY_MAX_RANK];
                op_unravel(&c.in[0].type, i, at);
                for (int d = 0; d < 4; d++)
                    at[d] = axes >> d & 1 ? 0 : at[d];
                if (op_ravel(&c.out[0].type, at) != o)
                    continue;
                double v = (double)floats(&c.in[0])[i];
                sum += v, product *= v, n++;
                top = fmax(top, v), least = fmin(least, v);
            }
            const double each[] = {sum, sum / n, product, top, least};
            want[o] = (float)each[round % 5];
        }
        op_assert_close(&c.out[0], want, assay_op_get(c.op)->name);
        free(want);
        op_end(&c);
    }
}

static void cumulative_sums(void **state)
{
    const float want[4][3] = {{1, 3, 6}, {0, 1, 3}, {6, 5, 3}, {5, 3, 0}};
    (void)state;
    for (int k = 0; k < 4; k++) {
        op_case c = op_begin(ASSAY_OP_CUMSUM, 1, 1);
        c.attr.cumsum = (assay_attr_cumsum){.axis = 1, .exclusive = k & 1, .reverse = k & 2};
        c.in[0] = op_floats(3, (int64_t[]){1, 3, 1}, (float[]){1, 2, 3});
        op_run(&c);
        op_assert_close(&c.out[0], want[k], "cumsum");
        op_end(&c);
    }
}

static void casts_truncate_and_saturate(void **state)
{
    (void)state;
    op_case c = op_begin(ASSAY_OP_CAST, 1, 1);
    c.attr.cast.to = ASSAY_CAST_I8;
    c.in[0] = op_floats(1, (int64_t[]){5}, (float[]){-1.9F, 1.9F, 1000, -INFINITY, NAN});
    op_run(&c);
    assert_memory_equal(c.out[0].data, ((int8_t[]){-1, 1, 127, -128, 0}), 5);
    op_end(&c);

    op_case b = op_begin(ASSAY_OP_CAST, 1, 1);
    b.attr.cast.to = ASSAY_CAST_BOOL;
    b.in[0] = op_floats(1, (int64_t[]){3}, (float[]){0, 0.25F, -3});
    op_run(&b);
    assert_memory_equal(b.out[0].data, ((uint8_t[]){0, 1, 1}), 3);
    op_end(&b);

    op_case f = op_begin(ASSAY_OP_CAST, 1, 1);
    f.attr.cast.to = ASSAY_CAST_F32;
    f.in[0] = op_zeros(assay_int(16, false), 1, (int64_t[]){1});
    *(uint16_t *)f.in[0].data = 65535;
    op_run(&f);
    op_assert_close(&f.out[0], (float[]){65535}, "cast of u16");
    op_end(&f);
}

/* ---- resize: one axis of four inputs, worked by the formulas of ONNX Resize ---- */

typedef struct resize_case {
    int mode, coordinate, nearest;
    int64_t size;
    float want[8];
} resize_case;

static void resize_worked_values(void **state)
{
    const resize_case cases[] = {
        {ASSAY_RESIZE_NEAREST,
         ASSAY_COORD_ASYMMETRIC,
         ASSAY_NEAREST_FLOOR,
         8,
         {1, 1, 2, 2, 3, 3, 4, 4}},
        {ASSAY_RESIZE_NEAREST,
         ASSAY_COORD_ASYMMETRIC,
         ASSAY_NEAREST_CEIL,
         8,
         {1, 2, 2, 3, 3, 4, 4, 4}},
        {ASSAY_RESIZE_NEAREST,
         ASSAY_COORD_ASYMMETRIC,
         ASSAY_NEAREST_ROUND_PREFER_FLOOR,
         8,
         {1, 1, 2, 2, 3, 3, 4, 4}},
        {ASSAY_RESIZE_NEAREST,
         ASSAY_COORD_ASYMMETRIC,
         ASSAY_NEAREST_ROUND_PREFER_CEIL,
         8,
         {1, 2, 2, 3, 3, 4, 4, 4}},
        {ASSAY_RESIZE_LINEAR,
         ASSAY_COORD_HALF_PIXEL,
         0,
         8,
         {1, 1.25F, 1.75F, 2.25F, 2.75F, 3.25F, 3.75F, 4}},
        {ASSAY_RESIZE_LINEAR, ASSAY_COORD_ALIGN_CORNERS, 0, 7, {1, 1.5F, 2, 2.5F, 3, 3.5F, 4}},
        {ASSAY_RESIZE_LINEAR, ASSAY_COORD_ASYMMETRIC, 0, 2, {1, 3}},
        {ASSAY_RESIZE_LINEAR, ASSAY_COORD_PYTORCH_HALF_PIXEL, 0, 1, {1}},
        {ASSAY_RESIZE_LINEAR, ASSAY_COORD_HALF_PIXEL, 0, 1, {2.5F}},
        /* at 0.5: taps 0..3 weigh a/8*(-1), 1/2 - a/8*(-1) ... = -3/32, 19/32, 19/32, -3/32 */
        {ASSAY_RESIZE_CUBIC, ASSAY_COORD_HALF_PIXEL, 0, 2, {1.40625F, 3.59375F}},
    };
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        for (int leading = 0; leading < 2; leading++) { /* the axis innermost, then outermost */
            const resize_case *r = &cases[k];
            int64_t last = leading ? 2 : 4;
            op_case c = op_begin(ASSAY_OP_RESIZE, 1, 1);
            c.attr.resize.mode = r->mode;
            c.attr.resize.coordinate = r->coordinate;
            c.attr.resize.nearest = r->nearest;
            c.attr.resize.size =
                (assay_list){4, {1, 1, leading ? r->size : 2, leading ? 2 : r->size}};
            float x[8], want[16];
            for (int64_t i = 0; i < 8; i++)
                x[i] = (float)(leading ? i / 2 : i % 4) + 1;
            c.in[0] = op_floats(4, (int64_t[]){1, 1, 8 / last, last}, x);
            op_run(&c);
            for (int64_t i = 0; i < 2 * r->size; i++)
                want[i] = r->want[leading ? i / 2 : i % r->size];
            op_assert_close(&c.out[0], want, "resize");
            op_end(&c);
        }
}

static void quantized_values_are_refused(void **state)
{
    const float scale[] = {1};
    const int32_t zero[] = {0};
    (void)state;
    op_case c = op_begin(ASSAY_OP_RELU, 1, 1);
    assay_error err = {0};
    c.in[0] = op_zeros(assay_int(8, true), 1, (int64_t[]){2});
    c.in[0].type.q = (assay_qparams){
        .granularity = ASSAY_Q_TENSOR, .count = 1, .scale = scale, .zero_point = zero};
    assert_refused(op_try(&c, &err), &err, "quantized i8");
    op_end(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(conv_equals_naive_sums),
        cmocka_unit_test(conv_transpose_equals_naive_sums),
        cmocka_unit_test(conv_in_tiles),
        cmocka_unit_test(fc_equals_naive_sums),
        cmocka_unit_test(matmul_broadcasts_batches),
        cmocka_unit_test(pools_equal_naive_windows),
        cmocka_unit_test(integer_max_pool_and_global_mean),
        cmocka_unit_test(unary_worked_values),
        cmocka_unit_test(gelu_with_tanh_and_clip),
        cmocka_unit_test(fused_activation_bounds_every_kernel),
        cmocka_unit_test(binary_floats),
        cmocka_unit_test(binary_integers),
        cmocka_unit_test(comparisons_and_logic),
        cmocka_unit_test(softmax_along_any_axis),
        cmocka_unit_test(normalizations),
        cmocka_unit_test(reductions),
        cmocka_unit_test(cumulative_sums),
        cmocka_unit_test(casts_truncate_and_saturate),
        cmocka_unit_test(resize_worked_values),
        cmocka_unit_test(quantized_values_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
