/* Names of outputs here and in files of other tools. */
#include "test/support/support.h"

#include <stdio.h>
#include <string.h>

#include "graph/core/graph.h"
#include "graph/core/outputs.h"
#include "graph/text/text.h"

/* The names of a network's values, one after the other, as it has them in files (or here again). */
static void expect_names(assay_graph *g, bool in_file, const char *names)
{
    char found[256] = "";
    assay_error err;
    assert_ok(in_file ? assay_outputs_for_file(g, &err) : assay_outputs_from_file(g, &err), &err);
    for (int i = 0; i < g->n_values; i++) {
        const size_t n = strlen(found);
        snprintf(found + n, sizeof found - n, "%s%s", n ? " " : "", g->value[i].name);
        assert_int_equal(assay_graph_find_value(g, g->value[i].name), i);
        if (g->value[i].producer >= 0)
            assert_string_equal(g->node[g->value[i].producer].name, g->value[i].name);
    }
    assert_string_equal(found, names);
    assert_ok(assay_graph_verify(g, &err), &err);
}

static void test_outputs_in_files(void **state)
{
    static const struct {
        const char *what, *text, *in_file;
    } cases[] = {
        {"codes and floats", "", "x y:codes y"},
        {"codes that are an output, too", "output y ", NULL},
        {"the name in files is taken", "\"y:codes\": f32[2] = neg(\"y:f32\") ",
         "x y:codes:codes y y:codes"},
        {"another output", "z: f32[2] = neg(\"y:f32\") output z ", "x y:codes y z"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[256], here[256] = "x y y:f32";
        assay_graph *g;
        assay_error err;
        snprintf(text, sizeof text,
                 "graph g { input x: i8[2] q(0.5,0) y: i8[2] q(0.5,0) = neg(x) "
                 "\"y:f32\": f32[2] = dequantize(y) %soutput \"y:f32\" }",
                 cases[i].text);
        assert_ok(text_graph_parse(text, strlen(text), cases[i].what, NULL, &g, &err), &err);
        if (g->n_values > 3)
            snprintf(here, sizeof here, "x y y:f32 %s", g->value[3].name);
        assert_int_equal(assay_outputs_differ(g), strcmp(cases[i].what, cases[1].what) != 0);
        expect_names(g, true, cases[i].in_file ? cases[i].in_file : here);
        expect_names(g, false, here);
        assay_graph_free(g);
    }
}

/* Names of a whole network, here and in files. */
static void expect_both(const char *text, const char *here, const char *in_file)
{
    assay_graph *g;
    assay_error err;
    assert_ok(text_graph_parse(text, strlen(text), "text", NULL, &g, &err), &err);
    assert_true(assay_outputs_differ(g));
    expect_names(g, true, in_file);
    expect_names(g, false, here);
    assay_graph_free(g);
}

static void test_outputs_in_other_layouts(void **state)
{
    (void)state;
    expect_both("graph g { input x: i8[1,2,3] q(0.5,0) y: i8[1,2,3] q(0.5,0) = neg(x) "
                "\"y:last\": f32[1,2,3] = dequantize(y) "
                "\"y:f32\": f32[1,3,2] = transpose(\"y:last\") {perm=[0,2,1]} output \"y:f32\" }",
                "x y y:last y:f32", "x y:codes y:last y");
}

/* Outputs called y, y:codes and y:f32: each has its name in the file, and both of its own here. */
static void test_outputs_with_each_others_names(void **state)
{
    (void)state;
    expect_both("graph g { input x: i8[2] q(0.5,0) y: i8[2] q(0.5,0) = neg(x) "
                "\"y:codes\": i8[2] q(0.5,0) = neg(y) "
                "\"y:f32\": i8[2] q(0.5,0) = neg(\"y:codes\") "
                "\"y:f32:f32\": f32[2] = dequantize(y) "
                "\"y:codes:f32\": f32[2] = dequantize(\"y:codes\") "
                "\"y:f32:f32:f32\": f32[2] = dequantize(\"y:f32\") "
                "output \"y:f32:f32\" output \"y:codes:f32\" output \"y:f32:f32:f32\" }",
                "x y y:codes y:f32 y:f32:f32 y:codes:f32 y:f32:f32:f32",
                "x y:codes:codes y:codes:codes:codes y:f32:codes y y:codes y:f32");
}

/* What is dequantized is the user's: an input, a constant. */
static void test_outputs_of_inputs(void **state)
{
    static const char *const texts[] = {
        "graph g { input y: i8[2] q(0.5,0) \"y:f32\": f32[2] = dequantize(y) output \"y:f32\" }",
        "graph g { const y: i8[2] q(0.5,0) = [1,2] \"y:f32\": f32[2] = dequantize(y) "
        "output \"y:f32\" }",
        "graph g { input x: f32[2] \"y:f32\": f32[2] = neg(x) output \"y:f32\" }"};
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        assay_graph *g;
        assay_error err;
        assert_ok(text_graph_parse(texts[i], strlen(texts[i]), "text", NULL, &g, &err), &err);
        assert_false(assay_outputs_differ(g));
        expect_names(g, true, i == 2 ? "x y:f32" : "y y:f32");
        assay_graph_free(g);
    }
}
int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_outputs_in_files),
        cmocka_unit_test(test_outputs_in_other_layouts),
        cmocka_unit_test(test_outputs_with_each_others_names),
        cmocka_unit_test(test_outputs_of_inputs),
    };
    return cmocka_run_group_tests_name("outputs", tests, NULL, NULL);
}
