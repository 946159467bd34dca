/* Accumulators that a scheme refuses to rescale stop the run, under every engine, with the node,
 * the element and the value; codes of which some would be refused stop the program's making. */
#include "test/support/support.h"

#include "interp/fast/fast.h"
#include "test/interp/refused.h"

/* sums: [a + b, 100 (a + b)] at R = 1 */
#define LAYER(op, attributes)                                                                      \
    "graph net {\n  input x: i8[1,2] q(1,0)\n  const w: i8[2,2] q(1,0) = [1,1,100,100]\n"          \
    "  y: i8[1,2] q(1,0) = " op "(x, w)" attributes "\n  output y\n}\n"
#define SUM(op, shape, attributes)                                                                 \
    "graph net {\n  input x: i8[1,1,2] q(1,0)\n  y: i8" shape " q(1,0) = " op "(x)" attributes     \
    "\n  output y\n}\n"
#define SEVEN "multiplier_bits: 7, left_shift: product, round: [half-up]" /* m = 64, shift 6 */

/* One node on its own is refused as in a run. */
static void check_replay(const made *m, int a, int b, const char *message)
{
    const int8_t x[64] = {(int8_t)a, (int8_t)b};
    const void *const in[3] = {x};
    int64_t y[64];
    void *const out[1] = {y};
    assay_error err = {0};
    if (m->g->n_nodes > 1)
        return;
    const assay_status s = assay_replay_node(m->p, 0, in, out, NULL, &err);
    assert_int_equal(s, message ? ASSAY_ERR_SCHEME : ASSAY_OK);
    assert_string_equal(err.text, message ? message : "");
}

/* NULL: it runs. */
static void check_run(const char *net, const char *record, int a, int b, const char *message)
{
    for (size_t e = 0; e < sizeof engines / sizeof *engines; e++) {
        assay_error err = {0};
        assay_run *r;
        made m;
        assert_ok(make(net, record, engines[e], &m, &err), &err);
        assert_ok(assay_run_new(m.p, &r, &err), &err);
        memcpy(assay_run_data(r, m.g->input[0]), (int8_t[]){(int8_t)a, (int8_t)b}, 2);
        const assay_status s = run_execute(r, NULL, false, NULL, &err);
        if (message == NULL)
            assert_ok(s, &err);
        else if (s != ASSAY_ERR_SCHEME || strcmp(err.text, message) != 0)
            fail_msg("%s, engine %zu\nexpected: %s\nfound:    %s", record, e, message,
                     s ? err.text : "it ran");
        assay_run_free(r);
        check_replay(&m, a, b, message);
        unmake(&m);
    }
}

static void products(void **state)
{
    static const char *const records[] = {
        "rescale: {input_bits: 8}", "rescale: {input_shift_range: yes, shift_min: 1, " SEVEN "}",
        "rescale: {result_bits: 8, result_overflow: refuse, " SEVEN "}",
        "rescale: {sum_bits: 8, sum_overflow: refuse, " SEVEN "}",
        "rescale: {encoding: float32, input_bits: 8, round: [half-even]}"};
    static const char *const refusal = "node 'y': the accumulator 200 of element 1 of 'y' is one "
                                       "that scheme 't' refuses to rescale";
    (void)state;
    for (size_t i = 0; i < sizeof records / sizeof *records; i++) {
        check_run(LAYER("fc", ""), records[i], 1, 1, refusal);
        check_run(LAYER("matmul", " {transpose_b=true}"), records[i], 1, 1, refusal);
        check_run(LAYER("fc", ""), records[i], 1, -1, NULL);
    }
}

