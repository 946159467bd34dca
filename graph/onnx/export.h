/* Export of ONNX models: standard operators only, codes between QuantizeLinear and
 * DequantizeLinear. */
#ifndef ASSAY_GRAPH_ONNX_EXPORT_H
#define ASSAY_GRAPH_ONNX_EXPORT_H

#include <stddef.h>

#include "graph/core/graph.h"

/* Serializes g; *bytes is malloc'ed. Every quantized value keeps its name, as codes; the floats
 * around it are NAME:real and NAME:float. The opset is 13, or as far above as the network needs (17
 * layer normalization, 20 GELU, 21 codes of 4 or 16 bits and blocks). Biases of 64 bits become
 * floats. ASSAY_ERR_UNSUPPORTED names the node that has no ONNX form here: state, images of other
 * than two dimensions with channels last, a 64-bit bias beyond float32's precision. */
assay_status onnx_export_graph(const assay_graph *g, unsigned char **bytes, size_t *length,
                               assay_error *err);

#endif
