/* Target files: what they offer decides what is quantized and how; contradictions are refused where
 * they stand. */
#include "test/support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "interp/kernel/kernel.h"
#include "opt/quantize/quantize.h"
#include "test/support/net.h"

static assay_target *target_of(const char *text)
{
    assay_target *t;
    assay_error err;
    assert_ok(target_parse("t.yaml", text, strlen(text), &t, &err), &err);
    return t;
}

/* The example in README.md, which users have, is read and says what it says there. */
static void test_documented(void **state)
{
    char path[700], line[300], text[2000] = "";
    bool inside = false;
    (void)state;
    FILE *f = fopen(test_source("opt/target/README.md", path, sizeof path), "r");
    assert_non_null(f);
    while (fgets(line, sizeof line, f)) {
        inside |= strncmp(line, "    target:", 11) == 0;
        inside &= strncmp(line, "    ", 4) == 0;
        if (inside)
            strncat(text, line + 4, sizeof text - strlen(text) - 1);
    }
    fclose(f);
    assay_target *t = target_of(text);
    assert_string_equal(t->name, "my-npu");
    assert_int_equal(target_rule_of(t, ASSAY_OP_CONV)->n_types, 2);
    assert_true(target_rule_of(t, ASSAY_OP_CONV)->per_channel);
    const assay_target_rule *fc = target_rule_of(t, ASSAY_OP_FC);
    assert_true(fc->per_tensor && fc->power_of_two && fc->zero_offset);
    assert_true(target_rule_of(t, ASSAY_OP_ADD)->same_params);
    assert_int_equal(target_rule_of(t, ASSAY_OP_SOFTMAX)->n_types, 0);
    assert_int_equal(target_rule_of(t, ASSAY_OP_MUL)->n_types, 1);
    assert_true(t->preference != 0);
    target_free(t);
}

static void test_bad_files(void **state)
{
    (void)state;
    const struct {
        const char *text, *complaint;
    } cases[] = {
        {"", "t.yaml: empty"},
        {"[1]", "t.yaml:1:1: a target file is a map"},
        {"target: a\nopps: {}\n", "t.yaml:2:7: unknown key 'opps'"},
        {"ops: {conv: {types: [i8]}}\n", "t.yaml:1:1: the key \"target\""},
        {"target: a\n", "t.yaml:1:1: no ops"},
        {"target: [a]\nops: {}\n", "t.yaml:1:9: target: expected a name"},
        {"target: a\nops: {konv: {types: [i8]}}\n",
         "t.yaml:2:13: unknown op 'konv'; nearest: conv"},
        {"target: a\nops: {conv: [i8]}\n", "t.yaml:2:13: expected a map"},
        {"target: a\nops: {conv: {}}\n", "t.yaml:2:13: the key \"types\" is missing"},
        {"target: a\nops: {conv: {types: i8}}\n", "t.yaml:2:21: types: expected a list"},
        {"target: a\nops: {conv: {types: []}}\n", "t.yaml:2:21: types: expected a list"},
        {"target: a\nops: {conv: {types: [i8, i8]}}\n", "t.yaml:2:26: types: 'i8' occurs twice"},
        {"target: a\nops: {conv: {types: [f32, f32]}}\n", "t.yaml:2:27: types: 'f32' occurs"},
        {"target: a\nops: {conv: {types: [x8]}}\n",
         "t.yaml:2:22: types: expected f32 or an integer"},
        {"target: a\nops: {conv: {types: [i32]}}\n",
         "t.yaml:2:22: types: an activation has 2 to 16"},
        {"target: a\nops: {conv: {types: [[i8]]}}\n", "t.yaml:2:22: types: expected f32"},
        {"target: a\nops: {conv: {types: [i8], bits: 8}}\n", "t.yaml:2:33: unknown key 'bits'"},
        {"target: a\nops: {conv: {types: [i8], scales: small}}\n",
         "t.yaml:2:35: scales: expected any or power-of-two"},
        {"target: a\nops: {conv: {types: [i8], weights: some}}\n",
         "t.yaml:2:36: weights: expected"},
        {"target: a\nops: {add: {types: [i8], weights: per-tensor}}\n",
         "t.yaml:2:35: weights: the op has none"},
        {"target: a\nops: {add: {types: [f32], scales: power-of-two}}\n",
         "t.yaml:2:35: scales: contradicts types"},
        {"target: a\nops: {add: {types: [i8, u8], zero_point: none}}\n",
         "t.yaml:2:42: zero_point: none contradicts u8"},
        {"target: a\nops: {rescale: {types: [i8], parameters: same}}\n",
         "t.yaml:2:42: parameters: same contradicts the op"},
        {"target: a\nops:\n  conv: {types: [i8]}\n  conv: {types: [i8]}\n",
         "t.yaml:4:3: this key occurs twice"},
        {"target: a\nothers: float\n", "t.yaml:2:9: expected a map"},
    };
    assay_target *t;
    assay_error err;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_refused(target_parse("t.yaml", cases[i].text, strlen(cases[i].text), &t, &err), &err,
                       cases[i].complaint);
        assert_null(t);
    }
    assert_refused(target_read("/no/such.yaml", &t, &err), &err, "/no/such.yaml");
}

