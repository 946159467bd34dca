/* Control flow: bodies run at run time, in both engines, with state of their own and shared state;
 * IF, WHILE and several entry points of TFLite models. */
#include "test/support/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/text/text.h"
#include "graph/tflite/tflite.h"
#include "interp/run/program.h"
#include "test/support/tflite_build.h"

typedef struct machine {
    assay_graph *g;
    assay_program *p;
    assay_run *r;
    unsigned char *file;
} machine;

static void start(machine *m, enum assay_engine engine)
{
    const assay_program_options o = {.keep_all = true, .engine = engine};
    assay_error err;
    assert_ok(run_program_make_with(m->g, NULL, &o, &m->p, &err), &err);
    assert_ok(assay_run_new(m->p, &m->r, &err), &err);
}

static machine parse(const char *text, enum assay_engine engine)
{
    machine m = {0};
    assay_error err;
    assert_ok(text_graph_parse(text, strlen(text), "test", NULL, &m.g, &err), &err);
    start(&m, engine);
    return m;
}

static void stop(machine *m)
{
    assay_run_free(m->r);
    assay_program_free(m->p);
    assay_graph_free(m->g);
    free(m->file);
}

static void set_float(machine *m, int input, float v)
{
    *(float *)assay_run_data(m->r, m->g->input[input]) = v;
}

static float run(machine *m)
{
    assay_error err;
    assert_ok(run_execute(m->r, NULL, false, NULL, &err), &err);
    return *(float *)assay_run_data(m->r, m->g->output[0]);
}

static void test_if(void **state)
{
    static const char text[] = "graph g { input p: bool[] input x: f32[] "
                               "graph twice { input v: f32[] w: f32[] = add(v, v) output w } "
                               "graph same { input v: f32[] output v } "
                               "y: f32[] = if(p, x) output y }";
    (void)state;
    for (int engine = ASSAY_ENGINE_REF; engine <= ASSAY_ENGINE_BOTH; engine++) {
        machine m = parse(text, (enum assay_engine)engine);
        for (int i = 0; i < 4; i++) {
            *(bool *)assay_run_data(m.r, m.g->input[0]) = i % 2;
            set_float(&m, 1, 3);
            assert_true(run(&m) == (i % 2 ? 6 : 3));
        }
        stop(&m);
    }
}

/* Values change places in every round, so results must not be read after they are overwritten. */
static void test_while(void **state)
{
    static const char text[] =
        "graph g { input i: i32[] input a: f32[] input b: f32[] "
        "graph more { input i: i32[] input a: f32[] input b: f32[] const n: i32[] = [5] "
        "t: bool[] = less(i, n) output t } "
        "graph swap { input i: i32[] input a: f32[] input b: f32[] const one: i32[] = [1] "
        "j: i32[] = add(i, one) output j output b output a } "
        "j: i32[], c: f32[], d: f32[] = while(i, a, b) output c output d }";
    (void)state;
    machine m = parse(text, ASSAY_ENGINE_REF);
    for (int first = 0; first <= 7; first++) {
        int rounds = first < 5 ? 5 - first : 0;
        *(int32_t *)assay_run_data(m.r, m.g->input[0]) = first;
        set_float(&m, 1, 10);
        set_float(&m, 2, 20);
        assert_true(run(&m) == (rounds % 2 ? 20 : 10));
        assert_true(*(float *)assay_run_data(m.r, m.g->output[1]) == (rounds % 2 ? 10 : 20));
    }
    stop(&m);
}

static void test_endless_loop_ends(void **state)
{
    static const char text[] = "graph g { input x: f32[1] "
                               "graph ever { input v: f32[1] t: bool[1] = equal(v, v) output t } "
                               "graph same { input v: f32[1] output v } "
                               "y: f32[1] = while(x) output y }";
    assay_error err;
    (void)state;
    machine m = parse(text, ASSAY_ENGINE_REF);
    assert_refused(run_execute(m.r, NULL, false, NULL, &err), &err, "node 'y' (while)");
    stop(&m);
}

/* total is one variable inside and outside; own belongs to the body. Both survive a run. */
static void test_variables(void **state)
{
    static const char text[] =
        "graph g { input p: bool[] input x: f32[] var total: f32[] = [100] "
        "graph sum { input v: f32[] var total: f32[] = [100] var own: f32[] = [0] "
        "t: f32[] = read(total) s: f32[] = add(t, v) st: f32[] = assign(total, s) "
        "o: f32[] = read(own) n: f32[] = add(o, v) so: f32[] = assign(own, n) output n } "
        "graph same { input v: f32[] output v } "
        "y: f32[] = if(p, x) z: f32[] = read(total) output y output z }";
    (void)state;
    machine m = parse(text, ASSAY_ENGINE_REF);
    for (int round = 0; round < 2; round++) {
        for (int i = 1; i <= 4; i++) {
            bool yes = i != 3;
            int taken = i < 3 ? i : i - 1;
            *(bool *)assay_run_data(m.r, m.g->input[0]) = yes;
            set_float(&m, 1, 7);
            assert_true(run(&m) == (float)(yes ? 7 * taken : 7));
            assert_true(*(float *)assay_run_data(m.r, m.g->output[1]) ==
                        (float)(100 + 7 * (yes ? taken : i - 1)));
        }
        assay_run_reset(m.r);
    }
    stop(&m);
}

