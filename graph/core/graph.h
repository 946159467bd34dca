/* The network: values, nodes and the graph that owns them.
 *
 * A graph is static: every shape is known. Nodes stand in execution (topological) order. Values
 * keep the source model's names forever; names made by lowering are derived from them. All
 * memory of a graph lives in its arena and goes with assay_graph_free. */
#ifndef ASSAY_GRAPH_GRAPH_H
#define ASSAY_GRAPH_GRAPH_H

#include "graph/core/arena.h"
#include "graph/core/attr.h"
#include "graph/core/float_eval.h"
#include "graph/core/op.h"
#include "graph/core/type.h"

#define ASSAY_NO_VALUE (-1) /* an optional input that is absent */

typedef struct assay_value {
    const char *name;
    assay_type type;
    const void *data; /* constants: the elements in native byte order and storage; else NULL */
    int producer;     /* index of the producing node, or -1 (input, constant, variable) */
    int source_index; /* the tensor's index in the source file, or -1 */
    bool is_variable; /* state kept between runs */
} assay_value;

typedef struct assay_node {
    const char *name;
    assay_op op;
    int n_in, n_out;
    int *in;              /* value indices, ASSAY_NO_VALUE where absent */
    int *out;             /* value indices */
    assay_attrs attr;     /* union; the member is the op's, see op.def */
    float act_lo, act_hi; /* fused activation in real values; -inf and +inf when none */
    /* Fused bounds as codes of the output, when the network gives them as such (has_code_bounds);
     * they are intersected with those of act_lo and act_hi. */
    bool has_code_bounds;
    int32_t code_lo, code_hi;
} assay_node;

typedef struct assay_graph {
    assay_arena *arena;
    const char *name;
    int n_values, n_nodes, n_inputs, n_outputs, n_subgraphs;
    assay_value *value;
    assay_node *node;
    int *input;                    /* value indices in the model's order */
    int *output;                   /* value indices */
    struct assay_graph **subgraph; /* bodies of control flow, owned */
    char model_digest[33];         /* XXH3-128 hex of the source file's bytes, or "" */
    const char *quantized_for;     /* name of the scheme that it was quantized for, or NULL */
    int *name_slot; /* names to values, graph/core/names.c; use assay_graph_find_value */
    int n_name_slots;
} assay_graph;

/* ---- builder (graph/core/builder.c). All copy what they are given into the graph. Names hold no
 * control characters, so that messages and the text form keep to their lines. ---- */

assay_status assay_graph_new(const char *name, assay_graph **out, assay_error *err);
void assay_graph_free(assay_graph *g);
/* Notes the name of the scheme (copied) that the graph was quantized for; NULL: none. */
assay_status assay_graph_set_quantized_for(assay_graph *g, const char *scheme, assay_error *err);
assay_status assay_graph_clone(const assay_graph *g, assay_graph **out, assay_error *err);
/* The elements of constants stay g's, which must outlive the clone: it may get others in their
 * place, and never writes these. */
assay_status assay_graph_clone_borrowing(const assay_graph *g, assay_graph **out, assay_error *err);

/* Appends a value; name must be unique and not empty. *id receives its index. */
assay_status assay_graph_add_value(assay_graph *g, const char *name, const assay_type *type,
                                   int *id, assay_error *err);
/* Appends a constant. `data` (native order and storage) is copied; NULL gives zeros that the caller
 * fills through the pointer in g->value[*id].data. */
assay_status assay_graph_add_constant(assay_graph *g, const char *name, const assay_type *type,
                                      const void *data, int *id, assay_error *err);
/* Like add_constant but borrows: `data` must outlive the graph (a mapped file). */
assay_status assay_graph_borrow_constant(assay_graph *g, const char *name, const assay_type *type,
                                         const void *data, int *id, assay_error *err);
/* Appends a node and sets its outputs' producer. attr may be NULL for the op's defaults. An empty
 * or NULL name becomes the first output's name. The attributes are completed
 * (graph/core/complete.c): what was left empty is filled from the input types (kernel, stride,
 * dilation and pads of conv and pool; axes; permutation; steps) and negative axes are counted from
 * the front, so that passes and kernels never see either. The input types must be final. Types are
 * judged by the verifier. */
