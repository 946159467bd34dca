/* QONNX's operators as they are imported, under the preset qonnx: Quant and Trunc against the
 * numbers of QONNX's own code, of values of the run and of constants; the others by hand from its
 * pages. */
#include "test/support/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/onnx/onnx.h"
#include "interp/kernel/kernel.h"
#include "interp/run/program.h"
#include "opt/quantize/qdq.h"
#include "schemes/scheme.h"
#include "test/support/npz.h"
#include "test/support/onnx_build.h"

static assay_graph *import(const char *text)
{
    size_t length;
    void *bytes = onnx_build(13, text, &length);
    assay_graph *g = NULL;
    assay_error err = {0};
    assay_status s = onnx_import_memory("test.onnx", bytes, length, NULL, &g, &err);

    if (s)
        print_error("%s\n", text);
    assert_ok(s, &err);
    free(bytes);
    return g;
}

/* The first output for one input, as many as there are. */
static void run(assay_graph *g, const assay_scheme *s, const float *x, float *y)
{
    assay_program *p = NULL;
    assay_run *r = NULL;
    assay_error err;

    assert_ok(assay_program_make_as_is(g, s, false, &p, &err), &err);
    assert_ok(assay_run_new(p, &r, &err), &err);
    memcpy(assay_run_data(r, g->input[0]), x, assay_type_bytes(&g->value[g->input[0]].type));
    assert_ok(run_execute(r, NULL, false, NULL, &err), &err);
    memcpy(y, assay_run_data(r, g->output[0]), assay_type_bytes(&g->value[g->output[0]].type));
    assay_run_free(r);
    assay_program_free(p);
}

static assay_scheme *qonnx(void)
{
    assay_scheme *s = NULL;
    assay_error err;
    assert_ok(assay_scheme_open("qonnx", &s, &err), &err);
    return s;
}

/* Rows whose zero point is a code: as a value of the run, then as a constant. */
static void rows_of_qonnx(void **state)
{
    static const char *const modes[] = {"ROUND", "CEIL",    "FLOOR",    "UP",
                                        "DOWN",  "HALF_UP", "HALF_DOWN"};
    char path[4096], text[700];
    assay_scheme *s = qonnx();
    size_t n, seen = 0;
    (void)state;

    struct npz *z = npz_open(npz_vectors_path("qonnx/int_quant.npz", 0, path, sizeof path));
    assert_non_null(z);
    const double *x = npz_f64(z, "x", &n, NULL), *scale = npz_f64(z, "scale", &n, NULL);
    const double *zero = npz_f64(z, "zp", &n, NULL), *want = npz_f64(z, "result", &n, NULL);
    const int64_t *bits = npz_i64(z, "bitwidth", &n, NULL), *sign = npz_i64(z, "signed", &n, NULL);
    const int64_t *narrow = npz_i64(z, "narrow", &n, NULL);
    const int64_t *mode = npz_i64(z, "rounding_mode", &n, NULL);
    for (size_t i = 0; i < n; i++) {
        const double lo = sign[i] ? -(double)(INT64_C(1) << (bits[i] - 1)) : 0;
        const double hi = (double)(INT64_C(1) << (bits[i] - sign[i])) - 1;
        if (bits[i] < 2 || bits[i] > 16 || zero[i] < lo || zero[i] > hi)
            continue;
        const float v = (float)x[i];
        float y[2];
        snprintf(text, sizeof text,
                 "in x f32 1\nconst c f32 1 = %.9g\nconst s f32 - = %.9g\nconst z f32 - = %.9g\n"
                 "const b f32 - = %d\n"
                 "qonnx.custom_op.general:Quant x,s,z,b -> u signed=%d narrow=%d rounding_mode=%s\n"
                 "onnx.brevitas:Quant c,s,z,b -> v signed=%d narrow=%d rounding_mode=%s\n"
                 "Concat u,v -> y axis=0\nout y",
                 x[i], scale[i], zero[i], (int)bits[i], (int)sign[i], (int)narrow[i],
                 modes[mode[i]], (int)sign[i], (int)narrow[i], modes[mode[i]]);
        assay_graph *g = import(text);
        run(g, s, &v, y);
        if (y[0] != (float)want[i] || y[1] != (float)want[i])
            fail_msg("row %zu: %s: %.9g and %.9g, QONNX %.9g", i, text, (double)y[0], (double)y[1],
                     want[i]);
        assay_graph_free(g);
        seen++;
    }
    print_message("# %zu rows\n", seen);
    assert_true(seen > 500);
    npz_close(z);
    assay_scheme_free(s);
}

