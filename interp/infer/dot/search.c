/* The search for a record that no row contradicts: one parameter changed, parts taken from shipped
 * units, two parameters, and some at once. */
#include <assert.h>
#include <string.h>
#include <xxhash.h>

#include "interp/infer/dot/moves.def"
#include "interp/infer/dot/task.h"

enum { UNITS = 3, SWEEPS = 4, ENDS = 4, SWAPPED = 24 };

typedef struct kit {
    size_t first, last;
} kit;

static const kit kits[] = {
#define KIT(first, last) {offsetof(assay_mac, first), offsetof(assay_mac, last)},
    INFER_DOT_KITS(KIT)
#undef KIT
};
static const kit pairs[] = {
#define PAIR(a, b) {offsetof(assay_mac, a), offsetof(assay_mac, b)},
    INFER_DOT_PAIRS(PAIR)
#undef PAIR
};
enum { N_KITS = sizeof kits / sizeof *kits, N_PAIRS = sizeof pairs / sizeof *pairs };

/* ---- moves ---- */

/* Two places of the order changed. */
static bool swap(infer_dot_task *t)
{
    const size_t n = (size_t)t->best.instruction;
    bool any = false;
    if (n < 2 || n > ASSAY_MAC_MAX_ORDER)
        return false;
    for (size_t i = 0; i < n && t->cost > 0 && !infer_dot_is_late(t); i++)
        for (size_t j = i + 1; j < n; j++) {
            assay_mac m = t->best;
            for (size_t k = 0; k < n && m.order == 0; k++)
                m.places[k] = (uint8_t)k;
            m.order = (int64_t)n;
            const uint8_t was = m.places[i];
            m.places[i] = m.places[j];
            m.places[j] = was;
            any = infer_dot_offer(t, &m) || any;
        }
    return any;
}

static bool change_one(infer_dot_task *t, const assay_mac_parameter *p)
{
    int64_t value[INFER_DOT_VALUES];
    bool any = false;
    if (p->kind == ASSAY_MAC_ORDER)
        return swap(t);
    const size_t n = infer_dot_values(t, &t->best, p, value);
    for (size_t i = 0; i < n && t->cost > 0; i++) {
        assay_mac m = t->best;
        infer_dot_set(&m, p, value[i]);
        any = infer_dot_offer(t, &m) || any;
    }
    return any;
}

/* `places`: those of the order, too. */
static bool change_any(infer_dot_task *t, bool places)
{
    size_t n;
    const assay_mac_parameter *p = mac_parameters(&n);
    bool any = false;
    for (size_t i = 0; i < n && t->cost > 0 && !infer_dot_is_late(t); i++)
        if (places || p[i].kind != ASSAY_MAC_ORDER)
            any = change_one(t, &p[i]) || any;
    return any;
}

static bool change_pair(infer_dot_task *t, const kit *pair)
{
    const assay_mac_parameter *p = infer_dot_at(pair->first), *q = infer_dot_at(pair->last);
    int64_t first[INFER_DOT_VALUES], second[INFER_DOT_VALUES];
    const size_t n = infer_dot_values(t, &t->best, p, first);
    for (size_t i = 0; i < n && !infer_dot_is_late(t); i++) {
        assay_mac m = t->best;
        infer_dot_set(&m, p, first[i]);
        const size_t k = infer_dot_values(t, &m, q, second);
        for (size_t j = 0; j < k; j++) {
            assay_mac both = m;
            infer_dot_set(&both, q, second[j]);
            if (infer_dot_offer(t, &both))
                return true;
        }
    }
    return false;
}

/* Parameters of a kit as a shipped unit has them. */
static void take(const infer_dot_task *t, assay_mac *m, const kit *k, const assay_mac *from)
{
    memcpy((char *)m + k->first, (const char *)from + k->first,
           k->last + sizeof(int64_t) - k->first);
    if (k->first <= offsetof(assay_mac, order) && k->last >= offsetof(assay_mac, order))
        memcpy(m->places, from->places, sizeof m->places);
    infer_dot_fit(t, m);
    infer_dot_set(m, infer_dot_at(k->first), *mac_member(m, infer_dot_at(k->first)));
}

