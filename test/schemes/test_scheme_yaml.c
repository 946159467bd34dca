/* Scheme files: what is read, what is printed back, what is refused and where. */
#include "test/support/support.h"

#include <stdio.h>
#include <string.h>

#include "schemes/record/data.h"
#include "schemes/scheme.h"

static void refused(const char *text, const char *expected)
{
    assay_error err = {0};
    assay_scheme *s = NULL;
    assert_int_not_equal(assay_scheme_parse("t.yaml", text, strlen(text), &s, &err), ASSAY_OK);
    assert_null(s);
    if (strstr(err.text, expected) == NULL)
        fail_msg("expected \"%s\" in \"%s\"", expected, err.text);
}

static void bad_files(void **state)
{
    (void)state;
    refused("", "empty");
    refused("[1, 2]\n", "t.yaml:1:1: a scheme is a map");
    refused("description: x\n", "\"scheme\" (its name) is missing");
    refused("scheme: a\nrescale:\n  multiplier_bit: 16\n",
            "t.yaml:3:19: unknown key \"multiplier_bit\" in rescale; nearest: multiplier_bits");
    refused("scheme: a\nrescal: {}\n", "nearest: rescale");
    refused("scheme: a\nrescale: {multiplier_bits: 33}\n", "an integer from 1 to 32");
    refused("scheme: a\nrescale: {multiplier_bits: 0}\n", "found \"0\"");
    refused("scheme: a\nrescale: {multiplier_bits: .nan}\n", "found \".nan\"");
    refused("scheme: a\nrescale: {round: [half-op]}\n", "one of: half-up");
    refused("scheme: a\nrescale: {round: [31 half-up, 3 half-away]}\n", "last step takes");
    refused("scheme: a\nrescale: {zero_point: inside}\n", "inside needs encoding");
    refused("scheme: a\nrescale: {encoding: shift}\n", "needs scale: power-of-two");
    refused("scheme: a\nops: {cnov: {}}\n", "unknown op \"cnov\"; nearest: conv");
    refused("scheme: a\nfloat_ops: [conf]\n", "nearest: conv");
    refused("scheme: a\nscheme: b\n", "occurs twice");
    refused("scheme: a b\n", "1 to 63 letters");
    refused("scheme: &x a\ndescription: *x\n", "anchors");
    refused("scheme: a\ndescription: *x\n", "aliases");
    refused("scheme: !!str a\n", "tags");
    refused("scheme: a\n---\nscheme: b\n", "second document");
    refused("scheme: a\nx: [[[[[[[[[[1]]]]]]]]]]\n", "nested too deeply");
    refused("scheme: a\nextends: tflit\n", "nearest: tflite");
    refused("scheme: a\nnodes: {n: {given: {multiplier: [1, 2], shift: [1]}}}\n", "same length");
    refused("scheme: a\n: :\n\t- x", "t.yaml:");
}

static void presets(void **state)
{
    (void)state;
    for (const char *const *p = assay_scheme_presets(); *p != NULL; p++) {
        assay_error err = {0};
        assay_scheme *s, *again;
        if (assay_scheme_open(*p, &s, &err) != ASSAY_OK)
            fail_msg("%s", err.text);
        assert_string_equal(s->name, *p);
        assert_int_equal(strlen(s->digest), 32);
        /* What is printed reads back as the same record. */
        if (assay_scheme_parse(*p, s->text, strlen(s->text), &again, &err) != ASSAY_OK)
            fail_msg("%s", err.text);
        assert_string_equal(s->text, again->text);
        assert_string_equal(s->digest, again->digest);
        assay_scheme_free(s);
        assay_scheme_free(again);
    }
}

/* Opening a preset leaves out what is asked here of its text as of anyone's: that its records make
 * sense and read all that it states. */
static void checked_presets(void **state)
{
    (void)state;
    for (const char *const *p = assay_scheme_presets(); *p; p++) {
        assay_error err = {0};
        assay_scheme *opened, *checked;
        size_t length;
        const char *text = assay_preset_text(*p, &length);
        if (assay_scheme_parse(*p, text, length, &checked, &err))
            fail_msg("%s", err.text);
        assert_ok(assay_scheme_open(*p, &opened, &err), &err);
        assert_string_equal(opened->digest, checked->digest);
        assay_scheme_free(opened);
        assay_scheme_free(checked);
    }
}

