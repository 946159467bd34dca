/* Rounding of weights, biases and other constants, which is the scheme's to say. */
#include "test/support/support.h"

#include <stdio.h>
#include <string.h>

#include "interp/kernel/kernel.h"
#include "opt/quantize/quantize.h"
#include "test/support/net.h"

/* x[1,2] -> fc with weights that are ties in codes of scale 1: 127 fixes the scale. */
static assay_graph *ties(void)
{
    static const float weights[8] = {127, 0.5f, 1.5f, -0.5f, 2.5f, -1.5f, -2.5f, 127};
    test_rng rng = {1};
    assay_graph *g = net_new();
    int x = net_input(g, "x", NET_SHAPE(1, 2));
    int w = net_constant(g, &rng, "w", -1, 1, NET_SHAPE(4, 2));
    memcpy((float *)(uintptr_t)g->value[w].data, weights, sizeof weights);
    net_output(g, net_node(g, ASSAY_OP_FC, "y", NULL, x, w, -2));
    return g;
}

/* Codes of the weights under tflite with this rounding of constants. */
static void codes_under(const char *rounding, int8_t codes[8])
{
    const assay_quantize_options options = {.has_kernel = run_has_integer_kernel,
                                            .weights = ASSAY_WEIGHTS_PER_TENSOR};
    const float x[2] = {-1, 1}, y[4] = {-100, 100};
    char dir[256], path[512], text[128];
    assay_graph *g = ties(), *q;
    assay_profile *p;
    assay_scheme *s;
    assay_error err;
    test_temp_dir(dir, sizeof dir);
    snprintf(path, sizeof path, "%s/s.yaml", dir);
    snprintf(text, sizeof text, "scheme: s\nextends: tflite\ntypes:\n  constant_round: %s\n",
             rounding);
    test_write_file(path, text, strlen(text));
    assert_ok(assay_scheme_open(path, &s, &err), &err);
    assert_ok(profile_new(g, &p, &err), &err);
    profile_observe(p, g->input[0], x, 2);
    profile_observe(p, g->output[0], y, 4);
    assert_ok(profile_add_sample(p, 0, &err), &err);
    assert_ok(quantize_network(g, p, s, &options, &q, NULL, &err), &err);
    const assay_value *w = &q->value[net_producer(q, "y") ? net_producer(q, "y")->in[1] : 0];
    assert_true(w->data && w->type.q.scale[0] == 1.0f);
    memcpy(codes, w->data, 8);
    assay_graph_free(q);
    profile_free(p);
    assay_scheme_free(s);
    assay_graph_free(g);
    test_remove_tree(dir);
}

static void test_ties(void **state)
{
    const struct {
        const char *rounding;
        int8_t codes[8];
    } cases[] = {{"half-away", {127, 1, 2, -1, 3, -2, -3, 127}},
                 {"half-even", {127, 0, 2, 0, 2, -2, -2, 127}},
                 {"half-up", {127, 1, 2, 0, 3, -1, -2, 127}},
                 {"floor", {127, 0, 1, -1, 2, -2, -3, 127}}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int8_t codes[8];
        codes_under(cases[i].rounding, codes);
        assert_memory_equal(codes, cases[i].codes, sizeof codes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ties),
    };
    return cmocka_run_group_tests_name("constant_round", tests, NULL, NULL);
}
