/* Small floats in ONNX models: Cast, QuantizeLinear and DequantizeLinear of float8, float4 and
 * float8e8m0, and codes of 2 and 4 bits. What is expected was worked out by hand from the tables of
 * ONNX's Cast (opsets 19 to 25) and the formulas of the other two. Patterns are written as
 * integers: 56 is 1 in float8e4m3fn, 60 in float8e5m2, 2 in float4e2m1, 127 in float8e8m0. */
#include "test/support/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "graph/onnx/export.h"
#include "graph/onnx/onnx.h"
#include "graph/text/text.h"
#include "interp/run/program.h"
#include "schemes/scheme.h"
#include "test/support/onnx_build.h"

typedef struct form {
    int opset;
    const char *text;
    float in[8];
    double want[8]; /* patterns of small floats; NaN: any that is not a number */
} form;

#define BIG    1e9f
#define HUGE_F HUGE_VALF
#define NONE   NAN

/* Constants and values of the run that an integer type does not hold: cast, each is what the other
 * is. */
#define BEYOND(type)                                                                               \
    {                                                                                              \
        25,                                                                                        \
            "in x f32 8\nconst w f32 8 = 300 -5 1e10 -1e10 3e38 -inf inf 70000.5\n"                \
            "Cast x -> a to=" #type "\nCast w -> b to=" #type "\n"                                 \
            "Cast a -> e to=1\nCast b -> f to=1\nSub e,f -> y\nout y",                             \
            {300, -5, 1e10f, -1e10f, 3e38f, -HUGE_F, HUGE_F, 70000.5f},                            \
        {                                                                                          \
            0, 0, 0, 0, 0, 0, 0, 0                                                                 \
        }                                                                                          \
    }

