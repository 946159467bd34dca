/* Narrow accumulators against a bit-serial model: one adder of declared width, written from the
 * words of the record, that sees one term at a time. */
#include "test/support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test/support/scheme_unit.h"

enum { DEPTH = 67 };

typedef struct policy {
    int bits, lanes, block;
    const char *overflow, *order, *bias;
    bool pairs; /* of unsigned codes, saturated to int16 */
} policy;

static assay_scheme *open_policy(const policy *p)
{
    char text[512];
    assay_error err = {0};
    assay_scheme *s;
    snprintf(
        text, sizeof text,
        "scheme: narrow\naccumulator: {bits: %d, overflow: %s, order: %s, lanes: %d, block: %d, "
        "bias: %s, saturate_pairs: %s}\n",
        p->bits, p->overflow, p->order, p->lanes, p->block, p->bias, p->pairs ? "yes" : "no");
    assert_ok(assay_scheme_parse("narrow", text, strlen(text), &s, &err), &err);
    return s;
}

/* Adds `term` to a register of p->bits bits, bit by bit, and looks at the carry into and out of the
 * sign to find an overflow. Terms wider than the register take as many bits as they need. */
static int64_t add_serial(const policy *p, int64_t reg, int64_t term, bool *trapped)
{
    int64_t exact = reg + term; /* all tests stay far below 2^63 */
    int64_t kept = 0;
    unsigned carry = 0;
    for (int i = 0; i < p->bits; i++) {
        unsigned a = (unsigned)((uint64_t)reg >> i & 1), b = (unsigned)((uint64_t)term >> i & 1);
        kept |= (int64_t)((uint64_t)((a ^ b ^ carry) & 1) << i);
        carry = (a & b) | (a & carry) | (b & carry);
    }
    if (p->bits < 64 && (kept >> (p->bits - 1) & 1)) /* sign extension */
        kept -= (int64_t)1 << p->bits;
    if (kept == exact)
        return kept;
    *trapped = true;
    if (strcmp(p->overflow, "wrap") == 0)
        return kept;
    int64_t max = ((int64_t)1 << (p->bits - 1)) - 1;
    return exact > max ? max : -max - 1;
}

/* Sum of a list of terms in blocks. */
static int64_t sum_blocks(const policy *p, const int64_t *term, int n, int64_t reg, bool *trapped)
{
    const int block = p->pairs ? (p->block + 1) / 2 : p->block;
    for (int i = 0; i < n; i += block) {
        int64_t exact = 0;
        for (int j = i; j < n && j < i + block; j++)
            exact += term[j];
        reg = add_serial(p, reg, exact, trapped);
    }
    return reg;
}

/* vpmaddubsw of two products (w1 = 0: of one), less what moving the codes up by 128 added. */
static int64_t pair_of(int32_t x0, int32_t w0, int32_t x1, int32_t w1)
{
    int64_t sum = (int64_t)(x0 + 128) * w0 + (int64_t)(x1 + 128) * w1;
    sum = sum > 32767 ? 32767 : sum < -32768 ? -32768 : sum;
    return sum - 128 * (int64_t)(w0 + w1);
}

static int64_t model(const policy *p, const int32_t *x, const int32_t *w, int n, int64_t bias,
                     bool *trapped)
{
    int64_t term[DEPTH], lane[DEPTH], reg = 0;
    bool last = strcmp(p->bias, "last") == 0;
    for (int i = 0; i < n && !p->pairs; i++)
        term[i] = (int64_t)x[i] * w[i];
    for (int i = 0; i < n && p->pairs; i += 2)
        term[i / 2] = pair_of(x[i], w[i], i + 1 < n ? x[i + 1] : 0, i + 1 < n ? w[i + 1] : 0);
    n = p->pairs ? (n + 1) / 2 : n;
    if (strcmp(p->overflow, "saturate-at-end") == 0) {
        int64_t exact = bias;
        for (int i = 0; i < n; i++)
            exact += term[i];
        return add_serial(p, 0, exact, trapped);
    }
    if (!last)
        reg = add_serial(p, 0, bias, trapped);
    if (strcmp(p->order, "reverse") == 0)
        for (int i = 0; i < n / 2; i++) {
            int64_t t = term[i];
            term[i] = term[n - 1 - i];
            term[n - 1 - i] = t;
        }
    if (strcmp(p->order, "lanes") == 0) {
        for (int l = 0; l < p->lanes; l++) {
            int count = 0;
            for (int i = l; i < n; i += p->lanes)
                lane[count++] = term[i];
            reg = add_serial(p, reg, sum_blocks(p, lane, count, 0, trapped), trapped);
        }
    } else {
        reg = sum_blocks(p, term, n, reg, trapped);
    }
    return last ? add_serial(p, reg, bias, trapped) : reg;
}

