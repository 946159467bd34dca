/* Every allocation of building, parsing, printing, cloning, verifying and compacting may fail: the
 * answer is ASSAY_ERR_MEMORY, and nothing leaks (run under ASan or valgrind).
 *
 * The linker wraps malloc and its kin and the arena's entry points (test/meson.build), so that the
 * library itself needs no hook. */
#include "test/support/support.h"

#include <stdlib.h>
#include <string.h>

#include "graph/text/text.h"
#include "test/support/alloc_fails.h"

static const char sample[] =
    "graph net {\n"
    "  input x: f32[1,3,8,8]\n"
    "  xq: i8[1,3,8,8] q(0.0078125,-3) = quantize(x)\n"
    "  const w: i8[2,3,1,1] q(axis=0,[0.02,1e-05],[0,0]) = [1,2,3,-4,-5,-128]\n"
    "  y: i8[1,2,4,4] q(0.1,-128) = conv(xq, w) {stride=[2,2]} act[0,6] @\"conv 1\"\n"
    "  z: f32[1,2,4,4] = dequantize(y)\n"
    "  a: f32[1,1,4,4], b: f32[1,1,4,4] = split(z) {axis=1}\n"
    "  c: f32[1,1,4,4] = relu(a)\n"
    "  const k0: f32[9] = [1,2,3,4,5,6,7,8,9]\n"
    "  const k1: f32[] = [1]\n"
    "  var state: bool[2] = [1,0]\n"
    "  graph \"the body\" {\n"
    "    input t: f32[2]\n"
    "    u: f32[2] = layer_norm(t, _, t) {epsilon=0.25}\n"
    "    output u, t\n"
    "  }\n"
    "  output b, c\n"
    "}\n";

typedef assay_status (*operation)(const assay_graph *g, assay_error *err);

static assay_status parse(const assay_graph *g, assay_error *err)
{
    assay_graph *out;
    assay_status s = text_graph_parse(sample, strlen(sample), "t", NULL, &out, err);
    (void)g;
    if (s)
        assert_null(out);
    assay_graph_free(out);
    return s;
}

static assay_status print(const assay_graph *g, assay_error *err)
{
    assay_buf b = {0};
    assay_status s = text_graph_print(g, NULL, &b, err);
    assay_buf_free(&b);
    return s;
}

static assay_status clone(const assay_graph *g, assay_error *err)
{
    assay_graph *out;
    assay_status s = assay_graph_clone(g, &out, err);
    if (s)
        assert_null(out);
    assay_graph_free(out);
    return s;
}

/* A failed compact leaves the graph as it was. */
static assay_status compact(const assay_graph *g, assay_error *err)
{
    bool dead[8] = {false};
    assay_graph *copy;
    long saved = alloc_countdown;
    assay_error unused;
    assay_status s;
    alloc_countdown = 0;
    assert_ok(assay_graph_clone(g, &copy, &unused), &unused);
    dead[4] = true; /* relu */
    assay_graph_replace_uses(copy, assay_graph_find_value(copy, "c"),
                             assay_graph_find_value(copy, "a"));
    alloc_countdown = saved;
    s = assay_graph_compact(copy, dead, err);
    saved = alloc_countdown;
    alloc_countdown = 0;
    assert_int_equal(copy->n_nodes, s ? 5 : 4);
    assert_ok(assay_graph_verify(copy, &unused), &unused);
    assay_graph_free(copy);
    alloc_countdown = saved;
    return s;
}

/* Builds with add_inferred; a failure leaves a graph that verifies. */
static assay_status build(const assay_graph *unused_graph, assay_error *err)
{
    assay_type t = {.elem = assay_f32(), .rank = 1, .dim = {4}};
    const char *name = "y";
    assay_graph *g;
    assay_error unused;
    int x, y;
    long saved;
    assay_status s = assay_graph_new("g", &g, err);
    (void)unused_graph;
    if (s)
        return s;
    if (!(s = assay_graph_add_value(g, "x", &t, &x, err)) &&
        !(s = assay_graph_set_inputs(g, &x, 1, err)) &&
        !(s = assay_graph_add_inferred(g, ASSAY_OP_RELU, NULL, &x, 1, &name, 1, NULL, &y, err)))
        s = assay_graph_set_outputs(g, &y, 1, err);
    saved = alloc_countdown;
    alloc_countdown = 0;
    assert_ok(assay_graph_verify(g, &unused), &unused);
    alloc_countdown = saved;
    assay_graph_free(g);
    return s;
}

static void fail_every(operation op)
{
    assay_graph *g;
    assay_error err;
    long n = 1;
    alloc_countdown = 0;
    assert_ok(text_graph_parse(sample, strlen(sample), "t", NULL, &g, &err), &err);
    for (;; ++n) {
        assay_status s;
        bool reached;
        alloc_countdown = n;
        err.status = ASSAY_OK;
        s = op(g, &err);
        reached = alloc_countdown == 0;
        alloc_countdown = 0;
        if (!reached) {
            assert_ok(s, &err);
            break;
        }
        if (s != ASSAY_ERR_MEMORY)
            fail_msg("allocation %ld failed, the status is %d", n, (int)s);
        assert_non_null(strstr(err.text, "out of memory"));
    }
    assert_true(n > 1);
    assay_graph_free(g);
}

static void test_parse(void **state)
{
    (void)state;
    fail_every(parse);
}

static void test_print(void **state)
{
    (void)state;
    fail_every(print);
}

static void test_clone(void **state)
{
    (void)state;
    fail_every(clone);
}

static void test_verify(void **state)
{
    (void)state;
    fail_every(assay_graph_verify);
}

static void test_compact(void **state)
{
    (void)state;
    fail_every(compact);
}

static void test_build(void **state)
{
    (void)state;
    fail_every(build);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parse),  cmocka_unit_test(test_print),   cmocka_unit_test(test_clone),
        cmocka_unit_test(test_verify), cmocka_unit_test(test_compact), cmocka_unit_test(test_build),
    };
    return cmocka_run_group_tests_name("memory", tests, NULL, NULL);
}
