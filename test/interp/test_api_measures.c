/* A C user of assay_measures.h: tokens, pixels, steps and shards in memory, and what is refused. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "interp/assay_measures.h"
#include "test/support/support.h"

static const char language[] = "graph lm {\n  input ids: i32[1,2]\n"
                               "  const t: f32[3,3] = [2,0,1, 0,3,0, 1,0,0]\n"
                               "  y: f32[1,2,3] = gather(t, ids) {axis = 0}\n  output y\n}\n";
static const char carry[] = "graph carry {\n  input x: f32[1,2]\n  input past: f32[1,2]\n"
                            "  present: f32[1,2] = add(x, past)\n  output present\n}\n";

static assay_graph *load(const char *text, const assay_load_options *o)
{
    assay_graph *g;
    assay_error err;
    assert_ok(assay_load_memory("net", text, strlen(text), o, &g, NULL, &err), &err);
    return g;
}

/* The number behind "key": in a JSON text. */
static double number_of(const char *json, const char *key)
{
    char quoted[40];
    double v = NAN;
    snprintf(quoted, sizeof quoted, "\"%s\":", key);
    const char *at = strstr(json, quoted);
    assert_non_null(at);
    assert_int_equal(sscanf(at + strlen(quoted), "%lf", &v), 1);
    return v;
}

static double loss(const double row[3], int label)
{
    return log(exp(row[0]) + exp(row[1]) + exp(row[2])) - row[label];
}

static void tokens(void **state)
{
    static const int64_t stream[] = {0, 1, 1, 2, 0}, inputs[] = {0, 1, 1, 2},
                         labels[] = {1, 1, 2, 0};
    static const int32_t ids[] = {0, 1, 1, 2};
    static const double table[3][3] = {{2, 0, 1}, {0, 3, 0}, {1, 0, 0}};
    const void *input[] = {ids};
    assay_graph *g = load(language, NULL);
    assay_labelled l = ASSAY_OPTIONS(assay_labelled);
    assay_program *p;
    assay_error err;
    uint64_t n;
    int64_t x[4], y[4];
    char *json;
    double sum = 0;

    (void)state;
    assert_ok(assay_token_windows(stream, 5, 2, 0, -1, &n, NULL, NULL, &err), &err);
    assert_int_equal(n, 2);
    assert_ok(assay_token_windows(stream, 5, 2, 0, -1, &n, x, y, &err), &err);
    assert_memory_equal(x, inputs, sizeof x);
    assert_memory_equal(y, labels, sizeof y);
    assert_refused(assay_token_windows(stream, 5, 6, 0, -1, &n, NULL, NULL, &err), &err,
                   "5 tokens");
    assert_refused(assay_token_windows(stream, 5, 0, 0, -1, &n, NULL, NULL, &err), &err,
                   "from 1 to 2^40 tokens");
    assert_ok(assay_program_make_for(g, NULL, NULL, &p, &err), &err);
    l.count = n;
    l.input = input;
    l.label_map = y;
    l.tokens = 2;
    assert_ok(assay_evaluate(p, NULL, &l, NULL, &json, &err), &err);
    for (int i = 0; i < (int)(sizeof ids / sizeof *ids); i++)
        sum += loss(table[ids[i]], (int)y[i]);
    assert_true(fabs(number_of(json, "perplexity") - exp(sum / 4)) < 1e-9);
    assay_free(json);
    y[3] = 3;
    assert_refused(assay_evaluate(p, NULL, &l, NULL, &json, &err), &err, "sample 1: token 3");
    assert_null(json);
    l.map[0] = l.map[1] = 1;
    assert_refused(assay_evaluate(p, NULL, &l, NULL, &json, &err), &err, "label_map needs either");
    l.tokens = -1;
    assert_refused(assay_evaluate(p, NULL, &l, NULL, &json, &err), &err, "label_map needs either");
    l = (assay_labelled){.size = sizeof l, .count = n, .input = input, .class_axis = 9};
    assert_refused(assay_evaluate(p, NULL, &l, NULL, &json, &err), &err, "class_axis");
    assay_program_free(p);
    assay_graph_free(g);
}