static void sums(void **state)
{
    static const char *const refusal = "node 'y': the accumulator 90 of element 0 of 'y' is one "
                                       "that scheme 't' refuses to rescale";
    static const char global[] = SUM("global_avg_pool", "[1,1,1]", "");
    static const char mean[] = SUM("reduce_mean", "[1,1,1]", " {axes=[2], keepdims=true}");
    static const char sum[] = SUM("reduce_sum", "[1,1,1]", " {axes=[2], keepdims=true}");
    (void)state;
    check_run(sum, "rescale: {input_bits: 7}", 45, 45, refusal);
    check_run(sum, "rescale: {input_bits: 8}", 45, 45, NULL);
    check_run(global, "pool: {kind: rescale}\nrescale: {input_bits: 7}", 45, 45, refusal);
    check_run(mean, "pool: {kind: rescale}\nrescale: {input_bits: 7}", 45, 45, refusal);
    check_run(mean, "pool: {kind: rescale}\nrescale: {input_bits: 7}", 45, 18, NULL);
    check_run(mean, "pool: {kind: rescale-divide}\nrescale: {input_bits: 7}", 45, 45, refusal);
    check_run(mean, "rescale: {input_bits: 7}", 45, 45, NULL); /* divided, nothing is rescaled */
}

/* What cannot be refused whatever comes in stays with the fast engine. */
static void bounded(void **state)
{
    static const struct {
        const char *net;
        int bits; /* that hold the sums: from -2^(bits - 1) on */
    } list[] = {
        {"graph net {\n  input x: i8[1,2] q(1,0)\n  const w: i8[2,2] q(1,0) = [64,64,1,-1]\n"
         "  y: i8[1,2] q(1,0) = fc(x, w)\n  output y\n}\n",
         15},
        {"graph net {\n  input x: i8[1,2] q(1,0)\n  input w: i8[2,2] q(1,1)\n"
         "  y: i8[1,2] q(1,0) = matmul(x, w)\n  output y\n}\n",
         17},
        {SUM("global_avg_pool", "[1,1,1]", ""), 9},
        {SUM("reduce_sum", "[1,1,1]", " {axes=[2], keepdims=true}"), 9}};
    (void)state;
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        for (int bits = list[i].bits - 1; bits <= list[i].bits; bits++) {
            assay_error err = {0};
            char record[80];
            made m;
            snprintf(record, sizeof record, "pool: {kind: rescale}\nrescale: {input_bits: %d}",
                     bits);
            assert_ok(make(list[i].net, record, ASSAY_ENGINE_FAST, &m, &err), &err);
            if ((m.p->fast[0] != NULL) != (bits == list[i].bits))
                fail_msg("net %zu, %d bits: fast %d", i, bits, m.p->fast[0] != NULL);
            unmake(&m);
        }
}

typedef struct bound {
    const char *node, *what; /* y = node; what the refusal says */
    int bits;                /* of rescale.input_bits that hold it */
    const char *record;      /* beside rescale */
    const char *type;        /* of y; NULL: i8[2] q(2,0) */
} bound;

static void check_bounds(const bound *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (int more = 0; more < 2; more++) {
            char net[400], record[260], message[200];
            assay_error err = {0};
            made m;
            snprintf(net, sizeof net,
                     "graph net {\n input x: i8[2] q(1,0)\n input u: i8[1,2,2,1] q(1,0)\n"
                     " y: %s = %s\n output y\n}\n",
                     list[i].type ? list[i].type : "i8[2] q(2,0)", list[i].node);
            snprintf(record, sizeof record, "rescale: {input_bits: %d}\n%s",
                     more ? list[i].bits : list[i].bits - 1, list[i].record ? list[i].record : "");
            snprintf(message, sizeof message, "%s can reach", list[i].what);
            const assay_status s = make(net, record, ASSAY_ENGINE_REF, &m, &err);
            if (more)
                assert_ok(s, &err);
            else
                assert_refused(s, &err, message);
            unmake(&m);
        }
}

