/* The fast engine on whole networks; choosing it, and what `both` says. */
#include "test/support/fast_case.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench/nets.h"
#include "interp/fast/fast.h"

/* Whole networks, first with every value in its place, then with values stored as the engine likes.
 */
static void check_whole(const char *scheme, const assay_graph *g, test_rng *r)
{
    static const char *const isas[] = {"portable", "avx2", "vnni"};
    assay_scheme *s;
    assay_program *ref;
    assay_run *want;
    assay_error err;
    const test_rng input = {test_random(r)};
    const int y = g->output[0];
    assert_ok(assay_scheme_open(scheme, &s, &err), &err);
    assert_ok(assay_program_make_as_is(g, s, false, &ref, &err), &err);
    assert_ok(assay_run_new(ref, &want, &err), &err);
    fast_fill_inputs(g, want, input);
    assert_ok(run_execute(want, NULL, false, NULL, &err), &err);
    for (int i = 0; i < 6; i++) {
        const assay_program_options o = {.engine = ASSAY_ENGINE_FAST,
                                         .isa = isas[i / 2],
                                         .outputs_only = i % 2,
                                         .threads = 1 + i % 2};
        const assay_isa_kernels *k;
        assay_program *p;
        assay_run *run;
        if (fast_isa_choose(o.isa, &k, &err) != ASSAY_OK)
            continue;
        assert_ok(run_program_make_with(g, s, &o, &p, &err), &err);
        assert_ok(assay_run_new(p, &run, &err), &err);
        fast_fill_inputs(g, run, input);
        assert_ok(run_execute(run, NULL, false, NULL, &err), &err);
        assert_memory_equal(assay_run_data(run, y), assay_run_data(want, y),
                            assay_type_bytes(&g->value[y].type));
        assay_run_free(run);
        assay_program_free(p);
    }
    assay_run_free(want);
    assay_program_free(ref);
    assay_scheme_free(s);
}

static void test_whole_networks(void **state)
{
    static const struct {
        const char *scheme;
        int layout;
        bool is_signed;
    } cases[] = {{"onnxruntime", ASSAY_LAYOUT_NCHW, false},
                 {"tflite", ASSAY_LAYOUT_NHWC, true},
                 {"tflite-single", ASSAY_LAYOUT_NCHW, true}};
    test_rng r = test_seed("networks", 4);
    (void)state;
    for (int i = 0; i < 3; i++) {
        bench_form f = {cases[i].layout, cases[i].is_signed, 2};
        assay_graph *g;
        assay_error err;
        assert_ok(bench_ds_cnn(&f, &g, &err), &err);
        check_whole(cases[i].scheme, g, &r);
        assay_graph_free(g);
        f.batch = 1;
        assert_ok(bench_residual(&f, &g, &err), &err);
        check_whole(cases[i].scheme, g, &r);
        assay_graph_free(g);
    }
}

/* Runs of one program on several threads at once, none of which is the first for its nodes: each
 * keeps to its own scratch. */
static void test_runs_side_by_side(void **state)
{
    enum { RUNS = 4 };
    const bench_form f = {ASSAY_LAYOUT_NCHW, true, 1};
    const assay_program_options o = {.engine = ASSAY_ENGINE_FAST, .threads = 1};
    test_rng r = test_seed("side by side", 5);
    assay_graph *g;
    assay_scheme *s;
    assay_program *p;
    assay_run *run[RUNS];
    assay_status status[RUNS];
    assay_error err, e[RUNS];
    (void)state;
    assert_ok(bench_residual(&f, &g, &err), &err);
    assert_ok(assay_scheme_open("tflite", &s, &err), &err);
    assert_ok(run_program_make_with(g, s, &o, &p, &err), &err);
    for (int i = 0; i < RUNS; i++) {
        assert_ok(assay_run_new(p, &run[i], &err), &err);
        fast_fill_inputs(g, run[i], r);
    }
#pragma omp parallel for schedule(static) num_threads(RUNS)
    for (int i = 0; i < RUNS; i++)
        status[i] = run_execute(run[i], NULL, false, NULL, &e[i]);
    for (int i = 0; i < RUNS; i++) {
        assert_ok(status[i], &e[i]);
        assert_memory_equal(assay_run_data(run[i], g->output[0]),
                            assay_run_data(run[0], g->output[0]),
                            assay_type_bytes(&g->value[g->output[0]].type));
    }
    for (int i = 0; i < RUNS; i++)
        assay_run_free(run[i]);
    assay_program_free(p);
    assay_scheme_free(s);
    assay_graph_free(g);
}

static void test_isa_names(void **state)
{
    const assay_isa_kernels *k;
    assay_error err;
    (void)state;
    assert_ok(fast_isa_choose("portable", &k, &err), &err);
    assert_string_equal(k->name, "portable");
    assert_refused(fast_isa_choose("sse9", &k, &err), &err, "found 'sse9'");
    assert_refused(fast_isa_choose("AVX2", &k, &err), &err, "expected portable, avx2 or vnni");
    assert_refused(fast_isa_choose("sse9", &k, &err), &err, "portable)"); /* what is here */
}

/* What `both` says of a difference. */
static assay_status wrong(const assay_fast *f, assay_call *call, assay_error *err)
{
    (void)f;
    (void)err;
    uint8_t *y = call->out[0].data;
    for (int i = 0; i < 6; i++)
        y[i] = i == 4 ? 9 : 0;
    return ASSAY_OK;
}

static void test_both_names_the_element(void **state)
{
    test_rng r = test_seed("both", 3);
    fast_net n = fast_begin();
    assay_attrs a;
    assay_scheme *s;
    assay_program *p;
    assay_run *run;
    assay_error err;
    float scale = 1;
    int32_t zero = 0;
    (void)state;
    assay_type x = {
        .elem = assay_int(8, true), .rank = 2, .dim = {2, 3}, .q = fast_params(1, &scale, &zero)};
    assay_attrs_defaults(assay_op_get(ASSAY_OP_RELU)->attrs, &a);
    fast_add_input(&n, &x);
    fast_finish(&n, ASSAY_OP_RELU, &a, &x, &r);
    n.graph->node[0].act_lo = -INFINITY;
    n.graph->node[0].act_hi = INFINITY;
    assert_ok(assay_scheme_open("tflite", &s, &err), &err);
    const assay_program_options o = {.engine = ASSAY_ENGINE_BOTH};
    assert_ok(run_program_make_with(n.graph, s, &o, &p, &err), &err);
    assert_non_null(p->fast[0]);
    p->fast[0]->run = wrong;
    assert_ok(assay_run_new(p, &run, &err), &err);
    assert_refused(run_execute(run, NULL, false, NULL, &err), &err,
                   "the code of 'y' at [1,1] is 0 by the reference, 9 by the fast engine");
    assay_run_free(run);
    assay_program_free(p);
    assay_scheme_free(s);
    assay_graph_free(n.graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole_networks), cmocka_unit_test(test_runs_side_by_side),
        cmocka_unit_test(test_isa_names), cmocka_unit_test(test_both_names_the_element)};
    return cmocka_run_group_tests_name("fast_nets", tests, NULL, NULL);
}
