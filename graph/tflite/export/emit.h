/* Common parts of the exporter. Nodes become operators (conv.c, math.c, ...) on tensors that are
 * created when first used; export.c holds them, a part for each subgraph, until all are known;
 * file.c writes the file. */
#ifndef ASSAY_GRAPH_TFLITE_EMIT_H
#define ASSAY_GRAPH_TFLITE_EMIT_H

#include "graph/core/graph.h"
#include "graph/tflite/flat/schema.h"
#include "graph/tflite/flat/write.h"

/* Codes of the builtin operators. */
enum tfl_builtin {
#define TFL_NONE(code, name)             BUILTIN_##name = (code),
#define TFL_OP(code, name, function, op) BUILTIN_##name = (code),
#include "graph/tflite/op/ops.def"
    BUILTIN_COUNT
};

typedef struct tfl_out_tensor {
    const char *name;
    assay_type type;
    const void *data; /* constants: in our containers; borrowed, or of the export's arena */
    int raw;          /* enum tfl_type */
    bool is_variable;
} tfl_out_tensor;

typedef struct tfl_out_operator {
    int builtin;
    int version; /* of the operator, the first with what it says; the model states the latest of
                    each builtin */
    int n_in, n_out, n_options;
    int *in, *out; /* tensors, -1 for none */
    int n_intermediates, *intermediate;
    flat_field option[FLAT_MAX_FIELDS];
    const char *text; /* of the last FLAT_OFFSET option, or NULL */
} tfl_out_operator;

/* What cannot be written: the first of it as a list, and how much there is. */
typedef struct tfl_refusals {
    assay_buf text;
    int n, untold;
} tfl_refusals;

/* One subgraph of the model. */
typedef struct tfl_export {
    const assay_graph *g;
    assay_graph *own; /* g, when it was made for the export */
    assay_arena *arena;
    int *tensor_of; /* of the graph's values; -1: none yet */
    bool *written;  /* of the graph's nodes: their operator stands for several of them */
    int *body;      /* of the graph's subgraphs: their numbers in the model */
    tfl_out_tensor *tensor;
    tfl_out_operator *op;
    int n_tensors, room_tensors, n_ops, room_ops;
    tfl_refusals *refused; /* the model's */
    assay_status status;   /* the first failure but refusals; then calls do nothing */
    assay_error *err;
} tfl_export;

/* ---- file.c ---- */

/* All parts as a file; the first is where a run begins. A failure is in part[0].status. */
void tfl_write_model(flat_writer *w, tfl_export *part, int n_parts);

/* ---- emit.c ---- */

/* "node 'NAME' (op): WHAT"; the export goes on, to find all of them. */
void tfl_refuse(tfl_export *x, const assay_node *n, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Zeroed memory that lives as long as the export; NULL after a failure. */
void *tfl_room(tfl_export *x, size_t bytes);

/* The tensor of a value of the graph, -1 for ASSAY_NO_VALUE. */
int tfl_add_tensor(tfl_export *x, int value);
/* The same for a constant that the operator wants with another type or order of elements. */
int tfl_tensor_as(tfl_export *x, int value, const assay_type *type, const void *data);
/* One more tensor, named after the node's first output: "OUTPUT:what". `data` NULL: not constant.
 */
int tfl_extra(tfl_export *x, const assay_node *n, const char *what, const assay_type *type,
              const void *data);
/* A constant of int32 numbers. */
int tfl_numbers(tfl_export *x, const assay_node *n, const char *what, const int64_t *value,
                int count);
int tfl_number(tfl_export *x, const assay_node *n, const char *what, int64_t value);

/* An operator; options then belong to the latest. */
void tfl_add_operator(tfl_export *x, int builtin, const int *in, int n_in, const int *out,
                      int n_out);
void tfl_option(tfl_export *x, int slot, int size, int32_t value);
void tfl_option_float(tfl_export *x, int slot, float value);
/* The latest operator is of this version and no longer 1
 * (tensorflow/lite/tools/versioning/op_version.cc): older runtimes, which would ignore a part of
 * it, refuse the file. */
void tfl_version(tfl_export *x, int version);

/* A node's first output as the tensor that its operator writes, before what the operator cannot
 * clamp; *fused is the activation for its options. tfl_finish appends the clamp. */
int tfl_begin(tfl_export *x, const assay_node *n, bool can_fuse, int *fused);
void tfl_finish(tfl_export *x, const assay_node *n, int from);

/* ---- one operator for a node, or several; what cannot be said is refused ---- */

/* false: not theirs. */
bool tfl_export_conv(tfl_export *x, const assay_node *n);
bool tfl_export_math(tfl_export *x, const assay_node *n);
bool tfl_export_move(tfl_export *x, const assay_node *n);
bool tfl_export_state(tfl_export *x, const assay_node *n);
bool tfl_export_svdf(tfl_export *x, const assay_node *n);
bool tfl_export_lstm(tfl_export *x, const assay_node *n);

/* ---- state.c ---- */

/* Does the variable start as TFLite starts one that nothing initializes: with the code of zero
 * (micro/micro_graph.cc: of 8 bits the zero point, of others 0)? */
bool tfl_starts_at_zero(const assay_value *v);
/* A graph that assigns their first values to the variables of all parts that do not start as TFLite
 * starts them; NULL when there are none. */
assay_status tfl_initial_graph(const tfl_export *part, int n_parts, assay_graph **out,
                               assay_error *err);

#endif
