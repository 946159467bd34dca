/* Networks from files: ONNX, TFLite, and our own text form, recognized by content. */
#ifndef ASSAY_INTERP_MODEL_H
#define ASSAY_INTERP_MODEL_H

#include "graph/core/graph.h"
#include "graph/onnx/onnx.h"
#include "graph/text/text.h"
#include "graph/tflite/tflite.h"
#include "interp/assay_tools.h"

typedef struct assay_model_options {
    int64_t batch;                 /* ONNX: value of symbolic leading dimensions; 0: 1 */
    const assay_onnx_shape *shape; /* ONNX: of inputs, instead of the model's */
    size_t n_shapes;
    const assay_onnx_fixed *fixed; /* ONNX: inputs that become constants */
    size_t n_fixed;
    assay_sample sample; /* where shapes depend on data */
    bool hybrid;         /* TFLite: codes of the activations in each run (graph/tflite/tflite.h) */
    bool keep_narrow; /* canonical: floats still rounded to float16 where the model is in float16 */
} assay_model_options;

/* What a model is, by its first bytes; n may be less than 8 where there are no more. */
enum assay_model_form run_model_form(const void *head, size_t n);
/* The same for a file. */
assay_status run_model_file_form(const char *path, enum assay_model_form *form, assay_error *err);
/* "INPUT=1x3x64x64"; *name, which the shape borrows, is malloc'd. ASSAY_ERR_INPUT: malformed.
 */
assay_status run_model_parse_shape(const char *text, assay_onnx_shape *shape, char **name,
                                   assay_error *err);
/* Whether the file is ONNX, where dequantize -> op -> quantize means an integer op
 * (opt/quantize/qdq.h); in TFLite's form it means what it says. */
bool run_model_is_onnx(const char *path);

/* options may be NULL. What no engine computes, an op on an element kind that its kernel does not
 * take, is refused here, all of it in one line. */
assay_status run_model_load(const char *path, const assay_model_options *options, assay_graph **out,
                            assay_error *err);
/* Loads and lowers canonically (opt/lower/opt.h), as profiling and quantizing do. A graph that
 * already holds integer nodes stays as it is. */
assay_status run_model_load_canonical(const char *path, const assay_model_options *options,
                                      assay_graph **out, assay_error *err);
/* The same for a model in memory, which the graph borrows; `name` stands for the file in messages.
 */
assay_status run_model_load_memory(const char *name, const void *bytes, size_t size,
                                   const assay_model_options *options, bool canonical,
                                   assay_graph **out, assay_error *err);
/* The text form from PATH and its large constants from the folder PATH.d, and back
 * (model_text.c). A save leaves the old network or the new one, whenever it is killed. To a
 * stream, all constants stand in the text. */
assay_status run_text_load(const char *path, assay_graph **out, assay_error *err);
assay_status run_text_save(const assay_graph *g, const char *path, assay_error *err);
/* Whether PATH says in which form a network is written: its ending is .assay (text form), .onnx or
 * .tflite; a stream (file_is_stream) takes text form. */
assay_status run_model_check_ending(const char *path, assay_error *err);
/* Writes in that form. */
assay_status run_model_save(const assay_graph *g, const char *path, assay_error *err);
/* Does any node compute on codes? */
bool run_model_is_quantized(const assay_graph *g);
/* Is nothing computed on codes, but for constants that are decoded? It needs no scheme. */
bool run_model_is_float(const assay_graph *g);
/* A network that computes in floats and holds constants as codes, and was loaded with these options
 * (may be NULL): the constants become numbers, and it is brought to canonical form, which loading
 * leaves to this. Others stay as they are. *g is freed and NULL where that fails. */
assay_status run_model_decode(assay_graph **g, const assay_model_options *options, bool canonical,
                              assay_error *err);
/* Does the network, or one of its bodies, have variables? */
bool run_model_has_state(const assay_graph *g);

#endif
