/* A model being read: its tables, tensors and operators, the bounds of the work, and its
 * faults. It knows nothing of nodes. */
#ifndef ASSAY_GRAPH_TFLITE_MODEL_H
#define ASSAY_GRAPH_TFLITE_MODEL_H

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

struct tfl_op;

typedef struct tfl_import {
    const char *name;
    flat_file file;
    assay_graph *g;
    assay_arena *temp; /* lives as long as the import */
    flat_vector subgraphs, buffers;
    int subgraph, depth;             /* the one at hand; how many it is inside of */
    int inlined;                     /* how many of them are inlined inside each other */
    const struct tfl_import *around; /* what was at hand before a body of control flow, or NULL */
    int n_codes, n_faults, hidden_faults;
    tfl_code *code;
    tfl_tensor_list tensors; /* of the subgraph at hand */
    tfl_resource *resource;
    tfl_fault *fault;
    char why[360];                       /* the last one's words */
    uint64_t budget;                     /* work left, see tfl_charge */
    const assay_tflite_options *options; /* or NULL */
    bool follows_data; /* a shape was computed: later ones are inferred, not the file's */
    bool placeholders; /* some shape is of at most one element, or says that it is not known */
    assay_error *err;
    /* The driver's own (import/import.c), which hands itself down to the operators that hold
     * subgraphs. Fills *op from the operator's table; does not look at what kind it is. */
    assay_status (*read_operator)(struct tfl_import *m, int index, flat_table t, struct tfl_op *op);
    /* Imports subgraph `index` as a body of control flow: *number is its place in the graph's list.
     */
    assay_status (*import_body)(const struct tfl_op *o, int32_t index, int64_t *number);
    /* Imports the operators of subgraph `index` in the operator's place: operands and results are
     * its tensors. */
    assay_status (*inline_body)(const struct tfl_op *o, int32_t index);
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
    flat_vector custom_options; /* bytes */
} tfl_op;

/* ---- faults.c ---- */
/* Takes `amount` (about bytes touched) from the budget, which is proportional to the file's size:
 * no file, however its offsets share parts, makes the importer work forever. */
assay_status tfl_charge(tfl_import *m, uint64_t amount);
assay_status tfl_no_memory(tfl_import *m);

/* Makes this operator one of the unsupported ones; returns ASSAY_ERR_UNSUPPORTED. */
assay_status tfl_unsupported(const tfl_op *op, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 2, 3)))
#endif
    ;
/* Malformed: "FILE: operator 3 (CONV_2D, 'out'): ...", ASSAY_ERR_INPUT. */
assay_status tfl_fail(const tfl_op *op, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 2, 3)))
#endif
    ;

/* Of its first output, or "". */
const char *tfl_op_name(const tfl_op *op);

/* ---- tables.c ---- */
/* A string of the file, NUL-terminated, that lives as long as the import; NULL: no memory. */
char *tfl_text(tfl_import *m, flat_table t, int slot);
assay_status tfl_read_codes(tfl_import *m, flat_table model);
assay_status tfl_read_tensors(tfl_import *m, flat_table subgraph);
/* Indices of tensors; -1 is kept where `optional`. `what` they are is for the error. */
assay_status tfl_read_indices(tfl_import *m, flat_vector v, bool optional, const char *what,
                              const int **out);
/* `name`, followed by "#" and the index if the graph already has a value of that name. */
const char *tfl_unique(tfl_import *m, const char *name, int index);

/* ---- tensor.c ---- */
/* The schema's name: "FLOAT64". */
const char *tfl_type_name(enum tfl_type raw);
assay_status tfl_describe(tfl_import *m, int tensor, flat_table table);
/* "FILE: tensor 3 'NAME': what" */
assay_status tfl_tensor_fail(tfl_import *m, const tfl_tensor *t, const char *what);

/* ---- elements.c ---- */
/* The elements of a constant tensor in our storage (native order, unpacked, dense): borrowed from
 * the file when they stand there like that, else in the graph's arena. */
assay_status tfl_elements(tfl_import *m, tfl_tensor *t, const void **out);
/* Turns a constant of codes into the real numbers that they stand for. */
assay_status tfl_to_real(tfl_import *m, tfl_tensor *t);

/* ---- sparse.c: TFLite's sparse tensors to dense, `size` bytes per element, little-endian ---- */
assay_status tfl_densify(tfl_import *m, const tfl_tensor *t, size_t size, unsigned char *out);

#endif
