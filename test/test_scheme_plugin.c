/* Schemes that are shared objects: the example runs, and what is wrong is refused in a line. */
#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scheme_unit.h"

/* PLUGIN and BAD_PLUGIN are paths given by the build. */

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

static void refusals(void **state)
{
    (void)state;
    assay_error err = {0};
    assay_scheme *s;
    assert_refused(assay_scheme_open(BAD_PLUGIN, &s, &err), &err, "plugin ABI 2");
    assert_null(s);
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
    const struct CMUnitTest tests[] = {cmocka_unit_test(example), cmocka_unit_test(refusals)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
