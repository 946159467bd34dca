/* Bodies of control flow, optimized like the network around them, exactly; their steps in the
 * certificate. */
#include "test/support/rewrite_case.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "graph/text/text.h"
#include "opt/certificate/certificate.h"
#include "opt/check/proof.h"

/* A choice between a chain of rescales that merges and one that does not. */
#define BRANCHES                                                                                   \
    "graph t { input p: bool[] input x: i8[4] q(0.1,0)\n"                                          \
    "graph a { input v: i8[4] q(0.1,0) b: i8[4] q(0.1,0) = rescale(v) codes[-90,100]\n"            \
    "c: i8[4] q(0.1,0) = rescale(b) codes[-100,80] output c }\n"                                   \
    "graph o { input v: i8[4] q(0.1,0) b: i8[4] q(0.15,5) = rescale(v)\n"                          \
    "c: i8[4] q(0.17,-3) = rescale(b) d: i8[4] q(0.1,0) = rescale(c) output d }\n"                 \
    "z: i8[4] q(0.1,0) = rescale(x) y: i8[4] q(0.1,0) = if(p, z) output y }"

/* Rounds up to five; each adds, saturates twice, and keeps what it came from. */
#define ROUNDS                                                                                     \
    "graph t { input i: i8[] q(1,0) input x: i8[4] q(0.1,0)\n"                                     \
    "graph more { input i: i8[] q(1,0) input v: i8[4] q(0.1,0) const n: i8[] q(1,0) = [5]\n"       \
    "m: bool[] = less(i, n) output m }\n"                                                          \
    "graph body { input i: i8[] q(1,0) input v: i8[4] q(0.1,0) const one: i8[] q(1,0) = [1]\n"     \
    "const k: i8[4] q(0.1,0) = [1,-7,30,90] j: i8[] q(1,0) = add(i, one)\n"                        \
    "s: i8[4] q(0.1,0) = add(v, k) b: i8[4] q(0.1,0) = rescale(s) codes[-90,100]\n"                \
    "c: i8[4] q(0.1,0) = relu(b) output j output c }\n"                                            \
    "j: i8[] q(1,0), y: i8[4] q(0.1,0) = while(i, x) output y }"

static void branches_are_optimized(void **state)
{
    test_rng r = test_seed("branches_are_optimized", 31);
    rewrite_outcome o = rewrite_run("tflite", BRANCHES);
    (void)state;
    rewrite_has(o.log.text, "body 'a': merge-rescales: c after b: exact: 256/256 codes equal");
    rewrite_has(o.log.text, "body 'o': merge-rescales: c after b: refused, differs by 1 LSB");
    rewrite_has(o.text.text, "c: i8[4] q(0.1,0) = rescale(v) codes[-90,80]");
    rewrite_same_bits(&o, &r, 10);
    rewrite_certified(&o);
    rewrite_finish(&o);
}

static void loops_are_optimized(void **state)
{
    test_rng r = test_seed("loops_are_optimized", 32);
    rewrite_outcome o = rewrite_run("tflite", ROUNDS);
    (void)state;
    rewrite_has(o.log.text, "body 'body': ");
    assert_true(o.report.applied >= 2);
    rewrite_lacks(o.text.text, "relu(");
    rewrite_same_bits(&o, &r, 10);
    rewrite_certified(&o);
    rewrite_finish(&o);
}

/* A loop multiplies what is off by a code; so nothing in a body may be, whatever is allowed. */
static void bodies_are_exact_in_every_mode(void **state)
{
    test_rng r = test_seed("bodies_are_exact_in_every_mode", 33);
    (void)state;
    for (int any = 0; any < 2; any++) {
        rewrite_outcome o =
            rewrite_with("tflite", BRANCHES,
                         &(assay_optimize_options){
                             .allow = any ? ASSAY_ALLOW_ANY : ASSAY_ALLOW_BOUNDED, .bound = 9});
        rewrite_has(o.log.text, "body 'o': merge-rescales: c after b: refused, differs by 1 LSB");
        assert_int_equal(o.report.bounded + o.report.unproved, 0);
        rewrite_same_bits(&o, &r, 4);
        rewrite_certified(&o);
        rewrite_finish(&o);
    }
}

/* Values of the same name in two graphs have nothing to do with each other; bodies nest; variables
 * are shared by name, and who reads and writes them keeps the order. */
