/* Every complaint about a scheme file, word for word with its line and column. */
#include "test/support/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schemes/record/data.h"
#include "schemes/record/tree.h"
#include "schemes/scheme.h"
#include "test/support/bad_scheme.h"

static void yaml(void **state)
{
    (void)state;
    static const bad_file list[] = {
        {"\x01", "f:1:1: control characters are not allowed"},
        {"*x\n", "f:1:1: aliases are not accepted; write the value out"},
        {"scheme: a\nops: &x {}\n", "f:2:6: anchors are not accepted"},
        {"scheme: a\nfloat_ops: &x []\n", "f:2:12: anchors are not accepted"},
        {"scheme: \"a\\0b\"\n", "f:1:9: a NUL character in a value"},
        {"scheme: a\n? [b]\n: c\n", "f:2:3: a key must be a plain word"},
        {"scheme: a\n&k b: c\n", "f:2:1: anchors are not accepted; write the value out"},
        {"scheme: a\nops: {conv: {add: {bits: &x 3}}}\n",
         "f:2:26: anchors are not accepted; write the value out"},
        {"scheme: a\nops: {conv: [1, *x]}\n",
         "f:2:17: aliases are not accepted; write the value out"},
    };
    CHECK_BAD_FILES(list);
}

static void kinds(void **state)
{
    (void)state;
    static const bad_file list[] = {
        {"- a\n", "f:1:1: a scheme is a map of keys"},
        {"word\n", "f:1:1: a scheme is a map of keys"},
        {"scheme: [a]\n", "f:1:9: expected a text"},
        {"scheme: ''\n",
         "f:1:9: scheme: expected a name of 1 to 63 letters, digits, '.', '_' or '-'"},
        {"scheme: 0123456789012345678901234567890123456789012345678901234567890123\n",
         "f:1:9: scheme: expected a name of 1 to 63 letters, digits, '.', '_' or '-'"},
        {"scheme: a\ndescription: {}\n", "f:2:14: expected a text"},
        {"scheme: a\nextends: [tflite]\n",
         "f:2:10: extends: expected the name of a preset or a path"},
        {"scheme: a\nextends: tfite\n",
         "f:2:10: extends: no preset \"tfite\"; nearest: tflite (a path needs a '/')"},
        {"scheme: a\nextends: no.yaml\n", "no.yaml: cannot open: No such file or directory"},
        {"scheme: a\nextends: ./no\n", "./no: cannot open: No such file or directory"},
        {"scheme: a\nrescale: 3\n", "f:2:10: expected keys and values"},
        {"scheme: a\nrescale: {store: [wrap]}\n", "f:2:18: rescale.store: expected one value"},
        {"scheme: a\nrescale: {round: {a: b}}\n", "f:2:18: rescale.round: expected one value"},
        {"scheme: a\nrescale: {round: [[floor]]}\n",
         "f:2:19: expected a rounding step such as \"31 half-up\""},
        {"scheme: a\nwide: 3\n", "f:2:7: expected sections such as rescale: {...}"},
        {"scheme: a\nwide: {resale: {}}\n",
         "f:2:16: unknown key \"resale\" in this key; nearest: rescale"},
        {"scheme: a\nops: {conv: {types: {}}}\n", "f:2:21: types are for the whole scheme; what "
                                                  "some nodes may hold beside them is in accepts: "
                                                  "{...}"},
        {"scheme: a\nops: [conv]\n", "f:2:6: expected names with sections under them"},
        {"scheme: a\nops: {depthwise_conv: {}}\n",
         "f:2:23: unknown op \"depthwise_conv\"; nearest: depthwise"},
        {"scheme: a\nfloat_ops: [depthwise]\n", "f:2:13: unknown op \"depthwise\"; nearest: tile"},
        {"scheme: a\nwide_ops: {conw: {}}\n", "f:2:18: unknown op \"conw\"; nearest: conv"},
        {"scheme: a\nwide_ops: {depthwise: 3}\n",
         "f:2:23: expected sections such as rescale: {...}"},
        {"scheme: a\nops: {depthwise: {rescale: {shift_min: 63}}}\n",
         "f:2:40: with the overrides of depthwise: rescale.shift_min 63 is above shift_max 62"},
        {"scheme: a\nunsigned_ops: {fc: 3}\n", "f:2:20: expected sections such as rescale: {...}"},
        {"scheme: a\nunsigned_depthwise: 3\n", "f:2:21: expected sections such as rescale: {...}"},
        {"scheme: a\nfloat_ops: conv\n", "f:2:12: float_ops: expected a list of op names"},
        {"scheme: a\nfloat_ops: [[conv]]\n", "f:2:13: float_ops: expected a list of op names"},
        {"scheme: a\nrules: {a: 'x'}\n",
         "f:2:12: rules: a: expected never, exact, or a number of codes by which it may "
         "change results"},
        {"scheme: a\nrules: {a: ':'}\n",
         "f:2:12: rules: a: expected never, exact, or a number of codes by which it may "
         "change results"},
        {"scheme: a\nrules: {a: '3x'}\n",
         "f:2:12: rules: a: expected never, exact, or a number of codes by which it may "
         "change results"},
        {"scheme: a\nrules: {a: '65536'}\n",
         "f:2:12: rules: a: expected never, exact, or a number of codes by which it may "
         "change results"},
        {"scheme: a\nrules: {a: '-1'}\n",
         "f:2:12: rules: a: expected never, exact, or a number of codes by which it may "
         "change results"},
        {"scheme: a\nrules: {a: [1]}\n",
         "f:2:12: rules: a: expected never, exact, or a number of codes by which it may "
         "change results"},
        {"scheme: a\nrules: [a]\n", "f:2:8: rules: expected names of rules"},
        /* what the file does not state itself is said of the file */
        {"scheme: a\nextends: pow2\ntypes: {power_of_two_scales: no}\n",
         "f:1:1: rescale.scale: power-of-two needs types.power_of_two_scales: yes"},
        {"scheme: a\ncontract: x\n",
         "f:2:11: contract: expected exact_ops, exact_narrow_ops, exact_per_tensor_ops, "
         "exact_one_type_ops, exact_constant_ops, exact_ratios, exact_float_ops, exact, "
         "approximate, not_modelled"},
        {"scheme: a\ncontract: {exactly: x}\n",
         "f:2:21: unknown key; contract holds exact_ops, exact_narrow_ops, exact_per_tensor_ops, "
         "exact_one_type_ops, exact_constant_ops, exact_ratios, exact_float_ops, exact, "
         "approximate, not_modelled"},
        {"scheme: a\ncontract: {exact_ops: 3}\n", "f:2:23: exact_ops: expected a list of op names"},
        {"scheme: a\ncontract: {exact_ratios: [add]}\n",
         "f:2:26: exact_ratios: expected ops, each with [FROM, TO]"},
        {"scheme: a\ncontract: {exact_ratios: {ad: [1, 2]}}\n",
         "f:2:31: unknown op \"ad\"; nearest: add"},
        {"scheme: a\ncontract: {exact_ratios: {add: [2, 2]}}\n",
         "f:2:32: expected two powers of two, from -126 to 126"},
        {"scheme: a\ncontract: {exact_ratios: {add: 2}}\n",
         "f:2:32: expected two powers of two, from -126 to 126"},
        {"scheme: a\ncontract: {exact_ratios: {add: [a, 2]}}\n",
         "f:2:33: expected an integer of at most 33 bits"},
        {"scheme: a\ncontract: {exact_narrow_ops: 3}\n",
         "f:2:30: exact_narrow_ops: expected a list of op names"},
        {"scheme: a\ncontract: {exact_per_tensor_ops: [cnv]}\n",
         "f:2:35: unknown op \"cnv\"; nearest: conv"},
        {"scheme: a\ncontract: {exact_float_ops: 3}\n",
         "f:2:29: exact_float_ops: expected a list of op names"},
        {"scheme: a\ncontract: {exact: {a: b}}\n", "f:2:23: expected a list of texts"},
        {"scheme: a\ncontract: {exact: [[b]]}\n", "f:2:20: expected a list of texts"},
        {"scheme: a\nxx0123456789012345678901234567890123456789012345678901234567890123: 1\n",
         "f:2:69: unknown key "
         "\"xx0123456789012345678901234567890123456789012345678901234567890123\" "
         "in the scheme; nearest: extends"},
    };
    CHECK_BAD_FILES(list);
}

