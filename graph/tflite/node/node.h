/* Translation of tensors and operators to values and nodes: the toolbox of the operators (op/). A
 * tensor becomes a value when an operator first touches it. */
#ifndef ASSAY_GRAPH_TFLITE_NODE_H
#define ASSAY_GRAPH_TFLITE_NODE_H

#include "graph/tflite/model/model.h"

/* ---- values.c ---- */
/* Input i is there. */
bool tfl_has(const tfl_op *op, int i);
tfl_tensor *tfl_in(const tfl_op *op, int i);
tfl_tensor *tfl_out(const tfl_op *op, int i);
/* The value of an input (ASSAY_NO_VALUE when absent) or output, made when this is its first use. */
assay_status tfl_value(const tfl_op *op, int i, int *value);
assay_status tfl_result(const tfl_op *op, int i, int *value);
/* A variable that starts as `initial`, or when that is NULL as the code of zero. */
assay_status tfl_add_variable(tfl_import *m, const char *name, const assay_type *type,
                              const void *initial, int *value);
/* A new value named "OUTPUT/part". */
assay_status tfl_part(const tfl_op *op, const char *part, const assay_type *type, int *value);
/* A constant "OUTPUT/bias" of n zeros. */
assay_status tfl_zero_bias(const tfl_op *op, unsigned bits, int64_t n, int *value);
/* A constant "OUTPUT/part" of that type, one number (a code) throughout. */
assay_status tfl_filled(const tfl_op *op, const char *part, const assay_type *type, double number,
                        int *value);
/* A constant without elements may have no buffer. */
static inline bool assay_tfl_is_constant(const tfl_tensor *t)
{
    return !t->is_variable && (t->data || assay_shape_count(&t->type) == 0);
}

/* ---- computed.c: shapes that depend on data ---- */
/* The elements, in our storage, of input i, which is a value of the graph by now: those that the
 * input at hand leads to. Not supported without assay_tflite_options. */
assay_status tfl_compute(const tfl_op *o, int i, const void **data);
/* Behind that the file's shapes mean nothing. Gives the outputs of a node to be the shapes that
 * follow from its inputs. */
assay_status tfl_infer(const tfl_op *o, assay_op kind, const int *in, int n_in, const int *out,
                       int n_out, const assay_attrs *attr);
/* ---- node.c ---- */
/* Adds a node named after its first output. *id may be NULL. */
assay_status tfl_node(const tfl_op *op, assay_op kind, const int *in, int n_in, const int *out,
                      int n_out, const assay_attrs *attr, int *id);
/* The same without attributes, into a new value named "OUTPUT/part" of that type. */
assay_status tfl_step(const tfl_op *op, assay_op kind, const int *in, int n_in, const char *part,
                      const assay_type *type, int *value);
/* Checks for at least n inputs, all present, and an output; otherwise malformed. */
assay_status tfl_expect(const tfl_op *op, int n);
/* A node on input i only; other inputs were attributes. */
assay_status tfl_only_input(const tfl_op *op, int i, const assay_attrs *attr);
/* All inputs to all outputs through one node. */
assay_status tfl_straight(const tfl_op *op, const assay_attrs *attr, int *id);
/* x reshaped to `to`'s shape: into `to` itself. */
assay_status tfl_reshape(const tfl_op *op, int x, int to);
/* A constant's integers (i32 or i64, also i8 and i16) from input i. */
assay_status tfl_ints(const tfl_op *op, int i, int max, int64_t *out, int *n);
assay_status tfl_int(const tfl_op *op, int i, int64_t *out);
/* A list of axes of a tensor of the given rank: counted from the front, each once. */
assay_status tfl_axes(const tfl_op *op, int i, int rank, assay_list *out);
/* Bounds of the fused activation stored in a field of the options, set on node `id`. */
assay_status tfl_activation_bounds(const tfl_op *op, int slot, int id);

/* ---- shapes.c ---- */
/* Gives the operator's output tensors, where its import asks them, the shapes that follow from its
 * inputs. */
assay_status tfl_infer_outputs(const tfl_op *o);

#endif