/* Bytes changed at random: read or refused by name. */
static void test_mutated_files(void **state)
{
    const char *good = "target: a\nops:\n  conv: {types: [i8, i16], weights: per-channel}\n"
                       "  add: {types: [i8], parameters: same, scales: power-of-two}\nothers: "
                       "{types: [f32]}\n";
    test_rng rng = test_seed("target", 3);
    int refused = 0;
    (void)state;
    for (int i = 0; i < 2000; i++) {
        char text[256];
        assay_target *t;
        assay_error err;
        strcpy(text, good);
        for (int64_t k = test_between(&rng, 1, 3); k > 0; k--)
            text[test_between(&rng, 0, (int64_t)strlen(good) - 1)] =
                (char)test_between(&rng, 1, 255);
        if (target_parse("t.yaml", text, strlen(text), &t, &err)) {
            assert_non_null(strstr(err.text, "t.yaml"));
            refused++;
        }
        target_free(t);
    }
    assert_true(refused > 1000);
}

/* ---- quantizing under a target ---- */

typedef struct quantized {
    assay_graph *source, *made;
    assay_profile *profile;
    assay_scheme *scheme;
    assay_quantize_report report;
} quantized;

/* x -> conv -> c -> tanh -> r; r + x -> s -> abs -> y. */
static void build(quantized *s)
{
    test_rng rng = {7};
    assay_graph *g = s->source = net_new();
    assay_attrs conv = {.conv = {.group = 1}};
    int x = net_input(g, "x", NET_SHAPE(1, 2, 3, 3));
    int w = net_constant(g, &rng, "w", -1, 1, NET_SHAPE(2, 2, 1, 1));
    int b = net_constant(g, &rng, "b", -1, 1, NET_SHAPE(2));
    int c = net_node(g, ASSAY_OP_CONV, "c", &conv, x, w, b, -2);
    int r = net_node(g, ASSAY_OP_TANH, "r", NULL, c, -2);
    int sum = net_node(g, ASSAY_OP_ADD, "s", NULL, r, x, -2);
    net_output(g, net_node(g, ASSAY_OP_ABS, "y", NULL, sum, -2));
}

static void quantize_for(quantized *s, const char *target, const assay_precision_rule *rule)
{
    assay_target *t = target_of(target);
    assay_quantize_options o = {.has_kernel = run_has_integer_kernel,
                                .target = t,
                                .precision = rule,
                                .n_precision = rule ? 1 : 0};
    test_rng rng = {11};
    assay_error err;
    memset(s, 0, sizeof *s);
    build(s);
    assert_ok(profile_new(s->source, &s->profile, &err), &err);
    for (int k = 0; k < 4; k++) {
        float *x = net_random_input(&rng, s->source, 0);
        assay_graph *run;
        assert_ok(assay_graph_clone(s->source, &run, &err), &err);
        net_run(run, (const float *const[]){x});
        for (int v = 0; v < run->n_values; v++) {
            int64_t n = assay_shape_count(&run->value[v].type);
            profile_observe(s->profile, v, run->value[v].data, (size_t)n);
        }
        assay_graph_free(run);
        free(x);
    }
    assert_ok(assay_scheme_open("tflite", &s->scheme, &err), &err);
    assert_ok(quantize_network(s->source, s->profile, s->scheme, &o, &s->made, &s->report, &err),
              &err);
    assert_ok(target_verify(t, s->made, &err), &err);
    target_free(t);
}

static void forget(quantized *s)
{
    quantize_report_free(&s->report);
    assay_graph_free(s->made);
    assay_graph_free(s->source);
    profile_free(s->profile);
    assay_scheme_free(s->scheme);
}

