/* Floats beside codes under the preset onnxruntime: the classes of the contract, and the bits that
 * ONNX Runtime 1.30 gave for HardSwish and Cast (vectors/onnxruntime/alone.csv). */
#include "test/support/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/text/text.h"
#include "interp/golden/contract.h"
#include "interp/run/program.h"
#include "schemes/scheme.h"

typedef struct network {
    assay_graph *graph;
    assay_scheme *scheme;
    assay_program *program;
} network;

static network open_under(const char *scheme, const char *text)
{
    network n = {0};
    assay_error err = {0};
    assert_ok(text_graph_parse(text, strlen(text), "test", NULL, &n.graph, &err), &err);
    assert_ok(assay_scheme_open(scheme, &n.scheme, &err), &err);
    assert_ok(assay_program_make_as_is(n.graph, n.scheme, false, &n.program, &err), &err);
    return n;
}

static network open_network(const char *text)
{
    return open_under("onnxruntime", text);
}

static void close_network(network *n)
{
    assay_program_free(n->program);
    assay_graph_free(n->graph);
    assay_scheme_free(n->scheme);
}

/* ---- the contract's classes ---- */

#define CODES  "input a: u8[1,4] q(0.1,3)\n"
#define BESIDE CODES "x: f32[1,4] = dequantize(a)\n"

static const struct {
    const char *text, *class, *op;
    int count;
} classes[] = {
    {CODES "const w: i8[2,4] q(0.2,0) = [1,2,3,4,5,6,7,8]\n"
           "y: u8[1,2] q(0.5,9) = fc(a, w)\n",
     "exact", "fc", 1},
    {CODES "y: u8[1,4] q(0.5,9) = tanh(a)\n", "not_exact", "tanh", 1},
    /* between types, of 16 bits, of fewer than 8: no kernel of codes */
    {CODES "const w: i8[2,4] q(0.2,0) = [1,2,3,4,5,6,7,8]\n"
           "y: i8[1,2] q(0.5,9) = fc(a, w)\n",
     "not_exact", "fc", 1},
    {"input a: i8[1,4] q(0.1,3)\nconst w: u8[2,4] q(0.2,0) = [1,2,3,4,5,6,7,8]\n"
     "y: i8[1,2] q(0.5,9) = fc(a, w)\n",
     "exact", "fc", 0},
    {CODES "input b: i8[1,4] q(0.1,3)\ny: u8[1,4] q(0.5,9) = add(a, b)\n", "not_exact", "add", 1},
    {CODES "y: u8[1,4] q(0.5,9) = add(a, a)\n", "exact", "add", 1},
    {CODES "y: i8[1,4] q(0.5,9) = relu(a)\n", "exact", "relu", 1}, /* tables give the same */
    {"input a: i16[1,4] q(0.1,0)\ny: i16[1,4] q(0.5,0) = add(a, a)\n", "exact", "add", 0},
    {CODES "const w: i4[2,4] q(0.2,0) = [1,2,3,4,5,6,7,-8]\n"
           "y: u8[1,2] q(0.5,9) = fc(a, w)\n",
     "exact", "fc", 0},
    {BESIDE "y: f32[1,4] = hard_swish(x)\n", "float_exact", "hard_swish", 1},
    {BESIDE "y: f32[1,4] = softplus(x)\n", "float", "softplus", 1},
    {BESIDE "z: f32[1,4] = exp(x)\ny: f32[1,4] = sqrt(z)\n", "float", "sqrt", 1}, /* neighbours */
    {BESIDE "z: f32[1,4] = exp(x)\ny: f32[1,4] = sqrt(z)\n", "float", "exp", 1},
    {BESIDE "const w: f32[2,4] = [1,2,3,4,5,6,7,8]\ny: f32[1,2] = fc(x, w)\n", "float_exact", "fc",
     1},
    /* between codes it makes codes of weights and biases first */
    {BESIDE "const w: f32[2,4] = [1,2,3,4,5,6,7,8]\nz: f32[1,2] = fc(x, w)\n"
            "y: u8[1,2] q(0.5,9) = quantize(z)\n",
     "float", "fc", 1},
    {BESIDE "y: u8[1,4] = cast(x) {to=u8}\n", "float_exact", "cast", 1},
    {BESIDE "y: i32[1,4] = cast(x) {to=i32}\n", "float_exact", "cast", 1},
    {BESIDE "y: u32[1,4] = cast(x) {to=u32}\n", "float", "cast", 1}, /* beyond 32 bits it differs */
};

