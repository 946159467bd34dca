/* Limits of shifts; see limits.h. */
#include "interp/infer/limits.h"
#include "graph/memory.h"

#include <math.h>
#include <stdlib.h>

#include "interp/infer/check.h"
#include "interp/infer/encoding.h"
#include "interp/infer/places.h"
#include "interp/infer/questions.h"
#include "schemes/round.h"

/* ---- rows ---- */

static void ask_at(infer_task *t, int e, int n)
{
    const int32_t zeros[2] = {infer_middle_zero(t->o), infer_small_zero(t->o, false)};
    for (int i = 0; i < n; i++) {
        const int64_t max = infer_acc_max(t);
        const int64_t x = i % 4 == 0   ? -max - 1
                          : i % 4 == 1 ? max
                          : i % 4 == 2 ? -1
                                       : rows_between(&t->random, -max - 1, max);
        infer_row row = {.acc = x, .zp = zeros[i / 2 % 2]};
        const int64_t m = i < 4 ? 4 + i : rows_between(&t->random, 1 << 23, (1 << 24) - 1);
        infer_set_scales(&t->random, &row, t->powers ? 1 : m, e - (t->powers ? 0 : i < 4 ? 2 : 23));
        infer_encode_row(t, &row);
        infer_rows_add(&t->next, &row);
    }
}

/* Scales whose product or R is beyond float32: ways to form R differ in whether they are taken. */
static void ask_beyond(infer_task *t)
{
    static const int at[][3] = {{-70, -70, 20}, {60, 60, -20}, {70, 70, 40}, {-80, -80, -80}};
    for (size_t i = 0; i < sizeof at / sizeof *at; i++)
        for (int64_t x = -1; x <= 1; x++) {
            infer_row row = {.acc = x * infer_acc_max(t),
                             .zp = infer_middle_zero(t->o),
                             .in = (float)ldexp(1, at[i][0]),
                             .weight = (float)ldexp(1, at[i][1]),
                             .out = (float)ldexp(1, at[i][2])};
            infer_encode_row(t, &row);
            infer_rows_add(&t->next, &row);
        }
}

assay_status infer_ask_limits(infer_task *t, assay_error *err)
{
    for (int e = -80; e <= 50; e++)
        if (e < t->live_lo || e > t->live_hi)
            ask_at(t, e, e >= t->live_lo - 4 && e <= t->live_hi + 4 ? 16 : 4);
    for (int e = t->live_lo; e <= t->live_hi; e++)
        if (e < t->live_lo + 3 || e > t->live_hi - 3)
            ask_at(t, e, 16);
    ask_beyond(t);
    return infer_ask(t, err);
}

/* ---- fields ---- */

enum { MAX_LIMITS = 4, MAX_BASES = 500, MIN_E = -150, MAX_E = 131 };

typedef struct limits {
    infer_rule rule[MAX_LIMITS]; /* its limits */
    int n;
} limits;

static void try_limit(infer_check *c, const infer_rule *k, limits *out)
{
    if (out->n < MAX_LIMITS && infer_check_holds(c, k))
        out->rule[out->n++] = *k;
}

/* The total right shift of R = 2^e. */
static int32_t shift_at(const infer_rule *k, int e)
{
    return (k->encoding == ASSAY_ENCODE_SHIFT ? 0 : k->multiplier_bits - 1) - e;
}

static bool in_range(int32_t shift)
{
    return shift >= -1100 && shift <= 1100;
}

static void try_greatest(infer_check *c, const infer_rule *base, int live_lo, limits *out)
{
    static const int32_t ways[] = {ASSAY_SMALL_ZERO, ASSAY_SMALL_REFUSE, ASSAY_SMALL_UNNORMAL,
                                   ASSAY_SMALL_GENERATOR};
    infer_rule k = *base;
    try_limit(c, &k, out);
    for (int e = MIN_E; e <= live_lo + 4; e++) {
        k.shift_max = shift_at(base, e);
        if (!in_range(k.shift_max) || k.shift_max < k.shift_min)
            continue;
        for (int w = 0; w < 4; w++) {
            k.beyond_shift_max = ways[w];
            if (ways[w] != ASSAY_SMALL_GENERATOR || k.shift_max == 62)
                try_limit(c, &k, out);
        }
        k.beyond_shift_max = ASSAY_SMALL_DENORMAL;
        for (int m = 0; m < INFER_MAGNITUDE_MODES; m++) {
            k.denormal_round = infer_magnitude_modes[m];
            try_limit(c, &k, out);
        }
        k.denormal_round = base->denormal_round;
    }
}

static void try_least(infer_check *c, const infer_rule *base, int live_hi, limits *out)
{
    static const int32_t ways[] = {ASSAY_LARGE_REFUSE, ASSAY_LARGE_ZERO, ASSAY_LARGE_LARGEST,
                                   ASSAY_LARGE_GENERATOR};
    infer_rule k = *base;
    try_limit(c, &k, out);
    for (int e = MAX_E; e >= live_hi - 4; e--) {
        k.shift_min = shift_at(base, e);
        if (!in_range(k.shift_min) || k.shift_min > k.shift_max)
            continue;
        for (int w = 0; w < 4; w++) {
            k.below_shift_min = ways[w];
            if (ways[w] != ASSAY_LARGE_GENERATOR || k.shift_min == 2)
                try_limit(c, &k, out);
        }
    }
}

