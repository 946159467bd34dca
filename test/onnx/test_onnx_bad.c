/* The ONNX importer on wrong and unsupported models: one clear line, never a crash. */
#include "test/support/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "graph/onnx/onnx.h"
#include "test/support/onnx_build.h"
#include "test/support/onnx_form.h"

static void everything_unsupported_is_listed(void **state)
{
    (void)state;
    onnx_form_refused(
        13,
        "in x f32 2\nFoo x -> a : first\nRelu a -> b\nRelu x -> c gain=1 : second\n"
        "my.domain:Bar x -> d\nMaxPool x -> e kernel_shape=[2]\nin z u64 2\nout b",
        ASSAY_ERR_UNSUPPORTED,
        "test.onnx: 5 unsupported: input 'z' is uint64; node 'first' (Foo): unknown op; "
        "node 'second' (Relu): attribute 'gain'; node 'Bar_3' (Bar): unknown op in domain "
        "my.domain; node 'MaxPool_4' (MaxPool): input of rank 1: 1 to 3 spatial axes are "
        "supported");
}

/* However many there are, the text stays one bounded line that says how many. */
static void a_long_list_is_bounded(void **state)
{
    char text[8000] = "in x f32 2\n";

    (void)state;
    for (int i = 0; i < 100; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "Foo x -> y%d\n", i);
    strcat(text, "out y0");
    onnx_form_refused(13, text, ASSAY_ERR_UNSUPPORTED,
                      "100 unsupported: node 'Foo_0' (Foo): unknown op");
    onnx_form_refused(13, text, ASSAY_ERR_UNSUPPORTED, "; ...");
}

typedef struct bad {
    const char *text, *part;
} bad;

