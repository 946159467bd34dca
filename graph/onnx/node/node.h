/* What the files of the ONNX importer share: import-time values, the toolbox of op handlers.
 *
 * While a model is imported each ONNX value is an onnx_value: a constant that is known now, or a
 * value of the graph under construction. Handlers (op_*.c) are written as if every value were
 * symbolic: onnx_op() evaluates an operation of constants at once (fold.c) and appends a node to
 * the graph otherwise. That is how shape arithmetic disappears.
 *
 * Errors are sticky: the first failure of a node is kept in n->status and later calls for that node
 * do nothing, so handlers read as straight lines. Functions that return a value return NULL then.
 */
#ifndef ASSAY_GRAPH_ONNX_IMPORT_H
#define ASSAY_GRAPH_ONNX_IMPORT_H

#include "graph/core/arena.h"
#include "graph/onnx/onnx.h"
#include "graph/onnx/onnx.pb-c.h"

typedef Assay__Onnx__Model pb_model;
typedef Assay__Onnx__Graph pb_graph;
typedef Assay__Onnx__Node pb_node;
typedef Assay__Onnx__Attribute pb_attribute;
typedef Assay__Onnx__Tensor pb_tensor;
typedef Assay__Onnx__ValueInfo pb_value_info;

/* ONNX's numbers for element types. */
enum onnx_dtype {
    ONNX_UNDEFINED = 0,
    ONNX_FLOAT = 1,
    ONNX_UINT8 = 2,
    ONNX_INT8 = 3,
    ONNX_UINT16 = 4,
    ONNX_INT16 = 5,
    ONNX_INT32 = 6,
    ONNX_INT64 = 7,
    ONNX_STRING = 8,
    ONNX_BOOL = 9,
    ONNX_FLOAT16 = 10,
    ONNX_DOUBLE = 11,
    ONNX_UINT32 = 12,
    ONNX_UINT64 = 13,
    ONNX_BFLOAT16 = 16,
    ONNX_UINT4 = 21,
    ONNX_INT4 = 22
};

/* ONNX's numbers for attribute types. */
enum onnx_attribute_type {
    ONNX_ATTR_FLOAT = 1,
    ONNX_ATTR_INT = 2,
    ONNX_ATTR_STRING = 3,
    ONNX_ATTR_TENSOR = 4,
    ONNX_ATTR_GRAPH = 5,
    ONNX_ATTR_FLOATS = 6,
    ONNX_ATTR_INTS = 7
};

/* A constant known at import. Data is in native byte order, C order, and possibly unaligned: read
 * it through onnx_get_*. */
typedef struct onnx_const {
    int dtype;
    int rank;
    int64_t dim[ASSAY_MAX_RANK];
    int64_t count;
    const void *data;
    bool lasts; /* data is aligned and lives as long as the graph: no copy is needed */
} onnx_const;

/* A constant behind a DequantizeLinear, which becomes a node when something needs its floats. */
typedef struct onnx_codes {
    struct onnx_value *constant;
    assay_qparams q;
    int narrow; /* floats are rounded to this type, or 0 */
} onnx_codes;

typedef struct onnx_value {
    const char *name;
    const onnx_const *constant; /* NULL when not known at import */
    const onnx_codes *codes;    /* the codes that it is made from, or NULL */
    int id;                     /* in the graph, or ASSAY_NO_VALUE */
    struct onnx_value *same;    /* an alias of that value (Identity), or NULL */
    const char *maker; /* the node that defines it, for messages; NULL: no definition yet */
    const struct onnx_node *by; /* that node, or NULL: an input, a constant, made by a handler */
    int uses;                   /* by nodes and as graph output */
    bool is_output;             /* of the graph */
    bool is_lost;               /* made by an unsupported node: nothing is known of it */
    int narrow; /* the ONNX value is ONNX_FLOAT16 or ONNX_BFLOAT16; else 0 (narrow.c) */
} onnx_value;

typedef struct onnx_import {
    const char *file;     /* for messages */
    const char *folder;   /* where external data may be; NULL: nowhere */
    const uint8_t *bytes; /* the model; constants borrow from it */
    size_t length;
    bool lasts; /* the bytes live as long as the graph */
    const assay_onnx_options *options;
    assay_graph *graph;
    assay_arena *temp; /* everything that lives only during the import */
    size_t left;       /* bytes that may still be allocated there, set by the file's size */
    int64_t opset;     /* of the standard domain */
    onnx_value **value;
    size_t n_values, cap_values;
    size_t *slot; /* hash table: index into value + 1; n_slots is a power of two */
    size_t n_slots;
    unsigned n_fresh; /* names made unique by a number */
    int depth;        /* of the subgraph being imported */
    int n_unsupported;
    char unsupported[600]; /* the list so far, bounded */
    size_t unsupported_length;
} onnx_import;

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
const onnx_op_row *onnx_find_op(const char *domain, const char *type);

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

/* ---- values (values.c) ---- */
/* Zeroed bytes for the time of the import. NULL when memory is out, or the import has used what a
 * file of its size may. */
