/* Codes that follow sums (schemes/derive/sums.h): where it is claimed of a unit, two sums d apart
 * give codes at most d * ratio * (1 + 2^-6) + 3 apart. */
#include "test/support/support.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "schemes/derive/sums.h"
#include "test/support/random_scheme.h"
#include "test/support/scheme_unit.h"

enum { RECORDS = 4000, PAIRS = 64, MAX_FIELDS = 5 };

/* What is drawn: the rules that a sum meets between the products and its code. */
static const char *const sections[] = {"accumulator", "rescale"};

static const assay_field *draw_field(test_rng *r, const char *section)
{
    size_t n;
    const assay_field *fields = assay_record_fields(&n), *f;
    do
        f = &fields[test_between(r, 0, (int64_t)n - 1)];
    while (strcmp(f->section, section) != 0);
    return f;
}

/* What goes together, and is seldom drawn so. */
static const char *const pairs[] = {"",
                                    "",
                                    "  encoding: shift\n  scale: power-of-two\n",
                                    "  pre_shift: fixed\n  pre_shift_bits: 3\n",
                                    "  pre_shift: rest\n",
                                    "  round: [2 half-up, 3 floor, half-even]\n",
                                    "  multiplier_bits: 15\n  reduced_bits: 7\n"};

/* A few fields of both sections, at any value of theirs. */
static void draw_record(test_rng *r, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++) {
        const size_t begin = used;
        used += (size_t)snprintf(text + used, size - used, "%s:\n", sections[i]);
        if (i == 1)
            used += (size_t)snprintf(
                text + used, size - used, "%s",
                pairs[test_between(r, 0, (int64_t)(sizeof pairs / sizeof *pairs) - 1)]);
        for (int64_t left = test_between(r, 1, MAX_FIELDS); left > 0; left--) {
            const assay_field *f = draw_field(r, sections[i]);
            assay_field_value v = test_random_choice(r, f, 2);
            char value[120], line[200];
            snprintf(line, sizeof line, "  %s: ", f->name);
            if (strstr(text + begin, line))
                continue;
            if (f->kind == ASSAY_FIELD_INT)
                v.number = (int32_t)test_between(r, f->min, f->max < 64 ? f->max : 64);
            assay_field_print(f, v, value, sizeof value);
            used += (size_t)snprintf(text + used, size - used, "%s%s\n", line, value);
        }
    }
}

static assay_scheme *draw_scheme(test_rng *r, char *text, size_t size)
{
    for (;;) {
        char whole[2200];
        assay_scheme *s;
        assay_error err;
        draw_record(r, text, size);
        snprintf(whole, sizeof whole, "scheme: t\n%s", text);
        if (!assay_scheme_parse("t", whole, strlen(whole), &s, &err))
            return s;
    }
}

/* The code of a sum; false: the target takes no such sum. */
static bool code_of(const assay_scheme *s, const assay_unit *u, int64_t sum, int32_t *code)
{
    bool trapped = false;
    const int64_t held = s->vt->apply_overflow(u, sum, &trapped);
    if (trapped || (ASSAY_SCHEME_HAS(s->vt, facts, accepted) &&
                    s->vt->facts->accepted(u, &held, NULL, 1, 0) == 0))
        return false;
    s->vt->requantize(u, &held, 1, 0, code);
    return true;
}

/* Whether each of some pairs keeps to the bound; those at the ends and those close by, too. */
static bool keeps(test_rng *r, const assay_scheme *s, const assay_unit *u, int64_t greatest,
                  double ratio, char *why, size_t size)
{
    for (int i = 0; i < PAIRS; i++) {
        int32_t code_a, code_b;
        const int64_t a = i % 8 == 0 ? greatest : test_between(r, -greatest, greatest);
        const int64_t near = a - (int64_t)(test_unit(r) * 16 / ratio);
        const int64_t b = i % 8 == 1                  ? -greatest
                          : i % 3 || near < -greatest ? test_between(r, -greatest, greatest)
                                                      : near;
        if (!code_of(s, u, a, &code_a) || !code_of(s, u, b, &code_b))
            continue;
        const double apart = fabs((double)a - (double)b) * ratio * (1 + 0x1p-6) + 3;
        if (fabs((double)code_a - code_b) <= apart)
            continue;
        snprintf(why, size, "sums %lld and %lld give %d and %d", (long long)a, (long long)b, code_a,
                 code_b);
        return false;
    }
    return true;
}

