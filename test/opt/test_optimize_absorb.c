/* Rescales absorbed by the node that makes their input or by the one behind them: a test for every
 * op that the rules speak of, and what must be refused. */
#include "test/support/rewrite_case.h"

#include <stdio.h>
#include <string.h>

/* The network's one rescale goes, by the rule that the log names; no bit changes. */
static void expect_absorbed(const char *scheme, const char *text, const char *log)
{
    rewrite_expect_exact(scheme, text, log, "output", "rescale(");
}

#define BIAS1     "const b: i32[1] q(0.001,0) = [100]\n"
#define MAPPED(n) "r: u8" n " q(0.5,128) = rescale(c) output r }"

static void up_into_weighted_layers(void **state)
{
    static const char *const layers[] = {
        /* depthwise, by channel */
        "graph t { input x: i8[1,2,3,3] q(0.1,0)\n"
        "const w: i8[2,1,2,2] q(axis=0,[0.01,0.02],[0,0]) = [1,2,3,4,-90,100,-110,120]\n"
        "const b: i32[2] q(axis=0,[0.001,0.002],[0,0]) = [100,-200]\n"
        "c: i8[1,2,2,2] q(0.5,0) = conv(x,w,b) {kernel=[2,2],group=2}\n" MAPPED("[1,2,2,2]"),
        /* fully connected, by row */
        "graph t { input x: i8[2,3] q(0.1,0)\n"
        "const w: i8[2,3] q(axis=0,[0.01,0.02],[0,0]) = [1,2,-3,-90,100,120]\n"
        "const b: i32[2] q(axis=0,[0.001,0.002],[0,0]) = [100,-200]\n"
        "c: i8[2,2] q(0.5,0) = fc(x,w,b)\n" MAPPED("[2,2]"),
        /* transposed convolution */
        "graph t { input x: i8[1,2,2,2] q(0.1,0)\n"
        "const w: i8[2,1,2,2] q(0.01,0) = [1,2,3,4,-90,100,-110,120]\n" BIAS1
        "c: i8[1,1,4,4] q(0.5,0) = conv_transpose(x,w,b) {kernel=[2,2],stride=[2,2]}\n" MAPPED(
            "[1,1,4,4]"),
        /* the same by channel, channels last */
        "graph t { input x: i8[1,2,2,2] q(0.1,0)\n"
        "const w: i8[2,2,2,2] q(axis=0,[0.01,0.03],[0,0]) = "
        "[1,2,3,4,-90,100,-110,120,5,6,7,8,9,10,11,12]\n"
        "c: i8[1,4,4,2] q(0.5,0) = conv_transpose(x,w) "
        "{layout=nhwc,kernel=[2,2],stride=[2,2]}\n" MAPPED("[1,4,4,2]"),
        /* two groups of it */
        "graph t { input x: i8[1,4,2,2] q(0.1,0)\n"
        "const w: i8[4,1,1,1] q(0.01,0) = [100,-20,30,127]\n"
        "c: i8[1,2,2,2] q(0.5,0) = conv_transpose(x,w) {group=2}\n" MAPPED("[1,2,2,2]"),
        /* matrix product of two inputs */
        "graph t { input x: i8[2,3] q(0.1,0) input z: i8[3,2] q(0.02,1)\n"
        "c: i8[2,2] q(0.5,0) = matmul(x,z)\n" MAPPED("[2,2]"),
        /* with parameters for each column */
        "graph t { input x: i8[2,3] q(0.1,0)\n"
        "const w: i8[3,2] q(axis=1,[0.01,0.02],[0,0]) = [1,2,-3,-90,100,120]\n"
        "c: i8[2,2] q(0.5,0) = matmul(x,w)\n" MAPPED("[2,2]"),
        "graph t { input x: i8[2,3] q(0.1,0)\n"
        "const w: i8[2,3] q(axis=0,[0.01,0.02],[0,0]) = [1,2,-3,-90,100,120]\n"
        "c: i8[2,2] q(0.5,0) = matmul(x,w) {transpose_b=true}\n" MAPPED("[2,2]"),
    };
    (void)state;
    for (size_t i = 0; i < sizeof layers / sizeof *layers; i++)
        expect_absorbed("tosa-single", layers[i],
                        "absorb-up-weighted: r after c: exact: reachable [");
}

