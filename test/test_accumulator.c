/* Narrow accumulators against a bit-serial model: a number is an array of bits, an addition a
 * ripple of full adders, a product shifted additions. Width, overflow, order, lanes, block and the
 * place of the bias change results exactly as the model says. */
#include "support.h"

#include <stdio.h>
#include <string.h>

#include "scheme_unit.h"
#include "schemes/data.h"

#define WORD 64

typedef struct word {
    bool bit[WORD]; /* two's complement, least significant first */
} word;

static word from_int(int64_t v)
{
    word w;
    for (int i = 0; i < WORD; i++)
        w.bit[i] = ((uint64_t)v >> i) & 1;
    return w;
}

static int64_t to_int(const word *w)
{
    uint64_t v = 0;
    for (int i = 0; i < WORD; i++)
        v |= (uint64_t)w->bit[i] << i;
    return (int64_t)v;
}

static word add(word a, word b)
{
    word s;
    bool carry = false;
    for (int i = 0; i < WORD; i++) {
        s.bit[i] = a.bit[i] ^ b.bit[i] ^ carry;
        carry = (a.bit[i] && b.bit[i]) || (a.bit[i] && carry) || (b.bit[i] && carry);
    }
    return s;
}

static word negate(word a)
{
    for (int i = 0; i < WORD; i++)
        a.bit[i] = !a.bit[i];
    return add(a, from_int(1));
}

static word multiply(word a, word b)
{
    word sum = from_int(0);
    bool negative = b.bit[WORD - 1];
    b = negative ? negate(b) : b;
    for (int shift = 0; shift < WORD; shift++) {
        word moved = from_int(0);
        for (int i = shift; i < WORD; i++)
            moved.bit[i] = a.bit[i - shift];
        if (b.bit[shift])
            sum = add(sum, moved);
    }
    return negative ? negate(sum) : sum;
}

typedef struct model {
    int bits, lanes, block;
    enum overflow { WRAP, EACH, END, TRAP } overflow;
    bool reverse, bias_last;
    bool trapped;
} model;

/* Into the register: the bits above its sign must be copies of it. */
static word narrow(model *m, word w)
{
    bool fits = true, sign = w.bit[WORD - 1];
    for (int i = m->bits - 1; i < WORD; i++)
        fits = fits && w.bit[i] == sign;
    if (!fits && m->overflow == TRAP)
        m->trapped = true;
    if (!fits && m->overflow != WRAP) {
        for (int i = 0; i < m->bits - 1; i++)
            w.bit[i] = !sign;
        w.bit[m->bits - 1] = sign;
    }
    for (int i = m->bits; i < WORD; i++)
        w.bit[i] = w.bit[m->bits - 1];
    return w;
}

/* One lane of every `lanes`, from a register that holds `acc`. */
static word run_lane(model *m, const int32_t *x, const int32_t *w, int n, int lane, word acc)
{
    word held = from_int(0);
    int holding = 0;
    for (int i = lane; i < n; i += m->lanes) {
        int at = m->reverse ? n - 1 - i : i;
        held = add(held, multiply(from_int(x[at]), from_int(w[at])));
        if (++holding == m->block) {
            acc = narrow(m, add(acc, held));
            held = from_int(0);
            holding = 0;
        }
    }
    return holding > 0 ? narrow(m, add(acc, held)) : acc;
}

static int64_t accumulate(model *m, const int32_t *x, const int32_t *w, int n, int64_t bias)
{
    word acc = from_int(0);
    if (m->overflow == END || m->overflow == WRAP) { /* only the end counts */
        for (int i = 0; i < n; i++)
            acc = add(acc, multiply(from_int(x[i]), from_int(w[i])));
        acc = narrow(m, add(acc, from_int(bias)));
        return to_int(&acc);
    }
    if (!m->bias_last)
        acc = narrow(m, from_int(bias));
    if (m->lanes == 1)
        acc = run_lane(m, x, w, n, 0, acc);
    for (int lane = 0; m->lanes > 1 && lane < m->lanes; lane++)
        acc = narrow(m, add(acc, run_lane(m, x, w, n, lane, from_int(0))));
    if (m->bias_last)
        acc = narrow(m, add(acc, from_int(bias)));
    return to_int(&acc);
}

static assay_scheme *scheme_of(const model *m)
{
    static const char *const overflow[] = {"wrap", "saturate-each-step", "saturate-at-end", "trap"};
    char text[400];
    assay_scheme *s;
    assay_error err;
    snprintf(
        text, sizeof text,
        "scheme: narrow\naccumulator: {bits: %d, overflow: %s, order: %s, lanes: %d, block: %d, "
        "bias: %s}\n",
        m->bits, overflow[m->overflow],
        m->lanes > 1 ? "lanes"
        : m->reverse ? "reverse"
                     : "forward",
        m->lanes, m->block, m->bias_last ? "last" : "first");
    assert_ok(assay_scheme_parse("narrow", text, strlen(text), &s, &err), &err);
    return s;
}

