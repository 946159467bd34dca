/* Two causes together in one node, where no single one explains what was dumped of it. */
#ifndef ASSAY_INTERP_BLAME_PAIRS_H
#define ASSAY_INTERP_BLAME_PAIRS_H

#include "interp/blame/faults.h"

/* Whether a partial cause explains what anything might by chance. */
bool blame_is_chance(const blame_search *s, const blame_finding *f);
/* Whether it is biases that were solved for in several channels. */
bool blame_is_solved(const blame_finding *f);
/* screened.c: a cause followed by another that changes codes last (screens.h). max: how many
 * numbers the two may change. True: found, and added to the report as the faults of this row. */
bool blame_try_screens(blame_report *r, int row, const blame_search *s, int64_t max);
/* Such two, or one of the best partial causes of n findings and another, as far as the report's
 * work goes. Likewise. */
bool blame_try_two(blame_report *r, int row, blame_search *s, int64_t max,
                   const blame_finding *partial, int n);
#endif