/* Weights with a scale for each output channel become codes, and the layer between two Quants one
 * integer node. */
static void layers_are_grouped(void **state)
{
    assay_graph *g =
        import("in x f32 1,2\nconst s f32 - = 0.5\nconst z f32 - = 0\nconst b f32 - = 4\n"
               "const w f32 2,2 = 0.25 -1 2 0.5\nconst t f32 1,2 = 0.25 0.5\n"
               "qonnx.custom_op.general:Quant x,s,z,b -> a\n"
               "qonnx.custom_op.general:Quant w,t,z,b -> v narrow=1\nMatMul a,v -> m\n"
               "qonnx.custom_op.general:Quant m,s,z,b -> y\nout y");
    assay_scheme *s = qonnx();
    const float x[2] = {1.25F, -0.7F}; /* codes 2 and -1: 1 and -0.5 */
    float y[2];
    assay_error err;
    int products = 0;
    (void)state;

    assert_ok(quantize_group_qdq(g, s, run_has_integer_kernel, NULL, &err), &err);
    for (int i = 0; i < g->n_nodes; i++)
        products += (g->node[i].op == ASSAY_OP_MATMUL || g->node[i].op == ASSAY_OP_FC) &&
                    assay_node_is_quantized(g, &g->node[i]);
    assert_int_equal(products, 1);
    run(g, s, x, y);
    /* weights 0.25 -1 / 1.75 (greatest code 7) 0.5: 0.25 - 0.875 = -0.625 and -1 - 0.25 = -1.25, to
     * codes round(-1.25) = -1 and round(-2.5) = -2 */
    assert_true(y[0] == -0.5F && y[1] == -1);
    assay_graph_free(g);
    assay_scheme_free(s);
}

/* Modes that no scheme has for one node alone: in floats, each value and channel by its own. */
static void modes_of_values(void **state)
{
    static const struct {
        const char *mode;
        float y[4];
    } known[] = {{"CEIL", {-1, 1, -4, 1}},
                 {"FLOOR", {-1.5F, 0.5F, -4, 0.75F}},
                 {"UP", {-1.5F, 1, -4, 1}},
                 {"DOWN", {-1, 0.5F, -4, 0.75F}},
                 {"ROUND_TO_ZERO", {-1, 0.5F, -4, 0.75F}},
                 {"HALF_UP", {-1.5F, 1, -4, 1}},
                 {"HALF_DOWN", {-1, 0.5F, -4, 0.75F}}};
    const float x[4] = {-1.25F, 0.75F, -9, 0.875F}; /* over 0.5, 0.5, 0.25, 0.25: 3.5 is a tie */
    assay_scheme *s = qonnx();
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        char text[300];
        float y[4];
        snprintf(text, sizeof text,
                 "in x f32 2,2\nconst s f32 2,1 = 0.5 0.25\nconst z f32 - = 1\nconst b f32 - = 5\n"
                 "onnx.brevitas:Quant x,s,z,b -> y narrow=1 rounding_mode=%s\nout y",
                 known[i].mode);
        assay_graph *g = import(text);
        run(g, s, x, y);
        for (int k = 0; k < 4; k++)
            if (y[k] != known[i].y[k])
                fail_msg("%s: element %d is %g, expected %g", known[i].mode, k, (double)y[k],
                         (double)known[i].y[k]);
        assay_graph_free(g);
    }
    assay_scheme_free(s);
}

