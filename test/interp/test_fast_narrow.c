/* The fast engine's own narrowing against the reference: weights are zeros, so that a convolution's
 * accumulators are its bias, which lies at the borders of codes, where roundings differ, and at the
 * ends of int32. Factors from nearly 1 to 2^-28, one per channel, in tiles and in depthwise blocks.
 */
#include "test/support/fast_case.h"

#include <math.h>
#include <string.h>

enum { CHANNELS = 200, CASES = 12 };

/* Near (code - 1/2) / factor, or anything of up to so many bits. */
static int32_t draw_sum(test_rng *r, double factor, int bits)
{
    const double limit = ldexp(1, bits) - 1;
    double sum = ((double)test_between(r, -150, 150) - 0.5) / factor;
    sum = floor(sum) + (double)test_between(r, -2, 2);
    if (test_between(r, 0, 5) == 0)
        sum = (test_unit(r) - 0.5) * 2 * limit;
    return (int32_t)fmax(-limit, fmin(limit, sum));
}

static void check_sums(const assay_scheme *s, test_rng *r, fast_tally *t)
{
    const bool depthwise = test_between(r, 0, 1), is_signed = test_between(r, 0, 1);
    const int bits = (int)test_between(r, 28, 31);
    const int64_t channels = test_between(r, 1, CHANNELS), depth = depthwise ? 1 : 4;
    static float sx, sw[CHANNELS], sy;
    static int32_t zero[CHANNELS];
    const int32_t origin = is_signed ? 0 : 128;
    int32_t *bias;
    assay_attrs a;
    fast_net n = fast_begin();
    sx = 0.05f;
    sy = (float)ldexp(sx, (int)test_between(r, -2, 20));
    for (int i = 0; i < CHANNELS; i++)
        sw[i] = (float)(ldexp(1 + test_unit(r), (int)test_between(r, -8, -4)));
    const bool by_channel = channels > 1 && test_between(r, 0, 3);
    const assay_type x = {.elem = assay_int(8, is_signed),
                          .rank = 4,
                          .dim = {1, depthwise ? channels : depth, 1, 1},
                          .q = fast_params(1, &sx, &origin)};
    const assay_type w = {.elem = assay_int(8, true),
                          .rank = 4,
                          .dim = {channels, depth, 1, 1},
                          .q = fast_params(by_channel ? (size_t)channels : 1, sw, zero)};
    assay_type y = {.elem = x.elem, .q = fast_params(1, &sy, &origin)};
    fast_add_input(&n, &x);
    fast_add_constant(&n, &w, r);
    memset((void *)(uintptr_t)n.graph->value[n.in[1]].data, 0, (size_t)(channels * depth));
    fast_add_bias(&n, channels, r);
    bias = (int32_t *)(uintptr_t)n.graph->value[n.in[2]].data;
    for (int64_t i = 0; i < channels; i++)
        bias[i] = draw_sum(r, (double)sx * (double)sw[by_channel ? i : 0] / (double)sy, bits);
    assay_attrs_defaults(ASSAY_ATTRS_conv, &a);
    a.conv.group = depthwise ? channels : 1;
    fast_rescale(&y, sy, r);
    fast_finish(&n, ASSAY_OP_CONV, &a, &y, r);
    fast_check(&n, s, r, t);
    assay_graph_free(n.graph);
}

static void cases(const assay_scheme *s, test_rng *r, fast_tally *t)
{
    for (int i = 0; i < CASES; i++)
        check_sums(s, r, t);
}

static void test_borders(void **state)
{
    test_rng r = test_seed("narrowing", 1);
    (void)state;
    const fast_tally all = fast_presets(cases, &r);
    assert_true(all.taken > all.left);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_borders)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
