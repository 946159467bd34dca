/* Rescales and additions that have a vector form: each obligation of schemes/apply/simd/simd.c,
 * met and missed. */
#include "test/support/support.h"

#include <stdio.h>
#include <string.h>

#include "interp/fast/isa.h"
#include "schemes/apply/apply.h"
#include "schemes/record/data.h"
#include "test/support/scheme_unit.h"

typedef struct choice {
    const char *rule;
    enum assay_simd_way way;
    int64_t multiplier, shift; /* or float bits in multiplier */
    int64_t zero, lo, hi;      /* lo == hi: those of i8 */
    int64_t pre, in_zero;
    int bits; /* of the output; 0: 8 */
} choice;

static assay_simd choose(const choice *c)
{
    char record[300];
    snprintf(record, sizeof record, "rescale: {%s}\n", c->rule);
    assay_scheme *s = unit_scheme(record);
    const int64_t one = 0x3f800000;
    const assay_rule_rescale *k = &assay_data(s)->base.rescale;
    const bool wraps = k->store == ASSAY_STORE_WRAP && c->lo == c->hi;
    assay_rescale r = {.rule = k,
                       .n = 1,
                       .multiplier = &c->multiplier,
                       .shift = &c->shift,
                       .pre = k->encoding == ASSAY_ENCODE_GLOW || k->pre_shift ? &c->pre : NULL,
                       .scale = &c->multiplier,
                       .scale_w = c->shift != 0 ? &c->shift : &one,
                       .scale_out = c->pre != 0 ? &c->pre : &one,
                       .in_zero = c->in_zero,
                       .zero_point = c->zero,
                       .lo = c->lo == c->hi ? -128 : c->lo,
                       .hi = c->lo == c->hi ? 127 : c->hi,
                       .out_bits = c->bits ? (unsigned)c->bits : 8,
                       .out_signed = true};
    r.clamp_lo = wraps ? INT64_MIN : r.lo;
    r.clamp_hi = wraps ? INT64_MAX : r.hi;
    apply_rescale_choose(&r);
    if (c->zero == 77) /* plain sums, or no row at all */
        r.row = c->in_zero ? NULL : apply_rescale_row_sums;
    assay_simd simd = simd_choose(&r);
    assay_scheme_free(s);
    return simd;
}

#define M   INT64_C(1500000000)
#define ONE INT64_C(0x3f800000)

