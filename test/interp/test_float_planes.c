/* Depthwise convolutions in nchw bit for bit: sums by fours, then two, then one, over taps in
 * order, those outside of the input products by 0. */
#include "test/support/op_case.h"

#include <stdlib.h>
#include <string.h>

/* volatile: each product and each sum is rounded to a float. */
static float sum_of(const float *x, const float *w, int64_t n)
{
    volatile float sum = x[0] * w[0];
    for (int64_t i = 1; i < n; i++) {
        volatile float product = x[i] * w[i];
        sum = sum + product;
    }
    return sum;
}

static float expected(const op_case *c, int64_t i)
{
    const assay_type *y = &c->out[0].type;
    int64_t index[ASSAY_MAX_RANK], taps = 1;
    float x[64];
    op_unravel(y, i, index);
    for (int d = 0; d < y->rank - 2; d++)
        taps *= c->attr.conv.kernel.v[d];
    const float *w = op_f32(&c->in[1]) + index[1] * taps;
    for (int64_t t = 0; t < taps; t++)
        x[t] = op_under_tap(c, index[0] * y->dim[1] + index[1], index + 2, t);
    volatile float y_i = 0;
    int64_t t = 0;
    for (; t + 4 <= taps; t += 4)
        y_i = sum_of(x + t, w + t, 4) + y_i;
    if (t + 2 <= taps) {
        y_i = sum_of(x + t, w + t, 2) + y_i;
        t += 2;
    }
    return t < taps ? sum_of(x + t, w + t, 1) + y_i : y_i;
}

static void round_of(test_rng *rng, int64_t channels, int64_t max)
{
    const int spatial = (int)test_between(rng, 1, 3);
    op_case c = op_begin(ASSAY_OP_CONV, 2, 1);
    assay_attr_conv *a = &c.attr.conv;
    int64_t x[5] = {test_between(rng, 1, 2), channels}, w[5] = {channels, 1};
    a->group = channels;
    a->kernel.n = a->stride.n = a->dilation.n = a->pad_begin.n = a->pad_end.n = spatial;
    for (int d = 0; d < spatial; d++) {
        a->kernel.v[d] = w[2 + d] = test_between(rng, 1, d == 0 ? 4 : 3);
        a->stride.v[d] = test_between(rng, 1, 3);
        a->dilation.v[d] = test_between(rng, 1, 3);
        a->pad_begin.v[d] = test_between(rng, 0, 3);
        a->pad_end.v[d] = test_between(rng, 0, 3);
        x[2 + d] = test_between(rng, (w[2 + d] - 1) * a->dilation.v[d] + 1, max);
    }
    /* A window of whole rows is another product (takes_rows of conv.c). */
    if (w[1 + spatial] == x[1 + spatial])
        x[1 + spatial]++;
    c.in[0] = op_noise(rng, assay_f32(), spatial + 2, x);
    c.in[1] = op_noise(rng, assay_f32(), spatial + 2, w);
    for (int64_t i = 0; i < op_count(&c.in[0]); i++) /* sums that round */
        ((float *)c.in[0].data)[i] *= (float)(test_unit(rng) - 0.5);
    op_run(&c);
    for (int64_t i = 0; i < op_count(&c.out[0]); i++) {
        const float want = expected(&c, i), got = op_f32(&c.out[0])[i];
        if (memcmp(&want, &got, sizeof got) != 0)
            fail_msg("element %lld is %a, expected %a", (long long)i, (double)got, (double)want);
    }
    op_end(&c);
}

static void any_windows(void **state)
{
    test_rng rng = test_seed(__func__, 20261122);
    (void)state;
    for (int round = 0; round < 300; round++)
        round_of(&rng, test_between(&rng, 1, 5), 10);
}

/* More rows than are staged at once. */
static void in_tiles(void **state)
{
    test_rng rng = test_seed(__func__, 20261122);
    (void)state;
    for (int round = 0; round < 6; round++) {
        op_case c = op_begin(ASSAY_OP_CONV, 2, 1);
        assay_attr_conv *a = &c.attr.conv;
        const int64_t stride = 1 + round % 3;
        a->group = 2;
        a->kernel = (assay_list){2, {3, 3}};
        a->stride = (assay_list){2, {stride, stride}};
        a->dilation = (assay_list){2, {1 + round / 3, 1}};
        a->pad_begin = a->pad_end = (assay_list){2, {1, 1}};
        c.in[0] = op_noise(&rng, assay_f32(), 4, (int64_t[]){1, 2, 150, 130});
        c.in[1] = op_noise(&rng, assay_f32(), 4, (int64_t[]){2, 1, 3, 3});
        op_run(&c);
        for (int64_t i = 0; i < op_count(&c.out[0]); i++)
            assert_true(op_f32(&c.out[0])[i] == expected(&c, i));
        op_end(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_windows),
        cmocka_unit_test(in_tiles),
    };
    return cmocka_run_group_tests_name("float_planes", tests, NULL, NULL);
}