static void values(void **state)
{
    (void)state;
    char modes[160] = "one of:", last[240];
    for (unsigned i = 0; i < ASSAY_ROUND_COUNT; i++)
        snprintf(modes + strlen(modes), sizeof modes - strlen(modes), "%s %s", i ? "," : "",
                 assay_rounding_name((enum assay_rounding)i));
    snprintf(last, sizeof last, "f:2:18: rescale.round: found \"half\", expected %s", modes);
    const bad_file list[] = {
        {"scheme: a\nadd: {bits: x}\n",
         "f:2:13: add.bits: found \"x\", expected an integer from 0 to 30"},
        {"scheme: a\nadd: {bits: 3x}\n",
         "f:2:13: add.bits: found \"3x\", expected an integer from 0 to 30"},
        {"scheme: a\nadd: {bits: 99999999999999999999}\n",
         "f:2:13: add.bits: found \"99999999999999999999\", expected an integer from 0 to 30"},
        {"scheme: a\nadd: {bits: -1}\n",
         "f:2:13: add.bits: found \"-1\", expected an integer from 0 to 30"},
        {"scheme: a\nadd: {bits: 31}\n",
         "f:2:13: add.bits: found \"31\", expected an integer from 0 to 30"},
        {"scheme: a\nadd: {fused: maybe}\n",
         "f:2:14: add.fused: found \"maybe\", expected one of: no, yes"},
        {"scheme: a\nrescale: {store: keep}\n",
         "f:2:18: rescale.store: found \"keep\", expected one of: wrap, saturate"},
        {"scheme: a\nrescale: {round: half}\n", last},
        {"scheme: a\nrescale: {round: [9 half-up, 9 half-up, 9 half-up, floor]}\n",
         "f:2:52: rescale.round: found \"floor\", expected at most 3 rounding steps"},
        {"scheme: a\nrescale: {round: [64 floor]}\n",
         "f:2:19: rescale.round: found \"64 floor\", expected \"BITS MODE\" with BITS from 1 to "
         "63, "
         "such as \"31 half-up\""},
        {"scheme: a\nrescale: {round: [1234567890 floor]}\n",
         "f:2:19: rescale.round: found \"1234567890 floor\", expected \"BITS MODE\" with BITS from "
         "1 "
         "to 63, such as \"31 half-up\""},
    };
    CHECK_BAD_FILES(list);
}

