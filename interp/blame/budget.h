/* The work that the search for two causes may take, in steps of four multiplications: the same on
 * every machine, whatever else it does. */
#ifndef ASSAY_INTERP_BLAME_BUDGET_H
#define ASSAY_INTERP_BLAME_BUDGET_H

#include "interp/blame/search.h"

/* Of the first node; all of a run together have four times that, and each a quarter of what is
 * left. Single causes are not counted: all are tried. */
enum { BLAME_SHARES = 4 };

/* Whether there is work left for one more hypothesis; if not, one is left out. */
bool blame_afford(const blame_search *s);
/* What was run is spent: an edited node, nodes behind it, and n codes that were changed. */
void blame_spend_case(const blame_search *s, const blame_case *c);
void blame_spend_node(const blame_search *s, int node);
void blame_spend_codes(const blame_search *s, int64_t n);
#endif
