/* Rescales that sink: a test for every op that the rules speak of, and what must be refused. */
#include "test/support/rewrite_case.h"

#include <stdio.h>
#include <string.h>

/* Codes x and rescaled codes a, both of one shape. */
#define RESCALED(shape)                                                                            \
    "graph t { input x: i8" shape " q(0.1,0)\na: i8" shape " q(0.3,5) = rescale(x)\n"
/* The same with a rescale that adds 128 to every code. */
#define SHIFTED(shape)                                                                             \
    "graph t { input x: i8" shape " q(0.1,0)\na: u8" shape " q(0.1,128) = rescale(x)\n"

static void below_a_slice(void **state)
{
    (void)state;
    rewrite_expect_exact("tflite",
                         RESCALED("[4,3]") "b: i8[2,3] q(0.3,5) = slice(a) "
                                           "{begin=[1,0],step=[2,1],size=[2,3]} output b }",
                         "sink-move: b after a: exact", "slice(x)", "slice(a)");
}

static void below_whatever_moves(void **state)
{
    static const char *const moves[] = {
        "b: i8[2,8] q(0.3,5) = expand(a) {shape=[2,8]}",
        "b: i8[1,16] q(0.3,5) = tile(a) {repeats=[1,2]}",
        "b: i8[1,8] q(0.3,5) = reverse(a) {axes=[1]}",
        "b: i8[1,2] q(0.3,5) = gather(a, i) {axis=1}",
        "b: i8[2,8] q(0.3,5) = gather_nd(a, n)",
    };
    (void)state;
    for (size_t i = 0; i < sizeof moves / sizeof *moves; i++) {
        char text[600];
        snprintf(text, sizeof text,
                 "graph t { input x: i8[1,8] q(0.1,0)\nconst i: i64[2] = [3,5]\n"
                 "const n: i64[2,1] = [0,0]\na: i8[1,8] q(0.3,5) = rescale(x)\n%s output b }",
                 moves[i]);
        rewrite_expect_exact("tflite", text, "sink-move: b after a: exact", "b: i8", "(a");
    }
    rewrite_expect_exact("tflite",
                         RESCALED("[1,4,2,2]") "b: i8[1,1,4,4] q(0.3,5) = depth_to_space(a) "
                                               "{block=2} output b }",
                         "sink-move: b after a: exact", "depth_to_space(x)", "space(a)");
    rewrite_expect_exact("tflite",
                         RESCALED("[1,1,4,4]") "b: i8[1,4,2,2] q(0.3,5) = space_to_depth(a) "
                                               "{block=2} output b }",
                         "sink-move: b after a: exact", "space_to_depth(x)", "depth(a)");
}

static void below_a_pad_whose_value_is_mapped(void **state)
{
    (void)state;
    rewrite_expect_exact(
        "tflite", RESCALED("[4]") "c: i8[6] q(0.3,5) = pad(a) {begin=[1],end=[1]} output c }",
        "sink-move: c after a: exact", "pad(x) {begin=[1], end=[1]}", "pad(a)");
    rewrite_expect_exact("tflite",
                         RESCALED("[4]") "c: i8[6] q(0.3,5) = pad(a) "
                                         "{begin=[1],end=[1],has_code=true,code=25} output c }",
                         "code 58 is rescaled to the padding", "has_code=true, code=58", "pad(a)");
    rewrite_expect_exact("tflite",
                         SHIFTED("[4]") "c: u8[6] q(0.1,128) = pad(a) "
                                        "{begin=[1],end=[1],value=-inf} output c }",
                         "sink-move: c after a: exact", "value=-inf", "pad(a)");
    rewrite_expect_exact("tflite",
                         RESCALED("[4]") "c: i8[6] q(0.3,5) = pad(a) "
                                         "{begin=[1],end=[1],mode=edge} output c }",
                         "sink-move: c after a: exact", "mode=edge", "pad(a)");
    rewrite_expect_refused("tflite",
                           RESCALED("[4]") "c: i8[6] q(0.3,5) = pad(a) "
                                           "{begin=[1],end=[1],has_code=true,code=-120} output c }",
                           "sink-move: c after a: refused, not proved: no code is rescaled to the "
                           "padding",
                           "padding: -120 became");
}

