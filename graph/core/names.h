/* Index of values by name: a hash table inside the graph. For the files of graph/ only. */
#ifndef ASSAY_GRAPH_NAMES_H
#define ASSAY_GRAPH_NAMES_H

#include "graph/core/graph.h"

/* Adds value `id` under its name, which must be new. */
assay_status assay_names_add(assay_graph *g, int id, assay_error *err);
/* Adds all values again after their indices changed. Needs no memory when the graph shrank. */
assay_status assay_names_rebuild(assay_graph *g, assay_error *err);

#endif
