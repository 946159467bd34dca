/* State of a network that takes it as inputs and returns it as outputs. */
#ifndef ASSAY_GRAPH_CORE_STATE_H
#define ASSAY_GRAPH_CORE_STATE_H

#include "graph/core/graph.h"

/* The output `present` of a run is the input `past` of the next, which begins with zeros: a
 * variable. ASSAY_ERR_INPUT when there are none of that name, ASSAY_ERR_UNSUPPORTED when their
 * types differ. */
assay_status assay_graph_link_state(assay_graph *g, const char *past, const char *present,
                                    assay_error *err);

#endif
