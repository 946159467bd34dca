/* Putting an ONNX model together. Errors are sticky: after the first, calls do nothing. */
#ifndef ASSAY_GRAPH_ONNX_WRITE_H
#define ASSAY_GRAPH_ONNX_WRITE_H

#include "graph/onnx/value/value.h"

typedef struct onnx_writer {
    const assay_graph *g;
    assay_arena *arena;
    int64_t opset;
    pb_graph graph;
    pb_node *node;               /* the latest */
    pb_attribute unused;         /* written to after a failure */
    bool *has_params, *has_real; /* of the graph's values */
    const char **own;            /* their names, sorted */
    const char **node_names;     /* the network's nodes', sorted */
    const assay_node *of;        /* whose operators are written; NULL: none's */
    bool is_operation;           /* the next is the one that has its name */
    assay_status status;
    assay_error *err;
} onnx_writer;

void onnx_write_begin(onnx_writer *w, const assay_graph *g, int64_t opset, assay_error *err);
/* Serializes into malloc'ed *bytes, or gives the first failure; frees the writer either way. */
assay_status onnx_write_end(onnx_writer *w, unsigned char **bytes, size_t *length);

/* Zeroed memory, and formatted text, that live as long as the writer; "" or NULL on failure. Text
 * is the name of something made: where a value of the network has it, ":made" is appended, so
 * that the same text is always the same name. */
void *onnx_memory(onnx_writer *w, size_t bytes);
const char *onnx_text(onnx_writer *w, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* ASSAY_ERR_UNSUPPORTED "node N (op): WHAT". */
void onnx_write_refuse(onnx_writer *w, const assay_node *n, const char *what);

/* Operators written from now on are for that node of the network; the next one after
 * onnx_write_operation has its name, and the others are called after it. */
void onnx_write_for(onnx_writer *w, const assay_node *n);
void onnx_write_operation(onnx_writer *w);
/* A node with one output (NULL: none yet); what follows belongs to the latest node. */
void onnx_write_node(onnx_writer *w, const char *op, const char *output);
void onnx_write_input(onnx_writer *w, const char *name);
void onnx_write_output(onnx_writer *w, const char *name);
void onnx_write_int(onnx_writer *w, const char *name, int64_t v);
void onnx_write_float(onnx_writer *w, const char *name, float v);
void onnx_write_string(onnx_writer *w, const char *name, const char *v);
/* A list attribute: a, then b unless it is NULL. */
void onnx_write_list(onnx_writer *w, const char *name, const assay_list *a, const assay_list *b);

/* Initializers. Data is in our containers, borrowed until the end. */
void onnx_write_tensor(onnx_writer *w, const char *name, assay_elem elem, int rank,
                       const int64_t *dim, const void *data);
/* Notes that `scale` and `zero` (NULL: none) hold the parameters of a tensor, for viewers. */
void onnx_write_annotation(onnx_writer *w, const char *tensor, const char *scale, const char *zero);
/* One of int64 or float32 numbers, or one number, named BASE:SUFFIX, which is returned. */
const char *onnx_write_integers(onnx_writer *w, const char *base, const char *suffix,
                                const assay_list *list);
const char *onnx_write_numbers(onnx_writer *w, const char *base, const char *suffix,
                               const assay_float_list *list);
const char *onnx_write_number(onnx_writer *w, const char *base, const char *suffix, float v);
/* So many float32 numbers, all of them v. */
const char *onnx_write_filled(onnx_writer *w, const char *base, const char *suffix, int rank,
                              const int64_t *dim, float v);
/* What the file says of the network's values: inputs, outputs, and those between them. */
void onnx_write_values(onnx_writer *w);

#endif
