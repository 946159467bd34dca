/* Kind scale: pairs of rules with encodings that are told to be one function have one code on rows
 * of the whole domain: every R of few bits, and those next to powers of two. */
#include "test/infer/worlds.h"

#include <math.h>

#include "graph/core/type.h"
#include "interp/infer/formed.h"
#include "interp/infer/modes.h"
#include "interp/infer/scales.h"

enum { PAIRS = 4000, ROWS = 4000, LO = -7, HI = 2 };

static int32_t some_mode(test_rng *r)
{
    const infer_modes modes = infer_magnitude_modes();
    return modes.mode[world_some(r, 0, modes.n - 1)];
}

static void make(world *w, assay_elem type, int acc_bits)
{
    world_make(w, type, acc_bits, 0, 1, 0, 1);
    w->o.kind = INFER_SCALE;
    w->t.live_lo = LO;
    w->t.live_hi = HI;
}

static void limit(test_rng *r, infer_rule *k)
{
    static const int32_t small[] = {ASSAY_SMALL_ZERO, ASSAY_SMALL_REFUSE, ASSAY_SMALL_UNNORMAL,
                                    ASSAY_SMALL_DENORMAL};
    static const int32_t large[] = {ASSAY_LARGE_REFUSE, ASSAY_LARGE_ZERO, ASSAY_LARGE_LARGEST};
    k->shift_max = k->multiplier_bits - 1 - world_some(r, LO - 5, LO + 4);
    k->beyond_shift_max = WORLD_SOME_OF(r, small);
    k->denormal_round = some_mode(r);
    if (world_some(r, 0, 1)) {
        k->shift_min = k->multiplier_bits - 1 - world_some(r, HI - 1, HI + 4);
        k->below_shift_min = WORLD_SOME_OF(r, large);
    }
}

static void encode(test_rng *r, infer_rule *k)
{
    static const int32_t forms[] = {ASSAY_FORM_DOUBLE, ASSAY_FORM_F32_PRODUCT, ASSAY_FORM_F32};
    k->encoding = ASSAY_ENCODE_MULTIPLIER;
    k->scale = WORLD_SOME_OF(r, forms);
    k->multiplier_bits = world_some(r, 0, 3) ? world_some(r, 1, 9) : world_some(r, 24, 28);
    k->multiplier_round = some_mode(r);
    k->multiplier_renormalise = world_some(r, 0, 3) > 0;
    k->negative_scale = 0;
    k->shift_min = -1100;
    k->shift_max = 1100;
    k->beyond_shift_max = ASSAY_SMALL_REFUSE;
    k->below_shift_min = ASSAY_LARGE_REFUSE;
    k->reduced_bits = k->multiplier_bits < 3 || world_some(r, 0, 3)
                          ? 0
                          : world_some(r, 2, k->multiplier_bits - 1);
    if (world_some(r, 0, 2) == 0)
        limit(r, k);
}

static infer_rule draw(test_rng *r)
{
    infer_rule k = world_some(r, 0, 1) ? world_plain() : world_rule(r, 5);
    if (k.round.n == 1)
        k.round.step[0].mode = some_mode(r);
    k.input_shift_range = world_some(r, 0, 15) == 0;
    encode(r, &k);
    return k;
}

/* Another limit, renormalised or not, or another rounding of the multiplier or of the product. */
static infer_rule neighbour(test_rng *r, const infer_rule *k)
{
    infer_rule b = *k;
    switch (world_some(r, 0, 5)) {
    case 0:
        b.multiplier_renormalise = !b.multiplier_renormalise;
        break;
    case 1:
        b.multiplier_round = some_mode(r);
        break;
    case 2:
        b.multiplier_round = ASSAY_ROUND_TRUNC;
        b.reduced_bits = b.multiplier_bits;
        b.multiplier_bits += world_some(r, 1, 3);
        b.reduced_overflow = ASSAY_REDUCED_RENORMALISE;
        break;
    case 3:
        world_steps(r, &b, 5);
        break;
    default:
        limit(r, &b);
    }
    return b;
}

/* R of few bits or of many, or next to a power of two. */
static void draw_scales(test_rng *r, infer_row *row)
{
    rows_random random = {(uint64_t)test_between(r, 0, INT32_MAX)};
    const int e = world_some(r, LO - INFER_BELOW, HI);
    const int64_t pick = test_between(r, 0, 4);
    if (pick < 2)
        infer_set_scales(&random, row, world_some(r, 256, 511), e - 8);
    else if (pick == 2)
        infer_set_scales(&random, row, (INT64_C(1) << 24) - world_some(r, 0, 3), e - 23);
    else
        infer_near_scales(&random, row,
                          ldexp(2 - ldexp(1, -world_some(r, 2, 34)) * (double)(pick - 2), e));
}

static bool is_inside(const infer_row *row)
{
    return infer_real(row) >= ldexp(1, LO - INFER_BELOW) && infer_real(row) < ldexp(1, HI + 1);
}

static void say(const infer_rule *k)
{
    print_message("form %d bits %d round %d renormalise %d reduced %d/%d shift_max %d/%d/%d "
                  "shift_min %d/%d by shift %d steps %d: %d %d\n",
                  k->scale, k->multiplier_bits, k->multiplier_round, k->multiplier_renormalise,
                  k->reduced_bits, k->reduced_overflow, k->shift_max, k->beyond_shift_max,
                  k->denormal_round, k->shift_min, k->below_shift_min, k->input_shift_range,
                  k->round.n, k->round.step[0].bits, k->round.step[0].mode);
}

static void compare(const world *w, test_rng *r, const infer_rule *a, const infer_rule *b)
{
    static infer_model m[2];
    const int64_t max = INT64_C(1) << (w->o.acc_bits - 1);
    infer_model_start(&m[0], a, &w->o);
    infer_model_start(&m[1], b, &w->o);
    for (int i = 0; i < ROWS;) {
        infer_row row = {.zp = world_some(r, assay_elem_min(w->o.type), assay_elem_max(w->o.type))};
        draw_scales(r, &row);
        for (int k = 0; k < 20; k++, i++) {
            row.acc = k < 2 ? (k ? max - 1 : -max) : test_between(r, -max, max - 1);
            if (!is_inside(&row))
                continue;
            if (infer_answer(&m[0], &row) == infer_answer(&m[1], &row))
                continue;
            say(a);
            say(b);
            print_message("acc %lld zp %d scales %a %a %a\n", (long long)row.acc, row.zp,
                          (double)row.in, (double)row.weight, (double)row.out);
            fail();
        }
    }
}

static void test_pairs(void **state)
{
    (void)state;
    test_rng r = test_seed("formed", 20261127);
    size_t alike = 0, others = 0;
    for (int i = 0; i < PAIRS; i++) {
        world w;
        infer_row row;
        make(&w, world_types[world_some(&r, 0, WORLD_TYPES - 1)], world_some(&r, 4, 9));
        const infer_rule a = draw(&r), b = neighbour(&r, &a);
        if (infer_tell_formed(&w.e, &a, &b, &row) == INFER_ALIKE) {
            alike++;
            compare(&w, &r, &a, &b);
        } else {
            others++;
        }
    }
    print_message("# %zu pairs alike, %zu not\n", alike, others);
    assert_true(alike > 200 && others > 200);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_pairs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