static const form forms[] = {
    /* half way goes to the even one; 464 is half way from 448 to what would be 480 */
    {19,
     "in x f32 6\nCast x -> y to=17\nout y",
     {1.0625f, 1.1875f, 464, 465, HUGE_F, -BIG},
     {56, 58, 126, 126, 126, 254}},
    {19,
     "in x f32 6\nCast x -> y to=17 saturate=0\nout y",
     {464, 465, HUGE_F, -HUGE_F, NONE, -0.0f},
     {126, 127, 127, 255, 127, 128}},
    {19,
     "in x f32 5\nCast x -> y to=18\nout y",
     {248, BIG, HUGE_F, NONE, -0.0f},
     {127, 127, 128, 128, 0}},
    {24,
     "in x f32 5\nCast x -> y to=18\nout y",
     {248, BIG, HUGE_F, -HUGE_F, NONE},
     {127, 127, 127, 255, 128}},
    {25, "in x f32 3\nCast x -> y to=18 saturate=0\nout y", {247, 248, HUGE_F}, {127, 128, 128}},
    {23,
     "in x f32 5\nCast x -> y to=19\nout y",
     {61439, 61440, HUGE_F, 0x1p-16f, 0x1p-17f},
     {123, 123, 123, 1, 0}},
    {23,
     "in x f32 4\nCast x -> y to=19 saturate=0\nout y",
     {61439, 61440, -HUGE_F, NONE},
     {123, 124, 252, 126}},
    {25, "in x f32 3\nCast x -> y to=20\nout y", {HUGE_F, -1e9f, 0x1p-18f}, {127, 255, 0}},
    {23,
     "in x f32 8\nCast x -> y to=23\nout y",
     {0.25f, 0.75f, 2.5f, 5, -7, HUGE_F, NONE, -0.0f},
     {0, 2, 4, 6, 15, 7, 7, 8}},
    /* powers of two, with both columns of the table */
    {24,
     "in x f32 7\nCast x -> y to=24\nout y",
     {1, 1.5f, 1.25f, 0, NONE, HUGE_F, 3e38f},
     {127, 128, 128, 0, 255, 254, 254}},
    {24,
     "in x f32 7\nCast x -> y to=24 saturate=0 round_mode=nearest\nout y",
     {1.5f, 1.25f, 0, NONE, HUGE_F, 3e38f, 0x1p-128f},
     {128, 127, 255, 255, 255, 255, 255}},
    {25,
     "in x f32 4\nCast x -> y to=24 round_mode=down\nout y",
     {1.99f, 3e38f, 0x1.8p-127f, 0x1p-127f},
     {127, 254, 0, 0}},
    {25, "in x f32 2\nCast x -> y to=24 round_mode=up\nout y", {0x1.8p-127f, 0x1p-149f}, {1, 0}},
    /* back, and between them; integers and truths by way of float32 */
    {24, "in x f8e8m0 3\nCast x -> y to=1\nout y", {0, 127, 254}, {0x1p-127, 1, 0x1p127}},
    {23, "in x f8e4m3fn 3\nCast x -> y to=19\nout y", {56, 57, 127}, {60, 60, 126}},
    {23, "in x f8e5m2 3\nCast x -> y to=10\nout y", {60, 124, 1}, {1, HUGE_VAL, 0x1p-16}},
    {23, "in x f8e5m2 2\nCast x -> y to=6\nout y", {60, 0xc4}, {1, -4}},
    {23, "in x i32 2\nCast x -> y to=17\nout y", {17, -300}, {88, 249}},
    {23, "in x f32 2\nconst c f4e2m1 1 = 0\nCastLike x,c -> y\nout y", {3, -6}, {5, 15}},
    {25, "in x i32 4\nCast x -> y to=22\nout y", {7, 8, -9, 200}, {7, -8, 7, -8}},
    {25, "in x i32 3\nCast x -> y to=25\nout y", {3, 4, -1}, {3, 0, 3}},
    {25, "in x f32 3\nCast x -> y to=26\nout y", {1.9f, -2, -1.5f}, {1, -2, -1}},
    /* of constants, as of values of the run */
    {25,
     "in x i32 4\nconst w i32 4 = 7 8 -9 200\nCast w -> v to=22\nCast v -> e to=6\n"
     "Add x,e -> y\nout y",
     {0, 0, 0, 0},
     {7, -8, 7, -8}},
    {25,
     "in x i32 3\nconst w i32 3 = 3 4 -1\nCast w -> v to=25\nCast v -> e to=6\n"
     "Add x,e -> y\nout y",
     {0, 0, 0},
     {3, 0, 3}},
    {25,
     "in x i32 3\nconst w f32 3 = 1.9 9 -1.5\nCast w -> v to=26\nCast v -> e to=6\n"
     "Add x,e -> y\nout y",
     {0, 0, 0},
     {1, 1, -1}},
    /* beyond the type, too: what a scheme makes of them is not settled by the import */
    BEYOND(3),
    BEYOND(2),
    BEYOND(5),
    BEYOND(4),
    BEYOND(6),
    BEYOND(12),
    BEYOND(7),
    BEYOND(21),
    BEYOND(22),
    BEYOND(25),
    BEYOND(26),
    /* constants of a typed list and of raw bytes, several in a byte */
    {23,
     "in x f32 3\nlist w f4e2m1 3 = 82 7\nCast w -> v to=1\nAdd x,v -> y\nout y",
     {0, 0, 0},
     {1, 3, 6}},
    {25,
     "in x f32 5\nlist w i2 5 = 228 3\nCast w -> v to=1\nAdd x,v -> y\nout y",
     {0, 0, 0, 0, 0},
     {0, 1, -2, -1, -1}},
    {25,
     "in x f32 4\nlist w u2 4 = 228\nCast w -> v to=1\nAdd x,v -> y\nout y",
     {0, 0, 0, 0},
     {0, 1, 2, 3}},
    {19,
     "in x f32 2\nlist w f8e4m3fn 2 = 56 184\nCast w -> v to=1\nAdd x,v -> y\nout y",
     {0, 0},
     {1, -1}},
    {19,
     "in x f32 2\nconst w f8e5m2 2 = 60 123\nCast w -> v to=1\nAdd x,v -> y\nout y",
     {0, 0},
     {1, 57344}},
    /* scales: one, one for each index, one per block, a power of two, one of the run */
    {19,
     "in x f32 1,2\nconst s f32 - = 0.5\nconst z f8e4m3fn - = 0\nQuantizeLinear x,s,z -> y\nout y",
     {0.5f, 1e4f},
     {56, 126}},
    {19,
     "in x f32 1,2\nconst s f32 - = 0.5\nconst z f8e4m3fn - = 128\nQuantizeLinear x,s,z -> y "
     "saturate=0\nout y",
     {-0.5f, 1e4f},
     {184, 127}},
    {21,
     "in x f32 2,2\nconst s f32 2 = 1 2\nQuantizeLinear x,s -> y output_dtype=19 axis=0\nout y",
     {1, 2, 2, 4},
     {60, 64, 60, 64}},
    {21,
     "in x f32 1,3\nconst s f32 1,2 = 1 2\nQuantizeLinear x,s -> y output_dtype=17 "
     "block_size=2\nout y",
     {1, 2, 2},
     {56, 64, 56}},
    {25,
     "in x f32 1,2\nconst s f8e8m0 1,2 = 127 128\nQuantizeLinear x,s -> y output_dtype=23 "
     "block_size=1 precision=1\nout y",
     {3, 3},
     {5, 3}},
    {23,
     "in x f32 2\nReduceMax x -> s keepdims=0\nQuantizeLinear x,s -> y output_dtype=17\nout y",
     {1, 2},
     {48, 56}},
    {21,
     "in x f8e4m3fn 1,3\nconst s f32 1,2 = 1 2\nDequantizeLinear x,s -> y block_size=2\nout y",
     {56, 56, 56},
     {1, 1, 2}},
    {25,
     "in x f4e2m1 2\nconst s f8e8m0 - = 130\nDequantizeLinear x,s -> y output_dtype=1\nout y",
     {3, 15},
     {12, -48}},
    /* of float64, rounded once: a little above what is half way, and below */
    {24,
     "const w f64 4 = 1.06250000001 1.18749999999 -1.06250000001 1e300\nCast w -> y to=17\n"
     "in x f8e4m3fn 4\nout y",
     {0, 0, 0, 0},
     {57, 57, 185, 126}},
    {24,
     "const w f64 3 = 1.50000000001 1e-40 1e300\nCast w -> y to=24 round_mode=down\n"
     "in x f8e8m0 3\nout y",
     {0, 0, 0},
     {127, 0, 254}},
    {24,
     "const w f64 2 = 1.0004882813 1.0014648437\nCast w -> h to=10\n"
     "Cast h -> y to=1\nin x f32 2\nout y",
     {0, 0},
     {1.0009765625, 1.0009765625}},
    /* in the precision of float16 scales */
    {21,
     "in x f16 2\nconst s f16 - = 11878\nQuantizeLinear x,s -> y output_dtype=17\nout y",
     {0.1f, 25.5f},
     {56, 120}},
    {24,
     "in x f32 2\nconst s f32 - = 0.000001\nQuantizeLinear x,s -> y output_dtype=18\nout y",
     {3e38f, -3e38f},
     {127, 255}},
    {21,
     "in x f8e5m2 2\nconst s f16 - = 11878\nDequantizeLinear x,s -> y\nout y",
     {60, 61},
     {0.0999755859375, 0.125}},
};

