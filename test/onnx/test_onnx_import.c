/* The ONNX importer: shape arithmetic, patterns, names, where constants come from. */
#include "test/support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test/support/onnx_build.h"
#include "test/support/onnx_form.h"

/* ---- folding ---- */

static void shape_arithmetic_folds(void **state)
{
    static const onnx_form forms[] = {
        /* x.view(x.size(0), -1) as PyTorch writes it */
        {11,
         "in x f32 2,3,4\nShape x -> s\nConstant - -> i value={i64 - 0}\nGather s,i -> n\n"
         "Unsqueeze n -> n1 axes=[0]\nConstant - -> m value={i64 1 -1}\n"
         "Concat n1,m -> t axis=0\nReshape x,t -> y\nout y",
         "reshape", "[2,12]"},
        /* twice the size, through floats */
        {13,
         "in x f32 1,1,4,6\nShape x -> s\nconst b i64 1 = 2\nconst e i64 1 = 4\n"
         "const z i64 1 = 0\nSlice s,b,e,z -> hw\nSlice s,z,b,z -> nc\nCast hw -> f to=11\n"
         "const two f64 - = 2.0\nMul f,two -> g\nFloor g -> h\nCast h -> i to=7\n"
         "Concat nc,i -> t axis=0\nResize x,_,_,t -> y\nout y",
         "resize", "[1,1,8,12]"},
        {13,
         "in x f32 3,4\nShape x -> s\nSize x -> n\nReduceProd s -> p keepdims=0\n"
         "Equal n,p -> c\nconst a i64 1 = 2\nconst b i64 1 = 5\nWhere c,a,b -> d\n"
         "const m i64 1 = -1\nConcat d,m -> t axis=0\nReshape x,t -> y\nout y",
         "reshape", "[2,6]"},
        {15,
         "in x f32 3,4\nShape x -> t start=1\nConstantOfShape t -> z value={f32 1 1}\n"
         "Add x,z -> y\nout y",
         "add", "[3,4]"},
        {13,
         "in x f32 3,4\nconst a i64 - = 0\nconst b i64 - = 4\nconst d i64 - = 2\n"
         "Range a,b,d -> r\nGather x,r -> y axis=1\nout y",
         "gather", "[3,2]"},
        {13,
         "in x f32 1,2\nconst o i64 2 = 2 3\nconst e i64 1 = 1\nSplit o -> p,q\n"
         "Mul p,q -> m\nDiv m,p -> d\nSub d,e -> f\nMax f,e -> g\nTile g,p -> h\n"
         "Expand x,h -> y\nout y",
         "expand", "[2,2]"},
    };
    (void)state;
    CHECK_ALL(forms);
}

/* Nodes that stand before those that make their inputs, or what their subgraphs use, are sorted;
 * the others keep their places. */
static void nodes_out_of_order_are_sorted(void **state)
{
    static const onnx_form forms[] = {
        {13, "in x f32 2\nRelu b -> y\nNeg x -> b\nout y", "neg relu", "[2]"},
        {13, "in x f32 2\nAdd c,d -> y\nAbs d -> c\nSqrt x -> e\nNeg e -> d\nout y",
         "sqrt neg abs add", "[2]"},
        {13,
         "in x f32 2,3\nIf c -> a then_branch={graph Relu b -> u; out u} "
         "else_branch={graph Foo x -> v; out v}\nShape x -> s\nSize s -> r\nNeg x -> b\n"
         "const two i64 - = 2\nEqual r,two -> c\nSqrt a -> y\nout y",
         "neg relu sqrt", "[2,3]"},
        {13,
         "in x f32 2\nconst c bool - = 1\nIf c -> a then_branch={graph Identity b -> u; out u} "
         "else_branch={graph Foo x -> v; out v}\nSqrt a -> y\nNeg x -> b\nout y",
         "neg sqrt", "[2]"},
    };
    (void)state;
    CHECK_ALL(forms);
}