#define GIVEN(x) "scheme: a\nnodes: {n: {given: " x "}}\n"
static void given(void **state)
{
    (void)state;
    static const bad_file list[] = {
        {GIVEN("3"), "f:2:20: expected multiplier, shift and optionally zero_point, diff_min"},
        {GIVEN("{multiplier: {a: 1}}"), "f:2:33: expected an integer or a list of integers"},
        {GIVEN("{shift: []}"), "f:2:28: expected an integer or a list of integers"},
        {GIVEN("{multiplier: [x]}"), "f:2:34: expected an integer of at most 33 bits"},
        {GIVEN("{multiplier: [1x]}"), "f:2:34: expected an integer of at most 33 bits"},
        {GIVEN("{multiplier: [[1]]}"), "f:2:34: expected an integer of at most 33 bits"},
        {GIVEN("{multiplier: 99999999999999999999}"),
         "f:2:33: expected an integer of at most 33 bits"},
        {GIVEN("{multiplier: 4294967297}"), "f:2:33: expected an integer of at most 33 bits"},
        {GIVEN("{multiplier: -4294967297}"), "f:2:33: expected an integer of at most 33 bits"},
        {GIVEN("{zero_point: x}"), "f:2:33: expected an integer of at most 33 bits"},
        {GIVEN("{zero_point: 2147483648}"), "f:2:33: expected one 32-bit integer"},
        {GIVEN("{zero_point: -2147483649}"), "f:2:33: expected one 32-bit integer"},
        {GIVEN("{multiplier: 1, shift: 1, diff_min: 2147483648}"),
         "f:2:56: expected one 32-bit integer"},
        {GIVEN("{multipliers: 3}"),
         "f:2:34: unknown key; given holds multiplier, shift, zero_point and diff_min"},
        {GIVEN("{}"),
         "f:2:20: given has no multiplier and shift; zero_point and diff_min go with them"},
        {GIVEN("{zero_point: 3}"),
         "f:2:20: given has no multiplier and shift; zero_point and diff_min go with them"},
        {GIVEN("{multiplier: 3}"), "f:2:20: multiplier and shift must be lists of the same length"},
        {GIVEN("{multiplier: 1, shift: 1, zero_point: [1, 2]}"),
         "f:2:58: expected one 32-bit integer"},
    };
    CHECK_BAD_FILES(list);
}

