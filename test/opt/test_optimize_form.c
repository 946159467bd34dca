/* Linear layers in the form that a target's file prefers. */
#include "test/support/rewrite_case.h"

#include <stdio.h>
#include <string.h>

#include "opt/target/target.h"

/* Exact, with this in the text afterwards and that gone. */
static void expect(const char *scheme, const char *prefer, const char *network, const char *log,
                   const char *has, const char *gone)
{
    test_rng r = test_seed("expect", 5);
    rewrite_outcome o = rewrite_preferring(scheme, prefer, network);
    rewrite_has(o.log.text, log);
    rewrite_has(o.text.text, has);
    rewrite_lacks(o.text.text, gone);
    rewrite_lacks(o.log.text, "not proved");
    rewrite_same_bits(&o, &r, 6);
    rewrite_certified(&o);
    rewrite_finish(&o);
}

static const char fc[] = "graph t { input x: i8[2,3] q(0.1,4)\n"
                         "const w: i8[2,3] q(axis=0,[0.01,0.02],[0,0]) = [1,2,-3,-90,100,120]\n"
                         "const b: i32[2] q(axis=0,[0.001,0.002],[0,0]) = [100,-200]\n"
                         "y: i8[2,2] q(0.5,3) = fc(x,w,b) act[-5,20] output y }";
static const char whole[] = "graph t { input x: i8[2,3] q(0.1,4)\n"
                            "const w: i8[2,3] q(0.01,0) = [1,2,-3,-90,100,120]\n"
                            "const b: i32[2] q(0.001,0) = [100,-200]\n"
                            "y: i8[2,2] q(0.5,3) = fc(x,w,b) act[-5,20] output y }";
#define ONE_CELL(layout, x, y, w)                                                                  \
    "graph t { input x: i8" x " q(0.1,4)\n"                                                        \
    "const w: i8" w " q(axis=0,[0.01,0.02],[0,0]) = [1,2,-3,-90,100,120]\n"                        \
    "const b: i32[2] q(axis=0,[0.001,0.002],[0,0]) = [100,-200]\n"                                 \
    "y: i8" y " q(0.5,3) = conv(x,w,b) {layout=" layout "} output y }"

static const char *const schemes[] = {"tflite", "onnxruntime", "gemmlowp", "tosa-single"};

static void fully_connected_as_convolution(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        expect(schemes[i], "products: conv", fc, "fc-to-conv: y: exact: reachable [",
               "conv(\"y:conv:in\", \"y:conv:weights\", b) {layout=nhwc}", " fc(");
        expect(schemes[i], "products: conv", fc, "constant: y:conv:weights: exact",
               "const \"y:conv:weights\"", "reshape(w)");
    }
}

static void one_cell_as_fully_connected(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        expect(schemes[i], "products: fc", ONE_CELL("nhwc", "[1,2,2,3]", "[1,2,2,2]", "[2,1,1,3]"),
               "conv-to-fc: y: exact: reachable [", "fc(x, \"y:fc:weights\", b)", "conv(");
        expect(schemes[i], "products: fc", ONE_CELL("nchw", "[1,3,2,2]", "[1,2,2,2]", "[2,3,1,1]"),
               "conv-to-fc: y: exact: reachable [", "fc(\"y:fc:in\", \"y:fc:weights\", b)",
               "conv(");
        /* at one place a transpose is a reshape, and nothing of it is left at run time */
        expect(schemes[i], "products: fc", ONE_CELL("nchw", "[4,3,1,1]", "[4,2,1,1]", "[2,3,1,1]"),
               "conv-to-fc: y: exact: reachable [", "reshape(x)", "transpose(");
    }
}

static void matrix_product_as_fully_connected(void **state)
{
    const char text[] = "graph t { input x: i8[2,3] q(0.1,4)\n"
                        "const w: i8[3,2] q(axis=1,[0.01,0.02],[0,0]) = [1,2,-3,-90,100,120]\n"
                        "y: i8[2,2] q(0.5,3) = matmul(x,w) output y }";
    (void)state;
    expect("tflite", "products: fc", text, "matmul-to-fc: y: exact: reachable [",
           "fc(x, \"y:fc:weights\")", "matmul(");
    expect("tflite", "products: conv", text, "fc-to-conv: y: exact: reachable [", "= conv(",
           "matmul(");
}

