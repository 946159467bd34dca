/* Contradictions between the parameters of a unit. */
#include <string.h>

#include "schemes/mac/parameters.h"

static const assay_mac_layout *layout(int64_t f)
{
    return mac_layout_of((enum assay_mac_format)f);
}

static bool is_result(int64_t f)
{
    return layout(f)->specials == ASSAY_MAC_IEEE && layout(f)->bits > 8 && f != ASSAY_MAC_TF32;
}

static bool is_scale(int64_t f)
{
    return f == ASSAY_MAC_E8M0 || f == ASSAY_MAC_UE4M3;
}

static const char *of_formats(const assay_mac *m)
{
    const assay_mac_layout *acc = layout(m->acc), *out = layout(m->out);
    if (is_scale(m->a) || is_scale(m->b))
        return "e8m0 and ue4m3 are formats of scales; a and b take others";
    if (!is_result(m->acc) || !is_result(m->out))
        return "acc and out take f64, f32, f16 or bf16";
    if (acc->exponent_bits > out->exponent_bits || acc->fraction_bits > out->fraction_bits)
        return "out does not hold every number of acc";
    if (m->out_frac > out->fraction_bits)
        return "out_frac is more than the fraction bits of out";
    if (out->bits < 64 && (uint64_t)m->nan >> out->bits != 0)
        return "nan is wider than out";
    if (mac_decode((enum assay_mac_format)m->out, (uint64_t)m->nan).kind != ASSAY_MAC_NAN)
        return "nan is the pattern of a number in out, not of a NaN";
    return NULL;
}

static const char *of_order(const assay_mac *m)
{
    if (m->order > 0 && m->order != m->instruction)
        return "order does not have one place per product of an instruction";
    if (m->instruction > 0 && m->group > 0 && m->instruction % m->group != 0)
        return "instruction is not a multiple of group";
    if (m->chains > 1 && m->start != ASSAY_MAC_START_ZERO)
        return "several chains start from zero (start: zero)";
    if (m->phases > 1 && (m->a_digits == ASSAY_MAC_NONE || m->b_digits == ASSAY_MAC_NONE))
        return "phases need a_digits and b_digits";
    return NULL;
}

static const char *of_sums(const assay_mac *m)
{
    const bool aside = m->accumulator == ASSAY_MAC_ACC_ALIGNED,
               cut = m->align_bits != ASSAY_MAC_NONE;
    if (m->sum == ASSAY_MAC_PAIRS && m->accumulator != ASSAY_MAC_ACC_AFTER)
        return "sum: pairs needs accumulator: after";
    if (m->sum == ASSAY_MAC_PAIRS && (cut || m->lanes > 1))
        return "sum: pairs has neither align_bits nor lanes";
    if (m->lanes > 1 && (!cut || m->accumulator == ASSAY_MAC_ACC_JOINED))
        return "lanes need align_bits and an accumulator that is not joined";
    if (aside &&
        (!cut || m->sum_align_bits == ASSAY_MAC_NONE || m->acc_align_bits == ASSAY_MAC_NONE))
        return "accumulator: aligned needs align_bits, sum_align_bits and acc_align_bits";
    return NULL;
}

/* Whether the products of every exact group share their scales, wherever an instruction begins. */
static bool share_scales(const assay_mac *m)
{
    for (int64_t base = 0; base == 0 || base % m->scale_block != 0; base += m->instruction)
        for (int64_t i = 0; i < m->order; i++) {
            const int64_t head = i - i % m->exact_group;
            if ((base + m->places[i]) / m->scale_block != (base + m->places[head]) / m->scale_block)
                return false;
        }
    return true;
}

static const char *of_scales(const assay_mac *m)
{
    const bool promoted = m->scale_place == ASSAY_MAC_PROMOTED;
    if (!is_scale(m->scale) && !(m->scale == ASSAY_MAC_F32 && promoted))
        return "scale takes e8m0 or ue4m3, and f32 where scale_place is promoted";
    if (promoted && (m->promote == 0 || m->scale_block == 0 || m->scale_block % m->promote != 0))
        return "scale_place: promoted needs a promote that divides scale_block";
    if (m->exact_group > 1 && (layout(m->a)->bits > 8 || layout(m->b)->bits > 8))
        return "exact_group takes elements of at most 8 bits";
    if (m->group % m->exact_group != 0 || m->instruction % m->exact_group != 0 ||
        m->scale_block % m->exact_group != 0 || m->promote % m->exact_group != 0)
        return "exact_group divides group, instruction, scale_block and promote";
    if (m->order > 0 && m->scale_block > 0 && !promoted && !share_scales(m))
        return "order puts products under different scales into one exact_group";
    const int64_t unit = m->instruction > 0 ? m->instruction : m->group;
    if (m->promote > 0 && unit > 0 && m->promote % unit != 0)
        return "promote is not a multiple of instruction";
    return NULL;
}

static bool mac_has_subnormals(int64_t f)
{
    return layout(f)->exponent_bits > 0;
}

/* Parameters that not every record uses. */
typedef struct need {
    size_t offset;
    bool (*is_met)(const assay_mac *m);
    const char *why;
} need;

#define NEED(name, condition, words)                                                               \
    static bool reads_##name(const assay_mac *m)                                                   \
    {                                                                                              \
        return condition;                                                                          \
    }
ASSAY_MAC_NEEDS(NEED)
#undef NEED
static const need needs[] = {
#define NEED(name, condition, words)                                                               \
    {offsetof(assay_mac, name), reads_##name, #name " needs " words},
    ASSAY_MAC_NEEDS(NEED)
#undef NEED
};
enum { N_NEEDS = sizeof needs / sizeof *needs };

/* Whether the parameter at this offset is at its default; `usual` has the defaults. */
static bool is_usual(const assay_mac *m, const assay_mac *usual, size_t offset)
{
    return memcmp((const char *)m + offset, (const char *)usual + offset, sizeof(int64_t)) == 0;
}

static const char *of_needs(const assay_mac *m)
{
    const assay_mac usual = mac_defaults();
    for (int i = 0; i < N_NEEDS; i++)
        if (!needs[i].is_met(m) && !is_usual(m, &usual, needs[i].offset))
            return needs[i].why;
    return NULL;
}

void mac_drop_unread(assay_mac *m)
{
    const assay_mac usual = mac_defaults();
    for (int i = 0; i < N_NEEDS; i++)
        if (!needs[i].is_met(m))
            memcpy((char *)m + needs[i].offset, (const char *)&usual + needs[i].offset,
                   sizeof(int64_t));
}

const char *mac_contradiction(const assay_mac *m)
{
    const char *(*const all[])(const assay_mac *) = {of_formats, of_order, of_sums, of_scales,
                                                     of_needs};
    const char *why = NULL;
    for (int i = 0; i < 5 && !why; i++)
        why = all[i](m);
    return why;
}