static const char *reason_of(const quantized *s, const char *op)
{
    for (int i = 0; i < s->report.n_float; i++)
        if (strcmp(s->report.float_node[i].op, op) == 0)
            return s->report.float_node[i].reason;
    return "";
}

static const assay_type *type_of(const quantized *s, const char *value)
{
    int v = assay_graph_find_value(s->made, value);
    assert_true(v >= 0);
    return &s->made->value[v].type;
}

static void test_what_is_not_listed_stays_float(void **state)
{
    quantized s;
    (void)state;
    quantize_for(
        &s, "target: box\nops: {conv: {types: [i8]}, add: {types: [i8]}, tanh: {types: [f32]}}\n",
        NULL);
    assert_string_equal(reason_of(&s, "tanh"), "target 'box' runs tanh in float only");
    assert_string_equal(reason_of(&s, "abs"), "target 'box' does not list abs");
    assert_int_equal(s.report.n_float, 2);
    forget(&s);
}

static void test_types(void **state)
{
    const assay_precision_rule narrow = {"add",
                                         {.kind = ASSAY_KIND_INT, .bits = 4, .is_signed = true}};
    quantized s;
    (void)state;
    quantize_for(&s, "target: box\nops: {conv: {types: [i16]}}\nothers: {types: [i8]}\n", NULL);
    assert_int_equal(type_of(&s, "c")->elem.bits, 16); /* the first that it offers */
    assert_int_equal(type_of(&s, "s")->elem.bits, 8);
    forget(&s);
    quantize_for(&s, "target: box\nothers: {types: [i8, i16]}\n", &narrow);
    assert_string_equal(reason_of(&s, "add"), "target 'box' does not run add in i4");
    forget(&s);
}

static void test_constraints(void **state)
{
    quantized s;
    int exponent;
    (void)state;
    quantize_for(
        &s,
        "target: box\nops:\n  conv: {types: [i8], weights: per-tensor, scales: power-of-two}\n"
        "  add: {types: [i8], parameters: same, zero_point: none}\nothers: {types: [i8]}\n",
        NULL);
    assert_int_equal(s.report.n_float, 0);
    assert_int_equal(type_of(&s, "w")->q.count, 1);
    assert_true(frexpf(type_of(&s, "w")->q.scale[0], &exponent) == 0.5f);
    assert_true(frexpf(type_of(&s, "c")->q.scale[0], &exponent) == 0.5f);
    assert_int_equal(type_of(&s, "s")->q.zero_point[0], 0);
    const assay_node *add = net_producer(s.made, "s");
    for (int i = 0; i < 2; i++) {
        const assay_type *in = &s.made->value[add->in[i]].type;
        assert_true(in->q.scale[0] == type_of(&s, "s")->q.scale[0]);
        assert_int_equal(in->q.zero_point[0], 0);
    }
    forget(&s);
}

static void test_verify_names_the_node(void **state)
{
    const struct {
        const char *text, *complaint;
    } cases[] = {
        {"target: b\nothers: {types: [i16]}\n", "not in i8"},
        {"target: b\nops: {conv: {types: [f32]}}\nothers: {types: [i8]}\n",
         "runs it in float only"},
        {"target: b\nops: {add: {types: [i8], parameters: same}}\nothers: {types: [i8]}\n",
         "node 's' (add): target 'b' does not run it so: it needs one scale and zero point"},
        {"target: b\nops: {abs: {types: [i8], scales: power-of-two}}\nothers: {types: [i8]}\n",
         "a power of two"},
        {"target: b\nops: {abs: {types: [i8], zero_point: none}}\nothers: {types: [i8]}\n",
         "zero point 0"},
        {"target: b\nops: {conv: {types: [i8], weights: per-tensor}}\nothers: {types: [i8]}\n",
         "scales per tensor"},
    };
    quantized s;
    assay_error err;
    (void)state;
    quantize_for(&s, "target: all\nothers: {types: [i8]}\n", NULL);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assay_target *t = target_of(cases[i].text);
        assert_refused(target_verify(t, s.made, &err), &err, cases[i].complaint);
        target_free(t);
    }
    forget(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bad_files),
        cmocka_unit_test(test_documented),
        cmocka_unit_test(test_mutated_files),
        cmocka_unit_test(test_what_is_not_listed_stays_float),
        cmocka_unit_test(test_types),
        cmocka_unit_test(test_constraints),
        cmocka_unit_test(test_verify_names_the_node),
    };
    return cmocka_run_group_tests_name("target", tests, NULL, NULL);
}
