/* The ONNX importer: each op in its forms and opset variants. */
#include "test/support/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test/support/onnx_form.h"

/* ---- convolution and pooling ---- */

static void conv_forms(void **state)
{
    static const onnx_form forms[] = {
        {7, "in x f32 1,3,8,8\nconst w f32 4,3,3,3\nConv x,w -> y\nout y", "conv", "[1,4,6,6]"},
        {11,
         "in x f32 N,3,8,8\nconst w f32 4,3,3,3\nconst b f32 4\nConv x,w,b -> y pads=[1,1,1,1] "
         "strides=[2,2] dilations=[1,1] group=1 kernel_shape=[3,3]\nout y",
         "conv", "[1,4,4,4]"},
        {11, "in x f32 1,4,9\nconst w f32 4,1,3\nConv x,w -> y group=4 dilations=[2]\nout y",
         "conv", "[1,4,5]"},
        {11, "in x f32 1,2,5,5,5\nconst w f32 3,2,2,2,2\nConv x,w -> y\nout y", "conv",
         "[1,3,4,4,4]"},
        {11,
         "in x f32 1,3,7,8\nconst w f32 4,3,3,2\nConv x,w -> y auto_pad=SAME_UPPER "
         "strides=[2,3]\nout y",
         "conv", "[1,4,4,3]"},
        {11, "in x f32 1,3,7,7\nconst w f32 4,3,3,3\nConv x,w -> y auto_pad=VALID\nout y", "conv",
         "[1,4,5,5]"},
        {11,
         "in x f32 1,3,4,4\nconst w f32 3,2,3,3\nConvTranspose x,w -> y strides=[2,2] "
         "output_padding=[1,1]\nout y",
         "conv_transpose", "[1,2,10,10]"},
        {11,
         "in x f32 1,1,3,3\nconst w f32 1,2,3,3\nConvTranspose x,w -> y strides=[3,2] "
         "output_shape=[8,7]\nout y",
         "conv_transpose", "[1,2,8,7]"},
        {11,
         "in x f32 1,1,3,3\nconst w f32 1,2,3,3\nConvTranspose x,w -> y strides=[2,2] "
         "auto_pad=SAME_UPPER\nout y",
         "conv_transpose", "[1,2,6,6]"},
    };
    (void)state;
    CHECK_ALL(forms);
}

/* SAME: the odd row of padding goes to the end (UPPER) or the beginning (LOWER). */
static void same_padding_is_split_by_kind(void **state)
{
    static const char *const kinds[] = {"SAME_UPPER", "SAME_LOWER"};
    (void)state;
    for (int k = 0; k < (int)(sizeof kinds / sizeof *kinds); k++) {
        char text[200];
        snprintf(text, sizeof text,
                 "in x f32 1,1,6\nconst w f32 1,1,3\nConv x,w -> y strides=[2] auto_pad=%s\nout y",
                 kinds[k]);
        assay_graph *g = onnx_form_import(11, text, NULL);
        const assay_attr_conv *a = &g->node[0].attr.conv;
        assert_int_equal(a->pad_begin.v[0], k);
        assert_int_equal(a->pad_end.v[0], 1 - k);
        assay_graph_free(g);
    }
}

