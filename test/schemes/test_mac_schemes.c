/* Schemes of matrix units as text: what is read, what is said of what is not, and every allocation
 * failing in turn (the linker wraps malloc, test/meson.build). */
#include "test/support/support.h"

#include <stdio.h>
#include <string.h>

#include "schemes/mac/scheme.h"
#include "test/support/alloc_fails.h"

#define UNIT "units: [nv-hopper-e4m3-f32]"

static const char *const wrong[][2] = {
    {"scheme: t\nmac: 3\n", "t.yaml:2:6: mac: found \"3\", expected parameters"},
    {"scheme: t\nmac: {}\n", "units, a list of matrix units"},
    {"scheme: t\nmac: {units: nv-hopper-e4m3-f32}\n", "expected a list of matrix units"},
    {"scheme: t\nmac: {units: []}\n", "expected a list of matrix units"},
    {"scheme: t\nmac: {units: [[a]]}\n", "units: found \"a list or map\", expected the name or"},
    {"scheme: t\nmac: {units: [{unit: a}]}\n", "t.yaml: no unit; expected the keys unit and mac"},
    {"scheme: t\nmac: {units: [{unit: a, mac: {a: e4m3fn}}]}\n", "is not given"},
    {"scheme: t\nmac: {units: [nv-hoper-e4m3-f32]}\n", "nearest: nv-hopper-e4m3-f32"},
    {"scheme: t\nmac: {units: [nv-hopper-e4m3-f32, nv-hopper-e4m3-promoted]}\n",
     "no second unit for the same elements"},
    {"scheme: t\nmac: {units: [f64-fma4]}\n", "elements that networks have: f32 or small floats"},
    {"scheme: t\nmac: {units: [{unit: u, mac: {a: f16, b: f64, acc: f32, out: f32, group: 4, "
     "nan: "
     "0x7fc00000}}]}\n",
     "elements that networks have: f32 or small floats"},
    {"scheme: t\nmac: {units: [{unit: u, mac: {a: f16, b: f16, acc: f64, out: f64, group: 4, nan: "
     "0x7ff8000000000000}}]}\n",
     "a unit whose results are f32, bf16 or f16"},
    {"scheme: t\nmac: {units: [f32-fma], activation_scales: row}\n",
     "scales none beside a unit of f32 elements"},
    {"scheme: t\nmac: {units: [f32-fma], weight_scales: row}\n",
     "scales none beside a unit of f32 elements"},
    {"scheme: t\nmac: {" UNIT ", weight_scale: row}\n", "nearest: weight_scales"},
    {"scheme: t\nmac: {unit: [a]}\n", "nearest: units"},
    {"scheme: t\nmac: {" UNIT ", weight_scales: rows}\n",
     "expected tensor, row, 1x32, 1x128, 128x128, mx, nvfp4, none"},
    {"scheme: t\nmac: {" UNIT ", weight_scales: [row]}\n", "found \"a list or map\""},
    {"scheme: t\nmac: {" UNIT ", scale_rule: amax}\n", "expected floor, ceil, even, round_up"},
    {"scheme: t\nmac: {" UNIT ", scale_by: times}\n", "expected divide, reciprocal"},
    {"scheme: t\nmac: {" UNIT ", saturate: maybe}\n", "expected no, yes"},
    {"scheme: t\nmac: {" UNIT ", floats: e4m3fn}\n", "expected f32, bf16 or f16"},
    {"scheme: t\nmac: {" UNIT ", floats: f128}\n", "expected f32, bf16 or f16"},
    {"scheme: t\nmac: {" UNIT "}\nrequant: {}\n", "unknown key \"requant\""},
    {"scheme: [t]\nmac: {" UNIT "}\n", "expected a short line"},
    {"scheme: ''\nmac: {" UNIT "}\n", "expected a short line"},
    {"scheme: a-name-that-is-longer-than-the-sixty-three-bytes-which-a-scheme-may-have\n"
     "mac: {" UNIT "}\n",
     "expected a short line"},
};

static void complaints(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assay_scheme *s;
        assay_error err = {0};
        assert_refused(assay_scheme_parse("t.yaml", wrong[i][0], strlen(wrong[i][0]), &s, &err),
                       &err, wrong[i][1]);
        assert_null(s);
    }
}

/* Units beyond the eighth. */
static void too_many(void **state)
{
    static const char *const text =
        "scheme: t\nmac: {units: [nv-hopper-e4m3-f32, nv-hopper-e5m2-f32, nv-hopper-f16-f32, "
        "nv-hopper-bf16-f32, nv-hopper-tf32-f32, amd-cdna3-fp8, amd-cdna3-bf8, amd-cdna3-fp8bf8, "
        "nv-blackwell-mxf4-b32]}\n";
    assay_scheme *s;
    assay_error err = {0};
    (void)state;
    assert_refused(assay_scheme_parse("t.yaml", text, strlen(text), &s, &err), &err,
                   "at most 8 units");
}

/* The shipped schemes are read, and their canonical text is a scheme of the same text. */
static void shipped(void **state)
{
    size_t n = 0;
    (void)state;
    for (const char *const *name = assay_mac_schemes(); *name; name++, n++) {
        assay_scheme *s, *again;
        assay_error err = {0};
        assert_ok(assay_scheme_open(*name, &s, &err), &err);
        assert_string_equal(s->name, *name);
        assert_true(s->vt == &mac_vtable);
        assert_ok(assay_scheme_parse("again", s->text, strlen(s->text), &again, &err), &err);
        assert_string_equal(again->text, s->text);
        assert_string_equal(again->digest, s->digest);
        assay_scheme_free(again);
        assay_scheme_free(s);
    }
    assert_true(n >= 5);
}

