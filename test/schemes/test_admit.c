/* What a scheme's `types` admit of a network that comes quantized, what is outside, and why. */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "graph/text/text.h"
#include "interp/golden/contract.h"
#include "interp/run/program.h"
#include "schemes/node/admit.h"
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
    assay_scheme *s;
    assay_error err;
    snprintf(text, sizeof text, "scheme: mine\nextends: nvdla\ntypes: {%s}\n", types);
    assert_ok(assay_scheme_parse("mine.yaml", text, strlen(text), &s, &err), &err);
    return s;
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(types_are_enforced),
        cmocka_unit_test(presets_admit_what_targets_have),
        cmocka_unit_test(contract_says_what_is_outside),
        cmocka_unit_test(note_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
