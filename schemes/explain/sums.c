/* The accumulator in words; see explain.h. */
#include <assert.h>

#include "schemes/explain/explain.h"
#include "schemes/round.h"

static void steps(FILE *f, const assay_rule_accumulator *a)
{
    fprintf(f, "  Products are added ");
    if (a->order == ASSAY_ORDER_LANES)
        fprintf(f, "in %d lanes (product i to lane i %% %d), the lanes in order at the end",
                a->lanes, a->lanes);
    else
        fprintf(f, "in %s order", a->order == ASSAY_ORDER_REVERSE ? "reverse" : "memory's");
    if (a->block > 1)
        fprintf(f, ", %d summed exactly before each step", a->block);
    fprintf(f, "; the bias %s.\n",
            a->bias == ASSAY_BIAS_FIRST ? "starts the sum" : "is added last");
}

static void blocks(FILE *f, const assay_rule_blocks *k)
{
    const char *wraps = k->sum_overflow == ASSAY_STORE_WRAP ? "wraps" : "saturates";
    assert(k->multiplier_bits >= 1 && k->multiplier_bits <= 16);
    fprintf(f,
            "  Weights per block: a block's sum is multiplied by m, its scale over the channel's "
            "unit,\n  rounded %s to %d bits",
            assay_rounding_name((enum assay_rounding)k->multiplier_round), k->multiplier_bits);
    if (k->unit == ASSAY_BLOCK_UNIT_LARGEST)
        fprintf(f, "; the unit is the largest scale / %d.\n", (1 << k->multiplier_bits) - 1);
    else
        fprintf(f, "; the unit is the power of two by which the largest m has all of them.\n");
    if (k->sum_bits > 0)
        fprintf(f, "  A block's sum %s to %d bits first.\n", wraps, k->sum_bits);
    if (k->shift > 0)
        fprintf(f, "  sum * m is shifted right by %d, rounded %s; then it is one step.\n", k->shift,
                assay_rounding_name((enum assay_rounding)k->round));
    else
        fprintf(f, "  sum * m is one step into the accumulator.\n");
}

void assay_explain_sums(FILE *f, const assay_record *rec)
{
    static const char *const how[] = {
        [ASSAY_OVERFLOW_WRAP] = "wraps",
        [ASSAY_OVERFLOW_SATURATE_EACH] = "saturates after each step",
        [ASSAY_OVERFLOW_SATURATE_END] = "saturates at the end",
        [ASSAY_OVERFLOW_TRAP] = "beyond which is an error",
    };
    const assay_rule_accumulator *a = &rec->accumulator;
    fprintf(f, "  %d bits, %s.\n", a->bits, how[a->overflow]);
    if (a->overflow == ASSAY_OVERFLOW_SATURATE_EACH || a->overflow == ASSAY_OVERFLOW_TRAP)
        steps(f, a);
    if (a->saturate_pairs)
        fprintf(f,
                "  Products of unsigned 8-bit inputs and signed weights are added in pairs%s that "
                "saturate to int16.\n",
                a->pair_channels ? " of channels" : "");
    if (rec->blocks.kind != ASSAY_BLOCK_NONE)
        blocks(f, &rec->blocks);
}
