/* A model's parts as a FlatBuffer. */
#include <string.h>

#include "graph/tflite/export/emit.h"

#define SCHEMA_VERSION   3
#define CODE_PLACEHOLDER 127 /* in the old one-byte field, for codes that it cannot hold */
#define DATA_ALIGNMENT   16  /* schema.fbs, Buffer.data: force_align */

/* schema.fbs, union BuiltinOptions; operators that are not here have none. */
static const unsigned char options_types[BUILTIN_COUNT] = {
    [BUILTIN_CONV_2D] = 1,
    [BUILTIN_DEPTHWISE_CONV_2D] = 2,
    [BUILTIN_AVERAGE_POOL_2D] = 5,
    [BUILTIN_MAX_POOL_2D] = 5,
    [BUILTIN_FULLY_CONNECTED] = 8,
    [BUILTIN_SVDF] = 6,
    [BUILTIN_SOFTMAX] = 9,
    [BUILTIN_CONCATENATION] = 10,
    [BUILTIN_ADD] = 11,
    [BUILTIN_L2_NORMALIZATION] = 12,
    [BUILTIN_LOCAL_RESPONSE_NORMALIZATION] = 13,
    [BUILTIN_RESIZE_BILINEAR] = 15,
    [BUILTIN_RESHAPE] = 17,
    [BUILTIN_SPACE_TO_DEPTH] = 19,
    [BUILTIN_MUL] = 21,
    [BUILTIN_PAD] = 22,
    [BUILTIN_GATHER] = 23,
    [BUILTIN_TRANSPOSE] = 26,
    [BUILTIN_MEAN] = 27,
    [BUILTIN_SUM] = 27,
    [BUILTIN_REDUCE_PROD] = 27,
    [BUILTIN_REDUCE_MAX] = 27,
    [BUILTIN_REDUCE_MIN] = 27,
    [BUILTIN_SUB] = 28,
    [BUILTIN_DIV] = 29,
    [BUILTIN_STRIDED_SLICE] = 32,
    [BUILTIN_EXP] = 33,
    [BUILTIN_TOPK_V2] = 34,
    [BUILTIN_LOG_SOFTMAX] = 36,
    [BUILTIN_CAST] = 37,
    [BUILTIN_DEQUANTIZE] = 38,
    [BUILTIN_MAXIMUM] = 39,
    [BUILTIN_MINIMUM] = 39,
    [BUILTIN_ARG_MAX] = 40,
    [BUILTIN_LESS] = 41,
    [BUILTIN_NEG] = 42,
    [BUILTIN_PADV2] = 43,
    [BUILTIN_GREATER] = 44,
    [BUILTIN_GREATER_EQUAL] = 45,
    [BUILTIN_LESS_EQUAL] = 46,
    [BUILTIN_SLICE] = 48,
    [BUILTIN_TRANSPOSE_CONV] = 49,
    [BUILTIN_TILE] = 51,
    [BUILTIN_EQUAL] = 53,
    [BUILTIN_NOT_EQUAL] = 54,
    [BUILTIN_POW] = 56,
    [BUILTIN_ARG_MIN] = 57,
    [BUILTIN_LOGICAL_OR] = 60,
    [BUILTIN_LOGICAL_AND] = 62,
    [BUILTIN_LOGICAL_NOT] = 63,
    [BUILTIN_FLOOR_DIV] = 65,
    [BUILTIN_SQUARE] = 66,
    [BUILTIN_FLOOR_MOD] = 72,
    [BUILTIN_RESIZE_NEAREST_NEIGHBOR] = 74,
    [BUILTIN_LEAKY_RELU] = 75,
    [BUILTIN_SQUARED_DIFFERENCE] = 76,
    [BUILTIN_MIRROR_PAD] = 77,
    [BUILTIN_ABS] = 78,
    [BUILTIN_SPLIT_V] = 79,
    [BUILTIN_REVERSE_V2] = 81,
    [BUILTIN_UNIDIRECTIONAL_SEQUENCE_LSTM] = 71,
    [BUILTIN_ADD_N] = 82,
    [BUILTIN_GATHER_ND] = 83,
    [BUILTIN_COS] = 84,
    [BUILTIN_WHERE] = 85,
    [BUILTIN_QUANTIZE] = 89,
    [BUILTIN_HARD_SWISH] = 91,
    [BUILTIN_IF] = 92,
    [BUILTIN_WHILE] = 93,
    [BUILTIN_DEPTH_TO_SPACE] = 94,
    [BUILTIN_SELECT_V2] = 98,
    [BUILTIN_BATCH_MATMUL] = 101,
    [BUILTIN_CUMSUM] = 102,
    [BUILTIN_CALL_ONCE] = 103,
    [BUILTIN_BROADCAST_TO] = 104,
    [BUILTIN_VAR_HANDLE] = 111,
    [BUILTIN_READ_VARIABLE] = 112,
    [BUILTIN_ASSIGN_VARIABLE] = 113,
    [BUILTIN_GELU] = 116,
    [BUILTIN_DYNAMIC_UPDATE_SLICE] = 117,
    [BUILTIN_SIGN] = 123,
};

