/* Presets of LiteRT and TFLite by runtime, version and delegate: accumulators that tell their
 * kernels apart. Measured with these runtimes by ./dev peer litert. */
#include "graph/core/type.h"
#include "schemes/derive/derive.h"
#include "test/support/scheme_unit.h"

static const int32_t zero[1];

/* One accumulator through op's rescale of R = 1/4; group > 1: depthwise. */
static int32_t quarter(const char *preset, const char *op, int64_t group, unsigned bits,
                       int64_t acc)
{
    const float one = 1, four = 4;
    assay_error err = {0};
    assay_scheme *s;
    assert_ok(assay_scheme_open(preset, &s, &err), &err);
    assay_type in[3] = {code_type(bits, true, &one, zero), code_type(8, true, &one, zero),
                        code_type(bits > 8 ? 64 : 32, true, &one, zero)};
    assay_type out = code_type(bits, true, &four, zero);
    assay_unit_spec spec = unit_spec(op, in, 3, &out);
    spec.flag = group;
    assay_unit *u = unit_prepare(s, &spec);
    int32_t y;
    s->vt->requantize(u, &acc, 1, 0, &y);
    s->vt->release(u);
    assay_scheme_free(s);
    return y;
}

/* -6/4 is a tie after the doubling high product, 1/4 one before it. */
static void rounding(void **state)
{
    (void)state;
    static const struct {
        const char *preset, *op;
        int64_t group;
        unsigned bits;
        int32_t of_minus_6, of_1;
    } cases[] = {
        {"litert-ref", "conv", 1, 8, -2, 1},      {"litert-ref", "conv", 4, 8, -2, 1},
        {"litert-ref", "fc", 1, 8, -2, 0},        {"litert-ref", "fc", 1, 16, -2, 0},
        {"litert-ref", "conv", 1, 16, -1, 0},     {"tflite-2.9-x86", "conv", 1, 8, -1, 1},
        {"tflite-2.9-x86", "conv", 4, 8, -2, 1},  {"tflite-2.9-x86", "fc", 1, 8, -1, 1},
        {"tflite-2.9-x86", "fc", 1, 16, -1, 0},   {"litert-xnnpack", "conv", 1, 8, -2, 0},
        {"litert-xnnpack", "conv", 4, 8, -2, 0},  {"litert-xnnpack", "fc", 1, 8, -2, 0},
        {"litert-xnnpack", "conv", 1, 16, -1, 0}, {"ruy", "conv", 1, 8, -1, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int32_t a = quarter(cases[i].preset, cases[i].op, cases[i].group, cases[i].bits, -6);
        int32_t b = quarter(cases[i].preset, cases[i].op, cases[i].group, cases[i].bits, 1);
        if (a != cases[i].of_minus_6 || b != cases[i].of_1)
            fail_msg("case %zu, %s %s: %d and %d", i, cases[i].preset, cases[i].op, a, b);
    }
}

/* One accumulator through op's rescale of unsigned codes with a zero point of 10. */
static int32_t of_unsigned(const char *preset, const char *op, const float scale[3], int64_t acc)
{
    static const int32_t ten = 10;
    assay_error err = {0};
    assay_scheme *s;
    assert_ok(assay_scheme_open(preset, &s, &err), &err);
    assay_type in[2] = {code_type(8, false, &scale[0], &ten), code_type(8, false, &scale[1], &ten)};
    assay_type out = code_type(8, false, &scale[2], &ten);
    assay_unit_spec spec = unit_spec(op, in, 2, &out);
    spec.flag = 1;
    assay_unit *u = unit_prepare(s, &spec);
    int32_t y;
    s->vt->requantize(u, &acc, 1, 0, &y);
    s->vt->release(u);
    assay_scheme_free(s);
    return y - ten;
}

/* Unsigned codes have kernels of their own: LiteRT's fully connected rounds twice as TFLite's, and
 * R of convolutions, transposed ones too, is formed from the float32 product of the scales: 1/16,
 * where the product in double is less (seed 91, case 39 of ./dev peer litert). */
static void unsigned_kernels(void **state)
{
    static const float quarter_scales[3] = {1, 1, 4},
                       sixteenth[3] = {0.13542144000530243F, 0.006167989689856768F,
                                       0.013364449143409729F};
    static const struct {
        const char *preset;
        int32_t of_minus_6, of_1, half;
    } cases[] = {{"tflite", -2, 1, 101},
                 {"litert-ref", -2, 1, 101},
                 {"tflite-2.9-x86", -1, 1, 101},
                 {"litert-xnnpack", -2, 0, 100}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *preset = cases[i].preset;
        if (of_unsigned(preset, "fc", quarter_scales, -6) != cases[i].of_minus_6 ||
            of_unsigned(preset, "fc", quarter_scales, 1) != cases[i].of_1)
            fail_msg("fc under %s", preset);
        for (int t = 0; t < 2; t++) {
            const char *op = t ? "conv_transpose" : "conv";
            const int32_t y = of_unsigned(preset, op, sixteenth, 1608);
            if (y != cases[i].half)
                fail_msg("%s under %s: %d", op, preset, y);
        }
    }
}

/* Floats between two codes: of 8 bits XNNPACK multiplies by the float32 reciprocal, the builtin
 * kernels divide in float64. x / scale is -8705.4996 (in float32 a tie), -2.5, and 7.4999999 (in
 * float32, and times 10, the reciprocal of 0.1F, a tie). */
static void quantizing(void **state)
{
    (void)state;
    static const struct {
        const char *preset;
        float x, scale;
        unsigned bits;
        int32_t code;
    } cases[] = {
        {"litert-ref", -1.2619189F, 0.00014495652F, 16, -8706},
        {"tflite-2.9-x86", -1.2619189F, 0.00014495652F, 16, -8705},
        {"litert-xnnpack", -1.2619189F, 0.00014495652F, 16, -8705},
        {"litert-ref", -0.625F, 0.25F, 8, -3},
        {"tflite-2.9-x86", -0.625F, 0.25F, 8, -3},
        {"litert-xnnpack", -0.625F, 0.25F, 8, -2},
        {"litert-xnnpack", -0.625F, 0.25F, 16, -3},
        {"tflite-2.9-x86", 0.75F, 0.1F, 8, 7},
        {"litert-xnnpack", 0.75F, 0.1F, 8, 8},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assay_error err = {0};
        assay_scheme *s;
        assert_ok(assay_scheme_open(cases[i].preset, &s, &err), &err);
        assay_type in = {.elem = assay_f32(), .rank = 1, .dim = {1}};
        assay_type out = code_type(cases[i].bits, true, &cases[i].scale, zero);
        assay_unit_spec spec = unit_spec("quantize", &in, 1, &out);
        assay_unit *u = unit_prepare(s, &spec);
        uint32_t bits;
        int32_t q;
        memcpy(&bits, &cases[i].x, sizeof bits);
        s->vt->quantize(u, &bits, 1, 0, &q);
        if (q != cases[i].code)
            fail_msg("case %zu, %s: %d", i, cases[i].preset, q);
        s->vt->release(u);
        assay_scheme_free(s);
    }
}

/* PyTorch's hard swish, whose scaled values -4.5, 7.5 and 57.5 round together with the zero point
 * 179. Measured by ./dev peer pytorch. */
static void zero_point_inside(void **state)
{
    (void)state;
    static const int32_t codes[3] = {115, 163, 254}, want[3] = {174, 186, 236};
    static const int32_t in_zero[1] = {139}, out_zero[1] = {179};
    const float in_scale = 0.03125F, out_scale = 0.0625F;
    assay_error err = {0};
    assay_scheme *s;
    assert_ok(assay_scheme_open("pytorch-qnnpack", &s, &err), &err);
    assay_type in = code_type(8, false, &in_scale, in_zero);
    assay_type out = code_type(8, false, &out_scale, out_zero);
    assay_unit_spec spec = unit_spec("hard_swish", &in, 1, &out);
    assay_unit *u = unit_prepare(s, &spec);
    int32_t y[3];
    s->vt->unary(u, codes, 3, y);
    assert_memory_equal(y, want, sizeof want);
    s->vt->release(u);
    assay_scheme_free(s);
}

/* PyTorch's qnnpack multiplies by the reciprocal of the output's scale
 * (generate_requantization_scales), where FBGEMM divides: R is 2459255e-9 or the float before it,
 * and -103080 R is on either side of a tie. */
static void reciprocal_of_output(void **state)
{
    (void)state;
    static const char *const ops[] = {"conv", "conv_transpose", "fc"}, *const presets[] = {
                                                                           "pytorch-qnnpack",
                                                                           "fbgemm"};
    static const int32_t out_zero[1] = {255}, want[] = {1, 2};
    const float in_scale = 0.05178620666265488F, w_scale = 0.048315178602933884F,
                out_scale = 1.01740562915802F;
    const int64_t acc = -103080;
    for (int p = 0; p < 2; p++) {
        assay_error err = {0};
        assay_scheme *s;
        assert_ok(assay_scheme_open(presets[p], &s, &err), &err);
        for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
            assay_type in[2] = {code_type(8, false, &in_scale, zero),
                                code_type(8, true, &w_scale, zero)};
            assay_type out = code_type(8, false, &out_scale, out_zero);
            assay_unit_spec spec = unit_spec(ops[i], in, 2, &out);
            spec.flag = 1;
            assay_unit *u = unit_prepare(s, &spec);
            int32_t y;
            s->vt->requantize(u, &acc, 1, 0, &y);
            if (y != want[p])
                fail_msg("%s, %s: %d", presets[p], ops[i], y);
            s->vt->release(u);
        }
        assay_scheme_free(s);
    }
}

