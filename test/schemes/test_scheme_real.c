/* Every operator of every preset against the real function it stands for, in double precision: a
 * wrong sign, zero point, scale or shift is off by far more than the few units allowed here. */
#include "test/support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/core/attr.h"
#include "graph/core/type.h"
#include "schemes/record/data.h"
#include "test/support/scheme_unit.h"

typedef struct probe {
    assay_scheme *scheme;
    assay_scheme_caps caps;
    float scale[3]; /* two inputs and the output */
    int32_t zero[3];
    assay_type type[3];
    assay_unit_spec spec;
    assay_unit *unit;
    size_t compared;
} probe;

static double fitting_scale(const probe *p, double s)
{
    return p->caps.power_of_two ? exp2(ceil(log2(s))) : s;
}

/* Types of the scheme, ranges of about +-4 for inputs and `reach` for the output. */
static bool describe(probe *p, const char *op, double reach)
{
    float fixed_scale;
    int32_t fixed_zero;
    memset(&p->spec, 0, sizeof p->spec);
    double codes = ldexp(1, (int)p->caps.activation_bits);
    for (int i = 0; i < 3; i++) {
        double range = i == 2 ? reach : i == 1 ? 3.1 : 4.2;
        p->scale[i] = (float)fitting_scale(p, 2 * range / codes);
        p->zero[i] = p->caps.activation_signed ? 0 : (int32_t)(codes / 2);
        if (p->caps.activation_zero_point && !p->caps.zero_point_middle_only)
            p->zero[i] += i == 0 ? 3 : i == 1 ? -5 : 2;
        if (!p->caps.activation_zero_point)
            p->zero[i] = 0;
    }
    if (assay_scheme_same_params(p->scheme, op))
        for (int i = 0; i < 3; i++) {
            p->scale[i] = p->scale[0];
            p->zero[i] = p->zero[0];
        }
    for (int i = 0; i < 3; i++)
        p->type[i] = code_type(p->caps.activation_bits, p->caps.activation_signed, &p->scale[i],
                               &p->zero[i]);
    if (assay_scheme_fixed_output(p->scheme, op, p->type[2].elem, &fixed_scale, &fixed_zero)) {
        p->scale[2] = fixed_scale;
        p->zero[2] = fixed_zero;
    }
    p->spec = unit_spec(op, p->type, 2, &p->type[2]);
    p->spec.alpha = strcmp(op, "elu") == 0 ? 1 : 0.25;
    p->spec.beta = strncmp(op, "hard_sigmoid", 12) == 0 ? 0.5 : 1;
    p->spec.depth = 4;
    p->spec.flag = strcmp(op, "resize") == 0 ? ASSAY_RESIZE_LINEAR : 0;
    if (strcmp(op, "relu") == 0 || strcmp(op, "clip") == 0)
        p->spec.act_lo = 0;
    if (strcmp(op, "clip") == 0)
        p->spec.act_hi = 2;
    return true;
}

/* False when the scheme leaves the op in float, or refuses these scales. */
static bool prepare(probe *p)
{
    char why[256];
    assay_error err;
    p->unit = NULL;
    return assay_scheme_supports(p->scheme, &p->spec, why, sizeof why) &&
           p->scheme->vt->prepare(p->scheme, &p->spec, &p->unit, &err) == ASSAY_OK;
}

static double real(const probe *p, int which, int32_t code)
{
    return (double)p->scale[which] * (code - p->zero[which]);
}

static double output(const probe *p, double x)
{
    assay_elem e = p->type[2].elem;
    double lo = real(p, 2, (int32_t)assay_elem_min(e)), hi = real(p, 2, (int32_t)assay_elem_max(e));
    return fmin(fmax(x, lo), hi);
}

/* got within `units` steps of the output (and `slack` of the real value) of `expected`. */
static void near(probe *p, int32_t got, double expected, double allowed, double x, double y)
{
    double error = fabs(real(p, 2, got) - output(p, expected)) / (double)p->scale[2];
    p->compared++;
    if (!(error <= allowed))
        fail_msg("%s, %s(%g, %g): code %d is %g, expected %g (%.2f units off)", p->scheme->name,
                 p->spec.op, x, y, got, real(p, 2, got), output(p, expected), error);
}

static int32_t random_code(const probe *p, int which, test_rng *rng)
{
    assay_elem e = p->type[which].elem;
    return (int32_t)test_between(rng, assay_elem_min(e), assay_elem_max(e));
}