static void rescales(void **state)
{
    (void)state;
    static const char once[] = "round: [floor]", twice[] = "round: [31 half-up, half-away]";
    static const char plain[] = "round: [31 half-up, half-away], left_shift: product";
    static const char glow[] = "encoding: glow, product_bits: 32, round: [half-up]";
    static const char wrap[] = "round: [floor], store: wrap";
    static const char f32[] = "encoding: float32, round: [half-even]";
    static const char steps[] = "encoding: float32, scale: f32-steps, round: [half-even]";
    static const choice list[] = {
        {once, ASSAY_SIMD_ONE_ROUNDING, M, 40, 5},
        {once, ASSAY_SIMD_ONE_ROUNDING, M, 62, 5},
        {once, ASSAY_SIMD_NONE, M, 63, 5}, /* no room to add a half */
        {once, ASSAY_SIMD_NONE, M, -1, 5},
        {once, ASSAY_SIMD_NONE, INT64_C(1) << 31, 40, 5}, /* 33 bits */
        {once, ASSAY_SIMD_NONE, M, 40, 5, .in_zero = 1},
        {once, ASSAY_SIMD_NONE, M, 40, 77},
        {once, ASSAY_SIMD_NONE, M, 40, 77, .in_zero = 1},
        {once, ASSAY_SIMD_NONE, M, 40, 1 << 16}, /* codes and zero points near 0 only */
        {once, ASSAY_SIMD_NONE, M, 40, -(1 << 16)},
        {once, ASSAY_SIMD_NONE, M, 40, 0, -(1 << 16), 5},
        {once, ASSAY_SIMD_NONE, M, 40, 0, 0, 1 << 16},
        {"round: [floor], operand_bits: 20", ASSAY_SIMD_NONE, M, 40},
        {"round: [floor], product_bits: 40", ASSAY_SIMD_NONE, M, 40},
        {"round: [floor], result_bits: 64", ASSAY_SIMD_ONE_ROUNDING, M, 40},
        {"round: [floor], result_bits: 24", ASSAY_SIMD_ONE_ROUNDING, M, 40},
        {"round: [floor], result_bits: 31", ASSAY_SIMD_ONE_ROUNDING, M, 40},
        {"round: [floor], result_bits: 33", ASSAY_SIMD_NONE, M, 40},
        {"round: [floor], result_bits: 63", ASSAY_SIMD_NONE, M, 40},
        {"round: [floor], result_bits: 33, sum_bits: 0", ASSAY_SIMD_ONE_ROUNDING, M, 40},
        {"round: [floor], result_bits: 32", ASSAY_SIMD_ONE_ROUNDING, M, 40},
        {"round: [floor], result_bits: 64, sum_bits: 0", ASSAY_SIMD_ONE_ROUNDING, M, 40},
        {"round: [floor], result_bits: 24, sum_bits: 0", ASSAY_SIMD_ONE_ROUNDING, M, 40},
        {"round: [floor], result_bits: 23", ASSAY_SIMD_NONE, M, 40},
        {"round: [floor], result_bits: 32, result_overflow: wrap", ASSAY_SIMD_ONE_ROUNDING, M, 40},
        {"round: [floor], result_bits: 31, result_overflow: wrap", ASSAY_SIMD_NONE, M, 40},
        {"round: [floor], sum_bits: 20, sum_overflow: saturate", ASSAY_SIMD_NONE, M, 40},
        {"round: [floor], sum_bits: 0", ASSAY_SIMD_ONE_ROUNDING, M, 40},
        {wrap, ASSAY_SIMD_ONE_ROUNDING, M, 40, 5},
        {wrap, ASSAY_SIMD_NONE, M, 40, 5, -100, INT64_MAX}, /* an activation */
        {wrap, ASSAY_SIMD_NONE, M, 40, 5, INT64_MIN, 100},
        {wrap, ASSAY_SIMD_NONE, M, 40, 5, .bits = 7},
        {"round: [floor], store: wrap, sum_bits: 0", ASSAY_SIMD_ONE_ROUNDING, M, 40},
        {"round: [floor], store: wrap, sum_overflow: saturate", ASSAY_SIMD_NONE, M, 40},
        {"round: [floor], store: wrap, result_bits: 32, result_overflow: wrap",
         ASSAY_SIMD_ONE_ROUNDING, M, 40},
        {"round: [floor], store: wrap, result_bits: 32", ASSAY_SIMD_NONE, M, 40},
        {twice, ASSAY_SIMD_DOUBLE_LEFT, M, 40, 5},
        {twice, ASSAY_SIMD_DOUBLE_LEFT, M, -61, 5},
        {twice, ASSAY_SIMD_NONE, M, -62, 5},
        {"round: [31 half-up, half-away], result_bits: 32", ASSAY_SIMD_NONE, M, 40},
        {"round: [31 half-up, half-away], left_shift: saturate", ASSAY_SIMD_NONE, M, 40},
        {"round: [30 half-up, half-away]", ASSAY_SIMD_NONE, M, 40},
        {"round: [31 floor, half-away]", ASSAY_SIMD_NONE, M, 40},
        {"round: [31 half-up, half-up]", ASSAY_SIMD_NONE, M, 40},
        {"round: [9 half-up, 9 half-up, half-away]", ASSAY_SIMD_NONE, M, 40},
        {plain, ASSAY_SIMD_DOUBLE, M, 40, 5},
        {plain, ASSAY_SIMD_NONE, M, -1, 5},
        {glow, ASSAY_SIMD_GLOW, 300, 12, 5, .pre = 7},
        {glow, ASSAY_SIMD_NONE, 300, 12, 5, .pre = 62},
        {glow, ASSAY_SIMD_NONE, 300, 12, 5, .pre = -1},
        {"encoding: glow, product_bits: 32, round: [half-up], result_bits: 32", ASSAY_SIMD_NONE,
         300, 12},
        {"encoding: glow, product_bits: 32, round: [floor]", ASSAY_SIMD_NONE, 300, 12},
        {"encoding: glow, product_bits: 32, round: [4 half-up, half-up]", ASSAY_SIMD_NONE, 300, 12},
        {"encoding: glow, product_bits: 31, round: [half-up]", ASSAY_SIMD_NONE, 300, 12},
        {"pre_shift: fixed, pre_shift_bits: 4, product_bits: 32, round: [half-up]", ASSAY_SIMD_NONE,
         300, 12, .pre = 4},
        {f32, ASSAY_SIMD_FLOAT, ONE, .zero = 5},
        {f32, ASSAY_SIMD_NONE, 0},
        {f32, ASSAY_SIMD_NONE, 0x7f800000},
        {"encoding: float32, round: [odd]", ASSAY_SIMD_FLOAT, ONE},
        {"encoding: float32, round: [half-even], float_rounding: add-one", ASSAY_SIMD_NONE, ONE},
        {"encoding: float32, round: [half-even], store: wrap", ASSAY_SIMD_NONE, ONE},
        {"encoding: float64, round: [half-even]", ASSAY_SIMD_NONE, ONE},
        {steps, ASSAY_SIMD_FLOAT, ONE, ONE, 5, .pre = ONE},
        {steps, ASSAY_SIMD_NONE, ONE, -1, 5, .pre = ONE},
        {steps, ASSAY_SIMD_NONE, ONE, ONE, 5, .pre = 0x7f800000},
    };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        const assay_simd s = choose(&list[i]);
        if (s.way != list[i].way)
            fail_msg("%zu: {%s}: way %d, expected %d", i, list[i].rule, s.way, list[i].way);
    }
}