/* One code of i8 through a unary op of litert-xnnpack. */
static int32_t unary(const char *op, double alpha, float s_in, float s_out, int32_t out_zero,
                     int32_t code)
{
    assay_error err = {0};
    assay_scheme *s;
    assert_ok(assay_scheme_open("litert-xnnpack", &s, &err), &err);
    assay_type in = code_type(8, true, &s_in, zero), out = code_type(8, true, &s_out, &out_zero);
    assay_unit_spec spec = unit_spec(op, &in, 1, &out);
    spec.alpha = alpha;
    assay_unit *u = unit_prepare(s, &spec);
    int32_t y;
    s->vt->unary(u, &code, 1, &y);
    s->vt->release(u);
    assay_scheme_free(s);
    return y;
}

/* The delegate computes ELU in float32, rounded half to even with the zero point inside; it takes
 * leaky relus with slopes of 1/256 to 128 (8 fraction bits), and leaves others to LiteRT's two
 * rescales, under which 0.48 and 1.43 become 1 and 2. */
static void delegate_takes(void **state)
{
    (void)state;
    static const struct {
        const char *op;
        double alpha;
        float s_in, s_out;
        int32_t out_zero, code, want;
    } cases[] = {
        {"elu", 1, 0.00390625F, 0.015625F, 0, 2, 0},
        {"elu", 1, 0.00390625F, 0.015625F, 0, 18, 4},
        {"elu", 1, 0.00390625F, 0.015625F, 1, 2, 2},
        {"leaky_relu", 0.25, 0.5F, 1.049017310142517F, 0, 1, 0},
        {"leaky_relu", 0.002, 0.5F, 1.049017310142517F, 0, 1, 1},
        {"leaky_relu", 0.002, 0.5F, 1.049017310142517F, 0, 3, 2},
        {"leaky_relu", 0, 0.5F, 1.049017310142517F, 0, 22, 11},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const int32_t y = unary(cases[i].op, cases[i].alpha, cases[i].s_in, cases[i].s_out,
                                cases[i].out_zero, cases[i].code);
        if (y != cases[i].want)
            fail_msg("case %zu, %s: %d", i, cases[i].op, y);
    }
}

