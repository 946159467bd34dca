/* Small domains and rules; see worlds.h. */
#include "test/infer/worlds.h"

#include <string.h>

#include "graph/core/type.h"

void world_make(world *w, assay_elem type, int acc_bits, int64_t m_lo, int64_t m_hi, int32_t s_lo,
                int32_t s_hi)
{
    memset(w, 0, sizeof *w);
    w->o = (infer_options){.kind = INFER_MULTIPLIER, .type = type, .acc_bits = acc_bits};
    w->t.o = &w->o;
    w->e.t = &w->t;
    w->t.multiplier_lo = w->e.multiplier_lo = m_lo;
    w->t.multiplier_hi = w->e.multiplier_hi = m_hi;
    w->t.shift_lo = w->e.shift_lo = s_lo;
    w->t.shift_hi = w->e.shift_hi = s_hi;
}

static void print_rule(const char *what, const infer_rule *k)
{
    print_message("# %s: m %d reduced %d/%d pre %d %d/%d operand %d left %d product %d result "
                  "%d/%d zp %d sum %d/%d store %d input %d/%d round",
                  what, k->multiplier_bits, k->reduced_bits, k->reduced_overflow, k->pre_shift,
                  k->pre_shift_bits, k->pre_shift_round, k->operand_bits, k->left_shift,
                  k->product_bits, k->result_bits, k->result_overflow, k->zero_point, k->sum_bits,
                  k->sum_overflow, k->store, k->input_bits, k->input_shift_range);
    for (int i = 0; i < k->round.n; i++)
        print_message(" %d:%d", k->round.step[i].bits, k->round.step[i].mode);
    print_message("\n");
}

static void compare_row(const infer_rule *a, const infer_rule *b, const naive_row *g)
{
    const int64_t x = naive_code(a, g), y = naive_code(b, g);
    if (x == y)
        return;
    print_rule("one", a);
    print_rule("other", b);
    fail_msg("acc %lld zp %lld m %lld shift %lld: %lld and %lld", (long long)g->acc,
             (long long)g->zp, (long long)g->multiplier, (long long)g->shift, (long long)x,
             (long long)y);
}

/* On every row without bounds, and with some. */
void world_compare(const world *w, const infer_rule *a, const infer_rule *b)
{
    const int64_t max = INT64_C(1) << (w->o.acc_bits - 1), lo = assay_elem_min(w->o.type),
                  hi = assay_elem_max(w->o.type);
    naive_row g = {.type = w->o.type};
    for (g.shift = w->e.shift_lo; g.shift <= w->e.shift_hi; g.shift++)
        for (g.multiplier = w->e.multiplier_lo; g.multiplier <= w->e.multiplier_hi; g.multiplier++)
            for (g.zp = lo; g.zp <= hi; g.zp++)
                for (g.acc = -max; g.acc < max; g.acc++) {
                    g.bounded = false;
                    compare_row(a, b, &g);
                    g.bounded = true;
                    g.lo = lo + (g.acc & 1);
                    g.hi = hi - (g.acc >> 1 & 1);
                    if (g.lo <= g.hi)
                        compare_row(a, b, &g);
                }
}

infer_rule world_plain(void)
{
    infer_rule k;
    infer_plain_rule(&k);
    return k;
}

const assay_elem world_types[WORLD_TYPES] = {{ASSAY_KIND_INT, 2, true},  {ASSAY_KIND_INT, 3, true},
                                             {ASSAY_KIND_INT, 4, true},  {ASSAY_KIND_INT, 2, false},
                                             {ASSAY_KIND_INT, 3, false}, {ASSAY_KIND_INT, 4, false},
                                             {ASSAY_KIND_INT, 1, false}};

int32_t world_some(test_rng *r, int64_t lo, int64_t hi)
{
    return (int32_t)test_between(r, lo, hi);
}

static int32_t field(test_rng *r, int64_t hi)
{
    return test_between(r, 0, 1) ? world_some(r, 1, hi) : 0;
}

void world_steps(test_rng *r, infer_rule *k, int64_t max)
{
    k->round.n = k->pre_shift == ASSAY_PRE_REST ? 1 : world_some(r, 1, 3);
    for (int i = 0; i < k->round.n; i++) {
        const bool bits = i < k->round.n - 1 || k->pre_shift == ASSAY_PRE_REST;
        k->round.step[i].bits = bits ? world_some(r, 1, max) : 0;
        k->round.step[i].mode = world_some(r, 0, ASSAY_ROUND_COUNT - 1);
    }
}

infer_rule world_rule(test_rng *r, int32_t multiplier_bits)
{
    infer_rule k = world_plain();
    k.multiplier_bits = multiplier_bits;
    k.reduced_bits = multiplier_bits > 1 && test_between(r, 0, 2) == 0
                         ? world_some(r, 1, multiplier_bits - 1)
                         : 0;
    k.reduced_overflow = world_some(r, 0, 1) ? ASSAY_REDUCED_CAP : ASSAY_REDUCED_RENORMALISE;
    k.pre_shift = world_some(r, 0, 2);
    k.pre_shift_bits = k.pre_shift == ASSAY_PRE_FIXED ? world_some(r, 1, 4) : 0;
    k.pre_shift_round =
        k.pre_shift == ASSAY_PRE_NONE ? k.pre_shift_round : world_some(r, 0, ASSAY_ROUND_COUNT - 1);
    k.operand_bits = field(r, 6);
    k.left_shift = world_some(r, 0, 2);
    k.product_bits = field(r, 10);
    world_steps(r, &k, 5);
    k.result_bits = field(r, 8);
    k.result_overflow = world_some(r, 0, 2);
    k.zero_point = world_some(r, 0, 1) ? ASSAY_STAGE_AFTER : ASSAY_STAGE_BEFORE;
    k.sum_bits = k.zero_point == ASSAY_STAGE_AFTER ? field(r, 6) : 0;
    k.sum_overflow = world_some(r, 0, 2);
    k.store = world_some(r, 0, 1);
    k.input_bits = test_between(r, 0, 3) ? 0 : world_some(r, 1, 6);
    k.input_shift_range = test_between(r, 0, 3) == 0;
    return k;
}
