/* Building, verifying, cloning and editing graphs. */
#include "test/support/support.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/core/graph.h"
#include "graph/memory.h"

static assay_type f32_type(int rank, const int64_t *dim)
{
    assay_type t = {.elem = assay_f32(), .rank = rank};
    memcpy(t.dim, dim, (size_t)rank * sizeof *dim);
    return t;
}

#define F32(...)                                                                                   \
    f32_type((int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), (int64_t[]){__VA_ARGS__})

static assay_type i8_type(int64_t n, const float *scale, const int32_t *zero_point)
{
    assay_type t = {.elem = assay_int(8, true), .rank = 1, .dim = {n}};
    t.q = (assay_qparams){ASSAY_Q_TENSOR, 0, 0, 1, scale, zero_point};
    return t;
}

static int value(assay_graph *g, const char *name, assay_type t)
{
    assay_error err;
    int id = -1;
    assert_ok(assay_graph_add_value(g, name, &t, &id, &err), &err);
    return id;
}

static int unary(assay_graph *g, assay_op op, int x, const char *name)
{
    assay_error err;
    int y = -1;
    assert_ok(assay_graph_add_inferred(g, op, NULL, &x, 1, &name, 1, NULL, &y, &err), &err);
    return y;
}

/* x -> conv (w, b) -> relu -> y */
static assay_graph *small_net(void)
{
    assay_graph *g;
    assay_error err;
    assay_type wt = F32(8, 3, 3, 3), bt = F32(8);
    int in[3], y;
    const char *name = "c";
    assert_ok(assay_graph_new("net", &g, &err), &err);
    in[0] = value(g, "x", F32(1, 3, 16, 16));
    assert_ok(assay_graph_add_constant(g, "w", &wt, NULL, &in[1], &err), &err);
    assert_ok(assay_graph_add_constant(g, "b", &bt, NULL, &in[2], &err), &err);
    assert_ok(assay_graph_add_inferred(g, ASSAY_OP_CONV, "conv", in, 3, &name, 1, NULL, &y, &err),
              &err);
    y = unary(g, ASSAY_OP_RELU, y, "y");
    assert_ok(assay_graph_set_inputs(g, in, 1, &err), &err);
    assert_ok(assay_graph_set_outputs(g, &y, 1, &err), &err);
    return g;
}

static void test_message_is_one_line(void **state)
{
    assay_error err;
    (void)state;
    assert_int_equal(assay_fail(&err, ASSAY_ERR_INPUT, "found '%s'", "a\nb\x1b[0m\x7f\t\xc3\xa9"),
                     ASSAY_ERR_INPUT);
    assert_string_equal(err.text, "found 'a?b?[0m??\xc3\xa9'");
}

static void test_build(void **state)
{
    (void)state;
    assay_graph *g = small_net();
    assay_error err;
    const assay_node *conv = &g->node[0];
    const assay_type *c = &assay_node_out(g, conv, 0)->type;
    assert_ok(assay_graph_verify(g, &err), &err);
    assert_int_equal(c->rank, 4);
    assert_int_equal(c->dim[1], 8);
    assert_int_equal(c->dim[2], 14);
    /* completed attributes */
    assert_int_equal(conv->attr.conv.kernel.n, 2);
    assert_int_equal(conv->attr.conv.kernel.v[1], 3);
    assert_int_equal(conv->attr.conv.stride.v[0], 1);
    assert_string_equal(g->node[1].name, "y");
    assert_int_equal(assay_node_macs(g, conv), 8 * 14 * 14 * 27);
    assert_int_equal(assay_node_macs(g, &g->node[1]), 0);
    assert_int_equal(assay_graph_count_uses(g, assay_graph_find_value(g, "y")), 1);
    assert_int_equal(assay_graph_find_value(g, "nothing"), -1);
    assay_graph_free(g);
}

static void test_many_names(void **state)
{
    (void)state;
    assay_graph *g;
    assay_error err;
    char name[16];
    assert_ok(assay_graph_new("many", &g, &err), &err);
    for (int i = 0; i < 5000; ++i) {
        snprintf(name, sizeof name, "v%d", i);
        assert_int_equal(value(g, name, F32(1)), i);
    }
    for (int i = 0; i < 5000; ++i) {
        snprintf(name, sizeof name, "v%d", i);
        assert_int_equal(assay_graph_find_value(g, name), i);
    }
    assay_graph_free(g);
}

