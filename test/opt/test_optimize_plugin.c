/* Products under a scheme that is a plugin: provable by what it says of its arithmetic, or by
 * looking at every accumulator. */
#include "test/support/rewrite_case.h"

#include <stdio.h>
#include <string.h>

#include "opt/check/proof.h"

/* FLOOR_PLUGIN, of which everything is known; SILENT_PLUGIN says only that sums are exact,
 * INEXACT_PLUGIN only that rescales are monotone; LYING_PLUGIN says both. Paths given by the build.
 */

#define CONV(scale_y)                                                                              \
    "graph t { input x: i8[1,1,3,3] q(0.125,3)\n"                                                  \
    "const w: i8[2,1,2,2] q(0.0078125,0) = [1,2,3,4,-90,100,-110,120]\n"                           \
    "const b: i32[2] q(0.0009765625,0) = [100,-200]\n"                                             \
    "c: i8[1,2,2,2] q(" scale_y ",-7) = conv(x,w,b) {kernel=[2,2]}\n"                              \
    "r: i8[1,2,2,2] q(" scale_y ",-7) = relu(c) output r }"

/* Of 4096 inputs: more accumulators can occur than are looked at one by one. */
static const char *wide(char *text, size_t size)
{
    int n =
        snprintf(text, size,
                 "graph t { input x: i8[1,4096] q(0.125,3) const w: i8[1,4096] q(0.0078125,0) = "
                 "[127");
    for (int i = 1; i < 4096; i++)
        n += snprintf(text + n, size - (size_t)n, ",127");
    snprintf(text + n, size - (size_t)n,
             "] c: i8[1,1] q(2,-7) = fc(x,w) r: i8[1,1] q(2,-7) = relu(c) output r }");
    return text;
}

static void what_follows_a_product_goes_into_it(void **state)
{
    test_rng r = test_seed("what_follows_a_product_goes_into_it", 41);
    char text[24000];
    const struct {
        const char *plugin, *network;
    } cases[] = {{FLOOR_PLUGIN, CONV("0.5")}, {SILENT_PLUGIN, CONV("0.5")}, {FLOOR_PLUGIN, NULL}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rewrite_outcome o = rewrite_run(
            cases[i].plugin, cases[i].network ? cases[i].network : wide(text, sizeof text));
        rewrite_has(o.log.text, "absorb-up-weighted: r after c: exact: reachable [");
        rewrite_lacks(o.text.text, "relu(");
        rewrite_same_bits(&o, &r, 6);
        rewrite_certified(&o);
        rewrite_finish(&o);
    }
}

/* The zero point moves into the product; and a rescale that rounds does not. */
static void what_stands_in_front_goes_into_it(void **state)
{
    test_rng r = test_seed("what_stands_in_front_goes_into_it", 42);
    const char moved[] =
        "graph t { input x: i8[2,3] q(0.125,0) a: u8[2,3] q(0.125,128) = rescale(x)\n"
        "const w: i8[2,3] q(0.0078125,0) = [1,2,-3,-90,100,120]\n"
        "c: i8[2,2] q(0.5,-7) = fc(a,w) output c }";
    const char rounded[] =
        "graph t { input x: i8[2,3] q(0.125,0) a: i8[2,3] q(0.25,3) = rescale(x)\n"
        "const w: i8[2,3] q(0.0078125,0) = [1,2,-3,-90,100,120]\n"
        "c: i8[2,2] q(0.5,-7) = fc(a,w) output c }";
    (void)state;
    rewrite_outcome o = rewrite_run(FLOOR_PLUGIN, moved);
    rewrite_has(o.log.text, "absorb-down-weighted: c after a: exact: reachable [");
    rewrite_same_bits(&o, &r, 6);
    rewrite_certified(&o);
    rewrite_finish(&o);
    rewrite_expect_refused(FLOOR_PLUGIN, rounded, "absorb-down-weighted: c after a",
                           "no bound is known of a plugin's sums; input ");
}

static void layers_take_other_forms(void **state)
{
    test_rng r = test_seed("layers_take_other_forms", 43);
    (void)state;
    rewrite_outcome o = rewrite_with(
        FLOOR_PLUGIN,
        "graph t { input x: i8[2,3] q(0.125,4)\n"
        "const w: i8[2,3] q(0.0078125,0) = [1,2,-3,-90,100,120] y: i8[2,2] q(0.5,3) = fc(x,w)\n"
        "output y }",
        &(assay_optimize_options){.passes = "fc-to-conv,constant-move"});
    rewrite_has(o.log.text, "fc-to-conv: y: exact: reachable [");
    rewrite_same_bits(&o, &r, 6);
    rewrite_certified(&o);
    rewrite_finish(&o);
}

static void what_is_not_said_is_not_believed(void **state)
{
    char text[24000];
    (void)state;
    rewrite_expect_refused(SILENT_PLUGIN, wide(text, sizeof text), "absorb-up-weighted: r after c",
                           "does not declare its rescale monotone, and [");
    rewrite_expect_refused(INEXACT_PLUGIN, CONV("0.5"), "absorb-up-weighted: r after c",
                           "does not declare sums of up to ");
}

/* A word that is found out; where all accumulators are looked at it is not asked for. */
static void a_lie_is_found_out(void **state)
{
    test_rng r = test_seed("a_lie_is_found_out", 44);
    char text[24000];
    (void)state;
    rewrite_outcome o = rewrite_run(
        LYING_PLUGIN, "graph t { input x: i8[4,3] q(0.125,4) const w: i8[1,3] q(0.0078125,0) = "
                      "[90,-30,40] c: i8[4,1] q(0.015625,3) = fc(x,w)\n"
                      "r: i8[4,1] q(0.015625,3) = relu(c) output r }");
    rewrite_has(o.log.text, "absorb-up-weighted: r after c: exact: reachable [");
    rewrite_same_bits(&o, &r, 20);
    rewrite_certified(&o);
    rewrite_finish(&o);
    rewrite_expect_refused(LYING_PLUGIN, wide(text, sizeof text), "absorb-up-weighted: r after c",
                           "declared monotone, but accumulator ");
}

/* The certificate cannot hold a plugin: whoever checks brings it. */
static void a_certificate_needs_the_plugin(void **state)
{
    rewrite_outcome o = rewrite_run(FLOOR_PLUGIN, CONV("0.5"));
    const assay_buf *text = &o.report.certificate;
    assay_proof_report report;
    assay_scheme *other;
    assay_error err;
    (void)state;
    assert_refused(check_proof(text->text, text->length, "cert", NULL, &report, &err), &err,
                   "its scheme is the plugin 'floor', which must be given");
    assert_ok(assay_scheme_open("tflite", &other, &err), &err);
    const assay_proof_networks networks = {.plugin = other};
    assert_refused(check_proof(text->text, text->length, "cert", &networks, &report, &err), &err,
                   "its scheme is the plugin 'floor'");
    assay_scheme_free(other);
    rewrite_finish(&o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_follows_a_product_goes_into_it),
        cmocka_unit_test(what_stands_in_front_goes_into_it),
        cmocka_unit_test(layers_take_other_forms),
        cmocka_unit_test(what_is_not_said_is_not_believed),
        cmocka_unit_test(a_lie_is_found_out),
        cmocka_unit_test(a_certificate_needs_the_plugin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
