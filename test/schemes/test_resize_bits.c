/* Bilinear resize with the scheme's own fraction bits, against the formula and the real function.
 */
#include "test/support/support.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "graph/core/graph.h"
#include "graph/text/text.h"
#include "schemes/apply/resize_axis.h"
#include "schemes/scheme.h"

enum { IN = 5, OUT = 13 };

/* The code at output (i, j) by the formula of apply/resize.c, half up; positions of half pixels. */
static int64_t expected(const int8_t *x, int bits, int i, int j)
{
    int64_t one = INT64_C(1) << bits, scale = (IN * one + OUT / 2) / OUT, at[2], low[2], part[2];
    at[0] = i * scale + scale / 2 - one / 2;
    at[1] = j * scale + scale / 2 - one / 2;
    for (int k = 0; k < 2; k++) {
        at[k] = at[k] < 0 ? 0 : at[k] > (IN - 1) * one ? (IN - 1) * one : at[k];
        low[k] = at[k] / one;
        part[k] = at[k] % one;
    }
    int64_t sum = 0;
    for (int k = 0; k < 4; k++) {
        int64_t row = low[0] + (k / 2 && part[0]), column = low[1] + (k % 2 && part[1]);
        int64_t weight = (k / 2 ? part[0] : one - part[0]) * (k % 2 ? part[1] : one - part[1]);
        sum += weight * x[row * IN + column];
    }
    int64_t n = sum + (one * one >> 1);
    return n >= 0 ? n / (one * one) : -((-n + one * one - 1) / (one * one)); /* floor */
}

static void every_width(void **state)
{
    static const char text[] = "graph r {\n"
                               "  input x: i8[1,1,5,5] q(0.1,0)\n"
                               "  y: i8[1,1,13,13] q(0.1,0) = resize(x) {mode=linear, "
                               "coordinate=half_pixel, size=[1,1,13,13]}\n"
                               "  output y\n"
                               "}\n";
    test_rng r = test_seed("resize bits", 51);
    int8_t x[IN * IN];
    (void)state;
    for (int i = 0; i < IN * IN; i++)
        x[i] = (int8_t)test_between(&r, -128, 127);
    for (int bits = 1; bits <= 15; bits++) {
        char scheme[120];
        assay_scheme *s;
        assay_graph *g;
        assay_program *program;
        assay_run *run;
        assay_error err;
        snprintf(scheme, sizeof scheme, "scheme: r\nresize: {bits: %d, round: half-up}\n", bits);
        assert_ok(assay_scheme_parse("r", scheme, strlen(scheme), &s, &err), &err);
        assert_ok(text_graph_parse(text, strlen(text), "r", NULL, &g, &err), &err);
        assert_ok(assay_program_make_as_is(g, s, true, &program, &err), &err);
        assert_ok(assay_run_new(program, &run, &err), &err);
        memcpy(assay_run_data(run, g->input[0]), x, sizeof x);
        assert_ok(assay_execute(run, &err), &err);
        const int8_t *y = assay_run_data(run, g->output[0]);
        for (int i = 0; i < OUT * OUT; i++)
            assert_int_equal(y[i], expected(x, bits, i / OUT, i % OUT));
        assay_run_free(run);
        assay_program_free(program);
        assay_graph_free(g);
        assay_scheme_free(s);
    }
}

typedef struct places {
    enum assay_resize_coordinate coordinate;
    float scale; /* given with the node; 0: extents only */
    int64_t in, out;
    int32_t at[4]; /* in 2^-10 */
} places;

/* Positions of the output elements of an axis, by hand. */
static void positions(void **state)
{
    (void)state;
    static const places list[] = {
        {ASSAY_COORD_HALF_PIXEL, 0, 2, 4, {0, 256, 768, 1024}},
        {ASSAY_COORD_TFLITE_HALF_PIXEL, 0, 2, 4, {0, 256, 768, 1024}},
        {ASSAY_COORD_HALF_PIXEL_SYMMETRIC, 0, 2, 4, {0, 256, 768, 1024}},
        {ASSAY_COORD_PYTORCH_HALF_PIXEL, 0, 2, 4, {0, 256, 768, 1024}},
        {ASSAY_COORD_ASYMMETRIC, 0, 2, 4, {0, 512, 1024, 1024}},
        {ASSAY_COORD_ASYMMETRIC, 4, 2, 4, {0, 256, 512, 768}},
        {ASSAY_COORD_HALF_PIXEL, 4, 2, 4, {0, 0, 128, 384}},
        {ASSAY_COORD_HALF_PIXEL_SYMMETRIC, 2.5f, 2, 4, {0, 307, 717, 1024}}, /* -0.1 to 1.1 */
        {ASSAY_COORD_HALF_PIXEL_SYMMETRIC, 0.6f, 4, 2, {682, 2389}},         /* 2/3, 7/3 */
        {ASSAY_COORD_HALF_PIXEL, 0, 4, 1, {1536}},
        {ASSAY_COORD_PYTORCH_HALF_PIXEL, 0, 4, 1, {0}},
        {ASSAY_COORD_ALIGN_CORNERS, 0, 4, 1, {0}},
        {ASSAY_COORD_ALIGN_CORNERS, 0, 3, 2, {0, 2048}},
        {ASSAY_COORD_ALIGN_CORNERS, 4, 3, 2, {0, 2048}}, /* corners need no scale */
        {ASSAY_COORD_ALIGN_CORNERS, 0, 2, 4, {0, 341, 682, 1023}},
    };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        assay_attr_resize a = {.coordinate = (int)list[i].coordinate};
        assay_linear_tap tap[4];
        if (list[i].scale != 0) {
            a.scales.n = 1;
            a.scales.v[0] = list[i].scale;
        }
        apply_linear_taps(&a, 0, list[i].in, list[i].out, 10, tap);
        for (int64_t k = 0; k < list[i].out; k++) {
            const int32_t at = list[i].at[k];
            if (tap[k].lo != at / 1024 || tap[k].fraction != at % 1024 ||
                tap[k].hi != (at + 1023) / 1024)
                fail_msg("%zu: element %lld at %d + %d / 1024 (%d); expected %d / 1024", i,
                         (long long)k, tap[k].lo, tap[k].fraction, tap[k].hi, at);
        }
    }
}