static void what_rounds_is_refused(void **state)
{
    (void)state;
    rewrite_expect_refused("tflite",
                           "graph t { input x: i8[1,2,2,2] q(0.1,0)\n"
                           "const w: i8[2,1,2,2] q(0.01,0) = [1,2,3,4,-90,100,-110,120]\n"
                           "c: i8[1,1,4,4] q(0.5,0) = conv_transpose(x,w) "
                           "{kernel=[2,2],stride=[2,2]}\n"
                           "r: i8[1,1,4,4] q(0.7,3) = rescale(c) output r }",
                           "absorb-up-weighted: r after c: refused, differs by", "accumulator ");
    rewrite_expect_refused("tflite",
                           "graph t { input x: i8[2,3] q(0.1,0)\n"
                           "const w: i8[3,2] q(axis=1,[0.01,0.02],[0,0]) = [1,2,-3,-90,100,120]\n"
                           "c: i8[2,2] q(0.5,0) = matmul(x,w)\n"
                           "r: i8[2,2] q(0.7,3) = rescale(c) output r }",
                           "absorb-up-weighted: r after c: refused, differs by", "of channel ");
}

static void up_into_two_operands(void **state)
{
    static const char *const ops[] = {"add", "sub", "mul"};
    char text[300], log[100];
    (void)state;
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
        snprintf(text, sizeof text,
                 "graph t { input x: i8[4] q(0.1,0) input z: i8[4] q(0.3,4)\n"
                 "c: i8[4] q(0.5,0) = %s(x, z)\n" MAPPED("[4]"),
                 ops[i]);
        snprintf(log, sizeof log, "absorb-up: r after c: exact: 65536/65536");
        expect_absorbed("tosa-single", text, log);
    }
}

static void up_into_quantize_and_constants(void **state)
{
    (void)state;
    expect_absorbed("tflite",
                    "graph t { input x: f32[4] c: i8[4] q(0.5,0) = quantize(x)\n" MAPPED("[4]"),
                    "absorb-up-quantize: r after c: exact: thresholds equal");
    expect_absorbed("tflite",
                    "graph t { input x: i8[2] q(0.1,0) const k: i8[2] q(0.1,0) = [3,-4]\n"
                    "r: i8[2] q(0.3,5) = rescale(k) y: i8[2] q(0.3,5) = add(x, r) output y }",
                    "constant: r");
}

static void down_into_weighted_layers(void **state)
{
    static const char *const layers[] = {
        "graph t { input x: i8[1,2,3,3] q(0.1,0) a: u8[1,2,3,3] q(0.1,128) = rescale(x)\n"
        "const w: i8[2,1,2,2] q(axis=0,[0.01,0.02],[0,0]) = [1,2,3,4,-90,100,-110,120]\n"
        "c: i8[1,2,2,2] q(0.5,0) = conv(a,w) {kernel=[2,2],group=2} output c }",
        "graph t { input x: i8[2,3] q(0.1,0) a: u8[2,3] q(0.1,128) = rescale(x)\n"
        "const w: i8[2,3] q(axis=0,[0.01,0.02],[0,0]) = [1,2,-3,-90,100,120]\n"
        "const b: i32[2] q(axis=0,[0.001,0.002],[0,0]) = [100,-200]\n"
        "c: i8[2,2] q(0.5,0) = fc(a,w,b) output c }",
        "graph t { input x: i8[1,2,2,2] q(0.1,0) a: u8[1,2,2,2] q(0.1,128) = rescale(x)\n"
        "const w: i8[2,1,2,2] q(0.01,0) = [1,2,3,4,-90,100,-110,120]\n"
        "c: i8[1,1,4,4] q(0.5,0) = conv_transpose(a,w) {kernel=[2,2],stride=[2,2]} output c }",
        "graph t { input x: i8[2,3] q(0.1,0) input z: i8[3,2] q(0.02,1)\n"
        "a: u8[2,3] q(0.1,128) = rescale(x) c: i8[2,2] q(0.5,0) = matmul(a,z) output c }",
        "graph t { input x: i8[2,3] q(0.1,0) input z: i8[3,2] q(0.02,1)\n"
        "a: u8[3,2] q(0.02,129) = rescale(z) c: i8[2,2] q(0.5,0) = matmul(x,a) output c }",
        "graph t { input x: i8[2,3] q(0.1,0) a: u8[2,3] q(0.1,128) = rescale(x)\n"
        "const w: i8[3,2] q(axis=1,[0.01,0.02],[0,0]) = [1,2,-3,-90,100,120]\n"
        "c: i8[2,2] q(0.5,0) = matmul(a,w) output c }",
        /* a rescale by two in front of the second operand */
        "graph t { input x: i8[2,3] q(0.1,0) input z: i4[3,2] q(0.04,0)\n"
        "a: i8[3,2] q(0.02,0) = rescale(z) c: i8[2,2] q(0.5,0) = matmul(x,a) output c }",
    };
    (void)state;
    for (size_t i = 0; i < sizeof layers / sizeof *layers; i++)
        expect_absorbed("tosa-single", layers[i],
                        "absorb-down-weighted: c after a: exact: reachable [");
}