static void wrong_models_are_named(void **state)
{
    static const bad models[] = {
        {"in x f32 2\nRelu x -> a\nRelu x -> a\nout a", "'a' is defined twice"},
        {"in x f32 2\nconst w f32 2\nconst w f32 2\nAdd x,w -> y\nout y", "'w' is defined twice"},
        {"in x f32 2\nin x f32 2\nRelu x -> y\nout y", "'x' is defined twice"},
        {"in x f32 2\nRelu z -> y\nout y", "'Relu_0' (Relu) uses 'z', which nothing defines"},
        {"in x f32 2\nAdd x,b -> a\nRelu a -> b\nout b",
         "uses 'a' before node 'Add_0' makes it: the nodes form a cycle"},
        {"in x f32 2\nAdd a,x -> a\nout a", "before node 'Add_0' makes it: the nodes form a cycle"},
        {"in x f32 2\nconst c bool - = 1\nIf c -> a then_branch={graph Relu b -> u; out u}\n"
         "Neg a -> b\nout b",
         "the nodes form a cycle"},
        {"in x u8 2\nconst s f32 - = -1\nDequantizeLinear x,s -> y\nout y",
         "scale 's' has the element -1 at index 0"},
        {"in x f32 2\nconst w i8 2\nconst s f32 - = inf\nDequantizeLinear w,s -> d\nAdd x,d -> y\n"
         "out y",
         "scale 's' has the element inf at index 0, expected "},
        {"in x f32 2\nRelu x -> y\nout z", "output 'z' is not defined"},
        {"in x f32 2\nRelu x -> y", "no outputs"},
        {"in x f32 2,N\nRelu x -> y\nout y", "dimension 1 of input 'x' is symbolic ('N')"},
        {"in x f32\nRelu x -> y\nout y", "input 'x' has no shape"},
        {"in x f32 2\nAdd x -> y\nout y", "'Add_0' (Add): input 1 is missing"},
        {"in x f32 2\nAdd x,x,x -> y\nout y", "3 inputs and 1 outputs"},
        {"in x f32 2\nconst w f32 3 = 1 2\nAdd x,w -> y\nout y",
         "initializer 'w': its shape needs 12 bytes, its data has 8"},
        {"in x f32 2\nlist w f32 3 = 1 2\nAdd x,w -> y\nout y", "needs 3 elements, it has 2"},
        {"in x i8 1\nlist w i8 1 = 200\nMax x,w -> y\nout y", "element 0 is 200, outside int8"},
        {"in x f32 2\nconst w f32 1099511627776,1099511627776,1099511627776 = 1\nAdd x,w -> y\n"
         "out y",
         "initializer 'w'"},
        {"in x f32 100\nconst w f32 100\nconst v f32 99,3 = 1 2\nAdd x,w -> y\nout y",
         "initializer 'v': its shape needs 1188 bytes, its data has 8"},
        {"in x f32 2\nlist w f32 -4 = 1\nAdd x,w -> y\nout y", "initializer 'w'"},
        {"in x f32 1,1,4,4\nconst w f32 1,1,1,1 = nan\nConv x,w -> y\nout y", "constant 'w' has"},
        {"in x f32 1,1,4,4\nconst w f32 1,1,1,1 = inf\nConv x,w -> y\nout y",
         "constant 'w' has the element inf at index 0, expected a finite number"},
        {"in x f32 1\nconst w f32 1 = nan\nAdd x,w -> y\nout y", "constant 'w' has a NaN"},
        {"in x f32 1,2,4,4\nconst w f32 1,1,1,1\nConv x,w -> y\nout y", "Conv_0"},
        {"in x f32 1,1,4,4\nconst w f32 1,1,3\nConv x,w -> y\nout y", "weights of rank 3"},
        {"in x f32 1,1,4,4\nconst w f32 1,1,3,3\nConv x,w -> y strides=[1]\nout y",
         "attribute 'strides' has 1 entries, expected 2"},
        {"in x f32 1,1,4,4\nconst w f32 1,1,3,3\nConv x,w -> y strides=2\nout y",
         "attribute 'strides' has type 2, expected 7"},
        {"in x f32 2,3\nin z f32 4\nAdd x,z -> y\nout y", "Add_0"},
        {"in x f32 2,3\nSoftmax x -> y axis=2\nout y",
         "axis 2 is outside the dimensions of a value of rank 2"},
        {"in x f32 2,3\nconst s i64 1 = 5\nReshape x,s -> y\nout y", "6 elements do not fit"},
        {"in x f32 2,3\nTranspose x -> y perm=[0,0]\nout y", "not a permutation"},
        {"in x f32 2,3\nconst i i64 1 = 2\nGather x,i -> y\nout y",
         "index 2 is outside an axis of extent 2"},
        {"in x f32 4\nconst a i64 1 = 1\nconst b i64 1 = 0\nDiv a,b -> c\nReshape x,c -> y\nout y",
         "division by zero"},
        {"in x f32 4\next w f32 4 w.bin 0 16\nAdd x,w -> y\nout y", "not a file"},
        {"in x f32 2\nconst s f32 - = 0\nQuantizeLinear x,s -> y\nout y",
         "scale 's' has the element 0 at index 0, expected finite and above 0"},
        {"in x u8 2\nconst s f32 - = nan\nDequantizeLinear x,s -> y\nout y", "has the element nan"},
        {"in x u8 2\nconst s f32 - = 1\nconst z i8 - = 1\nDequantizeLinear x,s,z -> y\nout y",
         "zero point 'z' is int8, expected u8"},
        {"in x f32 2,3\nconst s f32 3 = 1 1 1\nQuantizeLinear x,s -> y axis=2\nout y",
         "axis 2 is outside the dimensions of a value of rank 2"},
        {"in x f32 2,3\nconst s f32 2 = 1 1\nQuantizeLinear x,s -> y axis=1\nout y",
         "scale 's' has 2 elements, expected 3"},
        {"in x f32 2,3\nconst s f32 2,3 = 1 1 1 1 1 1\nQuantizeLinear x,s -> y block_size=2\nout y",
         "scale 's' has 6 elements, expected 4"},
        {"in x u8 1,4\nconst s f32 - = 1\nconst w i8 4,2\ncom.microsoft:QLinearAdd "
         "x,s,_,w -> y\nout y",
         "input 4, a scale, is missing"},
        {"in x f32 4\nconst s f32 - = 1\ncom.microsoft:QLinearSigmoid x,s,_,s -> y\nout y",
         "'x' is not an integer, as codes must be"},
        {"in x u8 1,4\nconst s f32 - = 1\nconst z u8 - = 0\nconst w i8 4,2\nconst v i8 - = 0\n"
         "const b f32 2\ncom.microsoft:QGemm x,s,z,w,s,v,b,s,z -> y\nout y",
         "bias 'b' is not int32"},
        {"in x f32 2,8\nconst w u8 1,1,4\nconst s f32 1\nconst g i32 8 = 0 0 0 1 0 0 0 0\n"
         "com.microsoft:MatMulNBits x,w,s,_,g -> y K=8 N=1 block_size=8\nout y",
         "g_idx has the element 1 at index 3, expected 0 to 0"},
        {"in x f32 2,8\nconst w u8 1,1,4\nconst s f32 1\nconst g i32 4\n"
         "com.microsoft:MatMulNBits x,w,s,_,g -> y K=8 N=1 block_size=8\nout y",
         "g_idx has 4 elements of int32, expected an int32 for each of 8 columns"},
        {"in i i64 1\nconst w u8 1,4\nconst s f32 1,2\nlist z u4 1,2 = 0\n"
         "com.microsoft:GatherBlockQuantized w,i,s,z -> y block_size=4\nout y",
         "2 zero points of uint4, expected 1 of uint8"},
        {"in i i64 1\nlist w u4 1,4 = 0 0\nconst s f32 1,1\n"
         "com.microsoft:GatherBlockQuantized w,i,s -> y bits=8\nout y",
         "attribute bits is 8 but the data is uint4"},
        {"in i i64 1\nconst w u8 1,4\nconst s f32 1,2\n"
         "com.microsoft:GatherBlockQuantized w,i,s -> y block_size=0\nout y",
         "attribute block_size is 0, expected 1 or more"},
        {"list w i4 3 = 33 300\nconst s f32 - = 1\nDequantizeLinear w,s -> y\nout y",
         "initializer 'w': element 1 is 300, expected a byte of two codes"},
        {"list w i4 3 = 33\nconst s f32 - = 1\nDequantizeLinear w,s -> y\nout y",
         "initializer 'w': its shape needs 2 elements of two codes, it has 1"},
        {"in x u8 4\nconst s f32 - = 1\nconst z u8 0\nDequantizeLinear x,s,z -> y\nout y",
         "zero point 'z' has 0 elements, expected 1"},
        {"in x u8 4\nconst s f32 4 = 1 1 1 1\nconst z u8 2\nDequantizeLinear x,s,z -> y "
         "axis=0\nout y",
         "zero point 'z' has 2 elements, expected 1 or 4"},
        {"in x u8 1,4\nconst s f32 - = 1\ncom.microsoft:QLinearConcat s,_,x,s -> y\nout y",
         "4 inputs, expected 2 and 3 per operand"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        assay_status s = strstr(models[i].part, "not a file") ? ASSAY_ERR_UNSUPPORTED
                         : strstr(models[i].text, "1099511627776") || strstr(models[i].text, " -4 ")
                             ? ASSAY_ERR_LIMIT
                             : ASSAY_ERR_INPUT;
        onnx_form_refused(13, models[i].text, s, models[i].part);
    }
}

static void unsupported_models_are_named(void **state)
{
    static const bad models[] = {
        {"in x u64 2\nRelu x -> y\nout y", "input 'x' is uint64"},
        {"in x str 2\nIdentity x -> y\nout y", "input 'x' is string"},
        {"in x f32 2\nconst w f64 2\nCast w -> v to=15\nAdd x,v -> y\nout y", "cast to complex128"},
        {"in x f32 2\nCast x -> y to=14\nout y", "cast to complex64"},
        /* in 32 bits, float32 and float16 */
        {"in x f32 2,2\nEyeLike x -> y dtype=4294967297\nout y", "a matrix of "},
        {"in x u8 2\nconst s f32 - = 1\nDequantizeLinear x,s -> y output_dtype=4294967306\nout y",
         "an output that is not float32, float16 or bfloat16"},
        {"in x f32 2\nconst s f32 - = 1\n"
         "QuantizeLinear x,s -> y output_dtype=17 precision=4294967306\nout y",
         "attribute 'precision' is 4294967306"},
        {"in x f32 2\nCast x -> y to=24 round_mode=odd\nout y", "attribute 'round_mode' is 'odd'"},
        {"in x f32 2\nconst s f32 - = 1\nQuantizeLinear x,s -> y output_dtype=24\nout y",
         "codes of type float8e8m0"},
        {"in x f8e8m0 2\nconst s f32 - = 1\nDequantizeLinear x,s -> y\nout y",
         "codes of type float8e8m0"},
        {"in x f32 2\nconst s f32 - = 1\nconst z f8e4m3fn - = 56\nQuantizeLinear x,s,z -> y\nout y",
         "zero point 'z' of small floats is not 0"},
        {"in x f8e5m2 2\nconst s f32 - = 1\nin z f8e5m2 -\nDequantizeLinear x,s,z -> y\nout y",
         "the zero point ('z') of small floats is not known at import"},
        {"in x f32 2\nconst s f32 - = 1\nQuantizeLinear x,s -> y output_dtype=17 precision=11\n"
         "out y",
         "attribute 'precision' is 11"},
        {"in x f32 2,4\nconst s f16 2,2\n"
         "QuantizeLinear x,s -> y output_dtype=17 block_size=2\nout y",
         "a quotient of scales of blocks"},
        {"in x f32 2,4\nconst s i32 -\nQuantizeLinear x,s -> y output_dtype=17\nout y",
         "a scale that is neither float32"},
        {"in x f32 2\nconst s f32 - = 1\nQuantizeLinear x,s -> y precision=10\nout y",
         "attribute 'precision' is 10, not float32"},
        {"in x f32 2\nconst w u64 2\nAdd x,w -> y\nout y", "constant 'w' is uint64"},
        {"in x f32 2,3\nin s i64 2\nReshape x,s -> y\nout y", "('s') is not known at import"},
        {"in x u8 2,3\nin z u8 2\nconst w i8 3,2\nMatMulInteger x,w,z -> y\nout y",
         "'z' has 2 zero points, only one for the whole operand is supported"},
        {"in x u8 2,3\nconst z u8 2\nconst w i8 3,2\nMatMulInteger x,w,z -> y\nout y",
         "'z' has 2 zero points"},
        {"in x u8 1,1,2,2\nin z u8 2\nconst w i8 1,1,1,2\nConvInteger x,w,z -> y\nout y",
         "'z' has 2 zero points"},
        {"in x u8 2,3\nin z i8 -\nconst w i8 3,2\nMatMulInteger x,w,z -> y\nout y",
         "zero point 'z' is i8, expected u8"},
        {"in x u8 2,3\nin z i8 -\nconst s f32 - = 1\nDequantizeLinear x,s,z -> y\nout y",
         "zero point 'z' is i8, expected u8"},
        {"in x f32 2\nconst c bool - = 1\nIf c -> y then_branch={graph Foo x -> u : deep; out u}\n"
         "out y",
         "1 unsupported: node 'deep' (Foo)"},
        {"in x f32 2\nconst s f32 - = 1\nconst z f32 - = 0\nconst b f32 - = 1\n"
         "qonnx.custom_op.general:Quant x,s,z,b -> y\nout y",
         "a bit width of 1, signed: 2 to 16 are supported"},
        {"in x f32 2\nconst s f32 - = 1\nconst z f32 - = 0.5\nconst b f32 - = 4\n"
         "qonnx.custom_op.general:Quant x,s,z,b -> y\nout y",
         "its zero point 'z' has the element 0.5, which is not a code"},
        {"in x f32 2,2\nconst s f32 2,2 = 1 2 3 4\nconst z f32 - = 0\nconst b f32 - = 4\n"
         "qonnx.custom_op.general:Quant x,s,z,b -> y\nout y",
         "its scale ('s') is neither one for all"},
        {"in x f32 2\nin s f32 1\nconst z f32 - = 0\nconst b f32 - = 4\n"
         "qonnx.custom_op.general:Quant x,s,z,b -> y\nout y",
         "its scale ('s') is not a float32 constant"},
        {"in x f32 2\nconst s f64 - = 1\nQuantizeLinear x,s -> y\nout y", "scale 's' is float64"},
        {"in x u8 2\nconst s f32 - = 1\nconst t f32 - = 2\nDequantizeLinear x,s -> a\n"
         "DequantizeLinear x,t -> b\nAdd a,b -> y\nout y",
         "'x' is read with other parameters than it has: scale 2"},
        {"in x f32 2,8\nconst w u8 1,1,4\nconst s f32 1\ncom.microsoft:MatMulNBits x,w,s -> y "
         "K=8 N=1 block_size=8 bits=2\nout y",
         "weights of 2 bits"},
        {"in i i64 1\nconst w u8 1,4\nconst s f32 1,1\n"
         "com.microsoft:GatherBlockQuantized w,i,s -> y block_size=4\nout y",
         "scales other than 2 elements of float32"},
        {"in i i64 1\nin w u8 1,4\nconst s f32 1,2\n"
         "com.microsoft:GatherBlockQuantized w,i,s -> y block_size=4\nout y",
         "a table ('w') is not known at import"},
        {"in x f32 1,1,4,4\nResize x,_,x -> y mode=area\nout y", "attribute 'mode' is 'area'"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof models / sizeof *models; i++)
        onnx_form_refused(13, models[i].text, ASSAY_ERR_UNSUPPORTED, models[i].part);
    onnx_form_refused(6, "in x f32 2\nDropout x -> y\nout y", ASSAY_ERR_UNSUPPORTED,
                      "its form of opset 6; it is supported from 7 on");
    onnx_form_refused(0, "in x f32 2\nRelu x -> y\nout y", ASSAY_ERR_UNSUPPORTED, "opset 0");
    onnx_form_refused(99, "in x f32 2\nRelu x -> y\nout y", ASSAY_ERR_UNSUPPORTED, "opset 99");
}

/* External data stays in the model's folder. */
static void paths_out_of_the_folder_are_refused(void **state)
{
    static const char *const where[] = {"../secret.bin", "/etc/passwd", "link.bin", "none.bin"};
    char root[200], path[300], text[200], target[300];

    (void)state;
    test_temp_dir(root, sizeof root);
    snprintf(path, sizeof path, "%s/model", root);
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(target, sizeof target, "%s/secret.bin", root);
    test_write_file(target, "0123456789abcdef", 16);
    snprintf(path, sizeof path, "%s/model/link.bin", root);
    assert_int_equal(symlink("../secret.bin", path), 0);
    snprintf(path, sizeof path, "%s/model/m.onnx", root);
    for (size_t i = 0; i < sizeof where / sizeof *where; i++) {
        size_t length;
        snprintf(text, sizeof text, "in x f32 4\next w f32 4 %s 0 16\nAdd x,w -> y\nout y",
                 where[i]);
        void *bytes = onnx_build(13, text, &length);
        assay_graph *g;
        assay_error err = {0};
        test_write_file(path, bytes, length);
        assay_status s = onnx_import_file(path, NULL, &g, &err);
        assert_int_equal(s, ASSAY_ERR_INPUT);
        assert_refused(s, &err, "not a readable file inside the model's folder");
        free(bytes);
    }
    test_remove_tree(root);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_unsupported_is_listed),
        cmocka_unit_test(a_long_list_is_bounded),
        cmocka_unit_test(wrong_models_are_named),
        cmocka_unit_test(unsupported_models_are_named),
        cmocka_unit_test(paths_out_of_the_folder_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
