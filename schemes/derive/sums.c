/* Rules by which a prepared unit of a parameter record adds up products; see sums.h. */
#include "schemes/derive/sums.h"

#include <string.h>

#include "schemes/apply/unit.h"

int derive_unit_sum_bits(const assay_unit *u)
{
    return u->rec.accumulator.bits;
}

bool derive_unit_saturates_pairs(const assay_unit *u)
{
    return u->rec.accumulator.saturate_pairs;
}

bool derive_unit_adds_alike(const assay_unit *a, const assay_unit *b)
{
    return memcmp(&a->rec.accumulator, &b->rec.accumulator, sizeof a->rec.accumulator) == 0;
}

size_t derive_unit_forms(const assay_unit *u)
{
    return u->scale[ASSAY_OUT].n;
}