static void test_builder_refusals(void **state)
{
    (void)state;
    assay_graph *g = small_net();
    assay_error err;
    assay_type t = F32(1), huge = F32(INT64_C(1) << 40, 2), negative = F32(-1);
    int id, bad = 99, x = assay_graph_find_value(g, "x"), y = assay_graph_find_value(g, "y");
    assert_refused(assay_graph_add_value(g, "x", &t, &id, &err), &err, "'x'");
    assert_refused(assay_graph_add_value(g, "", &t, &id, &err), &err, "empty name");
    assert_refused(assay_graph_add_value(g, "h", &huge, &id, &err), &err, "2^40");
    assert_refused(assay_graph_add_value(g, "n", &negative, &id, &err), &err, "negative");
    assert_refused(assay_graph_add_node(g, ASSAY_OP_RELU, "r", &bad, 1, &y, 1, NULL, &id, &err),
                   &err, "'r'");
    assert_refused(assay_graph_add_node(g, ASSAY_OP_RELU, "r", &x, 1, &y, 1, NULL, &id, &err), &err,
                   "producer");
    assert_refused(assay_graph_add_node(g, ASSAY_OP_COUNT, "r", &x, 1, &y, 1, NULL, &id, &err),
                   &err, "no op");
    assert_ok(assay_graph_verify(g, &err), &err);
    assay_graph_free(g);
}

static void test_clone_is_deep(void **state)
{
    (void)state;
    assay_graph *g = small_net(), *c;
    assay_error err;
    float scale = 0.5F;
    int32_t zero = 3;
    assay_type q = i8_type(4, &scale, &zero);
    int id = value(g, "q", q);
    g->node[0].act_hi = 6;
    assert_ok(assay_graph_clone(g, &c, &err), &err);
    assay_graph_free(g);
    assert_ok(assay_graph_verify(c, &err), &err);
    assert_int_equal(c->n_nodes, 2);
    assert_true(c->node[0].act_hi == 6);
    assert_true(c->value[id].type.q.scale[0] == 0.5F);
    assert_int_equal(c->value[id].type.q.zero_point[0], 3);
    assay_graph_free(c);
}

static void test_compact_sorts_and_drops(void **state)
{
    (void)state;
    assay_graph *g;
    assay_error err;
    int x, a, b, c, d;
    bool dead[4] = {false, false, false, false};
    assert_ok(assay_graph_new("sort", &g, &err), &err);
    x = value(g, "x", F32(4));
    a = value(g, "a", F32(4));
    b = value(g, "b", F32(4));
    /* b = neg(a) stands before a = relu(x) */
    assert_ok(assay_graph_add_node(g, ASSAY_OP_NEG, "b", &a, 1, &b, 1, NULL, NULL, &err), &err);
    assert_ok(assay_graph_add_node(g, ASSAY_OP_RELU, "a", &x, 1, &a, 1, NULL, NULL, &err), &err);
    c = unary(g, ASSAY_OP_ABS, b, "c");
    d = unary(g, ASSAY_OP_EXP, c, "d");
    assert_ok(assay_graph_set_inputs(g, &x, 1, &err), &err);
    assert_ok(assay_graph_set_outputs(g, &d, 1, &err), &err);
    assert_refused(assay_graph_verify(g, &err), &err, "'a'");
    /* c is bypassed: its node dies, its value goes */
    assay_graph_replace_uses(g, c, b);
    dead[2] = true;
    assert_ok(assay_graph_compact(g, dead, &err), &err);
    assert_ok(assay_graph_verify(g, &err), &err);
    assert_int_equal(g->n_nodes, 3);
    assert_string_equal(g->node[0].name, "a");
    assert_string_equal(g->node[1].name, "b");
    assert_string_equal(g->node[2].name, "d");
    assert_int_equal(assay_graph_find_value(g, "c"), -1);
    assert_int_equal(g->n_values, 4);
    assay_graph_free(g);
}

static void test_compact_of_nothing(void **state)
{
    (void)state;
    assay_graph *g;
    assay_error err;
    assert_ok(assay_graph_new("empty", &g, &err), &err);
    assert_ok(assay_graph_compact(g, NULL, &err), &err);
    value(g, "unused", F32(4));
    assert_ok(assay_graph_compact(g, NULL, &err), &err);
    assert_int_equal(g->n_values, 0);
    assert_int_equal(value(g, "unused", F32(4)), 0);
    assay_graph_free(g);
}

static void test_cycle(void **state)
{
    (void)state;
    assay_graph *g;
    assay_error err;
    int a, b;
    assert_ok(assay_graph_new("cycle", &g, &err), &err);
    a = value(g, "a", F32(4));
    b = value(g, "b", F32(4));
    assert_ok(assay_graph_add_node(g, ASSAY_OP_NEG, "n1", &a, 1, &b, 1, NULL, NULL, &err), &err);
    assert_ok(assay_graph_add_node(g, ASSAY_OP_NEG, "n2", &b, 1, &a, 1, NULL, NULL, &err), &err);
    assert_ok(assay_graph_set_outputs(g, &b, 1, &err), &err);
    assert_refused(assay_graph_verify(g, &err), &err, "'n1'");
    assert_refused(assay_graph_compact(g, NULL, &err), &err, "cycle");
    assert_int_equal(g->n_nodes, 2);
    assay_graph_free(g);
}