/* What is left of a rung, to sort by: a larger result came earlier. */
static int64_t left_of(const infer_dot_task *t, size_t rung)
{
    const uint64_t p = t->log.answer[rung];
    const int bits = mac_layout_of((enum assay_mac_format)t->o->out)->bits;
    assert(bits >= 1 && bits <= 64);
    return p >> (bits - 1) ? 0 : (int64_t)p; /* of positive floats the patterns are in order */
}

/* Instructions of n products in the order that the ladder shows; a step: places that leave the
 * same. */
static bool change_order(infer_dot_task *t, size_t n)
{
    assay_mac m = t->best;
    for (size_t i = 0; i < n; i++) {
        size_t at = i;
        for (; at > 0 && left_of(t, m.places[at - 1]) < left_of(t, i); at--)
            m.places[at] = m.places[at - 1];
        m.places[at] = (uint8_t)i;
    }
    size_t group = 1;
    while (group < n && left_of(t, m.places[group]) == left_of(t, m.places[0]))
        group++;
    m.group = (int64_t)group;
    m.instruction = m.order = (int64_t)n;
    m.exact_group = m.chains = 1;
    m.k_order = ASSAY_MAC_ASCENDING;
    m.promote = m.scale_place == ASSAY_MAC_AT_TERM ? 0 : m.promote;
    return infer_dot_offer(t, &m);
}

static bool change_kit(infer_dot_task *t)
{
    bool any = false;
    for (const char *const *name = assay_mac_units(); *name && t->cost > 0; name++) {
        assay_mac_unit u;
        assay_error err;
        if (mac_open(*name, &u, &err) || infer_dot_is_late(t))
            continue;
        for (int i = 0; i < N_KITS; i++) {
            assay_mac m = t->best;
            take(t, &m, &kits[i], &u.record);
            m.nan = t->best.nan;
            any = infer_dot_offer(t, &m) || any;
        }
    }
    const size_t rungs = infer_dot_rungs(&t->log);
    for (size_t n = 2; n <= rungs && t->log.n >= rungs && t->cost > 0; n++)
        any = (t->log.k % n == 0 && change_order(t, n)) || any;
    return any;
}

/* From instructions of n products by swaps of two of them as far as it goes; kept where that is
 * better than `best` of that cost. The search continues from where it was. */
static void order_from(infer_dot_task *t, const assay_mac *m, assay_mac *best, double *cost)
{
    const assay_mac was = t->best;
    if (!infer_dot_takes(t, m) || *cost == 0)
        return;
    infer_dot_take(t, m);
    while (t->cost > 0 && swap(t))
        continue;
    if (t->cost < *cost) {
        *cost = t->cost;
        *best = t->best;
    }
    infer_dot_take(t, &was);
}

/* Instructions of each length in steps of each size in other orders: the best of them. */
static bool change_orders(infer_dot_task *t)
{
    assay_mac best = t->best;
    double cost = t->cost;
    for (size_t n = 2; n <= SWAPPED && n <= t->log.k; n++)
        for (size_t group = 1; group < n && t->log.k % n == 0; group++) {
            assay_mac m = t->best;
            m.group = n % group == 0 ? (int64_t)group : m.group;
            infer_dot_set(&m, infer_dot_at(offsetof(assay_mac, instruction)), (int64_t)n);
            if (m.group == (int64_t)group)
                order_from(t, &m, &best, &cost);
        }
    if (cost >= t->cost)
        return false;
    infer_dot_take(t, &best);
    return true;
}

/* Up to three parameters changed at once, and from there on what helps; the old record comes back
 * where nothing does. */
static void kick(infer_dot_task *t)
{
    const assay_mac was = t->best;
    const double cost = t->cost;
    size_t n;
    const assay_mac_parameter *p = mac_parameters(&n);
    assay_mac m = t->best;
    for (int64_t i = rows_between(&t->random, 1, 3); i > 0; i--) {
        const assay_mac_parameter *q = &p[rows_between(&t->random, 0, (int64_t)n - 1)];
        int64_t value[INFER_DOT_VALUES];
        const size_t k = q->kind == ASSAY_MAC_ORDER ? 0 : infer_dot_values(t, &m, q, value);
        if (k > 0)
            infer_dot_set(&m, q, value[rows_between(&t->random, 0, (int64_t)k - 1)]);
    }
    if (!infer_dot_takes(t, &m))
        return;
    infer_dot_take(t, &m);
    for (int sweeps = 0; sweeps < 3 && change_any(t, false) && t->cost > 0;)
        sweeps++;
    if (t->cost > cost)
        infer_dot_take(t, &was);
}