static void put(const assay_type *t, void *data, const float *in)
{
    for (size_t i = 0; i < (size_t)assay_shape_count(t); i++)
        if (t->elem.kind == ASSAY_KIND_F32)
            ((float *)data)[i] = in[i];
        else
            assay_elem_set(t->elem, data, i, (int64_t)in[i]);
}

static void check(const form *f, const assay_graph *g, assay_run *r, const char *engine)
{
    const assay_type *t = &g->value[g->output[0]].type;
    const void *data = assay_run_data(r, g->output[0]);
    for (size_t i = 0; i < (size_t)assay_shape_count(t); i++) {
        const double y = t->elem.kind == ASSAY_KIND_F32 ? (double)((const float *)data)[i]
                                                        : (double)assay_elem_get(t->elem, data, i);
        if (y != f->want[i] && !(isnan(y) && isnan(f->want[i])))
            fail_msg("opset %d: %s\nelement %zu is %.9g, expected %.9g (%s)", f->opset, f->text, i,
                     y, f->want[i], engine);
    }
}

/* With no scheme, under one of codes, and under one of matrix units. */
static void run(const form *f, const assay_graph *g, const char *name, enum assay_engine engine)
{
    const assay_program_options o = {.keep_all = true, .engine = engine};
    assay_program *p = NULL;
    assay_run *r = NULL;
    assay_scheme *s = NULL;
    assay_error err = {0};

    if (name)
        assert_ok(assay_scheme_open(name, &s, &err), &err);
    assert_ok(run_program_make_with(g, s, &o, &p, &err), &err);
    assert_ok(assay_run_new(p, &r, &err), &err);
    put(&g->value[g->input[0]].type, assay_run_data(r, g->input[0]), f->in);
    assert_ok(run_execute(r, NULL, false, NULL, &err), &err);
    check(f, g, r, name ? name : "no scheme");
    assay_run_free(r);
    assay_program_free(p);
    assay_scheme_free(s);
}