static void files(void **state)
{
    (void)state;
    char dir[600], path[700], text[900], expected[900];
    assay_error err = {0};
    assay_scheme *s;
    test_temp_dir(dir, sizeof dir);

    assert_refused(assay_scheme_open("./no.yml", &s, &err), &err,
                   "./no.yml: cannot open: No such file");
    assert_refused(assay_scheme_open("no.yml", &s, &err), &err,
                   "no.yml: cannot open: No such file");
    assert_refused(assay_scheme_open("no.yaml", &s, &err), &err,
                   "no.yaml: cannot open: No such file");
    snprintf(path, sizeof path, "%s/.", dir);
    snprintf(expected, sizeof expected, "%s: is a folder, not a regular file", path);
    assert_int_equal(assay_scheme_open(path, &s, &err), ASSAY_ERR_IO);
    assert_string_equal(err.text, expected);

    snprintf(path, sizeof path, "%s/bad.yaml", dir);
    test_write_file(path, "scheme: a b\n", 12);
    assert_refused(assay_scheme_open(path, &s, &err), &err, "bad.yaml:1:9: scheme: expected");
    assert_null(s);

    snprintf(path, sizeof path, "%s/circle.yaml", dir);
    snprintf(text, sizeof text, "scheme: a\nextends: %s\n", path);
    test_write_file(path, text, strlen(text));
    assert_refused(assay_scheme_open(path, &s, &err), &err,
                   "circle.yaml:2:10: extends: a chain of more than 8 schemes (a circle?)");

    const size_t n = (1u << 20) + 1;
    char *long_text = malloc(n);
    assert_non_null(long_text);
    memset(long_text, ' ', n);
    snprintf(path, sizeof path, "%s/long.yaml", dir);
    test_write_file(path, long_text, n);
    assert_int_equal(assay_scheme_open(path, &s, &err), ASSAY_ERR_LIMIT);
    assert_non_null(strstr(err.text, "long.yaml: larger than 1048576 bytes"));
    assert_int_equal(assay_scheme_parse("f", long_text, n, &s, &err), ASSAY_ERR_LIMIT);
    assert_string_equal(err.text, "f: 1048577 bytes; at most 1048576 are accepted");
    /* 100,001 values in 200,000 bytes */
    for (size_t i = 0; i < n; i += 2)
        memcpy(long_text + i, "1,", i + 2 <= n ? 2 : 1);
    memcpy(long_text, "[1", 2);
    long_text[200003] = ']';
    assert_refused(assay_scheme_parse("f", long_text, 200004, &s, &err), &err,
                   "too many values (at most 100000)");
    free(long_text);
    test_remove_tree(dir);
}

/* `given` of a node replaces its parent's, zero point and all. */
static void inherited(void **state)
{
    (void)state;
    char dir[600], path[700], text[900];
    assay_error err = {0};
    assay_scheme *s;
    test_temp_dir(dir, sizeof dir);
    snprintf(path, sizeof path, "%s/parent.yaml", dir);
    static const char parent[] = GIVEN("{multiplier: [5, 6], shift: [1, 2], zero_point: 7}");
    test_write_file(path, parent, sizeof parent - 1);
    snprintf(text, sizeof text, "scheme: b\nextends: %s\nnodes: {n: {given: %s}}\n", path,
             "{multiplier: 9, shift: -4}");
    assert_ok(assay_scheme_parse("f", text, strlen(text), &s, &err), &err);
    assert_non_null(strstr(s->text, "nodes:\n  \"n\":\n    given:\n      multiplier: [9]\n"
                                    "      shift: [-4]\n"));
    assert_null(strstr(s->text, "zero_point: 7"));
    assert_int_equal(assay_data(s)->n_precomputed, 1);
    assay_scheme_free(s);

    static const char rules[] = "scheme: p\nrules: {a: 3, b: never, c: exact}\n";
    test_write_file(path, rules, sizeof rules - 1);
    snprintf(text, sizeof text, "scheme: b\nextends: %s\nrules: {a: 7}\n", path);
    assert_ok(assay_scheme_parse("f", text, strlen(text), &s, &err), &err);
    assert_int_equal(assay_data(s)->n_policies, 3);
    assert_non_null(strstr(s->text, "\"a\": 7"));
    assay_scheme_free(s);
    test_write_file(path, parent, sizeof parent - 1);

    snprintf(text, sizeof text, "scheme: b\nextends: %s\nrescale: {shift_min: 63}\n", path);
    assert_refused(assay_scheme_parse("f", text, strlen(text), &s, &err), &err,
                   "f:3:22: rescale.shift_min 63 is above shift_max 62");
    /* Of two nodes, one has overrides beside it and one has not; names are quoted. */
    static const char two[] = "scheme: c\nnodes:\n  \"\\x7f\": {given: {multiplier: 1, shift: 2}}\n"
                              "  'a\\\"': {add: {bits: 3}}\n";
    assert_ok(assay_scheme_parse("f", two, strlen(two), &s, &err), &err);
    assert_non_null(strstr(s->text, "nodes:\n  \"a\\\\\\\"\":\n    add:\n      bits: 3\n"
                                    "  \"\\x7f\":\n    given:\n"));
    assay_scheme_free(s);
    test_remove_tree(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(yaml),   cmocka_unit_test(kinds),
                                       cmocka_unit_test(values), cmocka_unit_test(given),
                                       cmocka_unit_test(files),  cmocka_unit_test(inherited)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
