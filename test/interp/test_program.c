/* Programs and runs: what is refused and how, mixed graphs, state, threads. */
#include "test/support/support.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "test/support/fake.h"

static assay_type codes(int64_t n)
{
    static const float scale[1] = {0.5f};
    static const int32_t zero[1] = {3};
    return (assay_type){.elem = assay_int(8, true),
                        .rank = 1,
                        .dim = {n},
                        .q = {ASSAY_Q_TENSOR, 0, 0, 1, scale, zero}};
}

static assay_type floats(int64_t n)
{
    return (assay_type){.elem = assay_f32(), .rank = 1, .dim = {n}};
}

static int add_value(assay_graph *g, const char *name, const assay_type *t)
{
    assay_error err;
    int id;
    assert_ok(assay_graph_add_value(g, name, t, &id, &err), &err);
    return id;
}

static void add_node(assay_graph *g, assay_op op, const char *name, int in0, int in1, int out)
{
    assay_error err;
    int in[2] = {in0, in1};
    assert_ok(assay_graph_add_node(g, op, name, in, in1 < 0 ? 1 : 2, &out, 1, NULL, NULL, &err),
              &err);
}

/* x (f32) -> quantize -> sub with itself -> dequantize -> + x (float) -> y */
static assay_graph *mixed_graph(void)
{
    assay_error err;
    assay_graph *g;
    assay_type f = floats(6), q = codes(6);
    assert_ok(assay_graph_new("mixed", &g, &err), &err);
    int x = add_value(g, "x", &f), a = add_value(g, "a", &q), b = add_value(g, "b", &q);
    int c = add_value(g, "c", &f), y = add_value(g, "y", &f);
    add_node(g, ASSAY_OP_QUANTIZE, "to codes", x, -1, a);
    add_node(g, ASSAY_OP_SUB, "difference", a, a, b);
    add_node(g, ASSAY_OP_DEQUANTIZE, "to real", b, -1, c);
    add_node(g, ASSAY_OP_ADD, "sum", c, x, y);
    assert_ok(assay_graph_set_inputs(g, &x, 1, &err), &err);
    assert_ok(assay_graph_set_outputs(g, &y, 1, &err), &err);
    return g;
}

typedef struct trace {
    int nodes[8], n, fail_at;
} trace;

static assay_status observe(void *user, assay_run *r, int node, const int64_t *acc,
                            assay_error *err)
{
    trace *t = user;
    (void)r;
    assert_null(acc);
    t->nodes[t->n++] = node;
    return node == t->fail_at ? assay_fail(err, ASSAY_ERR_IO, "disk full") : ASSAY_OK;
}

static void test_mixed(void **state)
{
    assay_error err;
    assay_graph *g = mixed_graph();
    assay_program *p;
    assay_run *r;
    trace t = {.fail_at = -1};
    (void)state;
    assert_ok(assay_program_make_as_is(g, &fake_scheme, false, &p, &err), &err);
    assert_ok(assay_run_new(p, &r, &err), &err);
    const float x[6] = {0, 1e-30f, 2e-20f, 1, 3, 1000};
    memcpy(assay_run_data(r, g->input[0]), x, sizeof x);
    assert_ok(run_execute(r, observe, true, &t, &err), &err);
    const float *y = assay_run_data(r, g->output[0]);
    for (int i = 0; i < 6; i++) {
        uint32_t bits;
        float c;
        memcpy(&bits, &x[i], 4);
        int64_t a = fake_saturate(assay_int(8, true), (int64_t)(bits >> 20) + i);
        bits = ((uint32_t)fake_saturate(assay_int(8, true), a) << 20) + (uint32_t)i;
        memcpy(&c, &bits, 4);
        assert_true(y[i] == c + x[i]);
    }
    assert_int_equal(t.n, 4);
    for (int i = 0; i < 4; i++)
        assert_int_equal(t.nodes[i], i);
    t = (trace){.fail_at = 1};
    assert_refused(run_execute(r, observe, false, &t, &err), &err, "disk full");
    assert_int_equal(t.n, 2);
    assay_run_free(r);
    assay_program_free(p);
    assay_graph_free(g);
}