/* How far the coarsest preset may be: each operand rounded by itself, multipliers of 9 bits; with
 * 16-bit codes, tables of 513 entries and multipliers of 15 bits. */
static double units(const probe *p)
{
    return p->type[0].elem.bits > 8 ? 330 : 2.6;
}

/* Comparisons and custom ones are compared elsewhere. */
static bool has_two_codes(assay_op op)
{
    const unsigned traits = assay_op_get(op)->traits;
    return traits & ASSAY_T_BINARY && !(traits & (ASSAY_T_FLOAT_ONLY | ASSAY_T_COMPARE)) &&
           op != ASSAY_OP_CUSTOM_BINARY;
}

static double binary_value(assay_op op, double x, double y)
{
    return op == ASSAY_OP_ADD                  ? x + y
           : op == ASSAY_OP_SUB                ? x - y
           : op == ASSAY_OP_MUL                ? x * y
           : op == ASSAY_OP_MIN                ? fmin(x, y)
           : op == ASSAY_OP_MAX                ? fmax(x, y)
           : op == ASSAY_OP_DIV                ? x / y
           : op == ASSAY_OP_PRELU              ? (x >= 0 ? x : x * y)
           : op == ASSAY_OP_SQUARED_DIFFERENCE ? (x - y) * (x - y)
                                               : (double)NAN;
}

static void binaries(probe *p, test_rng *rng)
{
    for (assay_op op = 0; op < ASSAY_OP_COUNT; op++) {
        const bool divides = op == ASSAY_OP_DIV;
        if (has_two_codes(op) && isnan(binary_value(op, 1, 1)))
            fail_msg("binary_value lacks %s", assay_op_get(op)->name);
        describe(p, assay_op_get(op)->name, 8 + 22 * (op == ASSAY_OP_SQUARED_DIFFERENCE));
        if (!has_two_codes(op) || !prepare(p))
            continue;
        bool truncates = assay_data(p->scheme)->base.binary.div == ASSAY_DIV_TRUNCATE;
        for (int i = 0; i < 400 && !(divides && truncates); i++) {
            int32_t a = random_code(p, 0, rng), b = random_code(p, 1, rng), y;
            double x = real(p, 0, a), w = real(p, 1, b);
            p->scheme->vt->binary(p->unit, &a, &b, 1, &y);
            if (!divides || b != p->zero[1])
                near(p, y, binary_value(op, x, w), units(p), x, w);
        }
        p->scheme->vt->release(p->unit);
    }
}

static double sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}

static double unary_value(const char *op, double x)
{
    static const struct {
        const char *op;
        double (*f)(double);
    } plain[] = {{"tanh", tanh}, {"sigmoid", sigmoid}, {"erf", erf},   {"exp", exp},
                 {"abs", fabs},  {"floor", floor},     {"ceil", ceil}, {"round", rint},
                 {"sin", sin},   {"cos", cos}};
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        if (strcmp(op, plain[i].op) == 0)
            return plain[i].f(x);
    return strcmp(op, "relu") == 0           ? fmax(x, 0)
           : strcmp(op, "clip") == 0         ? fmin(fmax(x, 0), 2)
           : strcmp(op, "leaky_relu") == 0   ? (x < 0 ? 0.25 * x : x)
           : strcmp(op, "hard_swish") == 0   ? x * fmin(fmax(x + 3, 0), 6) / 6
           : strcmp(op, "hard_sigmoid") == 0 ? fmin(fmax(0.25 * x + 0.5, 0), 1)
           : strcmp(op, "elu") == 0          ? (x < 0 ? expm1(x) : x)
           : strcmp(op, "gelu") == 0         ? 0.5 * x * erfc(-x / sqrt(2))
           : strcmp(op, "neg") == 0          ? -x
           : strcmp(op, "square") == 0       ? x * x
           : strcmp(op, "sign") == 0         ? (x > 0) - (x < 0)
           : strcmp(op, "log") == 0          ? log(x)
           : strcmp(op, "sqrt") == 0         ? sqrt(x)
           : strcmp(op, "rsqrt") == 0        ? 1 / sqrt(x)
           : strcmp(op, "reciprocal") == 0   ? 1 / x
           : strcmp(op, "softplus") == 0     ? log1p(exp(x))
                                             : x; /* rescale, max_pool, reduce_max, ... */
}