/* Packs of 16 bits: byte codes, a zero point with room for one, scales of at most 127/128. */
static void packs(void **state)
{
    (void)state;
    static const char once[] = "round: [floor]", glow[] = "encoding: glow, product_bits: 32, "
                                                          "round: [half-up]";
    static const char twice[] = "round: [31 half-up, half-away]";
    static const char f32[] = "encoding: float32, round: [half-even]";
    static const char steps[] = "encoding: float32, scale: f32-steps, round: [half-even]";
    static const struct {
        choice choice;
        bool packed;
    } list[] = {
        {{once, ASSAY_SIMD_ONE_ROUNDING, M, 31, 5}, true},
        {{once, ASSAY_SIMD_ONE_ROUNDING, M, 30, 5}, false},
        {{once, ASSAY_SIMD_ONE_ROUNDING, 127, 7, 5}, true},
        {{once, ASSAY_SIMD_ONE_ROUNDING, 255, 8, 5}, false},
        {{once, ASSAY_SIMD_ONE_ROUNDING, M, 55, 5}, true},
        {{once, ASSAY_SIMD_ONE_ROUNDING, M, 56, 5}, false},
        {{once, ASSAY_SIMD_ONE_ROUNDING, -M, 40, 5}, false},
        {{once, ASSAY_SIMD_ONE_ROUNDING, M, 40, 16383}, true},
        {{once, ASSAY_SIMD_ONE_ROUNDING, M, 40, 16384}, false},
        {{once, ASSAY_SIMD_ONE_ROUNDING, M, 40, -16383}, true},
        {{once, ASSAY_SIMD_ONE_ROUNDING, M, 40, -16384}, false},
        {{once, ASSAY_SIMD_ONE_ROUNDING, M, 40, 5, 0, 255}, true},
        {{once, ASSAY_SIMD_ONE_ROUNDING, M, 40, 5, 0, 256}, false},
        {{once, ASSAY_SIMD_ONE_ROUNDING, M, 40, 5, -1, 200}, false},
        {{once, ASSAY_SIMD_ONE_ROUNDING, M, 40, 5, -129, 5}, false},
        {{twice, ASSAY_SIMD_DOUBLE_LEFT, M, 32, 5}, true},
        {{twice, ASSAY_SIMD_DOUBLE_LEFT, M, 31, 5}, false},
        {{twice, ASSAY_SIMD_DOUBLE_LEFT, 0, 31, 5}, true},
        {{twice, ASSAY_SIMD_DOUBLE_LEFT, M, 62, 5}, true},
        {{glow, ASSAY_SIMD_GLOW, 300, 12, 5, .pre = 7}, false},
        {{f32, ASSAY_SIMD_FLOAT, 0x3f7e0000, .zero = 5}, true},
        {{f32, ASSAY_SIMD_FLOAT, 0x3f7e0001, .zero = 5}, false},
        {{steps, ASSAY_SIMD_FLOAT, 0x3f000000, ONE, 5, .pre = ONE}, false},
    };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        const assay_simd s = choose(&list[i].choice);
        assert_int_equal(s.way, list[i].choice.way);
        if (s.packed != list[i].packed)
            fail_msg("%zu: {%s}: packed %d", i, list[i].choice.rule, s.packed);
    }
}