/* Rows of one side of the range alone. */
static void leave_rows(infer_check *c, bool small)
{
    size_t n = 0;
    for (size_t i = 0; i < c->n; i++) {
        const double real = infer_real(&c->t->log.row[c->order[i]]);
        const int e = real == 0 || !isfinite(real) ? 0 : infer_exponent(real);
        if (real != 0 && (small ? e <= (c->t->live_lo + c->t->live_hi) / 2
                                : e > (c->t->live_lo + c->t->live_hi) / 2))
            c->order[n++] = c->order[i];
    }
    c->n = n;
}

static assay_status find_side(infer_task *t, const infer_rule *base, bool small, limits *out,
                              assay_error *err)
{
    infer_check c;
    const assay_status s = infer_check_open(&c, t, false, err);
    if (s)
        return s;
    leave_rows(&c, small);
    if (base->encoding == ASSAY_ENCODE_GLOW)
        out->rule[out->n++] = *base;
    else if (small)
        try_greatest(&c, base, t->live_lo, out);
    else
        try_least(&c, base, t->live_hi, out);
    infer_check_close(&c);
    return ASSAY_OK;
}

static bool take_limits(infer_check *c, const infer_rule *rule, const limits *small,
                        const limits *large, infer_rules *out)
{
    for (int i = 0; i < small->n; i++)
        for (int k = 0; k < large->n; k++) {
            infer_rule with = *rule;
            with.shift_max = small->rule[i].shift_max;
            with.beyond_shift_max = small->rule[i].beyond_shift_max;
            with.denormal_round = small->rule[i].denormal_round;
            with.shift_min = large->rule[k].shift_min;
            with.below_shift_min = large->rule[k].below_shift_min;
            if (with.shift_min > with.shift_max)
                continue;
            for (int32_t z = 0; z <= (with.input_shift_range ? 64 : 0); z++) {
                with.zero_shift = z;
                if (infer_check_holds(c, &with) && !infer_rules_keep(out, &with))
                    return false;
            }
        }
    return true;
}

/* A left shift of the operand may begin where R is too large to have been told from one of the
 * product. */
static bool add_left_shifts(infer_rules *rules)
{
    const size_t n = rules->n;
    bool good = true;
    for (size_t i = 0; i < n && good; i++) {
        infer_rule k = rules->rule[i];
        if (k.round.n < 2 || k.left_shift != ASSAY_LEFT_PRODUCT)
            continue;
        k.left_shift = ASSAY_LEFT_WRAP;
        good = infer_rules_keep(rules, &k);
        k.left_shift = ASSAY_LEFT_SATURATE;
        good = good && infer_rules_keep(rules, &k);
    }
    return good;
}

/* The limits with which a rule agrees with every row; none, where it does with none. */
static assay_status find_limits_of(infer_check *c, const infer_rule *rule, limits *small,
                                   limits *large, infer_rules *out, assay_error *err)
{
    small->n = large->n = 0;
    assay_status s = find_side(c->t, rule, true, small, err);
    if (!s && small->n > 0)
        s = find_side(c->t, rule, false, large, err);
    if (!s && !take_limits(c, rule, small, large, out))
        s = assay_out_of_memory(err);
    return s;
}

assay_status infer_find_limits(infer_task *t, infer_rules *rules, assay_error *err)
{
    infer_rules out = {0};
    limits small = {.n = 0}, large = {.n = 0};
    infer_check c = {.order = NULL};
    bool good = add_left_shifts(rules);
    assay_status s = good ? infer_check_open(&c, t, false, err) : assay_out_of_memory(err);
    size_t i = 0;
    for (; i < rules->n && i < MAX_BASES && out.n == 0 && !s && !infer_is_over(t); i++)
        s = find_limits_of(&c, &rules->rule[i], &small, &large, &out, err);
    for (; i < rules->n && out.n > 0 && good && !s && !infer_is_over(t); i++)
        good = take_limits(&c, &rules->rule[i], &small, &large, &out);
    /* rules that agree between the limits, and no limits to them: there may be some that are not
     * tried */
    t->complete &= out.n > 0 && !infer_is_over(t);
    infer_check_close(&c);
    infer_rules_free(rules);
    *rules = out;
    return good || s ? s : assay_out_of_memory(err);
}

/* ---- siblings ---- */

assay_status infer_add_siblings(infer_task *t, infer_rules *rules, assay_error *err)
{
    infer_check c;
    const assay_status s = infer_check_open(&c, t, false, err);
    if (s)
        return s;
    const size_t n = rules->n < 64 ? rules->n : 64;
    bool good = true;
    for (size_t i = 0; i < n; i++)
        for (int f = 0; f < INFER_FORMATIONS; f++)
            for (int m = 0; m < INFER_MAGNITUDE_MODES; m++)
                for (int renormalise = 0; renormalise < 2; renormalise++) {
                    const infer_rule *base = &rules->rule[i];
                    infer_rule k = *base;
                    if (k.encoding != ASSAY_ENCODE_MULTIPLIER || t->powers)
                        continue;
                    k.scale = infer_formations[f];
                    k.multiplier_round = infer_magnitude_modes[m];
                    k.multiplier_renormalise = renormalise;
                    const bool same = k.scale == base->scale &&
                                      k.multiplier_round == base->multiplier_round &&
                                      k.multiplier_renormalise == base->multiplier_renormalise;
                    if (!same && infer_check_holds(&c, &k))
                        good &= infer_rules_keep(rules, &k);
                }
    infer_check_close(&c);
    return good ? ASSAY_OK : assay_out_of_memory(err);
}
