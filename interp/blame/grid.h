/* All inputs of a node whose output is a function of one or two codes, or of their sum. */
#ifndef ASSAY_INTERP_BLAME_GRID_H
#define ASSAY_INTERP_BLAME_GRID_H

#include "interp/blame/search.h"

/* Writes which input distinguishes the explanations a and b of the node, or that none does: every
 * code of ops on one operand, every pair of those on two, every product of a matrix product (of one
 * element), every sum of a pool's window. Nothing where the node is none of these, or an
 * explanation is not an edit. */
void blame_grid_say(blame_search *s, const blame_finding *a, const blame_finding *b, char *text,
                    size_t size);
#endif
