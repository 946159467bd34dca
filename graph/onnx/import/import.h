/* The way from a model to a graph, step by step. */
#ifndef ASSAY_GRAPH_ONNX_IMPORT_H
#define ASSAY_GRAPH_ONNX_IMPORT_H

#include "graph/onnx/op/op.h"

/* ---- declare.c ---- */
/* Each names what it reads in the table of values; a name that is defined twice, or used and not
 * defined, ends the import. */
assay_status onnx_read_initializers(onnx_import *im, const pb_graph *g, assay_error *err);
/* Inputs that are not initializers become values of the graph under construction. */
assay_status onnx_read_inputs(onnx_import *im, const pb_graph *g, assay_error *err);
/* Fills nodes[g->n_node], and counts uses. */
assay_status onnx_declare_nodes(onnx_import *im, const pb_graph *g, onnx_node *nodes,
                                assay_error *err);
assay_status onnx_declare_outputs(onnx_import *im, const pb_graph *g, assay_error *err);

/* ---- order.c ---- */
/* The nodes so that each comes after those that make what it uses, otherwise as they stand; nodes
 * of a cycle among them. NULL: no memory. */
onnx_node **onnx_order_nodes(onnx_import *im, onnx_node *nodes, size_t count);

/* ---- nodes.c ---- */
/* Imports the nodes; what is unsupported is listed, and its outputs are lost. */
assay_status onnx_import_nodes(onnx_import *im, onnx_node *nodes, size_t count, assay_error *err);

/* ---- body.c: onnx_import's begin_body and import_body ---- */
assay_status onnx_begin_body(onnx_import *im, const pb_graph *g, const char *tag, assay_error *err);
assay_status onnx_import_body(onnx_import *im, const pb_graph *g, const char *tag,
                              onnx_value *const *in, onnx_value **out, assay_error *err);

/* ---- fuse.c ---- */
/* Replaces GELU, hard-swish and layer normalization as exporters write them. */
assay_status onnx_fuse(assay_graph *g, assay_error *err);

#endif
