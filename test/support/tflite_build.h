/* Small TFLite models for tests, and single-op networks run through importer and engine. */
#ifndef ASSAY_TEST_TFLITE_BUILD_H
#define ASSAY_TEST_TFLITE_BUILD_H

#include "graph/core/graph.h"
#include "graph/tflite/flat/schema.h"
#include "test/support/support.h"

#define TB_MAX 48

typedef struct tb_tensor {
    char name[64];
    int type; /* enum tfl_type */
    int rank;
    int32_t dim[8];
    int n_scales, axis;
    float scale[64];
    int64_t zero[64];
    bool has_data, is_variable, outside; /* outside: the bytes stand behind the FlatBuffer */
    const void *data;
    size_t bytes;
    int block_scales, block; /* tensor and size of blockwise parameters, when block is not 0 */
    int sparse;              /* test of sparsity: 1: CSR of the last of two axes */
} tb_tensor;

typedef struct tb_option {
    int slot, size; /* bytes */
    int64_t bits;
} tb_option;

typedef struct tb_op {
    int builtin, n_in, n_out, n_options;
    const char *custom;
    const char *variable; /* VAR_HANDLE's shared name */
    bool second_options;  /* builtin_options_2 instead of builtin_options */
    const void *custom_options;
    size_t custom_bytes;
    const int32_t *list; /* a vector in slot 0 of the options, words as they stand */
    int n_list;
    int in[TB_MAX], out[8];
    tb_option option[8];
} tb_op;

typedef struct tb_model {
    int n_tensors, n_ops, n_inputs, n_outputs;
    tb_tensor tensor[TB_MAX];
    tb_op op[16];
    int input[8], output[8];
    const char *signature[8];    /* names of the inputs, when signature[0] is set */
    const char *key;             /* that signature's key, or NULL */
    const struct tb_model *next; /* the next subgraph, or NULL */
} tb_model;

/* Dimensions end with -1. Returns the tensor's index. */
int tb_add(tb_model *m, const char *name, int type, ...);
/* The last tensor: per-tensor parameters; constant elements (borrowed). */
void tb_quant(tb_model *m, float scale, int64_t zero);
void tb_data(tb_model *m, const void *data, size_t bytes);
/* Tensor indices; lists end with -2 (-1 is an absent input). Returns the operator. */
tb_op *tb_operator(tb_model *m, int builtin, ...);
void tb_outputs(tb_op *op, ...);
void tb_option_i32(tb_op *op, int slot, int32_t value);
void tb_option_i8(tb_op *op, int slot, int8_t value);
void tb_option_f32(tb_op *op, int slot, float value);
/* Changes up to 6 bytes, words or runs of a file, and cuts it now and then. */
void tb_damage(test_rng *rng, unsigned char *bytes, size_t *size);
/* The file; free it. */
unsigned char *tb_finish(const tb_model *m, size_t *size);

/* Imports the model; *file must be freed after the graph. */
assay_status tb_import(const tb_model *m, unsigned char **file, assay_graph **g, assay_error *err);
assay_graph *tb_import_ok(const tb_model *m, unsigned char **file);
/* Imports and runs the model on the inputs' bytes; its first output must be these bytes. Damaged
 * copies must be refused or imported. */
void tb_run(const tb_model *m, const void *const *in, const void *want, size_t bytes);
/* The import must fail with a message that has this part. */
void tb_refuse(const tb_model *m, const char *part);
/* The value of that name, which must exist; the node that computes it. */
const assay_value *tb_value(const assay_graph *g, const char *name);
const assay_node *tb_producer(const assay_graph *g, const char *name);

/* A convolution 'y' of 'x': i8, 5x5x2, SAME, stride 2, RELU6. */
extern const int8_t tb_conv_weights[3 * 9 * 2];
extern const int32_t tb_conv_bias[3];
tb_model tb_conv_model(void);

#endif