static void pool_forms(void **state)
{
    static const onnx_form forms[] = {
        {8, "in x f32 1,3,8,8\nMaxPool x -> y kernel_shape=[2,2] strides=[2,2]\nout y", "max_pool",
         "[1,3,4,4]"},
        {10,
         "in x f32 1,3,8,8\nMaxPool x -> y kernel_shape=[3,3] strides=[2,2] ceil_mode=1 "
         "dilations=[1,1] storage_order=0\nout y",
         "max_pool", "[1,3,4,4]"},
        {12, "in x u8 1,1,8\nMaxPool x -> y,unused kernel_shape=[3] dilations=[2]\nout y",
         "max_pool", "[1,1,4]"},
        {7,
         "in x f32 1,3,8,8\nAveragePool x -> y kernel_shape=[3,3] pads=[1,1,1,1] "
         "count_include_pad=1\nout y",
         "avg_pool", "[1,3,8,8]"},
        {19,
         "in x f32 1,3,8,8\nAveragePool x -> y kernel_shape=[2,2] dilations=[2,2] "
         "auto_pad=VALID\nout y",
         "avg_pool", "[1,3,6,6]"},
        {22, "in x f32 1,1,4,4,4\nAveragePool x -> y kernel_shape=[2,2,2]\nout y", "avg_pool",
         "[1,1,3,3,3]"},
        {7, "in x f32 2,3,8,8\nGlobalAveragePool x -> y\nout y", "global_avg_pool", "[2,3,1,1]"},
        {7, "in x f32 2,3,8\nGlobalMaxPool x -> y\nout y", "reduce_max", "[2,3,1]"},
    };
    (void)state;
    CHECK_ALL(forms);
}

/* ---- products ---- */

static void gemm_forms(void **state)
{
    static const onnx_form forms[] = {
        {7, "in x f32 2,3\nconst w f32 4,3\nconst b f32 4\nGemm x,w,b -> y transB=1\nout y", "fc",
         "[2,4]"},
        {11, "in x f32 2,3\nconst w f32 3,4\nGemm x,w -> y alpha=-0.5\nout y", "fc", "[2,4]"},
        {11, "in x f32 2,3\nconst w f32 3,4\nGemm x,w -> y alpha=0.7\nout y", "fc mul", "[2,4]"},
        {11,
         "in x f32 2,3\nconst w f32 3,4\nconst b f32 4\nGemm x,w,b -> y alpha=0.7 beta=1.3\nout y",
         "fc mul add", "[2,4]"},
        {11,
         "in x f32 3,2\nconst w f32 3,4\nconst b f32 1,4\nGemm x,w,b -> y transA=1 beta=2.0\n"
         "out y",
         "transpose fc", "[2,4]"},
        {11, "in x f32 2,3\nconst w f32 3,4\nconst b f32 -\nGemm x,w,b -> y\nout y", "fc", "[2,4]"},
        {11, "in x f32 2,3\nconst w f32 3,4\nconst b f32 2,4\nGemm x,w,b -> y\nout y", "fc add",
         "[2,4]"},
        {11,
         "in x f32 2,3\nin w f32 4,3\nin c f32 4\nGemm x,w,c -> y alpha=0.5 beta=0.5 transB=1\n"
         "out y",
         "matmul mul mul add", "[2,4]"},
        {13, "in x f32 2,5,3\nconst w f32 3,4\nMatMul x,w -> y\nout y", "fc", "[2,5,4]"},
        {13, "in x f32 2,5,3\nin w f32 2,3,4\nMatMul x,w -> y\nout y", "matmul", "[2,5,4]"},
    };
    (void)state;
    CHECK_ALL(forms);
}

/* Constants of fc are transposed and scaled, and keep their names. */
static void gemm_constants_keep_names(void **state)
{
    assay_graph *g =
        onnx_form_import(11,
                         "in x f32 1,2\nconst w f32 2,3 = 1 2 3 4 5 6\nconst b f32 3 = 1 2 3\n"
                         "Gemm x,w,b -> y alpha=2.0 beta=10.0\nout y",
                         NULL);
    static const float weights[] = {2, 8, 4, 10, 6, 12}, bias[] = {10, 20, 30};
    const assay_value *w = &g->value[g->node[0].in[1]], *b = &g->value[g->node[0].in[2]];

    (void)state;
    assert_string_equal(w->name, "w");
    assert_memory_equal(w->data, weights, sizeof weights);
    assert_string_equal(b->name, "b");
    assert_memory_equal(b->data, bias, sizeof bias);
    assay_graph_free(g);
}

