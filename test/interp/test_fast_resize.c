/* The fast engine against the reference: nearest and bilinear resizes. */
#include "test/support/fast_case.h"

#include <stdio.h>

/* Any mode, coordinates and extents; parameters of the output its input's, or others. */
static void check_resize(const assay_scheme *s, test_rng *r, fast_tally *t)
{
    fast_net n = fast_begin();
    assay_attrs a;
    const bool nhwc = test_between(r, 0, 1), nearest = test_between(r, 0, 1);
    const int spatial = (int)test_between(r, 1, nearest ? 3 : 2);
    int64_t dim[6], extent[3];
    assay_attrs_defaults(ASSAY_ATTRS_resize, &a);
    a.resize.layout = nhwc ? ASSAY_LAYOUT_NHWC : ASSAY_LAYOUT_NCHW;
    a.resize.mode = nearest ? ASSAY_RESIZE_NEAREST : ASSAY_RESIZE_LINEAR;
    a.resize.coordinate = (int)test_between(r, 0, ASSAY_COORD_TFLITE_HALF_PIXEL_CORNERS);
    a.resize.nearest = (int)test_between(r, 0, ASSAY_NEAREST_CEIL);
    for (int i = 0; i < spatial; i++)
        extent[i] = test_between(r, 1, 9);
    const int rank =
        fast_shape(dim, nhwc, test_between(r, 1, 2), test_between(r, 1, 30), spatial, extent);
    assay_type x = fast_activation(r, rank, dim), y = x;
    if (test_between(r, 0, 2) == 0)
        fast_rescale(&y, 0.07f, r);
    a.resize.size = (assay_list){.n = rank};
    const bool large = test_between(r, 0, 3) == 0; /* tables of 16-bit codes pay */
    for (int i = 0; i < rank; i++) {
        const bool space = nhwc ? i > 0 && i + 1 < rank : i > 1;
        a.resize.size.v[i] = space ? test_between(r, 1, large ? 60 : 15) : dim[i];
    }
    if (nearest && test_between(r, 0, 3) == 0)
        a.resize.size.v[0] += 1;
    fast_add_input(&n, &x);
    fast_finish(&n, ASSAY_OP_RESIZE, &a, &y, r);
    fast_check(&n, s, r, t);
    assay_graph_free(n.graph);
}

static void ten_resizes(const assay_scheme *s, test_rng *r, fast_tally *t)
{
    for (int i = 0; i < 10; i++)
        check_resize(s, r, t);
}

static void test_presets(void **state)
{
    test_rng r = test_seed("resize", 6);
    (void)state;
    const fast_tally all = fast_presets(ten_resizes, &r);
    assert_true(all.taken > 4 * all.left);
}

/* Every rounding of the blended sum, at the fewest and the most fraction bits. */
static void test_roundings(void **state)
{
    static const int bits[] = {1, 7, 10, 11, 15};
    test_rng r = test_seed("roundings of blends", 7);
    (void)state;
    for (int mode = 0; mode < ASSAY_ROUND_COUNT; mode++)
        for (size_t k = 0; k < sizeof bits / sizeof *bits; k++) {
            char line[200];
            snprintf(line, sizeof line, "resize: {bits: %d, round: %s}", bits[k],
                     assay_rounding_name((enum assay_rounding)mode));
            assert_true(fast_scheme(line, ten_resizes, &r).taken > 0);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_presets),
                                       cmocka_unit_test(test_roundings)};
    return cmocka_run_group_tests_name("fast_resize", tests, NULL, NULL);
}
