/* Nodes that a target computes on codes, by the types around them: narrow ones, mixed ones, ones
 * without codes, and operands that are absent. */
#include "test/support/support.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "graph/text/text.h"
#include "schemes/node/admit.h"
#include "test/support/scheme_unit.h"

#define NVDLA "extends: nvdla\n"

typedef struct around {
    const char *graph; /* its last node is asked about */
    bool narrow, mixed;
} around;

#define FC(x, w, b, y)                                                                             \
    "input x: " x "\nconst w: " w " = [1,2]\nconst b: i32[1] q(0.125,0) = [7]\ny: " y              \
    " = fc(x, w" b ")\n"

static const around cases[] = {
    {FC("i8[1,2] q(0.5,0)", "i8[1,2] q(0.25,0)", ", b", "i8[1,1] q(1,0)"), false, false},
    {FC("i8[1,2] q(0.5,0)", "i8[1,2] q(0.25,0)", "", "i8[1,1] q(1,0)"), false, false},
    {FC("i8[1,2] q(0.5,0)", "i4[1,2] q(0.25,0)", ", b", "i8[1,1] q(1,0)"), true, false},
    {FC("i4[1,2] q(0.5,0)", "i8[1,2] q(0.25,0)", ", b", "i8[1,1] q(1,0)"), true, true},
    {FC("i8[1,2] q(0.5,0)", "u8[1,2] q(0.25,0)", ", b", "i8[1,1] q(1,0)"), false, true},
    {FC("u8[1,2] q(0.5,0)", "u8[1,2] q(0.25,0)", ", b", "u8[1,1] q(1,0)"), false, false},
    {FC("u8[1,2] q(0.5,0)", "i8[1,2] q(0.25,0)", ", b", "u8[1,1] q(1,0)"), false, false},
    {FC("u8[1,2] q(0.5,0)", "i8[1,2] q(0.25,0)", ", b", "i8[1,1] q(1,0)"), false, true},
    {FC("i8[1,2] q(0.5,0)", "i8[1,2] q(0.25,0)", ", b", "i16[1,1] q(1,0)"), false, true},
    {"input x: i8[2] q(0.5,0)\ninput z: i8[2] q(0.25,0)\ny: i8[2] q(1,0) = add(x, z)\n", false,
     false},
    {"input x: i8[2] q(0.5,0)\ninput z: u8[2] q(0.25,0)\ny: i8[2] q(1,0) = add(x, z)\n", false,
     true},
    {"input x: i8[2] q(0.5,0)\ninput z: i4[2] q(0.25,0)\ny: i8[2] q(1,0) = add(x, z)\n", true,
     true},
    {"input x: i8[2] q(0.5,0)\ny: f32[2] = dequantize(x)\n", false, false},
    {"input x: f32[2]\ny: f32[2] = relu(x)\n", false, false},
};

static const assay_type *type_of(const void *graph, int value)
{
    return &((const assay_graph *)graph)->value[value].type;
}

static assay_graph *parse(const char *body)
{
    char text[600];
    assay_graph *g;
    assay_error err;
    snprintf(text, sizeof text, "graph g {\n%soutput y\n}\n", body);
    if (text_graph_parse(text, strlen(text), "types", NULL, &g, &err))
        fail_msg("%s\n%s", err.text, text);
    return g;
}

/* Claims are lost by what the list names, and by nothing else. */
static void claims(const assay_graph *g, const around *c)
{
    static const char *const lists[] = {NVDLA, NVDLA "unfused_ops: [fc, add]\n",
                                        NVDLA "narrow_unfused_ops: [fc, add]\n",
                                        NVDLA "mixed_unfused_ops: [fc, add]\n"};
    const assay_node *n = &g->node[g->n_nodes - 1];
    const bool codes = n->op == ASSAY_OP_FC || n->op == ASSAY_OP_ADD;
    const bool wanted[] = {true, !codes, !c->narrow, !(codes && c->mixed)};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        assay_scheme *s = unit_scheme(lists[i]);
        if (assay_scheme_claims_types(s, g, n) != wanted[i])
            fail_msg("%s under \"%s\": not %d", c->graph, lists[i], wanted[i]);
        assay_scheme_free(s);
    }
}

