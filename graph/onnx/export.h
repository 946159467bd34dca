/* ONNX models out: standard operators only, codes between QuantizeLinear and DequantizeLinear. */
#ifndef ASSAY_GRAPH_ONNX_EXPORT_H
#define ASSAY_GRAPH_ONNX_EXPORT_H

#include <stddef.h>

#include "graph/graph.h"

/* Serializes g; *bytes is malloc'ed. Every quantized value keeps its name, as codes; the floats
 * around it are NAME:real and NAME:float. The opset is 13, or as far above as the network needs (17
 * layer normalization, 20 GELU, 21 codes of 4 or 16 bits and blocks). ASSAY_ERR_UNSUPPORTED names
 * the node that has no ONNX form here: channels-last layouts, plain i32 sums, state. */
assay_status assay_onnx_export(const assay_graph *g, unsigned char **bytes, size_t *length,
                               assay_error *err);

#endif
