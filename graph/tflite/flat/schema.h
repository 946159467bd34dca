/* Facts of the TFLite schema: the slots of the fields that the importer reads, and enumerations.
 *
 * Source: tensorflow/compiler/mlir/lite/schema/schema.fbs (a slot is a field's position in its
 * table; a union takes two, its type first). Operators are in ops.def. */
#ifndef ASSAY_GRAPH_TFLITE_SCHEMA_H
#define ASSAY_GRAPH_TFLITE_SCHEMA_H

enum tfl_model {
    MODEL_VERSION = 0,
    MODEL_OPERATOR_CODES = 1,
    MODEL_SUBGRAPHS = 2,
    MODEL_DESCRIPTION = 3,
    MODEL_BUFFERS = 4,
    MODEL_SIGNATURE_DEFS = 7
};
enum tfl_operator_code { CODE_DEPRECATED = 0, CODE_CUSTOM = 1, CODE_VERSION = 2, CODE_BUILTIN = 3 };
enum tfl_subgraph {
    SUBGRAPH_TENSORS = 0,
    SUBGRAPH_INPUTS = 1,
    SUBGRAPH_OUTPUTS = 2,
    SUBGRAPH_OPERATORS = 3,
    SUBGRAPH_NAME = 4
};
enum tfl_tensor_slot {
    TENSOR_SHAPE = 0,
    TENSOR_TYPE = 1,
    TENSOR_BUFFER = 2,
    TENSOR_NAME = 3,
    TENSOR_QUANTIZATION = 4,
    TENSOR_IS_VARIABLE = 5,
    TENSOR_SPARSITY = 6,
    TENSOR_SHAPE_SIGNATURE = 7,
    TENSOR_EXTERNAL_BUFFER = 10
};
enum tfl_quantization {
    QUANT_SCALE = 2,
    QUANT_ZERO_POINT = 3,
    QUANT_DETAILS_TYPE = 4,
    QUANT_DETAILS = 5,
    QUANT_DIMENSION = 6
};
enum tfl_quantization_details { DETAILS_NONE = 0, DETAILS_BLOCKWISE = 2 };
enum tfl_blockwise { BLOCKWISE_SCALES = 0, BLOCKWISE_ZERO_POINTS = 1, BLOCKWISE_SIZE = 2 };
enum tfl_buffer { BUFFER_DATA = 0, BUFFER_OFFSET = 1, BUFFER_SIZE = 2 };
enum tfl_operator {
    OPERATOR_CODE = 0,
    OPERATOR_INPUTS = 1,
    OPERATOR_OUTPUTS = 2,
    OPERATOR_OPTIONS = 4,
    OPERATOR_CUSTOM_OPTIONS = 5,
    OPERATOR_INTERMEDIATES = 8,
    OPERATOR_OPTIONS_2 = 12
};
enum tfl_signature { SIGNATURE_INPUTS = 0, SIGNATURE_KEY = 2, SIGNATURE_SUBGRAPH = 4 };
enum tfl_tensor_map { MAP_NAME = 0, MAP_TENSOR = 1 };
enum tfl_sparsity { SPARSITY_ORDER = 0, SPARSITY_BLOCK_MAP = 1, SPARSITY_DIMENSIONS = 2 };
enum tfl_sparse_dimension {
    DIMENSION_FORMAT = 0,
    DIMENSION_DENSE_SIZE = 1,
    DIMENSION_SEGMENTS_TYPE = 2,
    DIMENSION_SEGMENTS = 3,
    DIMENSION_INDICES_TYPE = 4,
    DIMENSION_INDICES = 5
};
enum tfl_sparse_index { INDEX_INT32 = 1, INDEX_UINT16 = 2, INDEX_UINT8 = 3 };

