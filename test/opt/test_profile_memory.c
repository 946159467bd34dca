/* Every allocation of profiles, target files, the quantizer, of weights in blocks, of networks for
 * matrix units and of the sensitivity table may fail: the call fails or succeeds, nothing is left
 * behind (run under ASan), nothing half-made comes out. */
#include "test/support/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "graph/core/slurp.h"
#include "interp/kernel/kernel.h"
#include "interp/measure/tune.h"
#include "opt/profile/moments.h"
#include "opt/quantize/packed.h"
#include "opt/quantize/units.h"
#include "opt/target/target.h"
#include "test/support/alloc_fails.h"
#include "test/support/net.h"

static const char target_text[] = "target: box\nops:\n  conv: {types: [i8], weights: per-tensor}\n"
                                  "others: {types: [i8]}\n";

/* What the operations work on; made while nothing fails. */
typedef struct fixture {
    assay_graph *graph, *layers, *smooth;
    assay_profile *profile, *of_smooth;
    assay_scheme *scheme, *units;
    assay_target *target;
    char dir[256], path[300];
} fixture;

static void observe(assay_profile *p, const assay_graph *g, uint64_t sample)
{
    assay_error err;
    float x[64];
    for (int v = 0; v < g->n_values; v++) {
        size_t n = (size_t)assay_shape_count(&g->value[v].type);
        for (size_t i = 0; i < n; i++)
            x[i] = (float)((i * 7 + sample) % 11) / 5 - 1;
        profile_observe(p, v, x, n);
    }
    assert_ok(profile_add_sample(p, sample, &err), &err);
}

/* A layer whose weights go into blocks, and one whose weights stay. */
static assay_graph *two_layers(test_rng *rng)
{
    assay_graph *g = net_new();
    int x = net_input(g, "x", NET_SHAPE(1, 256));
    int y = net_node(g, ASSAY_OP_FC, "y", NULL, x,
                     net_constant(g, rng, "w", -1, 1, NET_SHAPE(3, 256)), -2);
    net_output(g, net_node(g, ASSAY_OP_FC, "z", NULL, y,
                           net_constant(g, rng, "v", -1, 1, NET_SHAPE(2, 3)), -2));
    return g;
}

/* A value that is smoothed, and layers that GPTQ rounds. */
static assay_graph *smoothed_layers(test_rng *rng)
{
    assay_graph *g = net_new();
    int x = net_input(g, "x", NET_SHAPE(4, 8));
    int y = net_node(g, ASSAY_OP_FC, "y", NULL, x,
                     net_constant(g, rng, "w", -1, 1, NET_SHAPE(3, 8)), -2);
    net_output(g, net_node(g, ASSAY_OP_FC, "z", NULL, net_node(g, ASSAY_OP_RELU, "r", NULL, y, -2),
                           net_constant(g, rng, "v", -1, 1, NET_SHAPE(2, 3)), -2));
    return g;
}

static fixture prepare(void)
{
    fixture f = {.graph = net_new()};
    test_rng rng = {3};
    assay_attrs conv = {.conv = {.group = 1}};
    assay_error err;
    int x = net_input(f.graph, "x", NET_SHAPE(1, 2, 2, 2));
    int w = net_constant(f.graph, &rng, "w", -1, 1, NET_SHAPE(2, 2, 1, 1));
    int c = net_node(f.graph, ASSAY_OP_CONV, "c", &conv, x, w, -2);
    net_output(f.graph, net_node(f.graph, ASSAY_OP_TANH, "y", NULL, c, -2));
    assert_ok(profile_new(f.graph, &f.profile, &err), &err);
    assert_ok(profile_by_channel(f.profile, f.graph, "*", &err), &err);
    observe(f.profile, f.graph, 0);
    assert_ok(assay_scheme_open("tflite", &f.scheme, &err), &err);
    assert_ok(assay_scheme_open("hopper-fp8", &f.units, &err), &err);
    assert_ok(target_parse("t", target_text, strlen(target_text), &f.target, &err), &err);
    f.layers = two_layers(&rng);
    f.smooth = smoothed_layers(&rng);
    assert_ok(profile_new(f.smooth, &f.of_smooth, &err), &err);
    assert_ok(profile_by_channel(f.of_smooth, f.smooth, "*", &err), &err);
    observe(f.of_smooth, f.smooth, 0);
    test_temp_dir(f.dir, sizeof f.dir);
    snprintf(f.path, sizeof f.path, "%s/p.yaml", f.dir);
    assert_ok(profile_save(f.profile, f.path, &err), &err);
    return f;
}

