/* A C user of assay_tools.h: from text in memory to a bundle, its verdicts, and what is refused. */
#include <stdio.h>
#include <string.h>

#include "interp/assay_measures.h"
#include "test/support/support.h"

static const char network[] =
    "graph small {\n  input x: f32[1,2,4]\n  const w: f32[3,4] = "
    "[1,-1,0.5,2,0.25,1,-2,1,1,1,1,-1]\n"
    "  mul: f32[1,2,3] = fc(x, w, _)\n  act: f32[1,2,3] = relu(mul)\n  output act\n}\n";
enum { SAMPLES = 4, ELEMENTS = 8 };

typedef struct state {
    assay_graph *floating, *integers;
    assay_scheme *scheme;
    assay_profile *profile;
    float x[SAMPLES][ELEMENTS];
} state;

static void count(void *user, int64_t done, int64_t total)
{
    int *n = user;
    assert_int_equal(done, ++*n);
    assert_int_equal(total, SAMPLES);
}

static int setup(void **out)
{
    static state s;
    enum assay_model_form form;
    const void *inputs[] = {s.x};
    const char *const keep[] = {"none-such*"};
    assay_quantizer_options o = ASSAY_OPTIONS(assay_quantizer_options);
    assay_error err;
    int done = 0;
    char *report;

    for (int i = 0; i < SAMPLES * ELEMENTS; i++)
        s.x[i / ELEMENTS][i % ELEMENTS] = (float)((i * 37) % 41 - 20) / 8;
    assert_ok(assay_load_memory("net", network, sizeof network - 1, NULL, &s.floating, &form, &err),
              &err);
    assert_int_equal(form, ASSAY_MODEL_TEXT);
    assert_ok(assay_scheme_open("tflite", &s.scheme, &err), &err);
    assert_ok(assay_profile_new(s.floating, &s.profile, &err), &err);
    assert_ok(
        assay_profile_observe(s.profile, s.floating, 0, SAMPLES, inputs, 2, count, &done, &err),
        &err);
    assert_int_equal(done, SAMPLES);
    o.keep_float = keep;
    o.n_keep_float = 1;
    assert_refused(assay_quantize(s.floating, s.profile, s.scheme, &o, &s.integers, &report, &err),
                   &err, "none-such");
    assert_true(!s.integers && !report);
    o.n_keep_float = 0;
    assert_ok(assay_quantize(s.floating, s.profile, s.scheme, &o, &s.integers, &report, &err),
              &err);
    assert_non_null(strstr(report, "\"integer\": 1"));
    assay_free(report);
    *out = &s;
    return 0;
}

static int teardown(void **out)
{
    state *s = *out;
    assay_graph_free(s->integers);
    assay_profile_free(s->profile);
    assay_scheme_free(s->scheme);
    assay_graph_free(s->floating);
    return 0;
}

static void test_options(void **out)
{
    const state *s = *out;
    struct {
        assay_engine_options known;
        char newer[8];
    } o = {.known = ASSAY_OPTIONS(assay_engine_options)};
    assay_program *p;
    assay_error err;

    o.known.size = sizeof o; /* of a newer header: fine as long as nothing new is asked for */
    assert_ok(assay_program_make_for(s->integers, s->scheme, &o.known, &p, &err), &err);
    assay_program_free(p);
    o.newer[3] = 1;
    assert_refused(assay_program_make_for(s->integers, s->scheme, &o.known, &p, &err), &err,
                   "does not know is set");
    o.known.size = 0;
    assert_refused(assay_program_make_for(s->integers, s->scheme, &o.known, &p, &err), &err,
                   "ASSAY_OPTIONS");
    o.known = (assay_engine_options){sizeof(size_t) + sizeof(char *), "fast"}; /* of an older one */
    assert_ok(assay_program_make_for(s->integers, s->scheme, &o.known, &p, &err), &err);
    assay_program_free(p);
    o.known.engine = "slow";
    assert_refused(assay_program_make_for(s->integers, s->scheme, &o.known, &p, &err), &err,
                   "slow");
}