static void unaries(probe *p)
{
    static const char *const ops[] = {
        "rescale",    "relu",         "clip",     "leaky_relu", "sigmoid",   "tanh",
        "hard_swish", "elu",          "gelu",     "erf",        "exp",       "log",
        "sqrt",       "hard_sigmoid", "rsqrt",    "square",     "abs",       "neg",
        "sign",       "reciprocal",   "floor",    "ceil",       "round",     "sin",
        "cos",        "softplus",     "max_pool", "reduce_max", "reduce_min"};
    for (size_t k = 0; k < sizeof ops / sizeof *ops; k++) {
        describe(p, ops[k], strcmp(ops[k], "sigmoid") == 0 ? 1.01 : 5);
        if (!prepare(p))
            continue;
        assay_elem e = p->type[0].elem;
        int64_t step = e.bits > 10 ? 61 : 1;
        for (int64_t q = assay_elem_min(e); q <= assay_elem_max(e); q += step) {
            int32_t a = (int32_t)q, y;
            double x = real(p, 0, a), expected = unary_value(ops[k], x);
            bool jumps = strcmp(ops[k], "floor") == 0 || strcmp(ops[k], "ceil") == 0 ||
                         strcmp(ops[k], "round") == 0 || strcmp(ops[k], "sign") == 0;
            /* not at the jumps: there float32 (in Glow, a running sum) decides */
            /* 513 points cannot follow a jump or a pole */
            bool steep =
                e.bits > 8 && (jumps || (fabs(x) < 0.5 && (ops[k][0] == 'l' || ops[k][0] == 'r' ||
                                                           strcmp(ops[k], "sqrt") == 0)));
            p->scheme->vt->unary(p->unit, &a, 1, &y);
            if (isfinite(expected) && !steep && !(jumps && fabs(x * 2 - rint(x * 2)) < 1e-4))
                near(p, y, expected, units(p), x, 0);
        }
        p->scheme->vt->release(p->unit);
    }
}

static void pools(probe *p, test_rng *rng)
{
    static const char *const ops[] = {"avg_pool", "global_avg_pool", "reduce_mean", "reduce_sum"};
    for (size_t k = 0; k < sizeof ops / sizeof *ops; k++)
        for (int depth = 1; depth <= 49; depth = depth == 1 ? 4 : depth == 4 ? 9 : depth * 2 - 5) {
            describe(p, ops[k], k == 3 ? 30 : 5);
            p->spec.depth = depth;
            if (!prepare(p))
                continue;
            for (int i = 0; i < 60; i++) {
                int32_t codes[64], y;
                int64_t sum = 0;
                double total = 0;
                int count = k == 0 ? (int)test_between(rng, 1, depth) : depth;
                bool whole = assay_data(p->scheme)->base.pool.kind == ASSAY_POOL_DPU ||
                             assay_data(p->scheme)->base.pool.kind == ASSAY_POOL_TWO_STAGE;
                count = whole ? depth : count; /* devices that divide by the window */
                for (int c = 0; c < count; c++) {
                    codes[c] = random_code(p, 0, rng);
                    sum += codes[c];
                    total += real(p, 0, codes[c]);
                }
                const assay_scheme_vtable *vt = p->scheme->vt;
                if (k != 0 || vt->window == NULL ||
                    !vt->window(p->unit, codes, (size_t)count, count, &y))
                    vt->pool(p->unit, &sum, &count, 1, &y);
                /* approximations of 1/n are relative: three quarters of a percent (DPU: 5) */
                double expected = k == 3 ? total : total / count;
                double slack = fabs(expected) * (whole ? 0.05 : 0.0075) / (double)p->scale[2];
                near(p, y, expected, units(p) + slack, total, count);
            }
            p->scheme->vt->release(p->unit);
        }
}

static void rows(probe *p, test_rng *rng)
{
    static const char *const ops[] = {"softmax", "log_softmax", "l2_norm"};
    for (size_t k = 0; k < sizeof ops / sizeof *ops; k++)
        for (int n = 1; n <= 40; n += 13) {
            describe(p, ops[k], 1);
            p->spec.depth = n;
            /* MLAS: exponentials of a row of one overflow, and the target gives no probability */
            bool overflows = k == 0 && n == 1 &&
                             assay_data(p->scheme)->base.softmax.kind == ASSAY_SOFTMAX_FLOAT_SUM;
            if (overflows || !prepare(p))
                continue;
            for (int i = 0; i < 40; i++) {
                int32_t x[64], y[64];
                double sum = 0, squares = 0;
                for (int c = 0; c < n; c++) {
                    x[c] = random_code(p, 0, rng);
                    sum += exp(real(p, 0, x[c]));
                    squares += real(p, 0, x[c]) * real(p, 0, x[c]);
                }
                p->scheme->vt->row(p->unit, x, (size_t)n, y);
                for (int c = 0; c < n; c++) {
                    double v = real(p, 0, x[c]);
                    double expected = k == 0   ? exp(v) / sum
                                      : k == 1 ? v - log(sum)
                                               : v / sqrt(fmax(squares, 1e-12));
                    near(p, y[c], expected, units(p), v, sum);
                }
            }
            p->scheme->vt->release(p->unit);
        }
}

