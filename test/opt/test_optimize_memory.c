/* Every allocation of optimizing with a proof, of checking the certificate, and of asking a target
 * what it computes may fail: the answer is ASSAY_ERR_MEMORY, never another network, and nothing
 * leaks (run under ASan). The linker wraps malloc and its kin (test/meson.build); what the JSON
 * library allocates for itself is not among it. */
#include "test/support/support.h"

#include <stdlib.h>
#include <string.h>

#include "graph/text/text.h"
#include "interp/run/evaluate.h"
#include "opt/check/proof.h"
#include "opt/lower/pass.h"
#include "opt/rewrite/optimize.h"
#include "schemes/scheme.h"
#include "test/support/alloc_fails.h"

static const char network[] =
    "graph t { input x: i4[1,1,3,3] q(0.1,0)\n"
    "const w: i4[1,1,2,2] q(0.01,0) = [1,2,3,-4] const b: i32[1] q(0.001,0) = [100]\n"
    "c: i4[1,1,2,2] q(0.5,0) = conv(x,w,b) {kernel=[2,2]}\n"
    "r: i4[1,1,2,2] q(0.5,0) = relu(c)\n"
    "s: i4[1,1,2,2] q(0.7,2) = rescale(r)\n"
    "m: i4[1,1,1,1] q(0.7,2) = max_pool(s) {kernel=[2,2]} output m }";

typedef struct setting {
    assay_graph *g, *result;
    assay_scheme *scheme;
    assay_buf certificate;
} setting;

typedef assay_status (*work)(setting *s, assay_error *err);

static assay_status optimize(setting *s, assay_error *err)
{
    const assay_optimize_options options = {.run = run_whole_graph};
    assay_optimize_report report = {0};
    assay_graph *copy = NULL;
    assay_status status = assay_graph_clone(s->g, &copy, err);
    if (!status)
        status = rewrite_optimize(copy, s->scheme, &options, &report, err);
    if (!status)
        assert_int_equal(report.applied, 2);
    assay_buf_free(&report.certificate);
    assay_graph_free(copy);
    return status;
}

static assay_status check(setting *s, assay_error *err)
{
    assay_proof_report report;
    const assay_proof_networks networks = {s->g, s->result};
    return check_proof(s->certificate.text, s->certificate.length, "cert", &networks, &report, err);
}

static assay_status ask(setting *s, assay_error *err)
{
    char why[100];
    bool can = false;
    assay_status status = ASSAY_OK;
    for (int i = 0; i < s->g->n_nodes && !status; i++) {
        status = lower_target_computes(s->scheme, s->g, &s->g->node[i], &can, why, sizeof why, err);
        if (!status && !can)
            fail_msg("%s: %s", s->g->node[i].name, why);
    }
    return status;
}

/* Lets the first allocation fail, then the second, ... until none is left to fail. */
static void each_in_turn(work run, setting *s, const char *what)
{
    for (long k = 1; k < 50000; k++) {
        assay_error err = {0};
        alloc_countdown = k;
        assay_status status = run(s, &err);
        bool reached = alloc_countdown == 0;
        alloc_countdown = 0;
        if (!reached) {
            assert_ok(status, &err);
            print_message("# %s: %ld allocations\n", what, k - 1);
            return;
        }
        if (status != ASSAY_ERR_MEMORY)
            fail_msg("%s, allocation %ld: status %d (%s)", what, k, (int)status, err.text);
    }
    fail_msg("%s: no end of allocations", what);
}

static setting set_up(void)
{
    setting s = {NULL, NULL, NULL, {0}};
    assay_error err;
    const assay_optimize_options options = {.run = run_whole_graph};
    assay_optimize_report report;
    assert_ok(assay_scheme_open("tflite", &s.scheme, &err), &err);
    assert_ok(text_graph_parse(network, strlen(network), "text", NULL, &s.g, &err), &err);
    assert_ok(assay_graph_clone(s.g, &s.result, &err), &err);
    assert_ok(rewrite_optimize(s.result, s.scheme, &options, &report, &err), &err);
    s.certificate = report.certificate;
    return s;
}

static void tear_down(setting *s)
{
    assay_graph_free(s->g);
    assay_graph_free(s->result);
    assay_scheme_free(s->scheme);
    assay_buf_free(&s->certificate);
}

static void a_target_that_cannot_be_asked_is_an_error(void **state)
{
    setting s = set_up();
    (void)state;
    each_in_turn(ask, &s, "asking");
    tear_down(&s);
}

static void optimizing_without_memory_is_an_error(void **state)
{
    setting s = set_up();
    (void)state;
    each_in_turn(optimize, &s, "optimizing");
    tear_down(&s);
}

static void checking_without_memory_is_an_error(void **state)
{
    setting s = set_up();
    (void)state;
    each_in_turn(check, &s, "checking");
    tear_down(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_target_that_cannot_be_asked_is_an_error),
        cmocka_unit_test(optimizing_without_memory_is_an_error),
        cmocka_unit_test(checking_without_memory_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
