/* Places of the elements of K for the fast forms, and which units these compute; columns.h. */
#include "schemes/mac/columns.h"

/* ---- which units ---- */

/* The unit's steps in order of their places, each an instruction of its own, from +0. */
static assay_mac steps_of(const assay_mac *m)
{
    assay_mac s = *m;
    if (s.group == 0)
        s.group = s.instruction;
    s.instruction = s.order = s.promote = s.scale_block = 0;
    s.k_order = ASSAY_MAC_ASCENDING;
    s.start = ASSAY_MAC_START_ACC;
    s.chains = s.phases = s.split_k = 1;
    s.a_digits = s.b_digits = ASSAY_MAC_NONE;
    return s;
}

/* Block scales are left, but for those of promoted sums in order. */
static bool are_levels(const assay_mac *m)
{
    const bool digits = m->a_digits != ASSAY_MAC_NONE || m->b_digits != ASSAY_MAC_NONE;
    const assay_mac steps = steps_of(m);
    return m->split_k <= MAC_LEVELS_PARTS &&
           (m->scale_block == 0 ||
            (m->scale_place == ASSAY_MAC_PROMOTED && m->k_order == ASSAY_MAC_ASCENDING)) &&
           (!digits || (mac_chain_takes(&steps) && (m->phases == 1 || steps.group > 0)));
}

bool mac_levels_of(const assay_mac *m, enum assay_isa isa, mac_levels *out)
{
    *out = (mac_levels){.unit = *m, .steps = *m, .plain = true};
    if (!mac_tile_takes(m) && !mac_chain_takes(m)) {
        if (!are_levels(m))
            return false;
        out->steps = steps_of(m);
        out->plain = false;
    }
    const bool tile = mac_tile_takes(&out->steps), chain = mac_chain_takes(&out->steps);
    out->chain = chain ? mac_chain_choose(isa) : NULL;
    return tile || chain;
}

mac_element mac_levels_element(const mac_levels *l, bool is_b, uint32_t pattern, int32_t phase)
{
    const assay_mac *m = &l->unit;
    const int64_t format = is_b ? m->b : m->a;
    if (!l->chain)
        return mac_tile_element(&l->steps, format, pattern);
    return (mac_element){
        .value = is_b ? mac_chain_number(m, format, m->b_digits, phase > 1, pattern)
                      : mac_chain_number(m, format, m->a_digits, (phase & 1) != 0, pattern)};
}

/* ---- places ---- */

static size_t filled(const mac_levels *l, size_t n)
{
    const size_t multiple = mac_multiple(&l->unit);
    return (n + multiple - 1) / multiple * multiple;
}

size_t mac_levels_length(const mac_levels *l, size_t n)
{
    return l->plain ? n : filled(l, n) * (size_t)l->unit.phases;
}

/* One step of an instruction over `each` elements from `base` on, in every phase. */
static mac_place *step_places(const mac_levels *l, size_t n, size_t base, size_t at, size_t group,
                              mac_place *place)
{
    const assay_mac *m = &l->unit;
    for (int32_t phase = 0; phase < m->phases; phase++)
        for (size_t i = at; i < at + group; i++) {
            const size_t k = base + (m->order > 0 ? m->places[i] : i),
                         element = m->k_order == ASSAY_MAC_DESCENDING ? filled(l, n) - 1 - k : k;
            *place++ = (mac_place){element < n ? (int32_t)element : -1, phase};
        }
    return place;
}

void mac_levels_places(const mac_levels *l, size_t n, mac_place *place)
{
    const assay_mac *m = &l->unit;
    for (size_t i = 0; i < n && l->plain; i++)
        place[i] = (mac_place){(int32_t)i, 0};
    if (l->plain)
        return;
    const size_t part = m->promote > 0 ? (size_t)m->promote : filled(l, n) / (size_t)m->split_k,
                 each = m->instruction > 0 ? (size_t)m->instruction : part,
                 group = m->group > 0 ? (size_t)m->group : each, chains = (size_t)m->chains;
    for (size_t base = 0; base < filled(l, n); base += each)
        for (size_t chain = 0; chain < chains; chain++)
            for (size_t at = chain * group; at < each; at += chains * group)
                place = step_places(l, n, base, at, group, place);
}
