/* Rules in force: what a scheme file and a plugin say of them, a plugin's own rules and
 * ops.
 */
#include "test/support/rewrite_case.h"

#include <stdio.h>
#include <string.h>

#include "graph/text/text.h"
#include "interp/run/evaluate.h"

/* RULES_PLUGIN is a path given by the build. */

static const char chain[] = "graph t { input x: i8[4] q(0.1,0) a: i8[4] q(0.15,5) = rescale(x)\n"
                            "b: i8[4] q(0.17,-3) = rescale(a) output b }";

/* One optimization under a scheme file's text. */
static rewrite_outcome under(const char *scheme, const char *network)
{
    char dir[600], path[700];
    test_temp_dir(dir, sizeof dir);
    snprintf(path, sizeof path, "%s/npu.yaml", dir);
    test_write_file(path, scheme, strlen(scheme));
    rewrite_outcome o = rewrite_run(path, network);
    test_remove_tree(dir);
    return o;
}

static void a_scheme_file_lets_a_rule_change_results(void **state)
{
    (void)state;
    rewrite_outcome o = under("scheme: npu\nextends: tflite\nrules: {merge-rescales: 1}\n", chain);
    rewrite_has(o.log.text, "merge-rescales: b after a: bounded by 1 LSB");
    assert_int_equal(o.report.bounded, 1);
    assert_int_equal(o.report.output_bound, 1);
    rewrite_certified(&o);
    rewrite_finish(&o);
    o = under("scheme: npu\nextends: tflite\nrules: {merge-rescales: exact}\n", chain);
    assert_int_equal(o.report.applied, 0);
    rewrite_finish(&o);
}

static void a_scheme_file_forbids_a_rule(void **state)
{
    const char identity[] = "graph t { input x: i8[4] q(0.1,0) a: i8[4] q(0.1,0) = rescale(x)\n"
                            "t: i8[4] q(0.0078125,0) = tanh(a) output t }";
    (void)state;
    rewrite_outcome o = under("scheme: npu\nextends: tflite\n", identity);
    rewrite_has(o.log.text, "identity: a: exact");
    rewrite_finish(&o);
    o = under("scheme: npu\nextends: tflite\nrules:\n  identity: never\n  absorb-down: never\n"
              "  table: never\n",
              identity);
    assert_int_equal(o.report.applied, 0);
    rewrite_finish(&o);
}