/* Of an If whose condition is known only the branch taken is imported, with its own constants. */
static void known_branches_are_taken(void **state)
{
    static const onnx_form forms[] = {
        {13,
         "in x f32 2,3,4\nShape x -> s\nSize s -> r\nconst three i64 - = 3\nEqual r,three -> c\n"
         "If c -> a then_branch={graph const k i64 1 = 0; Unsqueeze x,k -> u; out u} "
         "else_branch={graph Foo x -> v; out v}\nRelu a -> y\nout y",
         "reshape relu", "[1,2,3,4]"},
    };
    (void)state;
    CHECK_ALL(forms);
}

static void triangles_and_indices_fold(void **state)
{
    assay_graph *g = onnx_form_import(14,
                                      "in x f32 3,3\nconst o f32 3,3 = 1 2 3 4 5 6 7 8 9\n"
                                      "const k i64 - = 1\nTrilu o,k -> t upper=1\nAdd x,t -> y\n"
                                      "const b bool 2,2 = 0 1 1 1\nNonZero b -> i\nin z i64 2,3\n"
                                      "Add z,i -> w\nout y\nout w",
                                      NULL);
    static const float triangle[] = {0, 2, 3, 0, 0, 6, 0, 0, 0};
    static const int64_t indices[] = {0, 1, 1, 1, 0, 1};

    (void)state;
    assert_memory_equal(g->value[assay_graph_find_value(g, "t")].data, triangle, sizeof triangle);
    assert_memory_equal(g->value[assay_graph_find_value(g, "i")].data, indices, sizeof indices);
    assay_graph_free(g);
}

/* A graph output that is known at import is still made by a node. */
static void constant_outputs_are_made(void **state)
{
    assay_graph *g =
        onnx_form_import(13, "in x f32 3,4\nShape x -> y\nRelu x -> z\nout y\nout z", NULL);
    const assay_node *n = &g->node[g->value[g->output[0]].producer];
    static const int64_t shape[] = {3, 4};

    (void)state;
    assert_string_equal(g->value[g->output[0]].name, "y");
    assert_memory_equal(g->value[n->in[0]].data, shape, sizeof shape);
    assay_graph_free(g);
}

/* ---- patterns ---- */

