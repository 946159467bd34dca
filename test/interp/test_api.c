/* A C user's unit test: load, quantize, run, compare, keep. All but the profile, which users have
 * from the command line, goes through the public header. */
#include <string.h>

#include "interp/measure/eval.h"
#include "test/support/support.h"

/* Sample i of the set that the profile is taken on: stripes. */
static assay_status stripes(void *user, int64_t i, int input_index, void *input, assay_error *err)
{
    float *x = input;
    (void)user;
    (void)input_index;
    (void)err;
    for (int k = 0; k < 32 * 32; k++)
        x[k] = (k + (int)i) % 32 > 10 && (k + (int)i) % 32 < 20 ? 1.5f : -1.5f;
    return ASSAY_OK;
}

static void write_profile(const assay_graph *g, const char *path)
{
    const assay_samples samples = {.count = 8, .read = stripes};
    assay_program *p = NULL;
    assay_profile *profile = NULL;
    assay_error err;

    assert_ok(assay_program_make(g, NULL, true, &p, &err), &err);
    assert_ok(profile_new(g, &profile, &err), &err);
    assert_ok(measure_profile_samples_of(p, &samples, 2, profile, &err), &err);
    assert_ok(profile_save(profile, path, &err), &err);
    profile_free(profile);
    assay_program_free(p);
}

static void test_whole_way(void **state)
{
    char model[4096], dir[2048], profile[4096], bundle[4096], digest[33];
    assay_graph *g = NULL, *q = NULL;
    assay_scheme *s = NULL;
    assay_program *pf = NULL, *pq = NULL;
    assay_run *rf = NULL, *rq = NULL;
    assay_error err;
    assay_thresholds limits = ASSAY_THRESHOLDS_EXACT;
    assay_comparison c;

    (void)state;
    test_source("datasets/models/res_dsconv.onnx", model, sizeof model);
    test_temp_dir(dir, sizeof dir);
    snprintf(profile, sizeof profile, "%s/profile.yaml", dir);
    snprintf(bundle, sizeof bundle, "%s/bundle", dir);
    assert_ok(assay_load(model, &g, &err), &err);
    write_profile(g, profile);
    assert_ok(assay_scheme_open("tflite", &s, &err), &err);
    assert_ok(assay_quantize_file(g, profile, s, &q, &err), &err);
    assert_ok(assay_program_make(g, NULL, false, &pf, &err), &err);
    assert_ok(assay_program_make(q, s, true, &pq, &err), &err);
    assert_ok(assay_run_new(pf, &rf, &err), &err);
    assert_ok(assay_run_new(pq, &rq, &err), &err);
    assert_int_equal(assay_input_count(g), 1);
    for (int v = 0; v < assay_value_count(g); v++) { /* without keep_all, only what is kept */
        const bool kept = v == assay_input(g, 0) || v == assay_output(g, 0);
        assert_true((assay_run_data(rf, v) != NULL) == (kept || g->value[v].data != NULL));
    }
    assert_ok(stripes(NULL, 3, 0, assay_run_data(rf, assay_input(g, 0)), &err), &err);
    assert_ok(stripes(NULL, 3, 0, assay_run_data(rq, assay_input(q, 0)), &err), &err);
    assert_ok(assay_execute(rf, &err), &err);
    assert_ok(assay_golden(pq, rq, bundle, true, digest, &err), &err);
    assert_int_equal(strlen(digest), 32);
    assert_refused(assay_golden(pq, rq, bundle, true, digest, &err), &err, "exists");
    limits.sqnr = 20.0;
    assert_ok(assay_compare(assay_value_type(g, assay_output(g, 0)),
                            assay_run_data(rf, assay_output(g, 0)),
                            assay_value_type(q, assay_output(q, 0)),
                            assay_run_data(rq, assay_output(q, 0)), &limits, &c, &err),
              &err);
    assert_true(c.pass);
    assert_true(c.differing > 0);
    test_remove_tree(dir);
    assay_run_free(rq);
    assay_run_free(rf);
    assay_program_free(pq);
    assay_program_free(pf);
    assay_scheme_free(s);
    assay_graph_free(q);
    assay_graph_free(g);
}

static void test_queries(void **state)
{
    char model[4096];
    assay_graph *g = NULL;
    assay_error err;

    (void)state;
    test_source("datasets/models/plain_cnn.onnx", model, sizeof model);
    assert_ok(assay_load(model, &g, &err), &err);
    assert_string_equal(assay_value_name(g, assay_output(g, 0)), "logits");
    assert_int_equal(assay_value_find(g, "logits"), assay_output(g, 0));
    assert_int_equal(assay_value_find(g, "nobody"), -1);
    assert_int_equal(assay_value_type(g, assay_input(g, 0))->rank, 4);
    assert_null(assay_value_name(g, assay_value_count(g)));
    assert_int_equal(assay_output(g, 7), -1);
    assay_graph_free(g);
    assert_refused(assay_load("/nowhere/net.onnx", &g, &err), &err, "/nowhere/net.onnx");
}

/* A network that came with zero points, under a target without: refused, or run without a claim. */
static void test_types(void **state)
{
    static const char text[] = "graph points { input x: i8[4] q(0.5,3)\n"
                               " z: i8[4] q(0.5,3) = relu(x)\n output z }\n";
    assay_graph *g;
    assay_scheme *s;
    assay_program *p;
    assay_error err;
    char dir[64], path[96];
    (void)state;
    test_temp_dir(dir, sizeof dir);
    snprintf(path, sizeof path, "%s/points.assay", dir);
    test_write_file(path, text, sizeof text - 1);
    assert_ok(assay_load(path, &g, &err), &err);
    assert_ok(assay_scheme_open("nvdla", &s, &err), &err);
    assert_refused(assay_program_make(g, s, false, &p, &err), &err, "activation_zero_point");
    assert_null(p);
    assert_ok(assay_program_make_as_is(g, s, false, &p, &err), &err);
    assay_program_free(p);
    assay_scheme_free(s);
    assay_graph_free(g);
    test_remove_tree(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole_way),
        cmocka_unit_test(test_queries),
        cmocka_unit_test(test_types),
    };
    return cmocka_run_group_tests_name("api", tests, NULL, NULL);
}
