/* Engine `both` on a fast engine that is wrong on purpose: the first element that differs is named,
 * with its node, value, coordinates and both numbers, in either layout, in batches, in
 * accumulators, in bodies of control flow; what comes after it is not computed. */
#include "test/support/support.h"

#include <stdio.h>
#include <string.h>

#include "graph/text/text.h"
#include "interp/fast/fast.h"
#include "interp/run/program.h"
#include "schemes/scheme.h"

/* A 2x2 window of ones over zeros: every code is the zero point, 3, every sum 0. */
#define WEIGHTS(SHAPE)                                                                             \
    "  const w: i8" SHAPE " q(0.1,0) = [1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]\n"
static const char nchw[] = "graph net {\n"
                           "  input x: i8[2,2,5,6] q(0.1,0)\n" WEIGHTS(
                               "[3,2,2,2]") "  y: i8[2,3,4,5] q(0.1,3) = conv(x, w)\n"
                                            "  z: i8[2,3,4,5] q(0.1,3) = relu(y)\n"
                                            "  output z\n}\n";
static const char nhwc[] = "graph net {\n"
                           "  input x: i8[2,5,6,2] q(0.1,0)\n" WEIGHTS(
                               "[3,2,2,2]") "  y: i8[2,4,5,3] q(0.1,3) = conv(x, w) {layout=nhwc}\n"
                                            "  z: i8[2,4,5,3] q(0.1,3) = relu(y)\n"
                                            "  output z\n}\n";
static const char body[] =
    "graph net {\n"
    "  input p: bool[]\n"
    "  input x: i8[2,2,5,6] q(0.1,0)\n"
    "  graph yes {\n"
    "    input x: i8[2,2,5,6] q(0.1,0)\n" WEIGHTS(
        "[3,2,2,2]") "    y: i8[2,3,4,5] q(0.1,3) = conv(x, w)\n"
                     "    output y\n  }\n"
                     "  graph no {\n"
                     "    input x: i8[2,2,5,6] q(0.1,0)\n" WEIGHTS(
                         "[3,2,2,2]") "    y: i8[2,3,4,5] q(0.1,3) = conv(x, w)\n"
                                      "    output y\n  }\n"
                                      "  z: i8[2,3,4,5] q(0.1,3) = if(p, x)\n"
                                      "  output z\n}\n";

enum { WRONG = 97, LATER = 101 }; /* elements of y */

static assay_status wrong_codes(const assay_fast *f, assay_call *call, assay_error *err)
{
    int8_t *y = call->out[0].data;
    (void)f;
    (void)err;
    memset(y, 3, (size_t)assay_shape_count(call->out[0].type));
    y[WRONG] = 4;
    y[LATER] = 9;
    return ASSAY_OK;
}

/* The codes are right, since 1 of a sum is less than half a code. */
static assay_status wrong_sums(const assay_fast *f, assay_call *call, assay_error *err)
{
    const int64_t count = assay_shape_count(call->out[0].type);
    (void)f;
    (void)err;
    memset(call->out[0].data, 3, (size_t)count);
    memset(call->accumulators, 0, (size_t)count * sizeof *call->accumulators);
    call->accumulators[WRONG] = 1;
    return ASSAY_OK;
}

static assay_status unreached(const assay_fast *f, assay_call *call, assay_error *err)
{
    (void)f;
    (void)call;
    return assay_fail(err, ASSAY_ERR_INTERNAL, "it went on after the difference");
}

typedef assay_status (*wrong_fn)(const assay_fast *, assay_call *, assay_error *);

static void check(const char *text, wrong_fn wrong, bool accumulators, const char *expected)
{
    const assay_program_options o = {.engine = ASSAY_ENGINE_BOTH};
    assay_scheme *s;
    assay_graph *g;
    assay_program *p;
    assay_run *r;
    assay_error err;
    assert_ok(assay_scheme_open("tflite", &s, &err), &err);
    assert_ok(text_graph_parse(text, strlen(text), "t", NULL, &g, &err), &err);
    assert_ok(run_program_make_with(g, s, &o, &p, &err), &err);
    assert_ok(assay_run_new(p, &r, &err), &err);
    const int x = g->input[g->n_inputs - 1];
    assert_ok(run_execute(r, NULL, accumulators, NULL, &err), &err); /* as it is */
    assay_program *inner = g->n_subgraphs ? p->body[1] : p;          /* p: false */
    assert_non_null(inner->fast[0]);
    inner->fast[0]->run = wrong;
    if (!g->n_subgraphs) {
        assert_non_null(p->fast[1]);
        p->fast[1]->run = unreached;
    }
    memset(assay_run_data(r, x), 0, assay_type_bytes(&g->value[x].type)); /* z was there */
    assert_int_equal(run_execute(r, NULL, accumulators, NULL, &err), ASSAY_ERR_INTERNAL);
    assert_string_equal(err.text, expected);
    assay_run_free(r);
    assay_program_free(p);
    assay_graph_free(g);
    assay_scheme_free(s);
}

/* Element 97 of [2,3,4,5] is 1 * 60 + 1 * 20 + 3 * 5 + 2. */
static void test_channels_first(void **state)
{
    (void)state;
    check(nchw, wrong_codes, false,
          "node 'y': the code of 'y' at [1,1,3,2] is 3 by the reference, 4 by the fast engine");
}

/* Of [2,4,5,3] it is 1 * 60 + 2 * 15 + 2 * 3 + 1. */
static void test_channels_last(void **state)
{
    (void)state;
    check(nhwc, wrong_codes, false,
          "node 'y': the code of 'y' at [1,2,2,1] is 3 by the reference, 4 by the fast engine");
}

static void test_accumulators(void **state)
{
    (void)state;
    check(nhwc, wrong_sums, true,
          "node 'y': the accumulator of 'y' at [1,2,2,1] is 0 by the reference, 1 by the fast "
          "engine");
}

static void test_in_a_body(void **state)
{
    (void)state;
    check(body, wrong_codes, false,
          "node 'y': the code of 'y' at [1,1,3,2] is 3 by the reference, 4 by the fast engine");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_channels_first), cmocka_unit_test(test_channels_last),
        cmocka_unit_test(test_accumulators), cmocka_unit_test(test_in_a_body)};
    return cmocka_run_group_tests_name("both", tests, NULL, NULL);
}