static void patterns_are_fused(void **state)
{
    static const onnx_form forms[] = {
        /* torch 1.x: x / 1.4142135 -> erf -> + 1 -> * x -> * 0.5 */
        {11,
         "in x f32 2,4\nconst r f32 - = 1.4142135381698608\nconst one f32 - = 1\n"
         "const h f32 - = 0.5\nDiv x,r -> a\nErf a -> b\nAdd b,one -> c\nMul x,c -> d\n"
         "Mul d,h -> y\nout y",
         "gelu", "[2,4]"},
        {11,
         "in x f32 2,4\nconst r f32 - = 0.70710678\nconst one f32 - = 1\n"
         "const h f32 - = 0.5\nMul x,h -> d\nMul x,r -> a\nErf a -> b\nAdd one,b -> c\n"
         "Mul d,c -> y\nout y",
         "gelu", "[2,4]"},
        {11,
         "in x f32 2,4\nconst r f32 - = 1.4142135\nconst one f32 - = 1\nconst h f32 - = 0.5\n"
         "Div x,r -> a\nErf a -> b\nAdd b,one -> c\nMul c,h -> d\nMul x,d -> y\nout y",
         "gelu", "[2,4]"},
        /* another constant: left alone */
        {11,
         "in x f32 2,4\nconst r f32 - = 1.5\nconst one f32 - = 1\nconst h f32 - = 0.5\n"
         "Div x,r -> a\nErf a -> b\nAdd b,one -> c\nMul x,c -> d\nMul d,h -> y\nout y",
         "div erf add mul mul", "[2,4]"},
        /* an inner value is an output: left alone */
        {11,
         "in x f32 2,4\nconst r f32 - = 1.4142135\nconst one f32 - = 1\nconst h f32 - = 0.5\n"
         "Div x,r -> a\nErf a -> b\nAdd b,one -> c\nMul x,c -> d\nMul d,h -> y\nout y\nout b",
         "div erf add mul mul", "[2,4]"},
        {13,
         "in x f32 2,4\nconst t f32 - = 3\nconst k f32 - = 0.044715\n"
         "const s f32 - = 0.79788456\nconst one f32 - = 1\nconst h f32 - = 0.5\nPow x,t -> a\n"
         "Mul a,k -> b\nAdd x,b -> c\nMul c,s -> d\nTanh d -> e\nAdd e,one -> f\nMul x,h -> g\n"
         "Mul g,f -> y\nout y",
         "gelu", "[2,4]"},
        {13, "in x f32 2,4\nHardSigmoid x -> h alpha=0.16666667 beta=0.5\nMul x,h -> y\nout y",
         "hard_swish", "[2,4]"},
        {13, "in x f32 2,4\nHardSigmoid x -> h\nMul x,h -> y\nout y", "hard_sigmoid mul", "[2,4]"},
        {10,
         "in x f32 2,4\nconst t f32 - = 3\nconst s f32 - = 6\nAdd x,t -> a\n"
         "Clip a -> b min=0.0 max=6.0\nMul x,b -> c\nDiv c,s -> y\nout y",
         "hard_swish", "[2,4]"},
        {13,
         "in x f32 2,3,4\nconst two f32 - = 2\nconst eps f32 - = 0.00001\nconst g f32 4\n"
         "const b f32 4\nReduceMean x -> m axes=[-1]\nSub x,m -> d\nPow d,two -> p\n"
         "ReduceMean p -> v axes=[-1]\nAdd v,eps -> a\nSqrt a -> s\nDiv d,s -> q\nMul q,g -> r\n"
         "Add r,b -> y\nout y",
         "layer_norm", "[2,3,4]"},
        /* the mean of the square goes over another axis: not a normalization */
        {13,
         "in x f32 2,4,4\nconst two f32 - = 2\nconst eps f32 - = 0.00001\n"
         "ReduceMean x -> m axes=[-1]\nSub x,m -> d\nPow d,two -> p\n"
         "ReduceMean p -> v axes=[1]\nAdd v,eps -> a\nSqrt a -> s\nDiv d,s -> y\nout y",
         "reduce_mean sub pow reduce_mean add sqrt div", "[2,4,4]"},
    };
    (void)state;
    CHECK_ALL(forms);
}

/* ---- names, inputs, options ---- */

static void values_keep_their_names(void **state)
{
    assay_graph *g =
        onnx_form_import(13,
                         "in in.1 f32 1,3,4,4\nconst w f32 2,3,1,1\nConv in.1,w -> a : "
                         "/layer1/conv\nIdentity a -> b\nRelu b -> c\nIdentity c -> y\nout y\n"
                         "out a",
                         NULL);
    (void)state;
    assert_string_equal(g->value[g->input[0]].name, "in.1");
    assert_string_equal(g->node[0].name, "/layer1/conv");
    assert_string_equal(g->node[1].name, "Relu_2");
    assert_true(assay_graph_find_value(g, "a") >= 0);
    assert_true(assay_graph_find_value(g, "c") >= 0);
    assert_true(assay_graph_find_value(g, "w") >= 0);
    assert_string_equal(g->value[g->output[0]].name, "y");
    assert_string_equal(g->value[g->output[1]].name, "a");
    assert_int_equal(strlen(g->model_digest), 32);
    assay_graph_free(g);
}

static void symbolic_dimensions_take_values(void **state)
{
    static const assay_onnx_dim dims[] = {{"L", 7}};
    static const assay_onnx_shape shapes[] = {{"z", 2, {4, 7}}};
    const assay_onnx_options options = {
        .batch = 4, .dims = dims, .n_dims = 1, .shapes = shapes, .n_shapes = 1};
    assay_graph *g = onnx_form_import(13, "in x f32 N,L\nin z f32\nAdd x,z -> y\nout y", &options);
    char shape[40];

    (void)state;
    assay_shape_print(&g->value[g->output[0]].type, shape, sizeof shape);
    assert_string_equal(shape, "[4,7]");
    assay_graph_free(g);
}