static void types_around(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assay_graph *g = parse(cases[i].graph);
        const assay_node *n = &g->node[g->n_nodes - 1];
        if (assay_node_has_narrow(n, type_of, g) != cases[i].narrow ||
            assay_node_is_mixed(n, type_of, g) != cases[i].mixed)
            fail_msg("%s: narrow %d, mixed %d", cases[i].graph,
                     assay_node_has_narrow(n, type_of, g), assay_node_is_mixed(n, type_of, g));
        claims(g, &cases[i]);
        assay_graph_free(g);
    }
}

/* An operand that is not there counts for nothing. */
static void absent_operands(void **state)
{
    assay_graph *g = parse(cases[0].graph);
    int in[3] = {g->node[0].in[0], g->node[0].in[1], ASSAY_NO_VALUE};
    assay_node n = g->node[0];
    (void)state;
    n.in = in;
    assert_false(assay_node_has_narrow(&n, type_of, g));
    assert_false(assay_node_is_mixed(&n, type_of, g));
    n.op = ASSAY_OP_CONCAT; /* its operands are all of one kind */
    assert_false(assay_node_is_mixed(&n, type_of, g));
    assay_scheme *s = unit_scheme(NVDLA "unfused_ops: [concat]\n");
    assert_false(assay_scheme_claims_types(s, g, &n));
    in[0] = ASSAY_NO_VALUE;
    assert_true(assay_scheme_claims_types(s, g, &n));
    n.n_in = 0;
    assert_true(assay_scheme_claims_types(s, g, &n));
    assay_scheme_free(s);
    assay_graph_free(g);
}

/* Claims that are limited to ratios of scales, of random scales and limits. */
static void claims_within_ratios(void **state)
{
    test_rng rng = test_seed("claims_within_ratios", 14);
    (void)state;
    for (int trial = 0; trial < 200; trial++) {
        char text[256], limits[128];
        const bool mul = trial & 1;
        const int from = (int)test_between(&rng, -20, 8), to = (int)test_between(&rng, from + 1, 9);
        float scale[3], ratio[2];
        for (int i = 0; i < 3; i++) /* some exactly at a limit */
            scale[i] = ldexpf(test_between(&rng, 0, 1) ? 1 : 1 + (float)test_unit(&rng),
                              (int)test_between(&rng, -9, 9));
        for (int i = 0; i < 2; i++)
            ratio[i] = (mul ? scale[0] * scale[1] : scale[i]) / scale[2];
        const bool within = ratio[0] >= ldexpf(1, from) && ratio[0] < ldexpf(1, to) &&
                            ratio[1] >= ldexpf(1, from) && ratio[1] < ldexpf(1, to);
        snprintf(
            text, sizeof text,
            "input x: i8[2] q(%.9g,0)\ninput z: i8[2] q(%.9g,0)\ny: i8[2] q(%.9g,0) = %s(x, z)\n",
            (double)scale[0], (double)scale[1], (double)scale[2], mul ? "mul" : "add");
        snprintf(limits, sizeof limits, NVDLA "contract: {exact_ratios: {%s: [%d, %d]}}\n",
                 mul ? "mul" : "add", from, to);
        assay_graph *g = parse(text);
        assay_scheme *s = unit_scheme(limits), *other = unit_scheme(NVDLA);
        if (assay_scheme_claims_types(s, g, &g->node[0]) != within)
            fail_msg("%s under \"%s\": not %d", text, limits, within);
        assert_true(assay_scheme_claims_types(other, g, &g->node[0]));
        assay_scheme_free(other);
        assay_scheme_free(s);
        assay_graph_free(g);
    }
}

