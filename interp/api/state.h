/* State that a network takes and returns, given by names. */
#ifndef ASSAY_INTERP_API_STATE_H
#define ASSAY_INTERP_API_STATE_H

#include "graph/core/graph.h"

/* n texts, "PAST=PRESENT,...": outputs of a step that are inputs of the next. A star in both names
 * stands for the same text, for every input that fits. ASSAY_ERR_INPUT: unknown names. */
assay_status assay_states_link(assay_graph *g, const char *const *text, size_t n, assay_error *err);

#endif
