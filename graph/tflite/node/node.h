/* What the importer's files share. One import runs through these steps: the model's tables are
 * read (tables.c), tensors described (tensor.c), operators turned into nodes one by one in the
 * file's order (op_*.c through ops.def); a tensor becomes a value when an operator first touches
 * it (values.c). */
#ifndef ASSAY_GRAPH_TFLITE_IMPORT_H
#define ASSAY_GRAPH_TFLITE_IMPORT_H

#include "graph/core/graph.h"
#include "graph/tflite/flat/flat.h"
#include "graph/tflite/flat/schema.h"
#include "graph/tflite/tflite.h"

#define TFL_DEPTH 9 /* the main graph, and bodies of control flow inside each other */

/* A resource variable. */
typedef struct tfl_resource {
    struct tfl_resource *next;
    const char *name;
    const char *variable; /* its name in the graphs, or NULL before its first use */
    const void *initial;  /* elements in our storage, of `type`; NULL: zeros */
    assay_type type;
    int value[TFL_DEPTH]; /* in the graph at each depth, or -1 before its first use */
} tfl_resource;

typedef struct tfl_tensor {
    const char *name;  /* unique in the graph */
    assay_type type;   /* kind NONE when the importer does not know the type, see why */
    const char *why;   /* what is not supported, or NULL */
    enum tfl_type raw; /* as the file says */
    flat_table table;
    const unsigned char *data; /* constants: little-endian bytes as TFLite packs them; else NULL */
    size_t bytes;
    bool is_native; /* data are elements in our containers already */
    bool is_variable;
    flat_table blockwise;          /* parameters for each block of the last axis, when present */
    bool is_open;                  /* its shape's signature has an extent that is not known */
    int value;                     /* in the graph, or -1 as long as nothing needed it */
    struct tfl_resource *resource; /* whose handle this is, or NULL */
} tfl_tensor;

typedef struct tfl_tensor_list {
    int n;
    tfl_tensor *at;
} tfl_tensor_list;

typedef struct tfl_code {
    int builtin;        /* enum BuiltinOperator */
    const char *custom; /* name of a custom operator, or NULL */
} tfl_code;

/* Everything of one kind that is not supported: one line of the final message. */
typedef struct tfl_fault {
    const char *what;
    int count;
    int first[6]; /* indices of operators */
} tfl_fault;

typedef struct tfl_import {
    const char *name;
    flat_file file;
    assay_graph *g;
    assay_arena *temp; /* lives as long as the import */
    flat_vector subgraphs, buffers;
    int subgraph, depth;             /* the one at hand; how many it is inside of */
    const struct tfl_import *around; /* what was at hand before a body of control flow, or NULL */
    int n_codes, n_faults, hidden_faults;
    tfl_code *code;
    tfl_tensor_list tensors; /* of the subgraph at hand */
    tfl_resource *resource;
    tfl_fault *fault;
    char why[360];                       /* the last one's words */
    uint64_t budget;                     /* work left, see assay_tfl_charge */
    const assay_tflite_options *options; /* or NULL */
    bool follows_data; /* a shape was computed: those behind it are inferred, not the file's */
    assay_error *err;
} tfl_import;

/* One operator. */
typedef struct tfl_op {
    tfl_import *m;
    int index;
    int builtin;
    assay_op op; /* ops.def's last column */
    const char *kind;
    const char *custom; /* name of a custom operator, or NULL */
    int n_in, n_out;
    const int *in, *out; /* tensor indices; -1 where an optional input is absent */
    flat_table options;
} tfl_op;

/* Takes `amount` (about bytes touched) from the budget, which is proportional to the file's size:
 * no file, however its offsets share parts, makes the importer work for ever. */
assay_status assay_tfl_charge(tfl_import *m, uint64_t amount);
assay_status assay_tfl_no_memory(tfl_import *m);

/* ---- tables.c ---- */
/* A string of the file, NUL-terminated, that lives as long as the import; NULL: no memory. */
char *assay_tfl_text(tfl_import *m, flat_table t, int slot);
assay_status assay_tfl_read_codes(tfl_import *m, flat_table model);
assay_status assay_tfl_read_tensors(tfl_import *m, flat_table subgraph);
/* Indices of tensors; -1 is kept where `optional`. `what` they are is for the error. */
assay_status assay_tfl_read_indices(tfl_import *m, flat_vector v, bool optional, const char *what,
                                    const int **out);
/* The inputs of the subgraph at hand, named after the model's signature, and its outputs. */
assay_status assay_tfl_add_inputs(tfl_import *m, flat_table model, flat_vector list);
assay_status assay_tfl_add_outputs(tfl_import *m, flat_vector list);
/* The subgraph at which a run begins: that of the signature named `entry`, or the first. */
assay_status assay_tfl_find_entry(tfl_import *m, flat_table model, const char *entry);

/* ---- import.c ---- */
/* Fills *op from the operator's table; does not look at what kind it is. */
assay_status assay_tfl_read_operator(tfl_import *m, int index, flat_table t, tfl_op *op);

/* Imports subgraph `index` as a body of control flow: *number is its place in the graph's list. */
assay_status assay_tfl_import_body(const tfl_op *o, int32_t index, int64_t *number);

/* ---- op_variable.c: resource variables are the model's, values are a graph's ---- */
void assay_tfl_enter_body(tfl_import *inner);
/* Every variable that the body has used is one of the graph around it, too. */
assay_status assay_tfl_leave_body(const tfl_op *o, tfl_import *inner);

