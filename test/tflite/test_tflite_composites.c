/* The TFLite importer: composites, which are inlined, and variables as their operands and others'.
 */
#include "test/support/tflite_build.h"

#include <stdlib.h>
#include <string.h>

#include "graph/tflite/tflite.h"

enum { PADV2 = 60, STABLEHLO_MULTIPLY = 165, STABLEHLO_COMPOSITE = 206 };

/* A composite in a composite: constants are handed in, names are those outside. */
static void test_composite(void **state)
{
    static const int32_t a[2] = {3, -5}, two[2] = {2, 4}, want[2] = {12, -80};
    tb_model inner = {.n_inputs = 2, .n_outputs = 1, .input = {0, 1}, .output = {2}}, outer, m;
    unsigned char *file;
    assay_graph *g;

    (void)state;
    tb_add(&inner, "p", TFL_INT32, 2, -1);
    tb_add(&inner, "q", TFL_INT32, 2, -1);
    tb_add(&inner, "r", TFL_INT32, 2, -1);
    tb_outputs(tb_operator(&inner, STABLEHLO_MULTIPLY, 0, 1, -2), 2, -2);
    outer = inner;
    m = inner;
    tb_add(&outer, "s", TFL_INT32, 2, -1);
    outer.output[0] = 3;
    outer.n_ops = 0;
    memset(outer.op, 0, sizeof outer.op);
    for (int k = 0; k < 2; ++k) { /* p * q * q */
        tb_op *op = tb_operator(&outer, STABLEHLO_COMPOSITE, k ? 2 : 0, 1, -2);
        tb_outputs(op, k ? 3 : 2, -2);
        tb_option_i32(op, 1, 2);
        op->second_options = true;
    }
    m.n_inputs = 1;
    m.op[0].builtin = STABLEHLO_COMPOSITE;
    m.op[0].second_options = true;
    tb_option_i32(&m.op[0], 1, 1);
    m.tensor[1].data = two;
    m.tensor[1].bytes = sizeof two;
    m.tensor[1].has_data = true;
    m.next = &outer;
    outer.next = &inner;
    tb_run(&m, (const void *[]){a}, want, sizeof want);
    g = tb_import_ok(&m, &file);
    assert_true(tb_producer(g, "r")->op == ASSAY_OP_MUL);
    assay_graph_free(g);
    free(file);
    outer.tensor[1].type = TFL_FLOAT32;
    tb_refuse(&m, "STABLEHLO_COMPOSITE: operand 1 has another type inside");
    outer.tensor[1].type = TFL_INT32;
    m.tensor[1].block = 2;
    tb_refuse(&m, "operand 1 has a scale for each block");
    m.tensor[1].block = 0;
    outer.op[1].in[1] = -1; /* of an operator inside, whose tensors the message names */
    tb_refuse(&m, "operator 1 (STABLEHLO_COMPOSITE, 'r'): input 1 is missing");
    outer.op[1].in[1] = 1;
    inner.op[0].builtin = 31; /* CALL, which there is no kernel of */
    tb_refuse(&m, "CALL");
    inner.op[0].builtin = STABLEHLO_COMPOSITE; /* itself */
    inner.op[0].second_options = true;
    tb_option_i32(&inner.op[0], 1, 2);
    tb_refuse(&m, "deep");
    m.op[0].option[0].bits = 7;
    tb_refuse(&m, "no subgraph 7");
}

/* A variable that is two operands is one inside too; a body that takes two operands as one tensor
 * has no meaning; an operand that is passed on keeps its number. */
static void test_composite_operands(void **state)
{
    static const int32_t three[2] = {3, -5};
    tb_model inner = {.n_inputs = 2, .n_outputs = 1, .input = {0, 1}, .output = {2}}, m = {0};
    unsigned char *file;
    assay_graph *g;
    tb_op *op;
    int variables = 0;

    (void)state;
    tb_add(&inner, "p", TFL_INT32, 2, -1);
    tb_add(&inner, "q", TFL_INT32, 2, -1);
    tb_add(&inner, "r", TFL_INT32, 2, -1);
    tb_outputs(tb_operator(&inner, STABLEHLO_MULTIPLY, 0, 1, -2), 2, -2);
    tb_add(&m, "x", TFL_INT32, 2, -1);
    tb_add(&m, "v", TFL_INT32, 2, -1);
    tb_data(&m, three, sizeof three);
    m.tensor[1].is_variable = true;
    tb_add(&m, "y", TFL_INT32, 2, -1);
    op = tb_operator(&m, STABLEHLO_COMPOSITE, 1, 1, -2);
    tb_outputs(op, 2, -2);
    tb_option_i32(op, 1, 1);
    op->second_options = true;
    m.n_outputs = m.n_inputs = 1;
    m.output[0] = 2;
    m.next = &inner;
    g = tb_import_ok(&m, &file);
    for (int i = 0; i < g->n_values; ++i)
        variables += g->value[i].is_variable;
    assert_int_equal(variables, 1);
    assay_graph_free(g);
    free(file);
    op->in[0] = 0;
    inner.output[0] = 0; /* x as it is */
    g = tb_import_ok(&m, &file);
    assert_int_equal(tb_value(g, "x")->source_index, 0);
    assay_graph_free(g);
    free(file);
    inner.output[0] = 2;
    inner.input[1] = 0;
    tb_refuse(&m, "takes operands 0 and 1 as one tensor");
}

/* What pads is a constant; a variable's first content is not what it holds when it is read. */
static void test_padded_by_a_variable(void **state)
{
    static const int32_t pads[2] = {1, 1};
    static const float value = 7, x[2] = {3, -5}, want[4] = {7, 3, -5, 7};
    tb_model m = {0};

    (void)state;
    tb_add(&m, "x", TFL_FLOAT32, 2, -1);
    tb_add(&m, "pads", TFL_INT32, 1, 2, -1);
    tb_data(&m, pads, sizeof pads);
    tb_add(&m, "value", TFL_FLOAT32, 1, -1);
    tb_data(&m, &value, sizeof value);
    tb_add(&m, "y", TFL_FLOAT32, 4, -1);
    tb_outputs(tb_operator(&m, PADV2, 0, 1, 2, -2), 3, -2);
    m.n_inputs = m.n_outputs = 1;
    m.output[0] = 3;
    tb_run(&m, (const void *[]){x}, want, sizeof want);
    m.tensor[2].is_variable = true;
    tb_refuse(&m, "a value that is not a single constant");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_composite),
        cmocka_unit_test(test_composite_operands),
        cmocka_unit_test(test_padded_by_a_variable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