/* The nearest of them, at coordinates by hand: -0.1, 0.3, 0.7, 1.1 of 2.5 times 2 cells, of which 4
 * are made, about their common centre; 0, 1/4, 1/2, 3/4 of a scale of 4. */
static void nearest(void **state)
{
    static const struct {
        enum assay_resize_coordinate coordinate;
        float scale;
        enum assay_resize_nearest nearest;
        int32_t at[4];
    } list[] = {
        {ASSAY_COORD_HALF_PIXEL_SYMMETRIC, 2.5f, ASSAY_NEAREST_FLOOR, {0, 0, 0, 1}},
        {ASSAY_COORD_HALF_PIXEL_SYMMETRIC, 2.5f, ASSAY_NEAREST_CEIL, {0, 1, 1, 1}},
        {ASSAY_COORD_HALF_PIXEL_SYMMETRIC, 2.5f, ASSAY_NEAREST_ROUND_PREFER_CEIL, {0, 0, 1, 1}},
        {ASSAY_COORD_ASYMMETRIC, 4, ASSAY_NEAREST_FLOOR, {0, 0, 0, 0}},
        {ASSAY_COORD_ASYMMETRIC, 4, ASSAY_NEAREST_CEIL, {0, 1, 1, 1}},
        {ASSAY_COORD_ASYMMETRIC, 4, ASSAY_NEAREST_ROUND_PREFER_CEIL, {0, 0, 1, 1}},
        {ASSAY_COORD_ASYMMETRIC, 4, ASSAY_NEAREST_ROUND_PREFER_FLOOR, {0, 0, 0, 1}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        const assay_attr_resize a = {.coordinate = (int)list[i].coordinate,
                                     .nearest = (int)list[i].nearest,
                                     .scales = {.n = 1, .v = {list[i].scale}}};
        int32_t index[4];
        apply_nearest_indices(&a, 0, 2, 4, index);
        for (int k = 0; k < 4; k++)
            if (index[k] != list[i].at[k])
                fail_msg("%zu: element %d is that at %d, expected %d", i, k, index[k],
                         list[i].at[k]);
    }
}

/* Where ONNX places output i of half_pixel_symmetric, in 2^-bits of the input's cells. */
static double symmetric_place(int64_t in, int64_t out, double scale, int64_t i, int bits)
{
    const double x =
        (double)in / 2 * (1 - (double)out / ((double)in * scale)) + ((double)i + 0.5) / scale - 0.5;
    return ldexp(fmin(fmax(x, 0), (double)in - 1), bits);
}

/* Given scales beside any extents, smaller and greater than 1. A step is off by a half, and by what
 * float32 loses of less than 2^20; the first place by half a step's fraction more. */
static void symmetric(void **state)
{
    test_rng r = test_seed("symmetric", 52);
    (void)state;
    for (int k = 0; k < 20000; k++) {
        const int64_t in = test_between(&r, 1, 40), out = test_between(&r, 1, 40);
        const int bits = (int)test_between(&r, 1, 15);
        const bool fits = test_between(&r, 0, 1);
        const float scale = fits ? (float)(((double)out + 0.99 * test_unit(&r)) / (double)in)
                                 : (float)ldexp(1 + test_unit(&r), (int)test_between(&r, -5, 4));
        const assay_attr_resize a = {.coordinate = ASSAY_COORD_HALF_PIXEL_SYMMETRIC,
                                     .scales = {.n = 1, .v = {scale}}};
        assay_linear_tap tap[40];
        apply_linear_taps(&a, 0, in, out, (unsigned)bits, tap);
        for (int64_t i = 0; i < out; i++) {
            const double at = ldexp(tap[i].lo, bits) + tap[i].fraction;
            const double from_middle = fabs((double)(2 * i + 1 - out)) / 2;
            if (fabs(at - symmetric_place(in, out, (double)scale, i, bits)) >
                0.54 * from_middle + 0.501)
                fail_msg("%d to %d by %.9g: element %d is at %.9g / 2^%d", (int)in, (int)out,
                         (double)scale, (int)i, at, bits);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_width), cmocka_unit_test(positions),
                                       cmocka_unit_test(nearest), cmocka_unit_test(symmetric)};
    return cmocka_run_group_tests_name("resize_bits", tests, NULL, NULL);
}