static void below_the_choice_of_a_condition(void **state)
{
    (void)state;
    rewrite_expect_exact("tflite",
                         "graph t { input x: i8[4] q(0.1,0) input z: i8[4] q(0.1,0)\n"
                         "p: bool[4] = less(x, z)\n"
                         "a: i8[4] q(0.3,5) = rescale(x) b: i8[4] q(0.3,5) = rescale(z)\n"
                         "c: i8[4] q(0.3,5) = select(p, a, b) output c }",
                         "sink-move: c after a: exact: select moves codes", "select(p, x, z)",
                         "select(p, a");
    rewrite_expect_exact("tflite",
                         "graph t { input x: i8[2,3] q(0.1,0) input p: bool[2,1]\n"
                         "a: i8[2,3] q(0.3,5) = rescale(x)\n"
                         "c: i8[2,3] q(0.3,5) = select(p, a, a) output c }",
                         "sink-move: c after a: exact", "select(p, x, x)", "select(p, a");
}

#define LINEAR "{mode=linear,size=[1,1,4,6]} output b }"

static void below_a_resize_to_the_nearest(void **state)
{
    (void)state;
    rewrite_expect_exact("tflite",
                         RESCALED("[1,1,2,3]") "b: i8[1,1,4,6] q(0.3,5) = resize(a) "
                                               "{size=[1,1,4,6]} output b }",
                         "sink-move: b after a: exact: resize moves codes", "resize(x)",
                         "resize(a)");
}

static void below_a_linear_resize_where_it_only_shifts(void **state)
{
    static const char *const schemes[] = {"tflite-single", "tosa-single", "xnnpack-qs8"};
    (void)state;
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++)
        rewrite_expect_exact(schemes[i],
                             SHIFTED("[1,1,2,3]") "b: u8[1,1,4,6] q(0.1,128) = resize(a) " LINEAR,
                             "sink-interpolation: b after a: exact: every code moves by 128",
                             "resize(x)", "resize(a)");
    /* half away from zero: where 0 lies matters */
    rewrite_expect_refused("tflite",
                           SHIFTED("[1,1,2,3]") "b: u8[1,1,4,6] q(0.1,128) = resize(a) " LINEAR,
                           "sink-interpolation: b after a: refused, not proved", "became");
    rewrite_expect_refused(
        "tosa-single", RESCALED("[1,1,2,3]") "b: i8[1,1,4,6] q(0.3,5) = resize(a) " LINEAR,
        "sink-interpolation: b after a: refused, not proved: results differ", "became");
}

static void below_reductions_by_order(void **state)
{
    (void)state;
    rewrite_expect_exact("tflite",
                         RESCALED("[2,3]") "b: i8[2,1] q(0.3,5) = reduce_max(a) {axes=[1]} "
                                           "output b }",
                         "sink-order: b after a: exact", "reduce_max(x)", "reduce_max(a)");
    rewrite_expect_exact("tflite",
                         RESCALED("[2,3]") "b: i8[2,1] q(0.3,5) = reduce_min(a) {axes=[1]} "
                                           "output b }",
                         "sink-order: b after a: exact", "reduce_min(x)", "reduce_min(a)");
}

static void the_lesser_of_two_takes_them(void **state)
{
    (void)state;
    rewrite_expect_exact("tflite",
                         "graph t { input x: i8[4] q(0.1,0) input z: i8[4] q(0.1,0)\n"
                         "a: i8[4] q(0.3,5) = rescale(x) b: i8[4] q(0.3,5) = rescale(z)\n"
                         "c: i8[4] q(0.3,5) = min(a, b) output c }",
                         "absorb-down: c after a: exact: 65536/65536 pairs of codes equal",
                         "min(x, z)", "min(a");
}

/* relu and clip behind a rescale become its bounds. */
static void relu_and_clip_become_bounds(void **state)
{
    (void)state;
    rewrite_expect_exact("tflite", RESCALED("[4]") "b: i8[4] q(0.3,5) = relu(a) output b }",
                         "merge-rescales: b after a: exact: 256/256", "rescale(x) codes[5,",
                         "relu");
    rewrite_expect_exact(
        "tflite", RESCALED("[4]") "b: i8[4] q(0.3,5) = clip(a) {lo=-3,hi=6} output b }",
        "merge-rescales: b after a: exact: 256/256", "rescale(x) codes[-5,25]", "clip");
}

