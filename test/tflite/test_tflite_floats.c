/* Floats under TFLite's presets: one product after the other, then the bias, as its reference
 * kernels add (tensorflow/lite/kernels/internal/reference: conv.h, fully_connected.h,
 * batch_matmul.h). The twins here are those loops, and the bits must be theirs. */
#include "test/support/support.h"

#include <stdlib.h>
#include <string.h>

#include "interp/run/program.h"
#include "schemes/scheme.h"
#include "test/support/net.h"

/* Runs g under a preset on the elements x of its one input; the output's, to be freed. */
static float *run(const assay_graph *g, const char *preset, const float *x)
{
    const assay_type *t = &g->value[g->output[0]].type;
    float *y = malloc(assay_type_bytes(t));
    assay_scheme *s;
    assay_program *p;
    assay_run *r;
    assay_error err;
    assert_non_null(y);
    assert_ok(assay_scheme_open(preset, &s, &err), &err);
    assert_ok(assay_program_make_as_is(g, s, false, &p, &err), &err);
    assert_ok(assay_run_new(p, &r, &err), &err);
    memcpy(assay_run_data(r, g->input[0]), x, assay_type_bytes(&g->value[g->input[0]].type));
    assert_ok(run_execute(r, NULL, false, NULL, &err), &err);
    memcpy(y, assay_run_data(r, g->output[0]), assay_type_bytes(t));
    assay_run_free(r);
    assay_program_free(p);
    assay_scheme_free(s);
    return y;
}

/* sum over k of x[k] * w[k * step], in turn. */
static float in_turn(const float *x, const float *w, int64_t n, int64_t step)
{
    float total = 0;
    for (int64_t k = 0; k < n; k++)
        total += x[k] * w[k * step];
    return total;
}

static void products(void **state)
{
    test_rng rng = test_seed("tflite_floats", 5);
    (void)state;
    for (int round = 0; round < 40; round++) {
        const int64_t m = test_between(&rng, 1, 9), n = test_between(&rng, 1, 9);
        const int64_t k = test_between(&rng, 1, 700);
        const bool fc = round % 2;
        assay_graph *g = net_new();
        int x = net_input(g, "x", NET_SHAPE(m, k));
        int w = fc ? net_constant(g, &rng, "w", -3, 3, NET_SHAPE(n, k))
                   : net_constant(g, &rng, "w", -3, 3, NET_SHAPE(k, n));
        int b = net_constant(g, &rng, "b", -3, 3, NET_SHAPE(n));
        net_output(g, fc ? net_node(g, ASSAY_OP_FC, "y", NULL, x, w, b, -2)
                         : net_node(g, ASSAY_OP_MATMUL, "y", NULL, x, w, -2));
        const float *weight = g->value[w].data, *bias = g->value[b].data;
        float *in = net_random_input(&rng, g, 0);
        float *y = run(g, round % 4 < 2 ? "tflite" : "tflite-single", in);
        for (int64_t i = 0; i < m; i++)
            for (int64_t j = 0; j < n; j++) {
                const float want = fc ? in_turn(in + i * k, weight + j * k, k, 1) + bias[j]
                                      : in_turn(in + i * k, weight + j, k, n);
                assert_memory_equal(&y[i * n + j], &want, sizeof want);
            }
        free(y);
        free(in);
        assay_graph_free(g);
    }
}

/* nhwc, SAME around: what lies outside is left out. */
static void convolutions(void **state)
{
    enum { SIZE = 7, CHANNELS = 19, OUTPUTS = 6, TAPS = 3 };
    test_rng rng = test_seed("tflite_floats_conv", 6);
    assay_attrs a;
    assay_graph *g = net_new();
    (void)state;
    assay_attrs_defaults(ASSAY_ATTRS_conv, &a);
    a.conv.layout = ASSAY_LAYOUT_NHWC;
    a.conv.pad_begin.n = a.conv.pad_end.n = 2;
    for (int d = 0; d < 2; d++)
        a.conv.pad_begin.v[d] = a.conv.pad_end.v[d] = 1;
    int x = net_input(g, "x", NET_SHAPE(1, SIZE, SIZE, CHANNELS));
    int w = net_constant(g, &rng, "w", -3, 3, NET_SHAPE(OUTPUTS, TAPS, TAPS, CHANNELS));
    int b = net_constant(g, &rng, "b", -3, 3, NET_SHAPE(OUTPUTS));
    net_output(g, net_node(g, ASSAY_OP_CONV, "y", &a, x, w, b, -2));
    const float *weight = g->value[w].data, *bias = g->value[b].data;
    float *in = net_random_input(&rng, g, 0), *y = run(g, "tflite", in);
    for (int row = 0; row < SIZE; row++)
        for (int column = 0; column < SIZE; column++)
            for (int o = 0; o < OUTPUTS; o++) {
                float total = 0;
                for (int i = 0; i < TAPS * TAPS; i++) {
                    const int v = row + i / TAPS - 1, h = column + i % TAPS - 1;
                    if (v < 0 || v >= SIZE || h < 0 || h >= SIZE)
                        continue;
                    for (int c = 0; c < CHANNELS; c++)
                        total += in[(v * SIZE + h) * CHANNELS + c] *
                                 weight[(o * TAPS * TAPS + i) * CHANNELS + c];
                }
                total += bias[o];
                assert_memory_equal(&y[(row * SIZE + column) * OUTPUTS + o], &total, sizeof total);
            }
    free(y);
    free(in);
    assay_graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(products), cmocka_unit_test(convolutions)};
    return cmocka_run_group_tests_name("tflite_floats", tests, NULL, NULL);
}