/* ---- the search ---- */

static void climb(infer_dot_task *t)
{
    bool any = true;
    while (any && t->cost > 0 && !infer_dot_is_late(t)) {
        any = change_any(t, true);
        any = (!any && change_kit(t)) || any;
        any = (!any && change_orders(t)) || any;
        for (int i = 0; i < N_PAIRS && !any && t->cost > 0; i++)
            any = change_pair(t, &pairs[i]);
    }
}

/* The shipped units that fewest rows contradict, their formats replaced where they are others. */
static void units(infer_dot_task *t, infer_dot_starts *s)
{
    for (const char *const *name = assay_mac_units(); *name; name++) {
        assay_mac_unit u;
        assay_error err;
        if (mac_open(*name, &u, &err))
            continue;
        infer_dot_fit(t, &u.record);
        if (infer_dot_takes(t, &u.record))
            infer_dot_start(s, &u.record, infer_dot_cost(t, &u.record, infer_dot_worst(s)), 0);
    }
}

static void climb_quickly(infer_dot_task *t)
{
    for (int i = 0; i < SWEEPS && t->cost > 0 && !infer_dot_is_late(t); i++)
        if (!change_any(t, false))
            break;
}

/* From m as far as it goes, by one parameter at a time alone where that is `quick`; kept where that
 * is better than the best. */
static void climb_from(infer_dot_task *t, const assay_mac *m, bool quick)
{
    const assay_mac was = t->best;
    const double cost = t->cost;
    infer_dot_take(t, m);
    if (quick)
        climb_quickly(t);
    else
        climb(t);
    if (t->cost >= cost)
        infer_dot_take(t, &was);
}

bool infer_dot_leads(infer_dot_task *t, assay_mac *m)
{
    const assay_mac was = t->best;
    infer_dot_take(t, m);
    climb_quickly(t);
    const bool agrees = !t->status && t->cost == 0;
    *m = t->best;
    infer_dot_take(t, &was);
    return agrees;
}

static void climb_from_all(infer_dot_task *t, const infer_dot_starts *s, bool quick)
{
    for (int i = 0; i < s->n && t->cost > 0 && !infer_dot_is_late(t); i++)
        climb_from(t, &s->record[i], quick);
}

/* The ends of quick climbs from these, one of each cost; the best stays as it is. */
static void lead_from_all(infer_dot_task *t, infer_dot_starts *s, infer_dot_starts *ends)
{
    bool agrees = false;
    for (int i = 0; i < s->n && !agrees && !infer_dot_is_late(t); i++) {
        agrees = infer_dot_leads(t, &s->record[i]);
        const double cost = infer_dot_cost(t, &s->record[i], 1e9);
        infer_dot_start(ends, &s->record[i], cost, XXH64(&cost, sizeof cost, 1));
    }
}

/* From nestings of m's sums as far as it goes: from all of them by one parameter at a time, then
 * from the best ends. */
static void climb_from_nestings(infer_dot_task *t, const assay_mac *m)
{
    infer_dot_starts by_rows = {.room = INFER_DOT_STARTS}, by_relations = by_rows,
                     ends = {.room = ENDS};
    if (t->cost == 0)
        return;
    infer_dot_structures(t, m, &by_rows, &by_relations);
    lead_from_all(t, &by_rows, &ends);
    if (ends.n == 0 || ends.cost[0] > 0)
        lead_from_all(t, &by_relations, &ends);
    climb_from_all(t, &ends, false);
}

/* Near records first: what one parameter at a time reaches from shipped units and from what there
 * is; then the nesting of the sums, and from there on, all else as it is or plain; then two and
 * more parameters, from the best of these and from the others. */
void infer_dot_search(infer_dot_task *t)
{
    infer_dot_starts first = {.room = UNITS};
    const assay_mac was = t->best, plain = infer_dot_plain(t);
    infer_dot_take(t, &was);
    if (t->cost > 0)
        units(t, &first);
    climb_from_all(t, &first, true);
    if (first.n > 0 && t->cost > 0)
        climb_from(t, &was, true);
    const assay_mac near = t->best;
    climb_from_nestings(t, &near);
    climb_from_nestings(t, &plain);
    climb(t);
    climb_from_all(t, &first, false);
    while (t->cost > 0 && !infer_dot_is_late(t)) {
        kick(t);
        climb(t);
    }
}