static void names_and_state_stay_apart(void **state)
{
    test_rng r = test_seed("names_and_state_stay_apart", 34);
    rewrite_outcome o = rewrite_run(
        "tflite",
        "graph t { input p: bool[] input x: i8[2] q(0.1,0) var total: i8[2] q(0.1,0) = [3,4]\n"
        "graph a { input x: i8[2] q(0.1,0) var total: i8[2] q(0.1,0) = [3,4]\n"
        "const p: bool[] = [1]\n"
        "graph b { input x: i8[2] q(0.1,0) k: i8[2] q(0.1,0) = rescale(x) codes[-90,100]\n"
        "y: i8[2] q(0.1,0) = relu(k) output y }\n"
        "graph c { input x: i8[2] q(0.1,0) output x }\n"
        "before: i8[2] q(0.1,0) = read(total) s: i8[2] q(0.1,0) = add(before, x)\n"
        "stored: i8[2] q(0.1,0) = assign(total, s) after: i8[2] q(0.1,0) = read(total)\n"
        "k: i8[2] q(0.1,0) = if(p, after) y: i8[2] q(0.1,0) = rescale(k) codes[-5,50]\n"
        "z: i8[2] q(0.1,0) = rescale(y) codes[-50,5] output z }\n"
        "graph n { input x: i8[2] q(0.1,0) output x }\n"
        "k: i8[2] q(0.1,0) = rescale(x) codes[-40,40] z: i8[2] q(0.1,0) = rescale(k)\n"
        "y: i8[2] q(0.1,0) = if(p, z) t: i8[2] q(0.1,0) = read(total) output y output t }");
    (void)state;
    rewrite_has(o.log.text, "body 'a': merge-rescales: z after y: exact");
    rewrite_has(o.log.text, "body 'b': ");
    rewrite_same_bits(&o, &r, 6);
    rewrite_certified(&o);
    rewrite_finish(&o);
}

/* Replaces the first `from` in the result by `to`: the checker must say what is off. */
static void expect_other_result(const rewrite_outcome *o, const char *from, const char *to,
                                const char *complaint)
{
    const char *at = strstr(o->text.text, from);
    assay_graph *edited;
    assay_proof_report report;
    assay_error err;
    assay_buf text = {0};
    char hex[33];
    assert_non_null(at);
    assay_buf_add(&text, o->text.text, (size_t)(at - o->text.text));
    assay_buf_printf(&text, "%s%s", to, at + strlen(from));
    assert_ok(text_graph_parse(text.text, text.length, "text", NULL, &edited, &err), &err);
    json_t *root = json_loads(o->report.certificate.text, 0, NULL);
    assert_ok(certificate_network(edited, hex, &err), &err);
    json_object_set_new(root, "result", json_string(hex));
    assert_ok(certificate_digest(root, hex, &err), &err);
    json_object_set_new(root, "digest", json_string(hex));
    char *sealed = json_dumps(root, 0);
    const assay_proof_networks networks = {o->before, edited};
    assert_refused(check_proof(sealed, strlen(sealed), "cert", &networks, &report, &err), &err,
                   complaint);
    free(sealed);
    json_decref(root);
    assay_graph_free(edited);
    assay_buf_free(&text);
}

/* Each with a digest made to fit: a body that does something else, another beginning of a variable,
 * a read in front of the write. */
static void other_results_are_noticed(void **state)
{
    rewrite_outcome o = rewrite_run("tflite", ROUNDS);
    (void)state;
    expect_other_result(&o, "[1,-7,30,90]", "[1,-7,30,91]", "body 1: the steps do not lead");
    expect_other_result(&o, "output j\n    output c", "output j\n    output v", "body 1");
    rewrite_finish(&o);
    o = rewrite_run("tflite",
                    "graph t { input x: i8[2] q(0.1,0) var total: i8[2] q(0.1,0) = [3,4]\n"
                    "a: i8[2] q(0.1,0) = read(total) b: i8[2] q(0.1,0) = assign(total, x)\n"
                    "c: i8[2] q(0.1,0) = rescale(a) d: i8[2] q(0.1,0) = add(c, b) output d }");
    assert_int_equal(o.report.applied, 1);
    expect_other_result(&o, "[3,4]", "[3,5]", "initial content of 'total'");
    expect_other_result(&o,
                        "a: i8[2] q(0.1,0) = read(total)\n  b: i8[2] q(0.1,0) = assign(total, x)",
                        "b: i8[2] q(0.1,0) = assign(total, x)\n  a: i8[2] q(0.1,0) = read(total)",
                        "state assigned by");
    rewrite_finish(&o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(branches_are_optimized),
        cmocka_unit_test(loops_are_optimized),
        cmocka_unit_test(bodies_are_exact_in_every_mode),
        cmocka_unit_test(names_and_state_stay_apart),
        cmocka_unit_test(other_results_are_noticed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
