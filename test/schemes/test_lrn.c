/* Local response normalization in integers: against a twin that goes the other way round (cells
 * found by search, windows summed anew, long double gains), against the real function, refusals,
 * both layouts, and a network that the quantizer makes of it. */
#include "test/support/roundings.h"
#include "test/support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/text/text.h"
#include "interp/run/program.h"
#include "schemes/round.h"
#include "schemes/scheme.h"
#include "test/support/net.h"
#include "test/support/quantized.h"
#include "test/support/scheme_unit.h"

#define MAX 40

/* One place of n channels under a record of its own. */
typedef struct place {
    int cells, bits, interpolate;
    enum assay_rounding round;
    size_t n;
    float scale[2];
    int32_t zero[2];
    assay_type type[2];
    assay_unit_spec spec;
    int32_t x[MAX], y[MAX];
} place;

static void make(place *p, test_rng *r, unsigned code_bits)
{
    const bool narrow = code_bits <= 8;
    const int64_t half = INT64_C(1) << (code_bits - 1);
    p->cells = (int)test_between(r, 0, 10);
    p->bits = (int)test_between(r, 6, narrow ? 20 : 30);
    p->interpolate = (int)test_between(r, 0, 3) > 0;
    p->round = (enum assay_rounding)test_between(r, 0, ASSAY_ROUND_COUNT - 1);
    p->n = (size_t)test_between(r, 1, MAX);
    p->scale[0] = (float)((narrow ? 0.02 : 0.0001) * (0.5 + test_unit(r)));
    p->scale[1] = p->scale[0] * (float)(0.3 + 0.7 * test_unit(r));
    for (int i = 0; i < 2; i++) {
        p->zero[i] = (int32_t)test_between(r, -half, half - 1);
        p->type[i] = code_type(code_bits, true, &p->scale[i], &p->zero[i]);
    }
    p->spec = unit_spec("lrn", p->type, 1, &p->type[1]);
    p->spec.depth = test_between(r, 1, 9);
    p->spec.alpha = (double)test_between(r, 0, 4) * 0.3;
    p->spec.beta = (double)test_between(r, 0, 4) * 0.25;
    p->spec.gamma = 0.5 + 2 * test_unit(r);
    for (size_t i = 0; i < p->n; i++)
        p->x[i] = (int32_t)test_between(r, -half, half - 1);
}

static void run(place *p)
{
    static const char *const no_yes[] = {"no", "yes"};
    char text[256];
    assay_scheme *s;
    assay_unit *u;
    assay_error err;
    int n = snprintf(text, sizeof text,
                     "scheme: t\nrescale: {multiplier_bits: 16, left_shift: product, round: "
                     "[half-up]}\nlrn: {cells: %d, bits: %d, interpolate: %s, round: %s}\n",
                     p->cells, p->bits, no_yes[p->interpolate], assay_rounding_name(p->round));
    assert_ok(assay_scheme_parse("t.yaml", text, (size_t)n, &s, &err), &err);
    assert_ok(s->vt->prepare(s, &p->spec, &u, &err), &err);
    s->vt->row(u, p->x, p->n, p->y);
    s->vt->release(u);
    assay_scheme_free(s);
}

/* The window's sum of squares, in codes. */
static int64_t sum_of(const place *p, size_t c)
{
    int64_t first = (int64_t)c - (p->spec.depth - 1) / 2, sum = 0;
    for (int64_t j = first; j < first + p->spec.depth; j++)
        if (j >= 0 && j < (int64_t)p->n)
            sum += (int64_t)(p->x[j] - p->zero[0]) * (p->x[j] - p->zero[0]);
    return sum;
}

static long double real_gain(const place *p, int64_t sum)
{
    long double scale = (long double)p->scale[0];
    long double base = (long double)p->spec.gamma + (long double)p->spec.alpha /
                                                        (long double)p->spec.depth * scale * scale *
                                                        (long double)sum;
    return powl(base, -(long double)p->spec.beta);
}

/* ---- the twin: a cell is found by walking over all of them ---- */

/* An entry of the table, or INT64_MIN where the double that the library rounds may fall on either
 * side of a tie. */
static int64_t entry(const place *p, int64_t sum)
{
    int exponent;
    frexpl(real_gain(p, 0), &exponent);
    long double v = ldexpl(real_gain(p, sum), p->bits - exponent), twice = 2 * v;
    bool doubtful = twice != rintl(twice) && fabsl(twice - rintl(twice)) < twice * 0x1p-46L;
    return doubtful ? INT64_MIN : test_rounded(v, p->round);
}