static void drop(fixture *f)
{
    test_remove_tree(f->dir);
    target_free(f->target);
    assay_scheme_free(f->scheme);
    assay_scheme_free(f->units);
    profile_free(f->profile);
    profile_free(f->of_smooth);
    assay_graph_free(f->smooth);
    assay_graph_free(f->graph);
    assay_graph_free(f->layers);
}

/* ---- operations ---- */

static assay_status parse_target(fixture *f, assay_error *err)
{
    assay_target *t;
    assay_status status = target_parse("t", target_text, strlen(target_text), &t, err);
    (void)f;
    assert_true((t == NULL) == (status != ASSAY_OK));
    target_free(t);
    return status;
}

static assay_status new_profile(fixture *f, assay_error *err)
{
    assay_profile *p;
    assay_status status = profile_new(f->graph, &p, err);
    if (!status)
        status = profile_by_channel(p, f->graph, "*", err);
    profile_free(p);
    return status;
}

static assay_status load_and_merge(fixture *f, assay_error *err)
{
    assay_profile *p, *q = NULL;
    assay_status status = profile_load(f->path, &p, err);
    if (!status)
        status = profile_new(f->graph, &q, err);
    if (!status)
        status = profile_by_channel(q, f->graph, "*", err);
    if (!status)
        status = profile_merge(q, p, err);
    profile_free(p);
    profile_free(q);
    return status;
}

/* The file is the whole profile, or it is not written. */
static assay_status save(fixture *f, assay_error *err)
{
    char path[300];
    snprintf(path, sizeof path, "%s/saved.yaml", f->dir);
    remove(path);
    const assay_status status = profile_save(f->profile, path, err);
    if (status) {
        assert_int_equal(access(path, F_OK), -1);
        return status;
    }
    const long failing = alloc_countdown;
    unsigned char *saved, *whole;
    size_t n, size;
    alloc_countdown = 0;
    assert_ok(assay_slurp(path, &saved, &n, err), err);
    assert_ok(assay_slurp(f->path, &whole, &size, err), err);
    assert_int_equal(n, size);
    assert_memory_equal(saved, whole, size);
    free(saved);
    free(whole);
    alloc_countdown = failing;
    return status;
}

static assay_quantize_options options_of(const fixture *f)
{
    return (assay_quantize_options){.has_kernel = run_has_integer_kernel, .target = f->target};
}

static assay_status quantize(fixture *f, assay_error *err)
{
    const assay_quantize_options o = options_of(f);
    assay_quantize_report report;
    assay_graph *q;
    assay_status status = quantize_network(f->graph, f->profile, f->scheme, &o, &q, &report, err);
    assert_true((q == NULL) == (status != ASSAY_OK));
    quantize_report_free(&report);
    assay_graph_free(q);
    return status;
}

static assay_status smooth_and_round(fixture *f, assay_error *err)
{
    const float row[8] = {1, -2, 3, 0, 0.5F, 4, -1, 2};
    assay_quantize_options o = {.has_kernel = run_has_integer_kernel, .smooth = 0.5, .gptq = true};
    assay_quantize_report report = {0};
    assay_moments *m;
    assay_graph *q = NULL;
    assay_status status = profile_moments_new(f->smooth, &m, err);
    for (int v = 0; v < f->smooth->n_values && !status; v++) /* rows of 8, of 3 */
        profile_moments_observe(m, v, row, v == f->smooth->input[0] ? 8 : 6);
    o.moments = m;
    if (!status)
        status = quantize_network(f->smooth, f->of_smooth, f->scheme, &o, &q, &report, err);
    assert_true((q == NULL) == (status != ASSAY_OK));
    assert_true(status || (report.smoothing.n == 1 && report.n_gptq == 2));
    quantize_report_free(&report);
    profile_moments_free(m);
    assay_graph_free(q);
    return status;
}

