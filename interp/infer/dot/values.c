/* Values of a unit's parameters, and records that a value makes; see task.h. */
#include <string.h>

#include "interp/infer/dot/task.h"

#define OF(name) offsetof(assay_mac, name)
#define NONE     ASSAY_MAC_NONE

bool infer_dot_takes(const infer_dot_task *t, const assay_mac *m)
{
    return !mac_contradiction(m) && t->o->k % mac_multiple(m) == 0;
}

const assay_mac_parameter *infer_dot_at(size_t offset)
{
    size_t n;
    const assay_mac_parameter *p = mac_parameters(&n);
    while (p->offset != offset)
        p++;
    return p;
}

bool infer_dot_is_given(const assay_mac_parameter *p)
{
    return p->kind == ASSAY_MAC_FORMAT || p->offset == OF(scale_block);
}

/* ---- values ---- */

typedef struct list {
    int64_t *value;
    size_t n;
} list;

static void add(list *l, int64_t v)
{
    if (l->n < INFER_DOT_VALUES)
        l->value[l->n++] = v;
}

static void add_divisors(list *l, int64_t n, int64_t max)
{
    for (int64_t d = 1; d <= n && d <= max; d++)
        if (n % d == 0)
            add(l, d);
}

static void add_multiples(list *l, int64_t unit, int64_t n)
{
    add(l, 0);
    for (int64_t d = unit > 0 ? unit : 1; d <= n; d += unit > 0 ? unit : 1)
        if (n % d == 0)
            add(l, d);
}

static void add_range(list *l, int64_t lo, int64_t hi)
{
    for (int64_t v = lo; v <= hi; v++)
        add(l, v);
}

/* Of a wide range some, more of them around what there is. */
static void add_wide(list *l, const assay_mac_parameter *p, int64_t now)
{
    const int64_t middle = now == NONE ? 0 : now;
    for (int64_t v = -320; v <= 320; v += 8)
        add(l, v);
    for (int64_t step = 1; step <= 2048; step *= 2)
        for (int64_t v = middle - step; v <= middle + step; v += 2 * step)
            if (v >= p->min && v <= p->max)
                add(l, v);
}

static int digits_of(int64_t format)
{
    return mac_layout_of((enum assay_mac_format)format)->fraction_bits + 1;
}

/* The parameters whose values follow from the row or from the others. */
static bool add_own(const infer_dot_task *t, const assay_mac *m, size_t offset, list *l)
{
    const int64_t k = (int64_t)t->o->k, unit = m->instruction > 0 ? m->instruction : m->group;
    if (offset == OF(instruction)) {
        add(l, 0);
        add_divisors(l, k, 4096);
    } else if (offset == OF(group) || offset == OF(split_k)) {
        add_divisors(l, k, 4096);
    } else if (offset == OF(exact_group)) {
        add_divisors(l, m->group > 0 ? m->group : k, 64);
    } else if (offset == OF(chains)) {
        const int64_t steps =
            (m->instruction > 0 ? m->instruction : k) / (m->group > 0 ? m->group : k);
        add_range(l, 1, steps < 64 ? steps : 64);
    } else if (offset == OF(lanes)) {
        const int64_t terms = (m->group > 0 ? m->group : k) / m->exact_group;
        add_range(l, 1, terms < 64 ? terms : 64);
    } else if (offset == OF(promote)) {
        add_multiples(l, unit, k);
    } else if (offset == OF(a_digits) || offset == OF(b_digits)) {
        add(l, NONE);
        add_range(l, 1, digits_of(offset == OF(a_digits) ? m->a : m->b));
    } else if (offset == OF(out_frac)) {
        add_range(l, 0, digits_of(m->out) - 2);
    } else if (offset == OF(nan)) {
        for (int i = 0; i < t->n_nans; i++)
            add(l, (int64_t)t->nan[i]);
    } else {
        return offset == OF(order);
    }
    return true;
}

size_t infer_dot_values(const infer_dot_task *t, const assay_mac *m, const assay_mac_parameter *p,
                        int64_t out[INFER_DOT_VALUES])
{
    assay_mac copy = *m;
    list l = {out, 0};
    if (infer_dot_is_given(p) || add_own(t, m, p->offset, &l))
        return l.n;
    if (p->kind == ASSAY_MAC_INT_OR_NONE || p->kind == ASSAY_MAC_MODE_OR_NONE)
        add(&l, NONE);
    if (p->kind == ASSAY_MAC_MODE || p->kind == ASSAY_MAC_MODE_OR_NONE)
        add_range(&l, 0, ASSAY_ROUND_COUNT - 1);
    else if (p->kind != ASSAY_MAC_INT_OR_NONE && p->kind != ASSAY_MAC_INT)
        add_range(&l, 0, mac_choices(p) - 1);
    else if (p->max - p->min > 100)
        add_wide(&l, p, *mac_member(&copy, p));
    else
        add_range(&l, p->min, p->max);
    return l.n;
}

/* ---- what a value brings with it ---- */

