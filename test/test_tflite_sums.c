/* Element-wise operators and sums whose fixed-point form is TFLite's own: outputs of TensorFlow
 * Lite Micro's kernels (commit 90b983c2b, x86-64) on random codes, in both rounding builds. */
#include "test/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/text.h"
#include "interp/program.h"
#include "schemes/scheme.h"

#define N 24

static const struct {
    const char *graph; /* items of the text form: inputs a, b, c, and the node y */
    int in[3][N];
    int want[2][N]; /* double, single rounding */
} cases[] = {
    {"input a: i8[24] q(0.05,3) input b: i8[24] q(0.05,3) input c: i8[24] q(0.05,3) y: i8[24] "
     "q(0.06,5) = add_n(a, b, c)",
     {{37, -51, 74, -104, -91, -80, 59,  -99, -19, -109, -84,  94,
       86, -93, -5, -82,  89,  -98, -65, -14, -97, 75,   -103, -15},
      {-105, -60, 20,  86,  -55, -68, 29,  -36, -76, -32, 62, -79,
       -96,  -98, -23, 126, 90,  32,  110, 104, 57,  25,  -1, -36},
      {-4,  -87, 25, 125,  47,  101, 19, -91, -68, 86,  -44, 47,
       -51, 122, 87, -108, -89, 32,  46, 51,  126, 105, -93, -81}},
     {{-65, -128, 94, 84,  -88, -44, 84, -128, -128, -51, -60,  47,
       -56, -63,  44, -58, 70,  -33, 71, 113,  67,   127, -128, -115},
      {-65, -128, 94, 84,  -88, -44, 84, -128, -128, -51, -60,  47,
       -56, -63,  44, -58, 70,  -33, 71, 113,  67,   127, -128, -115}}},
    {"input a: i8[4,3,2] q(0.05,3) y: i8[4,3,2] q(0.11,-7) = cumsum(a) {axis=1}",
     {{60, -26, 0,  29,  25, -52, -53, 33, 29,  -21, 22, 13,
       27, 45,  -3, -24, 31, -11, 53,  25, -16, -58, 60, -1}},
     {{18, -22, 16, -10, 26, -35, -34, 5, -22, -6,  -13, -1,
       3,  11,  0,  -2,  13, -8,  14,  2, 6,   -26, 32,  -28},
      {18, -22, 16, -10, 26, -35, -34, 5, -22, -6,  -13, -1,
       3,  11,  0,  -2,  13, -8,  14,  2, 6,   -26, 32,  -28}}},
    {"input a: i8[4,3,2] q(0.05,3) y: i8[4,3,2] q(0.11,-7) = cumsum(a) {axis=1, exclusive=true, "
     "reverse=true}",
     {{-15, -39, 18, -46, 3, -53, -33, 38, -24, -44, 34,  -29,
       -10, -10, 57, 51,  3, -50, -39, -3, -9,  10,  -25, 53}},
     {{-2, -56, -8, -34, -8, -8, -7,  -44, 6,   -23, -8, -8,
       16, -11, -8, -32, -8, -8, -27, 18,  -21, 14,  -8, -8},
      {-2, -56, -8, -34, -8, -8, -7,  -44, 6,   -23, -8, -8,
       16, -11, -8, -32, -8, -8, -27, 18,  -21, 14,  -8, -8}}},
    {"input a: i8[24] q(0.05,3) y: i8[24] q(0.03,-100) = abs(a)",
     {{-58, 92,   14,  84,  55, 66, -10,  -51, -86, -38, -51, -10,
       -9,  -122, 120, -35, 6,  16, -126, -54, 86,  61,  35,  -64}},
     {{2,   48,  -82, 35,  -13, 5,   -78, -10, 48, -32, -10, -78,
       -80, 108, 95,  -37, -95, -78, 115, -5,  38, -3,  -47, 12},
      {2,   48,  -82, 35,  -13, 5,   -78, -10, 48, -32, -10, -78,
       -80, 108, 95,  -37, -95, -78, 115, -5,  38, -3,  -47, 12}}},
    {"input a: i16[24] q(0.001,0) y: i16[24] q(0.0013,0) = abs(a)",
     {{-25692, 27085,  18661,  19407,  19526,  18890,  -19198, 30346,
       19718,  -24610, -7785,  -23941, -5405,  24985,  -11495, -18360,
       11803,  -25877, -19349, -32738, -12942, -19469, 14891,  -29426}},
     {{19763, 20835, 14355, 14928, 15020, 14531, 14768, 23343, 15168, 18931, 5988,  18416,
       4158,  19219, 8842,  14123, 9079,  19905, 14884, 25183, 9955,  14976, 11455, 22635},
      {19763, 20835, 14355, 14928, 15020, 14531, 14768, 23343, 15168, 18931, 5988,  18416,
       4158,  19219, 8842,  14123, 9079,  19905, 14884, 25183, 9955,  14976, 11455, 22635}}},
    {"input a: i8[24] q(0.02,-128) y: i8[24] q(0.05,-110) = rsqrt(a)",
     {{-128, 96,  -74, 30, -31, -89, 35,  -63, 117, -39, 27,  -34,
       -6,   -96, -98, 90, -3,  127, 123, -8,  -5,  -4,  -48, -106}},
     {{127, -101, -91, -99,  -96, -87,  -99,  -92, -101, -95, -99, -95,
       -97, -85,  -84, -100, -97, -101, -101, -97, -97,  -97, -94, -80},
      {127, -101, -91, -99,  -96, -87,  -99,  -92, -101, -95, -99, -95,
       -97, -85,  -84, -100, -97, -101, -101, -97, -97,  -97, -94, -80}}},
    {"input a: i16[24] q(0.0004,0) y: i16[24] q(0.0002,0) = rsqrt(a)",
     {{0,    3349,  24566, 11228, 24260, 8676, 15684, 27160, 22678, 5291, 16920, 757,
       6725, 31162, 31196, 17310, 11854, 4804, 22613, 17799, 29955, 887,  24843, 17306}},
     {{32767, 4320, 1595, 2360, 1605, 2684, 1996, 1517, 1660, 3437, 1922, 9086,
       3049,  1416, 1416, 1900, 2296, 3607, 1663, 1874, 1445, 8394, 1586, 1901},
      {32767, 4320, 1595, 2359, 1605, 2684, 1996, 1517, 1660, 3437, 1922, 9086,
       3049,  1416, 1415, 1900, 2296, 3607, 1662, 1874, 1445, 8394, 1586, 1900}}},
    {"input a: i8[4,3,2] q(0.02,3) y: i8[4,2] q(0.05,-9) = reduce_prod(a) {axes=[1], "
     "keepdims=false}",
     {{-29, 78,  111, 61, 102,  -10, 16, -55, -120, 100, 103, 62,
       27,  -16, 30,  80, -121, 76,  15, -15, 53,   103, -48, -101}},
     {{-64, -18, -35, -62, -22, -26, -14, 21}, {-64, -18, -35, -62, -22, -26, -14, 21}}},
    {"input a: i16[4,3,2] q(0.0001,0) y: i16[4,2] q(0.0004,0) = reduce_prod(a) {axes=[1], "
     "keepdims=false}",
     {{2915, -14130, -12305, 26301,  3046,   23670, -27248, 26697, 1032,  740,   -16665, 1982,
       2459, 19056,  -30050, -12592, -25081, -3892, -113,   3185,  -2635, 28647, -5040,  30747}},
     {{-273, -21991, 1172, 98, 4633, 2335, -4, 7013},
      {-273, -21991, 1172, 98, 4633, 2335, -4, 7013}}},
};

