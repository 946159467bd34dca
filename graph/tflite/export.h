/* Export of TFLite models. */
#ifndef ASSAY_GRAPH_TFLITE_EXPORT_H
#define ASSAY_GRAPH_TFLITE_EXPORT_H

#include <stddef.h>

#include "graph/core/graph.h"

/* Serializes g; *bytes is malloc'ed. Values keep names, types and parameters; what an operator
 * needs beside them (padded inputs, clamped outputs, shapes as constants) is NAME:what. A network
 * with channels first is written with channels last (graph/layout/layout.h): the codes are the
 * same, in another order between the layers; inputs and outputs keep their shapes by transposes.
 *
 * ASSAY_ERR_UNSUPPORTED lists every node that TFLite has no operator for, a line each. */
assay_status tfl_export_graph(const assay_graph *g, unsigned char **bytes, size_t *length,
                              assay_error *err);

#endif
