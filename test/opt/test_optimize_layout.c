/* Image ops in the layout that a target's file prefers. */
#include "test/support/rewrite_case.h"

#include <string.h>

#define IMAGE                                                                                      \
    "graph t { input x: i8[1,2,6,6] q(0.1,3)\n"                                                    \
    "const w: i8[2,2,2,2] q(axis=0,[0.01,0.02],[0,0]) = "                                          \
    "[1,2,3,4,-90,100,-110,120,5,6,7,8,9,-10,11,12]\n"                                             \
    "const b: i32[2] q(axis=0,[0.001,0.002],[0,0]) = [100,-200]\n"                                 \
    "c: i8[1,2,6,5] q(0.5,1) = conv(x,w,b) {kernel=[2,2],pad_begin=[1,0]}\n"                       \
    "n: i8[1,2,6,5] q(0.5,1) = neg(c)\n"                                                           \
    "p: i8[1,2,3,3] q(0.5,1) = max_pool(n) {kernel=[2,2],stride=[2,2],pad_end=[0,1]}\n"            \
    "l: i8[1,2,3,3] q(0.4,0) = lrn(p) {size=3,alpha=0.01}\n"                                       \
    "const v: i8[2,1,2,2] q(0.02,0) = [1,2,3,4,-90,100,-110,120]\n"                                \
    "t: i8[1,1,6,6] q(0.5,0) = conv_transpose(l,v) {kernel=[2,2],stride=[2,2]}\n"                  \
    "r: i8[1,1,9,12] q(0.5,0) = resize(t) {mode=linear,size=[1,1,9,12]}\n"                         \
    "q: i8[1,1,4,6] q(0.5,0) = avg_pool(r) {kernel=[2,2],stride=[2,2]}\n"                          \
    "g: i8[1,1,1,1] q(0.5,0) = global_avg_pool(q) output g }"

static int count(const char *text, const char *part)
{
    int n = 0;
    for (; (text = strstr(text, part)) != NULL; text++)
        n++;
    return n;
}

/* All ops between the input and the pool of all cells in the other layout, one transpose left. */
static void image_ops_take_the_preferred_layout(void **state)
{
    test_rng r = test_seed("image_ops_take_the_preferred_layout", 7);
    (void)state;
    rewrite_outcome o = rewrite_preferring("tflite", "layout: nhwc", IMAGE);
    rewrite_has(o.log.text, "to-nhwc: c: exact");
    assert_int_equal(count(o.text.text, "= transpose("), 1);
    assert_int_equal(count(o.text.text, "layout=nhwc"), 7);
    rewrite_same_bits(&o, &r, 6);
    rewrite_certified(&o);
    rewrite_outcome back =
        rewrite_graph("tflite", o.after,
                      &(assay_optimize_options){.passes = "to-nchw,constant-move,"
                                                          "merge-moves,sink-transpose"});
    o.after = NULL;
    assert_int_equal(count(back.text.text, "layout=nhwc"), 0);
    assert_int_equal(count(back.text.text, "= transpose("), 0);
    rewrite_same_bits(&back, &r, 6);
    rewrite_certified(&back);
    rewrite_finish(&back);
    rewrite_finish(&o);
}

/* Branches that come together, padding and slices between image ops: the transposes pass them. */
static void transposes_pass_what_moves_along_axes(void **state)
{
    test_rng r = test_seed("transposes_pass_what_moves_along_axes", 8);
    (void)state;
    rewrite_outcome o = rewrite_preferring(
        "tflite", "layout: nhwc",
        "graph t { input x: i8[1,2,4,4] q(0.1,3)\n"
        "a: i8[1,2,4,4] q(0.1,3) = max_pool(x) {kernel=[3,3],pad_begin=[1,1],pad_end=[1,1]}\n"
        "b: i8[1,2,4,4] q(0.1,3) = avg_pool(x) {kernel=[3,3],pad_begin=[1,1],pad_end=[1,1]}\n"
        "c: i8[1,4,4,4] q(0.1,3) = concat(a, b) {axis=1}\n"
        "p: i8[1,4,6,5] q(0.1,3) = pad(c) {begin=[0,0,1,0],end=[0,0,1,1],has_code=true,code=7}\n"
        "s: i8[1,3,4,5] q(0.1,3) = slice(p) {begin=[0,1,1,0],step=[1,1,1,1],size=[1,3,4,5]}\n"
        "m: i8[1,3,3,4] q(0.1,3) = max_pool(s) {kernel=[2,2]} output m }");
    rewrite_has(o.log.text, "sink-transpose-move: c after ");
    rewrite_has(o.text.text, "{axis=3}");
    assert_int_equal(count(o.text.text, "= transpose("), 2); /* at the input and at the output */
    rewrite_same_bits(&o, &r, 6);
    rewrite_certified(&o);
    rewrite_finish(&o);
}

/* Nothing asks for it: nothing changes. */
static void nothing_is_preferred_unasked(void **state)
{
    (void)state;
    rewrite_outcome o = rewrite_run("tflite", IMAGE);
    assert_int_equal(o.report.applied, 0);
    rewrite_finish(&o);
}

/* An accumulator that saturates at each product is read in another order. */
static void an_order_that_tells_is_refused(void **state)
{
    (void)state;
    rewrite_outcome o =
        rewrite_with("npu16",
                     "graph t { input x: i16[1,4,2,2] q(0.1,0)\n"
                     "const w: i16[1,4,1,1] q(0.01,0) = [32767,32767,-32767,32767]\n"
                     "c: i16[1,1,2,2] q(0.5,0) = conv(x,w) output c }",
                     &(assay_optimize_options){.passes = "to-nhwc"});
    rewrite_has(o.log.text, "to-nhwc: c: ");
    if (o.report.applied)
        rewrite_certified(&o);
    else
        rewrite_has(o.log.text, "may overflow");
    rewrite_finish(&o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(image_ops_take_the_preferred_layout),
        cmocka_unit_test(transposes_pass_what_moves_along_axes),
        cmocka_unit_test(nothing_is_preferred_unasked),
        cmocka_unit_test(an_order_that_tells_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