/* Trunc of opset 2, row by row, sixteen rows a network so that it takes a second. */
static void truncs_of_qonnx(void **state)
{
    static const char *const modes[] = {"ROUND", "CEIL",    "floor",    "UP",
                                        "DOWN",  "HALF_UP", "half_down"};
    enum { SOME = 16, STRIDE = 7 };
    char path[4096], text[SOME * 400];
    assay_scheme *s = qonnx();
    size_t n, seen = 0;
    (void)state;

    struct npz *z = npz_open(npz_vectors_path("qonnx/trunc_v2.npz", 0, path, sizeof path));
    assert_non_null(z);
    const double *x = npz_f64(z, "x", &n, NULL), *scale = npz_f64(z, "scale", &n, NULL);
    const double *zero = npz_f64(z, "zp", &n, NULL), *want = npz_f64(z, "result", &n, NULL);
    const double *to = npz_f64(z, "out_scale", &n, NULL);
    const int64_t *from = npz_i64(z, "in_bits", &n, NULL), *bits = npz_i64(z, "out_bits", &n, NULL);
    const int64_t *sign = npz_i64(z, "signed", &n, NULL), *narrow = npz_i64(z, "narrow", &n, NULL);
    const int64_t *mode = npz_i64(z, "rounding_mode", &n, NULL);
    for (size_t i = 0; i + SOME * STRIDE <= n; i += SOME * STRIDE) {
        float v[SOME], y[SOME];
        size_t used = (size_t)snprintf(text, sizeof text, "in x f32 %d\n", SOME);
        for (size_t k = 0; k < SOME; k++) {
            const size_t r = i + k * STRIDE;
            v[k] = (float)x[r];
            used += (size_t)snprintf(
                text + used, sizeof text - used,
                "const a%zu i64 1 = %zu\nGather x,a%zu -> x%zu\nconst s%zu f32 - = %.9g\n"
                "const z%zu f32 - = %.9g\nconst f%zu f32 - = %d\nconst t%zu f32 - = %.9g\n"
                "const b%zu f32 - = %d\nqonnx.custom_op.general:Trunc "
                "x%zu,s%zu,z%zu,f%zu,t%zu,b%zu "
                "-> y%zu signed=%d narrow=%d rounding_mode=%s\n",
                k, k, k, k, k, scale[r], k, zero[r], k, (int)from[r], k, to[r], k, (int)bits[r], k,
                k, k, k, k, k, k, (int)sign[r], (int)narrow[r], modes[mode[r]]);
        }
        used += (size_t)snprintf(text + used, sizeof text - used, "Concat y0");
        for (int k = 1; k < SOME; k++)
            used += (size_t)snprintf(text + used, sizeof text - used, ",y%d", k);
        snprintf(text + used, sizeof text - used, " -> y axis=0\nout y");
        assay_graph *g = import(text);
        run(g, s, v, y);
        for (size_t k = 0; k < SOME; k++, seen++)
            if (y[k] != (float)want[i + k * STRIDE])
                fail_msg("row %zu: %.9g, QONNX %.9g", i + k * STRIDE, (double)y[k],
                         want[i + k * STRIDE]);
        assay_graph_free(g);
    }
    print_message("# %zu rows\n", seen);
    assert_true(seen > 800); /* rows of test/vectors; ../shared has twice as many */
    npz_close(z);
    assay_scheme_free(s);
}

/* Opset 1 keeps the scale: 10 bits to 4 divide by 64. By hand, from the page of that opset. */
static void trunc_of_opset_1(void **state)
{
    const float x[4] = {100, -100, 31.75F,
                        0.5F};                  /* codes 201, -199, 64.5 (64), 2 over 0.5, from 1 */
    const float want[4] = {1, -2.5F, 0, -0.5F}; /* floor of a 64th: 3, -4, 1, 0 */
    assay_scheme *s = qonnx();
    float y[4];
    (void)state;
    assay_graph *g = import("in x f32 4\nconst s f32 - = 0.5\nconst z f32 - = 1\n"
                            "const f f32 - = 10\nconst b f32 - = 4\n"
                            "finn.custom_op.general:Trunc x,s,z,f,b -> y\nout y");
    run(g, s, x, y);
    for (int i = 0; i < 4; i++)
        if (y[i] != want[i])
            fail_msg("element %d is %g, expected %g", i, (double)y[i], (double)want[i]);
    assay_graph_free(g);
    assay_scheme_free(s);
}

