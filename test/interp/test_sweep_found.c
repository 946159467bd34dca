/* Networks that the random sweep found, by name: each once differed between engines or between
 * runs, or ended in a crash. */
#include "test/support/support.h"

#include <stdio.h>
#include <string.h>

#include "graph/text/text.h"
#include "interp/fast/isa.h"
#include "interp/run/program.h"
#include "schemes/scheme.h"

typedef struct machine {
    assay_scheme *s;
    assay_graph *g;
    assay_program *p;
    assay_run *r;
} machine;

static machine start(const char *scheme, const char *text, const assay_program_options *o)
{
    machine m;
    assay_error err;
    assert_ok(assay_scheme_parse("t", scheme, strlen(scheme), &m.s, &err), &err);
    assert_ok(text_graph_parse(text, strlen(text), "t", NULL, &m.g, &err), &err);
    assert_ok(run_program_make_with(m.g, m.s, o, &m.p, &err), &err);
    assert_ok(assay_run_new(m.p, &m.r, &err), &err);
    return m;
}

static void stop(machine *m)
{
    assay_run_free(m->r);
    assay_program_free(m->p);
    assay_graph_free(m->g);
    assay_scheme_free(m->s);
}

/* A sum of no products is the bias; nothing was written, so that memory kept what stood there. */
static void test_fc_of_depth_0(void **state)
{
    static const char text[] = "graph net {\n"
                               "  input x: i8[2,3,0] q(0.1,0)\n"
                               "  const w: i8[2,0] q(0.1,0) = []\n"
                               "  const b: i32[2] q(0.01,0) = [100,-200]\n"
                               "  y: i8[2,3,2] q(0.1,5) = fc(x, w, b)\n"
                               "  z: i8[2,3,2] q(0.1,5) = fc(x, w)\n"
                               "  output y\n  output z\n}\n";
    (void)state;
    for (int engine = ASSAY_ENGINE_REF; engine <= ASSAY_ENGINE_BOTH; engine++) {
        const assay_program_options o = {.engine = (enum assay_engine)engine};
        machine m = start("scheme: t\nextends: tflite\n", text, &o);
        int8_t *y = assay_run_data(m.r, m.g->output[0]), *z = assay_run_data(m.r, m.g->output[1]);
        assay_error err;
        memset(y, 77, 12);
        memset(z, 77, 12);
        assert_ok(run_execute(m.r, NULL, false, NULL, &err), &err);
        for (int i = 0; i < 12; i++) {
            assert_int_equal(y[i], i % 2 ? 5 - 20 : 5 + 10);
            assert_int_equal(z[i], 5);
        }
        stop(&m);
    }
}

/* `store: wrap` is of rescales: a softmax took its least code from the range that they then have.
 */
static void test_softmax_under_wrap(void **state)
{
    static const char *const schemes[] = {"qnnpack",         "tflite",     "onnxruntime",
                                          "pytorch-qnnpack", "litert-ref", "tflite-single"};
    static const char text[] = "graph net {\n"
                               "  input x: i8[1,4] q(0.5,0)\n"
                               "  y: i8[1,4] q(0.00390625,-128) = softmax(x)\n"
                               "  output y\n}\n";
    static const int8_t x[4] = {2, 2, 2, 2};
    int seen = 0;
    (void)state;
    for (size_t k = 0; k < sizeof schemes / sizeof *schemes; k++)
        for (int engine = ASSAY_ENGINE_REF; engine <= ASSAY_ENGINE_BOTH; engine++) {
            const assay_program_options o = {.engine = (enum assay_engine)engine};
            char scheme[120];
            assay_error err;
            strcpy(scheme, "scheme: t\nextends: ");
            strcat(scheme, schemes[k]);
            strcat(scheme, "\nrescale: {store: wrap}\n");
            machine m = start(scheme, text, &o);
            memcpy(assay_run_data(m.r, m.g->input[0]), x, sizeof x);
            assert_ok(run_execute(m.r, NULL, false, NULL, &err), &err);
            for (int i = 0; i < 4; i++) /* a quarter */
                assert_int_equal(((int8_t *)assay_run_data(m.r, m.g->output[0]))[i], 64 - 128);
            stop(&m);
            seen++;
        }
    assert_int_equal(seen, 18);
}