/* Those that rescale sums apart from the product. */
static const char *const summing[] = {"tflite", "fbgemm", "gemmlowp"};

/* What is summed stays an accumulator: one rescale, at the end, and the same bits. */
static void fully_connected_as_matrix_product_and_addition(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof summing / sizeof *summing; i++) {
        rewrite_outcome o = rewrite_preferring(summing[i], "products: matmul", whole);
        rewrite_has(o.log.text, "fc-to-matmul: y: exact: reachable [");
        rewrite_has(o.text.text, "\"y:sums\": i32[2,2] = matmul(x, \"y:matmul:weights\")");
        rewrite_has(o.text.text, "\"y:biased\": i32[2,2] = add(\"y:sums\", \"y:matmul:bias\")");
        rewrite_has(o.text.text, "y: i8[2,2] q(0.5,3) = rescale(\"y:codes\")");
        test_rng r = test_seed("fully_connected_as_matrix_product_and_addition", 6);
        rewrite_same_bits(&o, &r, 6);
        rewrite_certified(&o);
        rewrite_finish(&o);
    }
    expect("tflite", "products: matmul",
           "graph t { input x: i8[1,2,2,3] q(0.1,4) const w: i8[1,1,1,3] q(0.01,0) = [1,-90,120]\n"
           "y: i8[1,2,2,1] q(0.5,3) = conv(x,w) {layout=nhwc} output y }",
           "conv-to-fc: y: exact", "= matmul(", "conv(");
}

/* Codes of 32 bits go through no table. */
static void a_target_that_rescales_by_tables_keeps_its_layer(void **state)
{
    (void)state;
    rewrite_outcome o = rewrite_preferring("onnxruntime", "products: matmul", whole);
    rewrite_has(o.log.text,
                "fc-to-matmul: y: refused, not on this target: scheme onnxruntime, node "
                "y (rescale): a table needs an input of at most 16 bits");
    rewrite_has(o.text.text, "= fc(");
    rewrite_finish(&o);
}

/* The way back: constants again, and one node; from there a convolution where that is wanted. */
#define SUMMED(w, transposed)                                                                      \
    "graph t { input x: i8[2,3] q(0.1,4) const w: i8" w " q(0.01,0) = [1,2,-3,-90,100,120]\n"      \
    "const b: i32[2] = [100,-200] sums: i32[2,2] = matmul(x,w) " transposed "\n"                   \
    "biased: i32[2,2] = add(sums,b) codes: i32[2,2] q(0.001,0) = relabel(biased)\n"                \
    "y: i8[2,2] q(0.5,3) = rescale(codes) act[-5,20] output y }"

static void matrix_product_and_addition_as_fully_connected(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof summing / sizeof *summing; i++) {
        const char *s = summing[i];
        expect(s, "products: fc", SUMMED("[3,2]", ""), "sums-to-fc: y after sums: exact: reach",
               "y: i8[2,2] q(0.5,3) = fc(x, \"y:fc:weights\", \"y:fc:bias\") act[-5,20]",
               "i32[2,2]");
        expect(s, "products: fc", SUMMED("[2,3]", "{transpose_b=true}"), "sums-to-fc: y after",
               "fc(x, w, \"y:fc:bias\")", "i32[2,2]");
        expect(s, "products: conv", SUMMED("[3,2]", ""), "fc-to-conv: y: exact", "= conv(",
               "matmul(");
        expect(s, "products: fc",
               "graph t { input x: i8[2,3] q(0.1,4) const w: i8[3,1] q(0.01,0) = [1,-90,120]\n"
               "sums: i32[2,1] = matmul(x,w) codes: i32[2,1] q(0.001,0) = relabel(sums)\n"
               "y: i8[2,1] q(0.5,3) = rescale(codes) output y }",
               "sums-to-fc: y after sums: exact: reach", "fc(x, \"y:fc:weights\")", "i32[2,1]");
    }
}

/* Taken apart and put together again it is what it was, but for names. */
static void there_and_back_is_the_layer(void **state)
{
    (void)state;
    rewrite_outcome o = rewrite_preferring("tflite", "products: matmul", whole);
    rewrite_has(o.text.text, "= matmul(");
    expect("tflite", "products: fc", o.text.text, "sums-to-fc: y after y:sums: exact",
           "fc(x, \"y:fc:weights\", \"y:fc:bias\") act[-5,20]", "i32[2,2]");
    rewrite_finish(&o);
}

