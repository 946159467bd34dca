/* Every allocation of preparing and of running a program under the fast engine, or both engines, on
 * each instruction set, may fail: the answer is ASSAY_ERR_MEMORY, and nothing leaks (run under
 * ASan).
 *
 * The linker wraps malloc and its kin (test/meson.build). OpenMP's own are its own affair. */
#include "test/support/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/nets.h"
#include "graph/text/text.h"
#include "interp/fast/isa.h"
#include "interp/run/program.h"
#include "schemes/scheme.h"
#include "test/support/alloc_fails.h"

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
                          "  const h: i16[1] q(0.001,0) = [900]\n"
                          "  g: i16[1,4,7,38] q(0.002,0) = add(c, h)\n"
                          "  output y\n"
                          "  output e\n"
                          "  output g\n"
                          "}\n";

/* A program of g prepared and run while allocation number `at` fails (0: none). Threads take
 * nothing of their own: they share the run's scratch. */
static assay_status attempt(const assay_graph *g, const assay_scheme *s, enum assay_engine engine,
                            const char *isa, long at)
{
    const assay_program_options o = {
        .engine = engine, .outputs_only = true, .threads = 2, .isa = isa};
    assay_program *p = NULL;
    assay_run *run = NULL;
    assay_error err;
    alloc_countdown = at;
    assay_status status = run_program_make_with(g, s, &o, &p, &err);
    if (status == ASSAY_OK)
        status = assay_run_new(p, &run, &err);
    if (status == ASSAY_OK)
        status = run_execute(run, NULL, engine == ASSAY_ENGINE_BOTH, NULL, &err);
    alloc_countdown = 0;
    assay_run_free(run);
    assay_program_free(p);
    return status;
}

/* On every instruction set that is here. */
static void check(const assay_graph *g, const char *scheme, const char *more)
{
    static const char *const isas[] = {"portable", "avx2", "vnni"};
    assay_scheme *s;
    assay_error err;
    char text[200];
    snprintf(text, sizeof text, "scheme: t\nextends: %s\n%s", scheme, more);
    assert_ok(assay_scheme_parse("t", text, strlen(text), &s, &err), &err);
    for (int i = 0; i < 6; i++) {
        const enum assay_engine engine = i % 2 ? ASSAY_ENGINE_BOTH : ASSAY_ENGINE_FAST;
        const char *isa = isas[i / 2];
        const assay_isa_kernels *k;
        long at = 1;
        assay_status status;
        if (fast_isa_choose(isa, &k, &err) != ASSAY_OK)
            continue;
        assert_int_equal(attempt(g, s, engine, isa, 0), ASSAY_OK);
        while ((status = attempt(g, s, engine, isa, at)) != ASSAY_OK) {
            if (status != ASSAY_ERR_MEMORY)
                fail_msg("allocation %ld: status %d", at, (int)status);
            at++;
        }
        print_message("# %s, %s, engine %d: %ld allocations\n", scheme, isa, (int)engine, at - 1);
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
        check(g, i ? "tflite" : "onnxruntime", "");
        assay_graph_free(g);
    }
}

static void other_ops(void **state)
{
    assay_graph *g;
    assay_error err;
    (void)state;
    assert_ok(text_graph_parse(ops, strlen(ops), "t", NULL, &g, &err), &err);
    check(g, "tflite", "");
    assay_graph_free(g);
}

/* State, bodies, weights per block, weights of 4 bits, a depthwise convolution. */
static const char rest[] =
    "graph net {\n"
    "  input x: i8[1,4,6,6] q(0.01,0)\n"
    "  input p: bool[]\n"
    "  var v: i8[1,4,6,6] q(0.01,0)\n"
    "  graph yes {\n"
    "    input a: i8[1,4,6,6] q(0.01,0)\n"
    "    b: i8[1,4,6,6] q(0.02,0) = add(a, a)\n"
    "    output b\n"
    "  }\n"
    "  graph no {\n"
    "    input c: i8[1,4,6,6] q(0.01,0)\n"
    "    d: i8[1,4,6,6] q(0.02,0) = relu(c)\n"
    "    output d\n"
    "  }\n"
    "  old: i8[1,4,6,6] q(0.01,0) = read(v)\n"
    "  new: i8[1,4,6,6] q(0.01,0) = add(old, x)\n"
    "  kept: i8[1,4,6,6] q(0.01,0) = assign(v, new)\n"
    "  taken: i8[1,4,6,6] q(0.02,0) = if(p, kept)\n"
    "  const w: i8[4,1,3,3] q(0.02,0) = [1,2,3,4,5,6,7,8,9,1,2,3,4,5,6,7,8,9,1,2,3,4,5,6,7,8,9,"
    "1,2,3,4,5,6,7,8,9]\n"
    "  e: i8[1,4,4,4] q(0.2,0) = conv(taken, w) {group=4}\n"
    "  const k: i4[2,4] q(axis=1,block=2,[0.02,0.03,0.01,0.02],[0,0,0,0]) = [1,2,3,-4,-5,-7,0,3]\n"
    "  f: i8[1,4,16] q(0.2,0) = reshape(e) {shape=[1,4,16]}\n"
    "  t: i8[1,16,4] q(0.2,0) = transpose(f) {perm=[0,2,1]}\n"
    "  m: i8[1,16,2] q(0.2,0) = fc(t, k)\n"
    "  const l: i4[2,4] q(0.02,0) = [1,2,3,-4,-5,-7,0,3]\n"
    "  y: i8[1,16,2] q(0.2,0) = fc(t, l)\n"
    "  output m\n"
    "  output y\n"
    "}\n";

static void state_and_bodies(void **state)
{
    assay_graph *g;
    assay_error err;
    (void)state;
    assert_ok(text_graph_parse(rest, strlen(rest), "t", NULL, &g, &err), &err);
    check(g, "tflite", "blocks: {kind: multiplier}\n");
    assay_graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(networks), cmocka_unit_test(other_ops),
                                       cmocka_unit_test(state_and_bodies)};
    return cmocka_run_group_tests_name("fast_memory", tests, NULL, NULL);
}
