/* Float networks through the importer and the float engine, against ONNX Runtime's outputs: as
 * imported, and after the canonical lowering (constants and batch normalizations folded), which may
 * move a result by rounding only. */
#include "test/support/support.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "graph/onnx/onnx.h"
#include "graph/text/npy.h"
#include "interp/run/evaluate.h"
#include "interp/run/program.h"
#include "opt/lower/opt.h"

/* Runs the network on x and returns the largest difference from y over the largest value of y. */
static double run_difference(const assay_graph *g, const assay_npy *x, const assay_npy *y)
{
    assay_program *p = NULL;
    assay_run *r = NULL;
    assay_error err = {0};
    double difference = 0, largest = 0;

    assert_ok(assay_program_make(g, NULL, false, &p, &err), &err);
    assert_ok(assay_run_new(p, &r, &err), &err);
    assert_int_equal(g->n_inputs, 1);
    assert_int_equal(assay_shape_count(&g->value[g->input[0]].type), text_npy_count(x));
    assert_int_equal(assay_shape_count(&g->value[g->output[0]].type), text_npy_count(y));
    memcpy(assay_run_data(r, g->input[0]), x->data, text_npy_bytes(x));
    assert_ok(run_execute(r, NULL, false, NULL, &err), &err);
    const float *got = assay_run_data(r, g->output[0]), *want = y->data;
    for (size_t i = 0; i < text_npy_count(y); i++) {
        difference = fmax(difference, fabs((double)got[i] - (double)want[i]));
        largest = fmax(largest, fabs((double)want[i]));
    }
    assay_run_free(r);
    assay_program_free(p);
    return difference / largest;
}

static void compare_network(const char *name)
{
    char path[500], relative[100];
    assay_onnx_options options = {0};
    assay_graph *g = NULL;
    assay_npy x, y;
    assay_error err = {0};

    snprintf(relative, sizeof relative, "golden/onnx/nets/%s_fp32.onnx", name);
    if (!test_shared(relative, path, sizeof path)) {
        print_message("# %s is missing\n", path);
        skip();
    }
    char model[500];
    snprintf(model, sizeof model, "%s", path);
    snprintf(relative, sizeof relative, "golden/onnx/nets/%s_x.npy", name);
    assert_ok(text_npy_read_file(test_shared(relative, path, sizeof path), &x, &err), &err);
    snprintf(relative, sizeof relative, "golden/onnx/nets/%s_fp32_y.npy", name);
    assert_ok(text_npy_read_file(test_shared(relative, path, sizeof path), &y, &err), &err);
    options.batch = x.shape[0];
    assert_ok(onnx_import_file(model, &options, &g, &err), &err);

    int nodes = g->n_nodes;
    double imported = run_difference(g, &x, &y);
    assert_ok(lower_canonicalize(g, run_evaluate_node, &err), &err);
    double lowered = run_difference(g, &x, &y);
    print_message("# %s: %d nodes, %.1e of the largest output; canonical %d nodes, %.1e\n", name,
                  nodes, imported, g->n_nodes, lowered);
    assert_true(imported < 1e-5);
    assert_true(lowered < 1e-5);
    assay_graph_free(g);
    text_npy_free(&x);
    text_npy_free(&y);
}

static void depthwise_separable_network(void **state)
{
    (void)state;
    compare_network("dscnn");
}

static void residual_network(void **state)
{
    (void)state;
    compare_network("resnet8");
}

static void transformer_encoder(void **state)
{
    (void)state;
    compare_network("encoder");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(depthwise_separable_network),
        cmocka_unit_test(residual_network),
        cmocka_unit_test(transformer_encoder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
