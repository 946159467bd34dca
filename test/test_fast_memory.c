/* Every allocation of preparing and of running a program under the fast engine, or both engines,
 * may fail: the answer is ASSAY_ERR_MEMORY, and nothing leaks (run under ASan).
 *
 * The linker wraps malloc and its kin (test/meson.build). OpenMP's own are its own affair. */
#include "test/support.h"

#include <stdlib.h>
#include <string.h>

#include "bench/nets.h"
#include "graph/text.h"
#include "interp/program.h"
#include "schemes/scheme.h"
#include "test/alloc_fails.h"

/* Nodes of every family that the engine takes: tables, reductions, products, transposed ones. */
static const char ops[] = "graph net {\n"
                          "  input f: f32[1,2,8,8]\n"
                          "  x: i8[1,2,8,8] q(0.05,3) = quantize(f)\n"
                          "  const w: i8[2,4,1,1] q(0.02,0) = [1,2,3,-4,-5,-127,90,12]\n"
                          "  t: i8[1,4,15,15] q(0.2,-5) = conv_transpose(x, w) {stride=[2,2]}\n"
                          "  u: i8[1,4,15,15] q(0.00390625,-128) = sigmoid(t)\n"
                          "  s: i8[1,4,15,15] q(0.1,0) = mul(u, t)\n"
                          "  m: i8[1,4,15,15] q(0.1,0) = matmul(s, u)\n"
                          "  r: i8[1,4,15] q(0.1,0) = reduce_mean(m) {axes=[3],keepdims=false}\n"
                          "  p: i8[1,4,15] q(0.00390625,-128) = softmax(r) {axis=2}\n"
                          "  y: f32[1,4,15] = dequantize(p)\n"
                          "  n: i8[1,4,30,30] q(0.1,0) = resize(s) {size=[1,4,30,30]}\n"
                          "  l: i8[1,4,9,40] q(0.1,0) = resize(n) {size=[1,4,9,40],mode=linear}\n"
                          "  const gamma: i16[1] q(0.001,0) = [900]\n"
                          "  z: i8[1,4,9,40] q(0.1,0) = layer_norm(l, gamma)\n"
                          "  a: i8[1,4,8,39] q(0.1,0) = avg_pool(z) {kernel=[2,2]}\n"
                          "  b: i8[1,4,7,38] q(0.1,0) = max_pool(a) {kernel=[2,2]}\n"
                          "  c: i16[1,4,7,38] q(0.001,0) = rescale(b)\n"
                          "  d: i16[1,4,7] q(0.001,0) = reduce_sum(c) {axes=[3],keepdims=false}\n"
                          "  e: i16[1,7,4] q(0.001,0) = transpose(d) {perm=[0,2,1]}\n"
                          "  output y\n"
                          "  output e\n"
                          "}\n";

/* A program of g prepared and run while allocation number `at` fails (0: none). Threads take
 * nothing of their own: they share the run's scratch. */
static assay_status attempt(const assay_graph *g, const assay_scheme *s, enum assay_engine engine,
                            long at)
{
    const assay_program_options o = {.engine = engine, .outputs_only = true, .threads = 2};
    assay_program *p = NULL;
    assay_run *run = NULL;
    assay_error err;
    alloc_countdown = at;
    assay_status status = assay_program_make_with(g, s, &o, &p, &err);
    if (status == ASSAY_OK)
        status = assay_run_new(p, &run, &err);
    if (status == ASSAY_OK)
        status = assay_run_execute(run, NULL, engine == ASSAY_ENGINE_BOTH, NULL, &err);
    alloc_countdown = 0;
    assay_run_free(run);
    assay_program_free(p);
    return status;
}

static void check(const assay_graph *g, const char *scheme)
{
    assay_scheme *s;
    assay_error err;
    assert_ok(assay_scheme_open(scheme, &s, &err), &err);
    for (int engine = ASSAY_ENGINE_FAST; engine <= ASSAY_ENGINE_BOTH; engine++) {
        long at = 1;
        assay_status status;
        assert_int_equal(attempt(g, s, (enum assay_engine)engine, 0), ASSAY_OK);
        while ((status = attempt(g, s, (enum assay_engine)engine, at)) != ASSAY_OK) {
            if (status != ASSAY_ERR_MEMORY)
                fail_msg("allocation %ld: status %d", at, (int)status);
            at++;
        }
        print_message("# %s, engine %d: %ld allocations\n", scheme, engine, at - 1);
        assert_true(at > 10);
    }
    assay_scheme_free(s);
}

static void networks(void **state)
{
    const bench_form forms[] = {{ASSAY_LAYOUT_NCHW, false, 1}, {ASSAY_LAYOUT_NHWC, true, 2}};
    assay_graph *g;
    assay_error err;
    (void)state;
    for (int i = 0; i < 2; i++) {
        assert_ok(bench_ds_cnn(&forms[i], &g, &err), &err);
        check(g, i ? "tflite" : "onnxruntime");
        assay_graph_free(g);
    }
}

static void other_ops(void **state)
{
    assay_graph *g;
    assay_error err;
    (void)state;
    assert_ok(assay_graph_parse(ops, strlen(ops), "t", NULL, &g, &err), &err);
    check(g, "tflite");
    assay_graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(networks), cmocka_unit_test(other_ops)};
    return cmocka_run_group_tests_name("fast_memory", tests, NULL, NULL);
}