/* All that cannot run is in one list, a line each. */
static void test_refusals(void **state)
{
    assay_error err;
    assay_graph *g;
    assay_program *p;
    static const float scale[6] = {1, 1, 1, 1, 1, 1};
    static const int32_t zero[6] = {0};
    assay_type q = codes(6), per_axis = q;
    (void)state;
    per_axis.q = (assay_qparams){ASSAY_Q_AXIS, 0, 0, 6, scale, zero};
    assert_ok(assay_graph_new("bad", &g, &err), &err);
    int x = add_value(g, "x", &q), a = add_value(g, "a", &q), b = add_value(g, "b", &q);
    int c = add_value(g, "c", &q), d = add_value(g, "d", &q), h = add_value(g, "h", &per_axis);
    add_node(g, ASSAY_OP_MOD, "first", x, x, a); /* no integer kernel */
    add_node(g, ASSAY_OP_ADD, "second", a, a, b);
    add_node(g, ASSAY_OP_TANH, "third", b, -1, c); /* the scheme refuses */
    add_node(g, ASSAY_OP_MUL, "fourth", c, h, d);  /* parameters along an axis */
    int in[2] = {x, h};
    assert_ok(assay_graph_set_inputs(g, in, 2, &err), &err);
    assert_ok(assay_graph_set_outputs(g, &d, 1, &err), &err);
    fake_refuse = "tanh";
    assay_status status = assay_program_make_as_is(g, &fake_scheme, false, &p, &err);
    fake_refuse = NULL;
    assert_int_equal(status, ASSAY_ERR_UNSUPPORTED);
    assert_memory_equal(err.text, "node 'first': no integer kernel for op mod; ", 44);
    assert_non_null(strstr(err.text, "; node 'third' (tanh): scheme 'fake' has no tanh"));
    assert_non_null(strstr(err.text, "; node 'fourth' (mul): value 'h' must be"));
    assert_null(strstr(err.text, "second"));
    assert_null(strchr(err.text, '\n')); /* errors are one line */
    assert_null(p);
    assert_int_equal(assay_program_make(g, NULL, false, &p, &err), ASSAY_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.text, "node 'second' (add) is quantized: a scheme is needed"));
    assay_graph_free(g);
}

/* A vtable without a function that a node needs is found before the run. */
static void test_vtable(void **state)
{
    assay_error err;
    assay_graph *g = mixed_graph();
    assay_program *p;
    assay_scheme_vtable vt = *fake_scheme.vt;
    assay_scheme s = fake_scheme;
    (void)state;
    vt.binary = NULL;
    s.vt = &vt;
    assert_refused(assay_program_make_as_is(g, &s, false, &p, &err), &err,
                   "node 'difference' (sub): scheme 'fake' has no binary");
    assay_graph_free(g);
}

/* x[4] . w[2,4] -> y[2] */
static assay_graph *fc_graph(void)
{
    static const int8_t w[8] = {13, 3, 3, 3, 3, 3, 3, 3}; /* centred: 10 and zeros */
    assay_error err;
    assay_graph *g;
    assay_type q = codes(4), wt = codes(2), yt = codes(2);
    int weights;
    assert_ok(assay_graph_new("fc", &g, &err), &err);
    wt.rank = 2;
    wt.dim[1] = 4;
    int x = add_value(g, "x", &q);
    assert_ok(assay_graph_add_constant(g, "w", &wt, w, &weights, &err), &err);
    int y = add_value(g, "y", &yt);
    add_node(g, ASSAY_OP_FC, "product", x, weights, y);
    assert_ok(assay_graph_set_inputs(g, &x, 1, &err), &err);
    assert_ok(assay_graph_set_outputs(g, &y, 1, &err), &err);
    return g;
}

static void test_trap(void **state)
{
    assay_error err;
    assay_graph *g = fc_graph();
    assay_program *p;
    assay_run *r;
    (void)state;
    assert_ok(assay_program_make_as_is(g, &fake_scheme, false, &p, &err), &err);
    assert_ok(assay_run_new(p, &r, &err), &err);
    ((int8_t *)assay_run_data(r, g->input[0]))[0] = 103; /* the sum is 1000 */
    fake_trap = 1000;
    assert_ok(run_execute(r, NULL, false, NULL, &err), &err);
    fake_trap = 999;
    assay_status status = run_execute(r, NULL, false, NULL, &err);
    fake_trap = INT64_MAX;
    assert_int_equal(status, ASSAY_ERR_SCHEME);
    assert_refused(status, &err, "node 'product': the accumulator of element 0 of 'y'");
    assay_run_free(r);
    assay_program_free(p);
    assay_graph_free(g);
}

static void test_variable(void **state)
{
    static const int8_t start[3] = {1, 2, 3};
    assay_error err;
    assay_graph *g;
    assay_program *p;
    assay_run *r;
    assay_type q = codes(3);
    int v;
    (void)state;
    assert_ok(assay_graph_new("state", &g, &err), &err);
    assert_ok(assay_graph_add_variable(g, "v", &q, start, &v, &err), &err);
    int y = add_value(g, "y", &q);
    add_node(g, ASSAY_OP_RELU, "use", v, -1, y);
    assert_ok(assay_graph_set_outputs(g, &y, 1, &err), &err);
    assert_ok(assay_program_make_as_is(g, &fake_scheme, false, &p, &err), &err);
    assert_ok(assay_run_new(p, &r, &err), &err);
    int8_t *held = assay_run_data(r, v), *out = assay_run_data(r, y);
    assert_memory_equal(held, start, 3);
    held[0] = 5;
    assert_ok(run_execute(r, NULL, false, NULL, &err), &err);
    assert_int_equal(held[0], 5);
    assert_int_equal(out[0], 0);
    assay_run_reset(r);
    assert_memory_equal(held, start, 3);
    assert_memory_equal(g->value[v].data, start, 3);
    assay_run_free(r);
    assay_program_free(p);
    assay_graph_free(g);
}