/* What the delegate does not take is LiteRT's own: the same parameters, or of 16 bits the same
 * units. */
static void undelegated(void **state)
{
    (void)state;
    static const char *const ops[] = {"softmax", "avg_pool", "sigmoid", "relu", "log_softmax"};
    const float one = 1, probability = 1.0F / 256;
    const int32_t least[1] = {-128};
    assay_error err = {0};
    assay_scheme *s[2];
    assert_ok(assay_scheme_open("litert-xnnpack", &s[0], &err), &err);
    assert_ok(assay_scheme_open("litert-ref", &s[1], &err), &err);
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
        assay_type in = code_type(8, true, &one, zero), out = in;
        if (strcmp(ops[i], "softmax") == 0 || strcmp(ops[i], "sigmoid") == 0)
            out = code_type(8, true, &probability, least);
        assay_unit_spec spec = unit_spec(ops[i], &in, 1, &out);
        assay_unit *u[2];
        for (int k = 0; k < 2; k++)
            u[k] = unit_prepare(s[k], &spec);
        assert_memory_equal(&u[0]->rec, &u[1]->rec, sizeof u[0]->rec);
        for (int k = 0; k < 2; k++)
            s[k]->vt->release(u[k]);
    }
    for (int k = 0; k < 2; k++)
        assay_scheme_free(s[k]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rounding),
                                       cmocka_unit_test(unsigned_kernels),
                                       cmocka_unit_test(quantizing),
                                       cmocka_unit_test(zero_point_inside),
                                       cmocka_unit_test(reciprocal_of_output),
                                       cmocka_unit_test(delegate_takes),
                                       cmocka_unit_test(undelegated)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