/* ---- additions ---- */

typedef struct addition {
    const char *record;
    float s[3];
    enum assay_simd_add form;
    unsigned out_bits; /* 0: 8 */
    bool out_unsigned;
} addition;

static const addition additions[] = {
    {"", {0.1f, 0.3f, 0.2f}, ASSAY_SIMD_ADD_DOUBLE, 0, false},
    {"add: {bits: 0}\n", {0.1f, 0.3f, 0.2f}, ASSAY_SIMD_ADD_DOUBLE, 0, false},
    {"rescale: {round: [half-up], left_shift: product}\n",
     {0.1f, 0.3f, 0.2f},
     ASSAY_SIMD_ADD_HALF_UP,
     0,
     false},
    {"rescale: {round: [half-up], left_shift: product, sum_bits: 0}\n",
     {0.01f, 3, 0.2f},
     ASSAY_SIMD_ADD_HALF_UP,
     0,
     false},
    {"rescale: {round: [floor], left_shift: product}\n",
     {0.1f, 0.3f, 0.2f},
     ASSAY_SIMD_ADD_NONE,
     0,
     false},
    {"rescale: {round: [half-up], result_bits: 32}\n",
     {0.1f, 0.3f, 0.2f},
     ASSAY_SIMD_ADD_NONE,
     0,
     false},
    {"rescale: {left_shift: product}\n", {0.1f, 0.3f, 0.2f}, ASSAY_SIMD_ADD_NONE, 0, false},
    {"rescale: {shift_max: 90}\n", {0x1p-40f, 0.3f, 0.2f}, ASSAY_SIMD_ADD_NONE, 0, false},
    {"rescale: {shift_max: 90}\n", {0.3f, 0x1p-40f, 0.2f}, ASSAY_SIMD_ADD_NONE, 0, false},
    {"add: {kind: float-ratio}\n", {0.1f, 0.3f, 0.2f}, ASSAY_SIMD_ADD_NONE, 0, false},
    {"add: {kind: float-scaled, round: half-even}\n",
     {0.1f, 0.3f, 0.2f},
     ASSAY_SIMD_ADD_FLOAT,
     0,
     false},
    {"add: {kind: float-scaled, round: half-even, fused: yes}\n",
     {0.1f, 0.3f, 0.2f},
     ASSAY_SIMD_ADD_FLOAT,
     0,
     false},
    {"add: {kind: float-scaled, round: half-up}\n",
     {0.1f, 0.3f, 0.2f},
     ASSAY_SIMD_ADD_NONE,
     0,
     false},
    {"add: {kind: float-scaled, round: half-even}\n",
     {0x1p20f, 1, 1},
     ASSAY_SIMD_ADD_NONE,
     0,
     false},
    {"add: {kind: float-scaled, round: half-even}\n",
     {1, 0x1p20f, 1},
     ASSAY_SIMD_ADD_NONE,
     0,
     false},
    {"add: {kind: float-scaled, round: half-even}\n",
     {0x1p19f, 1, 1},
     ASSAY_SIMD_ADD_NONE,
     0,
     false},
    {"add: {kind: float-scaled, round: half-even}\n",
     {0.1f, 0.3f, 0.2f},
     ASSAY_SIMD_ADD_NONE,
     18,
     false},
    {"add: {kind: float-scaled, round: half-even}\n",
     {0.1f, 0.3f, 0.2f},
     ASSAY_SIMD_ADD_NONE,
     18,
     true},
};

