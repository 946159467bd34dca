/* Quantized ONNX operators that ONNX's and ONNX Runtime's own cases do not reach, against numbers
 * worked out from the specification. */
#include "test/support/support.h"

#include "test/support/onnx_form.h"
#include "test/support/onnx_sample.h"

#define S ONNX_SCALE
#define Z ONNX_ZERO

static void conversions(void **state)
{
    static const onnx_sample cases[] = {
        /* 4 bits, two a byte, the low half first: codes 1 2 15 and -1 -8 7 */
        {"in x f32 3\nconst w u4 3 = 33 15\n" S("s", "0.5")
             Z("z", "u4", "1") "DequantizeLinear w,s,z -> d\nAdd x,d -> y\nout y",
         {0, 0, 0},
         {0, 0.5, 7}},
        {"in x f32 3\nconst w i4 3 = 143 7\n" S("s", "0.5") "DequantizeLinear w,s -> d\n"
                                                            "Add x,d -> y\nout y",
         {0, 0, 0},
         {-0.5, -4, 3.5}},
        {"in x f32 4\n" S("s", "2") Z("z", "i4", "1") "QuantizeLinear x,s,z -> y\nout y",
         {-100, -3, 3, 100},
         {-8, -1, 3, 7}}, /* -1.5 and 1.5 round to even */
        {"in x u16 2\n" S("s", "2") Z("z", "u16", "40000") "DequantizeLinear x,s,z -> y\nout y",
         {40001, 65535},
         {2, 51070}},
        {"in x i32 2\n" S("s", "0.25") "DequantizeLinear x,s -> y\nout y",
         {-7, 16777216},
         {-1.75, 4194304}},
        {"in x f32 2\n" S("s", "1") "QuantizeLinear x,s -> y output_dtype=5\nout y",
         {-40000, 2.5},
         {-32768, 2}},
        /* blocks of two along the last axis, and along the first, the last one short */
        {"in x i8 2,4\nconst s f32 2,2 = 1 2 3 4\nDequantizeLinear x,s -> y axis=1 "
         "block_size=2\nout y",
         {1, 2, 3, 4, 5, 6, 7, 8},
         {1, 2, 6, 8, 15, 18, 28, 32}},
        {"in x f32 3,2\nconst s f32 2,2 = 1 2 3 4\nconst z u8 2,2 = 0 1 2 3\n"
         "QuantizeLinear x,s,z -> y axis=0 block_size=2\nout y",
         {1, 2, 3, 4, 6, 8},
         {1, 2, 3, 3, 4, 5}},
        /* constants under scales that are not above 0: 1 2 15, and by axis 1, and in blocks */
        {"in x f32 3\nconst w u4 3 = 33 15\n" S("s", "-0.5")
             Z("z", "u4", "1") "DequantizeLinear w,s,z -> d\nAdd x,d -> y\nout y",
         {0, 0, 0},
         {0, -0.5, -7}},
        {"in x f32 2,3\nconst w i8 2,3 = -128 1 2 127 4 5\nconst s f32 3 = -1 0 2\n"
         "DequantizeLinear w,s -> d axis=1\nAdd x,d -> y\nout y",
         {0},
         {128, 0, 4, -127, 0, 10}},
        {"in x f32 3,2\nconst w i4 3,2 = 33 67 135\nconst s f32 2,2 = 1 -2 -3 4\n"
         "DequantizeLinear w,s -> d axis=0 block_size=2\nAdd x,d -> y\nout y",
         {0},
         {1, -4, 3, -8, -21, -32}},
        /* parameters that arrive with the input, one for all and along an axis */
        {"in x f32 2,2\nin s f32 2\nconst z u8 2 = 3 0\nQuantizeLinear x,s,z -> y axis=0\nout y",
         {-100, 1, 3, 8},
         {0, 3, 1, 2},
         {2, 4}},
        {"in x i8 2,2\nin s f32 2\nconst z i8 2 = 3 0\nDequantizeLinear x,s,z -> y axis=-1\nout y",
         {-100, 1, 3, 8},
         {-206, 4, 0, 32},
         {2, 4}},
        {"in x f32 3\nin s f32 1\n" Z("z", "u8", "3") "QuantizeLinear x,s,z -> y\nout y",
         {-100, 1, 3},
         {0, 3, 5},
         {2}},
        {"in x i8 3\nin s f32 1\n" Z("z", "i8", "3") "DequantizeLinear x,s,z -> y\nout y",
         {-100, 1, 3},
         {-206, -4, 0},
         {2}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        onnx_sample_check(&cases[i]);
}

/* Parameters of one element have no say in the shape, whatever their own rank is. */
static void late_parameters_keep_shapes(void **state)
{
    static const struct {
        const char *text;
        int rank;
    } cases[] = {
        {"in x f32 -\nin s f32 1\nconst z u8 1 = 3\nQuantizeLinear x,s,z -> y\nout y", 0},
        {"in x i8 -\nconst s f32 1 = 2\nin z i8 1\nDequantizeLinear x,s,z -> y\nout y", 0},
        {"in x i8 2\nconst s f32 1,1 = 2\nin z i8 1,1\nDequantizeLinear x,s,z -> y\nout y", 1},
        {"in x u8 3\nin z u8 1\nconst w i8 3\nMatMulInteger x,w,z -> y\nout y", 0},
        {"in x u8 2,3\nin z u8 1,1,1\nconst w i8 3,2\nMatMulInteger x,w,z -> y\nout y", 2},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assay_graph *g = onnx_form_import(21, cases[i].text, NULL);
        if (g->value[g->output[0]].type.rank != cases[i].rank)
            fail_msg("%s\nrank %d", cases[i].text, g->value[g->output[0]].type.rank);
        assay_graph_free(g);
    }
}

static void operators(void **state)
{
    static const onnx_sample cases[] = {
        /* a zero point known in the run gives what a constant one does; padding is the zero point
         */
        {"in x u8 1,1,1,3\nin z u8 1\nconst w i8 1,1,1,2 = 1 -2\n"
         "ConvInteger x,w,z -> y pads=[0,1,0,0]\nout y",
         {10, 20, 30},
         {-16, -28, -38},
         {2}},
        {"in x u8 1,1,1,3\nconst w i8 1,1,1,2 = 1 -2\n" Z(
             "z", "u8", "2") "ConvInteger x,w,z -> y pads=[0,1,0,0]\nout y",
         {10, 20, 30},
         {-16, -28, -38}},
        {"in x i32 2,2\nconst w i32 2,2 = 1 2 3 1073741824\nMatMul x,w -> y\nout y",
         {1, 2, 3, 4},
         {7, -2147483646, 15, 6}},
        {"in x u8 2,2\nin z u8 1\nconst w i8 2,2 = 1 2 3 4\nMatMulInteger x,w,z -> y\nout y",
         {1, 2, 3, 4},
         {3, 4, 11, 16},
         {1}},
        /* 4-bit weights in blocks of 2 with zero point 8: codes 9 10 11 12, 7 6 5 4 */
        {"in x f32 1,4\nconst w u8 2,2,1 = 169 203 103 69\nconst s f32 4 = 1 2 1 2\n"
         "com.microsoft:MatMulNBits x,w,s -> y K=4 N=2 bits=4 block_size=2\nout y",
         {1, 1, 1, 1},
         {17, -17}},
        /* the same under scales of 1 -2 0 2, as symmetric quantizers write them */
        {"in x f32 1,4\nconst w u8 2,2,1 = 169 203 103 69\nconst s f32 4 = 1 -2 0 2\n"
         "com.microsoft:MatMulNBits x,w,s -> y K=4 N=2 bits=4 block_size=2\nout y",
         {1, 1, 1, 1},
         {-11, -14}},
        /* the same with groups of columns anywhere: scales 1 2 1 2 and 2 1 2 1, half precision */
        {"in x f32 1,4\nconst w u8 2,2,1 = 169 203 103 69\nconst s f16 4 = 15360 16384 16384 "
         "15360\n"
         "const g i32 4 = 0 1 0 1\n"
         "com.microsoft:MatMulNBits x,w,s,_,g -> y K=4 N=2 bits=4 block_size=2\nout y",
         {1, 1, 1, 1},
         {16, -14}},
        /* rows of that table, and of one of i4 with blocks along the first axis: codes 1 -2 3 -4,
         * zero points 1 -1, scales 0.5 4 */
        {"in x f32 2,4\nconst w u8 2,2 = 169 203 103 69\nconst s f32 2,2 = 1 2 1 2\n"
         "const i i64 2 = 1 0\n"
         "com.microsoft:GatherBlockQuantized w,i,s -> g bits=4 block_size=2\nAdd x,g -> y\nout y",
         {0},
         {-1, -2, -6, -8, 1, 2, 6, 8}},
        {"in x f32 2,2\nlist w i4 2,2 = 225 195\nconst s f32 1,2 = 0.5 4\nlist z i4 1,2 = 241\n"
         "const i i64 2 = -1 0\n"
         "com.microsoft:GatherBlockQuantized w,i,s,z -> g quantize_axis=0 gather_axis=1 "
         "block_size=2\nAdd x,g -> y\nout y",
         {0},
         {-4, 0, -12, 1}},
        /* 4-bit codes in the typed list, two a byte: 1 -2 3; a scale of half precision, 0.5 */
        {"in x f32 3\nlist w i4 3 = 225 3\nconst s f16 - = 14336\nDequantizeLinear w,s -> d\n"
         "Add x,d -> y\nout y",
         {0, 0, 0},
         {0.5, -1, 1.5}},
        {"in x u8 1,4\n" S("s", "1") S("t", "2")
             Z("z", "u8", "0") "com.microsoft:QLinearReduceMean x,s,z,t,z -> y axes=[1]\nout y",
         {10, 20, 30, 42},
         {13}}, /* 25.5 / 2 = 12.75 */
        {"in x u8 3\nconst c bool 3 = 1 0 1\nconst v u8 3 = 1 2 3\n" S("s", "1") S("t", "2")
             Z("z", "u8", "0") "com.microsoft:QLinearWhere c,x,s,z,v,t,z,t,z -> y\nout y",
         {8, 9, 10},
         {4, 2, 5}},
        /* (2 * 3 + 1) with steps 0.5 * 0.25 * 0.5: 7 / 16, over 1/8 */
        {"in x u8 1,2\nconst w i8 2,1 = 3 1\nconst b i32 1 = 1\n" S("s", "0.5") S("t", "0.25")
             S("u", "0.125") Z("z", "u8", "0")
                 Z("v", "i8", "0") "com.microsoft:QGemm x,s,z,w,t,v,b,u,z -> y alpha=0.5\nout y",
         {2, 0},
         {4}}, /* 3.5 to even */
        /* a row of one overflows float32 in ONNX Runtime: INT32_MIN + zero point, cut or clamped */
        {"in x u8 2,1\n" S("s", "0.1") S("t", "0.00390625") Z("z", "u8", "0") Z(
             "v", "u8", "7") "com.microsoft:QLinearSoftmax x,s,z,t,v -> y axis=-1 opset=13\nout y",
         {7, 200},
         {7, 7}},
        {"in x i8 2,1\n" S("s", "0.1") S("t", "0.00390625") Z("z", "i8", "0")
             Z("v", "i8",
               "-128") "com.microsoft:QLinearSoftmax x,s,z,t,v -> y axis=-1 opset=13\nout y",
         {7, 100},
         {127, 127}},
        /* steps f32(f32(alpha * 0.1) * 0.1): any alpha, as the input's scale */
        {"in x u8 1,2\nconst w i8 2,1 = 100 1\n" S("s", "0.1") S("u", "1") Z("z", "u8", "0")
             Z("v", "i8", "0") "com.microsoft:QGemm x,s,z,w,s,v,_,u,z -> y alpha=0.7\nout y",
         {100, 0},
         {70}},
        /* padding counts: what ceil_mode hangs over is padding, 5 / 2 to even */
        {"in x u8 1,1,3\n" S("u", "1")
             Z("z", "u8",
               "0") "com.microsoft:QLinearAveragePool x,u,z,u,z -> y kernel_shape=[2] strides=[2] "
                    "ceil_mode=1 count_include_pad=1\nout y",
         {2, 4, 5},
         {3, 2}},
        /* codes that only moved have the parameters that are named behind */
        {"in x u8 1,2\n" S("s", "0.5")
             Z("z", "u8", "2") "Transpose x -> t perm=[1,0]\nDequantizeLinear t,s,z -> y\nout y",
         {2, 4},
         {0, 1}},
        /* a pad of codes is by a code: 0, or the one that is given */
        {"in x u8 2\nconst p i64 2 = 1 2\n" S("s", "0.5")
             Z("z", "u8", "5") "Pad x,p -> t\nDequantizeLinear t,s,z -> y\nout y",
         {5, 7},
         {-2.5, 0, 1, -2.5, -2.5}},
        {"in x i8 2\nconst p i64 2 = 1 2\n" S("s", "0.5") Z("z", "i8", "5")
             Z("k", "i8", "-7") "Pad x,p,k -> t\nDequantizeLinear t,s,z -> y\nout y",
         {5, 7},
         {-6, 0, 1, -6, -6}},
        {"in x i8 2\nconst p i64 2 = 1 2\n" S("s", "0.5")
             Z("z", "i8", "5") "Pad x,p,z -> t\nDequantizeLinear t,s,z -> y\nout y",
         {5, 7},
         {0, 0, 1, 0, 0}},
        {"in x u8 2\nconst h i64 1 = 4\n" S("s", "0.5")
             Z("z", "u8", "5") "CenterCropPad x,h -> t\nDequantizeLinear t,s,z -> y\nout y",
         {5, 7},
         {-2.5, 0, 1, -2.5}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        onnx_sample_check(&cases[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(conversions),
        cmocka_unit_test(late_parameters_keep_shapes),
        cmocka_unit_test(operators),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