static void operators_follow_the_tables(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        size_t length;
        void *bytes = onnx_build(forms[i].opset, forms[i].text, &length);
        assay_graph *g = NULL;
        assay_error err = {0};
        assert_ok(onnx_import_memory("test.onnx", bytes, length, NULL, &g, &err), &err);
        run(&forms[i], g, NULL, ASSAY_ENGINE_REF);
        run(&forms[i], g, NULL, ASSAY_ENGINE_BOTH);
        run(&forms[i], g, "onnxruntime", ASSAY_ENGINE_REF);
        run(&forms[i], g, "hopper-fp8", ASSAY_ENGINE_BOTH);
        assay_graph_free(g);
        free(bytes);
    }
}

/* Written as ONNX and read again. */
static void run_again(const form *f, const assay_graph *g)
{
    size_t written;
    unsigned char *out;
    assay_graph *again = NULL;
    assay_error err = {0};
    assert_ok(onnx_export_graph(g, &out, &written, &err), &err);
    assert_ok(onnx_import_memory("again.onnx", out, written, NULL, &again, &err), &err);
    run(f, again, NULL, ASSAY_ENGINE_REF);
    assay_graph_free(again);
    free(out);
}

/* Every form gives the same. */
static void export_gives_the_same(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        size_t length;
        void *bytes = onnx_build(forms[i].opset, forms[i].text, &length);
        assay_graph *g = NULL;
        assay_error err = {0};
        assert_ok(onnx_import_memory("test.onnx", bytes, length, NULL, &g, &err), &err);
        run_again(&forms[i], g);
        assay_graph_free(g);
        free(bytes);
    }
}

/* Inf is NaN of a FNUZ format here, and its greatest number where a type needs opset 24. */
static void inf_stays_nan_beside_newer_types(void **state)
{
    static const char text[] =
        "graph g {\ninput x: f32[5]\nconst one: f32[1] = [1]\n"
        "p: f8e8m0[5] = float_encode(x, one) {block=[5], to=f8e8m0}\n"
        "y: f8e4m3fnuz[5] = float_encode(x, one) {block=[5], to=f8e4m3fnuz}\n"
        "output y\noutput p\n}\n";
    static const form f = {24, text, {HUGE_F, -HUGE_F, NONE, BIG, -0.0f}, {128, 128, 128, 127, 0}};
    assay_graph *g = NULL;
    assay_error err = {0};
    (void)state;
    assert_ok(text_graph_parse(text, strlen(text), "test", NULL, &g, &err), &err);
    run(&f, g, NULL, ASSAY_ENGINE_BOTH);
    run_again(&f, g);
    assay_graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(operators_follow_the_tables),
                                       cmocka_unit_test(export_gives_the_same),
                                       cmocka_unit_test(inf_stays_nan_beside_newer_types)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