static void check(const policy *p, test_rng *rng)
{
    assay_error err = {0};
    assay_scheme *s = open_policy(p);
    assay_unit *u;
    const float one = 1;
    const int32_t none = 0;
    assay_type t[3];
    for (int i = 0; i < 3; i++)
        t[i] = code_type(8, true, &one, &none);
    assay_unit_spec spec = unit_spec("conv", t, 2, &t[2]);
    assert_ok(s->vt->prepare(s, &spec, &u, &err), &err);
    for (int k = 0; k < 60; k++) {
        int32_t x[DEPTH], w[DEPTH];
        int n = (int)test_between(rng, 0, DEPTH);
        for (int i = 0; i < n; i++) {
            x[i] = (int32_t)test_between(rng, p->pairs ? -128 : -255, p->pairs ? 127 : 255);
            w[i] = (int32_t)test_between(rng, -128, 127);
        }
        int64_t bias = test_between(rng, -100000, 100000);
        bool trapped = false, expected_trap = false;
        int64_t got = s->vt->accumulate(u, x, w, (size_t)n, bias, 0, 0, &trapped);
        int64_t expected = model(p, x, w, n, bias, &expected_trap);
        bool traps = strcmp(p->overflow, "trap") == 0 || strcmp(p->overflow, "refuse") == 0;
        if ((!traps || !expected_trap) && got != expected)
            fail_msg("%d bits %s, %s, %d lanes, block %d, bias %s%s: %lld, expected %lld", p->bits,
                     p->overflow, p->order, p->lanes, p->block, p->bias, p->pairs ? ", pairs" : "",
                     (long long)got, (long long)expected);
        assert_int_equal(trapped, traps && expected_trap);
        bool overflow_trap = false, model_trap = false;
        assert_int_equal(s->vt->apply_overflow(u, bias, &overflow_trap),
                         add_serial(p, 0, bias, &model_trap));
        assert_int_equal(overflow_trap, traps && model_trap);
    }
    s->vt->release(u);
    assay_scheme_free(s);
}

static void policies(void **state)
{
    (void)state;
    static const char *const overflow[] = {"wrap", "saturate-each-step", "saturate-at-end", "trap",
                                           "refuse"};
    static const char *const bias[] = {"first", "last"};
    static const struct {
        const char *name;
        int lanes;
    } orders[] = {{"forward", 1}, {"reverse", 1}, {"lanes", 2}, {"lanes", 16}};
    static const int widths[] = {12, 16, 17, 20, 24, 32, 48}, blocks[] = {1, 3, 4, 16};
    test_rng rng = test_seed("accumulate", 505);
    for (size_t b = 0; b < 7; b++)
        for (size_t v = 0; v < 5; v++)
            for (size_t o = 0; o < 4; o++)
                for (size_t k = 0; k < 4; k++)
                    for (size_t i = 0; i < 4; i++) {
                        policy p = {widths[b],      orders[o].lanes, blocks[k], overflow[v],
                                    orders[o].name, bias[i % 2],     i > 1};
                        check(&p, &rng);
                    }
}