static int64_t at(const void *data, size_t size, int i)
{
    return size == 1 ? ((const int8_t *)data)[i] : ((const int16_t *)data)[i];
}

static void put(void *data, size_t size, int i, int v)
{
    if (size == 1)
        ((int8_t *)data)[i] = (int8_t)v;
    else
        ((int16_t *)data)[i] = (int16_t)v;
}

static void run_case(size_t k, int single)
{
    char text[400];
    assay_graph *g;
    assay_scheme *s;
    assay_program *p;
    assay_run *r;
    assay_error err;
    int n = snprintf(text, sizeof text, "graph g { %s output y }", cases[k].graph);
    assert_ok(assay_graph_parse(text, (size_t)n, "case", NULL, &g, &err), &err);
    assert_ok(assay_scheme_open(single ? "tflite-single" : "tflite", &s, &err), &err);
    assert_ok(assay_program_make(g, s, false, &p, &err), &err);
    assert_ok(assay_run_new(p, &r, &err), &err);
    size_t size = assay_elem_size(g->value[g->output[0]].type.elem);
    for (int input = 0; input < g->n_inputs; input++)
        for (int i = 0; i < N; i++)
            put(assay_run_data(r, g->input[input]), size, i, cases[k].in[input][i]);
    assert_ok(assay_run_execute(r, NULL, false, NULL, &err), &err);
    for (int i = 0; i < (int)assay_shape_count(&g->value[g->output[0]].type); i++)
        if (at(assay_run_data(r, g->output[0]), size, i) != cases[k].want[single][i])
            fail_msg("%s: element %d is %lld, expected %d", cases[k].graph, i,
                     (long long)at(assay_run_data(r, g->output[0]), size, i),
                     cases[k].want[single][i]);
    assay_run_free(r);
    assay_program_free(p);
    assay_scheme_free(s);
    assay_graph_free(g);
}

static void test_cases(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        for (int single = 0; single < 2; single++)
            run_case(k, single);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cases)};
    return cmocka_run_group_tests_name("tflite_sums", tests, NULL, NULL);
}