static int64_t common(int64_t a, int64_t b)
{
    while (b != 0) {
        const int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static void adjust_sum(assay_mac *m, size_t changed)
{
    const bool aside =
        changed == OF(sum_align_bits) || changed == OF(acc_align_bits) || changed == OF(acc_drop);
    if (aside)
        m->accumulator = ASSAY_MAC_ACC_ALIGNED;
    if (changed == OF(sum) && m->sum == ASSAY_MAC_PAIRS) {
        m->accumulator = ASSAY_MAC_ACC_AFTER;
        m->align_bits = NONE;
    }
    if (changed == OF(accumulator) && m->accumulator == ASSAY_MAC_ACC_JOINED)
        m->lanes = 1;
    if (changed == OF(lanes) && m->lanes > 1 && m->accumulator == ASSAY_MAC_ACC_JOINED)
        m->accumulator = ASSAY_MAC_ACC_AFTER;
    if (changed == OF(align_bits) && m->align_bits == NONE) {
        m->lanes = 1;
        if (m->accumulator == ASSAY_MAC_ACC_ALIGNED)
            m->accumulator = ASSAY_MAC_ACC_AFTER;
    }
    if ((m->accumulator == ASSAY_MAC_ACC_ALIGNED || m->lanes > 1) && m->align_bits == NONE &&
        m->sum != ASSAY_MAC_PAIRS)
        m->align_bits = 24;
    if (m->accumulator != ASSAY_MAC_ACC_AFTER || m->align_bits != NONE)
        m->sum = ASSAY_MAC_ALIGNED;
    if (m->sum == ASSAY_MAC_PAIRS)
        m->lanes = 1;
    if (m->accumulator != ASSAY_MAC_ACC_ALIGNED) {
        m->sum_align_bits = m->acc_align_bits = m->acc_drop = NONE;
        return;
    }
    m->sum_align_bits = m->sum_align_bits == NONE ? m->align_bits : m->sum_align_bits;
    m->acc_align_bits = m->acc_align_bits == NONE ? m->align_bits : m->acc_align_bits;
}

static void adjust_tree(assay_mac *m, size_t changed)
{
    if (changed == OF(group) && m->instruction > 0 && m->instruction % m->group != 0)
        m->instruction = 0;
    if (m->instruction > 0 && (m->group == 0 || m->instruction % m->group != 0))
        m->group = common(m->instruction, m->group);
    if (m->order != m->instruction)
        m->order = 0;
    m->exact_group =
        common(common(m->exact_group, m->group), common(m->instruction, m->scale_block));
    if (changed == OF(chains) && m->chains > 1)
        m->start = ASSAY_MAC_START_ZERO;
    if (m->start == ASSAY_MAC_START_ACC)
        m->chains = 1;
    const int64_t unit = m->instruction > 0 ? m->instruction : m->group;
    if (unit > 0 && m->promote % unit != 0 && m->scale_place == ASSAY_MAC_AT_TERM)
        m->promote = 0;
}

static void adjust_digits(assay_mac *m, size_t changed)
{
    if (changed != OF(phases) && (m->a_digits == NONE || m->b_digits == NONE))
        m->phases = 1;
    if (m->phases == 1)
        return;
    m->a_digits = m->a_digits == NONE ? (digits_of(m->a) + 1) / 2 : m->a_digits;
    m->b_digits = m->b_digits == NONE ? (digits_of(m->b) + 1) / 2 : m->b_digits;
}

void infer_dot_set(assay_mac *m, const assay_mac_parameter *p, int64_t value)
{
    *mac_member(m, p) = value;
    adjust_sum(m, p->offset);
    adjust_tree(m, p->offset);
    adjust_digits(m, p->offset);
    mac_drop_unread(m);
}

void infer_dot_fit(const infer_dot_task *t, assay_mac *m)
{
    const infer_dot_options *o = t->o;
    const assay_mac_layout *out = mac_layout_of((enum assay_mac_format)o->out);
    /* the quiet one of fewest digits, of IEEE formats */
    const uint64_t nan = (((uint64_t)1 << (out->exponent_bits + 1)) - 1) << out->fraction_bits >> 1;
    m->a = o->a;
    m->b = o->b;
    m->acc = o->acc;
    m->out = o->out;
    m->scale = o->scale;
    m->scale_block = (int64_t)o->scale_block;
    if (o->scale_block == 0 || o->scale != ASSAY_MAC_F32)
        m->scale_place = ASSAY_MAC_AT_TERM;
    if (o->scale_block > 0 && o->scale == ASSAY_MAC_F32) {
        m->scale_place = ASSAY_MAC_PROMOTED;
        m->promote = m->promote > 0 ? common(m->promote, m->scale_block) : m->scale_block;
    }
    if (mac_layout_of((enum assay_mac_format)m->a)->bits > 8 ||
        mac_layout_of((enum assay_mac_format)m->b)->bits > 8)
        m->exact_group = 1;
    m->out_frac = m->out_frac > out->fraction_bits ? 0 : m->out_frac;
    m->nan = (int64_t)(t->n_nans > 0 ? t->nan[0] : nan);
    adjust_tree(m, 0);
    mac_drop_unread(m);
}

assay_mac infer_dot_plain(const infer_dot_task *t)
{
    assay_mac m = mac_defaults();
    m.group = t->o->scale_block > 0 ? (int64_t)t->o->scale_block : (int64_t)t->o->k;
    infer_dot_fit(t, &m);
    return m;
}