static void codes(void **state)
{
    static const bound list[] = {
        {"rescale(x)", "a code less its zero point", 8, NULL, NULL},
        {"leaky_relu(x) {alpha=0.5}", "a code less its zero point", 8, NULL, NULL},
        {"leaky_relu(x) {alpha=-0.5}", "a code less its zero point", 9, NULL, NULL},
        {"abs(x)", "a code less its zero point", 9, "unary: {abs: rescale}", NULL},
        {"mul(x, x)", "a product of two codes", 16, NULL, NULL},
        {"prelu(x, x)", "a product of two codes", 16, NULL, NULL},
        {"max(x, x)", "a code less its zero point", 8, NULL, NULL}};
    (void)state;
    check_bounds(list, sizeof list / sizeof *list);
}

/* Rescales within an operation, of which nobody asks as it runs. */
static void within(void **state)
{
    static const bound list[] = {
        {"add(x, x)", "a shifted code", 28, NULL, NULL},
        {"sub(x, x)", "a shifted code", 18, "add: {bits: 10}", NULL},
        {"add(x, x)", "a code less its zero point", 8, "add: {kind: separate}", NULL},
        {"squared_difference(x, x)", "the square of a difference", 29, NULL, NULL},
        {"less(x, x)", "a shifted code", 16, "binary: {compare: rescale}", "bool[2]"},
        {"div(x, x)", "a quotient of 31 bits", 32, "binary: {div: newton-reciprocal}", NULL},
        {"div(x, x)", "a quotient of two codes", 9, "binary: {div: truncate-then-scale}", NULL},
        {"rsqrt(x)", "a root", 22, "unary: {rsqrt: newton}", NULL},
        {"sigmoid(x)", "a code less its zero point", 4, "unary: {logistic: fixed-point}",
         "i8[2] q(0.00390625,-128)"},
        {"softmax(x) {axis=0}", "the difference of two codes", 5, "softmax: {kind: fixed-point}",
         "i8[2] q(0.00390625,-128)"},
        {"log_softmax(x) {axis=0}", "the logarithm of the sum", 32, "softmax: {log_softmax: yes}",
         "i8[2] q(0.0625,127)"},
        {"l2_norm(x) {axis=0}", "a code less its zero point", 8,
         "softmax: {l2_norm: newton-inverse-sqrt}", "i8[2] q(0.0078125,0)"},
        {"layer_norm(x, x) {axis=0, epsilon=1e-5}", "normalized * gamma + beta", 19,
         "softmax: {layer_norm: integer-sqrt}", NULL},
        {"lrn(u) {size=1, alpha=1, beta=0.5, bias=1, layout=nhwc}", "a code times its gain", 22,
         "lrn: {bits: 15}", "i8[1,2,2,1] q(2,0)"},
        {"resize(u) {size=[1,4,4,1], mode=linear, layout=nhwc}",
         "an interpolated code less its zero point", 8, "resize: {kind: fixed-point}",
         "i8[1,4,4,1] q(2,0)"},
        {"gelu(x)", "a code times I-BERT's erf", 12, "unary: {gelu: i-bert}", NULL},
    };
    (void)state;
    check_bounds(list, sizeof list / sizeof *list);
}