/* Tied weights: the original stays under its name, the transposed one is derived. */
static void shared_weights_get_a_derived_name(void **state)
{
    assay_graph *g =
        onnx_form_import(13,
                         "in x f32 1,3\nconst w f32 3,3\nMatMul x,w -> a\nGemm a,w -> y "
                         "transB=1\nout y",
                         NULL);
    (void)state;
    assert_string_equal(g->value[g->node[0].in[1]].name, "a/weights");
    assert_string_equal(g->value[g->node[1].in[1]].name, "w");
    assay_graph_free(g);
}

/* ---- element-wise ---- */

static void elementwise_forms(void **state)
{
    static const onnx_form forms[] = {
        {7, "in x f32 2,3\nin z f32 3\nAdd x,z -> y\nout y", "add", "[2,3]"},
        {7, "in x f32 2,3\nLeakyRelu x -> y alpha=0.1\nout y", "leaky_relu", "[2,3]"},
        {7, "in x f32 1,3,2,2\nconst s f32 3,1,1\nPRelu x,s -> y\nout y", "prelu", "[1,3,2,2]"},
        {6 + 1, "in x f32 2\nClip x -> y min=0.0 max=6.0\nout y", "clip", "[2]"},
        {11, "in x f32 2\nconst lo f32 - = 0\nClip x,lo -> y\nout y", "clip", "[2]"},
        {12, "in x i32 2\nconst lo i32 - = 0\nconst hi i32 - = 9\nClip x,lo,hi -> y\nout y",
         "max min", "[2]"},
        {13, "in x f32 2\nin hi f32 -\nClip x,_,hi -> y\nout y", "min", "[2]"},
        {14, "in x f32 2\nHardSwish x -> y\nout y", "hard_swish", "[2]"},
        {20, "in x f32 2\nGelu x -> y approximate=tanh\nout y", "gelu", "[2]"},
        {24, "in x f32 2\nSwish x -> y\nout y", "sigmoid mul", "[2]"},
        {8, "in x f32 2\nin z f32 2\nin w f32 2\nSum x,z,w -> y\nout y", "add add", "[2]"},
        {8, "in x f32 2\nin z f32 2\nMean x,z -> y\nout y", "add div", "[2]"},
        {13, "in x f32 2\nMax x -> y\nout y", "reshape", "[2]"},
        {13, "in x i64 2\nin z i64 2\nMod x,z -> y\nout y", "mod", "[2]"},
        {13, "in x f32 2\nconst e i64 - = 2\nPow x,e -> y\nout y", "pow", "[2]"},
        {9, "in x f32 2\nin z f32 2\nGreater x,z -> c\nNot c -> d\nWhere d,x,z -> y\nout y",
         "greater logical_not select", "[2]"},
        {13, "in x f32 2\nCast x -> i to=7\nCast i -> y to=1\nout y", "cast cast", "[2]"},
        {10, "in x f32 2\nSelu x -> y\nout y", "elu mul", "[2]"},
        {12, "in x f32 2\nCelu x -> y alpha=2.0\nout y", "div elu mul", "[2]"},
        {10, "in x f32 2\nThresholdedRelu x -> y\nout y", "greater select", "[2]"},
    };
    (void)state;
    CHECK_ALL(forms);
}

/* ---- normalization ---- */

