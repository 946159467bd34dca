/* A node being imported, and the toolbox of the handlers of operators.
 *
 * Handlers (op/) are written as if every value were symbolic: onnx_op() evaluates an operation of
 * constants at once (fold.c) and appends a node to the graph otherwise. That is how shape
 * arithmetic disappears.
 *
 * Errors are sticky: the first failure of a node is kept in n->status and later calls for that node
 * do nothing, so handlers read as straight lines. Functions that return a value return NULL then.
 */
#ifndef ASSAY_GRAPH_ONNX_NODE_H
#define ASSAY_GRAPH_ONNX_NODE_H

#include "graph/onnx/value/value.h"

typedef struct onnx_op_row onnx_op_row;

/* A node being imported. */
typedef struct onnx_node {
    onnx_import *im;
    const pb_node *pb;
    const onnx_op_row *row;
    const char *name; /* never empty */
    int64_t opset;    /* of the node's domain */
    int narrow;       /* the type that the first output is to be rounded to, or 0 ... */
    onnx_value *wide; /* ... and that result before the rounding */
    assay_status status;
    assay_error *err;
} onnx_node;

/* A line of ops.def. */
struct onnx_op_row {
    const char *domain;
    const char *type;
    void (*import)(onnx_node *n);
    assay_op op;
    int min_in, max_in; /* max_in -1: any number */
    int max_out;        /* -1: any number */
    const char *attributes;
};