/* Order and block size are visible: 3 + 3 - 3 saturating in 3 bits. */
static void order_matters(void **state)
{
    (void)state;
    static const struct {
        const char *order;
        int block;
        int64_t expected;
    } cases[] = {{"forward", 1, 0}, {"reverse", 1, 3}, {"forward", 3, 3}, {"forward", 2, 0}};
    for (size_t k = 0; k < 4; k++) {
        policy p = {3, 1, cases[k].block, "saturate-each-step", cases[k].order, "first", false};
        assay_error err = {0};
        assay_scheme *s = open_policy(&p);
        assay_unit *u;
        const float one = 1;
        const int32_t none = 0, x[3] = {3, 3, -3}, w[3] = {1, 1, 1};
        assay_type t[3];
        bool trapped = false;
        for (int i = 0; i < 3; i++)
            t[i] = code_type(8, true, &one, &none);
        assay_unit_spec spec = unit_spec("conv", t, 2, &t[2]);
        assert_ok(s->vt->prepare(s, &spec, &u, &err), &err);
        assert_int_equal(s->vt->accumulate(u, x, w, 3, 0, 0, 0, &trapped), cases[k].expected);
        s->vt->release(u);
        assay_scheme_free(s);
    }
}

/* x86 vpmaddubsw: products of unsigned codes and signed weights, in pairs saturated to int16. */
static void saturating_pairs(void **state)
{
    (void)state;
    test_rng rng = test_seed("pairs", 606);
    assay_error err = {0};
    for (int is_signed = 0; is_signed < 2; is_signed++) {
        assay_scheme *s;
        assay_unit *u;
        const float one = 1;
        const int32_t zero = is_signed ? -5 : 100, none = 0;
        s = unit_scheme("accumulator: {saturate_pairs: yes}\n");
        assay_type t[3] = {code_type(8, is_signed, &one, &zero), code_type(8, true, &one, &none),
                           code_type(8, is_signed, &one, &none)};
        assay_unit_spec spec = unit_spec("conv", t, 2, &t[2]);
        assert_ok(s->vt->prepare(s, &spec, &u, &err), &err);
        for (int k = 0; k < 2000; k++) {
            int32_t x[DEPTH], w[DEPTH];
            int n = (int)test_between(&rng, 1, DEPTH);
            int64_t expected = 7, weights = 0;
            for (int i = 0; i < n; i++) {
                x[i] = (int32_t)test_between(&rng, is_signed ? -128 : 0, is_signed ? 127 : 255);
                w[i] = (int32_t)test_between(&rng, -128, 127);
            }
            for (int i = 0; i < n; i += 2) { /* codes moved to 0..255 when signed */
                int32_t up = is_signed ? 128 : 0;
                int64_t pair = (int64_t)(x[i] + up) * w[i];
                pair += i + 1 < n ? (int64_t)(x[i + 1] + up) * w[i + 1] : 0;
                expected += pair > 32767 ? 32767 : pair < -32768 ? -32768 : pair;
            }
            for (int i = 0; i < n; i++) {
                weights += w[i];
                x[i] -= zero; /* as kernels give it */
            }
            expected -= weights * (zero + (is_signed ? 128 : 0));
            bool trapped = false;
            int64_t got = s->vt->accumulate(u, x, w, (size_t)n, 7, zero, 0, &trapped);
            assert_int_equal(got, expected);
        }
        s->vt->release(u);
        assay_scheme_free(s);
    }
}

/* What MatMulInteger of ONNX Runtime 1.30 gave for three products on AVX2 without VNNI, zero points
 * 0: pairs saturate of unsigned codes and signed weights alone. */
static void pairs_of_mlas(void **state)
{
    (void)state;
    static const struct {
        bool x_signed, w_signed;
        int32_t x, w; /* twice, then 1 and 3 */
        int64_t sum;
    } measured[] = {{false, true, 255, 127, 32770},   {false, true, 255, -128, -32765},
                    {false, false, 255, 255, 130053}, {true, true, 127, 127, 32261},
                    {true, true, -128, -128, 32771},  {true, true, 127, -128, -32509},
                    {true, false, 127, 255, 64773},   {true, false, -128, 255, -65277}};
    static const char *const ops[] = {"fc", "matmul"};
    assay_error err = {0};
    assay_scheme *s;
    const float one = 1;
    const int32_t none = 0;
    assert_ok(assay_scheme_open("onnxruntime-prevnni", &s, &err), &err);
    for (size_t i = 0; i < 2 * (sizeof measured / sizeof *measured); i++) {
        const bool is_signed = measured[i / 2].x_signed;
        const int32_t x[] = {measured[i / 2].x, measured[i / 2].x, 1};
        const int32_t w[] = {measured[i / 2].w, measured[i / 2].w, 3};
        assay_type t[3] = {code_type(8, is_signed, &one, &none),
                           code_type(8, measured[i / 2].w_signed, &one, &none),
                           code_type(8, is_signed, &one, &none)};
        assay_unit_spec spec = unit_spec(ops[i % 2], t, 2, &t[2]);
        assay_unit *u = unit_prepare(s, &spec);
        bool trapped = false;
        assert_int_equal(s->vt->accumulate(u, x, w, 3, 0, 0, 0, &trapped), measured[i / 2].sum);
        s->vt->release(u);
    }
    assay_scheme_free(s);
}