static assay_status watch(void *user, assay_run *r, int node, const int64_t *accumulators,
                          assay_error *err)
{
    int *nodes = user;
    (void)r;
    (void)node;
    *nodes += accumulators ? 100 : 1;
    return *nodes > 1000 ? assay_fail(err, ASSAY_ERR_INPUT, "enough") : ASSAY_OK;
}

static void write_bundle(const state *s, const char *dir)
{
    assay_engine_options e = ASSAY_OPTIONS(assay_engine_options);
    assay_golden_options o = ASSAY_OPTIONS(assay_golden_options);
    assay_bundle_writer *w;
    assay_program *p;
    assay_run *r;
    assay_error err;
    char digest[33], *contract;
    int nodes = 0;

    e.keep_all = true;
    assert_ok(assay_program_make_for(s->integers, s->scheme, &e, &p, &err), &err);
    assert_ok(assay_program_contract(p, &contract, &err), &err);
    assert_non_null(strstr(contract, "\"exact\""));
    assay_free(contract);
    assert_ok(assay_run_new(p, &r, &err), &err);
    o.dir = dir;
    o.samples = 2;
    o.accumulators = true;
    o.formats = "npy,nothing";
    assert_refused(assay_golden_begin(p, &o, &w, &err), &err, "nothing");
    o.formats = NULL;
    assert_ok(assay_golden_begin(p, &o, &w, &err), &err);
    for (int k = 0; k < 2; k++) {
        memcpy(assay_run_data(r, assay_input(s->integers, 0)), s->x[k], sizeof s->x[k]);
        assert_ok(assay_golden_add(w, r, k, &err), &err);
    }
    assert_ok(assay_golden_commit(w, digest, &err), &err);
    assert_ok(assay_execute_with(r, watch, true, &nodes, &err), &err);
    assert_int_equal(nodes, 102); /* quantize, fc with its sums, dequantize */
    nodes = 1000;
    assert_refused(assay_execute_with(r, watch, false, &nodes, &err), &err, "enough");
    assay_run_free(r);
    assay_program_free(p);
}

static void read_bundle(const char *dir)
{
    assay_bundle *b;
    assay_stored t = {.sample = -1};
    assay_error err;
    void *data, *sums;
    char *manifest;
    int i = 0;

    assert_ok(assay_bundle_open(dir, &b, &err), &err);
    assert_int_equal(assay_bundle_count(b), 8);
    for (; i < 8 && !t.has_sums; i++)
        assert_ok(assay_bundle_get(b, i, &t, &err), &err);
    assert_string_equal(t.op, "fc");
    assert_ok(assay_bundle_read(b, i - 1, false, &data, &err), &err);
    assert_ok(assay_bundle_read(b, i - 1, true, &sums, &err), &err);
    assert_refused(assay_bundle_get(b, 8, &t, &err), &err, "tensor 8 of 8");
    assert_ok(assay_bundle_manifest(b, &manifest, &err), &err);
    assert_non_null(strstr(manifest, t.digest));
    assay_free(manifest);
    assay_free(sums);
    assay_free(data);
    assay_bundle_close(b);
}

static void test_bundle(void **out)
{
    char dir[2048], bundle[4096], page[4096], *text, *json;
    const assay_report_options named = {.size = sizeof named, .name = (const char *[]){"a name"}};
    assay_verified found;
    assay_error err;
    bool same = false;
    int faults = -1;

    test_temp_dir(dir, sizeof dir);
    snprintf(bundle, sizeof bundle, "%s/bundle", dir);
    snprintf(page, sizeof page, "%s/page.html", dir);
    write_bundle(*out, bundle);
    read_bundle(bundle);
    assert_ok(assay_verify(bundle, NULL, NULL, NULL, &found, &err), &err);
    assert_true(found.tensors == 8 && !found.files_bad);
    assert_ok(assay_compare_folders(bundle, bundle, NULL, &same, &text, &json, &err), &err);
    assert_true(same && strstr(text, "SAME") && strstr(json, "\"same\""));
    assay_free(text);
    assay_free(json);
    assert_ok(assay_blame_folders(bundle, bundle, NULL, &faults, &text, NULL, &err), &err);
    assert_int_equal(faults, 0);
    assay_free(text);
    assert_ok(assay_write_report((const char *[]){bundle}, 1, page, &named, &err), &err);
    assert_refused(assay_write_report((const char *[]){"/nowhere"}, 1, page, NULL, &err), &err,
                   "nowhere");
    assert_refused(assay_write_report(NULL, 0, page, NULL, &err), &err, "0 files");
    assert_refused(assay_blame_folders(bundle, "/nowhere", NULL, &faults, &text, &json, &err), &err,
                   "nowhere");
    assert_true(!text && !json);
    test_remove_tree(dir);
}

