/* A convolution gives an image the same bits alone and among others, whatever library multiplies:
 * profiles do not depend on how images come. */
#include "test/support/op_case.h"

#include <string.h>

/* Images first..first+n-1 of the case's. */
static op_case part_of(const op_case *c, int64_t first, int64_t n)
{
    op_case part = *c;
    int64_t dim[ASSAY_MAX_RANK];
    for (int k = 0; k < c->n_in; k++) {
        const assay_type *t = &c->in[k].type;
        memcpy(dim, t->dim, sizeof dim);
        dim[0] = k == 0 ? n : dim[0];
        const int64_t skipped = k == 0 ? first * op_count(&c->in[0]) / t->dim[0] : 0;
        part.in[k] = op_floats(t->rank, dim, op_f32(&c->in[k]) + skipped);
    }
    memset(part.out, 0, sizeof part.out);
    return part;
}

static void check(test_rng *rng, const int64_t *x, int64_t outputs, int64_t kernel, int64_t groups,
                  bool nhwc)
{
    op_case c = op_begin(ASSAY_OP_CONV, 3, 1);
    assay_attr_conv *a = &c.attr.conv;
    const int64_t channels = x[nhwc ? 3 : 1], per = channels / groups;
    const int64_t w[4] = {outputs, nhwc ? kernel : per, kernel, nhwc ? per : kernel};
    a->layout = nhwc ? ASSAY_LAYOUT_NHWC : ASSAY_LAYOUT_NCHW;
    a->group = groups;
    a->kernel = (assay_list){2, {kernel, kernel}};
    a->stride = a->dilation = (assay_list){2, {1, 1}};
    a->pad_begin = a->pad_end = (assay_list){2, {kernel / 2, kernel / 2}};
    c.in[0] = op_noise(rng, assay_f32(), 4, x);
    c.in[1] = op_noise(rng, assay_f32(), 4, w);
    c.in[2] = op_noise(rng, assay_f32(), 1, &outputs);
    for (int64_t i = 0; i < op_count(&c.in[1]); i++) /* sums that round */
        ((float *)c.in[1].data)[i] *= (float)(test_unit(rng) - 0.5);
    op_run(&c);
    for (int64_t i = 0; i < x[0]; i++) {
        op_case one = part_of(&c, i, 1);
        op_run(&one);
        assert_memory_equal(one.out[0].data, op_f32(&c.out[0]) + i * op_count(&one.out[0]),
                            (size_t)op_count(&one.out[0]) * sizeof(float));
        op_end(&one);
    }
    op_end(&c);
}

static void same_bits_alone(void **state)
{
    static const struct {
        int64_t channels, extent, outputs, kernel, groups;
    } layers[] = {{64, 7, 96, 1, 1},  {64, 7, 33, 3, 1},   {48, 14, 32, 3, 1}, {3, 31, 16, 3, 1},
                  {32, 9, 32, 3, 32}, {16, 11, 32, 3, 16}, {12, 8, 18, 3, 3},  {160, 7, 40, 3, 1}};
    test_rng rng = test_seed(__func__, 20261122);
    (void)state;
    for (size_t i = 0; i < sizeof layers / sizeof *layers; i++)
        for (int nhwc = 0; nhwc < 2; nhwc++) {
            const int64_t c = layers[i].channels, e = layers[i].extent;
            const int64_t x[4] = {5, nhwc ? e : c, e, nhwc ? c : e};
            check(&rng, x, layers[i].outputs, layers[i].kernel, layers[i].groups, nhwc);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(same_bits_alone)};
    return cmocka_run_group_tests_name("float_batch", tests, NULL, NULL);
}
