/* Rounding modes by what they do, asked of the rules of schemes/round.def: the search names none of
 * them, so that a mode that is added there is searched. */
#ifndef ASSAY_INTERP_INFER_MODES_H
#define ASSAY_INTERP_INFER_MODES_H

#include "schemes/round.h"

typedef struct infer_modes {
    int32_t mode[ASSAY_ROUND_COUNT];
    int n;
} infer_modes;

/* The modes of magnitudes. Of those that do the same to numbers that are not negative there is one:
 * that which treats both signs alike or, where none does, the first. */
infer_modes infer_magnitude_modes(void);

/* The first mode that does the same to numbers that are not negative. */
int32_t infer_mode_of_positives(int32_t mode);
/* The first mode that does the same to a single bit, where only halves are rounded. */
int32_t infer_mode_of_halves(int32_t mode);
/* Whether every number becomes the nearest integer, or at a tie one of the two. */
bool infer_is_nearest_mode(int32_t mode);
/* Whether numbers that differ by an even integer still do after rounding, whatever their signs. */
bool infer_is_periodic_mode(int32_t mode);
/* Whether the greatest magnitude below a power of two that is not 1 becomes that power. tie: it is
 * half below; else it is almost there. one: the power is 1. */
bool infer_mode_reaches(int32_t mode, bool tie, bool one);

#endif