/* Signs: of values of the run (0 and -0 count as positive), and of weights, which are codes. */
static void bipolar(void **state)
{
    const float x[4] = {3, -0.25F, 0, -0.0F};
    const float want[8] = {0.5F, -0.5F, 0.5F, 0.5F, -2, 2, 3, -3};
    assay_scheme *s = qonnx();
    float y[8];
    bool codes = false;
    (void)state;
    assay_graph *g = import("in x f32 2,2\nconst s f32 - = 0.5\nconst t f32 2,1 = 2 3\n"
                            "const w f32 2,2 = -0.01 7 0 -9\nqonnx.custom_op.general:BipolarQuant "
                            "x,s -> a\nonnx.brevitas:BipolarQuant w,t -> v\n"
                            "Concat a,v -> y axis=0\nout y");
    for (int i = 0; i < g->n_values; i++)
        codes |= g->value[i].data && g->value[i].type.q.granularity == ASSAY_Q_AXIS;
    assert_true(codes);
    run(g, s, x, y);
    for (int i = 0; i < 8; i++)
        if (y[i] != want[i])
            fail_msg("element %d is %g, expected %g", i, (double)y[i], (double)want[i]);
    assay_graph_free(g);
    assay_scheme_free(s);
}

/* Newer names, and modes in small letters. */
static void other_names(void **state)
{
    const float x[2] = {0.75F, -0.75F};
    assay_scheme *s = qonnx();
    float y[2];
    (void)state;
    assay_graph *g =
        import("in x f32 2\nconst s f32 - = 0.5\nconst z f32 - = 0\nconst b f32 - = 4\n"
               "qonnx.custom_op.general:IntQuant x,s,z,b -> y rounding_mode=floor\n"
               "out y");
    run(g, s, x, y);
    assert_true(y[0] == 0.5F && y[1] == -1);
    assay_graph_free(g);
    assay_scheme_free(s);
}

/* What a network of one operator gives for one input. */
static void gives(const char *text, const float *x, const float *want, int n)
{
    assay_scheme *s = qonnx();
    assay_graph *g = import(text);
    float y[16];
    run(g, s, x, y);
    for (int i = 0; i < n; i++)
        if (memcmp(&y[i], &want[i], sizeof *y) != 0)
            fail_msg("%s: element %d is %g, expected %g", text, i, (double)y[i], (double)want[i]);
    assay_graph_free(g);
    assay_scheme_free(s);
}

#define THRESHOLDS(x, t, more)                                                                     \
    "in x f32 " x "\nconst t f32 " t                                                               \
    "\nqonnx.custom_op.general:MultiThreshold x,t -> y out_dtype=UINT2" more "\nout y"
#define POOL(shape, attributes)                                                                    \
    "in x f32 " shape "\nqonnx.custom_op.general:QuantAvgPool2d x -> y ibits=3 " attributes        \
    "\nout y"

/* Thresholds that are reached count, in any order; a channel has its own, or all have one row's. */
static void thresholds(void **state)
{
    const float x[4] = {1, -2, 0.5F, 7}, counts[4] = {2, 0, 1, 3}, two[4] = {2, 0, 1, 2};
    const float by_row[4] = {2, 0, 0, 2}, by_column[4] = {2, 0, 1, 2};
    float scaled[4];
    (void)state;
    for (int i = 0; i < 4; i++)
        scaled[i] = (float)((double)0.3F * (double)counts[i] - (double)0.4F);
    gives(THRESHOLDS("2,2", "1,3 = 0 1 2", ""), x, counts, 4);
    gives(THRESHOLDS("1,4", "1,2 = 1 -1", ""), x, two, 4);
    gives(THRESHOLDS("1,2,1,2", "2,2 = 0 1 1 2", ""), x, by_row, 4);
    gives(THRESHOLDS("1,2,1,2", "2,2 = 0 1 1 2", " data_layout=NHWC"), x, by_column, 4);
    gives(THRESHOLDS("2,1,2", "2,2 = 0 1 1 2", ""), x, by_column, 4);
    gives(THRESHOLDS("4", "1,3 = 0 1 2", " out_scale=0.3 out_bias=-0.4"), x, scaled, 4);
}

/* 3 bits, windows of 4: sums up to 28 have 5 bits, 2 more than 3; the shift goes down. */
static void pools_of_integers(void **state)
{
    const float x[8] = {7, 6, 5, 4, -1, -2, -3, 0};
    const float quarters[2] = {5, -2}, sums[2] = {22, -6}, last[2] = {2, 2};
    (void)state;
    gives(POOL("1,2,2,2", "kernel=2 stride=1 obits=3 signed=1"), x, quarters, 2);
    gives(POOL("1,2,2,2", "kernel=2 stride=2 obits=8 signed=1"), x, sums, 2);
    gives(POOL("1,2,2,2", "kernel=2 stride=1 obits=3 data_layout=NHWC"), x, last, 2);
}