static void steps(void **state)
{
    static const char *const pairs[] = {"past=present"}, *const none[] = {"none=present"},
                             *const half[] = {"past"};
    static const float x[3][2] = {{1, 2}, {3, 4}, {5, 6}};
    const void *input[] = {x};
    assay_load_options o = ASSAY_OPTIONS(assay_load_options);
    assay_labelled l = ASSAY_OPTIONS(assay_labelled);
    assay_profile *profile;
    assay_program *p;
    assay_graph *g;
    assay_error err;
    char *json, *apart;

    (void)state;
    o.state = none;
    o.n_states = 1;
    assert_refused(assay_load_memory("net", carry, sizeof carry - 1, &o, &g, NULL, &err), &err,
                   "no input of that name");
    o.state = half;
    assert_refused(assay_load_memory("net", carry, sizeof carry - 1, &o, &g, NULL, &err), &err,
                   "PAST=PRESENT");
    o.state = pairs;
    g = load(carry, &o);
    assert_int_equal(assay_input_count(g), 1);
    assert_ok(assay_profile_new(g, &profile, &err), &err);
    assert_refused(assay_profile_by_channel(profile, g, "none", &err), &err, "none");
    assert_ok(assay_profile_by_channel(profile, g, "present", &err), &err);
    assert_ok(assay_profile_observe_steps(profile, g, 0, 3, input, NULL, NULL, &err), &err);
    assert_refused(assay_profile_by_channel(profile, g, NULL, &err), &err, "before anything");
    assert_ok(assay_profile_json(profile, &json, &err), &err);
    assert_non_null(strstr(json, "\"max\": 12.0")); /* 2 + 4 + 6 */
    assay_free(json);
    assert_ok(assay_program_make_for(g, NULL, NULL, &p, &err), &err);
    l.count = 3;
    l.input = input;
    assert_ok(assay_evaluate(p, NULL, &l, NULL, &apart, &err), &err);
    l.sequence = true;
    assert_ok(assay_evaluate(p, NULL, &l, NULL, &json, &err), &err);
    assert_string_not_equal(json, apart); /* digests of the outputs */
    assay_free(json);
    assay_free(apart);
    assert_ok(assay_program_plan(p, &json, &apart, &err), &err);
    assert_non_null(strstr(apart, "<svg"));
    assay_free(json);
    assay_free(apart);
    assay_program_free(p);
    assay_profile_free(profile);
    assay_graph_free(g);
}

static void fixed(void **state)
{
    static const char *const given[] = {"x=1,2"}, *const bad[] = {"x"}, *const shape[] = {"x=2"},
                             *const file[] = {"x=nowhere.npy"};
    assay_load_options o = ASSAY_OPTIONS(assay_load_options);
    assay_graph *g;
    assay_error err;

    (void)state;
    o.n_fixed = 1;
    o.fix = given; /* of a text */
    assert_refused(assay_load_memory("net", carry, sizeof carry - 1, &o, &g, NULL, &err), &err,
                   "for ONNX models only");
    o.fix = bad;
    assert_refused(assay_load_memory("net", carry, sizeof carry - 1, &o, &g, NULL, &err), &err,
                   "fix takes INPUT=NUMBER");
    o.fix = file;
    assert_refused(assay_load_memory("net", carry, sizeof carry - 1, &o, &g, NULL, &err), &err,
                   "nowhere.npy");
    o.n_fixed = 0;
    o.n_shapes = 1;
    o.shape = shape;
    assert_refused(assay_load_memory("net", carry, sizeof carry - 1, &o, &g, NULL, &err), &err, "");
    assert_null(g);
}

static void shards(void **state)
{
    static const float x[3][2] = {{1, 2}, {4, 3}, {5, 6}};
    static const int64_t label[] = {1, 0, 0};
    static const char net[] = "graph two {\n  input x: f32[1,2]\n  y: f32[1,2] = relu(x)\n"
                              "  output y\n}\n";
    const char *const path[] = {"w19_two.json", "w19_one.json"};
    assay_graph *g = load(net, NULL);
    assay_labelled l = ASSAY_OPTIONS(assay_labelled);
    assay_shard s = ASSAY_OPTIONS(assay_shard);
    assay_program *p;
    assay_error err;
    char *json, *merged;
    bool good;

    (void)state;
    assert_ok(assay_program_make_for(g, NULL, NULL, &p, &err), &err);
    s.all = 3;
    for (int k = 0; k < 2; k++) {
        const void *input[] = {x[k]};
        l.input = input;
        l.label = label + k;
        l.count = k == 0 ? 1 : 2;
        s.first = (uint64_t)k;
        assert_ok(assay_evaluate_shard(p, NULL, &l, &s, path[1 - k], &err), &err);
    }
    s.first = 2;
    assert_refused(assay_evaluate_shard(p, NULL, &l, &s, path[0], &err), &err, "not part of");
    assert_ok(assay_evaluate_merge(path, 2, &merged, &err), &err);
    const void *all[] = {x};
    l.input = all;
    l.label = label;
    l.count = 3;
    assert_ok(assay_evaluate(p, NULL, &l, NULL, &json, &err), &err);
    assert_true(number_of(merged, "top1") == number_of(json, "top1"));
    assert_true(fabs(number_of(merged, "top1") - 200.0 / 3) < 1e-9);
    assert_non_null(strstr(merged, "\"scheme\": \"float\""));
    assay_free(json);
    assay_free(merged);
    assert_refused(assay_evaluate_merge(path, 1, &merged, &err), &err, "sample 0");
    assert_refused(assay_evaluate_merge(path, 0, &merged, &err), &err, "0 shards");
    remove(path[0]);
    remove(path[1]);
    assay_program_free(p);
    assay_graph_free(g);
    assert_refused(assay_check_proof("c", "{}", 2, NULL, NULL, NULL, &good, &json, &err), &err,
                   "certificate");
    assert_null(json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tokens),
        cmocka_unit_test(steps),
        cmocka_unit_test(fixed),
        cmocka_unit_test(shards),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
