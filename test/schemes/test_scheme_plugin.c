/* Schemes that are shared objects: the example runs, and what is wrong is refused in a line. */
#include "test/support/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test/support/scheme_unit.h"

/* PLUGIN, BROKEN_PLUGIN and NO_PLUGIN are paths given by the build. */

static void example(void **state)
{
    (void)state;
    assay_error err = {0};
    assay_scheme *s;
    assay_unit *u;
    assert_ok(assay_scheme_open(PLUGIN, &s, &err), &err);
    assert_string_equal(s->name, "shift-npu");
    assert_int_equal(strlen(s->digest), 32);

    const float scale = 0.125f, one = 1;
    const int32_t none = 0, three = 3;
    assay_type in[2] = {code_type(8, true, &scale, &none), code_type(8, true, &one, &none)};
    assay_type out = code_type(8, true, &one, &three);
    assay_unit_spec spec = unit_spec("conv", in, 2, &out);
    char why[256];
    assert_true(assay_scheme_supports(s, &spec, why, sizeof why));
    assert_ok(s->vt->prepare(s, &spec, &u, &err), &err);
    assay_unit_param list[2];
    assert_int_equal(s->vt->params(u, list, 2), 2);
    assert_int_equal(list[0].value[0], 3);
    const int64_t acc[4] = {80, -1, 7, 100000};
    int32_t y[4];
    s->vt->requantize(u, acc, 4, 0, y);
    assert_int_equal(y[0], 13);
    assert_int_equal(y[1], 2);
    assert_int_equal(y[2], 3);
    assert_int_equal(y[3], 127);
    s->vt->release(u);

    spec.op = "softmax";
    assert_false(assay_scheme_supports(s, &spec, why, sizeof why));
    assert_non_null(strstr(why, "no arithmetic for softmax"));
    assay_scheme_free(s);
}

/* The quantizer takes a plugin for a target that holds what the record's defaults hold. */
static void capabilities(void **state)
{
    (void)state;
    assay_error err = {0};
    assay_scheme *plugin, *defaults;
    assay_scheme_caps caps, usual;
    float scale;
    int32_t zero;
    assert_ok(assay_scheme_open(PLUGIN, &plugin, &err), &err);
    assert_ok(assay_scheme_parse("t", "scheme: t\n", 10, &defaults, &err), &err);
    assay_scheme_get_caps(plugin, &caps);
    assay_scheme_get_caps(defaults, &usual);
    assert_int_equal(caps.activation_bits, usual.activation_bits);
    assert_int_equal(caps.weight_bits, usual.weight_bits);
    assert_int_equal(caps.bias_bits, usual.bias_bits);
    assert_int_equal(caps.per_channel, usual.per_channel);
    assert_int_equal(caps.activation_zero_point, usual.activation_zero_point);
    assert_false(assay_scheme_fixed_output(plugin, "sigmoid", (assay_elem){ASSAY_KIND_INT, 8, true},
                                           &scale, &zero));
    assert_true(assay_scheme_same_params(plugin, "avg_pool"));
    assert_false(assay_scheme_same_params(plugin, "add"));
    assay_scheme_free(plugin);
    assay_scheme_free(defaults);
}

static void refusals(void **state)
{
    (void)state;
    assay_error err = {0};
    assay_scheme *s;
    static const struct {
        const char *wrong, *message;
    } broken[] = {
        {"vtable", "no vtable; expected a function assay_scheme_plugin"},
        {"abi", "plugin ABI 7; this library speaks 6"},
        {"size", "vtable of 16 bytes; expected "},
        {"name", "name, prepare, release, params, accumulate and apply_overflow must be set"},
        {"prepare", "name, prepare, release, params, accumulate and apply_overflow must be set"},
        {"release", "name, prepare, release, params, accumulate and apply_overflow must be set"},
        {"params", "name, prepare, release, params, accumulate and apply_overflow must be set"},
        {"accumulate", "name, prepare, release, params, accumulate and apply_overflow must be set"},
        {"apply_overflow",
         "name, prepare, release, params, accumulate and apply_overflow must be set"},
    };
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        setenv("ASSAY_TEST_BROKEN", broken[i].wrong, 1);
        assert_refused(assay_scheme_open(BROKEN_PLUGIN, &s, &err), &err, broken[i].message);
        assert_null(s);
    }
    unsetenv("ASSAY_TEST_BROKEN");
    assert_ok(assay_scheme_open(BROKEN_PLUGIN, &s, &err), &err);
    assert_string_equal(s->name, "broken");
    assay_scheme_free(s);
    char dir[600], path[700];
    test_temp_dir(dir, sizeof dir);
    snprintf(path, sizeof path, "%s/text.so", dir);
    test_write_file(path, "no ELF", 6);
    assert_refused(assay_scheme_open(path, &s, &err), &err, "text.so");
    test_remove_tree(dir);
    assert_refused(assay_scheme_open(NO_PLUGIN, &s, &err), &err, "assay_scheme_plugin");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(example), cmocka_unit_test(capabilities),
                                       cmocka_unit_test(refusals)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
