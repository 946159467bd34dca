/* The memory plan on random graphs: what is alive together lies apart. */
#include "test/support/support.h"

#include <stdio.h>
#include <string.h>

#include "graph/text/text.h"
#include "interp/run/program.h"

/* A graph of f32 values: `nodes` adds or relus over values drawn among those that exist. */
static assay_graph *draw_graph(test_rng *r, int nodes)
{
    assay_error err;
    assay_graph *g;
    int ids[200], n = 0, outputs[3];
    assay_type t = {.elem = assay_f32(), .rank = 1};
    assert_ok(assay_graph_new("random", &g, &err), &err);
    for (; n < 3; n++) {
        char name[16];
        snprintf(name, sizeof name, "v%d", n);
        t.dim[0] = n == 2 ? 1 : test_between(r, 1, 500); /* v2 broadcasts to any length */
        assert_ok(assay_graph_add_value(g, name, &t, &ids[n], &err), &err);
    }
    assert_ok(assay_graph_set_inputs(g, ids, 3, &err), &err);
    for (int i = 0; i < nodes; i++, n++) {
        char name[16];
        const char *names[1] = {name};
        snprintf(name, sizeof name, "v%d", n);
        int in[2] = {ids[test_between(r, n > 12 ? n - 12 : 0, n - 1)], ids[2]};
        bool add = test_between(r, 0, 1);
        assert_ok(assay_graph_add_inferred(g, add ? ASSAY_OP_ADD : ASSAY_OP_RELU, name, in,
                                           add ? 2 : 1, names, 1, NULL, &ids[n], &err),
                  &err);
    }
    for (int i = 0; i < 3; i++)
        outputs[i] = ids[n - 1 - 2 * i];
    assert_ok(assay_graph_set_outputs(g, outputs, 3, &err), &err);
    return g;
}

/* Recomputes the last step at which a value is needed, from the graph alone. */
static int last_use(const assay_graph *g, int value)
{
    int last = g->value[value].producer < 0 ? 0 : g->value[value].producer;
    for (int s = 0; s < g->n_nodes; s++)
        for (int i = 0; i < g->node[s].n_in; i++)
            if (g->node[s].in[i] == value)
                last = s;
    for (int i = 0; i < g->n_outputs; i++)
        if (g->output[i] == value)
            last = g->n_nodes;
    return last;
}

static void check_plan(const assay_graph *g, const assay_plan *p, bool keep_all)
{
    assert_int_equal(p->scratch_offset % 64, 0);
    assert_true(p->arena_bytes >= p->scratch_offset + p->scratch_bytes);
    for (int a = 0; a < g->n_values; a++) {
        int64_t end_a = p->offset[a] + (int64_t)assay_type_bytes(&g->value[a].type);
        int first_a = keep_all || g->value[a].producer < 0 ? 0 : g->value[a].producer;
        int last_a = keep_all ? g->n_nodes : last_use(g, a);
        assert_true(p->offset[a] >= 0);
        assert_int_equal(p->offset[a] % 64, 0);
        assert_true(end_a <= (int64_t)p->scratch_offset);
        for (int b = 0; b < a; b++) {
            int first_b = keep_all || g->value[b].producer < 0 ? 0 : g->value[b].producer;
            int last_b = keep_all ? g->n_nodes : last_use(g, b);
            int64_t end_b = p->offset[b] + (int64_t)assay_type_bytes(&g->value[b].type);
            if (first_a <= last_b && first_b <= last_a)
                assert_true(end_a <= p->offset[b] || end_b <= p->offset[a]);
        }
    }
}

static void test_apart(void **state)
{
    test_rng r = test_seed("plan", 1);
    (void)state;
    for (int i = 0; i < 100; i++) {
        assay_error err;
        assay_plan *p;
        assay_graph *g = draw_graph(&r, (int)test_between(&r, 5, 120));
        bool keep_all = i % 4 == 0;
        assert_ok(run_plan_make(g, keep_all, &p, &err), &err);
        check_plan(g, p, keep_all);
        run_plan_free(p);
        assay_graph_free(g);
    }
}

/* A chain needs two places whatever its length. */
static void test_reuse(void **state)
{
    assay_error err;
    assay_graph *g;
    assay_plan *p;
    assay_type t = {.elem = assay_f32(), .rank = 2, .dim = {4, 16}};
    int id;
    (void)state;
    assert_ok(assay_graph_new("chain", &g, &err), &err);
    assert_ok(assay_graph_add_value(g, "x", &t, &id, &err), &err);
    assert_ok(assay_graph_set_inputs(g, &id, 1, &err), &err);
    for (int i = 0; i < 40; i++) {
        char name[16];
        const char *names[1] = {name};
        snprintf(name, sizeof name, "y%d", i);
        assert_ok(
            assay_graph_add_inferred(g, ASSAY_OP_RELU, name, &id, 1, names, 1, NULL, &id, &err),
            &err);
    }
    assert_ok(assay_graph_set_outputs(g, &id, 1, &err), &err);
    assert_ok(run_plan_make(g, false, &p, &err), &err);
    assert_int_equal(p->scratch_offset, 2 * 256);
    run_plan_free(p);
    assert_ok(run_plan_make(g, true, &p, &err), &err);
    assert_int_equal(p->scratch_offset, 41 * 256);
    run_plan_free(p);
    assay_graph_free(g);
}

