/* A unit's dots of 16 columns at a time, for the fast engine. Its steps, one after the other, are
 * tile.h's or chain.h's; here is what brings elements into that order and what is above steps:
 * the places of an instruction, K from its end, phases with parts of the digits, chains from zero
 * and their sum, promotion and its scales, parts of K. A sum of two results is one of binary64 to
 * odd, rounded (rounded.h); where it leaves the normal numbers the column is odd. */
#ifndef ASSAY_SCHEMES_MAC_COLUMNS_H
#define ASSAY_SCHEMES_MAC_COLUMNS_H

#include "schemes/mac/chain.h"
#include "schemes/mac/tile.h"

enum { MAC_LEVELS_PARTS = 64 }; /* of K, at most */

/* A unit, and the one that does its steps alone. */
typedef struct mac_levels {
    assay_mac unit, steps;
    mac_chain_fn chain; /* NULL: the steps are a tile's */
    bool plain;         /* both are the same: elements stay where they are */
} mac_levels;

/* Whose packed elements a place has: that of K's element, -1: +0, which fills up the last
 * instruction; of a phase, the digits that it takes. */
typedef struct mac_place {
    int32_t element, phase;
} mac_place;

/* False: the unit is not computed here. isa: one that the machine has. */
bool mac_levels_of(const assay_mac *m, enum assay_isa isa, mac_levels *out);
/* How many places n elements of K take, and which. */
size_t mac_levels_length(const mac_levels *l, size_t n);
void mac_levels_places(const mac_levels *l, size_t n, mac_place *place);
/* What stands at a place: an element of A, or of B. */
mac_element mac_levels_element(const mac_levels *l, bool is_b, uint32_t pattern, int32_t phase);

/* A packed row of A and the tile of B; scales of promoted sums by block of K, [blocks] and
 * [blocks][MAC_TILE], where the unit has those. */
typedef struct mac_columns {
    const mac_levels *levels;
    mac_tile b; /* of `steps` */
    const float *a;
    const int32_t *a_exponent, *a_scale;
    const float *promoted_a, *promoted_b;
} mac_columns;

/* y[j] = the dot of places first to last, all of a run of K; odd[j]: not to be used; stays so. */
void mac_columns_run(const mac_columns *c, size_t first, size_t last, float y[MAC_TILE],
                     bool odd[MAC_TILE]);

#endif
