/* The bounds that vector forms of element-wise functions rest on (schemes/apply/codes.h): a unit
 * within them has a form; with one number beyond its bound it has none. Units are prepared, copied,
 * and changed in one place. */
#include "schemes/apply/apply.h"
#include "schemes/apply/codes.h"
#include "test/support/scheme_unit.h"

#define NEAR  (INT64_C(1) << 17)
#define WIDE  (INT64_C(1) << 31)
#define REACH 200

/* A unit whose numbers may be changed. */
typedef struct copy {
    assay_unit u;
    assay_rule_rescale rule[3];
    int64_t m[3], shift[3], scale[3], scale_w[3], scale_out[3];
} copy;

static void copy_unit(const assay_unit *u, copy *c)
{
    *c = (copy){.u = *u};
    for (int i = 0; i < 3; i++) {
        assay_rescale *r = &c->u.scale[i];
        const struct {
            const int64_t **from;
            int64_t *to;
        } numbers[] = {{&r->multiplier, c->m},
                       {&r->shift, c->shift},
                       {&r->scale, c->scale},
                       {&r->scale_w, c->scale_w},
                       {&r->scale_out, c->scale_out}};
        for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++)
            if (*numbers[k].from) {
                numbers[k].to[i] = **numbers[k].from;
                *numbers[k].from = &numbers[k].to[i];
            }
        if (r->rule) {
            c->rule[i] = *r->rule;
            r->rule = &c->rule[i];
        }
    }
}

#define OUT c->u.scale[ASSAY_OUT]
#define CHANGE(name, statement)                                                                    \
    static void name(copy *c)                                                                      \
    {                                                                                              \
        statement;                                                                                 \
    }

CHANGE(nothing, (void)c)
CHANGE(negative_multiplier, c->m[2] = -1)
CHANGE(wide_multiplier, c->m[2] = WIDE)
CHANGE(long_shift, c->shift[2] = 63)
CHANGE(far_left, c->shift[2] = -40)
CHANGE(left_30, (c->m[2] = 1, c->shift[2] = -30))
CHANGE(no_row, OUT.row = NULL)
CHANGE(row_of_sums, OUT.row = apply_rescale_row_sums)
CHANGE(by_channel, OUT.n = 2)
CHANGE(input_zero, OUT.in_zero = 1)
CHANGE(shifted_before, OUT.pre = c->shift)
CHANGE(three_roundings, c->rule[2].round.n = 3)
CHANGE(long_first, c->rule[2].round.n = 2; c->rule[2].round.step[0].bits = 32)
CHANGE(second_not_away, c->rule[2].round.n = 2; c->rule[2].round.step[0].bits = 20;
       c->rule[2].round.step[1].mode = ASSAY_ROUND_FLOOR)
CHANGE(zero_above, OUT.zero_point = NEAR)
CHANGE(zero_below, OUT.zero_point = -NEAR)
CHANGE(low_end, OUT.lo = -NEAR)
CHANGE(high_end, OUT.hi = NEAR)
CHANGE(no_codes, OUT.lo = OUT.hi + 1)
CHANGE(first_negative, c->m[0] = -1)
CHANGE(second_negative, c->m[1] = -1)
CHANGE(down_before, c->u.k[0] = -1)
CHANGE(far_up_before, c->u.k[0] = 40)
CHANGE(wide_first, c->u.k[0] = WIDE)
CHANGE(k1_negative, c->u.k[1] = -1)
CHANGE(wide_second, c->u.k[1] = WIDE)
CHANGE(far_alignment, c->u.k[2] = 32)
CHANGE(long_k0, c->u.k[0] = 63)
CHANGE(long_k1, c->u.k[1] = 63)
CHANGE(factor_far_up, c->u.k[2] = 22)
CHANGE(wide_factor, c->u.k[0] = (1 << 24) + 1)
CHANGE(tiny_scale, c->scale[2] = 1)
CHANGE(tiny_weight_scale, c->scale_w[2] = 1)
CHANGE(tiny_out_scale, c->scale_out[2] = 1)
CHANGE(real_0, c->u.k[0] = 1)
CHANGE(real_1, c->u.k[1] = 1)
CHANGE(real_2, c->u.k[2] = 1)
CHANGE(great_real_2, c->u.k[2] = INT64_C(200) << 23)

#define ONE    "rescale: {round: [half-up]}\n"
#define LEFT   ONE "add: {kind: left-shift, bits: 8, round: half-up}\n"
#define COMMON ONE "add: {kind: common-exponent, bits: 20, round: half-up}\n"
#define APART  ONE "add: {kind: separate, round: half-up}\n"
#define ALIGN                                                                                      \
    "types: {power_of_two_scales: yes, activation_zero_point: none}\n"                             \
    "rescale: {encoding: shift, scale: power-of-two, round: [floor]}\n"                            \
    "add: {kind: align-power-of-two, bits: 3, round: floor}\n"
#define F32   "rescale: {encoding: float32, scale: f32, round: [half-even]}\n"
#define STEPS "rescale: {encoding: float32, scale: f32-steps, round: [half-even]}\n"
#define INT_MIN_BEYOND                                                                             \
    "rescale: {encoding: float32, scale: f32, float_overflow: int-min, round: [half-even]}\n"
