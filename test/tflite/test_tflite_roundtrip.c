/* Networks written as TFLite and read again: every value that both have, bit for bit. Those of
 * ../shared/models, and the shipped ONNX networks as we quantize them. */
#include "test/support/support.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/tflite/export.h"
#include "graph/tflite/tflite.h"
#include "interp/kernel/kernel.h"
#include "interp/run/model.h"
#include "opt/lower/opt.h"
#include "opt/quantize/quantize.h"
#include "test/support/net.h"
#include "test/support/tflite_roundtrip.h"

#define PATH_ROOM 4096

static int is_model(const struct dirent *e)
{
    size_t n = strlen(e->d_name);
    return n > 7 && strcmp(e->d_name + n - 7, ".tflite") == 0;
}

static void shared_models(void **state)
{
    char folder[PATH_ROOM], path[PATH_ROOM + 300];
    struct dirent **models;
    test_rng rng = test_seed("tflite_roundtrip", 41);
    roundtrip all = {0};
    int n;

    (void)state;
    if (!test_shared("models", folder, sizeof folder))
        skip();
    n = scandir(folder, &models, is_model, alphasort);
    assert_true(n > 0);
    for (int i = 0; i < n; ++i) {
        assay_graph *g = NULL;
        assay_error err;
        snprintf(path, sizeof path, "%s/%s", folder, models[i]->d_name);
        assert_ok(tfl_import_file(path, &g, &err), &err);
        test_tflite_roundtrip(g, "tflite", 2, &rng, &all);
        test_tflite_roundtrip(g, "tflite-single", 1, &rng, &all);
        assay_graph_free(g);
        free(models[i]);
    }
    free(models);
    print_message("# %d models, %ld values, %ld elements, %ld mismatches\n", n, all.values,
                  all.elements, all.mismatches);
    assert_int_equal(all.mismatches, 0);
}

static void observe(assay_profile *p, const assay_graph *g, test_rng *rng, uint64_t sample)
{
    assay_graph *run;
    assay_error err;
    float *x = net_random_input(rng, g, 0);

    assert_ok(assay_graph_clone(g, &run, &err), &err);
    net_run(run, (const float *[]){x});
    for (int v = 0; v < run->n_values; ++v)
        if (!g->value[v].data && run->value[v].type.elem.kind == ASSAY_KIND_F32)
            profile_observe(p, v, run->value[v].data,
                            (size_t)assay_shape_count(&run->value[v].type));
    assert_ok(profile_add_sample(p, sample, &err), &err);
    assay_graph_free(run);
    free(x);
}

/* A shipped network, quantized on the ranges of a few random inputs. */
static assay_graph *quantized(const char *file, const char *scheme, test_rng *rng)
{
    char path[PATH_ROOM];
    const assay_quantize_options options = {.has_kernel = run_has_integer_kernel};
    assay_graph *g, *out;
    assay_profile *profile;
    assay_scheme *s;
    assay_error err;

    assert_non_null(test_source(file, path, sizeof path));
    assert_ok(run_model_load_canonical(path, NULL, &g, &err), &err);
    assert_ok(profile_new(g, &profile, &err), &err);
    for (uint64_t k = 0; k < 4; ++k)
        observe(profile, g, rng, k);
    assert_ok(assay_scheme_open(scheme, &s, &err), &err);
    assert_ok(quantize_network(g, profile, s, &options, &out, NULL, &err), &err);
    assay_scheme_free(s);
    profile_free(profile);
    assay_graph_free(g);
    return out;
}

static void shipped_networks(void **state)
{
    static const char *const file[] = {"datasets/models/plain_cnn.onnx",
                                       "datasets/models/res_dsconv.onnx"};
    static const char *const scheme[] = {"tflite", "tflite-single", "tflite-int16x8", "cmsis-nn"};
    test_rng rng = test_seed("tflite_roundtrip_quantized", 42);

    (void)state;
    for (size_t i = 0; i < sizeof file / sizeof *file; ++i)
        for (size_t k = 0; k < sizeof scheme / sizeof *scheme; ++k) {
            roundtrip sum = {0};
            assay_graph *g = quantized(file[i], scheme[k], &rng);
            test_tflite_roundtrip(g, scheme[k], 2, &rng, &sum);
            print_message("# %s, %s: %ld values, %ld elements, %ld mismatches\n", file[i],
                          scheme[k], sum.values, sum.elements, sum.mismatches);
            assert_true(sum.values > 2 * g->n_nodes - 4);
            assert_int_equal(sum.mismatches, 0);
            assay_graph_free(g);
        }
}

/* Floats too: another order of additions, so within a tolerance. */
static void float_networks(void **state)
{
    static const char *const file[] = {"datasets/models/plain_cnn.onnx",
                                       "datasets/models/res_dsconv.onnx"};
    test_rng rng = test_seed("tflite_roundtrip_float", 43);

    (void)state;
    for (size_t i = 0; i < sizeof file / sizeof *file; ++i) {
        char path[PATH_ROOM];
        roundtrip sum = {0};
        assay_graph *g;
        assay_error err;
        assert_non_null(test_source(file[i], path, sizeof path));
        assert_ok(run_model_load_canonical(path, NULL, &g, &err), &err);
        test_tflite_roundtrip(g, "tflite", 1, &rng, &sum);
        assert_true(sum.values > g->n_nodes - 2);
        assert_int_equal(sum.mismatches, 0);
        assay_graph_free(g);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shared_models),
        cmocka_unit_test(shipped_networks),
        cmocka_unit_test(float_networks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
