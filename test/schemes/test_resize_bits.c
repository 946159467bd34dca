/* Bilinear resize with the scheme's own fraction bits, against the formula and the real function.
 */
#include "test/support/support.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "graph/core/graph.h"
#include "graph/text/text.h"
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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_width)};
    return cmocka_run_group_tests_name("resize_bits", tests, NULL, NULL);
}