static int options_type(int builtin)
{
    return options_types[builtin];
}

/* Operators by the order of their first use: index[builtin] - 1; each of its latest version. */
static size_t write_codes(flat_writer *w, const tfl_export *part, int n_parts,
                          int index[BUILTIN_COUNT])
{
    int n = 0, used[BUILTIN_COUNT], version[BUILTIN_COUNT] = {0};
    size_t list;

    memset(index, 0, BUILTIN_COUNT * sizeof *index);
    for (int k = 0; k < n_parts; ++k)
        for (int i = 0; i < part[k].n_ops; ++i) {
            int builtin = part[k].op[i].builtin;
            if (index[builtin] == 0) {
                used[n++] = builtin;
                index[builtin] = n;
            }
            if (version[builtin] < part[k].op[i].version)
                version[builtin] = part[k].op[i].version;
        }
    list = tfl_flat_write_offsets(w, (size_t)n);
    for (int i = 0; i < n; ++i) {
        int old = used[i] < CODE_PLACEHOLDER ? used[i] : CODE_PLACEHOLDER;
        const flat_field code[] = {{CODE_DEPRECATED, 1, (uint32_t)old},
                                   {CODE_VERSION, 4, (uint32_t)version[used[i]]},
                                   {CODE_BUILTIN, 4, (uint32_t)used[i]}};
        tfl_flat_refer_element(w, list, (size_t)i, tfl_flat_write_table(w, code, 3));
    }
    return list;
}

static size_t write_parameters(flat_writer *w, tfl_export *x, const assay_qparams *q)
{
    const flat_field field[] = {{QUANT_SCALE, FLAT_OFFSET, 0},
                                {QUANT_ZERO_POINT, FLAT_OFFSET, 0},
                                {QUANT_DIMENSION, 4, (uint32_t)q->axis}};
    size_t table = tfl_flat_write_table(w, field, 3);
    int64_t *zero = tfl_room(x, q->count * sizeof *zero + 1);

    for (size_t i = 0; zero && i < q->count; ++i)
        zero[i] = q->zero_point[i];
    tfl_flat_refer(w, table, QUANT_SCALE, tfl_flat_write_vector(w, q->scale, q->count, 4, 4));
    if (zero)
        tfl_flat_refer(w, table, QUANT_ZERO_POINT, tfl_flat_write_vector(w, zero, q->count, 8, 8));
    return table;
}