static void random_sums(void **state)
{
    (void)state;
    enum { MOST = 70 };
    test_rng rng = test_seed("sums", 51);
    const float one = 1;
    const int32_t zero = 0;
    int orders = 0, trapped_sums = 0;
    for (int k = 0; k < 600; k++) {
        model m = {.bits = (int)test_between(&rng, 8, 34), .lanes = 1};
        m.overflow = (enum overflow)test_between(&rng, 0, 3);
        m.lanes = test_between(&rng, 0, 2) == 0 ? (int)test_between(&rng, 2, 9) : 1;
        m.reverse = m.lanes == 1 && test_between(&rng, 0, 1);
        m.block = test_between(&rng, 0, 1) ? (int)test_between(&rng, 1, 16) : 1;
        m.bias_last = test_between(&rng, 0, 1);
        assay_scheme *s = scheme_of(&m);
        assay_type in[2] = {code_type(8, true, &one, &zero), code_type(8, true, &one, &zero)};
        assay_unit_spec spec = unit_spec("conv", in, 2, &in[0]);
        assay_unit *u;
        assay_error err;
        spec.depth = MOST;
        assert_ok(s->vt->prepare(s, &spec, &u, &err), &err);
        for (int i = 0; i < 8; i++) {
            int32_t x[MOST], w[MOST];
            int n = (int)test_between(&rng, 0, MOST);
            int reach = 1 << test_between(&rng, 0, 7);
            for (int p = 0; p < n; p++) {
                x[p] = (int32_t)test_between(&rng, -reach, reach - 1);
                w[p] = (int32_t)test_between(&rng, -127, 127);
            }
            int64_t bias =
                test_between(&rng, -(INT64_C(1) << (m.bits - 2)), INT64_C(1) << (m.bits - 2));
            bool trapped = false;
            m.trapped = false;
            int64_t want = accumulate(&m, x, w, n, bias);
            int64_t got = s->vt->accumulate(u, x, w, (size_t)n, bias, 0, 0, &trapped);
            assert_int_equal(trapped, m.trapped);
            trapped_sums += trapped;
            if (!trapped && got != want)
                fail_msg("%d products: %lld, bit by bit %lld\n%s", n, (long long)got,
                         (long long)want, s->text);
            model other = m;
            other.reverse = !m.reverse;
            orders +=
                m.overflow == EACH && m.lanes == 1 && accumulate(&other, x, w, n, bias) != want;
        }
        s->vt->release(u);
        assay_scheme_free(s);
    }
    assert_true(orders > 20); /* the order did matter */
    assert_true(trapped_sums > 20);
}

/* x86 vpmaddubsw: unsigned codes times signed weights, pairs saturated to int16, then int32. The
 * zero point's share is subtracted as MLAS and FBGEMM do, exactly. */
static void pairs(void **state)
{
    (void)state;
    enum { N = 9 };
    test_rng rng = test_seed("pairs", 52);
    const float one = 1;
    assay_scheme *s;
    assay_error err;
    int saturated = 0;
    assert_ok(assay_scheme_open("onnxruntime-prevnni", &s, &err), &err);
    for (int k = 0; k < 3000; k++) {
        int32_t zero = (int32_t)test_between(&rng, 0, 255), none = 0;
        assay_type in[2] = {code_type(8, false, &one, &zero), code_type(8, true, &one, &none)};
        assay_unit_spec spec = unit_spec("conv", in, 2, &in[0]);
        assay_unit *u;
        int32_t code[N], x[N], w[N];
        int64_t sum = 0, shares = 0, bias = test_between(&rng, -5000, 5000);
        bool trapped = false;
        spec.depth = N;
        assert_ok(s->vt->prepare(s, &spec, &u, &err), &err);
        for (int i = 0; i < N; i++) {
            bool large = test_between(&rng, 0, 1);
            code[i] = (int32_t)test_between(&rng, large ? 200 : 0, 255);
            x[i] = code[i] - zero;
            w[i] = (int32_t)test_between(&rng, large ? 100 : -128, 127);
            shares += (int64_t)zero * w[i];
        }
        for (int i = 0; i < N; i += 2) {
            int64_t pair =
                (int64_t)code[i] * w[i] + (i + 1 < N ? (int64_t)code[i + 1] * w[i + 1] : 0);
            int64_t kept = pair > 32767 ? 32767 : pair < -32768 ? -32768 : pair;
            saturated += kept != pair;
            sum += kept;
        }
        assert_int_equal(s->vt->accumulate(u, x, w, N, bias, zero, 0, &trapped),
                         sum - shares + bias);
        s->vt->release(u);
    }
    assert_true(saturated > 500);
    assay_scheme_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_sums), cmocka_unit_test(pairs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