/* All pairs of codes of either sign, and a short run, against the element function. */
static void compare(const assay_scheme *s, const assay_unit *u, bool a_signed, bool b_signed,
                    assay_pair_fn pair)
{
    static uint8_t x[65536], y[65536], got[65536];
    static int32_t a[65536], b[65536], want[65536];
    for (int i = 0; i < 65536; i++) {
        x[i] = (uint8_t)i;
        y[i] = (uint8_t)(i >> 8);
        a[i] = a_signed ? (int8_t)x[i] : x[i];
        b[i] = b_signed ? (int8_t)y[i] : y[i];
    }
    s->vt->binary(u, a, b, 65536, want);
    static const size_t lengths[] = {65536, 1, 16, 23};
    for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++) {
        memset(got, 0x5a, sizeof got);
        pair(u, x, a_signed, y, b_signed, lengths[k], got);
        for (size_t i = 0; i < lengths[k]; i++)
            if (got[i] != (uint8_t)want[i])
                fail_msg("%s: %d, %d: element %d, vector %d", s->text, a[i], b[i], (uint8_t)want[i],
                         got[i]);
        if (lengths[k] < 65536)
            assert_int_equal(got[lengths[k]], 0x5a);
    }
}

static void sums(void **state)
{
    const assay_isa_kernels *kernels;
    const bool has_vnni = fast_isa_choose("vnni", &kernels, NULL) == ASSAY_OK;
    (void)state;
    for (size_t i = 0; i < sizeof additions / sizeof *additions; i++)
        for (int variant = 0; variant < 8; variant++) {
            const addition *n = &additions[i];
            const bool a_signed = variant & 1, b_signed = variant & 2;
            const int32_t zero[3] = {a_signed ? 101 : 110, -9 + 100 * !b_signed, 3};
            assay_error err = {0};
            assay_unit *u;
            assay_scheme *s = unit_scheme(n->record);
            assay_type in[2] = {code_type(8, a_signed, &n->s[0], &zero[0]),
                                code_type(8, b_signed, &n->s[1], &zero[1])};
            assay_type out =
                code_type(n->out_bits ? n->out_bits : 8, !n->out_unsigned, &n->s[2], &zero[2]);
            in[variant / 4 % 2].dim[0] = 4; /* which of them is broadcast */
            const assay_unit_spec spec = unit_spec(variant == 3 ? "sub" : "add", in, 2, &out);
            assert_ok(s->vt->prepare(s, &spec, &u, &err), &err);
            if (simd_add_choose(u) != n->form)
                fail_msg("%zu, %s: form %d, expected %d", i, n->record, simd_add_choose(u),
                         n->form);
            assert_null(s->vt->simd->pair(u, ASSAY_ISA_PORTABLE));
            assert_null(s->vt->simd->pair(u, ASSAY_ISA_AVX2));
            assay_pair_fn pair = s->vt->simd->pair(u, ASSAY_ISA_VNNI);
            if (pair != NULL) /* on this processor's family */
                assert_int_not_equal(n->form, ASSAY_SIMD_ADD_NONE);
            if (has_vnni)
                assert_int_equal(pair != NULL, n->form != ASSAY_SIMD_ADD_NONE);
            if (has_vnni && pair != NULL)
                compare(s, u, a_signed, b_signed, pair);
            s->vt->release(u);
            assay_scheme_free(s);
        }
}