static int64_t twin_gain(const place *p, int64_t sum)
{
    int64_t least = 0, width = 1;
    while (sum >= least + width) {
        least += width;
        if (least == width << (p->cells + 1))
            width *= 2;
    }
    int64_t low = entry(p, least), high = entry(p, least + width);
    if (low == INT64_MIN || high == INT64_MIN)
        return INT64_MIN;
    if (!p->interpolate)
        return low;
    return low +
           test_rounded((long double)((high - low) * (sum - least)) / (long double)width, p->round);
}

/* The multiplier and shift of the record above. */
static int64_t rescaled(const place *p, int64_t acc)
{
    int exponent, places;
    frexpl(real_gain(p, 0), &places);
    double real = (double)p->scale[0] * ldexp(1, places - p->bits) / (double)p->scale[1];
    int64_t m = (int64_t)round(ldexp(frexp(real, &exponent), 16));
    if (m == 65536) {
        m = 32768;
        exponent++;
    }
    assay_int128 wide = (assay_int128)acc * m + ((assay_int128)1 << (15 - exponent));
    return (int64_t)(wide >> (16 - exponent));
}

static void equals_its_twin(void **state)
{
    test_rng r = test_seed("lrn twin", 51);
    size_t compared = 0;
    place p;
    (void)state;
    for (int t = 0; t < 1200; t++) {
        const unsigned bits = (unsigned)test_between(&r, 2, t % 2 ? 8 : 14);
        make(&p, &r, bits);
        run(&p);
        for (size_t c = 0; c < p.n; c++) {
            int64_t g = twin_gain(&p, sum_of(&p, c));
            if (g == INT64_MIN)
                continue;
            int64_t max = (INT64_C(1) << (bits - 1)) - 1;
            int64_t y = rescaled(&p, (p.x[c] - p.zero[0]) * g) + p.zero[1];
            y = y < -max - 1 ? -max - 1 : y > max ? max : y;
            if (p.y[c] != y)
                fail_msg("channel %zu of %zu, cells %d, bits %d: %d, twin %lld", c, p.n, p.cells,
                         p.bits, p.y[c], (long long)y);
            compared++;
        }
    }
    assert_true(compared > 15000);
}

/* With the default record the table costs less than a twentieth of a step at 8 bits. */
static void near_the_real_function(void **state)
{
    test_rng r = test_seed("lrn real", 52);
    double max = 0;
    place p;
    (void)state;
    for (int t = 0; t < 600; t++) {
        make(&p, &r, 8);
        p.cells = 5;
        p.bits = 15;
        p.interpolate = 1;
        p.round = ASSAY_ROUND_HALF_UP;
        run(&p);
        for (size_t c = 0; c < p.n; c++) {
            double d = p.x[c] - p.zero[0];
            double code =
                d * (double)p.scale[0] / (double)p.scale[1] * (double)real_gain(&p, sum_of(&p, c)) +
                p.zero[1];
            max = fmax(max, fabs(fmin(fmax(code, -128), 127) - p.y[c]));
        }
    }
    print_message("# greatest error %.3f steps, of which 0.5 is the last rounding\n", max);
    assert_true(max < 0.55);
}

static void refuse(place *p, const char *scheme, const char *why)
{
    assay_scheme *s;
    assay_unit *u;
    assay_error err;
    assert_ok(assay_scheme_open(scheme, &s, &err), &err);
    assert_refused(s->vt->prepare(s, &p->spec, &u, &err), &err, why);
    assay_scheme_free(s);
}

static void refusals(void **state)
{
    test_rng r = {9};
    place good, p;
    (void)state;
    make(&good, &r, 8);
    good.spec.in = &p.type[0];
    good.spec.out = &p.type[1];
    p = good;
    p.spec.depth = 0;
    refuse(&p, "npu16", "windows of 1 to 1048575 channels; found 8 and 0");
    p = good;
    p.type[0].elem.bits = 17;
    refuse(&p, "npu16", "codes of at most 16 bits");
    p = good;
    p.spec.gamma = 0;
    refuse(&p, "npu16", "needs bias > 0");
    p = good;
    p.spec.alpha = -1;
    refuse(&p, "npu16", "alpha -1");
    p = good;
    p.spec.beta = NAN;
    refuse(&p, "npu16", "beta");
    p = good;
    p.spec.alpha = INFINITY;
    refuse(&p, "npu16", "alpha inf");
    p = good;
    p.spec.gamma = INFINITY;
    refuse(&p, "npu16", "bias inf");
    p = good;
    p.spec.beta = INFINITY;
    refuse(&p, "npu16", "beta inf");
    p = good;
    p.spec.depth = 1 << 20;
    refuse(&p, "npu16", "windows of 1 to 1048575 channels; found 8 and 1048576");
    p = good;
    p.spec.gamma = 1e30;
    p.spec.beta = 5;
    refuse(&p, "npu16", "out of reach");
    p.spec.beta = 20; /* no double */
    refuse(&p, "npu16", "bias 1e+30 to the power of -20 is out of reach");
    p.spec.gamma = 1e-30;
    refuse(&p, "npu16", "bias 1e-30 to the power of -20 is out of reach");
    p.spec.beta = 3; /* beyond 2^126 */
    refuse(&p, "npu16", "bias 1e-30 to the power of -3 is out of reach");
    refuse(&good, "onnxruntime", "leaves lrn in float");
    assay_scheme *s;
    assay_unit *u;
    assay_error err;
    assert_ok(assay_scheme_parse("t", "scheme: t\nlrn: {kind: none}\n", 28, &s, &err), &err);
    assert_refused(s->vt->prepare(s, &good.spec, &u, &err), &err,
                   "no integer form of local response normalization");
    assay_scheme_free(s);
}