/* A refusal stands in the log once, however often neighbours change. */
static void a_refusal_is_told_once(void **state)
{
    (void)state;
    rewrite_outcome o = rewrite_preferring("tflite", "products: matmul, layout: nhwc",
                                           ONE_CELL("nchw", "[1,3,2,2]", "[1,2,2,2]", "[2,3,1,1]"));
    const char *first = strstr(o.log.text, "fc-to-matmul: y: refused: its weights have a scale");
    assert_non_null(first);
    rewrite_lacks(first + 1, "fc-to-matmul: y: refused");
    rewrite_finish(&o);
}

/* Constants of a normalization are in the scheme's own widths, which a target does not list. */
static void a_normalization_keeps_its_constants(void **state)
{
    (void)state;
    rewrite_outcome o = rewrite_preferring(
        "tflite", "layout: nhwc",
        "graph t { input x: i8[2,4] q(0.1,4) const g: i16[4] q(0.001,0) = [1000,900,1100,1000]\n"
        "const b: i32[4] q(0.0000009765625,0) = [100,-200,0,7]\n"
        "y: i8[2,4] q(0.02,0) = layer_norm(x,g,b) output y }");
    assert_int_equal(o.report.applied, 0);
    rewrite_finish(&o);
}

/* Sums that somebody else reads, bounds on the way, another unit, another rounding. */
static void sums_that_are_no_layer_stay(void **state)
{
    const struct {
        const char *scheme, *network, *log;
    } cases[] = {
        {"tosa-single", SUMMED("[3,2]", ""), "refused, differs by 1 LSB: reachable ["},
        {"tflite",
         "graph t { input x: i8[2,3] q(0.1,4) const w: i8[3,1] q(0.01,0) = [1,-90,120]\n"
         "sums: i32[2,1] = matmul(x,w) codes: i32[2,1] q(0.002,0) = relabel(sums)\n"
         "y: i8[2,1] q(0.5,3) = rescale(codes) output y }",
         " became "},
        {"tflite",
         "graph t { input x: i8[2,3] q(0.1,4) const w: i8[3,1] q(0.01,0) = [1,-90,120]\n"
         "sums: i32[2,1] = matmul(x,w) codes: i32[2,1] q(0.001,0) = relabel(sums)\n"
         "y: i8[2,1] q(0.5,3) = rescale(codes) output y output sums }",
         NULL},
        {"tflite",
         "graph t { input x: i8[2,3] q(0.1,4) const w: i8[3,1] q(0.01,0) = [1,-90,120]\n"
         "sums: i32[2,1] = matmul(x,w) codes[-10,10] codes: i32[2,1] q(0.001,0) = relabel(sums)\n"
         "y: i8[2,1] q(0.5,3) = rescale(codes) output y }",
         NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rewrite_outcome o = rewrite_preferring(cases[i].scheme, "products: fc", cases[i].network);
        if (cases[i].log)
            rewrite_has(o.log.text, cases[i].log);
        rewrite_lacks(o.text.text, " = fc(");
        rewrite_finish(&o);
    }
}

/* Where the target rounds a rescale of 32 bits otherwise, a sum tells. */
static void another_rounding_of_sums_is_refused(void **state)
{
    (void)state;
    rewrite_outcome o = rewrite_preferring("tosa-single", "products: matmul", whole);
    rewrite_has(o.log.text, "fc-to-matmul: y: refused, differs by 1 LSB: reachable [");
    rewrite_has(o.log.text, "; accumulator ");
    assert_int_equal(o.report.applied, 0);
    rewrite_finish(&o);
}

/* Of 16-bit codes: the accumulator holds them, memory of 32 bits does not. */
static void sums_beyond_32_bits_stay_inside(void **state)
{
    char text[4000];
    int n = snprintf(text, sizeof text,
                     "graph t { input x: i16[1,600] q(0.1,0) const w: i8[1,600] q(0.01,0) = [127");
    (void)state;
    for (int i = 1; i < 600; i++)
        n += snprintf(text + n, sizeof text - (size_t)n, ",127");
    snprintf(text + n, sizeof text - (size_t)n, "] y: i16[1,1] q(1000,0) = fc(x,w) output y }");
    const char wide[] = "scheme: wide\nextends: npu16\naccumulator: {bits: 48}\n";
    char dir[600], path[700];
    test_temp_dir(dir, sizeof dir);
    snprintf(path, sizeof path, "%s/wide.yaml", dir);
    test_write_file(path, wide, strlen(wide));
    rewrite_outcome o =
        rewrite_with(path, text, &(assay_optimize_options){.passes = "fc-to-matmul"});
    test_remove_tree(dir);
    rewrite_has(o.log.text, "fc-to-matmul: y: refused, not proved: sums in [");
    rewrite_has(o.log.text, "do not fit 32 bits");
    assert_int_equal(o.report.applied, 0);
    rewrite_finish(&o);
}

static void by_row_there_is_no_one_rescale_of_sums(void **state)
{
    (void)state;
    rewrite_outcome o = rewrite_preferring("tflite", "products: matmul", fc);
    rewrite_has(o.log.text, "fc-to-matmul: y: refused: its weights have a scale per row");
    assert_int_equal(o.report.applied, 0);
    rewrite_finish(&o);
}

/* Nothing asks for it: nothing changes. */
static void nothing_is_preferred_unasked(void **state)
{
    (void)state;
    rewrite_outcome o = rewrite_run("tflite", fc);
    assert_int_equal(o.report.applied, 0);
    rewrite_finish(&o);
}

static void passes_that_undo_each_other_are_refused(void **state)
{
    static const struct {
        const char *passes, *complaint;
    } cases[] = {{"to-nhwc,to-nchw", "passes 'to-nhwc' and 'to-nchw' undo each other"},
                 {"fc-to-conv,conv-to-fc", "passes 'conv-to-fc' and 'fc-to-conv' undo each other"},
                 {"fc-to-matmul,matmul-to-fc", "undo each other"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const assay_optimize_options options = {.passes = cases[i].passes};
        assay_optimize_report report;
        assay_scheme *s;
        assay_graph *g;
        assay_error err;
        assert_ok(assay_scheme_open("tflite", &s, &err), &err);
        assert_ok(assay_graph_new("empty", &g, &err), &err);
        assert_refused(rewrite_optimize(g, s, &options, &report, &err), &err, cases[i].complaint);
        assay_graph_free(g);
        assay_scheme_free(s);
    }
}

static void preferences_are_read(void **state)
{
    static const struct {
        const char *text, *complaint;
    } cases[] = {
        {"prefer: {products: gemm}", "t.yaml:3:20: products: expected conv, fc or matmul"},
        {"prefer: {layout: chwn}", "layout: expected nhwc or nchw"},
        {"prefer: {shape: round}", "unknown key 'shape'; prefer has products, layout"},
        {"prefer: nhwc", "prefer: expected a map"},
        {"prefer: {products: fc}\nops: {fc: {types: [f32]}}",
         "prefer: products: fc contradicts ops, where it is in float"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[200];
        assay_target *t;
        assay_error err;
        int n =
            snprintf(text, sizeof text, "target: npu\nothers: {types: [i8]}\n%s\n", cases[i].text);
        assert_refused(target_parse("t.yaml", text, (size_t)n, &t, &err), &err, cases[i].complaint);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fully_connected_as_convolution),
        cmocka_unit_test(one_cell_as_fully_connected),
        cmocka_unit_test(matrix_product_as_fully_connected),
        cmocka_unit_test(fully_connected_as_matrix_product_and_addition),
        cmocka_unit_test(a_target_that_rescales_by_tables_keeps_its_layer),
        cmocka_unit_test(matrix_product_and_addition_as_fully_connected),
        cmocka_unit_test(there_and_back_is_the_layer),
        cmocka_unit_test(a_refusal_is_told_once),
        cmocka_unit_test(a_normalization_keeps_its_constants),
        cmocka_unit_test(sums_that_are_no_layer_stay),
        cmocka_unit_test(another_rounding_of_sums_is_refused),
        cmocka_unit_test(sums_beyond_32_bits_stay_inside),
        cmocka_unit_test(by_row_there_is_no_one_rescale_of_sums),
        cmocka_unit_test(nothing_is_preferred_unasked),
        cmocka_unit_test(passes_that_undo_each_other_are_refused),
        cmocka_unit_test(preferences_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
