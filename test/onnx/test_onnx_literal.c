/* Quantized networks computed as they say, floats between their conversions and no integer nodes
 * (assay run --literal), against ONNX Runtime without optimizations (golden/onnx, *_y_none.npy);
 * and against it by default where int8 activations make it keep convolutions in floats. Floats are
 * added in its order: every element is equal, bit for bit. */
#include "test/support/support.h"

#include <stdio.h>
#include <string.h>

#include "graph/onnx/onnx.h"
#include "graph/text/npy.h"
#include "interp/run/program.h"
#include "schemes/scheme.h"

typedef struct network {
    const char *net, *variant, *suffix;
} network;

static const network networks[] = {
    {"dscnn", "qlin_u8s8", "y_none"},      {"dscnn", "qlin_s8s8", "y_none"},
    {"resnet8", "qlin_u8s8", "y_none"},    {"resnet8", "qlin_s8s8", "y_none"},
    {"encoder", "qlin_u8s8", "y_none"},    {"dscnn", "qdq_u8s8", "y_none"},
    {"dscnn", "qdq_s8s8", "y_none"},       {"dscnn", "qdq_s8s8", "y"},
    {"resnet8", "qdq_u8s8", "y_none"},     {"resnet8", "qdq_s8s8", "y_none"},
    {"resnet8", "qdq_s8s8", "y"},          {"encoder", "qdq_u8s8", "y_none"},
    {"mobilenetv2", "qdq_u8s8", "y_none"},
};

static void read_npy(const network *n, const char *suffix, assay_npy *a)
{
    char relative[200], path[600];
    assay_error err = {0};
    snprintf(relative, sizeof relative, "golden/onnx/nets/%s_%s.npy", n->net, suffix);
    assert_ok(text_npy_read_file(test_shared(relative, path, sizeof path), a, &err), &err);
}

static void compare(const network *n, const assay_scheme *s)
{
    char suffix[60], relative[200], path[600];
    assay_graph *g = NULL;
    assay_program *p = NULL;
    assay_run *r = NULL;
    assay_npy x, y;
    assay_error err = {0};
    size_t differ = 0;

    read_npy(n, "x", &x);
    snprintf(suffix, sizeof suffix, "%s_%s", n->variant, n->suffix);
    read_npy(n, suffix, &y);
    snprintf(relative, sizeof relative, "golden/onnx/nets/%s_%s.onnx", n->net, n->variant);
    const assay_onnx_options options = {.batch = x.shape[0]};
    assert_ok(onnx_import_file(test_shared(relative, path, sizeof path), &options, &g, &err), &err);
    assert_ok(assay_program_make_as_is(g, s, false, &p, &err), &err);
    assert_ok(assay_run_new(p, &r, &err), &err);
    assert_int_equal(assay_shape_count(&g->value[g->input[0]].type), text_npy_count(&x));
    assert_int_equal(assay_shape_count(&g->value[g->output[0]].type), text_npy_count(&y));
    memcpy(assay_run_data(r, g->input[0]), x.data, text_npy_bytes(&x));
    assert_ok(run_execute(r, NULL, false, NULL, &err), &err);
    const float *got = assay_run_data(r, g->output[0]), *want = y.data;
    for (size_t i = 0; i < text_npy_count(&y); i++)
        differ += memcmp(&got[i], &want[i], sizeof *got) != 0;
    print_message("# %s_%s_%s: %zu of %zu elements differ\n", n->net, n->variant, n->suffix, differ,
                  text_npy_count(&y));
    assert_int_equal(differ, 0);
    assay_run_free(r);
    assay_program_free(p);
    assay_graph_free(g);
    text_npy_free(&x);
    text_npy_free(&y);
}

static void networks_as_they_say(void **state)
{
    char path[600];
    assay_scheme *s = NULL;
    assay_error err = {0};
    (void)state;

    if (!test_shared("golden/onnx/nets/nets.json", path, sizeof path)) {
        print_message("# golden/onnx/nets is missing\n");
        skip();
    }
    assert_ok(assay_scheme_open("onnxruntime", &s, &err), &err);
    for (size_t i = 0; i < sizeof networks / sizeof *networks; i++)
        compare(&networks[i], s);
    assay_scheme_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(networks_as_they_say)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
