/* Dense and grouped convolutions in nchw bit for bit, in the order of ONNX Runtime's products with
 * a patch matrix: over channels, then taps, in blocks of the depth, sums fused from 0 within one.
 */
#include "test/support/op_case.h"

#include <math.h>
#include <string.h>

/* ONNX Runtime's blocks for `columns` positions: 128, and deeper where there are few columns. */
static int64_t block_of(int64_t columns, int64_t depth)
{
    int64_t block = 128, width = 128;
    while (columns < depth && width > 16 && width / 2 >= columns) {
        width /= 2;
        block *= 2;
    }
    return block;
}

static float expected(const op_case *c, int64_t i)
{
    const assay_type *y = &c->out[0].type, *w = &c->in[1].type;
    int64_t index[ASSAY_MAX_RANK], taps = 1, area = 1;
    op_unravel(y, i, index);
    for (int d = 2; d < y->rank; d++) {
        taps *= w->dim[d];
        area *= y->dim[d];
    }
    const int64_t group = index[1] / (y->dim[1] / c->attr.conv.group), depth = w->dim[1] * taps;
    const int64_t block = block_of(area, depth);
    volatile float whole = 0;
    for (int64_t from = 0; from < depth; from += block) {
        float sum = 0;
        for (int64_t k = from; k < depth && k < from + block; k++)
            sum =
                fmaf(op_f32(&c->in[1])[index[1] * depth + k],
                     op_under_tap(c, index[0] * c->in[0].type.dim[1] + group * w->dim[1] + k / taps,
                                  index + 2, k % taps),
                     sum);
        whole = from > 0 ? sum + whole : sum;
    }
    whole = whole + op_f32(&c->in[2])[index[1]];
    const float lo = c->act_lo > whole ? c->act_lo : whole;
    return lo > c->act_hi ? c->act_hi : lo;
}

static void compare(op_case *c, const char *what)
{
    op_run(c);
    for (int64_t i = 0; i < op_count(&c->out[0]); i++) {
        const float want = expected(c, i), got = op_f32(&c->out[0])[i];
        if (memcmp(&want, &got, sizeof got) != 0)
            fail_msg("%s: element %lld is %a, expected %a", what, (long long)i, (double)got,
                     (double)want);
    }
    op_end(c);
}

static op_tensor rounding_noise(test_rng *rng, int rank, const int64_t *dim)
{
    op_tensor t = op_noise(rng, assay_f32(), rank, dim);
    for (int64_t i = 0; i < op_count(&t); i++) /* sums that round */
        ((float *)t.data)[i] *= (float)(test_unit(rng) - 0.5);
    return t;
}

/* Of `spatial` axes; more than one output channel a group, and more than one position. */
static op_case draw(test_rng *rng, int spatial, int64_t channels, int64_t max)
{
    op_case c = op_begin(ASSAY_OP_CONV, 3, 1);
    assay_attr_conv *a = &c.attr.conv;
    int64_t x[5] = {test_between(rng, 1, 2)}, w[5];
    a->group = test_between(rng, 1, 3);
    x[1] = a->group * channels;
    w[0] = a->group * test_between(rng, 2, 11);
    w[1] = channels;
    a->kernel.n = a->stride.n = a->dilation.n = a->pad_begin.n = a->pad_end.n = spatial;
    for (int d = 0; d < spatial; d++) {
        a->kernel.v[d] = w[2 + d] = test_between(rng, 1, 3);
        a->stride.v[d] = test_between(rng, 1, 3);
        a->dilation.v[d] = test_between(rng, 1, 3);
        a->pad_begin.v[d] = test_between(rng, 0, 3);
        a->pad_end.v[d] = test_between(rng, 0, 3);
        x[2 + d] = test_between(rng, (w[2 + d] - 1) * a->dilation.v[d] + a->stride.v[d] + 1, max);
    }
    if (w[1 + spatial] == x[1 + spatial]) /* a window of whole rows is another product */
        x[1 + spatial]++;
    c.in[0] = rounding_noise(rng, spatial + 2, x);
    c.in[1] = rounding_noise(rng, spatial + 2, w);
    c.in[2] = rounding_noise(rng, 1, w);
    c.fused = test_random(rng) & 1;
    c.act_lo = c.fused ? -0.5F : -INFINITY;
    c.act_hi = c.fused ? 0.5F : INFINITY;
    return c;
}

static void any_windows(void **state)
{
    test_rng rng = test_seed(__func__, 20261126);
    (void)state;
    for (int round = 0; round < 150; round++) {
        op_case c = draw(&rng, (int)test_between(&rng, 1, 3), test_between(&rng, 1, 6), 13);
        compare(&c, "any windows");
    }
}

/* Depths of several blocks, of few positions and of many. */
static void deep(void **state)
{
    test_rng rng = test_seed(__func__, 20261126);
    (void)state;
    for (int round = 0; round < 12; round++) {
        op_case c = draw(&rng, 2, test_between(&rng, 60, 90), round % 2 ? 13 : 10);
        compare(&c, "deep");
    }
}

/* More rows than are staged at once. */
static void in_tiles(void **state)
{
    test_rng rng = test_seed(__func__, 20261126);
    (void)state;
    for (int round = 0; round < 4; round++) {
        op_case c = op_begin(ASSAY_OP_CONV, 3, 1);
        assay_attr_conv *a = &c.attr.conv;
        const int64_t stride = 1 + round % 2;
        a->group = 1;
        a->kernel = (assay_list){2, {3, 3}};
        a->stride = (assay_list){2, {stride, stride}};
        a->dilation = (assay_list){2, {1 + round / 2, 1}};
        a->pad_begin = a->pad_end = (assay_list){2, {1, 1}};
        c.act_lo = -INFINITY;
        c.act_hi = INFINITY;
        c.in[0] = rounding_noise(&rng, 4, (int64_t[]){1, 9, 150, 130});
        c.in[1] = rounding_noise(&rng, 4, (int64_t[]){9, 9, 3, 3});
        c.in[2] = rounding_noise(&rng, 1, (int64_t[]){9});
        compare(&c, "in tiles");
    }
}

/* Strides beyond the image, up to the greatest that there may be: one position along that axis. */
static void far_strides(void **state)
{
    test_rng rng = test_seed(__func__, 20261126);
    (void)state;
    for (int round = 0; round < 6; round++) {
        op_case c = op_begin(ASSAY_OP_CONV, 3, 1);
        assay_attr_conv *a = &c.attr.conv;
        const int64_t far = INT64_C(1) << (22 + 4 * (round / 2));
        a->group = 1;
        a->kernel = (assay_list){2, {3, 3}};
        a->stride = (assay_list){2, {round % 2 ? far : 1, round % 2 ? 1 : far}};
        a->dilation = (assay_list){2, {1, 1}};
        a->pad_begin = a->pad_end = (assay_list){2, {1, 1}};
        c.act_lo = -INFINITY;
        c.act_hi = INFINITY;
        c.in[0] = rounding_noise(&rng, 4, (int64_t[]){1, 4, 6, 7});
        c.in[1] = rounding_noise(&rng, 4, (int64_t[]){5, 4, 3, 3});
        c.in[2] = rounding_noise(&rng, 1, (int64_t[]){5});
        compare(&c, "far strides");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_windows),
        cmocka_unit_test(deep),
        cmocka_unit_test(in_tiles),
        cmocka_unit_test(far_strides),
    };
    return cmocka_run_group_tests_name("float_direct", tests, NULL, NULL);
}