/* Bounds given as codes clamp to those very codes, whatever the scale, under every preset. */
static void test_code_bounds(void **state)
{
    test_rng r = test_seed("code bounds", 1);
    (void)state;
    for (const char *const *name = assay_scheme_presets(); *name; name++)
        for (int t = 0; t < 100; t++) {
            assay_error err;
            assay_scheme *s;
            assay_graph *g;
            assay_program *p;
            assay_run *run;
            assay_type q = codes(256);
            /* a power of two and zero point 0 suit every preset; others take any */
            bool any = strstr(*name, "npu") == NULL;
            float scale[1] = {any ? (float)(test_unit(&r) + 1e-3) : 0.125f};
            int32_t zero[1] = {any ? (int32_t)test_between(&r, -128, 127) : 0};
            int32_t lo = (int32_t)test_between(&r, -128, 127);
            int32_t hi = (int32_t)test_between(&r, lo, 127);
            q.q.scale = scale;
            q.q.zero_point = zero;
            q.rank = 2;
            q.dim[1] = 1;
            assert_ok(assay_scheme_open(*name, &s, &err), &err);
            assert_ok(assay_graph_new("bounds", &g, &err), &err);
            int x = add_value(g, "x", &q), y = add_value(g, "y", &q);
            assay_attrs a;
            assay_attrs_defaults(ASSAY_ATTRS_reduce, &a);
            a.reduce.axes = (assay_list){1, {1}};
            assert_ok(
                assay_graph_add_node(g, ASSAY_OP_REDUCE_MAX, "max", &x, 1, &y, 1, &a, NULL, &err),
                &err);
            g->node[0].has_code_bounds = true;
            g->node[0].code_lo = lo;
            g->node[0].code_hi = hi;
            assert_ok(assay_graph_set_inputs(g, &x, 1, &err), &err);
            assert_ok(assay_graph_set_outputs(g, &y, 1, &err), &err);
            assert_ok(assay_program_make_as_is(g, s, false, &p, &err), &err);
            assert_ok(assay_run_new(p, &run, &err), &err);
            for (int i = 0; i < 256; i++)
                ((int8_t *)assay_run_data(run, x))[i] = (int8_t)(i - 128);
            assert_ok(run_execute(run, NULL, false, NULL, &err), &err);
            for (int i = 0; i < 256; i++) {
                int32_t expected = i - 128 < lo ? lo : i - 128 > hi ? hi : i - 128;
                assert_int_equal(((int8_t *)assay_run_data(run, y))[i], expected);
            }
            assay_run_free(run);
            assay_program_free(p);
            assay_graph_free(g);
            assay_scheme_free(s);
        }
}

/* ---- one program, many runs at once ---- */

typedef struct worker {
    const assay_program *program;
    int seed;
    bool good;
} worker;

static void *work(void *user)
{
    worker *w = user;
    const assay_graph *g = w->program->graph;
    assay_error err;
    assay_run *r;
    if (assay_run_new(w->program, &r, &err))
        return NULL;
    w->good = true;
    for (int i = 0; i < 2000; i++) {
        int8_t x = (int8_t)((i * 7 + w->seed) % 100);
        memset(assay_run_data(r, g->input[0]), x, 4);
        if (run_execute(r, NULL, i % 2, NULL, &err))
            w->good = false;
        const int8_t *y = assay_run_data(r, g->output[0]);
        int32_t sum = 10 * (x - 3);
        w->good = w->good && y[0] == fake_saturate(assay_int(8, true), fake_floor_div(sum, 16)) &&
                  y[1] == 1;
    }
    assay_run_free(r);
    return NULL;
}

static void test_threads(void **state)
{
    assay_error err;
    assay_graph *g = fc_graph();
    assay_program *p;
    pthread_t thread[3];
    worker w[3];
    (void)state;
    assert_ok(assay_program_make_as_is(g, &fake_scheme, false, &p, &err), &err);
    for (int i = 0; i < 3; i++) {
        w[i] = (worker){p, 31 * i, false};
        assert_int_equal(pthread_create(&thread[i], NULL, work, &w[i]), 0);
    }
    for (int i = 0; i < 3; i++) {
        pthread_join(thread[i], NULL);
        assert_true(w[i].good);
    }
    assay_program_free(p);
    assay_graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mixed),    cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_vtable),   cmocka_unit_test(test_trap),
        cmocka_unit_test(test_variable), cmocka_unit_test(test_code_bounds),
        cmocka_unit_test(test_threads),
    };
    return cmocka_run_group_tests_name("program", tests, NULL, NULL);
}
