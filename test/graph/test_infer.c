/* Shape and type inference: cases for every op, those of layers here. A case is a graph in the text
 * form; the type that the node declares is the expectation, or the refusal names what must be said.
 */
#include "test/support/support.h"

#include <stdio.h>
#include <string.h>

#include "graph/text/text.h"
#include "test/graph/infer_cases.h"

/* Bodies: twice what is given, one bool from an i32, and what fits neither. */
#define BODIES                                                                                     \
    "graph a { input v: f32[2] w: f32[2] = add(v, v) output w } "                                  \
    "graph b { input v: f32[2] w: f32[2] = relu(v) output w } "                                    \
    "graph t { input v: f32[2] w: bool[2] = less(v, v) z: bool[1] = slice(w) "                     \
    "{begin=[0], step=[1], size=[1]} output z } "                                                  \
    "graph c { input v: f32[3] w: f32[3] = relu(v) output w } "

static const infer_case layers[] = {
    /* ---- control flow ---- */
    {"input p: bool[] input x: f32[2] " BODIES, "y: f32[2] = if(p, x)", NULL},
    {"input p: bool[1] input x: f32[2] " BODIES, "y: f32[2] = if(p, x) {on_true=1, on_false=0}",
     NULL},
    {"input p: bool[2] input x: f32[2] " BODIES, "y: f32[2] = if(p, x)", "not a single bool"},
    {"input p: bool[] input x: f32[2] " BODIES, "y: f32[2] = if(p, x) {on_true=4}",
     "'on_true' is 4, but there are 4 subgraphs"},
    {"input p: bool[] input x: f32[2] " BODIES, "y: f32[2] = if(p, x) {on_false=3}",
     "input 1 differs in type from that of subgraph 'c'"},
    {"input p: bool[] input x: f32[2] " BODIES, "y: f32[2] = if(p, x, x)", "takes 1 inputs"},
    {"input p: bool[] input x: f32[2] " BODIES, "y: f32[2] = if(p, x) {on_false=2}",
     "different types in subgraphs 'a' and 't'"},
    {"input x: f32[2] " BODIES, "y: f32[2] = while(x) {condition=2, body=0}", NULL},
    {"input x: f32[2] " BODIES, "y: f32[2] = while(x) {condition=1, body=0}",
     "'b' does not return a single bool"},
    {"input x: f32[2] " BODIES, "y: f32[2] = while(x) {condition=2, body=-1}", "'body' is -1"},
    {"input x: f32[2] " BODIES, "y: f32[2] = while(x, x) {condition=2, body=0}",
     "2 inputs but 1 outputs, expected as many of each"},
    {"input x: f32[2] " BODIES, "y: f32[3] = while(x) {condition=2, body=0}", "expected f32[2]"},
    /* ---- matrix units ---- */
    {"input x: f32[4,100]", "y: f32[4,1] = block_scale(x) {block=[1,100]}", NULL},
    {"input x: f32[4,100] input s: f32[]",
     "y: f8e8m0[4,4] = block_scale(x, s) {block=[1,32], to=f8e8m0, rule=even}", NULL},
    {"input x: f32[4,100]", "y: f8e8m0[4,4] = block_scale(x) {block=[1,32], to=f8e8m0}",
     "rule amax"},
    {"input x: f32[4,100]", "y: int8mx[4,4] = block_scale(x) {block=[1,32], to=int8mx}",
     "int8mx is a format of elements"},
    {"input x: f32[4,100] input s: f32[4,4]",
     "y: int8mx[4,100] = float_encode(x, s) {block=[1,32], to=int8mx}", NULL},
    {"input x: f32[4,100]", "y: f32[4,4] = block_scale(x) {block=[32]}", "'block' has 1 entries"},
    {"input x: f32[4,100] input s: f32[2]", "y: f32[4,1] = block_scale(x, s) {block=[1,100]}",
     "input 1 is not a single f32"},
    {"input x: f32[4,100]", "y: f32[4,1] = block_scale(x) {block=[1,100], elements=f8e8m0}",
     "a format of scales"},
    {"input x: i32[4,100]", "y: f32[4,1] = block_scale(x) {block=[1,100]}", "not f32"},
    {"input x: f32[4,100] input s: f32[4,1]",
     "y: f8e4m3fn[4,100] = float_encode(x, s) {block=[1,100]}", NULL},
    {"input x: f32[4,100] input s: f32[4,1]",
     "y: f8e5m2[4,100] = float_encode(x, s) {block=[1,100]}", "expected f8e4m3fn"},
    {"input x: f32[4,100] input s: f32[4,1]",
     "y: f8e4m3fn[4,100] = float_encode(x, s) {block=[1,50]}",
     "scales of [4,1], expected floats of [4,2]"},
    {"input x: f32[4,100] input s: f32[4,1]",
     "y: f32[4,100] = float_encode(x, s) {block=[1,100], to=f32}", "elements are small floats"},
    {"input x: f4e2m1[4,100] input s: f8e4m3fn[4,7]",
     "y: f32[4,100] = float_decode(x, s) {block=[1,16]}", NULL},
    {"input x: f32[4,100] input s: f32[4,7]", "y: f32[4,100] = float_decode(x, s) {block=[1,16]}",
     "not a small float"},
    {"input a: bf16[2,1,4,64] input b: bf16[3,5,64] input s: f32[2,1,4,1] input t: f32[1,1,1] "
     "input u: f32[5]",
     "y: f32[2,3,4,5] = scaled_matmul(a, b, s, t, _, _, u) {a_block=[1,1,1,64], "
     "b_block=[3,5,64]}",
     NULL},
    {"input a: f8e5m2[4,64] input b: f8e5m2[5,63] input s: f32[4,1] input t: f32[5,1]",
     "y: f32[4,5] = scaled_matmul(a, b, s, t) {a_block=[1,64], b_block=[1,64]}",
     "expected [..,M,K] and [..,N,K]"},
    {"input a: f8e5m2[4,64] input b: i8[5,64] input s: f32[4,1] input t: f32[5,1]",
     "y: f32[4,5] = scaled_matmul(a, b, s, t) {a_block=[1,64], b_block=[1,64]}",
     "the operands are not floats"},
    {X4, "y: f32[2,2,20,27] = patches(x) {kernel=[3,3], stride=[2,2], pad_end=[2,2], group=2}",
     NULL},
    {"input x: i8[9,1,5] q(1,3)", "y: i2[9,1,2,4] q(1,0) = patches(x) {kernel=[4]}",
     "does not hold floats"},
    {"input x: i16[9,1,5]", "y: i16[9,1,2,4] = patches(x) {kernel=[4]}", "does not hold floats"},
    {"input x: bf16[9,1,5]", "y: f16[9,1,2,4] = patches(x) {kernel=[4]}", "expected bf16"},
    {X4, "y: f32[2,1,1,6] = patches(x) {kernel=[9,1]}", "does not fit into axis 2"},
    {X4, "y: f32[2,4,80,1] = patches(x) {kernel=[1,1], group=4}",
     "6 channels are not divisible into 4 groups"},
    /* ---- conv ---- */
    {X4 " input w: f32[4,6,3,3]", "y: f32[2,4,6,8] = conv(x, w)", NULL},
    {X4 " input w: f32[4,6,3,3] input b: f32[4]", "y: f32[2,4,6,8] = conv(x, w, b)", NULL},
    {X4 " input w: f32[4,6,3,3]",
     "y: f32[2,4,4,5] = conv(x, w) {stride=[2,2], pad_begin=[1,1], pad_end=[1,1]}", NULL},
    {X4 " input w: f32[4,6,3,3]", "y: f32[2,4,4,6] = conv(x, w) {dilation=[2,2]}", NULL},
    {X4 " input w: f32[6,1,3,3]", "y: f32[2,6,6,8] = conv(x, w) {group=6}", NULL},
    {"input x: f32[1,8,10,6] input w: f32[4,3,3,6]", "y: f32[1,6,8,4] = conv(x, w) {layout=nhwc}",
     NULL},
    {"input x: f32[1,3,9] input w: f32[5,3,4]", "y: f32[1,5,6] = conv(x, w)", NULL},
    {"input x: f32[1,3,9,9,9] input w: f32[5,3,1,2,3]", "y: f32[1,5,9,8,7] = conv(x, w)", NULL},
    {"input x: i8[1,3,4,4] " Q " const w: i8[1,3,1,1] q(axis=0,[0.5],[0]) = [1,2,3]"
     " const b: i32[1] q(axis=0,[0.25],[0]) = [9]",
     "y: u8[1,1,4,4] q(1,0) = conv(x, w, b)", NULL},
    {X4 " input w: f32[4,5,3,3]", "y: f32[2,4,6,8] = conv(x, w)", "5 channels per group"},
    {X4 " input w: f32[4,3,3,3]", "y: f32[2,4,6,8] = conv(x, w) {group=4}", "6 input channels"},
    {X4 " input w: f32[5,3,3,3]", "y: f32[2,5,6,8] = conv(x, w) {group=2}",
     "are not divisible into"},
    {X4 " input w: f32[4,6,3,3]", "y: f32[2,4,6,8] = conv(x, w) {group=0}", "group is 0"},
    {X4 " input w: f32[4,6,9,3]", "y: f32[2,4,1,8] = conv(x, w)", "does not fit"},
    {X4 " input w: f32[4,6,3,3]", "y: f32[2,4,6,8] = conv(x, w) {stride=[0,1]}", "'stride'"},
    {X4 " input w: f32[4,6,3,3]", "y: f32[2,4,6,8] = conv(x, w) {stride=[1]}", "1 entries"},
    {X4 " input w: f32[4,6,3,3]", "y: f32[2,4,6,8] = conv(x, w) {pad_begin=[-1,0]}", "'pad_begin'"},
    {X4 " input w: f32[4,6,3,3]", "y: f32[2,4,6,8] = conv(x, w) {dilation=[9223372036854775807,1]}",
     "'dilation'"},
    {X4 " input w: f32[4,6,3,3]", "y: f32[2,4,6,8] = conv(x, w) {kernel=[3,2]}", "kernel extent 2"},
    {X4 " input w: f32[4,6,3,3] input b: f32[5]", "y: f32[2,4,6,8] = conv(x, w, b)", "bias is [5]"},
    {X4 " input w: f32[4,6,3]", "y: f32[2,4,6,8] = conv(x, w)", "rank 3"},
    {"input x: f32[2,6] input w: f32[4,6]", "y: f32[2,4] = conv(x, w)", "rank 2"},
    {X4 " input w: i8[4,6,3,3] q(1,0)", "y: f32[2,4,6,8] = conv(x, w)", "input 1 is i8"},
    {X4, "y: f32[2,4,6,8] = conv(x, _)", "input 1 is required"},
    {X4, "y: f32[2,4,6,8] = conv(x)", "1 inputs, expected 2 to 3"},
    {X4 " input w: f32[4,6,3,3]", "y: f32[2,4,6,9] = conv(x, w)", "expected f32[2,4,6,8]"},
    {X4 " input w: f32[4,6,3,3]", "y: bool[2,4,6,8] = conv(x, w)", "expected f32[2,4,6,8]"},
    {"input x: i8[1,3,4,4] " Q " const w: i8[1,3,1,1] q(axis=1,[1,1,1],[0,0,0]) = [1,2,3]",
     "y: u8[1,1,4,4] q(1,0) = conv(x, w)", "output channels"},
    {"input x: i8[1,1,4,4] " Q " const w: i8[1,1,1,1] q(1,0) = [1]"
     " const b: i32[1] q(0.5,1) = [9]",
     "y: u8[1,1,4,4] q(1,0) = conv(x, w, b)", "zero point 0 in bias"},
    /* ---- conv_transpose ---- */
    {"input x: f32[1,4,5,5] input w: f32[4,3,3,3]", "y: f32[1,3,7,7] = conv_transpose(x, w)", NULL},
    {"input x: f32[1,4,5,5] input w: f32[4,3,3,3]",
     "y: f32[1,3,10,10] = conv_transpose(x, w) {stride=[2,2], pad_begin=[1,1], pad_end=[1,1], "
     "output_padding=[1,1]}",
     NULL},
    {"input x: f32[1,4,5,5] input w: f32[4,3,3,3]",
     "y: f32[1,6,7,7] = conv_transpose(x, w) {group=2}", NULL},
    {"input x: f32[1,5,5,4] input w: f32[3,2,2,4]",
     "y: f32[1,10,10,3] = conv_transpose(x, w) {layout=nhwc, stride=[2,2]}", NULL},
    {"input x: f32[1,4,5,5] input w: f32[5,3,3,3]", "y: f32[1,3,7,7] = conv_transpose(x, w)",
     "5 input channels"},
    {"input x: f32[1,4,5,5] input w: f32[4,3,3,3]",
     "y: f32[1,3,7,7] = conv_transpose(x, w) {pad_begin=[9,9]}", "does not fit"},
    {"input x: f32[1,4,5,5] input w: f32[4,3,3,3]",
     "y: f32[1,3,7,7] = conv_transpose(x, w) {stride=[1073741824,1073741824]}", "2^40"},
    /* ---- fc, matmul ---- */
    {"input x: f32[2,7,5] input w: f32[3,5] input b: f32[3]", "y: f32[2,7,3] = fc(x, w, b)", NULL},
    {"input x: f32[2,4] input w: f32[3,5]", "y: f32[2,3] = fc(x, w)", "[..,K] and [O,K]"},
    {"input x: f32[] input w: f32[3,5]", "y: f32[3] = fc(x, w)", "[..,K] and [O,K]"},
    {"input a: f32[2,3] input b: f32[3,4]", "y: f32[2,4] = matmul(a, b)", NULL},
    {"input a: f32[5,1,2,3] input b: f32[6,3,4]", "y: f32[5,6,2,4] = matmul(a, b)", NULL},
    {"input a: f32[3,2] input b: f32[4,3]",
     "y: f32[2,4] = matmul(a, b) {transpose_a=true, transpose_b=true}", NULL},
    {"input a: f32[3] input b: f32[3]", "y: f32[] = matmul(a, b)", NULL},
    {"input a: f32[3] input b: f32[7,3,4]", "y: f32[7,4] = matmul(a, b)", NULL},
    {"input a: f32[7,2,3] input b: f32[3]", "y: f32[7,2] = matmul(a, b)", NULL},
    {"input a: f32[2,3] input b: f32[4,3]", "y: f32[2,3] = matmul(a, b)", "inner extents"},
    {"input a: f32[2,2,3] input b: f32[3,3,3]", "y: f32[2,2,3] = matmul(a, b)", "broadcast"},
    {"input a: f32[] input b: f32[3]", "y: f32[] = matmul(a, b)", "scalar"},
    {"input a: f32[3] input b: f32[3]", "y: f32[] = matmul(a, b) {transpose_a=true}", "vector"},
    /* ---- normalizations ---- */
    {X4 " input s: f32[6]", "y: f32[2,6,8,10] = batch_norm(x, s, s, s, s)", NULL},
    {X4 " input s: f32[10]", "y: f32[2,6,8,10] = batch_norm(x, s, s, s, s) {layout=nhwc}", NULL},
    {X4 " input s: f32[5]", "y: f32[2,6,8,10] = batch_norm(x, s, s, s, s)", "scale is [5]"},
    {"input x: f32[6] input s: f32[6]", "y: f32[6] = batch_norm(x, s, s, s, s)", "rank 1"},
    {X4, "y: f32[2,6,8,10] = lrn(x) {size=5}", NULL},
    {X4, "y: f32[2,6,8,10] = lrn(x) {size=0}", "size is 0"},
    {X4, "y: f32[2,6,8,10] = softmax(x)", NULL},
    {X4, "y: f32[2,6,8,10] = softmax(x) {axis=-4}", NULL},
    {X4, "y: f32[2,6,8,10] = softmax(x) {axis=4}", "axis 4"},
    {X4, "y: f32[2,6,8,10] = softmax(x) {axis=-5}", "axis -5"},
    {X4, "y: f32[2,6,8,10] = log_softmax(x) {axis=1}", NULL},
    {X4, "y: f32[2,6,8,10] = l2_norm(x) {axis=1}", NULL},
    {X4 " input s: f32[8,10]", "y: f32[2,6,8,10] = layer_norm(x, s, s) {axis=2}", NULL},
    {X4 " input s: f32[10]", "y: f32[2,6,8,10] = layer_norm(x, _, s)", NULL},
    {X4 " input s: f32[8,10]", "y: f32[2,6,8,10] = layer_norm(x, s)", "normalized axes"},
};

