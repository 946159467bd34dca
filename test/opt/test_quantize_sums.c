/* The quantizer: sums of codes (add_n, cumsum), and a matmul's constant operand. */
#include "test/support/support.h"

#include <stdlib.h>
#include <string.h>

#include "graph/core/type.h"
#include "test/support/quantized.h"

/* The sums of what is added to, or of a softmax, whose zero point is the scheme's own. */
static assay_graph *running_sums(test_rng *rng, bool of_softmax)
{
    assay_graph *g = net_new();
    const assay_attrs along = {.cumsum = {.axis = 1}}, row = {.softmax = {.axis = 1, .beta = 1}};
    int x = net_input(g, "x", NET_SHAPE(1, 8, 4));
    x = of_softmax ? net_node(g, ASSAY_OP_SOFTMAX, "up", &row, x, -2)
                   : net_node(g, ASSAY_OP_ADD, "up", NULL, x,
                              net_constant(g, rng, "c", 0.7, 0.9, NET_SHAPE(1)), -2);
    net_output(g, net_node(g, ASSAY_OP_CUMSUM, "y", &along, x, -2));
    return g;
}

/* Where sums of codes count the zero point once too often (TFLite), it is 0, and unsigned codes,
 * which have another, are not summed. */
static void sums_of_codes_without_zero_point(void **state)
{
    static const char *const scheme[] = {"tflite", "onnxruntime"};
    const assay_precision_rule u8 = {"y", {ASSAY_KIND_INT, 8, false}, true};
    (void)state;
    for (int k = 0; k < 8; k++) {
        test_rng rng = test_seed("sums of codes", 18);
        const bool of_softmax = k & 2, is_unsigned = k & 4;
        quantized s = quantized_prepare(running_sums(&rng, of_softmax), &rng, scheme[k % 2]);
        quantized_make(&s, (assay_quantize_options){.precision = &u8, .n_precision = is_unsigned});
        assert_true(quantized_sqnr(&s, &rng, 0) > 25);
        const char *why = quantized_reason(&s, "y");
        assert_int_equal(why != NULL, k % 2 == 0 && is_unsigned);
        if (k % 2 == 0 && !is_unsigned)
            assert_int_equal(*quantized_type(&s, of_softmax ? "up:as:y" : "up")->q.zero_point, 0);
        if (why)
            assert_non_null(strstr(why, "count the zero point once too often"));
        quantized_drop(&s);
    }
}

/* Operands of add_n have one code, whatever their ranges: two computed, a softmax and a constant.
 */
static void operands_of_one_code(void **state)
{
    static const char *const scheme[] = {"tflite", "tflite-int16x8", "onnxruntime", "npu16"};
    const assay_attrs row = {.softmax = {.axis = 1, .beta = 1}};
    (void)state;
    for (int k = 0; k < 4; k++) {
        test_rng rng = test_seed("operands of one code", 19);
        assay_graph *g = net_new();
        int x = net_input(g, "x", NET_SHAPE(1, 8));
        int c = net_constant(g, &rng, "c", -3, 2, NET_SHAPE(1, 8));
        const int in[] = {x, net_node(g, ASSAY_OP_MUL, "far", NULL, x, c, -2),
                          net_node(g, ASSAY_OP_SOFTMAX, "p", &row, x, -2), c};
        net_output(g, net_node(g, ASSAY_OP_ADD_N, "y", NULL, in[0], in[1], in[2], in[3], -2));
        quantized s = quantized_prepare(g, &rng, scheme[k]);
        quantized_make(&s, (assay_quantize_options){0});
        assert_null(quantized_reason(&s, "y"));
        assert_true(quantized_sqnr(&s, &rng, 0) > (k == 1 ? 70 : 28));
        quantized_drop(&s);
    }
}

/* TFLite's sums wrap in 32 bits, those of 16-bit codes from four on: they are not left to wrap. */
static void sums_do_not_wrap(void **state)
{
    static const struct {
        int steps;
        const char *scheme;
        bool wraps;
    } cases[] = {{3, "tflite-int16x8", false},
                 {32, "tflite-int16x8", true},
                 {32, "tflite", false},
                 {400, "tflite", true},
                 {400, "onnxruntime", false}};
    const assay_attrs along = {.cumsum = {.axis = 1}};

    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        test_rng rng = test_seed("sums do not wrap", 20);
        assay_graph *g = net_new();
        int x = net_input(g, "x", NET_SHAPE(1, cases[k].steps, 4));
        x = net_node(g, ASSAY_OP_ABS, "up", NULL, x, -2);
        net_output(g, net_node(g, ASSAY_OP_CUMSUM, "y", &along, x, -2));
        quantized s = quantized_prepare(g, &rng, cases[k].scheme);
        quantized_make(&s, (assay_quantize_options){0});
        const char *why = quantized_reason(&s, "y");
        assert_int_equal(why != NULL, cases[k].wraps);
        if (why)
            assert_string_equal(why, "the target's sums of its codes wrap in 32 bits");
        assert_true(quantized_sqnr(&s, &rng, 0) > 25);
        quantized_drop(&s);
    }
}

/* A stack of constant matrices has the target's bits of weights, and the target takes what is made.
 */
static void constant_operand_of_matmul(void **state)
{
    static const char *const scheme[] = {"tflite", "tflite-int16x8", "npu16"};
    (void)state;
    for (int k = 0; k < 3; k++) {
        test_rng rng = test_seed("constant operand of matmul", 21);
        assay_graph *g = net_new();
        int x = net_input(g, "x", NET_SHAPE(3, 5, 6));
        int w = net_constant(g, &rng, "w", -1, 2, NET_SHAPE(3, 6, 4));
        net_output(g, net_node(g, ASSAY_OP_MATMUL, "y", NULL, x, w, -2));
        quantized s = quantized_prepare(g, &rng, scheme[k]);
        quantized_make(&s, (assay_quantize_options){0});
        assert_null(quantized_reason(&s, "y"));
        assert_true(quantized_sqnr(&s, &rng, 0) > (k == 1 ? 38 : 28));
        const assay_type *type = quantized_type(&s, "w");
        assert_int_equal(type->elem.bits, 8);
        assert_int_equal(k == 1 ? *type->q.zero_point : 0, 0);
        quantized_drop(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_of_codes_without_zero_point),
        cmocka_unit_test(operands_of_one_code),
        cmocka_unit_test(sums_do_not_wrap),
        cmocka_unit_test(constant_operand_of_matmul),
    };
    return cmocka_run_group_tests_name("quantize_sums", tests, NULL, NULL);
}
