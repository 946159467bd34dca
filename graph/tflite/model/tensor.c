/* Tensors: types, quantization parameters, and where the elements of constants are. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "graph/tflite/model/model.h"

assay_status tfl_tensor_fail(tfl_import *m, const tfl_tensor *t, const char *what)
{
    return assay_fail(m->err, ASSAY_ERR_INPUT, "%s: tensor %d '%.200s': %s", m->name,
                      (int)(t - m->tensors.at), t->name, what);
}

const char *tfl_type_name(enum tfl_type raw)
{
    static const char *const names[] = {
        "FLOAT32",  "FLOAT16",  "INT32",     "UINT8",         "INT64",      "STRING",
        "BOOL",     "INT16",    "COMPLEX64", "INT8",          "FLOAT64",    "COMPLEX128",
        "UINT64",   "RESOURCE", "VARIANT",   "UINT32",        "UINT16",     "INT4",
        "BFLOAT16", "INT2",     "UINT4",     "FLOAT8_E4M3FN", "FLOAT8_E5M2"};
    return (int)raw >= 0 && (size_t)raw < sizeof names / sizeof *names ? names[raw]
                                                                       : "an unknown type";
}

/* Types that are not ours. */
static assay_status name_type(tfl_import *m, tfl_tensor *t)
{
    char text[64];

    snprintf(text, sizeof text, "a tensor of type %s", tfl_type_name(t->raw));
    t->why = assay_arena_string(m->temp, text);
    return t->why ? ASSAY_OK : tfl_no_memory(m);
}

static assay_elem elem_of(enum tfl_type raw)
{
    switch (raw) {
    case TFL_FLOAT32:
    case TFL_FLOAT16: /* constants only: widened when read */
        return assay_f32();
    case TFL_BOOL:
        return assay_bool();
    case TFL_INT8:
        return assay_int(8, true);
    case TFL_UINT8:
        return assay_int(8, false);
    case TFL_INT16:
        return assay_int(16, true);
    case TFL_UINT16:
        return assay_int(16, false);
    case TFL_INT32:
        return assay_int(32, true);
    case TFL_UINT32:
        return assay_int(32, false);
    case TFL_INT64:
        return assay_int(64, true);
    case TFL_INT4:
        return assay_int(4, true);
    default:
        return (assay_elem){ASSAY_KIND_NONE, 0, false};
    }
}

static assay_status read_shape(tfl_import *m, tfl_tensor *t)
{
    flat_vector shape = tfl_flat_list(t->table, TENSOR_SHAPE, 4);
    flat_vector signature = tfl_flat_list(t->table, TENSOR_SHAPE_SIGNATURE, 4);
    assay_status s = tfl_flat_status(&m->file, m->err);
    char what[300];

    if (s)
        return s;
    if (shape.count > ASSAY_MAX_RANK) {
        t->why = "a tensor of more than 6 dimensions";
        return ASSAY_OK;
    }
    t->type.rank = (int)shape.count;
    for (uint32_t i = 0; i < shape.count; ++i)
        t->type.dim[i] = tfl_flat_list_i32(shape, i);
    for (uint32_t i = 0; i < signature.count && i < ASSAY_MAX_RANK; ++i)
        t->is_open = t->is_open || tfl_flat_list_i32(signature, i) < 0;
    snprintf(what, sizeof what, "%.60s: tensor %d '%.200s'", m->name, (int)(t - m->tensors.at),
             t->name);
    s = assay_shape_check(&t->type, what, m->err);
    if (!s)
        m->placeholders |= t->is_open || assay_shape_count(&t->type) <= 1;
    return s;
}

/* Parameters of another kind than a scale and zero point for the tensor or an axis. */
static assay_status read_details(tfl_import *m, tfl_tensor *t, flat_table q, int8_t details)
{
    t->why =
        details == DETAILS_BLOCKWISE ? "blockwise parameters" : "custom or multi-axis quantization";
    if (details == DETAILS_BLOCKWISE) /* for weights under float activations only */
        t->blockwise = tfl_flat_child(q, QUANT_DETAILS);
    return tfl_flat_status(&m->file, m->err);
}

/* How many there are of what; *axis: which dimension they go by. */
static assay_status check_counts(tfl_import *m, const tfl_tensor *t, flat_vector scales,
                                 flat_vector zeros, int32_t *axis)
{
    if (zeros.count != scales.count && zeros.count > 1)
        return tfl_tensor_fail(m, t, "the number of zero points differs from that of scales");
    if (t->type.rank == 1) /* a bias repeats its weights' axis in some files */
        *axis = 0;
    if (scales.count > 1 && (*axis < 0 || *axis >= t->type.rank))
        return tfl_tensor_fail(m, t, "the quantized dimension does not exist");
    if (scales.count > 1 && t->type.dim[*axis] != (int64_t)scales.count)
        return tfl_tensor_fail(
            m, t, "the number of scales differs from the quantized dimension's extent");
    return ASSAY_OK;
}

/* scale and zero: scales.count each; *none: one of a bias is none (the product underflowed to
 * zero), so that all are lost, which nothing reads. */
