/* Random networks of 5 to 40 nodes over every op that has a trait, under every preset: the same
 * bits before and after, in both engines; in bounded mode no more than the stated difference; and
 * the same again for a target that prefers forms and layouts. ASSAY_TEST_GRAPHS: how many, instead
 * of two or three a preset. */
#include "test/support/rewrite_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test/support/random_codes.h"

/* A target with a multiplier for each block of weights, beside the presets. */
static const char blocks[] = "scheme: blocks\nextends: tflite\n"
                             "blocks: {kind: multiplier, multiplier_bits: 4}\n";
static char blocks_path[700], unsteady_path[700];
enum { N_BLOCKS = 4 };  /* its places in the turn: not every network has a layer with weights */
static int with_blocks; /* networks that have such weights */

static int n_schemes(void)
{
    int n = 0;
    while (assay_scheme_presets()[n])
        n++;
    return n + N_BLOCKS;
}

static const char *scheme_name(int i)
{
    i %= n_schemes();
    return i >= n_schemes() - N_BLOCKS ? blocks_path : assay_scheme_presets()[i];
}

static bool has_blocks(const assay_graph *g)
{
    for (int v = 0; v < g->n_values; v++)
        if (g->value[v].type.q.granularity == ASSAY_Q_BLOCK)
            return true;
    return false;
}

static int n_graphs(void)
{
    const char *text = getenv("ASSAY_TEST_GRAPHS");
    return text ? atoi(text) : 3 * n_schemes();
}

/* Every op occurred in some network; how often is told. */
static void assert_complete(const int seen[ASSAY_OP_COUNT])
{
    assay_buf told = {0};
    for (int op = 0; op < ASSAY_OP_COUNT; op++) {
        const char *name = assay_op_get((assay_op)op)->name;
        if (!test_random_codes_has((assay_op)op))
            continue;
        if (seen[op] == 0)
            fail_msg("%s did not occur", name);
        assay_buf_printf(&told, " %s %d", name, seen[op]);
    }
    print_message("# ops:%s\n", told.text);
    assay_buf_free(&told);
}

static rewrite_outcome draw(test_rng *r, int i, int seen[ASSAY_OP_COUNT],
                            const assay_optimize_options *options)
{
    const char *name = scheme_name(i);
    assay_scheme *s;
    assay_error err;
    assert_ok(assay_scheme_open(name, &s, &err), &err);
    assay_graph *g = test_random_codes(r, s, (int)test_between(r, 5, 40), seen);
    assay_scheme_free(s);
    with_blocks += has_blocks(g);
    return rewrite_graph(name, g, options);
}

static void random_networks_keep_their_bits(void **state)
{
    test_rng r = test_seed("random_networks_keep_their_bits", 20261121);
    int applied = 0, refused = 0, seen[ASSAY_OP_COUNT] = {0};
    (void)state;
    for (int i = 0; i < n_graphs(); i++) {
        rewrite_outcome o = draw(&r, i, seen, &(assay_optimize_options){.bound = 0});
        rewrite_same_bits(&o, &r, 6);
        rewrite_engines_agree(&o, &r, 2);
        rewrite_certified(&o);
        applied += o.report.applied;
        refused += o.report.refused;
        rewrite_finish(&o);
    }
    print_message("# %d networks, %d rewrites applied, %d refused\n", n_graphs(), applied, refused);
    assert_complete(seen);
    assert_true(applied > 40 && refused > 40);
}