static void test_verifier_values(void **state)
{
    (void)state;
    struct {
        float scale;
        int32_t zero_point;
        const char *part;
    } cases[] = {{0.1F, 0, NULL},           {0.0F, 0, "scale"}, {-1.0F, 0, "scale"},
                 {INFINITY, 0, "scale"},    {NAN, 0, "scale"},  {0.1F, 128, "zero point"},
                 {0.1F, -129, "zero point"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        assay_graph *g;
        assay_error err;
        assay_status s;
        assert_ok(assay_graph_new("q", &g, &err), &err);
        value(g, "q", i8_type(4, &cases[i].scale, &cases[i].zero_point));
        s = assay_graph_verify(g, &err);
        if (cases[i].part)
            assert_refused(s, &err, cases[i].part);
        else
            assert_ok(s, &err);
        assay_graph_free(g);
    }
}

static void test_verifier_constants(void **state)
{
    (void)state;
    float nan_data[] = {1, NAN};
    uint8_t i4_data[] = {7, 8}, bool_data[] = {1, 2};
    assay_type f = F32(2), i4 = F32(2), boolean = F32(2);
    struct {
        const assay_type *type;
        const void *data;
        const char *part;
    } cases[] = {{&f, nan_data, "not a number"},
                 {&i4, i4_data, "element 1 is 8"},
                 {&boolean, bool_data, "element 1 is 2"}};
    i4.elem = assay_int(4, true);
    boolean.elem = assay_bool();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        assay_graph *g;
        assay_error err;
        int id;
        assert_ok(assay_graph_new("c", &g, &err), &err);
        assert_ok(assay_graph_add_constant(g, "k", cases[i].type, cases[i].data, &id, &err), &err);
        assert_refused(assay_graph_verify(g, &err), &err, cases[i].part);
        assay_graph_free(g);
    }
}

static void test_verifier_axis_count(void **state)
{
    (void)state;
    float scale[3] = {1, 2, 3};
    int32_t zero[3] = {0, 0, 0};
    for (size_t count = 1; count <= 3; ++count) {
        assay_graph *g;
        assay_error err;
        assay_type t = {.elem = assay_int(8, true), .rank = 2, .dim = {2, 5}};
        assay_status s;
        t.q = (assay_qparams){ASSAY_Q_AXIS, 0, 0, count, scale, zero};
        assert_ok(assay_graph_new("axis", &g, &err), &err);
        value(g, "w", t);
        s = assay_graph_verify(g, &err);
        if (count == 2)
            assert_ok(s, &err);
        else
            assert_refused(s, &err, "expected 2");
        assay_graph_free(g);
    }
}

static void test_moves_keep_parameters(void **state)
{
    (void)state;
    assay_graph *g;
    assay_error err;
    float scale = 0.25F, other = 0.5F;
    int32_t zero = -7;
    int x, y;
    const char *name = "y";
    assay_attrs a = {.shape = {.shape = {2, {2, -1}}}};
    assay_qparams q = {ASSAY_Q_TENSOR, 0, 0, 1, &other, &zero};
    assert_ok(assay_graph_new("move", &g, &err), &err);
    x = value(g, "x", i8_type(6, &scale, &zero));
    assert_ok(assay_graph_add_inferred(g, ASSAY_OP_RESHAPE, "r", &x, 1, &name, 1, &a, &y, &err),
              &err);
    assert_int_equal(g->value[y].type.dim[1], 3);
    assert_true(assay_qparams_equal(&g->value[x].type.q, &g->value[y].type.q));
    assert_ok(assay_graph_set_inputs(g, &x, 1, &err), &err);
    assert_ok(assay_graph_verify(g, &err), &err);
    assert_ok(assay_graph_set_qparams(g, y, &q, &err), &err);
    assert_refused(assay_graph_verify(g, &err), &err, "parameters differ");
    assay_graph_free(g);
}

/* Elements stay when an array grows; a size beyond memory leaves it as it was. */
static void test_make_room(void **state)
{
    int32_t *list = NULL;
    size_t room = 0;
    (void)state;
    for (size_t n = 0; n < 1000; n++) {
        assert_true(assay_make_room(&list, &room, n + 1, sizeof *list));
        assert_true(room > n);
        list[n] = (int32_t)n;
    }
    const int32_t *const was = list;
    const size_t had = room;
    assert_true(assay_make_room(&list, &room, room, sizeof *list));
    assert_false(assay_make_room(&list, &room, SIZE_MAX / sizeof *list, sizeof *list));
    assert_false(assay_make_room(&list, &room, SIZE_MAX, sizeof *list));
    assert_true(list == was && room == had);
    for (size_t n = 0; n < 1000; n++)
        assert_int_equal(list[n], n);
    free(list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_message_is_one_line), cmocka_unit_test(test_build),
        cmocka_unit_test(test_many_names),          cmocka_unit_test(test_builder_refusals),
        cmocka_unit_test(test_clone_is_deep),       cmocka_unit_test(test_compact_sorts_and_drops),
        cmocka_unit_test(test_compact_of_nothing),  cmocka_unit_test(test_cycle),
        cmocka_unit_test(test_verifier_values),     cmocka_unit_test(test_verifier_constants),
        cmocka_unit_test(test_verifier_axis_count), cmocka_unit_test(test_moves_keep_parameters),
        cmocka_unit_test(test_make_room),
    };
    return cmocka_run_group_tests_name("graph", tests, NULL, NULL);
}