/* A value's product with itself keeps its rescale, of whose errors and operands no certificate
 * speaks. */
static void a_square_is_left(void **state)
{
    static const char *const squares[] = {
        "graph t { input x: i8[2,3] q(0.1,0) a: u8[2,3] q(0.1,128) = rescale(x)\n"
        "c: i8[2,2] q(0.5,0) = matmul(a,a) {transpose_b=true} output c }",
        "graph t { input x: i8[2,2] q(0.1,0) a: i8[2,2] q(0.07,3) = rescale(x)\n"
        "c: i8[2,2] q(0.5,0) = matmul(a,a) output c }",
    };
    (void)state;
    for (size_t i = 0; i < sizeof squares / sizeof *squares; i++)
        for (int bound = 0; bound < 2; bound++) {
            const assay_optimize_options options = {.allow = bound ? ASSAY_ALLOW_ANY
                                                                   : ASSAY_ALLOW_EXACT};
            rewrite_outcome o = rewrite_with("onnxruntime", squares[i], &options);
            rewrite_has(o.text.text, "matmul(a, a)");
            rewrite_certified(&o);
            rewrite_finish(&o);
        }
}

static void down_into_two_operands(void **state)
{
    static const char *const ops[] = {"add", "sub", "mul", "min", "max"};
    char text[300];
    (void)state;
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
        snprintf(text, sizeof text,
                 "graph t { input x: i8[4] q(0.25,0) input z: i8[4] q(0.25,4)\n"
                 "a: u8[4] q(0.25,128) = rescale(x) c: i8[4] q(0.25,0) = %s(a, z) output c }",
                 ops[i]);
        expect_absorbed("tosa-single", text, "absorb-down: c after a: exact: 65536/65536");
        snprintf(text, sizeof text,
                 "graph t { input x: i8[4] q(0.25,0) input z: i8[4] q(0.25,4)\n"
                 "a: u8[4] q(0.25,128) = rescale(x) c: i8[4] q(0.25,0) = %s(z, a) output c }",
                 ops[i]);
        expect_absorbed("tosa-single", text, "absorb-down: c after a: exact: 65536/65536");
    }
    rewrite_expect_refused("tflite",
                           "graph t { input x: i8[4] q(0.25,0) input z: i8[4] q(0.25,4)\n"
                           "a: i8[4] q(0.125,0) = rescale(x)\n"
                           "c: i8[4] q(0.25,0) = sub(a, z) output c }",
                           "absorb-down: c after a: refused, differs by", "became");
}

/* One more product and the sum may leave the accumulator. */
static void sums_that_may_overflow_are_refused(void **state)
{
    (void)state;
    rewrite_expect_refused(
        "npu16",
        "graph t { input x: i16[1,4] q(0.1,0) a: i16[1,4] q(0.05,0) = rescale(x)\n"
        "const w: i16[1,4] q(0.01,0) = [32767,32767,32767,32767]\n"
        "c: i16[1,1] q(0.5,0) = fc(a,w) output c }",
        "absorb-down-weighted: c after a: refused", "became");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(up_into_weighted_layers),
        cmocka_unit_test(what_rounds_is_refused),
        cmocka_unit_test(up_into_two_operands),
        cmocka_unit_test(up_into_quantize_and_constants),
        cmocka_unit_test(down_into_weighted_layers),
        cmocka_unit_test(a_square_is_left),
        cmocka_unit_test(down_into_two_operands),
        cmocka_unit_test(sums_that_may_overflow_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
