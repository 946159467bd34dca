/* Values while a model is imported: constants that are known now, or values of the graph under
 * construction; and what is read of the model's bytes to make them. Knows no node. */
#ifndef ASSAY_GRAPH_ONNX_VALUE_H
#define ASSAY_GRAPH_ONNX_VALUE_H

#include "graph/core/arena.h"
#include "graph/onnx/onnx.h"
#include "graph/onnx/onnx.pb-c.h"

typedef Assay__Onnx__Model pb_model;
typedef Assay__Onnx__Graph pb_graph;
typedef Assay__Onnx__Function pb_function;
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
    ONNX_FLOAT8E4M3FN = 17,
    ONNX_FLOAT8E4M3FNUZ = 18,
    ONNX_FLOAT8E5M2 = 19,
    ONNX_FLOAT8E5M2FNUZ = 20,
    ONNX_UINT4 = 21,
    ONNX_INT4 = 22,
    ONNX_FLOAT4E2M1 = 23,
    ONNX_FLOAT8E8M0 = 24,
    ONNX_UINT2 = 25,
    ONNX_INT2 = 26
};

/* ONNX's numbers for attribute types. */
enum onnx_attribute_type {
    ONNX_ATTR_FLOAT = 1,
    ONNX_ATTR_INT = 2,
    ONNX_ATTR_STRING = 3,
    ONNX_ATTR_TENSOR = 4,
    ONNX_ATTR_GRAPH = 5,
    ONNX_ATTR_FLOATS = 6,
    ONNX_ATTR_INTS = 7,
    ONNX_ATTR_STRINGS = 8
};

/* Memory of one large constant. The import's, until a graph takes it as it is. */
typedef struct onnx_block {
    void *data;
    bool kept; /* it lives as long as the graph */
} onnx_block;

/* A constant known at import. Data is in native byte order, C order, and possibly unaligned: read
 * it through onnx_get_*. */
typedef struct onnx_const {
    int dtype;
    int rank;
    int64_t dim[ASSAY_MAX_RANK];
    int64_t count;
    const void *data;
    bool lasts;        /* data is aligned and lives as long as the graph: no copy is needed */
    bool mapped;       /* from a file of external data */
    onnx_block *block; /* whose data these are, or NULL */
} onnx_const;

/* A constant after a DequantizeLinear, which becomes a node when something needs its floats. */
typedef struct onnx_codes {
    struct onnx_value *constant;
    assay_qparams q;
    int narrow; /* floats are rounded to this type, or 0 */
    bool no_zero_point;
} onnx_codes;

/* A sequence: its tensors, as they are named, not resolved. */
typedef struct onnx_list {
    int n;
    struct onnx_value **item;
} onnx_list;

typedef struct onnx_value {
    const char *name;
    const onnx_const *constant; /* NULL when not known at import */
    const onnx_codes *codes;    /* the codes that it is made from, or NULL */
    const onnx_list *list;      /* of a sequence, which is no tensor; or NULL */
    const onnx_const *sampled;  /* what it holds for the sample at hand, once asked; or NULL */
    int id;                     /* in the graph, or ASSAY_NO_VALUE */
    struct onnx_value *same;    /* an alias of that value (Identity), or NULL */
    const char *maker; /* the node that defines it, for messages; NULL: no definition yet */
    const struct onnx_node *by; /* that node, or NULL: an input, a constant, made by a handler */
    int uses;                   /* by nodes and as graph output */
    bool is_output;             /* of the graph */
    bool is_lost;               /* made by an unsupported node: nothing is known of it */
    int narrow;    /* the ONNX value is ONNX_FLOAT16 or ONNX_BFLOAT16; else 0 (narrow.c) */
    unsigned home; /* the graph under construction that it belongs to: onnx_import.home */
} onnx_value;

/* What names mean inside a subgraph, where that is not what they mean outside. Sorted by name. */
typedef struct onnx_scope {
    struct onnx_scope *around;
    const char **name, **real; /* real: in the table of values */
    size_t count;
} onnx_scope;

#define ONNX_MAX_DEPTH 16 /* of subgraphs */

/* A subgraph of the model; parsed once, and not changed after that. */
typedef struct onnx_parsed {
    struct onnx_parsed *next;
    const uint8_t *bytes;
    pb_graph *g;
} onnx_parsed;

/* A file of external data, and how much of it counts in what an import may allocate. */
typedef struct onnx_beside {
    struct onnx_beside *next;
    uint64_t device, node, counted;
} onnx_beside;

typedef struct onnx_import onnx_import;
struct onnx_import {
    const char *file;     /* for messages */
    const char *folder;   /* where external data may be; NULL: nowhere */
    const uint8_t *bytes; /* the model; constants borrow from it */
    size_t length;
    bool lasts; /* the bytes live as long as the graph */
    const assay_onnx_options *options;
    assay_graph *graph;
    unsigned home, n_homes; /* of that graph, and how many there have been: bodies are graphs too */
    assay_arena *temp;      /* everything that lives only during the import */
    size_t left;            /* bytes that may still be allocated there: by the files' sizes */
    onnx_beside *beside;
    int64_t opset; /* of the standard domain */
    const pb_model *model;
    size_t called; /* nodes of the functions called so far */
    onnx_value **value;
    size_t n_values, cap_values;
    size_t *slot; /* hash table: index into value + 1; n_slots is a power of two */
    size_t n_slots;
    unsigned n_fresh; /* names made unique by a number */
    int depth;        /* of the subgraph being imported */
    int n_unsupported;
    char unsupported[600]; /* the list so far, bounded */
    size_t unsupported_length;
    onnx_scope *scope;   /* of the subgraph being imported, or NULL */
    onnx_parsed *parsed; /* subgraphs */
    /* Subgraphs in place, in im->graph; the driver's own (import/body.c), which hands itself down
     * to the operators that hold them. begin_body makes the initializers of g known, until
     * onnx_pop_scope. import_body, between the two and any number of times, imports its nodes:
     * `in` are what its inputs stand for, `out` its outputs, not resolved, and lost where nodes are
     * unsupported. /TAG is appended to names; with NULL, only to those taken. */
    assay_status (*begin_body)(onnx_import *im, const pb_graph *g, const char *tag,
                               assay_error *err);
    assay_status (*import_body)(onnx_import *im, const pb_graph *g, const char *tag,
                                onnx_value *const *in, onnx_value **out, assay_error *err);
};