static void random_networks_keep_to_the_bound(void **state)
{
    test_rng r = test_seed("random_networks_keep_to_the_bound", 20261122);
    int bounded = 0, differing = 0, seen[ASSAY_OP_COUNT] = {0};
    (void)state;
    for (int i = 0; i < n_graphs(); i++) {
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
    print_message("# %d networks, %d bounded rewrites, differences seen in %d\n", n_graphs(),
                  bounded, differing);
    assert_complete(seen);
    assert_true(bounded > 20 && differing > 5);
}

/* Targets on which codes do not follow sums: something wraps behind them, or a coarse multiplier
 * stands for another scale. */
static const char *const unsteady[] = {
    "rescale: {store: wrap}",
    "rescale: {sum_bits: 9}",
    "accumulator: {bits: 13}",
    "rescale: {multiplier_bits: 2, multiplier_round: away}",
    "rescale: {reduced_bits: 2}",
    "rescale: {product_bits: 40}",
    "rescale: {result_bits: 8, result_overflow: wrap}",
    "rescale: {pre_shift: fixed, pre_shift_bits: 12, round: [half-up]}",
    ("rescale: {shift_max: 31, beyond_shift_max: denormal, denormal_round: away, round: [half-up], "
     "left_shift: product}"),
    "rescale: {encoding: float32, round: [half-even], sum_bits: 9}",
};

/* A rescale there and back before a layer; the second scale of weights decides how far the sums
 * go beyond the codes. */
static void print_unsteady(assay_buf *b, test_rng *r, bool mean)
{
    static const char *const scale[] = {"0.03125", "0.25", "1", "4"};
    const char *s = scale[test_between(r, 0, 3)];
    assay_buf_printf(b,
                     "graph u { input x: i8[1,16] q(0.25,0)\n"
                     " a: i8[1,16] q(0.5,0) = rescale(x)\n b: i8[1,16] q(0.25,0) = rescale(a)\n");
    if (mean) {
        assay_buf_printf(
            b, " y: i8[1] q(%s,0) = reduce_sum(b) {axes=[1],keepdims=false} output y }", s);
        return;
    }
    assay_buf_printf(b, " const w: i8[2,16] q(%s,0) = [", s);
    for (int i = 0; i < 32; i++)
        assay_buf_printf(b, "%s%d", i ? "," : "", (int)test_between(r, -127, 127));
    assay_buf_printf(b, "]\n y: i8[1,2] q(4,0) = fc(b, w) output y }");
}

static void wrapping_targets_keep_to_the_bound(void **state)
{
    test_rng r = test_seed("wrapping_targets_keep_to_the_bound", 20261124);
    const assay_optimize_options options = {.allow = ASSAY_ALLOW_ANY};
    int differing = 0;
    (void)state;
    for (size_t i = 0; i < 12 * sizeof unsteady / sizeof *unsteady; i++) {
        const char *fields = unsteady[i / 12];
        assay_buf text = {0}, scheme = {0};
        assay_buf_printf(&scheme, "scheme: unsteady\n%s\n", fields);
        test_write_file(unsteady_path, scheme.text, scheme.length);
        print_unsteady(&text, &r, i % 3 == 2);
        rewrite_outcome o = rewrite_with(unsteady_path, text.text, &options);
        const int64_t worst = rewrite_worst_difference(&o, &r, 40);
        if (worst > o.report.output_bound)
            fail_msg("%s: outputs differ by %lld, stated are %lld\n%s\n%s", fields,
                     (long long)worst, (long long)o.report.output_bound, o.log.text, text.text);
        rewrite_certified(&o);
        differing += worst > 0;
        rewrite_finish(&o);
        assay_buf_free(&text);
        assay_buf_free(&scheme);
    }
    assert_true(differing > 20);
}

/* What is claimed of a layer is of all its channels, also where the function behind it ends below
 * its start, so that no bounds are tried. */
static void all_channels_are_claimed(void **state)
{
    static const char scheme[] = "scheme: wraps\ntypes: {activation_signed: no}\n"
                                 "rescale: {round: [ceil], store: wrap}\n";
    (void)state;
    test_write_file(unsteady_path, scheme, strlen(scheme));
    rewrite_outcome o = rewrite_with(
        unsteady_path,
        "graph u { input x: u8[1,2] q(0.27,0)\n"
        " const w: i8[2,2] q(axis=0,[0.27,0.5],[0,0]) = [57,115,85,-107]\n"
        " a: u8[1,2] q(0.27,160) = fc(x, w)\n y: u8[1,2] q(0.3,255) = rescale(a)\n output y }",
        &(assay_optimize_options){.allow = ASSAY_ALLOW_ANY});
    assert_int_equal(o.report.bounded, 1);
    assert_int_equal(o.report.output_bound, 255);
    rewrite_certified(&o);
    rewrite_finish(&o);
}

/* What was taken apart into sums is put together again, and gives the bits of the first. */
static int put_together(const rewrite_outcome *o, const char *scheme, test_rng *r)
{
    assay_graph *apart;
    assay_error err;
    assert_ok(assay_graph_clone(o->after, &apart, &err), &err);
    rewrite_outcome again = rewrite_graph(
        scheme, apart, &(assay_optimize_options){.passes = "sums-to-fc,constant,constant-move"});
    rewrite_same_bits(&again, r, 4);
    rewrite_certified(&again);
    const int applied = again.report.applied;
    rewrite_finish(&again);
    return applied;
}

/* All forms and layouts that may be preferred, exactly. */
static void random_networks_take_preferred_forms(void **state)
{
    static const char *const preferences[] = {
        "common,constant,constant-move,identity,merge-moves,sink-transpose,sink-transpose-move,"
        "matmul-to-fc,fc-to-conv,"
        "to-nhwc",
        "common,constant,constant-move,identity,merge-moves,sink-transpose,sink-transpose-move,"
        "matmul-to-fc,conv-to-fc,"
        "to-nchw",
        "common,constant,constant-move,identity,merge-moves,sink-transpose,sink-transpose-move,"
        "conv-to-fc,fc-to-matmul,"
        "to-nhwc"};
    test_rng r = test_seed("random_networks_take_preferred_forms", 20261123);
    int applied = 0, together = 0, seen[ASSAY_OP_COUNT] = {0};
    (void)state;
    const int n = n_graphs(),
              max = 20 * n; /* weights per block are rare, so are sums of products */
    for (int i = 0; i < n || ((with_blocks == 0 || together == 0) && i < max); i++) {
        rewrite_outcome o =
            draw(&r, i, seen, &(assay_optimize_options){.passes = preferences[i % 3]});
        rewrite_same_bits(&o, &r, 6);
        rewrite_engines_agree(&o, &r, 2);
        rewrite_certified(&o);
        applied += o.report.applied;
        if (i % 3 == 2)
            together += put_together(&o, scheme_name(i), &r);
        rewrite_finish(&o);
    }
    print_message("# %d networks, %d rewrites applied, %d taken back; weights per block in %d "
                  "networks of all\n",
                  n_graphs(), applied, together, with_blocks);
    assert_true(with_blocks > 0);
    assert_true(applied > 40 && together > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_networks_keep_their_bits),
        cmocka_unit_test(random_networks_keep_to_the_bound),
        cmocka_unit_test(wrapping_targets_keep_to_the_bound),
        cmocka_unit_test(all_channels_are_claimed),
        cmocka_unit_test(random_networks_take_preferred_forms),
    };
    char dir[600];
    test_temp_dir(dir, sizeof dir);
    snprintf(blocks_path, sizeof blocks_path, "%s/blocks.yaml", dir);
    snprintf(unsteady_path, sizeof unsteady_path, "%s/unsteady.yaml", dir);
    test_write_file(blocks_path, blocks, strlen(blocks));
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    test_remove_tree(dir);
    return failed;
}