/* Element-wise ops: the shape is that of the operands, whatever else has cases above. */
static void test_element_wise(bool covered[ASSAY_OP_COUNT])
{
    for (int op = 0; op < ASSAY_OP_COUNT; ++op) {
        const assay_op_info *info = assay_op_get((assay_op)op);
        char text[256];
        assay_graph *g;
        assay_error err;
        if (covered[op] || !(info->traits & (ASSAY_T_UNARY | ASSAY_T_BINARY)))
            continue;
        int n = snprintf(text, sizeof text, "graph t {\n%s\ny: f32[2,6,8,10] = %s(%s)\noutput y }",
                         X4, info->name, info->min_in == 2 ? "x, x" : "x");
        assert_ok(text_graph_parse(text, (size_t)n, info->name, NULL, &g, &err), &err);
        assay_graph_free(g);
        covered[op] = true;
    }
}

static void test_case(const infer_case *c, bool covered[ASSAY_OP_COUNT])
{
    char text[1024];
    assay_graph *g;
    assay_error err;
    assay_status s;
    int n = snprintf(text, sizeof text, "graph t {\n%s\n%s\noutput y }", c->inputs, c->node);
    s = text_graph_parse(text, (size_t)n, "case", NULL, &g, &err);
    if (c->refusal ? s == ASSAY_OK : s != ASSAY_OK)
        print_error("%s\n%s\n", c->inputs, c->node);
    if (c->refusal) {
        assert_refused(s, &err, c->refusal);
        assert_non_null(strstr(err.text, "node 'y'"));
        assert_null(g);
    } else {
        assert_ok(s, &err);
        covered[g->node[0].op] = true;
        assay_graph_free(g);
    }
}