assay_status assay_graph_add_node(assay_graph *g, assay_op op, const char *name, const int *in,
                                  int n_in, const int *out, int n_out, const assay_attrs *attr,
                                  int *id, assay_error *err);
/* Infers the types of a node's outputs from its inputs and attributes (shape and element kind; for
 * integer data movement also the parameters) and appends the outputs under the given names. */
assay_status assay_graph_add_inferred(assay_graph *g, assay_op op, const char *name, const int *in,
                                      int n_in, const char *const *out_names, int n_out,
                                      const assay_attrs *attr, int *out, assay_error *err);
/* A value that keeps its content between runs; `data` is its initial content, NULL for zeros. */
assay_status assay_graph_add_variable(assay_graph *g, const char *name, const assay_type *type,
                                      const void *data, int *id, assay_error *err);
/* Appends a body of control flow; on success the graph owns it. */
assay_status assay_graph_add_subgraph(assay_graph *g, assay_graph *sub, int *id, assay_error *err);
assay_status assay_graph_set_inputs(assay_graph *g, const int *ids, int n, assay_error *err);
assay_status assay_graph_set_outputs(assay_graph *g, const int *ids, int n, assay_error *err);
/* Copies parameters into the graph's arena. */
assay_status assay_graph_set_qparams(assay_graph *g, int value, const assay_qparams *q,
                                     assay_error *err);

/* ---- queries ---- */
int assay_graph_find_value(const assay_graph *g, const char *name); /* index or -1 */
int assay_graph_count_uses(const assay_graph *g, int value);        /* graph outputs count too */
int assay_graph_count_nodes(const assay_graph *g);                  /* with all bodies' */
const assay_value *assay_node_in(const assay_graph *g, const assay_node *n, int i); /* or NULL */
const assay_value *assay_node_out(const assay_graph *g, const assay_node *n, int i);
bool assay_node_is_quantized(const assay_graph *g, const assay_node *n); /* integer kernel? */
/* A cast to float16 or bfloat16: it rounds, although both its values are f32 here. */
bool assay_is_narrowing(const assay_node *n);
/* What the last windows of ceil_mode hang over the end of x, as padding of pool `a`: ONNX Runtime's
 * QLinearAveragePool counts it where padding counts. Nothing where it does not. */
void assay_pool_count_overhang(const assay_type *x, assay_attr_pool *a);
/* Multiply-accumulates of a node (conv, fc, matmul; else 0). */
int64_t assay_node_macs(const assay_graph *g, const assay_node *n);

/* ---- verifier (graph/core/verify.c). The first fault only: names unique and not empty; nodes in
 * order and acyclic; arity; attributes in range; types equal to the inferred shapes; element kinds
 * that fit; as many parameters as the granularity asks for, scales finite and > 0, zero points
 * inside their type; constants free of NaN and inside their type. ---- */
assay_status assay_graph_verify(const assay_graph *g, assay_error *err);

/* ---- editing (graph/core/edit.c) ---- */
/* Makes every consumer (and graph output) of `from` use `to`. */
void assay_graph_replace_uses(assay_graph *g, int from, int to);
/* Drops nodes marked dead (dead_node may be NULL) and values that then have no use, and sorts
 * nodes topologically (nodes that are in order already stay so). Inputs, outputs and variables
 * stay. Indices of values and nodes change. On error (a cycle) nothing has changed. */
assay_status assay_graph_compact(assay_graph *g, const bool *dead_node, assay_error *err);

/* ---- shapes (graph/core/infer.c) ---- */
/* Types of a node's outputs from its inputs and attributes into out[n->n_out]: element kind and
 * shape; quantization parameters only for MOVE and SELECTS ops, borrowed from the first data input.
 * Quantize, dequantize and rescale take the element kind and parameters of their output value. */
assay_status assay_infer(const assay_graph *g, const assay_node *n, assay_type *out,
                         assay_error *err);

/* ---- text form (graph/text/text.h) and importers (graph/onnx/, graph/tflite/) have their own.
 * ---- */
#endif