enum tfl_type {
    TFL_FLOAT32 = 0,
    TFL_FLOAT16 = 1,
    TFL_INT32 = 2,
    TFL_UINT8 = 3,
    TFL_INT64 = 4,
    TFL_BOOL = 6,
    TFL_INT16 = 7,
    TFL_INT8 = 9,
    TFL_UINT64 = 12,
    TFL_RESOURCE = 13,
    TFL_UINT32 = 15,
    TFL_UINT16 = 16,
    TFL_INT4 = 17
};
enum tfl_padding { PADDING_SAME = 0, PADDING_VALID = 1 };
enum tfl_activation {
    ACTIVATION_NONE = 0,
    ACTIVATION_RELU = 1,
    ACTIVATION_RELU_N1_TO_1 = 2,
    ACTIVATION_RELU6 = 3,
    ACTIVATION_TANH = 4
};

/* Options of operators: slots. */
enum tfl_conv_options {
    CONV_PADDING = 0,
    CONV_STRIDE_W = 1,
    CONV_STRIDE_H = 2,
    CONV_ACTIVATION = 3,
    CONV_DILATION_W = 4,
    CONV_DILATION_H = 5,
    CONV_BIAS_TYPE = 6,
    TRANSPOSE_CONV_BIAS_TYPE = 4
};
enum tfl_depthwise_options {
    DEPTHWISE_MULTIPLIER = 3,
    DEPTHWISE_ACTIVATION = 4,
    DEPTHWISE_DILATION_W = 5,
    DEPTHWISE_DILATION_H = 6
};
enum tfl_conv_3d_options {
    CONV_3D_STRIDE_D = 1,
    CONV_3D_STRIDE_W = 2,
    CONV_3D_STRIDE_H = 3,
    CONV_3D_ACTIVATION = 4,
    CONV_3D_DILATION_D = 5,
    CONV_3D_DILATION_W = 6,
    CONV_3D_DILATION_H = 7
};
enum tfl_pool_options { POOL_FILTER_W = 3, POOL_FILTER_H = 4, POOL_ACTIVATION = 5 };
enum tfl_fc_options {
    FC_ACTIVATION = 0,
    FC_WEIGHTS_FORMAT = 1,
    FC_KEEP_NUM_DIMS = 2,
    FC_ASYMMETRIC = 3,
    FC_BIAS_TYPE = 4
};
enum tfl_matmul_options { MATMUL_ADJ_X = 0, MATMUL_ADJ_Y = 1 };
enum tfl_lrn_options { LRN_RADIUS = 0, LRN_BIAS = 1, LRN_ALPHA = 2, LRN_BETA = 3 };
enum tfl_lstm_options {
    LSTM_ACTIVATION = 0,
    LSTM_CELL_CLIP = 1,
    LSTM_PROJ_CLIP = 2,
    LSTM_TIME_MAJOR = 3,
    LSTM_DIAGONAL = 5
};
enum tfl_strided_slice_options {
    STRIDED_BEGIN_MASK = 0,
    STRIDED_END_MASK = 1,
    STRIDED_ELLIPSIS_MASK = 2,
    STRIDED_NEW_AXIS_MASK = 3,
    STRIDED_SHRINK_MASK = 4,
    STRIDED_OFFSET = 5
};
enum tfl_resize_bilinear_options { BILINEAR_ALIGN = 2, BILINEAR_HALF_PIXEL = 3 };
enum tfl_resize_nearest_options { NEAREST_ALIGN = 0, NEAREST_HALF_PIXEL = 1 };
enum tfl_gather_options { GATHER_AXIS = 0, GATHER_BATCH_DIMS = 1 };
enum tfl_pack_options { PACK_AXIS = 1 };
enum tfl_one_hot_options { ONE_HOT_AXIS = 0 };
enum tfl_reverse_sequence_options { REVERSE_SEQUENCE_STEPS = 0, REVERSE_SEQUENCE_BATCH = 1 };
enum tfl_composite_options { COMPOSITE_BODY = 1 };
enum tfl_cumsum_options { CUMSUM_EXCLUSIVE = 0, CUMSUM_REVERSE = 1 };

#endif