static void test_cases(void **state)
{
    (void)state;
    bool covered[ASSAY_OP_COUNT] = {false};
    for (size_t i = 0; i < sizeof layers / sizeof *layers; ++i)
        test_case(&layers[i], covered);
    for (size_t i = 0; i < infer_n_elements; ++i)
        test_case(&infer_elements[i], covered);
    for (size_t i = 0; i < infer_n_moves; ++i)
        test_case(&infer_moves[i], covered);
    test_element_wise(covered);
    for (int op = 0; op < ASSAY_OP_COUNT; ++op)
        if (!covered[op])
            fail_msg("no case for %s", assay_op_get((assay_op)op)->name);
}

/* What add_inferred gives is what the verifier accepts, for a graph under construction too. */
static void test_convert_needs_a_type(void **state)
{
    (void)state;
    assay_graph *g;
    assay_error err;
    assay_type t = {.elem = assay_f32(), .rank = 1, .dim = {4}};
    const char *name = "y";
    int x, y;
    assert_ok(assay_graph_new("g", &g, &err), &err);
    assert_ok(assay_graph_add_value(g, "x", &t, &x, &err), &err);
    assert_refused(
        assay_graph_add_inferred(g, ASSAY_OP_QUANTIZE, "q", &x, 1, &name, 1, NULL, &y, &err), &err,
        "add the value first");
    assay_graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cases),
        cmocka_unit_test(test_convert_needs_a_type),
    };
    return cmocka_run_group_tests_name("infer", tests, NULL, NULL);
}