static void norm_forms(void **state)
{
    static const onnx_form forms[] = {
        {7,
         "in x f32 1,3,2,2\nconst s f32 3\nconst b f32 3\nconst m f32 3\nconst v f32 3 = 1 1 1\n"
         "BatchNormalization x,s,b,m,v -> y epsilon=0.001 momentum=0.9\nout y",
         "batch_norm", "[1,3,2,2]"},
        {15,
         "in x f32 2,3\nconst s f32 3\nconst b f32 3\nconst m f32 3\nconst v f32 3 = 1 1 1\n"
         "BatchNormalization x,s,b,m,v -> y training_mode=0\nout y",
         "batch_norm", "[2,3]"},
        {17, "in x f32 2,3,4\nconst s f32 4\nLayerNormalization x,s -> y axis=-1\nout y",
         "layer_norm", "[2,3,4]"},
        {7, "in x f32 1,3,2,2\nLRN x -> y size=3\nout y", "lrn", "[1,3,2,2]"},
        /* before 13 the axes from `axis` on are one row */
        {11, "in x f32 2,3,4\nSoftmax x -> y\nout y", "reshape softmax reshape", "[2,3,4]"},
        {11, "in x f32 2,3,4\nSoftmax x -> y axis=2\nout y", "softmax", "[2,3,4]"},
        {11, "in x f32 2,3,1,1\nLogSoftmax x -> y\nout y", "log_softmax", "[2,3,1,1]"},
        {13, "in x f32 2,3,4\nSoftmax x -> y axis=1\nout y", "softmax", "[2,3,4]"},
        /* Dropout and Identity leave nothing but a copy for the graph's output */
        {7, "in x f32 2\nDropout x -> a ratio=0.3\nRelu a -> y\nout y", "relu", "[2]"},
        {12, "in x f32 2\nRelu x -> a\nDropout a -> y,mask\nout y", "relu reshape", "[2]"},
        {13,
         "in x f32 2\nconst r f32 - = 0\nconst t bool - = 1\nDropout x,r,t -> a\nRelu a -> y\nout "
         "y",
         "relu", "[2]"},
    };
    (void)state;
    CHECK_ALL(forms);
}

/* ---- reductions ---- */

static void reduce_forms(void **state)
{
    static const onnx_form forms[] = {
        {11, "in x f32 2,3,4\nReduceMean x -> y axes=[-1] keepdims=0\nout y", "reduce_mean",
         "[2,3]"},
        {18, "in x f32 2,3,4\nconst a i64 2 = 1 2\nReduceMean x,a -> y\nout y", "reduce_mean",
         "[2,1,1]"},
        {13, "in x f32 2,3,4\nconst a i64 1 = 1\nReduceSum x,a -> y keepdims=0\nout y",
         "reduce_sum", "[2,4]"},
        {13, "in x f32 2,3\nReduceSum x -> y\nout y", "reduce_sum", "[1,1]"},
        {13, "in x f32 2,3\nReduceSum x -> y noop_with_empty_axes=1\nout y", "reshape", "[2,3]"},
        {20, "in x f32 2,3\nconst a i64 1 = 0\nReduceMax x,a -> y\nout y", "reduce_max", "[1,3]"},
        {11, "in x f32 2,3\nReduceL2 x -> y axes=[1]\nout y", "square reduce_sum sqrt", "[2,1]"},
        {11, "in x f32 2,3\nReduceLogSumExp x -> y axes=[1] keepdims=0\nout y",
         "reduce_max sub exp reduce_sum log reduce_max add", "[2]"},
        {12, "in x f32 2,3\nArgMax x -> y axis=-1 keepdims=0 select_last_index=1\nout y", "arg_max",
         "[2]"},
        {11, "in x f32 2,9\nconst k i64 1 = 3\nTopK x,k -> y,i\nout y\nout i", "topk", "[2,3]"},
        {11, "in x f32 2,9\nconst a i64 - = 1\nCumSum x,a -> y exclusive=1\nout y", "cumsum",
         "[2,9]"},
    };
    (void)state;
    CHECK_ALL(forms);
}

/* ---- shapes and indices ---- */

/* Which sums of absolute values or squares are added one after the other: those that leave an axis,
 * if only of one element. Measured by ./dev peer onnxruntime. */
