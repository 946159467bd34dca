/* Random networks of 5 to 40 nodes over every op that has a trait: the same bits before and after,
 * and in bounded mode no more than the stated difference. */
#include "test/rewrite_case.h"

#include <stdlib.h>
#include <string.h>

#include "test/random_codes.h"

static const char *const schemes[] = {"tflite", "tosa-single", "onnxruntime", "glow-interp"};

/* Every op occurred in some network. */
static void assert_complete(const int seen[ASSAY_OP_COUNT])
{
    for (int op = 0; op < ASSAY_OP_COUNT; op++)
        if (test_random_codes_has((assay_op)op) && seen[op] == 0)
            fail_msg("%s did not occur", assay_op_get((assay_op)op)->name);
}

static rewrite_outcome draw(test_rng *r, int i, int seen[ASSAY_OP_COUNT],
                            const assay_optimize_options *options)
{
    const char *name = schemes[i % 4];
    assay_scheme *s;
    assay_error err;
    assert_ok(assay_scheme_open(name, &s, &err), &err);
    assay_graph *g = test_random_codes(r, s, (int)test_between(r, 5, 40), seen);
    assay_scheme_free(s);
    return rewrite_graph(name, g, options);
}

static void random_networks_keep_their_bits(void **state)
{
    test_rng r = test_seed("random_networks_keep_their_bits", 20261121);
    int applied = 0, refused = 0, seen[ASSAY_OP_COUNT] = {0};
    (void)state;
    for (int i = 0; i < 60; i++) {
        rewrite_outcome o = draw(&r, i, seen, &(assay_optimize_options){.bound = 0});
        rewrite_same_bits(&o, &r, 6);
        rewrite_certified(&o);
        applied += o.report.applied;
        refused += o.report.refused;
        rewrite_finish(&o);
    }
    print_message("# %d rewrites applied, %d refused\n", applied, refused);
    assert_complete(seen);
    assert_true(applied > 40 && refused > 40);
}

static void random_networks_keep_to_the_bound(void **state)
{
    test_rng r = test_seed("random_networks_keep_to_the_bound", 20261122);
    int bounded = 0, differing = 0, seen[ASSAY_OP_COUNT] = {0};
    (void)state;
    for (int i = 0; i < 60; i++) {
        const assay_optimize_options options = {.allow = ASSAY_ALLOW_BOUNDED,
                                                .bound = test_between(&r, 1, 6)};
        rewrite_outcome o = draw(&r, i, seen, &options);
        int64_t worst = rewrite_worst_difference(&o, &r, 6);
        if (worst > o.report.output_bound)
            fail_msg("outputs differ by %lld, stated are %lld\n%s\n%s", (long long)worst,
                     (long long)o.report.output_bound, o.log.text, o.text.text);
        assert_int_equal(o.report.unproved, 0);
        rewrite_certified(&o);
        bounded += o.report.bounded;
        differing += worst > 0;
        rewrite_finish(&o);
    }
    print_message("# %d bounded rewrites, differences seen in %d networks\n", bounded, differing);
    assert_complete(seen);
    assert_true(bounded > 20 && differing > 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_networks_keep_their_bits),
        cmocka_unit_test(random_networks_keep_to_the_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