/* Thresholds of codes without bounds: their count was -1, and the table was written beyond. */
static void test_thresholds_under_wrap(void **state)
{
    static const char scheme[] = "scheme: t\nextends: finn-threshold\nrescale: {store: wrap}\n";
    assay_scheme *s;
    assay_error err;
    (void)state;
    assert_refused(assay_scheme_parse("t", scheme, strlen(scheme), &s, &err), &err,
                   "which have a least and a greatest code");
}

/* The scratch of a product of no codes had no room for its one result (seen by ASan). */
static void test_product_of_nothing(void **state)
{
    static const char text[] = "graph net {\n"
                               "  input x: i8[3,0] q(0.1,0)\n"
                               "  y: i8[3,1] q(1,7) = reduce_prod(x) {axes=[1]}\n"
                               "  output y\n}\n";
    const assay_program_options o = {.engine = ASSAY_ENGINE_BOTH};
    assay_error err;
    (void)state;
    machine m = start("scheme: t\nextends: tflite\n", text, &o);
    assert_true(m.p->plan->scratch_bytes >= sizeof(int32_t));
    assert_ok(run_execute(m.r, NULL, false, NULL, &err), &err);
    for (int i = 0; i < 3; i++)
        assert_int_equal(((int8_t *)assay_run_data(m.r, m.g->output[0]))[i], 7);
    stop(&m);
}

/* Rows of no elements: the mean of one was a division by zero. */
static void test_empty_rows(void **state)
{
    static const char text[] = "graph net {\n"
                               "  input x: i8[3,0] q(0.1,0)\n"
                               "  y: i8[3,0] q(0.1,0) = layer_norm(x)\n"
                               "  z: i8[3,0] q(0.00390625,-128) = softmax(x)\n"
                               "  output y\n  output z\n}\n";
    const assay_program_options o = {.engine = ASSAY_ENGINE_BOTH};
    assay_error err;
    (void)state;
    machine m = start("scheme: t\nextends: tflite\n", text, &o);
    assert_ok(run_execute(m.r, NULL, false, NULL, &err), &err);
    stop(&m);
}

/* Two sums that a target refuses: engines that go through the elements in other orders named
 * another one first. */
static void test_first_refused(void **state)
{
    static const char text[] =
        "graph net {\n"
        "  input x: i8[1,2,4] q(0.1,0)\n"
        "  y: i8[1,2,4] q(0.1,0) = avg_pool(x) {kernel=[1]}\n"
        "  z: i8[1,2,1] q(0.1,0) = reduce_mean(x) {axes=[2], keepdims=true}\n"
        "  output y\n  output z\n}\n";
    static const int8_t x[8] = {0, 0, 100, 0, 100, 0, 0, 0};
    char said[2][sizeof(((assay_error *)0)->text)];
    (void)state;
    for (int engine = ASSAY_ENGINE_REF; engine <= ASSAY_ENGINE_FAST; engine++) {
        const assay_program_options o = {.engine = (enum assay_engine)engine};
        machine m = start("scheme: t\naccumulator: {bits: 7, overflow: trap}\n", text, &o);
        assay_error err;
        memcpy(assay_run_data(m.r, m.g->input[0]), x, sizeof x);
        assert_refused(run_execute(m.r, NULL, false, NULL, &err), &err,
                       "the accumulator of element");
        snprintf(said[engine], sizeof said[engine], "%s", err.text);
        stop(&m);
    }
    assert_string_equal(said[ASSAY_ENGINE_REF], said[ASSAY_ENGINE_FAST]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_fc_of_depth_0),
                                       cmocka_unit_test(test_softmax_under_wrap),
                                       cmocka_unit_test(test_thresholds_under_wrap),
                                       cmocka_unit_test(test_product_of_nothing),
                                       cmocka_unit_test(test_empty_rows),
                                       cmocka_unit_test(test_first_refused)};
    return cmocka_run_group_tests_name("sweep_found", tests, NULL, NULL);
}