static void order_of_sums(void **state)
{
    static const struct {
        const char *text;
        int node;
        bool in_turn;
    } list[] = {
        {"in x f32 1,9\nReduceL1 x -> y axes=[1]\nout y", 1, true},
        {"in x f32 9,1\nReduceL1 x -> y axes=[0] keepdims=0\nout y", 1, true},
        {"in x f32 2,9\nReduceL1 x -> y axes=[1]\nout y", 1, true},
        {"in x f32 2,9\nReduceL1 x -> y axes=[0,1]\nout y", 1, false},
        {"in x f32 1,9\nReduceL2 x -> y\nout y", 1, false},
        {"in x f32 1,9\nReduceL2 x -> y axes=[1]\nout y", 1, true},
        {"in x f32 1,9\nReduceSumSquare x -> y axes=[1]\nout y", 1, true},
        {"in x f32 1,9\nReduceSum x -> y axes=[1]\nout y", 0, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        assay_graph *g = onnx_form_import(11, list[i].text, NULL);
        const assay_node *n = &g->node[list[i].node];
        assert_int_equal(n->op, ASSAY_OP_REDUCE_SUM);
        if (n->attr.reduce.in_turn != list[i].in_turn)
            fail_msg("case %zu: %s", i, list[i].text);
        assay_graph_free(g);
    }
}

static void shape_forms(void **state)
{
    static const onnx_form forms[] = {
        {7, "in x f32 2,3,4\nconst s i64 2 = 0 -1\nReshape x,s -> y\nout y", "reshape", "[2,12]"},
        {14, "in x f32 2,3\nlist s i64 3 = 1 -1 1\nReshape x,s -> y allowzero=1\nout y", "reshape",
         "[1,6,1]"},
        {11, "in x f32 2,3,4\nFlatten x -> y axis=-1\nout y", "reshape", "[6,4]"},
        {7, "in x f32 2,3,4\nFlatten x -> y axis=0\nout y", "reshape", "[1,24]"},
        {11, "in x f32 1,3,1\nSqueeze x -> y axes=[0]\nout y", "reshape", "[3,1]"},
        {13, "in x f32 1,3,1\nSqueeze x -> y\nout y", "reshape", "[3]"},
        {13, "in x f32 1,3,1\nconst a i64 1 = -1\nSqueeze x,a -> y\nout y", "reshape", "[1,3]"},
        {11, "in x f32 3\nUnsqueeze x -> y axes=[0,2]\nout y", "reshape", "[1,3,1]"},
        {13, "in x f32 3\nconst a i64 1 = -1\nUnsqueeze x,a -> y\nout y", "reshape", "[3,1]"},
        {8, "in x f32 3,1\nconst s i64 3 = 2 1 4\nExpand x,s -> y\nout y", "expand", "[2,3,4]"},
        {7, "in x f32 2,3,4\nTranspose x -> y\nout y", "transpose", "[4,3,2]"},
        {7, "in x f32 1,8,2,2\nDepthToSpace x -> y blocksize=2\nout y", "depth_to_space",
         "[1,2,4,4]"},
        {11, "in x f32 1,8,2,2\nDepthToSpace x -> y blocksize=2 mode=CRD\nout y", "depth_to_space",
         "[1,2,4,4]"},
        {7, "in x f32 1,2,4,4\nSpaceToDepth x -> y blocksize=2\nout y", "space_to_depth",
         "[1,8,2,2]"},
        {7, "in x f32 2,3\nin z f32 2,3\nConcat x,z -> y axis=-1\nout y", "concat", "[2,6]"},
        {11, "in x f32 2,6\nSplit x -> y,z axis=1 split=[2,4]\nout y\nout z", "split", "[2,2]"},
        {13, "in x f32 2,6\nconst s i64 2 = 5 1\nSplit x,s -> y,z axis=1\nout y\nout z", "split",
         "[2,5]"},
        {18, "in x f32 7\nSplit x -> y,b,c num_outputs=3\nout y\nout b\nout c", "split", "[3]"},
        {7, "in x f32 13\nSplit x -> y,b,c,d,e,f,g,h,i,j,k,l,m\nout y\nout m",
         "slice slice slice slice slice slice slice slice slice slice slice slice slice", "[1]"},
        {9, "in x f32 5,6\nSlice x -> y starts=[1,-3] ends=[9,-1]\nout y", "slice", "[4,2]"},
        {10,
         "in x f32 5,6\nconst s i64 1 = -1\nconst e i64 1 = -9223372036854775807\n"
         "const a i64 1 = 1\nconst t i64 1 = -2\nSlice x,s,e,a,t -> y\nout y",
         "slice", "[5,3]"},
        {7, "in x f32 4,5\nconst i i64 2,2 = 0 1 -1 2\nGather x,i -> y axis=1\nout y", "gather",
         "[4,2,2]"},
        {13, "in x f32 4,5\nconst i i64 - = -1\nGather x,i -> y\nout y", "gather", "[5]"},
        {12, "in x f32 4,5\nconst i i64 3,1\nGatherND x,i -> y\nout y", "gather_nd", "[3,5]"},
        {7, "in x f32 2,3\nPad x -> y pads=[0,1,0,2] value=1.5\nout y", "pad", "[2,6]"},
        {11, "in x f32 2,3\nconst p i64 4 = 0 1 0 1\nPad x,p -> y mode=reflect\nout y", "pad",
         "[2,5]"},
        {18,
         "in x f32 2,3\nconst p i64 2 = -1 2\nconst a i64 1 = -1\nPad x,p,_,a -> y mode=edge\n"
         "out y",
         "slice pad", "[2,4]"},
        {19, "in x f32 2,3\nconst p i64 4 = 0 1 0 1\nPad x,p -> y mode=wrap\nout y", "pad",
         "[2,5]"},
        {7, "in x f32 2,3\nconst r i64 2 = 2 1\nTile x,r -> y\nout y", "tile", "[4,3]"},
        {13, "in x f32 2,3\nHardmax x -> y\nout y", "arg_max equal select", "[2,3]"},
        {11, "in x f32 2,3,4\nHardmax x -> y\nout y", "reshape arg_max equal select reshape",
         "[2,3,4]"},
        {9, "in x f32 2,3\nEyeLike x -> e k=1\nAdd x,e -> y\nout y", "add", "[2,3]"},
        {10, "in x f32 2,3\nIsInf x -> y\nout y", "abs equal", "[2,3]"},
        {10, "in x f32 2,3\nIsInf x -> y detect_negative=0\nout y", "equal", "[2,3]"},
        {10, "in x f32 2,3\nIsInf x -> y detect_negative=0 detect_positive=0\nout y", "less",
         "[2,3]"},
        {7, "in x f32 2,3\nAtan x -> y\nout y", "atan", "[2,3]"},
        {18, "in x f32 1,5,5\nconst i i64 2 = 5 5\nconst b i64 2 = 1 5\nCol2Im x,i,b -> y\nout y",
         "reshape transpose reshape scatter_reduce reshape slice transpose", "[1,1,5,5]"},
        {18,
         "in x f32 2,12,15\nconst i i64 2 = 6 5\nconst b i64 2 = 2 3\nCol2Im x,i,b -> y "
         "strides=[2,1] pads=[0,1,0,1] dilations=[1,1]\nout y",
         "reshape transpose reshape scatter_reduce reshape slice transpose", "[2,2,6,5]"},
    };
    (void)state;
    CHECK_ALL(forms);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(conv_forms),
        cmocka_unit_test(same_padding_is_split_by_kind),
        cmocka_unit_test(pool_forms),
        cmocka_unit_test(gemm_forms),
        cmocka_unit_test(gemm_constants_keep_names),
        cmocka_unit_test(shared_weights_get_a_derived_name),
        cmocka_unit_test(elementwise_forms),
        cmocka_unit_test(norm_forms),
        cmocka_unit_test(reduce_forms),
        cmocka_unit_test(order_of_sums),
        cmocka_unit_test(shape_forms),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