static void contract(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++) {
        char text[400];
        snprintf(text, sizeof text, "graph m {\n%soutput y }", classes[i].text);
        network n = open_network(text);
        json_t *all = golden_contract_json(n.program);
        const json_t *ops = json_object_get(all, classes[i].class);
        if (json_integer_value(json_object_get(ops, classes[i].op)) != classes[i].count)
            fail_msg("%s\n%s: not %d of %s", text, json_dumps(all, 0), classes[i].count,
                     classes[i].class);
        json_decref(all);
        close_network(&n);
    }
}

/* TensorFlow Lite's kernels take operands and result of one type; requantize and others do not. */
static void one_type(void **state)
{
    (void)state;
    static const struct {
        const char *scheme, *out, *op, *call;
        bool exact;
    } rows[] = {
        {"tflite", "i8", "add", "add(a, a)", true},
        {"tflite", "u8", "add", "add(a, a)", false},
        {"tflite", "i16", "relu", "relu(a)", false},
        {"tflite", "u8", "rescale", "rescale(a)", true},
        {"litert-ref", "u8", "min", "min(a, a)", false},
        {"litert-ref", "i8", "min", "min(a, a)", true},
        {"cmsis-nn", "i16", "add", "add(a, a)", false},
        {"tosa-single", "i4", "add", "add(a, a)", true}, /* its RESCALE gives any type */
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[200];
        snprintf(text, sizeof text,
                 "graph m {\ninput a: i8[1,4] q(0.1,0)\ny: %s[1,4] q(0.25,0) = %s\noutput y }",
                 rows[i].out, rows[i].call);
        network n = open_under(rows[i].scheme, text);
        json_t *all = golden_contract_json(n.program);
        const json_t *ops = json_object_get(all, rows[i].exact ? "exact" : "not_exact");
        if (json_integer_value(json_object_get(ops, rows[i].op)) != 1)
            fail_msg("%s: %s\n%s", rows[i].scheme, text, json_dumps(all, 0));
        json_decref(all);
        close_network(&n);
    }
}

/* ---- measured bits ---- */

static float float_of(uint32_t bits)
{
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

/* One float through the op: the result's bits, or the integer. */
static long long result(const char *op, uint32_t bits)
{
    const bool casts = strncmp(op, "cast_", 5) == 0;
    const float x = float_of(bits);
    char text[300];
    assay_run *r = NULL;
    assay_error err = {0};
    snprintf(text, sizeof text,
             "graph m {\ninput x: f32[1]\ninput a: u8[1] q(0.1,3)\nb: f32[1] = dequantize(a)\n"
             "y: %s[1] = %s(x)%s%s%s\noutput y\noutput b }",
             casts ? op + 5 : "f32", casts ? "cast" : op, casts ? " {to=" : "", casts ? op + 5 : "",
             casts ? "}" : "");
    network n = open_network(text);
    assert_ok(assay_run_new(n.program, &r, &err), &err);
    memcpy(assay_run_data(r, n.graph->input[0]), &x, sizeof x);
    memset(assay_run_data(r, n.graph->input[1]), 0, 1);
    assert_ok(run_execute(r, NULL, false, NULL, &err), &err);
    const void *y = assay_run_data(r, n.graph->output[0]);
    uint32_t word = 0;
    const assay_elem e = n.graph->value[n.graph->output[0]].type.elem;
    const size_t size = e.kind == ASSAY_KIND_F32 ? 4 : e.bits / 8U;
    memcpy(&word, y, size);
    assay_run_free(r);
    close_network(&n);
    if (e.kind == ASSAY_KIND_F32 || !e.is_signed)
        return word;
    return size == 1 ? (int8_t)word : size == 2 ? (int16_t)word : (int32_t)word;
}

static void measured(void **state)
{
    char path[600], line[100];
    int rows = 0;
    (void)state;
    FILE *f = fopen(test_source("test/vectors/onnxruntime/alone.csv", path, sizeof path), "r");
    assert_non_null(f);
    assert_non_null(fgets(line, sizeof line, f)); /* the header */
    while (fgets(line, sizeof line, f) != NULL) {
        char *rest, *op = strtok_r(line, ",", &rest), *in = strtok_r(NULL, ",", &rest);
        const uint32_t bits = (uint32_t)strtoul(in, NULL, 16);
        const bool casts = strncmp(op, "cast_", 5) == 0;
        const long long want = strtoll(rest, NULL, casts ? 10 : 16), got = result(op, bits);
        if (got != want)
            fail_msg("%s of %08x: %lld, expected %lld", op, bits, got, want);
        rows++;
    }
    fclose(f);
    assert_int_equal(rows, 328);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(contract), cmocka_unit_test(one_type),
                                       cmocka_unit_test(measured)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