/* A shape that a model takes as an input can be fixed. */
static void inputs_can_be_fixed(void **state)
{
    static const int64_t target[] = {3, 2};
    const assay_onnx_fixed fixed = {
        "s", {.elem = {ASSAY_KIND_INT, 64, true}, .rank = 1, .dim = {2}}, target};
    const assay_onnx_options options = {.fixed = &fixed, .n_fixed = 1};
    assay_graph *g =
        onnx_form_import(13, "in x f32 2,3\nin s i64 2\nReshape x,s -> y\nout y", &options);

    (void)state;
    assert_int_equal(g->n_inputs, 1);
    assert_int_equal(g->value[g->output[0]].type.dim[0], 3);
    assay_graph_free(g);
}

/* Initializers may be listed as inputs: they are constants. */
static void initializers_are_not_inputs(void **state)
{
    assay_graph *g =
        onnx_form_import(7, "in x f32 2\nin w f32 2\nconst w f32 2\nAdd x,w -> y\nout y", NULL);
    (void)state;
    assert_int_equal(g->n_inputs, 1);
    assay_graph_free(g);
}

static void typed_lists_are_read(void **state)
{
    assay_graph *g =
        onnx_form_import(13,
                         "in x i8 3\nlist a i8 3 = -128 0 127\nMax x,a -> y\nin b bool 2\n"
                         "list c bool 2 = 1 0\nAnd b,c -> z\nin d f32 2\nlist e f32 2 = 1.5 -2\n"
                         "Add d,e -> w\nout y\nout z\nout w",
                         NULL);
    static const int8_t a[] = {-128, 0, 127};
    static const uint8_t c[] = {1, 0};
    static const float e[] = {1.5f, -2};

    (void)state;
    assert_memory_equal(g->value[assay_graph_find_value(g, "a")].data, a, sizeof a);
    assert_memory_equal(g->value[assay_graph_find_value(g, "c")].data, c, sizeof c);
    assert_memory_equal(g->value[assay_graph_find_value(g, "e")].data, e, sizeof e);
    assay_graph_free(g);
}

/* Payloads that parsing leaves in the file arrive whole, wherever they stand in it. */
static void large_constants_are_read_in_place(void **state)
{
    assay_graph *g =
        onnx_form_import(13,
                         "in x f32 1000\nconst odd i8 301\nconst w f32 1000\nAdd x,w -> y\n"
                         "in z i8 301\nMax z,odd -> a\nConstant - -> k value={f32 2 7 8}\n"
                         "in p f32 2\nAdd p,k -> q\nout y\nout a\nout q",
                         NULL);
    const float *w = g->value[assay_graph_find_value(g, "w")].data;
    const int8_t *odd = g->value[assay_graph_find_value(g, "odd")].data;

    (void)state;
    for (int i = 0; i < 1000; i++)
        assert_true(w[i] == (float)(i % 7 - 3) / 4);
    for (int i = 0; i < 301; i++)
        assert_int_equal(odd[i], i % 7 - 3);
    assay_graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shape_arithmetic_folds),
        cmocka_unit_test(known_branches_are_taken),
        cmocka_unit_test(nodes_out_of_order_are_sorted),
        cmocka_unit_test(triangles_and_indices_fold),
        cmocka_unit_test(constant_outputs_are_made),
        cmocka_unit_test(patterns_are_fused),
        cmocka_unit_test(values_keep_their_names),
        cmocka_unit_test(symbolic_dimensions_take_values),
        cmocka_unit_test(inputs_can_be_fixed),
        cmocka_unit_test(initializers_are_not_inputs),
        cmocka_unit_test(typed_lists_are_read),
        cmocka_unit_test(large_constants_are_read_in_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