/* ---- failures (node.c) ---- */
/* The model is wrong: import stops. Returns NULL for convenience. */
void *onnx_fail(onnx_node *n, assay_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The model may be right but we do not support this: listed, and import goes on for the list. */
void *onnx_refuse(onnx_node *n, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A callee below the importer failed with a message of its own: puts the node in front. */
void *onnx_fail_because(onnx_node *n, assay_status status, const assay_error *cause);
void *onnx_no_memory(onnx_node *n);
/* Refuses models older than `opset`, where this operator meant something else. */
void onnx_since(onnx_node *n, int64_t opset);

/* ---- inputs of a node (node.c) ---- */
bool onnx_has(const onnx_node *n, size_t i);
onnx_value *onnx_in(onnx_node *n, size_t i);       /* NULL when absent; a required one is present */
assay_type onnx_type(onnx_node *n, onnx_value *v); /* no quantization parameters */
int64_t onnx_count(const assay_type *t);
/* Refuses a constant with infinities (weights, scales, biases). */
void onnx_check_finite(onnx_node *n, onnx_value *v);
/* True when the ONNX output exists and something uses it. */
bool onnx_out_used(const onnx_node *n, size_t i);

/* ---- elements that shapes follow from (known.c) ---- */
/* What v holds: a constant's elements; of a value that the run computes those of the sample that
 * the model is imported for, and then the graph holds for that sample (onnx.h). NULL: not known. */
const onnx_const *onnx_elements(onnx_node *n, onnx_value *v);
/* The same for input i, refused as `what` where it is not known; NULL when absent. */
const onnx_const *onnx_known(onnx_node *n, size_t i, const char *what);
/* An input that must be known (onnx_known), as integers. Absent: returns false. */
bool onnx_int_list(onnx_node *n, size_t i, const char *what, assay_list *list);
/* As above, one number. */
bool onnx_one_int(onnx_node *n, size_t i, const char *what, int64_t *value);
bool onnx_one_float(onnx_node *n, size_t i, const char *what, float *value);

/* ---- attributes (node.c) ---- */
const pb_attribute *onnx_attribute(onnx_node *n, const char *name, int type);
int64_t onnx_int(onnx_node *n, const char *name, int64_t otherwise);
/* A type of the format by its number; -1 where an int has none such. */
int onnx_dtype_attribute(onnx_node *n, const char *name, int otherwise);
float onnx_float(onnx_node *n, const char *name, float otherwise);
bool onnx_ints(onnx_node *n, const char *name, assay_list *list);
/* Index of the attribute's string among `choices` (NULL-terminated); refuses any other. */
int onnx_choice(onnx_node *n, const char *name, const char *const *choices, int otherwise);
/* Axis attribute or number in 0..rank-1 after adding rank to a negative one; fails outside. */
int64_t onnx_axis(onnx_node *n, int64_t axis, int rank);

/* ---- making things (emit.c) ---- */
/* Applies an op: folds constants, or appends a node. The result carries the name of the node's
 * first output when suffix is NULL, else a fresh name derived from it. */
onnx_value *onnx_op(onnx_node *n, assay_op op, const assay_attrs *attr, onnx_value *const *in,
                    int n_in, const char *suffix);
onnx_value *onnx_op1(onnx_node *n, assay_op op, const assay_attrs *attr, onnx_value *x,
                     const char *suffix);
onnx_value *onnx_op2(onnx_node *n, assay_op op, const assay_attrs *attr, onnx_value *a,
                     onnx_value *b, const char *suffix);
/* As onnx_op1, for the node's output of that index. */
void onnx_op_out(onnx_node *n, assay_op op, const assay_attrs *attr, onnx_value *x, size_t output);
/* Appends a node with several outputs, named as the ONNX node's. */
void onnx_op_multi(onnx_node *n, assay_op op, const assay_attrs *attr, onnx_value *x, int n_out);
/* The same under fresh names; y gets the outputs. */
void onnx_op_several(onnx_node *n, assay_op op, const assay_attrs *attr, onnx_value *x, int n_out,
                     const char *suffix, onnx_value **y);
/* The ONNX output i is v: an alias, or a copy where a graph output needs its own value. */
void onnx_bind(onnx_node *n, size_t i, onnx_value *v);
/* A new constant as a value, named as the results of onnx_op. */
onnx_value *onnx_constant(onnx_node *n, const onnx_const *c, const char *suffix);
/* A scalar of the element type of `like`. */
onnx_value *onnx_scalar(onnx_node *n, onnx_value *like, double value, const char *suffix);
onnx_value *onnx_reshaped(onnx_node *n, onnx_value *x, int rank, const int64_t *dim,
                          const char *suffix);
onnx_value *onnx_transposed(onnx_node *n, onnx_value *x, const int64_t *perm, const char *suffix);
/* `changed` takes over the name of the constant `original` when nothing else uses that. */
void onnx_inherit_name(onnx_value *changed, onnx_value *original);

/* The value that a result is put into: the node's first output, or a fresh name (emit.c). */
onnx_value *onnx_result(onnx_node *n, const char *suffix);

/* ---- narrow.c: around a node's handler ---- */
void onnx_begin_narrow(onnx_node *n);
void onnx_end_narrow(onnx_node *n);
onnx_const *onnx_round_const(onnx_node *n, const onnx_const *x, int dtype);

/* ---- quant.c: values with quantization parameters ---- */
/* Reads the constants `scale` and `zero` (inputs of the node; absent: 1 and 0) for codes of `elem`
 * of which they describe `count` (-1: any number) or one. Memory is the import's. */
#define ONNX_NO_INPUT ((size_t)-1)
bool onnx_read_params(onnx_node *n, size_t scale, size_t zero, assay_elem elem, int64_t count,
                      assay_qparams *q);
/* v as a graph value with these parameters, never folded. A value that has others is refused; a
 * constant is then copied. */
onnx_value *onnx_quantized(onnx_node *n, onnx_value *v, const assay_qparams *q);
/* As onnx_read_params, but scales may be anything: for constants, which onnx_mirror makes good. */
bool onnx_read_any_params(onnx_node *n, size_t scale, size_t zero, assay_elem elem, int64_t count,
                          assay_qparams *q);
/* Constant codes v with parameters *q (granularity, axis and block filled in), as the codes and
 * parameters with scales above 0 that stand for the same numbers: mirror.c. Fails on scales that
 * are not finite. */
onnx_value *onnx_mirror(onnx_node *n, onnx_value *v, const char *scale_name, assay_qparams *q);
/* The numbers that constant codes c with such parameters stand for, which keep their codes; input 2
 * holds the scales. Named after `like`. */
onnx_value *onnx_coded(onnx_node *n, const onnx_const *c, const assay_qparams *q,
                       const onnx_value *like);
/* onnx_read_params and onnx_quantized of input i, one scale for all. */
onnx_value *onnx_quantized_in(onnx_node *n, size_t i, size_t scale, size_t zero);
/* Input i with one scale, or one for each index of `axis`. */
onnx_value *onnx_quantized_axis(onnx_node *n, onnx_value *v, size_t scale, size_t zero, int axis);
/* As onnx_op; the result has codes of `elem` with parameters q (NULL: plain integers). */
onnx_value *onnx_quantized_op(onnx_node *n, assay_op op, const assay_attrs *attr,
                              onnx_value *const *in, int n_in, assay_elem elem,
                              const assay_qparams *q, const char *suffix);
/* quantize, dequantize and rescale, whose result's type is given (the shape is x's). */
onnx_value *onnx_convert(onnx_node *n, assay_op op, onnx_value *x, assay_elem elem,
                         const assay_qparams *q, const char *suffix);
/* Data movement and the choice of codes keep parameters: gives them to the values before and after
 * that have none yet. */
assay_status onnx_spread_params(assay_graph *g, assay_error *err);
/* The same between a node of control flow and its bodies; out may be NULL, before it is there. */
assay_status onnx_tie_params(assay_graph *g, assay_op op, const assay_attrs *a, const int *in,
                             const int *out, assay_error *err);

/* ---- inner.c: subgraphs ---- */
/* The subgraph in that attribute, which has so many inputs (-1: any number) and at least, or just
 * where `exact`, so many outputs; NULL after a failure. */
const pb_graph *onnx_subgraph(onnx_node *n, const char *attribute, int64_t n_in, size_t n_out,
                              bool exact);
/* onnx_import's begin_body, import_body and onnx_pop_scope: the nodes of g once, here. False after
 * a failure, and where an output is lost. */
bool onnx_put_body(onnx_node *n, const pb_graph *g, const char *tag, onnx_value *const *in,
                   onnx_value **out);
/* The same for each of several times, between begin_body and onnx_pop_scope. */
bool onnx_put_nodes(onnx_node *n, const pb_graph *g, const char *tag, onnx_value *const *in,
                    onnx_value **out);
/* The ONNX output i is what a subgraph gives: onnx_bind, its type included. */
void onnx_bind_inner(onnx_node *n, size_t i, onnx_value *v);

/* What subgraphs use of the graphs around them. */
typedef struct onnx_captures {
    onnx_scope *seen;
    const char **name; /* as they say */
    onnx_value **outer;
    size_t count;
} onnx_captures;

/* A graph of its own under construction, in place of im->graph; its inputs. */
typedef struct onnx_inner {
    assay_graph *around;
    unsigned home;
    const char *tag;
    onnx_value **in;
    int *outer; /* the same in `around` */
    int n_in;
} onnx_inner;

bool onnx_capture(onnx_node *n, const pb_graph *const *g, int n_g, onnx_captures *c);
/* Begins the graph, with room for `more` inputs after those of captures: these are constants,
 * or inputs. True where onnx_leave must follow. */
bool onnx_enter(onnx_node *n, onnx_inner *inner, const char *tag, const onnx_captures *c, int more);
/* How many inputs stand for a value: one for each tensor of a sequence. */
int onnx_tensors_of(onnx_value *v);
/* What stands for an outer value: an input, or where `copied` a constant for a constant. */
onnx_value *onnx_stand_in(onnx_node *n, onnx_inner *inner, onnx_value *v, bool copied);
/* Ends the graph: its number among those of the graph around it. It is dropped without outputs
 * (NULL) and after a failure; -1 then. */
int onnx_leave(onnx_node *n, onnx_inner *inner, onnx_value *const *out, int n_out);
/* The node that runs such graphs, of these inputs; y[i] NULL: nothing needs that output. */
void onnx_flow(onnx_node *n, assay_op op, const assay_attrs *attr, const int *in, int n_in,
               onnx_value **y, int n_out);

/* ---- fold.c ---- */
/* Evaluates op over constants. *out stays NULL when it is not an op that folds, or too large. */
void onnx_fold(onnx_node *n, assay_op op, const assay_attrs *attr, onnx_value *const *in, int n_in,
               const onnx_const **out);

/* ---- shape rules used by handlers and folding (shape.c) ---- */
/* numpy broadcasting of two shapes; false when they do not fit or exceed the rank. */
bool onnx_broadcast(const int64_t *a, int rank_a, const int64_t *b, int rank_b, int64_t *out,
                    int *rank);
/* Row-major strides in elements. */
void onnx_strides(const int64_t *dim, int rank, int64_t *stride);

#endif