/* Once read and written beyond the end of the shorter one. */
static void test_shared_variables_have_one_type(void **state)
{
    static const char *const types[] = {"f32[100000]", "f32[1]", "i32[]"};
    (void)state;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        char text[400];
        assay_graph *g;
        assay_error err;
        snprintf(text, sizeof text,
                 "graph g { input p: bool[] input x: f32[] var total: f32[] = [100] "
                 "graph sum { input v: f32[] var total: %s output v } "
                 "graph same { input v: f32[] output v } y: f32[] = if(p, x) output y }",
                 types[i]);
        assert_refused(text_graph_parse(text, strlen(text), "test", NULL, &g, &err), &err,
                       "variable 'total' has another type");
    }
}

static void test_text_keeps_bodies(void **state)
{
    static const char text[] = "graph g {\n  input p: bool[]\n  input x: f32[]\n"
                               "  graph a {\n    input v: f32[]\n    w: f32[] = add(v, v)\n"
                               "    output w\n  }\n"
                               "  graph b {\n    input v: f32[]\n    output v\n  }\n"
                               "  y: f32[] = if(p, x) {on_true=1, on_false=0}\n  output y\n}\n";
    assay_graph *g, *copy;
    assay_buf out = {0};
    assay_error err;
    (void)state;
    assert_ok(text_graph_parse(text, strlen(text), "test", NULL, &g, &err), &err);
    assert_ok(assay_graph_clone(g, &copy, &err), &err);
    assert_ok(text_graph_print(copy, NULL, &out, &err), &err);
    assert_string_equal(out.text, text);
    assay_buf_free(&out);
    assay_graph_free(copy);
    assay_graph_free(g);
}

/* ---- TFLite ---- */

enum { ADD = 0, MUL = 18, LESS_OP = 58, IF = 118, WHILE = 119, UNIQUE = 103, RESOURCE = 13 };
enum { VAR_HANDLE = 142, READ_VARIABLE = 143, ASSIGN_VARIABLE = 144 };

static assay_status import(const tb_model *t, const char *entry, machine *m, assay_error *err)
{
    size_t size;
    m->file = tb_finish(t, &size);
    return tfl_import_entry("model", entry, m->file, size, NULL, &m->g, err);
}

/* v op v */
static tb_model body_of(int op, const tb_model *next)
{
    tb_model b = {.n_inputs = 1, .input = {0}, .n_outputs = 1, .output = {1}, .next = next};
    tb_add(&b, "v", TFL_FLOAT32, 1, -1);
    tb_add(&b, "w", TFL_FLOAT32, 1, -1);
    tb_outputs(tb_operator(&b, op, 0, 0, -2), 1, -2);
    return b;
}

static tb_model branch(const tb_model *bodies, int on_true, int on_false)
{
    tb_model m = {.n_inputs = 2, .input = {0, 1}, .n_outputs = 1, .output = {2}, .next = bodies};
    tb_op *op;
    tb_add(&m, "p", TFL_BOOL, 1, -1);
    tb_add(&m, "x", TFL_FLOAT32, -1); /* a scalar here, a vector in the bodies */
    tb_add(&m, "y", TFL_FLOAT32, -1);
    op = tb_operator(&m, IF, 0, 1, -2);
    tb_outputs(op, 2, -2);
    tb_option_i32(op, 0, on_true);
    tb_option_i32(op, 1, on_false);
    return m;
}

static void test_tflite_if(void **state)
{
    tb_model square = body_of(MUL, NULL), twice = body_of(ADD, &square);
    tb_model t = branch(&twice, 1, 2);
    machine m = {0};
    assay_error err;
    (void)state;
    assert_ok(import(&t, NULL, &m, &err), &err);
    start(&m, ASSAY_ENGINE_REF);
    for (int p = 0; p < 2; p++) {
        *(bool *)assay_run_data(m.r, m.g->input[0]) = p;
        set_float(&m, 1, 5);
        assert_true(run(&m) == (p ? 10 : 25));
    }
    stop(&m);
}

/* A body that runs itself, one that is not there, and everything unsupported in bodies at once. */
static void test_tflite_refused(void **state)
{
    tb_model square = body_of(MUL, NULL), twice = body_of(ADD, &square);
    tb_model t = branch(&twice, 1, 3), again, unique, deep;
    machine m = {0};
    assay_error err;
    (void)state;
    assert_refused(import(&t, NULL, &m, &err), &err, "there is no subgraph 3");
    free(m.file);
    again = branch(NULL, 1, 1);
    deep = branch(&again, 1, 1);
    assert_refused(import(&deep, NULL, &m, &err), &err, "more than 8 deep");
    free(m.file);
    unique = body_of(UNIQUE, NULL);
    twice = body_of(146, &unique);
    t = branch(&twice, 1, 2);
    assert_int_equal(import(&t, NULL, &m, &err), ASSAY_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.text, "subgraph 1: RANDOM_STANDARD_NORMAL (operator 0)"));
    assert_non_null(strstr(err.text, "subgraph 2: UNIQUE"));
    free(m.file);
}

