/* Limits of shifts; see limits.h. */
#include "interp/infer/limits.h"
#include "graph/memory.h"

#include <math.h>
#include <stdlib.h>

#include "interp/infer/check.h"
#include "interp/infer/encoding.h"
#include "interp/infer/flat.h"
#include "interp/infer/modes.h"
#include "interp/infer/places.h"
#include "interp/infer/questions.h"
#include "schemes/round.h"

/* ---- rows ---- */

static void ask_at(infer_task *t, int e, int n)
{
    const int32_t zeros[2] = {infer_middle_zero(t->o), infer_small_zero(t->o, false)};
    for (int i = 0; i < (int)infer_some(t, (size_t)n); i++) {
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

/* Scales whose product or R overflows or underflows float32: ways to form R differ in whether they
 * accept it. */
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

/* R next to a power of two with the greatest accumulators: reveals multipliers that are rounded up
 * to a power. */
static void ask_power(infer_task *t, int e)
{
    enum { EACH = 12 };
    for (int i = 0; i < EACH; i++) {
        infer_row row = {.acc = i % 2 ? infer_acc_max(t) : -infer_acc_max(t) - 1,
                         .zp = i / 2 % 2 ? infer_middle_zero(t->o) : infer_small_zero(t->o, false)};
        const double off = ldexp(1, -(int)rows_between(&t->random, 8, 40));
        infer_near_scales(&t->random, &row, ldexp(1 - off, e));
        infer_encode_row(t, &row);
        infer_rows_add(&t->next, &row);
    }
}

/* R of many bits, next to the least that makes a difference, with accumulators between two codes:
 * reveals multipliers that lost a bit. */
static void ask_lost(infer_task *t)
{
    enum { EACH = 40 };
    const int core = infer_core_of(t);
    for (int e = t->live_lo - 2; e <= t->live_lo + core + 1 && !t->powers; e++) {
        ask_power(t, e);
        for (int i = 0; i < (int)infer_some(t, EACH); i++) {
            infer_row row = {.zp = i % 2 ? infer_middle_zero(t->o) : infer_small_zero(t->o, false)};
            const int64_t m = rows_between(&t->random, INT64_C(1) << 40, (INT64_C(1) << 41) - 1);
            infer_near_scales(&t->random, &row, ldexp((double)m, e - 40));
            const double max = (double)infer_acc_max(t) * infer_real(&row);
            const int64_t n = rows_between(&t->random, 0, max < 4 ? (int64_t)max : 3);
            const double x = floor(((double)n + 0.5) / infer_real(&row)) + i / 2 % 2;
            const int64_t acc = x < (double)infer_acc_max(t) ? (int64_t)x : infer_acc_max(t);
            row.acc = i / 4 % 2 ? acc : -acc;
            infer_encode_row(t, &row);
            infer_rows_add(&t->next, &row);
        }
    }
}

assay_status infer_ask_limits(infer_task *t, assay_error *err)
{
    for (int e = INFER_MIN_EXPONENT; e < INFER_MAX_EXPONENT; e++)
        if (e < t->live_lo || e > t->live_hi)
            ask_at(t, e, e >= t->live_lo - 4 && e <= t->live_hi + 4 ? 16 : 4);
    for (int e = t->live_lo; e <= t->live_hi; e++)
        if (e < t->live_lo + 3 || e > t->live_hi - 3)
            ask_at(t, e, 16);
    ask_lost(t);
    ask_beyond(t);
    return infer_ask(t, err);
}

/* ---- fields ---- */

enum { MAX_LIMITS = 12, MAX_BASES = 500, MIN_E = -148, MAX_E = 131 };

typedef struct limits {
    infer_rule rule[MAX_LIMITS]; /* each with its limits */
    int n;
    bool cut; /* limits that matter in the domain were left out */
} limits;

static void try_limit(infer_check *c, const infer_rule *k, bool counts, limits *out)
{
    if (out->n == MAX_LIMITS && !counts)
        return;
    if (!infer_check_holds(c, k))
        return;
    if (out->n < MAX_LIMITS)
        out->rule[out->n++] = *k;
    else
        out->cut = true;
}

/* The total right shift of R = 2^e. */
static int32_t shift_at(const infer_rule *k, int e)
{
    return (k->encoding == ASSAY_ENCODE_SHIFT ? 0 : k->multiplier_bits - 1) - e;
}

static bool in_range(int32_t shift)
{
    return shift >= -INFER_MAX_SHIFT && shift <= INFER_MAX_SHIFT;
}

/* Tries a lower limit, unless everything beyond it is 0 anyway. */
static void try_small(infer_check *c, const infer_rule *k, limits *out)
{
    if (!infer_is_unlimited(c->t, k))
        try_limit(c, k, true, out);
}

static void try_greatest(infer_check *c, const infer_rule *base, limits *out)
{
    static const int32_t ways[] = {ASSAY_SMALL_ZERO, ASSAY_SMALL_UNNORMAL, ASSAY_SMALL_GENERATOR};
    const infer_task *t = c->t;
    const infer_modes modes = infer_magnitude_modes();
    infer_rule k = *base;
    try_limit(c, &k, true, out);
    for (int e = MIN_E; e <= t->live_lo + infer_core_of(t) + 1; e++) {
        k.shift_max = shift_at(base, e);
        if (!in_range(k.shift_max) || k.shift_max < k.shift_min)
            continue;
        k.beyond_shift_max = ASSAY_SMALL_REFUSE;
        try_limit(c, &k, true, out);
        for (int w = 0; w < 3; w++) {
            k.beyond_shift_max = ways[w];
            if (ways[w] != ASSAY_SMALL_GENERATOR || k.shift_max == 62)
                try_small(c, &k, out);
        }
        k.beyond_shift_max = ASSAY_SMALL_DENORMAL;
        for (int m = 0; m < modes.n; m++) {
            k.denormal_round = modes.mode[m];
            try_small(c, &k, out);
        }
        k.denormal_round = base->denormal_round;
    }
}

static void try_least(infer_check *c, const infer_rule *base, limits *out)
{
    static const int32_t ways[] = {ASSAY_LARGE_REFUSE, ASSAY_LARGE_ZERO, ASSAY_LARGE_LARGEST,
                                   ASSAY_LARGE_GENERATOR};
    const int hi = c->t->live_hi;
    infer_rule k = *base;
    try_limit(c, &k, true, out);
    for (int e = hi - 4; e <= MAX_E; e++) {
        k.shift_min = shift_at(base, e);
        if (!in_range(k.shift_min) || k.shift_min > k.shift_max)
            continue;
        for (int w = 0; w < 4; w++) {
            k.below_shift_min = ways[w];
            if (ways[w] != ASSAY_LARGE_GENERATOR || k.shift_min == 2)
                try_limit(c, &k, e <= hi + 1, out);
        }
    }
}

/* Keeps the rows on one side of the range alone. */
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
        try_greatest(&c, base, out);
    else
        try_least(&c, base, out);
    t->complete &= !out->cut;
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

/* A left shift of the operand may begin at an R too large to tell it from one of the product. */
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

/* The limits with which a rule agrees with every row; none if it agrees with no limits. */
static assay_status find_limits_of(infer_check *c, const infer_rule *rule, limits *small,
                                   limits *large, infer_rules *out, assay_error *err)
{
    *small = *large = (limits){.n = 0};
    assay_status s = find_side(c->t, rule, true, small, err);
    if (!s && small->n > 0)
        s = find_side(c->t, rule, false, large, err);
    if (!s && !take_limits(c, rule, small, large, out))
        s = assay_out_of_memory(err);
    return s;
}

/* Whether a search that is over has found a rule, or tried a few. */
static bool is_late(const infer_task *t, size_t tried, const infer_rules *found)
{
    enum { FEW = 20 };
    return infer_is_over(t) && (found->n > 0 || tried >= FEW);
}

assay_status infer_find_limits(infer_task *t, infer_rules *rules, assay_error *err)
{
    infer_rules out = {0};
    limits small = {.n = 0}, large = {.n = 0};
    infer_check c = {.order = NULL};
    assay_status s =
        add_left_shifts(rules) ? infer_check_open(&c, t, false, err) : assay_out_of_memory(err);
    size_t i = 0;
    /* the verdict is a class anyway where a list was cut: some rules are enough */
    const size_t max = t->complete ? MAX_BASES : MAX_BASES / 10;
    for (; i < rules->n && i < max && !s && !is_late(t, i, &out); i++)
        s = find_limits_of(&c, &rules->rule[i], &small, &large, &out, err);
    t->complete &= i == rules->n && !infer_is_over(t);
    infer_check_close(&c);
    infer_rules_free(rules);
    *rules = out;
    return s;
}

/* ---- other encodings ---- */

/* The rule with another's encoding and no limits of shifts. */
static infer_rule behind(const infer_rule *rule, const infer_rule *encoding)
{
    infer_rule k = *rule;
    infer_take_encoding(&k, encoding);
    return k;
}

static bool same_encoding(const infer_rule *a, const infer_rule *b)
{
    return a->scale == b->scale && a->encoding == b->encoding &&
           a->multiplier_bits == b->multiplier_bits && a->multiplier_round == b->multiplier_round &&
           a->multiplier_renormalise == b->multiplier_renormalise &&
           a->reduced_bits == b->reduced_bits && a->reduced_overflow == b->reduced_overflow;
}

/* The rule with each of these encodings, and the limits with which it agrees. */
static assay_status add_behind(infer_task *t, const infer_rule *rule, const infer_encodings *all,
                               infer_rules *rules, assay_error *err)
{
    assay_status s = ASSAY_OK;
    for (size_t k = 0; k < all->n && !s; k++) {
        const infer_rule twin = behind(rule, &all->item[k].rule);
        infer_rules found = {0};
        if (same_encoding(&twin, rule))
            continue;
        s = infer_rules_keep(&found, &twin) ? infer_find_limits(t, &found, err)
                                            : assay_out_of_memory(err);
        for (size_t f = 0; f < found.n && !s; f++)
            s = infer_rules_keep(rules, &found.rule[f]) ? ASSAY_OK : assay_out_of_memory(err);
        infer_rules_free(&found);
    }
    return s;
}

assay_status infer_add_twins(infer_task *t, infer_rules *rules, assay_error *err)
{
    enum { MAX_TWINS = 400 };
    const size_t n = rules->n;
    assay_status s = ASSAY_OK;
    size_t tried = 0;
    for (size_t i = 0; i < n && !s; i++) {
        const infer_rule rule = rules->rule[i];
        infer_rule like = rule;
        like.shift_min = -INFER_MAX_SHIFT;
        like.shift_max = INFER_MAX_SHIFT;
        infer_encodings all = {.like = &like};
        s = infer_find_encodings(t, false, &all, err);
        tried += all.n;
        if (all.cut || tried > MAX_TWINS)
            t->complete = false;
        else if (!s)
            s = add_behind(t, &rule, &all, rules, err);
        infer_encodings_free(&all);
    }
    return s;
}