/* ---- networks ---- */

/* x -> conv -> lrn -> relu -> conv: all integer, the relu in the lrn, near the float network. */
static void quantized_network(void **state)
{
    test_rng rng = test_seed("lrn network", 53);
    (void)state;
    static const char *const schemes[] = {"tflite", "npu16", "nvdla", "pow2", "tflite-int16x8"};
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        assay_graph *g = net_new();
        assay_attrs lrn = {.lrn = {.size = 5, .alpha = 0.5f, .beta = 0.75f, .bias = 2}};
        int x = net_input(g, "x", NET_SHAPE(1, 8, 5, 5));
        int y = net_node(g, ASSAY_OP_CONV, "conv", NULL, x,
                         net_constant(g, &rng, "w", -1, 1, NET_SHAPE(8, 8, 1, 1)), -2);
        y = net_node(g, ASSAY_OP_LRN, "lrn", &lrn, y, -2);
        y = net_node(g, ASSAY_OP_RELU, "relu", NULL, y, -2);
        net_output(g, net_node(g, ASSAY_OP_CONV, "y", NULL, y,
                               net_constant(g, &rng, "v", -1, 1, NET_SHAPE(4, 8, 1, 1)), -2));
        quantized s = quantized_prepare(g, &rng, schemes[i]);
        quantized_make(&s, (assay_quantize_options){0});
        assert_int_equal(s.report.n_float, 0);
        assert_int_equal(net_producer(s.q, "relu")->op, ASSAY_OP_LRN);
        assert_true(quantized_sqnr(&s, &rng, 0) > 24);
        quantized_drop(&s);
    }
}

/* Runs a network of one lrn node over 42 codes. */
static void run_text(const char *text, const int8_t x[42], int8_t y[42])
{
    assay_graph *g;
    assay_scheme *s;
    assay_program *program;
    assay_run *r;
    assay_error err;
    assert_ok(text_graph_parse(text, strlen(text), "test", NULL, &g, &err), &err);
    assert_ok(assay_scheme_open("npu16", &s, &err), &err);
    assert_ok(assay_program_make_as_is(g, s, true, &program, &err), &err);
    assert_ok(assay_run_new(program, &r, &err), &err);
    memcpy(assay_run_data(r, g->input[0]), x, 42);
    assert_ok(assay_execute(r, &err), &err);
    memcpy(y, assay_run_data(r, g->output[0]), 42);
    assay_run_free(r);
    assay_program_free(program);
    assay_scheme_free(s);
    assay_graph_free(g);
}

/* Channels first or last: the same codes at the same places. */
static void layouts_agree(void **state)
{
    static const char first[] =
        "graph net {\n"
        "  input x: i8[1,7,6] q(0.05,4)\n"
        "  y: i8[1,7,6] q(0.03,-7) = lrn(x) {size=4, alpha=0.5, bias=1, beta=0.75}\n"
        "  output y\n"
        "}\n";
    static const char last[] =
        "graph net {\n"
        "  input x: i8[1,6,7] q(0.05,4)\n"
        "  y: i8[1,6,7] q(0.03,-7) = lrn(x) {layout=nhwc, size=4, alpha=0.5, bias=1, beta=0.75}\n"
        "  output y\n"
        "}\n";
    test_rng r = test_seed("lrn layouts", 54);
    int8_t x[42], moved[42], y[42], moved_y[42];
    bool changed = false;
    (void)state;
    for (int i = 0; i < 42; i++)
        moved[i % 6 * 7 + i / 6] = x[i] = (int8_t)test_between(&r, -128, 127);
    run_text(first, x, y);
    run_text(last, moved, moved_y);
    for (int i = 0; i < 42; i++) {
        assert_int_equal(y[i], moved_y[i % 6 * 7 + i / 6]);
        changed = changed || y[i] != x[i];
    }
    assert_true(changed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equals_its_twin), cmocka_unit_test(near_the_real_function),
        cmocka_unit_test(refusals),        cmocka_unit_test(quantized_network),
        cmocka_unit_test(layouts_agree),
    };
    return cmocka_run_group_tests_name("lrn", tests, NULL, NULL);
}