/* A file that states its claims anew, or the ratios, states all of the ratios. */
static void ratios_inherited(void **state)
{
    static const struct {
        const char *text;
        bool claimed;
    } schemes[] = {
        {"extends: litert-xnnpack\n", false},
        {"extends: litert-xnnpack\ncontract: {exact_ops: [add]}\n", true},
        {"extends: litert-xnnpack\ncontract: {exact_ratios: {mul: [0, 1]}}\n", true},
        {"extends: litert-xnnpack\ncontract: {exact_ratios: {add: [0, 8]}, exact_ops: [add]}\n",
         false},
    };
    assay_graph *g = parse("input x: i8[2] q(1,0)\ninput z: i8[2] q(1,0)\n"
                           "y: i8[2] q(0.00390625,0) = add(x, z)\n"); /* 256 times */
    (void)state;
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        assay_scheme *s = unit_scheme(schemes[i].text);
        if (assay_scheme_claims_types(s, g, &g->node[0]) != schemes[i].claimed)
            fail_msg("%s: not %d", schemes[i].text, schemes[i].claimed);
        assay_scheme_free(s);
    }
    assay_graph_free(g);
}

/* Claims that are limited to constant weights and biases. */
static void claims_of_constants(void **state)
{
    static const struct {
        const char *text;
        bool limited;
    } schemes[] = {
        {"extends: litert-xnnpack\n", true},
        {"extends: litert-xnnpack\ncontract: {exact_ops: [fc, conv]}\n", false},
        {"extends: litert-xnnpack\ncontract: {exact_constant_ops: [add]}\n", false},
        {"extends: tflite\ncontract: {exact_constant_ops: [fc], exact_ops: [fc]}\n", true},
        {"extends: tflite\n", false},
    };
    (void)state;
    for (int which = 0; which < 4; which++) {
        const char *w =
            which & 1 ? "input w: i8[2,3] q(1,0)\n" : "const w: i8[2,3] q(1,0) = [1,2,3,4,5,6]\n";
        const char *b = which & 2 ? "input b: i32[2] q(1,0)\n" : "const b: i32[2] q(1,0) = [1,1]\n";
        char text[300];
        snprintf(text, sizeof text,
                 "input x: i8[1,3] q(1,0)\n%s%sy: i8[1,2] q(1,0) = fc(x, w, b)\n", w, b);
        assay_graph *g = parse(text);
        for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
            assay_scheme *s = unit_scheme(schemes[i].text);
            if (assay_scheme_claims_types(s, g, &g->node[0]) != (!schemes[i].limited || which == 0))
                fail_msg("%s under %s", text, schemes[i].text);
            assay_scheme_free(s);
        }
        assay_graph_free(g);
    }
}

/* Codes whose scale is computed from the numbers, and codes of a constant one. */
static void claims_of_scales(void **state)
{
    static const char net[] = "input x: f32[2,3]\n"
                              "s: f32[2,1], f: f32[2,1], z: f32[2,1] = dynamic_params(x) {axis=1}\n"
                              "m: f32[2,3] = mul(x, f)\n"
                              "p: f32[2,3] = add(x, x)\n"
                              "a: i8[2,3] q(1,0) = quantize(m)\n"
                              "b: i8[2,3] q(1,0) = quantize(p)\n"
                              "y: i8[2,3] q(1,0) = quantize(x)\n";
    (void)state;
    assay_graph *g = parse(net);
    for (int limited = 0; limited < 2; limited++) {
        assay_scheme *s = unit_scheme(limited ? "extends: litert-xnnpack\n" : "extends: tflite\n");
        int seen = 0;
        for (int i = 0; i < g->n_nodes; i++) {
            const assay_node *n = &g->node[i];
            const bool computed = strcmp(g->value[n->out[0]].name, "a") == 0;
            if (n->op != ASSAY_OP_QUANTIZE)
                continue;
            seen++;
            if (assay_scheme_claims_types(s, g, n) != !(limited && computed))
                fail_msg("%s, limited: %d", g->value[n->out[0]].name, limited);
        }
        assert_int_equal(seen, 3);
        assay_scheme_free(s);
    }
    assay_graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(types_around),         cmocka_unit_test(absent_operands),
        cmocka_unit_test(claims_within_ratios), cmocka_unit_test(ratios_inherited),
        cmocka_unit_test(claims_of_constants),  cmocka_unit_test(claims_of_scales)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