static assay_status pack(fixture *f, assay_error *err)
{
    assay_quantize_report report = {0};
    assay_graph *packed;
    assay_status status = quantize_pack_weights(f->layers, "q4_K", &packed, &report, err);
    assert_true((packed == NULL) == (status != ASSAY_OK));
    assert_true(status || (report.n_integer == 1 && report.n_float == 1));
    quantize_report_free(&report);
    assay_graph_free(packed);
    return status;
}

static assay_status for_units(fixture *f, assay_error *err)
{
    assay_quantize_report report = {0};
    assay_graph *q;
    assay_status status = quantize_for_units(f->layers, f->units, &q, &report, err);
    assert_true((q == NULL) == (status != ASSAY_OK));
    quantize_report_free(&report);
    assay_graph_free(q);
    return status;
}

static assay_status read_sample(void *user, int64_t i, int k, void *input, assay_error *err)
{
    (void)user;
    (void)k;
    (void)err;
    for (int e = 0; e < 8; e++)
        ((float *)input)[e] = (float)((e + i) % 5) / 4 - 0.5f;
    return ASSAY_OK;
}

static assay_status tune(fixture *f, assay_error *err)
{
    const assay_quantize_options o = options_of(f);
    const assay_samples samples = {.count = 2, .read = read_sample};
    const assay_trial t = {f->graph, f->profile, f->scheme, &o, &samples, 1};
    const assay_tune_options how = {
        .target_sqnr = 200, .max_float = 1, .wide = assay_int(16, true)};
    assay_tune_result r;
    assay_status status = measure_tune(&t, &how, &r, err);
    measure_tune_result_free(&r);
    return status;
}

/* Fails the first allocation, then the second, ... until all succeed; in steps where that is many.
 */
static void fail_every(assay_status (*op)(fixture *, assay_error *), long step)
{
    fixture f = prepare();
    int failures = 0;
    for (long n = 1;; n += step) {
        assay_error err = {0};
        alloc_countdown = n;
        assay_status status = op(&f, &err);
        bool all = alloc_countdown > 0;
        alloc_countdown = 0;
        if (status) {
            assert_true(err.text[0] != 0);
            failures++;
        }
        if (all) {
            assert_ok(status, &err);
            break;
        }
    }
    assert_true(failures > 0);
    drop(&f);
}

static void test_target(void **state)
{
    (void)state;
    fail_every(parse_target, 1);
}

static void test_profile(void **state)
{
    (void)state;
    fail_every(new_profile, 1);
    fail_every(load_and_merge, 1);
    fail_every(save, 1);
}

static void test_quantize(void **state)
{
    (void)state;
    fail_every(quantize, 1);
}

static void test_smooth_and_round(void **state)
{
    (void)state;
    fail_every(smooth_and_round, 1);
}

static void test_pack(void **state)
{
    (void)state;
    fail_every(pack, 1);
}

static void test_units(void **state)
{
    (void)state;
    fail_every(for_units, 1);
}

static void test_tune(void **state)
{
    (void)state;
    fail_every(tune, 13);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_target),   cmocka_unit_test(test_profile),
        cmocka_unit_test(test_quantize), cmocka_unit_test(test_smooth_and_round),
        cmocka_unit_test(test_pack),     cmocka_unit_test(test_units),
        cmocka_unit_test(test_tune),
    };
    return cmocka_run_group_tests_name("profile_memory", tests, NULL, NULL);
}