/* A unit of one's own, in a file or in the scheme: the scheme's text holds it, and is read where
 * that file is not. */
static void own_unit(void **state)
{
    static const char *const unit =
        "unit: mine\nmac: {a: e4m3fn, b: e4m3fn, acc: f32, out: f32, nan: 0x7fc00000, "
        "instruction: 8, group: 4, order: [0, 4, 1, 5, 2, 6, 3, 7], align_bits: 11, "
        "align_cut: floor}\n";
    char folder[200], path[220], text[600];
    assay_scheme *s, *again;
    assay_error err = {0};
    (void)state;
    test_temp_dir(folder, sizeof folder);
    snprintf(path, sizeof path, "%s/unit.yaml", folder);
    test_write_file(path, unit, strlen(unit));
    snprintf(text, sizeof text, "scheme: t\nmac: {units: [%s, nv-hopper-e5m2-f32]}\n", path);
    assert_ok(assay_scheme_parse("t", text, strlen(text), &s, &err), &err);
    test_remove_tree(folder);
    assert_refused(assay_scheme_parse("t", text, strlen(text), &again, &err), &err, path);
    assert_ok(assay_scheme_parse("t", s->text, strlen(s->text), &again, &err), &err);
    assert_string_equal(again->text, s->text);
    const assay_mac_scheme *first = s->mac, *second = again->mac;
    assert_memory_equal(&first->unit[0].record, &second->unit[0].record,
                        sizeof first->unit[0].record);
    assert_int_equal(second->unit[0].record.align_bits, 11);
    assert_int_equal(second->unit[0].record.order, 8);
    assay_scheme_free(again);
    assay_scheme_free(s);
}

/* A file that has a shipped scheme's name and says other things is refused. */
static void claimed_name(void **state)
{
    static const char *const text = "scheme: hopper-fp8\nmac: {" UNIT "}\n";
    char folder[200], path[220];
    assay_scheme *s;
    assay_error err = {0};
    (void)state;
    test_temp_dir(folder, sizeof folder);
    snprintf(path, sizeof path, "%s/s.yaml", folder);
    test_write_file(path, text, strlen(text));
    assert_refused(assay_scheme_open(path, &s, &err), &err, "hopper-fp8");
    test_remove_tree(folder);
}

/* Scales that are not given: of elements of the width of floats there are none. */
static void scales_by_themselves(void **state)
{
    static const char *const of[][3] = {
        {"nv-hopper-e4m3-f32", "row", "row"},
        {"nv-ampere-bf16-f32", "none", "none"},
        {"nv-hopper-f16-f16", "none", "none"},
        {"nv-hopper-tf32-f32", "none", "none"},
        {"f32-fma", "none", "none"},
        {"nv-volta-f16c16-f32", "none", "none"},
        {"{unit: u, mac: {a: f32, b: bf16, acc: bf16, out: f32, group: 1, nan: 0x7fc00000}}",
         "none", "none"},
        {"{unit: u, mac: {a: bf16, b: e5m2, acc: f32, out: f32, group: 1, nan: 0x7fc00000}}", "row",
         "row"},
        {"nv-hopper-e4m3-f32", "row", "tensor"},
        {"nv-ampere-bf16-f32", "none", "tensor"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        const bool given = strcmp(of[i][2], "tensor") == 0;
        char text[300], want[100];
        assay_scheme *s;
        assay_error err;
        snprintf(text, sizeof text, "scheme: t\nmac: {units: [%s]%s}\n", of[i][0],
                 given ? ", weight_scales: tensor" : "");
        snprintf(want, sizeof want, "activation_scales: %s\n  weight_scales: %s\n", of[i][1],
                 of[i][2]);
        assert_ok(assay_scheme_parse("t", text, strlen(text), &s, &err), &err);
        assert_non_null(strstr(s->text, want));
        assay_scheme_free(s);
    }
}

static void memory(void **state)
{
    static const char *const text =
        "scheme: t\ndescription: \"some words\"\nmac: {units: [nv-hopper-e4m3-f32, "
        "nv-hopper-e5m2-f32], activation_scales: tensor, weight_scales: 128x128, scale_rule: even, "
        "scale_by: reciprocal, saturate: no, floats: bf16}\n";
    long n = 1;
    (void)state;
    for (bool reached = true; reached; n++) {
        assay_scheme *s;
        assay_error err = {0};
        alloc_countdown = n;
        const assay_status status = assay_scheme_parse("t", text, strlen(text), &s, &err);
        reached = alloc_countdown == 0;
        alloc_countdown = 0;
        assert_int_equal(status, reached ? ASSAY_ERR_MEMORY : ASSAY_OK);
        if (!status)
            assert_non_null(strstr(s->text, "floats: bf16"));
        if (!status)
            assay_scheme_free(s);
    }
    assert_true(n > 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(complaints), cmocka_unit_test(too_many),
        cmocka_unit_test(shipped),    cmocka_unit_test(claimed_name),
        cmocka_unit_test(own_unit),   cmocka_unit_test(scales_by_themselves),
        cmocka_unit_test(memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