/* A resource variable that only the loop's body touches keeps its content from run to run. */
static void test_tflite_while(void **state)
{
    static const int32_t three = 3, one = 1;
    static const float first[3] = {0.25F, 1.5F, 25};
    float total = 0;
    tb_model body = {.n_inputs = 2, .input = {0, 1}, .n_outputs = 2, .output = {2, 3}};
    tb_model test = {.n_inputs = 2, .input = {0, 1}, .n_outputs = 1, .output = {3}, .next = &body};
    tb_model t = {.n_inputs = 2, .input = {0, 1}, .n_outputs = 2, .output = {3, 2}, .next = &test};
    tb_op *op;
    machine m = {0};
    assay_error err;
    (void)state;
    for (tb_model *g = &t; g; g = g == &t ? &test : g == &test ? &body : NULL) {
        tb_add(g, "i", TFL_INT32, -1);
        tb_add(g, "v", TFL_FLOAT32, 1, -1);
    }
    tb_add(&t, "j", TFL_INT32, -1);
    tb_add(&t, "y", TFL_FLOAT32, 1, -1);
    op = tb_operator(&t, WHILE, 0, 1, -2);
    tb_outputs(op, 2, 3, -2);
    tb_option_i32(op, 0, 1);
    tb_option_i32(op, 1, 2);
    tb_add(&test, "n", TFL_INT32, -1);
    tb_data(&test, &three, sizeof three);
    tb_add(&test, "more", TFL_BOOL, -1);
    tb_outputs(tb_operator(&test, LESS_OP, 0, 2, -2), 3, -2);
    tb_add(&body, "j", TFL_INT32, -1);
    tb_add(&body, "y", TFL_FLOAT32, 1, -1);
    tb_add(&body, "one", TFL_INT32, -1);
    tb_data(&body, &one, sizeof one);
    tb_add(&body, "handle", RESOURCE, 1, -1);
    tb_add(&body, "before", TFL_FLOAT32, 1, -1);
    tb_outputs(tb_operator(&body, ADD, 0, 4, -2), 2, -2);
    op = tb_operator(&body, VAR_HANDLE, -2);
    tb_outputs(op, 5, -2);
    op->variable = "total";
    tb_outputs(tb_operator(&body, READ_VARIABLE, 5, -2), 6, -2);
    tb_outputs(tb_operator(&body, ADD, 6, 1, -2), 3, -2);
    tb_operator(&body, ASSIGN_VARIABLE, 5, 3, -2);
    assert_ok(import(&t, NULL, &m, &err), &err);
    start(&m, ASSAY_ENGINE_REF);
    for (int step = 0; step < 3; step++) { /* v = total = total + v in each round */
        *(int32_t *)assay_run_data(m.r, m.g->input[0]) = step; /* three rounds, two, one */
        set_float(&m, 1, first[step]);
        for (float v = first[step], i = (float)step; i < 3; i++)
            v = total = total + v;
        assert_true(run(&m) == total);
        assert_int_equal(*(int32_t *)assay_run_data(m.r, m.g->output[1]), 3);
    }
    stop(&m);
}

static void test_tflite_entries(void **state)
{
    tb_model square = body_of(MUL, NULL), twice = body_of(ADD, &square);
    machine m = {0};
    assay_error err;
    (void)state;
    twice.signature[0] = "double me";
    twice.key = "twice";
    square.signature[0] = "square me";
    square.key = "square";
    for (int k = 0; k < 3; k++) {
        static const char *const entry[3] = {NULL, "twice", "square"};
        assert_ok(import(&twice, entry[k], &m, &err), &err);
        assert_string_equal(m.g->value[m.g->input[0]].name, k < 2 ? "double me" : "square me");
        start(&m, ASSAY_ENGINE_REF);
        set_float(&m, 0, 5);
        assert_true(run(&m) == (k < 2 ? 10 : 25));
        stop(&m);
    }
    assert_refused(import(&twice, "cube", &m, &err), &err, "there are: 'twice' 'square'");
    free(m.file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_if),
        cmocka_unit_test(test_while),
        cmocka_unit_test(test_endless_loop_ends),
        cmocka_unit_test(test_variables),
        cmocka_unit_test(test_shared_variables_have_one_type),
        cmocka_unit_test(test_text_keeps_bodies),
        cmocka_unit_test(test_tflite_if),
        cmocka_unit_test(test_tflite_refused),
        cmocka_unit_test(test_tflite_while),
        cmocka_unit_test(test_tflite_entries),
    };
    return cmocka_run_group_tests_name("flow", tests, NULL, NULL);
}
