/* From channels first to channels last. */
#ifndef ASSAY_GRAPH_TFLITE_CHANNELS_LAST_H
#define ASSAY_GRAPH_TFLITE_CHANNELS_LAST_H

#include "graph/graph.h"

/* A graph that computes what g does with every image op (4 dimensions) on channels last: *out, or
 * NULL when g has no such op with channels first. Inputs and outputs keep names and shapes. A value
 * between has its name and its elements, in another order: [N,C,H,W] becomes [N,H,W,C]. Where
 * both orders are needed, the second is NAME:first or NAME:last. Constants of g are borrowed. */
assay_status assay_channels_last(const assay_graph *g, assay_graph **out, assay_error *err);

#endif