static void codes_follow(void **state)
{
    (void)state;
    test_rng r = test_seed("unit_follows", 41);
    int follow = 0, not = 0, broken = 0;
    for (int k = 0; k < RECORDS; k++) {
        char text[2000], why[160] = "";
        const int32_t zero_in = 0, zero_out = (int32_t)test_between(&r, -3000, 3000);
        const float s1 = (float)exp2(test_unit(&r) * 8 - 4), s2 = (float)exp2(test_unit(&r) - 8);
        const float s_out = (float)exp2(test_unit(&r) * 16 - 6);
        const assay_type in[2] = {code_type(8, true, &s1, &zero_in),
                                  code_type(8, true, &s2, &zero_in)};
        const assay_type out = code_type(16, true, &s_out, &zero_out);
        const double ratio = (double)s1 * (double)s2 / (double)s_out;
        const int64_t greatest = (int64_t)exp2(test_unit(&r) * 22 + 2);
        assay_unit_spec spec = unit_spec("fc", in, 2, &out);
        assay_scheme *s = draw_scheme(&r, text, sizeof text);
        assay_unit *u = NULL;
        assay_error err;
        spec.depth = 1 + (greatest >> 14);
        if (!s->vt->prepare(s, &spec, &u, &err)) {
            const bool says = derive_unit_follows(u, (double)greatest, ratio);
            const bool does = keeps(&r, s, u, greatest, ratio, why, sizeof why);
            assert_false(derive_unit_follows(u, (double)greatest, 0));
            if (says && !does)
                fail_msg("%s\nratio %a, sums to %lld: %s", text, ratio, (long long)greatest, why);
            follow += says;
            not += !says;
            broken += !does;
            s->vt->release(u);
        }
        assay_scheme_free(s);
    }
    print_message("%d units follow, %d are not said to, %d do not\n", follow, not, broken);
    assert_true(follow > RECORDS / 20 && not > RECORDS / 20 && broken > RECORDS / 40);
}

/* A float that no int32 holds becomes the least of them: codes of such sums do not follow. */
static void floats_beyond_int32(void **state)
{
    (void)state;
    static const struct {
        const char *record;
        bool follows;
    } list[] = {{"rescale: {encoding: float32, round: half-even, sum_overflow: saturate, "
                 "float_overflow: int-min}\n",
                 false},
                {"rescale: {encoding: float32, round: half-even, sum_overflow: saturate, "
                 "float_overflow: saturate}\n",
                 true},
                {"rescale: {encoding: float64, round: half-even, sum_overflow: saturate, "
                 "float_overflow: int-min}\n",
                 false}};
    const float one = 1;
    const int32_t zero = 0;
    const assay_type in[2] = {code_type(8, true, &one, &zero), code_type(8, true, &one, &zero)};
    const assay_type out = code_type(16, true, &one, &zero);
    const assay_unit_spec spec = unit_spec("fc", in, 2, &out);
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        char record[200];
        snprintf(record, sizeof record, "accumulator: {overflow: saturate-at-end}\n%s",
                 list[i].record);
        assay_scheme *s = unit_scheme(record);
        assay_unit *u = unit_prepare(s, &spec);
        assert_true(derive_unit_follows(u, 0x1p20, 1));
        assert_int_equal(derive_unit_follows(u, 0x1p40, 1), list[i].follows);
        s->vt->release(u);
        assay_scheme_free(s);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {cmocka_unit_test(codes_follow),
                                              cmocka_unit_test(floats_beyond_int32)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