static void test_print(void **state)
{
    test_rng r = test_seed("plan print", 2);
    assay_error err;
    assay_plan *p;
    char text[20000] = "", total[64];
    assay_graph *g = draw_graph(&r, 9);
    FILE *f = fmemopen(text, sizeof text - 1, "w");
    (void)state;
    assert_non_null(f);
    assert_ok(run_plan_make(g, false, &p, &err), &err);
    run_plan_print(f, g, p);
    fclose(f);
    assert_non_null(strstr(text, " v11\n"));
    snprintf(total, sizeof total, "arena %zu", p->arena_bytes);
    assert_non_null(strstr(text, total));
    run_plan_free(p);
    assay_graph_free(g);
}

/* Constants stay where the graph has them, also when every value keeps its place. */
static void test_constants_have_no_place(void **state)
{
    static const float content[4] = {1, 2, 3, 4};
    const assay_type t = {.elem = assay_f32(), .rank = 1, .dim = {4}};
    assay_graph *g;
    assay_error err;
    int x, c, y, id;
    (void)state;
    assert_ok(assay_graph_new("constants", &g, &err), &err);
    assert_ok(assay_graph_add_value(g, "x", &t, &x, &err), &err);
    assert_ok(assay_graph_add_constant(g, "c", &t, content, &c, &err), &err);
    assert_ok(assay_graph_add_value(g, "y", &t, &y, &err), &err);
    const int in[2] = {x, c};
    assert_ok(assay_graph_add_node(g, ASSAY_OP_ADD, "add", in, 2, &y, 1, NULL, &id, &err), &err);
    assert_ok(assay_graph_set_inputs(g, &x, 1, &err), &err);
    assert_ok(assay_graph_set_outputs(g, &y, 1, &err), &err);
    for (int keep_all = 0; keep_all < 2; keep_all++) {
        assay_plan *p;
        assert_ok(run_plan_make(g, keep_all, &p, &err), &err);
        assert_true(p->offset[x] >= 0 && p->offset[y] >= 0);
        assert_int_equal(p->offset[c], -1);
        run_plan_free(p);
    }
    assay_graph_free(g);
}

/* A box a value, and names are text whatever they contain. */
static void test_draw(void **state)
{
    test_rng r = test_seed("plan draw", 3);
    assay_error err;
    assay_plan *p;
    char text[20000] = "";
    int boxes = 0;
    assay_graph *g = draw_graph(&r, 9);
    FILE *f = fmemopen(text, sizeof text - 1, "w");
    (void)state;
    assert_non_null(f);
    g->name = "<a&b>";
    assert_ok(run_plan_make(g, false, &p, &err), &err);
    page_plan_draw(f, g, p);
    fclose(f);
    for (const char *at = text; (at = strstr(at, "<rect ")); at++)
        boxes++;
    assert_int_equal(boxes, 1 + g->n_values + (p->scratch_bytes > 0)); /* 1: the ground */
    assert_non_null(strstr(text, "&lt;a&amp;b&gt;: 9 nodes"));
    assert_non_null(strstr(text, ">8</text>")); /* the last node's step */
    assert_non_null(strstr(text, "</svg>\n"));
    run_plan_free(p);
    assay_graph_free(g);
}

/* Names that do not fit give way to the number of the step, which is on the axis, or to what they
 * name. */
static void test_labels(void **state)
{
    assay_error err;
    assay_plan *p;
    char text[20000] = "";
    assay_graph *g;
    FILE *f = fmemopen(text, sizeof text - 1, "w");
    char name[301], net[2000];
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = 0;
    snprintf(net, sizeof net,
             "graph g { input x: f32[64]\n input i%s: f32[64]\n %s: f32[64] = relu(x)\n"
             " y: f32[64] = add(%s, i%s)\n output y }",
             name, name, name, name);
    (void)state;
    assert_non_null(f);
    assert_ok(text_graph_parse(net, strlen(net), "labels", NULL, &g, &err), &err);
    assert_ok(run_plan_make(g, false, &p, &err), &err);
    page_plan_draw(f, g, p);
    fclose(f);
    assert_non_null(strstr(text, ">x</text>"));
    assert_non_null(strstr(text, ">0 relu</text>"));
    assert_non_null(strstr(text, ">input</text>"));
    assert_non_null(strstr(text, ">y</text>"));
    assert_null(strstr(text, "nnn</text>"));
    run_plan_free(p);
    assay_graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_constants_have_no_place),
        cmocka_unit_test(test_apart),
        cmocka_unit_test(test_reuse),
        cmocka_unit_test(test_print),
        cmocka_unit_test(test_draw),
        cmocka_unit_test(test_labels),
    };
    return cmocka_run_group_tests_name("plan", tests, NULL, NULL);
}
