/* Element-wise functions of rows of codes in vectors (schemes/apply/codes.h) against the plain rows
 * of the same unit: every preset, every rounding, scales from tiny to above 1, codes of 4 to 16
 * bits at the ends of their ranges, by every instruction set that the machine has. */
#include "test/support/support.h"

#include <math.h>
#include <string.h>

#include "graph/core/type.h"
#include "interp/fast/isa.h"
#include "test/support/random_scheme.h"
#include "test/support/scheme_unit.h"

enum { MAX = 300, OPS = 18 };

static const struct {
    const char *op;
    int n_in;
    bool order;
} ops[OPS] = {{"add", 2},
              {"sub", 2},
              {"mul", 2},
              {"max", 2},
              {"min", 2},
              {"squared_difference", 2},
              {"prelu", 2},
              {"equal", 2, true},
              {"not_equal", 2, true},
              {"less", 2, true},
              {"less_equal", 2, true},
              {"greater", 2, true},
              {"greater_equal", 2, true},
              {"rescale", 1},
              {"relu", 1},
              {"clip", 1},
              {"leaky_relu", 1},
              {"abs", 1}};

static bool has(enum assay_isa isa)
{
    static const char *const names[] = {"portable", "avx2", "vnni"};
    const assay_isa_kernels *k;
    return fast_isa_choose(names[isa], &k, NULL) == ASSAY_OK;
}

/* Any code, one at an end of the range, or one near the zero point. */
static int32_t draw_code(test_rng *r, const assay_type *t)
{
    const int64_t lo = assay_elem_min(t->elem), hi = assay_elem_max(t->elem);
    const int64_t near = t->q.zero_point[0] + test_between(r, -3, 3);
    switch (test_between(r, 0, 3)) {
    case 0:
        return (int32_t)(test_between(r, 0, 1) ? lo : hi);
    case 1:
        return (int32_t)(near < lo ? lo : near > hi ? hi : near);
    default:
        return (int32_t)test_between(r, lo, hi);
    }
}

static int64_t reach_of(const assay_type *t)
{
    const int64_t z = t->q.zero_point[0];
    const int64_t below = z - assay_elem_min(t->elem), above = assay_elem_max(t->elem) - z;
    return below > above ? below : above;
}

/* Scales and zero points of three types of codes; what schemes ask for, and what they seldom see.
 */
static void draw_types(test_rng *r, assay_type t[3], float scale[3], int32_t zero[3], bool order)
{
    static const unsigned bits[] = {8, 8, 16, 16, 4, 12};
    const unsigned width = bits[test_between(r, 0, 5)];
    const bool is_signed = width == 16 || test_between(r, 0, 1),
               powers = test_between(r, 0, 2) == 0;
    const bool same = test_between(r, 0, 3) == 0, centred = width > 8 || test_between(r, 0, 2) == 0;
    const int spread = test_between(r, 0, 3) ? 3 : 14;
    for (int i = 0; i < 3; i++) {
        t[i] = code_type(width, is_signed, &scale[i], &zero[i]);
        scale[i] =
            (float)ldexp(powers ? 1 : 1 + test_unit(r), (int)test_between(r, -spread, spread));
        zero[i] = centred ? 0
                          : (int32_t)test_between(r, assay_elem_min(t[i].elem),
                                                  assay_elem_max(t[i].elem));
        if (same && i > 0) {
            scale[i] = scale[0];
            zero[i] = zero[0];
        }
    }
    if (order)
        t[2] = (assay_type){.elem = {.kind = ASSAY_KIND_BOOL, .bits = 8}, .rank = 1, .dim = {1}};
}

static void compare(const assay_scheme *s, const assay_unit *u, assay_codes_fn codes, int op,
                    const assay_type t[3], test_rng *r)
{
    int32_t a[MAX], b[MAX], want[MAX], got[MAX + 1];
    const size_t n = (size_t)test_between(r, 1, MAX);
    for (size_t i = 0; i < n; i++) {
        a[i] = draw_code(r, &t[0]);
        b[i] = draw_code(r, &t[1]);
    }
    got[n] = 0x5a5a;
    if (ops[op].n_in == 2)
        s->vt->binary(u, a, b, n, want);
    else
        s->vt->unary(u, a, n, want);
    codes(u, a, ops[op].n_in == 2 ? b : NULL, n, got);
    assert_int_equal(got[n], 0x5a5a);
    for (size_t i = 0; i < n; i++)
        if (got[i] != want[i])
            fail_msg("%s, %s of %d (%.9g, %d) and %d (%.9g, %d) to (%.9g, %d): row %d, vectors %d",
                     s->name, ops[op].op, a[i], (double)t[0].q.scale[0], t[0].q.zero_point[0], b[i],
                     (double)t[1].q.scale[0], t[1].q.zero_point[0],
                     t[2].q.scale ? (double)t[2].q.scale[0] : 0,
                     t[2].q.scale ? t[2].q.zero_point[0] : 0, want[i], got[i]);
}