/* Additions beyond what 32 bits hold at every step: rescales of 1 and more, shifts of the whole
 * product, zero points that are no codes. */
static void far_sums(void **state)
{
    const assay_isa_kernels *kernels;
    const bool has_vnni = fast_isa_choose("vnni", &kernels, NULL) == ASSAY_OK;
    static const struct {
        float s[3];
        int32_t zero[2];
    } list[] = {{{0.1F, 0.3F, 0.2F}, {0, 0}},    {{0.1F, 0.3F, 0.2F}, {300, 0}},
                {{0.1F, 0.3F, 0.2F}, {0, -200}}, {{0.1F, 0.3F, 4e-7F}, {0, 0}},
                {{0.1F, 0.3F, 0x1p30F}, {0, 0}}, {{0x1p-33F, 1, 1}, {0, 0}},
                {{1, 0x1p-33F, 1}, {-200, 300}}};
    int compared = 0;
    (void)state;
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        for (int single = 0; single < 2; single++) {
            const int32_t none = 0;
            assay_scheme *s =
                unit_scheme(single ? "rescale: {left_shift: product, round: [half-up]}\n" : "");
            const assay_type in[2] = {code_type(8, true, &list[i].s[0], &list[i].zero[0]),
                                      code_type(8, true, &list[i].s[1], &list[i].zero[1])};
            const assay_type out = code_type(8, true, &list[i].s[2], &none);
            const assay_unit_spec spec = unit_spec("add", in, 2, &out);
            assay_unit *u = unit_prepare(s, &spec);
            assay_pair_fn pair = has_vnni ? s->vt->simd->pair(u, ASSAY_ISA_VNNI) : NULL;
            if (pair)
                compare(s, u, true, true, pair);
            compared += pair != NULL;
            s->vt->release(u);
            assay_scheme_free(s);
        }
    assert_true(!has_vnni || compared >= 2);
}

/* Obligations that no scheme breaks today, broken by hand. */
static void altered(void **state)
{
    (void)state;
    const float scale[3] = {0.1f, 0.3f, 0.2f};
    const int32_t zero = 0;
    assay_error err = {0};
    assay_unit *u;
    assay_scheme *s = unit_scheme("");
    const assay_type in[2] = {code_type(8, true, &scale[0], &zero),
                              code_type(8, true, &scale[1], &zero)};
    const assay_type out = code_type(8, true, &scale[2], &zero);
    const assay_unit_spec spec = unit_spec("add", in, 2, &out);
    assert_ok(s->vt->prepare(s, &spec, &u, &err), &err);
    for (int i = 0; i < 4; i++) {
        assay_unit copy = *u;
        copy.k[0] = i == 0 ? -1 : i == 1 ? 32 : copy.k[0];
        copy.scale[i == 2 ? ASSAY_FIRST : ASSAY_SECOND].in_zero = i >= 2;
        assert_int_equal(simd_add_choose(&copy), ASSAY_SIMD_ADD_NONE);
    }
    assert_int_equal(simd_add_choose(u), ASSAY_SIMD_ADD_DOUBLE);
    s->vt->release(u);
    assay_scheme_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rescales), cmocka_unit_test(packs),
                                       cmocka_unit_test(sums), cmocka_unit_test(altered),
                                       cmocka_unit_test(far_sums)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