/* ---- tensor.c ---- */
/* As the schema calls it: "FLOAT64". */
const char *assay_tfl_type_name(enum tfl_type raw);
assay_status assay_tfl_describe(tfl_import *m, int tensor, flat_table table);
/* The elements of a constant tensor in our storage (native order, unpacked, dense): borrowed from
 * the file when they stand there like that, else in the graph's arena. */
assay_status assay_tfl_elements(tfl_import *m, tfl_tensor *t, const void **out);
/* Turns a constant of codes into the real numbers that they stand for. */
assay_status assay_tfl_to_real(tfl_import *m, tfl_tensor *t);

/* ---- sparse.c: TFLite's sparse tensors to dense, `size` bytes an element, little-endian ---- */
assay_status assay_tfl_densify(tfl_import *m, const tfl_tensor *t, size_t size, unsigned char *out);

/* ---- values.c ---- */
/* Input i is there. */
bool assay_tfl_has(const tfl_op *op, int i);
tfl_tensor *assay_tfl_in(const tfl_op *op, int i);
tfl_tensor *assay_tfl_out(const tfl_op *op, int i);
/* The value of an input (ASSAY_NO_VALUE when absent) or output, made when this is its first use. */
assay_status assay_tfl_value(const tfl_op *op, int i, int *value);
assay_status assay_tfl_result(const tfl_op *op, int i, int *value);
/* A variable that starts as `initial`, or when that is NULL as the code of zero. */
assay_status assay_tfl_add_variable(tfl_import *m, const char *name, const assay_type *type,
                                    const void *initial, int *value);
/* A new value named "OUTPUT/part". */
assay_status assay_tfl_part(const tfl_op *op, const char *part, const assay_type *type, int *value);
/* A constant "OUTPUT/bias" of n zeros. */
assay_status assay_tfl_zero_bias(const tfl_op *op, unsigned bits, int64_t n, int *value);
/* `name`, with "#" and index behind it when the graph has such a value already. */
const char *assay_tfl_unique(tfl_import *m, const char *name, int index);
/* Adds a node named after its first output. *id may be NULL. */
assay_status assay_tfl_node(const tfl_op *op, assay_op kind, const int *in, int n_in,
                            const int *out, int n_out, const assay_attrs *attr, int *id);
/* At least n inputs, all there, and outputs; else malformed. */
assay_status assay_tfl_expect(const tfl_op *op, int n);
/* A node on input i only; other inputs were attributes. */
assay_status assay_tfl_only_input(const tfl_op *op, int i, const assay_attrs *attr);
/* All inputs to all outputs through one node. */
assay_status assay_tfl_straight(const tfl_op *op, const assay_attrs *attr, int *id);
/* x reshaped to `to`'s shape: into `to` itself. */
assay_status assay_tfl_reshape(const tfl_op *op, int x, int to);
/* A constant's integers (i32 or i64, also i8 and i16) from input i. */
assay_status assay_tfl_ints(const tfl_op *op, int i, int max, int64_t *out, int *n);
assay_status assay_tfl_int(const tfl_op *op, int i, int64_t *out);
/* A list of axes of a tensor of the given rank: counted from the front, each once. */
assay_status assay_tfl_axes(const tfl_op *op, int i, int rank, assay_list *out);
/* Bounds of the fused activation stored in a field of the options, set on node `id`. */
assay_status assay_tfl_activation(const tfl_op *op, int slot, int id);

/* Makes this operator one of the unsupported ones; returns ASSAY_ERR_UNSUPPORTED. */
assay_status assay_tfl_unsupported(const tfl_op *op, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 2, 3)))
#endif
    ;
/* Malformed: "FILE: operator 3 (CONV_2D, 'out'): ...", ASSAY_ERR_INPUT. */
assay_status assay_tfl_fail(const tfl_op *op, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 2, 3)))
#endif
    ;

/* ---- shapes.c: shapes that depend on data ---- */
/* The elements, in our storage, of input i, which is a value of the graph by now: those that the
 * input at hand leads to. Not supported without assay_tflite_options. */
assay_status assay_tfl_compute(const tfl_op *o, int i, const void **data);
/* Behind that the file's shapes mean nothing. Gives the outputs of a node to be the shapes that
 * follow from its inputs. */
assay_status assay_tfl_infer(const tfl_op *o, assay_op kind, const int *in, int n_in,
                             const int *out, int n_out, const assay_attrs *attr);
/* The same for the operator's output tensors, where its import asks them. */
assay_status assay_tfl_infer_outputs(const tfl_op *o);

/* ---- op_conv.c ---- */
/* Float activations in input x over integer weights in input w ("hybrid"): TFLite quantizes the
 * activations of each run by their own range, for speed. The network that this approximates is
 * float, with the real values of the weights, and that is what is imported: the weights become
 * these. Others are left as they are. */
assay_status assay_tfl_real_weights(const tfl_op *op, int x, int w);

/* ---- op_*.c: one function a kind of operator ---- */
#define TFL_NONE(code, name)
#define TFL_OP(code, name, function, op) assay_status assay_tfl_op_##function(const tfl_op *o);
#include "graph/tflite/op/ops.def"
#undef TFL_OP
#undef TFL_NONE

#endif
