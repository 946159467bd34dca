/* The canonical lowering: what each pass changes, that names survive, and that the network still
 * computes the same. */
#include "test/support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/core/digest.h"
#include "interp/run/evaluate.h"
#include "opt/lower/opt.h"
#include "test/support/canonical_case.h"
#include "test/support/net.h"

static test_rng rng_of(void **state)
{
    return *(test_rng *)*state;
}

/* y = ((x . b) + c - d) * e / f, as exporters write a linear layer on more than two dimensions. */
static void test_linear_chain(void **state)
{
    test_rng rng = rng_of(state);
    assay_graph *g = net_new();
    int x = net_input(g, "x", NET_SHAPE(2, 3, 5));
    int b = net_constant(g, &rng, "b", -1, 1, NET_SHAPE(5, 4));
    int y = net_node(g, ASSAY_OP_MATMUL, "product", NULL, x, b, -2);
    int c1 = net_constant(g, &rng, "c", -1, 1, NET_SHAPE(4));
    int d = net_constant(g, &rng, "d", -1, 1, NET_SHAPE(1, 4));
    int e = net_constant(g, &rng, "e", 1, 2, NET_SHAPE(1));
    int f = net_constant(g, &rng, "f", 1, 2, NET_SHAPE(4));
    y = net_node(g, ASSAY_OP_ADD, "with_bias", NULL, c1, y, -2);
    y = net_node(g, ASSAY_OP_SUB, "negated", NULL, d, y, -2);
    y = net_node(g, ASSAY_OP_MUL, "scaled", NULL, y, e, -2);
    y = net_node(g, ASSAY_OP_DIV, "y", NULL, y, f, -2);
    net_output(g, y);
    assay_graph *c = canonical_case(g, &rng);
    assert_int_equal(c->n_nodes, 1);
    assert_int_equal(net_producer(c, "y")->op, ASSAY_OP_FC);
    assay_graph_free(c);
    assay_graph_free(g);
}

/* Constants that do not go one per channel, and 1/x, stay. */
static void test_other_arithmetic_stays(void **state)
{
    test_rng rng = rng_of(state);
    assay_graph *g = net_new();
    int x = net_input(g, "x", NET_SHAPE(1, 4, 3, 3));
    int w = net_constant(g, &rng, "w", 1, 2, NET_SHAPE(4, 4, 1, 1));
    int map = net_constant(g, &rng, "map", 1, 2, NET_SHAPE(3, 3));
    int one = net_constant(g, &rng, "one", 1, 2, NET_SHAPE(1));
    int y = net_node(g, ASSAY_OP_CONV, "conv", NULL, x, w, -2);
    net_output(g, net_node(g, ASSAY_OP_ADD, "sum", NULL, y, map, -2));
    w = net_constant(g, &rng, "w2", 1, 2, NET_SHAPE(4, 4, 1, 1));
    y = net_node(g, ASSAY_OP_CONV, "conv2", NULL, x, w, -2);
    net_output(g, net_node(g, ASSAY_OP_DIV, "inverse", NULL, one, y, -2));
    assay_graph *c = canonical_case(g, &rng);
    assert_int_equal(c->n_nodes, 4);
    assay_graph_free(c);
    assay_graph_free(g);
}

/* max, min and relu in a row are one clip; what somebody else sees stays. */
static void test_min_and_max_are_clips(void **state)
{
    test_rng rng = rng_of(state);
    assay_graph *g = net_new();
    int x = net_input(g, "x", NET_SHAPE(2, 5));
    int lo = net_constant(g, &rng, "lo", -0.4, -0.3, NET_SHAPE(1));
    int hi = net_constant(g, &rng, "hi", 0.3, 0.4, NET_SHAPE(1));
    int a = net_node(g, ASSAY_OP_MAX, "a", NULL, x, lo, -2);
    net_output(g, net_node(g, ASSAY_OP_MIN, "b", NULL, hi, a, -2));
    int c = net_node(g, ASSAY_OP_RELU, "c", NULL, x, -2);
    net_output(g, c);
    net_output(g, net_node(g, ASSAY_OP_MIN, "d", NULL, c, hi, -2));
    assay_graph *after = canonical_case(g, &rng);
    assert_int_equal(after->n_nodes, 3);
    assert_int_equal(net_producer(after, "b")->op, ASSAY_OP_CLIP);
    assert_int_equal(net_producer(after, "d")->op, ASSAY_OP_CLIP);
    assay_graph_free(after);
    assay_graph_free(g);
}