static void resizes(probe *p, test_rng *rng)
{
    describe(p, "resize", 5);
    if (!prepare(p))
        return;
    int32_t bits;
    p->scheme->vt->interpolate(p->unit, NULL, NULL, NULL, 0, &bits);
    for (int i = 0; i < 200; i++) {
        int32_t c[4], fy = (int32_t)test_between(rng, 0, (1 << bits) - 1), y;
        int32_t fx = (int32_t)test_between(rng, 0, (1 << bits) - 1);
        double v[4], b = ldexp(fy, -bits), a = ldexp(fx, -bits);
        for (int k = 0; k < 4; k++) {
            c[k] = random_code(p, 0, rng);
            v[k] = real(p, 0, c[k]);
        }
        p->scheme->vt->interpolate(p->unit, c, &fy, &fx, 1, &y);
        near(p, y, (1 - b) * ((1 - a) * v[0] + a * v[1]) + b * ((1 - a) * v[2] + a * v[3]),
             units(p), a, b);
    }
    p->scheme->vt->release(p->unit);
}

static void compares(probe *p, test_rng *rng)
{
    static const char *const ops[] = {"equal",      "not_equal", "less",
                                      "less_equal", "greater",   "greater_equal"};
    assay_type flag = {.elem = assay_bool(), .rank = 1, .dim = {1}};
    for (size_t k = 0; k < sizeof ops / sizeof *ops; k++) {
        describe(p, ops[k], 1);
        p->spec.out = &flag;
        if (!prepare(p))
            continue;
        for (int i = 0; i < 200; i++) {
            int32_t a = random_code(p, 0, rng), b = random_code(p, 1, rng), y;
            double x = real(p, 0, a), w = real(p, 1, b);
            const int truth[] = {x == w, x != w, x<w, x <= w, x> w, x >= w};
            p->scheme->vt->binary(p->unit, &a, &b, 1, &y);
            p->compared++;
            if (fabs(x - w) > 0.02) /* TFLite rescales both sides to a common 8-bit shift */
                assert_int_equal(y, truth[k]);
        }
        p->scheme->vt->release(p->unit);
    }
}

static void converts(probe *p, test_rng *rng)
{
    describe(p, "quantize", 5);
    assay_unit_spec back = unit_spec("dequantize", &p->type[2], 1, &p->type[2]);
    assay_unit *to_float;
    assay_error err;
    assert_true(prepare(p));
    assert_ok(p->scheme->vt->prepare(p->scheme, &back, &to_float, &err), &err);
    for (int i = 0; i < 300; i++) {
        float f = (float)((test_unit(rng) - 0.5) * 12), again;
        uint32_t bits;
        int32_t q;
        memcpy(&bits, &f, sizeof bits);
        p->scheme->vt->quantize(p->unit, &bits, 1, 0, &q);
        near(p, q, (double)f, 0.502, (double)f, 0);
        p->scheme->vt->dequantize(to_float, &q, 1, 0, &bits);
        memcpy(&again, &bits, sizeof again);
        assert_true(fabs((double)again - real(p, 2, q)) < 1e-5);
    }
    p->scheme->vt->release(p->unit);
    p->scheme->vt->release(to_float);
}

static void presets(void **state)
{
    (void)state;
    test_rng rng = test_seed("real", 707);
    size_t total = 0;
    for (const char *const *name = assay_scheme_presets(); *name != NULL; name++) {
        probe p;
        assay_error err = {0};
        memset(&p, 0, sizeof p);
        assert_ok(assay_scheme_open(*name, &p.scheme, &err), &err);
        assay_scheme_get_caps(p.scheme, &p.caps);
        if (strcmp(*name, "vta") != 0) { /* its stores wrap */
            binaries(&p, &rng);
            unaries(&p);
            pools(&p, &rng);
            rows(&p, &rng);
            resizes(&p, &rng);
            compares(&p, &rng);
        }
        converts(&p, &rng);
        total += p.compared;
        assay_scheme_free(p.scheme);
    }
    printf("# %zu codes compared with the real functions\n", total);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(presets)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