static void wrong_policies_are_refused(void **state)
{
    const struct {
        const char *rules, *complaint;
    } cases[] = {
        {"{merge-rescales: perhaps}", "expected never, exact, or a number"},
        {"{merge-rescales: -1}", "expected never, exact, or a number"},
        {"{merge-rescales: 70000}", "expected never, exact, or a number"},
        {"{merge-rescales: [1]}", "expected never, exact, or a number"},
        {"[merge-rescales]", "expected names of rules"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[200];
        assay_scheme *s;
        assay_error err;
        int n = snprintf(text, sizeof text, "scheme: npu\nextends: tflite\nrules: %s\n",
                         cases[i].rules);
        assert_refused(assay_scheme_parse("npu.yaml", text, (size_t)n, &s, &err), &err,
                       cases[i].complaint);
    }
}

static void a_rule_that_is_none_is_refused(void **state)
{
    const char text[] = "scheme: npu\nextends: tflite\nrules: {sink-oder: never}\n";
    const assay_optimize_options options = {.run = run_whole_graph};
    assay_optimize_report report;
    assay_scheme *s;
    assay_graph *g;
    assay_error err;
    (void)state;
    assert_ok(assay_scheme_parse("npu.yaml", text, strlen(text), &s, &err), &err);
    assert_ok(text_graph_parse(chain, strlen(chain), "text", NULL, &g, &err), &err);
    assert_refused(rewrite_optimize(g, s, &options, &report, &err), &err,
                   "scheme 'npu': rules: no rule 'sink-oder'; there are: common,");
    assay_graph_free(g);
    assay_scheme_free(s);
}

/* The words are part of the scheme: its text says them, and reads back the same. */
static void policies_are_in_the_text(void **state)
{
    const char text[] = "scheme: npu\nextends: tflite\nrules: {table: never, identity: 3}\n";
    assay_scheme *s, *again;
    assay_error err;
    const char *rule;
    (void)state;
    assert_ok(assay_scheme_parse("npu.yaml", text, strlen(text), &s, &err), &err);
    rewrite_has(s->text, "rules:\n  \"identity\": 3\n  \"table\": never\n");
    assert_ok(assay_scheme_parse("text", s->text, strlen(s->text), &again, &err), &err);
    assert_string_equal(s->digest, again->digest);
    assert_int_equal(assay_scheme_rule_policy(again, 0, &rule), 3);
    assert_string_equal(rule, "identity");
    assert_int_equal(assay_scheme_rule_policy(again, 1, &rule), ASSAY_RULE_NEVER);
    assay_scheme_rule_policy(again, 2, &rule);
    assert_null(rule);
    assay_scheme_free(s);
    assay_scheme_free(again);
}

/* ---- a plugin ---- */

static void a_plugins_op_takes_part_by_its_traits(void **state)
{
    test_rng r = test_seed("a_plugins_op_takes_part_by_its_traits", 4);
    (void)state;
    rewrite_outcome o = rewrite_run(
        RULES_PLUGIN, "graph t { input x: i8[1,1,4,4] q(0.1,0)\n"
                      "a: i8[1,1,4,4] q(0.1,3) = rescale(x)\n"
                      "b: i8[1,1,2,2] q(0.1,3) = max_pool(a) {kernel=[2,2],stride=[2,2]}\n"
                      "c: i8[1,1,2,2] q(0.1,3) = custom_monotone(b) {number=2}\n"
                      "d: i8[1,1,2,2] q(0.1,1) = rescale(c)\n"
                      "e: i8[1,1,2,2] q(0.1,0) = custom(d) output e }");
    rewrite_has(o.log.text, "sink-order: b after a: exact");
    rewrite_has(o.log.text, "absorb-down: e after ");
    rewrite_same_bits(&o, &r, 6);
    rewrite_finish(&o);
}

static void a_plugin_brings_a_rule_of_its_own(void **state)
{
    test_rng r = test_seed("a_plugin_brings_a_rule_of_its_own", 5);
    const char narrow[] = "graph t { input x: i8[4] q(0.1,0)\n"
                          "a: i8[4] q(0.1,0) = custom(x)\n"
                          "b: i8[4] q(0.1,0) = custom(a)\n"
                          "c: i8[2,2] q(0.1,0) = reshape(b) {shape=[2,2]}\n"
                          "d: i8[4] q(0.1,0) = reshape(c) {shape=[4]} output d }";
    const assay_optimize_options options = {
        .passes = "two-negations", .allow = ASSAY_ALLOW_BOUNDED, .bound = 1};
    (void)state;
    rewrite_outcome o = rewrite_with(RULES_PLUGIN, narrow, &options);
    rewrite_has(o.log.text, "two-negations: b after a: bounded by 1 LSB: 255/256 codes equal; "
                            "input -128: -127 became -128");
    assert_true(rewrite_worst_difference(&o, &r, 6) <= 1);
    rewrite_finish(&o);
    o = rewrite_run(RULES_PLUGIN, narrow);
    rewrite_has(o.log.text, "two-negations: b after a: refused, differs by 1 LSB");
    rewrite_lacks(o.log.text, "merge-moves"); /* which the plugin forbids */
    rewrite_finish(&o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_scheme_file_lets_a_rule_change_results),
        cmocka_unit_test(a_scheme_file_forbids_a_rule),
        cmocka_unit_test(wrong_policies_are_refused),
        cmocka_unit_test(a_rule_that_is_none_is_refused),
        cmocka_unit_test(policies_are_in_the_text),
        cmocka_unit_test(a_plugins_op_takes_part_by_its_traits),
        cmocka_unit_test(a_plugin_brings_a_rule_of_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