/* Values and lists of values are cut to the room there is; steps differ by bits or by mode. */
static void fields(void **state)
{
    (void)state;
    char text[64], why[16];
    size_t n;
    const assay_field *all = assay_record_fields(&n);
    const assay_field *round = &all[assay_record_find("rescale", "round")];
    const assay_field *store = &all[assay_record_find("rescale", "store")];
    assay_field_value a = {.steps = {0}}, b;
    assert_true(assay_field_parse(round, "31 half-up", &a, why, sizeof why));
    assert_true(assay_field_parse(round, "half-away", &a, why, sizeof why));
    assay_field_print(round, a, text, sizeof text);
    assert_string_equal(text, "[31 half-up, half-away]");
    for (size_t size = 1; size < 30; size++) {
        char cut[64];
        assay_field_print(round, a, cut, size);
        assert_int_equal(strlen(cut), size <= 23 ? size - 1 : 23);
        assert_memory_equal(cut, text, strlen(cut));
    }
    assert_false(assay_field_parse(store, "keep", &b, why, sizeof why));
    assert_string_equal(why, "one of: wrap, s");

    b = a;
    assert_true(assay_field_equal(round, a, b));
    b.steps.step[0].bits = 30;
    assert_false(assay_field_equal(round, a, b));
    b = a;
    b.steps.step[1].mode++;
    assert_false(assay_field_equal(round, a, b));
    b.steps.n = 1;
    assert_false(assay_field_equal(round, a, b));
}

/* Names of nodes are any text; given multipliers and overrides of one node print together. */
static void nodes(void **state)
{
    (void)state;
    static const char text[] = "scheme: n\nextends: tflite\nnodes:\n  \"/a: \\\"b\\\"\\n\":\n"
                               "    given: {multiplier: [5, 6], shift: [1, 2], zero_point: 7}\n"
                               "    add: {bits: 19}\n"
                               "  other: {given: {multiplier: 3, shift: -4, diff_min: -31}}\n";
    assay_error err = {0};
    assay_scheme *s, *again;
    if (assay_scheme_parse("n", text, strlen(text), &s, &err) != ASSAY_OK)
        fail_msg("%s", err.text);
    if (assay_scheme_parse("again", s->text, strlen(s->text), &again, &err) != ASSAY_OK)
        fail_msg("%s", err.text);
    assert_string_equal(s->text, again->text);
    assert_non_null(strstr(s->text, "multiplier: [5, 6]"));
    assert_non_null(strstr(s->text, "shift: [-4]\n      diff_min: -31\n"));
    assay_scheme_free(s);
    assay_scheme_free(again);
}

static void unknown_names(void **state)
{
    (void)state;
    assay_error err = {0};
    assay_scheme *s;
    assert_int_equal(assay_scheme_open("nothing", &s, &err), ASSAY_ERR_SCHEME);
    assert_int_equal(assay_scheme_open("./nothing.yaml", &s, &err), ASSAY_ERR_IO);
    assert_int_equal(assay_scheme_open("./nothing.so", &s, &err), ASSAY_ERR_SCHEME);
}

/* A file may repeat a preset, not take its name for another arithmetic. */
static void names_of_presets(void **state)
{
    (void)state;
    static const char other[] = "scheme: tflite\nextends: tflite\nadd: {bits: 19}\n";
    static const char same[] = "scheme: tflite\nextends: tflite\n";
    char dir[600], path[700];
    assay_error err = {0};
    assay_scheme *s;
    test_temp_dir(dir, sizeof dir);
    snprintf(path, sizeof path, "%s/mine.yaml", dir);
    test_write_file(path, other, sizeof other - 1);
    assert_refused(assay_scheme_open(path, &s, &err), &err, "belongs to a preset");
    assert_null(s);
    test_write_file(path, same, sizeof same - 1);
    assert_ok(assay_scheme_open(path, &s, &err), &err);
    assay_scheme_free(s);
    test_remove_tree(dir);
}

/* What a bundle holds stands for itself: no other file is read. */
static void whole_texts(void **state)
{
    (void)state;
    static const char other[] = "scheme: x\nextends: /etc/passwd\n", list[] = "- a\n",
                      bad[] = "a: [";
    assay_error err = {0};
    assay_scheme *s, *again;
    assert_refused(assay_scheme_parse_whole("t", other, sizeof other - 1, &s, &err), &err,
                   "extends another");
    assert_refused(assay_scheme_parse_whole("t", list, sizeof list - 1, &s, &err), &err, "map");
    assert_refused(assay_scheme_parse_whole("t", bad, sizeof bad - 1, &s, &err), &err, "t:");
    assert_null(s);
    assert_ok(assay_scheme_open("npu16", &s, &err), &err);
    assert_ok(assay_scheme_parse_whole("t", s->text, strlen(s->text), &again, &err), &err);
    assert_string_equal(s->digest, again->digest);
    assay_scheme_free(s);
    assay_scheme_free(again);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_files),       cmocka_unit_test(presets),
        cmocka_unit_test(checked_presets), cmocka_unit_test(fields),
        cmocka_unit_test(nodes),           cmocka_unit_test(names_of_presets),
        cmocka_unit_test(unknown_names),   cmocka_unit_test(whole_texts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