#define REAL  F32 "add: {kind: float-real, round: half-even}\n"
#define RATIO STEPS "add: {kind: float-ratio, zero_point: inside, round: half-even}\n"
#define SCALED                                                                                     \
    INT_MIN_BEYOND "add: {kind: float-scaled, float_overflow: int-min, round: half-even}\n"

static const struct {
    const char *record, *op;
    int n_in;
    void (*change)(copy *c);
} cases[] = {
    {ONE, "rescale", 1, negative_multiplier},
    {ONE, "rescale", 1, wide_multiplier},
    {ONE, "rescale", 1, long_shift},
    {ONE, "rescale", 1, far_left},
    {ONE, "rescale", 1, no_row},
    {ONE, "rescale", 1, row_of_sums},
    {ONE, "rescale", 1, by_channel},
    {ONE, "rescale", 1, input_zero},
    {ONE, "rescale", 1, shifted_before},
    {ONE, "rescale", 1, three_roundings},
    {ONE, "rescale", 1, long_first},
    {ONE, "rescale", 1, second_not_away},
    {ONE, "rescale", 1, zero_above},
    {ONE, "rescale", 1, zero_below},
    {ONE, "rescale", 1, low_end},
    {ONE, "rescale", 1, high_end},
    {ONE, "rescale", 1, no_codes},
    {ONE, "leaky_relu", 1, negative_multiplier},
    {ONE, "leaky_relu", 1, first_negative},
    {ONE, "clip", 1, low_end},
    {ONE, "clip", 1, high_end},
    {LEFT, "add", 2, first_negative},
    {LEFT, "add", 2, second_negative},
    {LEFT, "add", 2, down_before},
    {LEFT, "add", 2, far_up_before},
    {LEFT, "squared_difference", 2, second_negative},
    {COMMON, "add", 2, down_before},
    {COMMON, "add", 2, wide_first},
    {COMMON, "add", 2, k1_negative},
    {COMMON, "add", 2, wide_second},
    {APART, "add", 2, first_negative},
    {APART, "add", 2, second_negative},
    {ALIGN, "add", 2, far_alignment},
    {ALIGN, "add", 2, long_k0},
    {ALIGN, "add", 2, long_k1},
    {ONE, "less", 2, factor_far_up},
    {ONE, "less", 2, down_before},
    {ONE, "less", 2, wide_factor},
    {REAL, "rescale", 1, by_channel},
    {REAL, "rescale", 1, input_zero},
    {REAL, "rescale", 1, tiny_scale},
    {REAL, "add", 2, real_0},
    {REAL, "add", 2, real_1},
    {REAL, "add", 2, real_2},
    {RATIO, "rescale", 1, tiny_weight_scale},
    {RATIO, "rescale", 1, tiny_out_scale},
    {RATIO, "add", 2, real_1},
    {SCALED, "add", 2, low_end},
    {SCALED, "add", 2, high_end},
    {SCALED, "add", 2, great_real_2},
};

/* Whether the unit, so changed, has a form. */
static bool has_form(const char *record, const char *op, int n_in, int64_t reach,
                     void (*change)(copy *c))
{
    static const float scale[3] = {0.5f, 0.25f, 1};
    static const int32_t zero[3] = {0, 0, 0};
    const bool order = strcmp(op, "less") == 0;
    assay_type t[3];
    assay_codes codes;
    copy c;
    for (int i = 0; i < 3; i++)
        t[i] = code_type(8, true, &scale[i], &zero[i]);
    if (order)
        t[2] = (assay_type){.elem = {.kind = ASSAY_KIND_BOOL, .bits = 8}, .rank = 1, .dim = {1}};
    assay_scheme *s = unit_scheme(record);
    assay_unit_spec spec = unit_spec(op, t, n_in, &t[2]);
    spec.alpha = 0.25;
    assay_unit *u = unit_prepare(s, &spec);
    copy_unit(u, &c);
    change(&c);
    const bool has = apply_codes_of(&c.u, reach, &codes);
    s->vt->release(u);
    assay_scheme_free(s);
    return has;
}

static void test_bounds(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (!has_form(cases[i].record, cases[i].op, cases[i].n_in, REACH, nothing))
            fail_msg("%s%s: no form within its bounds", cases[i].record, cases[i].op);
        if (has_form(cases[i].record, cases[i].op, cases[i].n_in, REACH, cases[i].change))
            fail_msg("%s%s: case %zu has a form beyond a bound", cases[i].record, cases[i].op, i);
    }
}

/* Codes so far from their zero points that 32 bits, or the factor's 31, do not hold them. */
static void test_reach(void **state)
{
    (void)state;
    assert_true(has_form(ONE, "rescale", 1, NEAR - 1, nothing));
    assert_false(has_form(ONE, "rescale", 1, NEAR, nothing));
    assert_true(has_form(REAL, "mul", 2, 30000, nothing));
    assert_false(has_form(REAL, "mul", 2, 50000, nothing));
    assert_false(has_form(APART, "add", 2, NEAR, nothing));
    assert_false(has_form(ONE, "mul", 2, NEAR - 1, left_30)); /* 2^64, whose low bits are few */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_bounds), cmocka_unit_test(test_reach)};
    return cmocka_run_group_tests_name("codes bounds", tests, NULL, NULL);
}
