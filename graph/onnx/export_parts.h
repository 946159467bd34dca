/* Between the files of the exporter: export.c has conversions and nodes, export_ops.c operators. */
#ifndef ASSAY_GRAPH_ONNX_EXPORT_PARTS_H
#define ASSAY_GRAPH_ONNX_EXPORT_PARTS_H

#include "graph/onnx/write.h"

/* Node n on real values named `in`, its result named y. Refuses what ONNX has no operator for. */
void onnx_export_operation(onnx_writer *w, const assay_node *n, const char *const *in,
                           const char *y);
/* The same of a product of codes without a scale: in has both operands and their zero points. */
void onnx_export_sums(onnx_writer *w, const assay_node *n, const char *const *in, const char *y);

#endif