static void test_the_same_node_twice_is_one(void **state)
{
    test_rng rng = rng_of(state);
    assay_graph *g = net_new();
    int x = net_input(g, "x", NET_SHAPE(2, 5));
    int a = net_node(g, ASSAY_OP_TANH, "a", NULL, x, -2);
    int b = net_node(g, ASSAY_OP_TANH, "b", NULL, x, -2);
    net_output(g, net_node(g, ASSAY_OP_ADD, "y", NULL, a, b, -2));
    net_output(g, net_node(g, ASSAY_OP_TANH, "z", NULL, x, -2)); /* keeps its name */
    assay_graph *after = canonical_case(g, &rng);
    assert_int_equal(after->n_nodes, 3);
    assert_int_equal(net_producer(after, "y")->in[0], net_producer(after, "y")->in[1]);
    assay_graph_free(after);
    assay_graph_free(g);
}

/* Divisions by constants, 1 / x, and powers, of a positive x that has other users. */
static void test_arithmetic_with_constants(void **state)
{
    static const float exponents[] = {2, 0.5f, -1, -0.5f, 3};
    static const assay_op ops[] = {ASSAY_OP_SQUARE, ASSAY_OP_SQRT, ASSAY_OP_RECIPROCAL,
                                   ASSAY_OP_RSQRT, ASSAY_OP_POW};
    test_rng rng = rng_of(state);
    assay_graph *g = net_new();
    char name[32];
    int x = net_node(g, ASSAY_OP_EXP, "x", NULL, net_input(g, "in", NET_SHAPE(2, 4)), -2);
    int c = net_constant(g, &rng, "c", 1, 3, NET_SHAPE(4));
    int zero = net_constant(g, &rng, "zero", 1, 2, NET_SHAPE(4));
    int tiny = net_constant(g, &rng, "tiny", 1e-40, 1e-40, NET_SHAPE(1));
    int one = net_constant(g, &rng, "one", 1, 1, NET_SHAPE(1));
    ((float *)(uintptr_t)g->value[zero].data)[2] = 0;
    net_output(g, net_node(g, ASSAY_OP_DIV, "a", NULL, x, c, -2));
    net_output(g, net_node(g, ASSAY_OP_DIV, "b", NULL, x, c, -2));
    net_output(g, net_node(g, ASSAY_OP_DIV, "by_zero", NULL, x, zero, -2));
    net_output(g, net_node(g, ASSAY_OP_DIV, "by_tiny", NULL, x, tiny, -2));
    net_output(g, net_node(g, ASSAY_OP_DIV, "inverse", NULL, one, x, -2));
    net_output(g, net_node(g, ASSAY_OP_DIV, "over", NULL, c, x, -2));
    for (int k = 0; k < (int)(sizeof exponents / sizeof *exponents); k++) {
        snprintf(name, sizeof name, "e%d", k);
        int e =
            net_constant(g, &rng, name, (double)exponents[k], (double)exponents[k], NET_SHAPE(1));
        snprintf(name, sizeof name, "pow%d", k);
        net_output(g, net_node(g, ASSAY_OP_POW, name, NULL, x, e, -2));
    }
    net_output(g, net_node(g, ASSAY_OP_POW, "pows", NULL, x, c, -2));
    assay_graph *s = canonical_case(g, &rng);
    assert_int_equal(net_producer(s, "a")->op,
                     ASSAY_OP_DIV); /* floats divide, as the network says */
    assert_int_equal(net_producer(s, "pow0")->op, ASSAY_OP_POW);
    int changed = 0;
    assert_int_equal(lower_arithmetic(s, &changed, NULL), ASSAY_OK);
    assert_true(changed > 0);
    assert_int_equal(net_producer(s, "a")->op, ASSAY_OP_MUL);
    assert_string_equal(s->value[net_producer(s, "a")->in[1]].name, "c:reciprocal");
    assert_int_equal(net_producer(s, "a")->in[1], net_producer(s, "b")->in[1]);
    assert_int_equal(net_producer(s, "by_zero")->op, ASSAY_OP_DIV);
    assert_int_equal(net_producer(s, "by_tiny")->op, ASSAY_OP_DIV);
    assert_int_equal(net_producer(s, "inverse")->op, ASSAY_OP_RECIPROCAL);
    assert_int_equal(net_producer(s, "over")->op, ASSAY_OP_DIV);
    for (int k = 0; k < (int)(sizeof ops / sizeof *ops); k++) {
        snprintf(name, sizeof name, "pow%d", k);
        assert_int_equal(net_producer(s, name)->op, ops[k]);
    }
    assert_int_equal(net_producer(s, "pows")->op, ASSAY_OP_POW);
    assay_graph_free(s);
    assay_graph_free(g);
}