/* The zero point that no rescale adds: the sum leaves the register that refuses. */
static void ends(void **state)
{
    static const struct {
        const char *node, *type, *record, *message;
    } list[] = {
        {"add(x, x)", "i8[2] q(1,-100)", "add: {kind: plain}",
         "the sum of two codes can reach -256, and with the zero point -100 leave the %d bits"},
        {"sub(x, x)", "i8[2] q(1,-100)", "add: {kind: plain}",
         "the sum of two codes can reach -255, and with the zero point -100 leave the %d bits"},
        {"add(x, x)", "i8[2] q(1,100)", "add: {kind: plain}",
         "the sum of two codes can reach 254, and with the zero point 100 leave the %d bits"},
        {"add(x, x)", "i8[2] q(1,100)", "add: {kind: common-exponent}",
         "the sum can reach 254, and with the zero point 100 leave the %d bits"},
        {"add(x, x)", "i8[2] q(1,100)", "add: {kind: align-power-of-two, bits: 3}",
         "the sum can reach 254, and with the zero point 100 leave the %d bits"},
        {"leaky_relu(x) {alpha=0.5}", "i8[2] q(0.5,100)", "unary: {leaky_relu: fixed-8}",
         "a code times its slope can reach 254, and with the zero point 100 leave the %d bits"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        for (int bits = 9; bits <= 10; bits++) {
            char net[300], record[260], message[200];
            assay_error err = {0};
            made m;
            snprintf(net, sizeof net,
                     "graph net {\n input x: i8[2] q(1,0)\n y: %s = %s\n output y\n}\n",
                     list[i].type, list[i].node);
            snprintf(record, sizeof record, "rescale: {sum_bits: %d, sum_overflow: refuse}\n%s",
                     bits, list[i].record);
            snprintf(message, sizeof message, list[i].message, bits);
            const assay_status s = make(net, record, ASSAY_ENGINE_REF, &m, &err);
            if (bits == 10)
                assert_ok(s, &err);
            else
                assert_refused(s, &err, message);
            unmake(&m);
        }
}

/* Sums of many operands and running sums are asked about as they run. */
static void many(void **state)
{
    static const char net[] = "graph net {\n input x: i8[1,1,2] q(1,0)\n y: i8[1,1,2] q(1,0) = "
                              "cumsum(x) {axis=2}\n output y\n}\n";
    (void)state;
    check_run(net, "rescale: {input_bits: 7}\nadd: {kind: plain}", 45, 45,
              "node 'y': the accumulator 90 of element 1 of 'y' is one that scheme 't' refuses to "
              "rescale");
    check_run(net, "rescale: {input_bits: 7}\nadd: {kind: plain}", 45, -45, NULL);
}

/* A layer norm's beta of 32 bits: each element is asked about, not the type. x is 45, 18: their
 * normalized values are 1024 and -1024. */
static void norms(void **state)
{
#define NORM(beta, scale)                                                                          \
    "graph net {\n  input x: i8[1,2] q(1,0)\n  const g: i16[2] q(0.0009765625,0) = "               \
    "[1024,1024]\n  const b: i32[2] q(" scale ",0) = [" beta "]\n"                                 \
    "  y: i8[1,2] q(1,0) = layer_norm(x, g, b) {axis=1, epsilon=0}\n  output y\n}\n"
#define SQRT   "softmax: {layer_norm: integer-sqrt, layer_norm_shift: 10}\nrescale: {input_bits: 12}"
#define NEWTON "softmax: {layer_norm: newton-inverse-sqrt, layer_norm_shift: 10}\n"
#define UNIT   "9.5367431640625e-07" /* gamma's scale / 2^10: no rescale of beta */
#define HALF   "4.76837158203125e-07"
#define OPERAND(v, element)                                                                        \
    "node 'y': the operand " v " of element " element                                              \
    " of 'y' is one that scheme 't' refuses to rescale"
    (void)state;
    check_run(NORM("0,0", UNIT), SQRT, 45, 18, NULL);
    check_run(NORM("1047552,2097152", UNIT), SQRT, 45, 18, NULL);
    check_run(NORM("1048576,0", UNIT), SQRT, 45, 18, OPERAND("2048", "0"));
    check_run(NORM("0,-1049600", UNIT), SQRT, 45, 18, OPERAND("-2049", "1"));
    check_run(NORM("2047,-2048", HALF), SQRT, 45, 18, NULL);
    check_run(NORM("0,5000000", HALF), SQRT, 45, 18, OPERAND("5000000", "1"));
    check_run(NORM("0,0", UNIT), NEWTON "rescale: {input_bits: 15}", 45, 18, NULL);
    check_run(NORM("0,0", UNIT), NEWTON "rescale: {input_bits: 14}", 45, 18, OPERAND("13824", "0"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(products), cmocka_unit_test(sums),
                                       cmocka_unit_test(bounded),  cmocka_unit_test(codes),
                                       cmocka_unit_test(within),   cmocka_unit_test(ends),
                                       cmocka_unit_test(many),     cmocka_unit_test(norms)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
