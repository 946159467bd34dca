/* Admission of networks that come quantized, by a scheme's `types`: what is outside, and why. */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "graph/text/text.h"
#include "interp/golden/contract.h"
#include "interp/run/program.h"
#include "schemes/node/admit.h"
#include "test/support/scheme_unit.h"
#include "test/support/support.h"

/* A layer; the parts that the cases vary. */
typedef struct layer {
    const char *x, *w, *w_data, *b, *y; /* types, "[...]" the weights' codes and the bias's */
} layer;

static const layer plain = {"i8[1,2] q(0.5,0)", "i8[1,2] q(0.25,0)", "[1,-2]", "[7]",
                            "i8[1,1] q(1,0)"};

static assay_graph *make(const layer *l)
{
    char text[600];
    assay_graph *g;
    assay_error err;
    snprintf(text, sizeof text,
             "graph g {\n input x: %s\n const w: %s = %s\n const b: i32[%d] q(%s) = %s\n"
             " y: %s = fc(x, w, b)\n output y\n}\n",
             l->x, l->w, l->w_data, strchr(l->b, ',') ? 2 : 1,
             strchr(l->b, ',') ? "axis=0,[0.125,0.25],[0,0]" : "0.125,0", l->b, l->y);
    if (text_graph_parse(text, strlen(text), "layer", NULL, &g, &err) != ASSAY_OK)
        fail_msg("%s\n%s", err.text, text);
    return g;
}

static assay_scheme *scheme_with(const char *types)
{
    char text[400];
    snprintf(text, sizeof text, "scheme: mine\nextends: nvdla\ntypes: {%s}\n", types);
    return unit_open(text);
}

typedef struct admission {
    const char *types;
    layer l;
    const char *why; /* part of the reason; NULL: admitted */
} admission;