static void test_identities(void **state)
{
    test_rng rng = rng_of(state);
    assay_graph *g = net_new();
    assay_attrs same = {.shape = {.shape = {2, {2, 3}}}};
    assay_attrs kept = {.perm = {.perm = {2, {0, 1}}}},
                transposed = {.perm = {.perm = {2, {1, 0}}}};
    assay_attrs unbounded = {.clip = {.lo = -INFINITY, .hi = INFINITY}};
    int x = net_input(g, "x", NET_SHAPE(2, 3));
    int y = net_node(g, ASSAY_OP_RESHAPE, "a", &same, x, -2);
    y = net_node(g, ASSAY_OP_TRANSPOSE, "b", &kept, y, -2);
    y = net_node(g, ASSAY_OP_TRANSPOSE, "c", &transposed, y, -2);
    y = net_node(g, ASSAY_OP_CONCAT, "d", NULL, y, -2);
    y = net_node(g, ASSAY_OP_CLIP, "y", &unbounded, y, -2);
    net_output(g, y);
    net_output(g, net_node(g, ASSAY_OP_RESHAPE, "x_again", &same, x, -2));
    assay_graph *c = canonical_case(g, &rng); /* both output names survive */
    assert_int_equal(c->n_nodes, 2);
    assert_int_equal(net_producer(c, "y")->op, ASSAY_OP_TRANSPOSE);
    assay_graph_free(c);
    assay_graph_free(g);
}

static void test_constants_and_dead_code(void **state)
{
    test_rng rng = rng_of(state);
    assay_graph *g = net_new();
    int x = net_input(g, "x", NET_SHAPE(4));
    int a = net_constant(g, &rng, "a", 1, 2, NET_SHAPE(4));
    int b = net_node(g, ASSAY_OP_EXP, "b", NULL, net_node(g, ASSAY_OP_NEG, "na", NULL, a, -2), -2);
    net_node(g, ASSAY_OP_MUL, "unused", NULL, net_node(g, ASSAY_OP_EXP, "ex", NULL, x, -2), b, -2);
    net_output(g, net_node(g, ASSAY_OP_MUL, "y", NULL, x, b, -2));
    net_output(g, net_node(g, ASSAY_OP_SQRT, "constant_output", NULL, a, -2));
    assay_graph *c = canonical_case(g, &rng);
    assert_int_equal(c->n_nodes, 1);
    assert_int_equal(c->n_values, 4); /* x, b, y, constant_output */
    assert_null(net_producer(c, "b"));
    assay_graph_free(c);
    assay_graph_free(g);
}