void *onnx_alloc(onnx_import *im, size_t bytes);
onnx_value *onnx_find_value(const onnx_import *im, const char *name); /* not resolved; or NULL */
/* The entry of that name, made when there is none; NULL when memory is out. */
onnx_value *onnx_add_value(onnx_import *im, const char *name);
onnx_value *onnx_resolve(onnx_value *v);
/* A name that no value has: BASE/SUFFIX, with a number when that is taken. NULL: no memory. */
const char *onnx_fresh_name(onnx_import *im, const char *base, const char *suffix);
/* Known, in the graph, or able to be put there. */
static inline bool onnx_is_made(const onnx_value *v)
{
    return v->constant || v->codes || v->id != ASSAY_NO_VALUE;
}
/* Weights: a constant, or the codes of one. */
static inline bool onnx_is_constant(const onnx_value *v)
{
    return v->constant || v->codes;
}
/* The graph value of v; a constant is added to the graph now. ASSAY_NO_VALUE on failure. */
int onnx_materialize(onnx_import *im, onnx_value *v, assay_error *err);
/* The same for codes with parameters q; ASSAY_ERR_UNSUPPORTED when v has others, unless v is
 * constant: then it is copied. */
int onnx_materialize_codes(onnx_import *im, onnx_value *v, const assay_qparams *q,
                           assay_error *err);

/* ---- constants (tensor.c, tensor_read.c) ---- */
size_t onnx_dtype_size(int dtype); /* 0: a type without a fixed size that we know */
const char *onnx_dtype_name(int dtype);
bool onnx_dtype_elem(int dtype, assay_elem *elem); /* false: no such kind in our graphs */
int onnx_elem_dtype(assay_elem elem);
/* Reads and checks a tensor of the model; the data may be borrowed from it. */
assay_status onnx_read_tensor(onnx_import *im, const pb_tensor *t, const char *what,
                              onnx_const *out, assay_error *err);
/* A new constant with zeroed data; NULL when out of memory or beyond what is accepted. */
onnx_const *onnx_new_const(onnx_import *im, int dtype, int rank, const int64_t *dim);
bool onnx_is_float(int dtype);
int64_t onnx_get_int(const onnx_const *c, int64_t i);
double onnx_get_real(const onnx_const *c, int64_t i);
/* Converts as a cast does: to the element type's precision, integers modulo their width. */
void onnx_set_int(onnx_const *c, int64_t i, int64_t v);
void onnx_set_real(onnx_const *c, int64_t i, double v);

/* ---- inputs of a node (node.c) ---- */
bool onnx_has(const onnx_node *n, size_t i);
onnx_value *onnx_in(onnx_node *n, size_t i);       /* NULL when absent; a required one is present */
assay_type onnx_type(onnx_node *n, onnx_value *v); /* no quantization parameters */
int64_t onnx_count(const assay_type *t);
/* An input that must be known at import, as integers. Absent: returns false. */
bool onnx_int_list(onnx_node *n, size_t i, const char *what, assay_list *list);
/* As above, one number. */
bool onnx_one_int(onnx_node *n, size_t i, const char *what, int64_t *value);
bool onnx_one_float(onnx_node *n, size_t i, const char *what, float *value);
/* Refuses a constant with infinities (weights, scales, biases). */
void onnx_check_finite(onnx_node *n, onnx_value *v);
/* True when the ONNX output exists and something uses it. */
bool onnx_out_used(const onnx_node *n, size_t i);

/* ---- attributes (node.c) ---- */
const pb_attribute *onnx_attribute(onnx_node *n, const char *name, int type);
int64_t onnx_int(onnx_node *n, const char *name, int64_t otherwise);
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
bool onnx_is_narrow(int dtype);
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
/* Data movement and the choice of codes keep parameters: gives them to the values before and behind
 * that have none yet. */
assay_status onnx_spread_params(assay_graph *g, assay_error *err);

/* ---- op_conv.c ---- */
/* The attributes of a Conv of x with these weights, of a pool of x, explicit padding. `nhwc`: x has
 * its channels last. */
assay_attrs onnx_conv_attrs(onnx_node *n, const assay_type *x, const assay_type *weights);
assay_attrs onnx_pool_attrs(onnx_node *n, const assay_type *x, bool nhwc);

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

/* ---- parse.c ---- */
/* What an import may allocate for a file of `length` bytes. */
size_t onnx_memory_limit(size_t length);
/* The model in im->bytes. No string of it is NULL, and it has a graph. */
assay_status onnx_parse_model(onnx_import *im, pb_model **out, assay_error *err);
assay_status onnx_parse_graph(onnx_import *im, const ProtobufCBinaryData *bytes, pb_graph **out,
                              assay_error *err);

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

/* ---- import.c ---- */
/* A failure ends the import unless it is only unsupported: that goes into the list, and is OK. */
assay_status onnx_tolerate(onnx_import *im, assay_status s, const assay_error *err);
/* Imports the nodes of a subgraph in place: values of the graphs around it are visible. Fills in
 * its n_out outputs, which are lost where the subgraph has unsupported nodes. */
assay_status onnx_import_body(onnx_import *im, const ProtobufCBinaryData *bytes, onnx_value **out,
                              size_t n_out, assay_error *err);

/* ---- fuse.c ---- */
/* Replaces GELU, hard-swish and layer normalization as exporters write them. */
assay_status onnx_fuse(assay_graph *g, assay_error *err);

/* ---- file.c ---- */
/* Reads `length` bytes at `offset` of a file in `folder`, refusing paths that lead out of it. */
assay_status onnx_read_external(const char *folder, const char *location, uint64_t offset,
                                uint64_t length, void *into, const char *what, assay_error *err);

#define ONNX_OP(domain, type, fn, op, min_in, max_in, max_out, attributes)                         \
    void onnx_import_##fn(onnx_node *n);
#include "graph/onnx/op/ops.def"
#undef ONNX_OP

#endif
