/* A compiler's unit test: what its code gave is dumped, and the test asserts on the cause. All but
 * the test's own helpers goes through the public header. */
#include "test/support/support.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* An addition and a rescale, from codes. */
static const char text[] = "graph two { input a: i8[8,16] q(0.5,3) input b: i8[8,16] q(0.25,-7)\n"
                           " s: i8[8,16] q(0.7,1) = add(a, b)\n"
                           " y: i8[8,16] q(0.9,-4) = rescale(s)\n output y }\n";
enum { ELEMENTS = 128 };

typedef struct bench {
    char dir[2048], golden[2100], device[2100];
    assay_graph *graph;
    assay_scheme *scheme;
    assay_program *program;
    assay_run *run;
} bench;

static void bench_open(bench *b)
{
    char path[2100];
    assay_error err;
    test_temp_dir(b->dir, sizeof b->dir);
    snprintf(path, sizeof path, "%s/two.assay", b->dir);
    snprintf(b->golden, sizeof b->golden, "%s/golden", b->dir);
    snprintf(b->device, sizeof b->device, "%s/device", b->dir);
    test_write_file(path, text, sizeof text - 1);
    assert_int_equal(mkdir(b->device, 0777), 0);
    assert_ok(assay_load(path, &b->graph, &err), &err);
    assert_ok(assay_scheme_open("tflite", &b->scheme, &err), &err);
    assert_ok(assay_program_make(b->graph, b->scheme, true, &b->program, &err), &err);
    assert_ok(assay_run_new(b->program, &b->run, &err), &err);
    for (int i = 0; i < 2; i++) {
        int8_t *x = assay_run_data(b->run, assay_input(b->graph, i));
        for (int k = 0; k < ELEMENTS; k++)
            x[k] = (int8_t)((k * (37 + 22 * i)) % 255 - 127);
    }
    assert_ok(assay_golden(b->program, b->run, b->golden, false, NULL, &err), &err);
}

static void bench_close(bench *b)
{
    assay_run_free(b->run);
    assay_program_free(b->program);
    assay_scheme_free(b->scheme);
    assay_graph_free(b->graph);
    test_remove_tree(b->dir);
}

static void dump(const bench *b, const char *name, const int8_t *codes)
{
    char path[2200];
    snprintf(path, sizeof path, "%s/%s.bin", b->device, name);
    test_write_file(path, codes, ELEMENTS);
}

/* Under test: code whose addition leaves bit 1 set, followed by a right rescale. */
static void run_faulty(const bench *b, int8_t *s, int8_t *y)
{
    const void *in[1] = {s};
    void *const out[1] = {y};
    assay_error err;
    memcpy(s, assay_run_data(b->run, assay_value_find(b->graph, "s")), ELEMENTS);
    for (int k = 0; k < ELEMENTS; k++)
        s[k] = (int8_t)(s[k] | 2);
    assert_ok(assay_replay_node(b->program, 1, in, out, NULL, &err), &err);
}

static void cause_of_a_fault(void **state)
{
    bench b;
    const assay_blame_report *r;
    assay_error err;
    int8_t s[ELEMENTS], y[ELEMENTS];
    (void)state;
    bench_open(&b);
    run_faulty(&b, s, y);
    dump(&b, "s", s);
    dump(&b, "y", y);
    assert_ok(assay_blame(b.golden, b.device, NULL, &r, &err), &err);
    assert_int_equal(r->n_faults, 1);
    assert_string_equal(r->fault[0].cause, "stuck_bit");
    assert_string_equal(r->fault[0].detail, "bit 1 is always 1");
    assert_string_equal(r->fault[0].at->name, "s");
    assert_string_equal(r->fault[0].causes[0], "stuck_bit");
    assert_int_equal(r->fault[0].elements, ELEMENTS);
    assert_true(r->fault[0].differing > 0 && r->fault[0].explained == 1.0);
    assert_int_equal(r->n_nodes, 2);
    assert_int_equal(r->node[0].verdict, ASSAY_BLAME_OWN);
    assert_int_equal(r->node[1].verdict, ASSAY_BLAME_INHERITED);
    assert_int_equal(r->node[1].differing_isolated, 0);
    assay_blame_free(r);
    bench_close(&b);
}

static void clean(void **state)
{
    bench b;
    const assay_blame_options o = {.rel = -1, .threads = 1};
    const assay_blame_report *r;
    assay_error err;
    (void)state;
    bench_open(&b);
    dump(&b, "y", assay_run_data(b.run, assay_output(b.graph, 0)));
    assert_ok(assay_blame(b.golden, b.device, &o, &r, &err), &err);
    assert_int_equal(r->n_faults, 0);
    assert_int_equal(r->node[0].verdict, ASSAY_BLAME_NOT_DUMPED);
    assert_int_equal(r->node[0].differing_cumulative, -1);
    assert_int_equal(r->node[1].verdict, ASSAY_BLAME_CLEAN);
    assay_blame_free(r);
    assay_blame_free(NULL);
    assert_refused(assay_blame(b.golden, b.dir, &o, &r, &err), &err, "nothing to blame");
    assert_null(r);
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cause_of_a_fault),
        cmocka_unit_test(clean),
    };
    return cmocka_run_group_tests_name("api_blame", tests, NULL, NULL);
}