/* ConvInteger of ONNX Runtime, whose result is the sums, multiplies them the other way round. */
static void check_sums(const assay_scheme *s, assay_unit_spec spec, const int32_t *x,
                       const int32_t *w, size_t n)
{
    const float one = 1;
    const int32_t none = 0;
    const assay_type sums = code_type(32, true, &one, &none);
    int64_t exact = 0;
    bool trapped = false;
    for (size_t k = 0; k < n; k++)
        exact += (int64_t)x[k] * w[k];
    spec.out = &sums;
    assay_unit *u = unit_prepare(s, &spec);
    assert_int_equal(s->vt->accumulate(u, x, w, n, 0, 0, 0, &trapped), exact);
    s->vt->release(u);
}

/* Codes that QLinearConv of ONNX Runtime 1.30 gave there of 2 x 2 inputs of 255 and kernels of 2 x
 * 2, 128 + sum / 1024: pairs are of channels, cell by cell; a depthwise convolution of one output a
 * channel has none, unless the weights of its channels have several zero points. */
static void pairs_of_convolutions(void **state)
{
    (void)state;
    static const struct {
        int32_t w[8]; /* channel by channel */
        int channels, outputs;
        int64_t code;
        bool several; /* zero points of weights; this channel's is 0 */
    } measured[] = {{{127, 127, 127, 127, -128, -128, -128, -128}, 2, 0, 127},
                    {{127, -128, 127, -128, 127, -128, 127, -128}, 2, 0, 128},
                    {{127, 127, 127, 127}, 1, 2, 192},
                    {{-128, -128, -128, -128}, 1, 2, 64},
                    {{127, 127, 127, 127}, 1, 1, 255},
                    {{127, 127, 127, 127}, 1, 1, 192, true}};
    assay_error err = {0};
    assay_scheme *s;
    const float one = 1, ones[2] = {1, 1};
    const int32_t none = 0, zeros[2] = {0, -3};
    assert_ok(assay_scheme_open("onnxruntime-prevnni", &s, &err), &err);
    for (size_t i = 0; i < 2 * (sizeof measured / sizeof *measured); i++) {
        const bool innermost = i % 2; /* the same filters, cell by cell */
        const int channels = measured[i / 2].channels, n = 4 * channels;
        int32_t x[8], w[8];
        for (int k = 0; k < n; k++) {
            x[k] = 255;
            w[innermost ? k % 4 * channels + k / 4 : k] = measured[i / 2].w[k];
        }
        assay_type t[3] = {code_type(8, false, &one, &none), code_type(8, true, &one, &none),
                           code_type(8, false, &one, &none)};
        if (measured[i / 2].several)
            t[1].q = (assay_qparams){
                .granularity = ASSAY_Q_AXIS, .count = 2, .scale = ones, .zero_point = zeros};
        assay_unit_spec spec = unit_spec("conv", t, 2, &t[2]);
        spec.channel_step = innermost ? 1 : 4;
        spec.channel_outputs = measured[i / 2].outputs;
        check_sums(s, spec, x, w, (size_t)n);
        assay_unit *u = unit_prepare(s, &spec);
        bool trapped = false;
        const int64_t sum = s->vt->accumulate(u, x, w, (size_t)n, 0, 0, 0, &trapped);
        const int64_t code = 128 + (int64_t)nearbyint((double)sum / 1024);
        assert_int_equal(code > 255 ? 255 : code, measured[i / 2].code);
        s->vt->release(u);
    }
    assay_scheme_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(policies), cmocka_unit_test(order_matters),
                                       cmocka_unit_test(saturating_pairs),
                                       cmocka_unit_test(pairs_of_mlas),
                                       cmocka_unit_test(pairs_of_convolutions)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