static size_t write_tensor(flat_writer *w, tfl_export *x, const tfl_out_tensor *t, uint32_t buffer)
{
    bool has_q = t->type.q.granularity != ASSAY_Q_NONE;
    const flat_field field[] = {{TENSOR_SHAPE, FLAT_OFFSET, 0},
                                {TENSOR_TYPE, 1, (uint32_t)t->raw},
                                {TENSOR_BUFFER, 4, buffer},
                                {TENSOR_NAME, FLAT_OFFSET, 0},
                                {TENSOR_IS_VARIABLE, 1, t->is_variable},
                                {TENSOR_QUANTIZATION, FLAT_OFFSET, 0}};
    size_t table = tfl_flat_write_table(w, field, has_q ? 6 : 5);
    int32_t shape[ASSAY_MAX_RANK];

    for (int i = 0; i < t->type.rank; ++i) {
        if (t->type.dim[i] > INT32_MAX && !x->status)
            x->status = assay_fail(x->err, ASSAY_ERR_UNSUPPORTED,
                                   "value '%.200s': TFLite's extents have 32 bits", t->name);
        shape[i] = (int32_t)t->type.dim[i];
    }
    tfl_flat_refer(w, table, TENSOR_SHAPE,
                   tfl_flat_write_vector(w, shape, (size_t)t->type.rank, 4, 4));
    tfl_flat_refer(w, table, TENSOR_NAME, tfl_flat_write_string(w, t->name));
    if (has_q)
        tfl_flat_refer(w, table, TENSOR_QUANTIZATION, write_parameters(w, x, &t->type.q));
    return table;
}

static size_t write_operator(flat_writer *w, const tfl_out_operator *o, int code)
{
    int type = options_type(o->builtin), n = 3;
    flat_field field[6] = {{OPERATOR_CODE, 4, (uint32_t)code},
                           {OPERATOR_INPUTS, FLAT_OFFSET, 0},
                           {OPERATOR_OUTPUTS, FLAT_OFFSET, 0}};
    size_t table, options;

    if (type) {
        field[n++] = (flat_field){OPERATOR_OPTIONS - 1, 1, (uint32_t)type};
        field[n++] = (flat_field){OPERATOR_OPTIONS, FLAT_OFFSET, 0};
    }
    if (o->n_intermediates)
        field[n++] = (flat_field){OPERATOR_INTERMEDIATES, FLAT_OFFSET, 0};
    table = tfl_flat_write_table(w, field, n);
    tfl_flat_refer(w, table, OPERATOR_INPUTS,
                   tfl_flat_write_vector(w, o->in, (size_t)o->n_in, 4, 4));
    tfl_flat_refer(w, table, OPERATOR_OUTPUTS,
                   tfl_flat_write_vector(w, o->out, (size_t)o->n_out, 4, 4));
    if (o->n_intermediates)
        tfl_flat_refer(w, table, OPERATOR_INTERMEDIATES,
                       tfl_flat_write_vector(w, o->intermediate, (size_t)o->n_intermediates, 4, 4));
    if (!type)
        return table;
    options = tfl_flat_write_table(w, o->option, o->n_options);
    tfl_flat_refer(w, table, OPERATOR_OPTIONS, options);
    for (int i = 0; i < o->n_options; ++i)
        if (o->option[i].size == FLAT_OFFSET)
            tfl_flat_refer(w, options, o->option[i].slot, tfl_flat_write_string(w, o->text));
    return table;
}

/* Two codes a byte, the first in the low half. */
static size_t write_int4(flat_writer *w, tfl_export *x, const int8_t *code, size_t n)
{
    unsigned char *packed = tfl_room(x, n / 2 + 1);

    for (size_t i = 0; packed && i < n; ++i)
        packed[i / 2] |= (unsigned char)((code[i] & 0xf) << (i % 2 ? 4 : 0));
    return packed ? tfl_flat_write_vector(w, packed, (n + 1) / 2, 1, DATA_ALIGNMENT) : 0;
}

/* Buffer 0 is the empty one; constants have one each, in the order of the tensors. */
static size_t write_buffer(flat_writer *w, tfl_export *x, const tfl_out_tensor *t)
{
    const flat_field data = {BUFFER_DATA, FLAT_OFFSET, 0};
    size_t count = (size_t)assay_shape_count(&t->type), table = tfl_flat_write_table(w, &data, 1);

    tfl_flat_refer(w, table, BUFFER_DATA,
                   t->raw == TFL_INT4
                       ? write_int4(w, x, t->data, count)
                       : tfl_flat_write_bytes(w, t->data, count, assay_elem_size(t->type.elem),
                                              DATA_ALIGNMENT));
    return table;
}

