/* Float kernels over windows (conv, its transpose, pools) against naive twins in double, in either
 * layout. */
#include "test/support/op_case.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS 40

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
    double *sum = calloc((size_t)op_count(&c->out[0]), sizeof *sum);

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
            sum[yi] += (double)op_f32(&c->in[0])[xi] * (double)op_f32(&c->in[1])[i];
        }
    }
    for (int64_t i = 0; i < op_count(&c->out[0]); i++) {
        int64_t n, channel, p[3];
        pixel_of(y, nhwc, i, &n, &channel, p);
        want[i] = (float)(sum[i] + (c->n_in > 2 ? (double)op_f32(&c->in[2])[channel] : 0));
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
    float *want = op_wanted(&c.out[0]);
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
            float *want = op_wanted(&c.out[0]), *got = c.out[0].data;
            naive_conv(&c, false, want);
            for (int64_t i = 0; i < op_count(&c.out[0]); i++)
                assert_true(fabsf(got[i] - want[i]) < 1e-3F);
            free(want);
            op_end(&c);
        }
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
        double v = (double)op_f32(&c->in[0])[at_pixel(x, nhwc, n, channel, q)];
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
        float *want = op_wanted(&c.out[0]);
        for (int64_t i = 0; i < op_count(&c.out[0]); i++)
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(conv_equals_naive_sums),
        cmocka_unit_test(conv_transpose_equals_naive_sums),
        cmocka_unit_test(conv_in_tiles),
        cmocka_unit_test(pools_equal_naive_windows),
        cmocka_unit_test(integer_max_pool_and_global_mean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