static void types_are_enforced(void **state)
{
    static const char *const i8 = "i8[1,2] q(0.5,0)", *const w8 = "i8[1,2] q(0.25,0)";
    static const char *const y8 = "i8[1,1] q(1,0)";
    static const char *const none = "activation_zero_point: none";
    const admission cases[] = {
        {none, plain, NULL},
        {none, {"i8[1,2] q(0.5,3)", w8, "[1,-2]", "[7]", y8}, "zero point 3"},
        {none, {i8, w8, "[1,-2]", "[7]", "i8[1,1] q(1,-128)"}, "activation 'y'"},
        {none, {"u8[1,2] q(0.5,0)", w8, "[1,-2]", "[7]", y8}, "unsigned"},
        {"activation_zero_point: none, activation_signed: no",
         {"u8[1,2] q(0.5,128)", w8, "[1,-2]", "[7]", "u8[1,1] q(1,0)"},
         "activation 'x' has the zero point 128; the target's are all 0"},
        {none, {"i16[1,2] q(0.5,0)", w8, "[1,-2]", "[7]", y8}, "16 bits"},
        {none, {"i5[1,2] q(0.5,0)", w8, "[1,-2]", "[7]", "i5[1,1] q(1,0)"}, NULL},
        {none, {i8, "i8[1,2] q(0.25,1)", "[1,-2]", "[7]", y8}, "weights 'w' has the zero point 1"},
        {none, {i8, "u8[1,2] q(0.25,0)", "[1,2]", "[7]", y8}, "weights 'w' are unsigned"},
        {"activation_bits: 4", plain, "8 bits, the target's have 4"},
        {"activation_signed: no", plain, "types.activation_signed"},
        {"activation_signed: no, activation_zero_point: middle",
         {"u8[1,2] q(0.5,128)", w8, "[1,-2]", "[7]", "u8[1,1] q(1,0)"},
         NULL},
        {"activation_signed: no, activation_zero_point: middle",
         {"u8[1,2] q(0.5,127)", w8, "[1,-2]", "[7]", "u8[1,1] q(1,0)"},
         "0 or the middle code"},
        {"activation_bits: 16", {"i16[1,2] q(0.5,0)", w8, "[1,-2]", "[7]", y8}, NULL},
        {"activation_bits: 16, activation_zero_point: any, wide_zero_point: no",
         {"i16[1,2] q(0.5,1)", w8, "[1,-2]", "[7]", y8},
         "wide_zero_point"},
        {"activation_bits: 16, wide_zero_point: no, power_of_two_scales: yes",
         {"i16[1,2] q(0.3,0)", w8, "[1,-2]", "[7]", y8},
         "activation 'x' has the scale 0.3"},
        {"weight_bits: 4", plain, "weights 'w' have 8 bits, the target's have 4"},
        {"weight_bits: 4", {i8, "i3[1,2] q(0.25,0)", "[1,-2]", "[7]", y8}, NULL},
        {"weight_narrow: yes", {i8, w8, "[1,-128]", "[7]", y8}, "hold -128"},
        {"weight_narrow: yes", {i8, w8, "[1,-127]", "[7]", y8}, NULL},
        {"weight_narrow: yes", {i8, "i4[1,2] q(0.25,0)", "[1,-8]", "[7]", y8}, NULL},
        {"bias_bits: 8", {i8, w8, "[1,-2]", "[127]", y8}, NULL},
        {"bias_bits: 8", {i8, w8, "[1,-2]", "[128]", y8}, "bias 'b' reaches from 128 to 128"},
        {"bias_bits: 8", {i8, w8, "[1,-2]", "[-129]", y8}, "bias_bits"},
        {"weight_scales: per-tensor",
         {i8, "i8[2,2] q(axis=0,[0.25,0.5],[0,0])", "[1,-2,3,4]", "[7,8]", "i8[1,2] q(1,0)"},
         "2 scales, the target's have one"},
        {"weight_scales: per-channel",
         {i8, "i8[2,2] q(axis=0,[0.25,0.5],[0,0])", "[1,-2,3,4]", "[7,8]", "i8[1,2] q(1,0)"},
         NULL},
        {"power_of_two_scales: yes", plain, NULL},
        {"power_of_two_scales: yes", {"i8[1,2] q(0.3,0)", w8, "[1,-2]", "[7]", y8}, "0.3"},
        {"power_of_two_scales: yes", {i8, "i8[1,2] q(0.3,0)", "[1,-2]", "[7]", y8}, "'w'"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char why[ASSAY_ADMIT_WHY] = "";
        assay_scheme *s = scheme_with(cases[i].types);
        assay_graph *g = make(&cases[i].l);
        const bool admitted = assay_scheme_admits(s, g, &g->node[0], why, sizeof why);
        if (admitted != !cases[i].why || (cases[i].why && !strstr(why, cases[i].why)))
            fail_msg("case %zu (%s): %s", i, cases[i].types, admitted ? "admitted" : why);
        assay_graph_free(g);
        assay_scheme_free(s);
    }
}

/* Networks of other shapes under a whole record of their own. */
static void networks_are_read_whole(void **state)
{
    static const char i4[] = "types: {weight_bits: 4, activation_zero_point: none}\n";
    static const char x[] = " input x: i8[1,2] q(0.5,0)\n";
    static const char fc[] =
        " const w: i8[1,2] q(0.25,0) = [1,-2]\n y: i8[1,1] q(1,0) = fc(x, w)\n";
    static const struct {
        const char *scheme, *x, *rest, *why; /* why: NULL: admitted */
    } cases[] = {
        {i4, x, fc, "node 'y' (fc): weights 'w' have 8 bits, the target's have 4"},
        {"types: {weight_bits: 4}\naccepts: {weight_bits: 8}\n", x, fc, NULL},
        /* weights that are no constant may hold their type's least code */
        {"types: {weight_narrow: yes}\n", x,
         " input w: i8[1,2] q(0.25,0)\n y: i8[1,1] q(1,0) = fc(x, w)\n", NULL},
        /* a bias that is no constant may hold all of its type */
        {"types: {bias_bits: 16}\n", x,
         " const w: i8[1,2] q(0.25,0) = [1,-2]\n input b: i32[1] q(0.125,0)\n"
         " y: i8[1,1] q(1,0) = fc(x, w, b)\n",
         "bias 'b' reaches from -2147483648 to 2147483647, the target's has 16 bits"},
        {"", x, " const w: i8[1,2] q(0.25,0) = [1,-2]\n y: i8[1,1] q(1,0) = fc(x, w, _)\n", NULL},
#define BIAS(codes, parameters)                                                                    \
    " const w: i8[2,2] q(axis=0,[0.25,0.5],[0,0]) = [1,-2,3,4]\n const b: i32[2] " parameters      \
    " = " codes "\n y: i8[1,2] q(1,0) = fc(x, w, b)\n"
        /* a bias counts products: of another scale it is outside, where that scale matters */
        {"", x, BIAS("[7,8]", "q(axis=0,[0.125,0.25],[0,0])"), NULL},
        {"", x, BIAS("[7,8]", ""), NULL},
        {"", x, BIAS("[7,8]", "q(axis=0,[0.125,0.5],[0,0])"),
         "node 'y' (fc): bias 'b' has the scale 0.5 in channel 1, its products have 0.25 "
         "(accepts.bias_other_scale of scheme mine)"},
        {"", x, BIAS("[7,8]", "q(0.125,0)"), "bias 'b' has the scale 0.125 in channel 1"},
        {"", x, BIAS("[7,0]", "q(0.125,0)"), NULL},
        {"", x, BIAS("[15,-15]", "q(axis=0,[0.129,0.257],[0,0])"), NULL},
        {"", x, BIAS("[15,-19]", "q(axis=0,[0.129,0.257],[0,0])"), "in channel 1"},
        {"", x, BIAS("[-16,15]", "q(axis=0,[0.129,0.257],[0,0])"), "in channel 0"},
        {"", x, BIAS("[2147483647,8]", "q(axis=0,[0.12500001,0.25],[0,0])"), NULL},
        {"accepts: {bias_other_scale: yes}\n", x, BIAS("[7,8]", "q(0.5,0)"), NULL},
        {"accepts: {bias_other_scale: no}\n", x,
         " const w: i8[1,2] q(0.25,0) = [1,-2]\n input b: i32[1] q(0.124,0)\n"
         " y: i8[1,1] q(1,0) = fc(x, w, b)\n",
         "bias 'b' has the scale 0.123999998 in channel 0"},
        /* which parameters that are not there cannot contradict */
        {"", " input x: i8[1,2]\n", BIAS("[7,8]", "q(0.5,0)"), NULL},
        {"", x,
         " const w: i8[2,2] = [1,-2,3,4]\n const b: i32[2] q(0.5,0) = [7,8]\n"
         " y: i32[1,2] = fc(x, w, b)\n",
         NULL},
        /* the constant operand of a matrix product is weights, another product's is not */
        {i4, x, " const w: i8[2,1] q(0.25,0) = [1,-2]\n y: i8[1,1] q(1,0) = matmul(x, w)\n",
         "node 'y' (matmul): weights 'w' have 8 bits"},
        {i4, x, " input w: i8[2,1] q(0.25,0)\n y: i8[1,1] q(1,0) = matmul(x, w)\n", NULL},
        {i4, x, " const w: i8[1,2] q(0.25,0) = [1,-2]\n y: i8[1,2] q(1,0) = mul(x, w)\n", NULL},
        /* gamma and beta have types of their own */
        {i4, x, " const c: i16[2] q(0.25,3) = [1,-2]\n y: i8[1,2] q(1,0) = layer_norm(x, c)\n",
         NULL},
        {i4, " input x: i8[1,2] q(0.5,3)\n",
         " const c: i16[2] q(0.25,0) = [1,-2]\n y: i8[1,2] q(1,0) = layer_norm(x, c)\n",
         "activation 'x' has the zero point 3"},
        /* constants that become floats do so before the target sees them */
        {i4, x, " const w: i16[1,2] q(0.25,9) = [1,-2]\n y: f32[1,2] = dequantize(w)\n", NULL},
        {i4, " input x: i8[1,2] q(0.5,3)\n", " y: f32[1,2] = dequantize(x)\n", "node 'y'"},
        /* moves have no arithmetic, nor has what a scheme knows no form of */
        {i4, " input x: i8[1,2] q(0.5,3)\n", " y: i8[2,1] q(0.5,3) = transpose(x) {perm=[1,0]}\n",
         NULL},
        {i4, " input x: i8[1,2] q(0.5,3)\n", " y: i64[1,1] = arg_max(x) {axis=1}\n", NULL},
        /* the first of several is named, in whatever graph it stands */
        {i4, " input x: i8[1,2] q(0.5,3)\n",
         " v: i8[1,2] q(0.5,0) = relu(x)\n y: i8[1,2] q(0.5,4) = relu(v)\n",
         "types.activation_zero_point of scheme mine); 2 of 2 nodes are outside"},
        {i4, " input x: i8[1,2] q(0.5,3)\n input p: bool[]\n",
         " graph a {\n  input v: i8[1,2] q(0.5,3)\n  r: i8[1,2] q(0.5,3) = relu(v)\n  output r\n "
         "}\n"
         " y: i8[1,2] q(0.5,3) = if(p, x) {on_false=0}\n",
         "activation_zero_point of scheme mine); 1 of 2 nodes are outside"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[700], record[300];
        assay_graph *g;
        assay_error err = {0};
        snprintf(record, sizeof record, "scheme: mine\n%s", cases[i].scheme);
        assay_scheme *s = unit_open(record);
        snprintf(text, sizeof text, "graph g {\n%s%s output y\n}\n", cases[i].x, cases[i].rest);
        if (text_graph_parse(text, strlen(text), "net", NULL, &g, &err) != ASSAY_OK)
            fail_msg("%s\n%s", err.text, text);
        const bool admitted = assay_scheme_admits_graph(s, g, &err) == ASSAY_OK;
        if (admitted != !cases[i].why || (cases[i].why && !strstr(err.text, cases[i].why)))
            fail_msg("case %zu:\n%s%s\n%s", i, record, text, admitted ? "admitted" : err.text);
        assay_graph_free(g);
        assay_scheme_free(s);
    }
}

/* A plugin without a record has no types to enforce. */
static void no_record_admits_all(void **state)
{
    const assay_scheme plugin = {.name = "plugin"};
    char why[ASSAY_ADMIT_WHY] = "";
    layer l = plain;
    l.x = "i12[1,2] q(0.5,3)";
    (void)state;
    assay_graph *g = make(&l);
    assert_true(assay_scheme_admits(&plugin, g, &g->node[0], why, sizeof why));
    assert_string_equal(why, "");
    assay_graph_free(g);
}

/* Under presets: what the real targets have beside what the quantizer makes for them. */
static void presets_admit_what_targets_have(void **state)
{
    static const layer legacy = {"u8[1,2] q(0.5,3)", "u8[1,2] q(0.25,120)", "[1,2]", "[7]",
                                 "u8[1,1] q(1,9)"};
    static const layer wide = {"i16[1,2] q(0.5,0)", "i8[1,2] q(0.25,0)", "[1,-128]", "[7]",
                               "i16[1,1] q(1,0)"};
    static const layer mixed = {"i8[1,2] q(0.5,-3)", "i8[1,2] q(0.25,0)", "[1,-2]", "[7]",
                                "i16[1,1] q(1,0)"};
    static const struct {
        const char *scheme;
        const layer *l;
        bool admitted;
    } cases[] = {
        {"tflite", &legacy, true},
        {"tflite", &wide, true},
        {"tflite", &mixed, true},
        {"ruy", &legacy, true},
        {"cmsis-nn", &legacy, false},
        {"cmsis-nn", &wide, true},
        {"cmsis-nn-single", &legacy, false},
        {"cmsis-nn-single", &wide, true},
        {"gemmlowp", &legacy, true},
        {"gemmlowp", &wide, false},
        {"tflite-int16x8", &wide, true},
        {"tflite-int16x8", &mixed, false},
        {"tflite-int16x8", &legacy, false},
        {"onnxruntime", &legacy, true},
        {"onnxruntime", &plain, true},
        {"xnnpack-qs8", &legacy, false},
        {"xnnpack-qu8-arm", &legacy, true},
        {"nvdla", &wide, false},
        {"qonnx", &wide, true},
        {"glow-interp", &wide, true},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char why[ASSAY_ADMIT_WHY] = "";
        assay_scheme *s;
        assay_error err;
        assert_ok(assay_scheme_open(cases[i].scheme, &s, &err), &err);
        assay_graph *g = make(cases[i].l);
        if (assay_scheme_admits(s, g, &g->node[0], why, sizeof why) != cases[i].admitted)
            fail_msg("case %zu, %s: %s", i, cases[i].scheme, why[0] ? why : "admitted");
        assay_graph_free(g);
        assay_scheme_free(s);
    }
}

/* The contract claims nothing of what is outside; the refusal names the node, and how many. */
static void contract_says_what_is_outside(void **state)
{
    layer l = plain;
    assay_program *p;
    assay_scheme *s;
    assay_error err;
    l.x = "i8[1,2] q(0.5,3)";
    (void)state;
    assert_ok(assay_scheme_open("nvdla", &s, &err), &err);
    assay_graph *g = make(&l), *good = make(&plain);
    assert_ok(assay_scheme_admits_graph(s, good, &err), &err);
    assert_int_equal(assay_scheme_admits_graph(s, g, &err), ASSAY_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.text, "node 'y' (fc): activation 'x' has the zero point 3"));
    assert_non_null(strstr(err.text, "1 of 1 nodes are outside"));
    assert_ok(assay_graph_set_quantized_for(g, "tflite", &err), &err);
    assert_ok(assay_program_make_as_is(g, s, false, &p, &err), &err);
    json_t *o = golden_contract_json(p);
    assert_int_equal(json_integer_value(json_object_get(json_object_get(o, "outside"), "fc")), 1);
    assert_int_equal(json_object_size(json_object_get(o, "exact")), 0);
    assert_int_equal(json_array_size(json_object_get(o, "outside_why")), 1);
    assert_string_equal(json_string_value(json_object_get(o, "quantized_for")), "tflite");
    json_decref(o);
    assay_program_free(p);
    assay_graph_free(g);
    assay_graph_free(good);
    assay_scheme_free(s);
}

/* The note goes through the text and a clone; a value may have its name; old texts have none. */
static void note_is_kept(void **state)
{
    static const char text[] = "graph g {\n"
                               "  scheme \"my \\\"npu\\\"\"\n"
                               "  input scheme: i8[1] q(0.5,0)\n"
                               "  y: i8[1] q(1,0) = rescale(scheme)\n"
                               "  output y\n"
                               "}\n";
    assay_graph *g, *copy;
    assay_buf out = {0};
    assay_error err;
    (void)state;
    assert_ok(text_graph_parse(text, strlen(text), "text", NULL, &g, &err), &err);
    assert_string_equal(g->quantized_for, "my \"npu\"");
    assert_ok(assay_graph_clone(g, &copy, &err), &err);
    assert_ok(text_graph_print(copy, NULL, &out, &err), &err);
    assert_string_equal(out.text, text);
    assay_buf_free(&out);
    assay_graph_free(copy);
    assay_graph_free(g);
    g = make(&plain);
    assert_null(g->quantized_for);
    assert_int_equal(assay_graph_set_quantized_for(g, "two\nlines", &err), ASSAY_ERR_INPUT);
    assay_graph_free(g);
}

/* What a runtime leaves to other kernels: LiteRT's delegate takes signed weights of fully connected
 * without zero points alone, unsigned ones with theirs. */
static void zero_points_of_a_delegate(void **state)
{
    static const layer layers[] = {
        {"i8[1,2] q(0.5,3)", "i8[1,2] q(0.25,0)", "[1,-2]", "[7]", "i8[1,1] q(1,3)"},
        {"i8[1,2] q(0.5,3)", "i8[1,2] q(0.25,-7)", "[1,-2]", "[7]", "i8[1,1] q(1,3)"},
        {"u8[1,2] q(0.5,3)", "u8[1,2] q(0.25,120)", "[1,2]", "[7]", "u8[1,1] q(1,3)"},
    };
    static const struct {
        const char *scheme;
        bool admits[3];
    } cases[] = {{"litert-xnnpack", {true, false, true}}, {"tflite", {true, true, true}}};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        assay_error err;
        assay_scheme *s;
        assert_ok(assay_scheme_open(cases[i].scheme, &s, &err), &err);
        for (size_t k = 0; k < sizeof layers / sizeof *layers; k++) {
            char why[ASSAY_ADMIT_WHY] = "";
            assay_graph *g = make(&layers[k]);
            if (assay_scheme_admits(s, g, &g->node[0], why, sizeof why) != cases[i].admits[k])
                fail_msg("%s, layer %zu: %s", cases[i].scheme, k, why);
            assay_graph_free(g);
        }
        assay_scheme_free(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(types_are_enforced),
        cmocka_unit_test(networks_are_read_whole),
        cmocka_unit_test(no_record_admits_all),
        cmocka_unit_test(presets_admit_what_targets_have),
        cmocka_unit_test(zero_points_of_a_delegate),
        cmocka_unit_test(contract_says_what_is_outside),
        cmocka_unit_test(note_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