static assay_status read_scales(tfl_import *m, const tfl_tensor *t, flat_vector scales,
                                flat_vector zeros, float *scale, int32_t *zero, bool *none)
{
    *none = false;
    for (uint32_t i = 0; i < scales.count; ++i) {
        int64_t z = zeros.count ? tfl_flat_list_i64(zeros, zeros.count == 1 ? 0 : i) : 0;
        if (z < INT32_MIN || z > INT32_MAX)
            return tfl_tensor_fail(m, t, "a zero point does not fit 32 bits");
        scale[i] = tfl_flat_list_f32(scales, i);
        zero[i] = (int32_t)z;
        if (isfinite(scale[i]) && scale[i] > 0)
            continue;
        *none = t->type.elem.bits >= 32;
        return *none ? ASSAY_OK : tfl_tensor_fail(m, t, "a scale is not finite and above 0");
    }
    return ASSAY_OK;
}

/* One scale and zero point for the tensor, or one for each index of an axis. */
static assay_status read_qparams(tfl_import *m, tfl_tensor *t)
{
    flat_table q = tfl_flat_child(t->table, TENSOR_QUANTIZATION);
    flat_vector scales = tfl_flat_list(q, QUANT_SCALE, 4);
    flat_vector zeros = tfl_flat_list(q, QUANT_ZERO_POINT, 8);
    int32_t axis = tfl_flat_i32(q, QUANT_DIMENSION, 0);
    int8_t details = tfl_flat_i8(q, QUANT_DETAILS_TYPE, 0);
    float *scale;
    int32_t *zero;
    bool none;
    assay_status s = tfl_flat_status(&m->file, m->err);

    if (!s)
        s = tfl_charge(m, (uint64_t)scales.count * 8);
    if (s || t->type.elem.kind != ASSAY_KIND_INT)
        return s;
    if (details != DETAILS_NONE)
        return read_details(m, t, q, details);
    if (scales.count == 0)
        return ASSAY_OK;
    if ((s = check_counts(m, t, scales, zeros, &axis)))
        return s;
    scale = assay_arena_array(m->temp, scales.count, sizeof *scale);
    zero = assay_arena_array(m->temp, scales.count, sizeof *zero);
    if (!scale || !zero)
        return tfl_no_memory(m);
    if ((s = read_scales(m, t, scales, zeros, scale, zero, &none)) || none)
        return s;
    t->type.q = (assay_qparams){
        .granularity = scales.count > 1 ? ASSAY_Q_AXIS : ASSAY_Q_TENSOR,
        .axis = scales.count > 1 ? axis : 0,
        .count = scales.count,
        .scale = scale,
        .zero_point = zero,
    };
    return ASSAY_OK;
}

/* Where a constant's bytes are: in the buffer's vector, or (large models) elsewhere in the file. */
static assay_status find_data(tfl_import *m, tfl_tensor *t)
{
    uint32_t index = tfl_flat_u32(t->table, TENSOR_BUFFER, 0);
    flat_table buffer;
    flat_vector data;
    uint64_t offset, size;

    if (tfl_flat_u32(t->table, TENSOR_EXTERNAL_BUFFER, 0) != 0)
        t->why = "a tensor in an external file";
    if (index == 0) /* by convention the empty buffer */
        return tfl_flat_status(&m->file, m->err);
    if (index >= m->buffers.count)
        return tfl_tensor_fail(m, t, "its buffer does not exist");
    buffer = tfl_flat_list_table(m->buffers, index);
    data = tfl_flat_list(buffer, BUFFER_DATA, 1);
    offset = tfl_flat_u64(buffer, BUFFER_OFFSET, 0);
    size = tfl_flat_u64(buffer, BUFFER_SIZE, 0);
    if (data.count > 0) {
        t->data = m->file.bytes + data.at;
        t->bytes = data.count;
    } else if (offset > 1) { /* 0 and 1: none */
        if (offset > m->file.size || size > m->file.size - offset)
            return tfl_tensor_fail(m, t, "its buffer lies outside the file");
        t->data = m->file.bytes + offset;
        t->bytes = (size_t)size;
    }
    return tfl_flat_status(&m->file, m->err);
}

assay_status tfl_describe(tfl_import *m, int tensor, flat_table table)
{
    tfl_tensor *t = &m->tensors.at[tensor];
    size_t length;
    const char *text = tfl_flat_text(table, TENSOR_NAME, &length);
    char *name;
    assay_status s = tfl_flat_status(&m->file, m->err);

    if (!s)
        s = tfl_charge(m, 16 + length);
    if (s)
        return s;
    t->table = table;
    t->value = -1;
    t->raw = (enum tfl_type)tfl_flat_i8(table, TENSOR_TYPE, 0);
    t->is_variable = tfl_flat_bool(table, TENSOR_IS_VARIABLE);
    name = assay_arena_alloc(m->temp, length + 1); /* zeroed: an embedded NUL ends it early */
    if (!name)
        return tfl_no_memory(m);
    if (text)
        memcpy(name, text, length);
    for (char *c = name; *c; ++c)
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            *c = '_';
    t->name = name;
    t->type.elem = elem_of(t->raw);
    if (t->type.elem.kind == ASSAY_KIND_NONE && (s = name_type(m, t)))
        return s;
    (void)((s = read_shape(m, t)) || (s = read_qparams(m, t)) || (s = find_data(m, t)));
    if (!s && t->raw == TFL_FLOAT16 && !t->data)
        t->why = "a float16 tensor that is not constant";
    return s;
}
