/* Import of TFLite models.
 *
 * The graph keeps the model's layout (nhwc), order of operators and tensor names; where the file
 * gives a name twice or none, "#" and the tensor's index are appended, and the inputs of a
 * signature take the signature's names. Padding schemes become explicit pads, fused activations
 * become bounds of the node, depthwise filters become filters of one input channel a group. What a
 * TFLite operator does in several of our ops gets values named after its output, "OUTPUT/part". */
#ifndef ASSAY_GRAPH_TFLITE_TFLITE_H
#define ASSAY_GRAPH_TFLITE_TFLITE_H

#include "graph/core/sample.h"

typedef struct assay_tflite_row assay_tflite_row;

typedef struct assay_tflite_options {
    assay_sample sample; /* where shapes depend on data: WHERE, a RESHAPE that reads its shape */
    /* Unless NULL, gets every operator in the file's order, those of a body of control flow before
     * the operator that runs it: whoever shows a model that is not supported. */
    void (*seen)(void *to, const assay_tflite_row *row);
    void *to;
    /* Integer weights under float activations: as TFLite computes them, codes made of the
     * activations in each run; else float, with the real values of the weights. */
    bool hybrid;
} assay_tflite_options;

/* An operator as the file has it; everything borrowed for the call. */
struct assay_tflite_row {
    int subgraph, index;
    const char *kind;       /* as "CONV_2D" */
    const char *output;     /* its first output tensor's name; "" when there is none */
    const assay_type *type; /* of that; of kind NONE when it is not one of ours; NULL: no output */
    const char *why;        /* what is not supported, or NULL */
};

/* Maps the file; constants stay there, and the mapping lives as long as the graph does. The file
 * must not be truncated meanwhile. On success *out is a verified graph that the caller frees with
 * assay_graph_free; its model_digest is the XXH3-128 of the file. On failure *out is NULL.
 * ASSAY_ERR_INPUT names a byte offset, an operator or a tensor; ASSAY_ERR_UNSUPPORTED lists all
 * that is not supported, operators by kind with their indices. */
assay_status tfl_import_file(const char *path, assay_graph **out, assay_error *err);
/* The same; options may be NULL. */
assay_status tfl_import_file_with(const char *path, const assay_tflite_options *options,
                                  assay_graph **out, assay_error *err);

/* A model may have several entry points, its signatures: "PATH#KEY" is the one of that key, PATH
 * the first subgraph. Returns the file's part of a name, in `room`, or `path` itself when it has no
 * other part or is the name of a file as it stands; *entry is the key or NULL. */
const char *tfl_split(const char *path, char room[4096], const char **entry);

/* The same from memory, which is borrowed: it must outlive the graph. `name` stands for the file in
 * messages; `entry` is a signature's key, or NULL for the first subgraph; options may be NULL. */
assay_status tfl_import_entry(const char *name, const char *entry, const void *bytes, size_t size,
                              const assay_tflite_options *options, assay_graph **out,
                              assay_error *err);
/* From the first subgraph. */
assay_status tfl_import_memory(const char *name, const void *bytes, size_t size, assay_graph **out,
                               assay_error *err);

#endif