/* A pad by a real value that is not 0, which no engine runs, below a transpose: certified. */
static void below_a_pad_by_a_real_value(void **state)
{
    (void)state;
    rewrite_outcome o =
        rewrite_run("tflite", "graph t { input x: i8[2,3] q(0.5,-22)\n"
                              "t: i8[3,2] q(0.5,-22) = transpose(x) {perm=[1,0]}\n"
                              "p: i8[4,2] q(0.5,-22) = pad(t) {begin=[0,0],end=[1,0],value=-1}\n"
                              "c: i8[4,2] q(0.1,3) = neg(p)\n output c }");
    rewrite_has(o.text.text, "value=-1");
    rewrite_lacks(o.text.text, "pad(t)");
    rewrite_certified(&o);
    rewrite_finish(&o);
}

/* A pad by another code than the zero point does not go into a convolution. */
static void a_given_padding_stays(void **state)
{
    (void)state;
    rewrite_expect_refused(
        "tflite",
        "graph t { input x: i8[1,1,3,3] q(0.1,5)\n" REWRITE_CONV_PARTS
        "p: i8[1,1,5,5] q(0.1,5) = pad(x) {begin=[0,0,1,1],end=[0,0,1,1],has_code=true,code=7}\n"
        "c: i8[1,2,4,4] q(0.5,0) = conv(p,w,b) {kernel=[2,2]} output c }",
        "pad-into-conv: c after p: refused", "padding: 7 became 5");
    rewrite_expect_exact(
        "tflite",
        "graph t { input x: i8[1,1,3,3] q(0.1,5)\n" REWRITE_CONV_PARTS
        "p: i8[1,1,5,5] q(0.1,5) = pad(x) {begin=[0,0,1,1],end=[0,0,1,1],has_code=true,code=5}\n"
        "c: i8[1,2,4,4] q(0.5,0) = conv(p,w,b) {kernel=[2,2]} output c }",
        "pad-into-conv: c after p: exact", "pad_begin=[1,1]", "pad(");
}

/* What the node reads stands in another order than what yields it: the one that stays has the same
 * name in the certificate as in the network, where a later step finds it. */
static void operands_in_any_order(void **state)
{
    (void)state;
    rewrite_expect_exact("tflite",
                         "graph t { input x: i8[1,3] q(0.1,0) input z: i8[1,3] q(0.1,0)\n"
                         "a: i8[1,3] q(0.1,0) = rescale(x) codes[-50,50]\n"
                         "b: i8[1,3] q(0.1,0) = rescale(z) codes[-50,50]\n"
                         "c: i8[1,6] q(0.1,0) = concat(b,a) {axis=1}\n"
                         "d: i8[1,6] q(0.1,0) = rescale(c) codes[-9,90] output d }",
                         "merge-rescales: d after a: exact", "concat(z, x)", "codes[-50");
    rewrite_expect_exact("tflite",
                         "graph t { input x: i8[2,3] q(0.1,0) input z: i8[2,3] q(0.1,0)\n"
                         "a: i8[3,2] q(0.1,0) = transpose(x) {perm=[1,0]}\n"
                         "b: i8[3,2] q(0.1,0) = transpose(z) {perm=[1,0]}\n"
                         "c: i8[3,2] q(0.3,0) = sub(b,a)\n"
                         "d: i8[2,3] q(0.3,0) = transpose(c) {perm=[1,0]} output d }",
                         "sink-transpose: c after b: exact", "sub(z, x)", "transpose(");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(below_a_slice),
        cmocka_unit_test(below_whatever_moves),
        cmocka_unit_test(below_a_pad_whose_value_is_mapped),
        cmocka_unit_test(below_the_choice_of_a_condition),
        cmocka_unit_test(below_a_resize_to_the_nearest),
        cmocka_unit_test(below_a_linear_resize_where_it_only_shifts),
        cmocka_unit_test(below_reductions_by_order),
        cmocka_unit_test(the_lesser_of_two_takes_them),
        cmocka_unit_test(relu_and_clip_become_bounds),
        cmocka_unit_test(below_a_pad_by_a_real_value),
        cmocka_unit_test(a_given_padding_stays),
        cmocka_unit_test(operands_in_any_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