/* Adds to prepared[op] and found[op]. */
static void check_unit(const assay_scheme *s, test_rng *r, int prepared[OPS], int found[OPS])
{
    const int op = (int)test_between(r, 0, OPS - 1);
    float scale[3];
    int32_t zero[3];
    assay_type t[3];
    draw_types(r, t, scale, zero, ops[op].order);
    assay_unit_spec spec = unit_spec(ops[op].op, t, ops[op].n_in, &t[2]);
    spec.alpha = test_between(r, 0, 4) ? test_unit(r) : -test_unit(r);
    if (test_between(r, 0, 2) == 0) {
        spec.act_lo = 0;
        spec.act_hi = 6;
    }
    assay_unit *u;
    if (s->vt->prepare(s, &spec, &u, NULL) != ASSAY_OK)
        return; /* the scheme has no such arithmetic */
    int64_t reach = reach_of(&t[0]), other = reach_of(&t[1]);
    reach = ops[op].n_in == 2 && other > reach ? other : reach;
    prepared[op]++;
    for (enum assay_isa isa = ASSAY_ISA_PORTABLE; isa <= ASSAY_ISA_VNNI; isa++) {
        const assay_codes_fn codes = has(isa) ? s->vt->simd->codes(u, isa, reach) : NULL;
        for (int i = 0; codes && i < 4; i++)
            compare(s, u, codes, op, t, r);
        found[op] += codes != NULL && isa == ASSAY_ISA_PORTABLE;
    }
    s->vt->release(u);
}

static void test_presets(void **state)
{
    test_rng r = test_seed("codes", 1);
    int all[OPS] = {0}, with[OPS] = {0};
    (void)state;
    for (const char *const *name = assay_scheme_presets(); *name; name++) {
        assay_scheme *s;
        assay_error err;
        int prepared[OPS] = {0}, found[OPS] = {0}, n = 0, m = 0;
        assert_ok(assay_scheme_open(*name, &s, &err), &err);
        for (int i = 0; i < 400; i++)
            check_unit(s, &r, prepared, found);
        for (int i = 0; i < OPS; i++) {
            n += prepared[i];
            m += found[i];
            all[i] += prepared[i];
            with[i] += found[i];
        }
        print_message("# %s: %d of %d units have a vector form\n", *name, m, n);
        assay_scheme_free(s);
    }
    for (int i = 0; i < OPS; i++) {
        print_message("# %s: %d of %d\n", ops[i].op, with[i], all[i]);
        assert_true(with[i] > 0);
    }
}

/* Every rounding of every kind of addition and of the others' rescales. */
static void test_roundings(void **state)
{
    static const char *const records[] = {
        "rescale: {round: [%s]}\nadd: {kind: separate}\n",
        "rescale: {round: [%s], left_shift: product, multiplier_bits: 15}\n"
        "add: {kind: left-shift, bits: 8}\n",
        "rescale: {round: [30 %s, half-away], left_shift: saturate, sum_bits: 24, sum_overflow: "
        "saturate}\nadd: {kind: left-shift, bits: 15}\n",
        "rescale: {round: [31 half-up, half-away], left_shift: product, result_bits: 16}\n"
        "add: {kind: common-exponent, bits: 20, round: %s}\n",
        "types: {power_of_two_scales: yes, activation_zero_point: none}\n"
        "rescale: {encoding: shift, scale: power-of-two, round: [%s]}\n"
        "add: {kind: align-power-of-two, bits: 3, round: %s}\n",
        "rescale: {encoding: float32, scale: f32, round: [%s]}\nadd: {kind: float-real, round: "
        "%s}\n",
        "rescale: {encoding: float32, scale: f32-steps, zero_point: inside, round: [%s]}\n"
        "add: {kind: float-ratio, zero_point: inside, round: %s}\n",
        "rescale: {encoding: float32, scale: f32, float_overflow: int-min, round: [%s]}\n"
        "add: {kind: float-scaled, float_overflow: int-min, round: %s}\n",
        "rescale: {round: [%s], store: wrap}\nadd: {kind: plain}\n"};
    test_rng r = test_seed("roundings of codes", 2);
    (void)state;
    for (size_t k = 0; k < sizeof records / sizeof *records; k++)
        for (int m = 0; m < ASSAY_ROUND_COUNT; m++) {
            const char *mode = assay_rounding_name((enum assay_rounding)m);
            char text[512];
            int prepared[OPS] = {0}, found[OPS] = {0}, with = 0;
            snprintf(text, sizeof text, records[k], mode, mode);
            assay_scheme *s = unit_scheme(text);
            for (int i = 0; i < 150; i++)
                check_unit(s, &r, prepared, found);
            for (int i = 0; i < OPS; i++)
                with += found[i];
            assert_true(with > 0); /* comparisons at least */
            assay_scheme_free(s);
        }
}

/* Schemes with fields drawn at random. */
static void test_drawn(void **state)
{
    test_rng r = test_seed("codes of drawn schemes", 3);
    (void)state;
    for (int k = 0; k < 200; k++) {
        char text[2000];
        int prepared[OPS] = {0}, found[OPS] = {0};
        assay_scheme *s = test_random_scheme(&r, text, sizeof text);
        for (int i = 0; i < 60; i++)
            check_unit(s, &r, prepared, found);
        assay_scheme_free(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_presets),
                                       cmocka_unit_test(test_roundings),
                                       cmocka_unit_test(test_drawn)};
    return cmocka_run_group_tests_name("codes", tests, NULL, NULL);
}