static void test_forms(void **out)
{
    const state *s = *out;
    static const char *const name[] = {"n.assay", "n.onnx", "n.tflite"};
    enum assay_model_form form;
    char dir[2048], path[4096];
    assay_graph *g;
    assay_error err;

    test_temp_dir(dir, sizeof dir);
    for (int i = 0; i < (int)(sizeof name / sizeof *name); i++) {
        snprintf(path, sizeof path, "%s/%s", dir, name[i]);
        assert_ok(assay_save(s->integers, path, &err), &err);
        assert_ok(assay_load_with(path, NULL, &g, &form, &err), &err);
        assert_int_equal(form, ASSAY_MODEL_TEXT + i);
        assay_graph_free(g);
    }
    assert_refused(assay_load_with("/nowhere.onnx", NULL, &g, &form, &err), &err, "nowhere");
    test_remove_tree(dir);
}

static void test_schemes(void **out)
{
    const state *s = *out;
    const int64_t acc[] = {585, 1};
    const double scale[] = {0.0111111114, 0.5};
    assay_rescales rows = ASSAY_OPTIONS(assay_rescales);
    assay_scheme *again;
    assay_error err;
    int64_t codes[2];
    char *json;

    assert_ok(assay_scheme_json(s->scheme, &json, &err), &err);
    assert_ok(assay_scheme_from_text("json", json, strlen(json), &again, &err), &err);
    assert_string_equal(assay_scheme_digest(again), assay_scheme_digest(s->scheme));
    assay_free(json);
    assert_ok(assay_scheme_diff(again, s->scheme, "conv", false, &json, &err), &err);
    assert_string_equal(json, "[]");
    assay_free(json);
    assay_scheme_free(again);
    assert_refused(assay_scheme_diff(s->scheme, s->scheme, "none", false, &json, &err), &err,
                   "none");
    assert_null(assay_scheme_preset(-1));
    rows.n = 2;
    rows.acc = acc;
    assert_refused(assay_scheme_apply(s->scheme, &rows, codes, NULL, &err), &err,
                   "accumulator and");
    rows.scale = scale;
    assert_ok(assay_scheme_apply(s->scheme, &rows, codes, NULL, &err), &err);
    assert_true(codes[0] == 7 && codes[1] == 1);
}

static void test_networks(void **out)
{
    const state *s = *out;
    assay_optimizer_options o = ASSAY_OPTIONS(assay_optimizer_options);
    assay_graph *g;
    assay_error err;
    char *text, *json;

    assert_refused(assay_load_memory("none", NULL, 0, NULL, &g, NULL, &err), &err, "empty");
    assert_ok(assay_graph_copy(s->integers, &g, &err), &err);
    o.allow = "some";
    assert_refused(assay_optimize(g, s->scheme, &o, &text, &json, &err), &err, "some");
    o.allow = "none";
    assert_ok(assay_optimize(g, s->scheme, &o, &text, &json, &err), &err);
    assert_non_null(strstr(json, "\"unproved\": 0"));
    assay_free(text);
    assay_free(json);
    assert_ok(assay_graph_json(g, &json, &err), &err);
    assert_non_null(strstr(json, "\"quantized_for\": \"tflite\""));
    assay_free(json);
    assay_graph_free(g);
    assert_null(assay_value_constant(s->floating, assay_input(s->floating, 0)));
    assert_ok(assay_profile_json(s->profile, &json, &err), &err);
    assert_non_null(strstr(json, "\"samples\": 4"));
    assay_free(json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_options),  cmocka_unit_test(test_forms),
        cmocka_unit_test(test_bundle),   cmocka_unit_test(test_schemes),
        cmocka_unit_test(test_networks),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