/* Folding must not write out what a few numbers are broadcast to. */
static void test_broadcast_is_not_written_out(void **state)
{
    test_rng rng = rng_of(state);
    assay_graph *g = net_new();
    assay_attrs big = {.shape = {.shape = {2, {4096, 4096}}}};
    assay_error err;
    int n, a = net_constant(g, &rng, "a", 1, 2, NET_SHAPE(1, 1));
    net_output(g, net_node(g, ASSAY_OP_EXPAND, "y", &big, a, -2));
    assert_ok(lower_fold_constants(g, run_evaluate_node, &n, &err), &err);
    assert_int_equal(n, 0);
    assay_graph_free(g);
}

/* A network with batch size n; `kernel` and `seed` make others of it. */
static assay_graph *batched(int64_t n, int64_t kernel, uint64_t seed, bool with_other_branch)
{
    test_rng rng = {seed};
    assay_graph *g = net_new();
    assay_attrs flat = {.shape = {.shape = {2, {n, 8}}}}, one = {0};
    int x = net_input(g, "x", NET_SHAPE(n, 2, 5, 5));
    int w = net_constant(g, &rng, "w", -1, 1, NET_SHAPE(8, 2, kernel, kernel));
    int y = net_node(g, ASSAY_OP_CONV, "conv", NULL, x, w, -2);
    y = net_node(g, ASSAY_OP_GLOBAL_AVG_POOL, "pool", &one, y, -2);
    if (with_other_branch) {
        int v = net_constant(g, &rng, "v", -1, 1, NET_SHAPE(3, 2, 1, 1));
        net_output(g, net_node(g, ASSAY_OP_CONV, "other", NULL, x, v, -2));
    }
    net_output(g, net_node(g, ASSAY_OP_RESHAPE, "y", &flat, y, -2));
    return g;
}

static void test_digests(void **state)
{
    (void)state;
    assay_graph *g[5] = {batched(1, 3, 1, false), batched(8, 3, 1, false), batched(1, 5, 1, false),
                         batched(1, 3, 2, false), batched(1, 3, 1, true)};
    char digest[5][33];
    uint64_t lineage[5][16], of_y[5];
    assay_error err;
    for (int i = 0; i < 5; i++) {
        assert_ok(assay_graph_digest(g[i], digest[i], &err), &err);
        assert_ok(assay_value_lineage(g[i], false, lineage[i], &err), &err);
        of_y[i] = lineage[i][assay_graph_find_value(g[i], "y")];
        assay_graph_free(g[i]);
    }
    assert_string_equal(digest[0], digest[1]); /* batch size */
    assert_string_not_equal(digest[0], digest[2]);
    assert_string_equal(digest[0], digest[3]); /* other weights, same structure */
    assert_string_not_equal(digest[0], digest[4]);
    assert_true(of_y[0] == of_y[1]);
    assert_true(of_y[0] != of_y[2]);
    assert_true(of_y[0] != of_y[3]);
    assert_true(of_y[0] == of_y[4]); /* a branch beside it does not matter */
}

int main(void)
{
    test_rng rng = test_seed("opt", 20261121);
    void *state = &rng;
#define WITH_RNG(test) cmocka_unit_test_prestate(test, state)
    const struct CMUnitTest tests[] = {
        WITH_RNG(test_linear_chain),
        WITH_RNG(test_other_arithmetic_stays),
        WITH_RNG(test_min_and_max_are_clips),
        WITH_RNG(test_the_same_node_twice_is_one),
        WITH_RNG(test_arithmetic_with_constants),
        WITH_RNG(test_identities),
        WITH_RNG(test_constants_and_dead_code),
        WITH_RNG(test_broadcast_is_not_written_out),
        WITH_RNG(test_digests),
    };
    return cmocka_run_group_tests_name("opt", tests, NULL, NULL);
}