static size_t write_buffers(flat_writer *w, tfl_export *part, int n_parts, uint32_t n)
{
    size_t list = tfl_flat_write_offsets(w, (size_t)n + 1), at = 1;

    tfl_flat_refer_element(w, list, 0, tfl_flat_write_table(w, NULL, 0));
    for (int k = 0; k < n_parts; ++k)
        for (int i = 0; i < part[k].n_tensors; ++i)
            if (part[k].tensor[i].data)
                tfl_flat_refer_element(w, list, at++,
                                       write_buffer(w, &part[k], &part[k].tensor[i]));
    return list;
}

static size_t write_list(flat_writer *w, tfl_export *x, const int *value, int n)
{
    int32_t *tensor = tfl_room(x, (size_t)n * sizeof *tensor + 1);

    for (int i = 0; tensor && i < n; ++i)
        tensor[i] = x->tensor_of[value[i]];
    return tensor ? tfl_flat_write_vector(w, tensor, (size_t)n, 4, 4) : 0;
}

static size_t write_subgraph(flat_writer *w, tfl_export *x, const int *code, uint32_t *n_buffers)
{
    const flat_field field[] = {{SUBGRAPH_TENSORS, FLAT_OFFSET, 0},
                                {SUBGRAPH_INPUTS, FLAT_OFFSET, 0},
                                {SUBGRAPH_OUTPUTS, FLAT_OFFSET, 0},
                                {SUBGRAPH_OPERATORS, FLAT_OFFSET, 0},
                                {SUBGRAPH_NAME, FLAT_OFFSET, 0}};
    size_t table = tfl_flat_write_table(w, field, 5), list;

    tfl_flat_refer(w, table, SUBGRAPH_NAME, tfl_flat_write_string(w, x->g->name));
    tfl_flat_refer(w, table, SUBGRAPH_INPUTS, write_list(w, x, x->g->input, x->g->n_inputs));
    tfl_flat_refer(w, table, SUBGRAPH_OUTPUTS, write_list(w, x, x->g->output, x->g->n_outputs));
    list = tfl_flat_write_offsets(w, (size_t)x->n_tensors);
    tfl_flat_refer(w, table, SUBGRAPH_TENSORS, list);
    for (int i = 0; i < x->n_tensors; ++i) {
        uint32_t buffer = x->tensor[i].data ? ++*n_buffers : 0;
        tfl_flat_refer_element(w, list, (size_t)i, write_tensor(w, x, &x->tensor[i], buffer));
    }
    list = tfl_flat_write_offsets(w, (size_t)x->n_ops);
    tfl_flat_refer(w, table, SUBGRAPH_OPERATORS, list);
    for (int i = 0; i < x->n_ops; ++i)
        tfl_flat_refer_element(w, list, (size_t)i,
                               write_operator(w, &x->op[i], code[x->op[i].builtin] - 1));
    return table;
}

void tfl_write_model(flat_writer *w, tfl_export *part, int n_parts)
{
    const flat_field field[] = {{MODEL_VERSION, 4, SCHEMA_VERSION},
                                {MODEL_OPERATOR_CODES, FLAT_OFFSET, 0},
                                {MODEL_SUBGRAPHS, FLAT_OFFSET, 0},
                                {MODEL_DESCRIPTION, FLAT_OFFSET, 0},
                                {MODEL_BUFFERS, FLAT_OFFSET, 0}};
    int code[BUILTIN_COUNT];
    uint32_t n_buffers = 0;
    size_t model, list;

    tfl_flat_begin(w, "TFL3");
    model = tfl_flat_write_table(w, field, 5);
    tfl_flat_refer_root(w, model);
    tfl_flat_refer(w, model, MODEL_DESCRIPTION, tfl_flat_write_string(w, "Assay"));
    tfl_flat_refer(w, model, MODEL_OPERATOR_CODES, write_codes(w, part, n_parts, code));
    list = tfl_flat_write_offsets(w, (size_t)n_parts);
    tfl_flat_refer(w, model, MODEL_SUBGRAPHS, list);
    for (int k = 0; k < n_parts; ++k)
        tfl_flat_refer_element(w, list, (size_t)k, write_subgraph(w, &part[k], code, &n_buffers));
    tfl_flat_refer(w, model, MODEL_BUFFERS, write_buffers(w, part, n_parts, n_buffers));
    for (int k = 1; k < n_parts && !part[0].status; ++k)
        part[0].status = part[k].status;
}