/* ---- memory.c ---- */
/* Zeroed bytes for the time of the import. NULL when out of memory, or the import has used what a
 * file of its size may. */
void *onnx_alloc(onnx_import *im, size_t bytes);
/* Zeroed memory for the constant's elements; false as onnx_alloc. */
bool onnx_give_room(onnx_import *im, onnx_const *c, size_t bytes);
/* Whether the network's graph has the block, or takes it now; b may be NULL. */
bool onnx_keep_block(const onnx_import *im, onnx_block *b);
/* Of elements in the mapped file that have been made others: they leave memory, and are read again
 * where something asks for them. */
void onnx_forget(const onnx_import *im, const onnx_const *c);

/* ---- values (values.c) ---- */
onnx_value *onnx_find_value(const onnx_import *im, const char *name); /* not resolved; or NULL */
/* The entry of that name, made when there is none; NULL when out of memory. */
onnx_value *onnx_add_value(onnx_import *im, const char *name);
onnx_value *onnx_resolve(onnx_value *v);
/* A name that no value has: BASE/SUFFIX, with a number when that is taken. NULL: no memory. */
const char *onnx_fresh_name(onnx_import *im, const char *base, const char *suffix);
/* Known, in the graph, or able to be put there. */
static inline bool onnx_is_made(const onnx_value *v)
{
    return v->constant || v->codes || v->list || v->id != ASSAY_NO_VALUE;
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

/* ---- names in subgraphs (scope.c) ---- */
/* A scope inside the one at hand, for `max` names; NULL when out of memory. */
onnx_scope *onnx_push_scope(onnx_import *im, size_t max);
void onnx_pop_scope(onnx_import *im);
/* Gives a name its meaning in the scope; false when it has one there. */
bool onnx_mean(onnx_scope *scope, const char *name, const char *real);
/* What the name means here: in the innermost scope that knows it, or itself. */
const char *onnx_meaning(const onnx_import *im, const char *name);
/* The value of that real name, if it belongs to the graph under construction; or NULL. */
onnx_value *onnx_find_here(const onnx_import *im, const char *real);
/* An entry of the table that is new, called NAME/TAG, with a number when that is taken. */
onnx_value *onnx_add_fresh(onnx_import *im, const char *name, const char *tag);

/* ---- element types (dtype.c) ---- */
size_t onnx_dtype_size(int dtype); /* 0: a type without a fixed size that we know */
const char *onnx_dtype_name(int dtype);
bool onnx_dtype_elem(int dtype, assay_elem *elem); /* false: no such kind in our graphs */
int onnx_elem_dtype(assay_elem elem);
bool onnx_is_float(int dtype);
bool onnx_is_narrow(int dtype); /* float16, bfloat16 */
bool onnx_is_small(int dtype);  /* patterns: float8..., float4e2m1 */
/* Bits of an element in files, where several stand in a byte, the first one lowest; else 0. */
unsigned onnx_dtype_packed(int dtype);

/* ---- constants (tensor.c, tensor_read.c) ---- */
/* Reads and checks a tensor of the model; the data may be borrowed from it. */
assay_status onnx_read_tensor(onnx_import *im, const pb_tensor *t, const char *what,
                              onnx_const *out, assay_error *err);
/* A new constant with zeroed data; NULL when out of memory or beyond what is accepted. */
onnx_const *onnx_new_const(onnx_import *im, int dtype, int rank, const int64_t *dim);
int64_t onnx_get_int(const onnx_const *c, int64_t i);
double onnx_get_real(const onnx_const *c, int64_t i);
/* Converts as a cast does: to the element type's precision, integers modulo their width. */
void onnx_set_int(onnx_const *c, int64_t i, int64_t v);
void onnx_set_real(onnx_const *c, int64_t i, double v);

/* ---- parse.c ---- */
/* What an import may allocate for a file of `length` bytes, and for so many more bytes of it. */
size_t onnx_memory_limit(size_t length);
size_t onnx_memory_more(size_t length);
/* The model in im->bytes. No string of it is NULL, and it has a graph. */
assay_status onnx_parse_model(onnx_import *im, pb_model **out, assay_error *err);
assay_status onnx_parse_graph(onnx_import *im, const ProtobufCBinaryData *bytes, pb_graph **out,
                              assay_error *err);

/* ---- file.c ---- */
/* The constant's data: `length` bytes at `offset` of a file in im->folder, refusing paths that lead
 * out of it. Large ones are mapped, not copied. */
assay_status onnx_read_external(onnx_import *im, const char *location, uint64_t offset,
                                uint64_t length, const char *what, onnx_const *out,
                                assay_error *err);

/* ---- the list of what is unsupported (unsupported.c) ---- */
void onnx_list_unsupported(onnx_import *im, const char *text);
/* A failure ends the import unless it is only unsupported: that goes into the list, and is OK. */
assay_status onnx_tolerate(onnx_import *im, assay_status s, const assay_error *err);

#endif