/* To the format's nearest number, ties to even; beyond its greatest, or max_val, that one. */
static void small_floats(void **state)
{
    const float x[8] = {0.3F, -2.6F, 2.5F, -5.1F, 100, -0.1F, 1.25F, 0.25F};
    const float e2m1[8] = {0.5F, -3, 2, -6, 6, -0.0F, 1, 0};
    const float to_4[8] = {0.5F, -3, 2, -4, 4, -0.0F, 1, 0};
    const float halves[8] = {0.25F, -3, 2, -3, 3, -0.0F, 1, 0.25F};
    const float e4m3[2] = {448, -0.013671875F}, wide[2] = {1e6F, -0.0137F};
    (void)state;
#define FLOATS(format, scale)                                                                      \
    "const s f32 - = " scale "\n" format                                                           \
    "qonnx.custom_op.general:FloatQuant x,s,e,m,b,v -> y has_inf=0 has_nan=0 has_subnormal=1 "     \
    "saturation=1\nout y"
#define E2M1(most)                                                                                 \
    "const e f32 - = 2\nconst m f32 - = 1\nconst b f32 - = 1\nconst v f32 - = " most "\n"
    gives("in x f32 8\n" FLOATS(E2M1("6"), "1"), x, e2m1, 8);
    gives("in x f32 8\n" FLOATS(E2M1("9"), "1"), x, e2m1, 8);
    gives("in x f32 8\n" FLOATS(E2M1("4"), "1"), x, to_4, 8);
    gives("in x f32 8\n" FLOATS(E2M1("6"), "0.5"), x, halves, 8);
    gives("in x f32 2\n" FLOATS("const e f32 - = 4\nconst m f32 - = 3\nconst b f32 - = 7\n"
                                "const v f32 - = 448\n",
                                "1"),
          wide, e4m3, 2);
}

static void refused(const char *text, const char *why)
{
    size_t length;
    assay_graph *g = NULL;
    assay_error err = {0};
    void *bytes = onnx_build(13, text, &length);
    assert_refused(onnx_import_memory("test.onnx", bytes, length, NULL, &g, &err), &err, why);
    free(bytes);
}

static void what_is_not_supported(void **state)
{
    (void)state;
    refused("in x f32 2\nconst s f32 - = 0.5\nconst z f32 - = 0\nconst b f32 - = 4\n"
            "onnx.brevitas:Quant x,s,z,b -> y rounding_mode=SIDEWAYS\nout y",
            "attribute 'rounding_mode' is 'SIDEWAYS'");
    refused("in x f32 8\n" FLOATS(E2M1("5"), "1"),
            "2 exponent and 1 mantissa bits, bias 1, up to 5");
    refused("in x f32 8\n" FLOATS(E2M1("-1"), "1"), "up to -1");
    refused("in x f32 8\n" FLOATS("const e f32 - = 4\nconst m f32 - = 3\nconst b f32 - = 7\n"
                                  "const v f32 - = 480\n",
                                  "1"),
            "up to 480; supported are");
    refused(POOL("1,2,2,2", "kernel=2 stride=2 obits=1"), "attribute 'obits' is 1 or missing");
    refused(POOL("2,2,2", "kernel=2 stride=2 obits=3"), "an input of 3 axes");
    refused(THRESHOLDS("2,3", "2,1 = 0 1", ""), "one row for all or one for each of 3 channels");
    refused("in t f32 1,9999999\nqonnx.custom_op.general:MultiThreshold t,t -> y\nout y",
            "9999999 thresholds");
    refused(THRESHOLDS("2,3,1", "1,1 = 0", " data_layout=NHWC"), "data_layout NHWC of 3 axes");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rows_of_qonnx),
                                       cmocka_unit_test(modes_of_values),
                                       cmocka_unit_test(truncs_of_qonnx),
                                       cmocka_unit_test(trunc_of_opset_1),
                                       cmocka_unit_test(bipolar),
                                       cmocka_unit_test(other_names),
                                       cmocka_unit_test(what_is_not_supported),
                                       cmocka_unit_test(thresholds),
                                       cmocka_unit_test(pools_of_integers),
                                       cmocka_unit_test(small_floats),
                                       cmocka_unit_test(layers_are_grouped)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
