/* Tensors: types, quantization parameters, and the elements of constants. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "graph/tflite/model/model.h"

#define DENSE_MAX 256 /* times the stored bytes: how much a sparse tensor may grow */

static assay_status fail(tfl_import *m, const tfl_tensor *t, const char *what)
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
        return apply_f32();
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
    return assay_shape_check(&t->type, what, m->err);
}

/* One scale and zero point for the tensor, or one for each index of an axis. A bias whose scale is
 * none (the product underflowed to zero) loses its parameters, which nothing reads. */
static assay_status read_qparams(tfl_import *m, tfl_tensor *t)
{
    flat_table q = tfl_flat_child(t->table, TENSOR_QUANTIZATION);
    flat_vector scales = tfl_flat_list(q, QUANT_SCALE, 4);
    flat_vector zeros = tfl_flat_list(q, QUANT_ZERO_POINT, 8);
    int32_t axis = tfl_flat_i32(q, QUANT_DIMENSION, 0);
    int8_t details = tfl_flat_i8(q, QUANT_DETAILS_TYPE, 0);
    assay_qparams *p = &t->type.q;
    float *scale;
    int32_t *zero;
    assay_status s = tfl_flat_status(&m->file, m->err);

    if (!s)
        s = tfl_charge(m, (uint64_t)scales.count * 8);
    if (s || t->type.elem.kind != ASSAY_KIND_INT)
        return s;
    if (details != DETAILS_NONE) { /* by block: for weights under float activations only */
        t->why = details == DETAILS_BLOCKWISE ? "blockwise parameters"
                                              : "custom or multi-axis quantization";
        if (details == DETAILS_BLOCKWISE)
            t->blockwise = tfl_flat_child(q, QUANT_DETAILS);
        return tfl_flat_status(&m->file, m->err);
    }
    if (scales.count == 0)
        return ASSAY_OK;
    if (zeros.count != scales.count && zeros.count > 1)
        return fail(m, t, "the number of zero points differs from that of scales");
    if (t->type.rank == 1) /* a bias repeats its weights' axis in some files */
        axis = 0;
    if (scales.count > 1 && (axis < 0 || axis >= t->type.rank))
        return fail(m, t, "the quantized dimension does not exist");
    if (scales.count > 1 && t->type.dim[axis] != (int64_t)scales.count)
        return fail(m, t, "the number of scales differs from the quantized dimension's extent");
    scale = assay_arena_array(m->temp, scales.count, sizeof *scale);
    zero = assay_arena_array(m->temp, scales.count, sizeof *zero);
    if (!scale || !zero)
        return tfl_no_memory(m);
    for (uint32_t i = 0; i < scales.count; ++i) {
        int64_t z = zeros.count ? tfl_flat_list_i64(zeros, zeros.count == 1 ? 0 : i) : 0;
        if (z < INT32_MIN || z > INT32_MAX)
            return fail(m, t, "a zero point does not fit 32 bits");
        scale[i] = tfl_flat_list_f32(scales, i);
        zero[i] = (int32_t)z;
        if (!(isfinite(scale[i]) && scale[i] > 0))
            return t->type.elem.bits >= 32 ? ASSAY_OK
                                           : fail(m, t, "a scale is not finite and above 0");
    }
    p->granularity = scales.count > 1 ? ASSAY_Q_AXIS : ASSAY_Q_TENSOR;
    p->axis = scales.count > 1 ? axis : 0;
    p->count = scales.count;
    p->scale = scale;
    p->zero_point = zero;
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
        return fail(m, t, "its buffer does not exist");
    buffer = tfl_flat_list_table(m->buffers, index);
    data = tfl_flat_list(buffer, BUFFER_DATA, 1);
    offset = tfl_flat_u64(buffer, BUFFER_OFFSET, 0);
    size = tfl_flat_u64(buffer, BUFFER_SIZE, 0);
    if (data.count > 0) {
        t->data = m->file.bytes + data.at;
        t->bytes = data.count;
    } else if (offset > 1) { /* 0 and 1: none */
        if (offset > m->file.size || size > m->file.size - offset)
            return fail(m, t, "its buffer lies outside the file");
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

/* Bytes of the elements as TFLite packs them. */
static size_t packed_bytes(const tfl_tensor *t)
{
    size_t n = (size_t)assay_shape_count(&t->type);
    switch (t->raw) {
    case TFL_INT4:
        return (n + 1) / 2;
    case TFL_FLOAT16:
        return n * 2;
    default:
        return n * assay_elem_size(t->type.elem);
    }
}

/* Two codes a byte, the low nibble first. */
static void unpack_int4(const unsigned char *from, size_t n, int8_t *to)
{
    for (size_t i = 0; i < n; ++i) {
        int nibble = from[i / 2] >> (i % 2 * 4) & 15;
        to[i] = (int8_t)(nibble >= 8 ? nibble - 16 : nibble);
    }
}

/* IEEE binary16 to binary32, exact. */
static uint32_t widen(uint16_t half)
{
    uint32_t sign = (uint32_t)(half & 0x8000) << 16, exponent = half >> 10 & 31,
             fraction = half & 1023;
    if (exponent == 31)
        return sign | 0x7f800000 | fraction << 13;
    if (exponent == 0) {
        if (fraction == 0)
            return sign;
        exponent = 1;
        while (!(fraction & 1024)) {
            fraction <<= 1;
            --exponent;
        }
        fraction &= 1023;
    }
    return sign | (exponent + 112) << 23 | fraction << 13;
}

/* Little-endian elements of 1, 2, 4 or 8 bytes to native order. */
static void to_native(const unsigned char *from, size_t n, size_t size, void *to)
{
    for (size_t i = 0; i < n; ++i) {
        if (size == 1)
            ((uint8_t *)to)[i] = from[i];
        else if (size == 2)
            ((uint16_t *)to)[i] = tfl_flat_load16(from + 2 * i);
        else if (size == 4)
            ((uint32_t *)to)[i] = tfl_flat_load32(from + 4 * i);
        else
            ((uint64_t *)to)[i] = tfl_flat_load64(from + 8 * i);
    }
}

static void convert(const tfl_tensor *t, const unsigned char *from, void *to)
{
    size_t n = (size_t)assay_shape_count(&t->type), size = assay_elem_size(t->type.elem);
    if (t->raw == TFL_INT4)
        unpack_int4(from, n, to);
    else if (t->raw == TFL_FLOAT16)
        for (size_t i = 0; i < n; ++i)
            ((uint32_t *)to)[i] = widen(tfl_flat_load16(from + 2 * i));
    else if (t->type.elem.kind == ASSAY_KIND_BOOL)
        for (size_t i = 0; i < n; ++i)
            ((bool *)to)[i] = from[i] != 0;
    else
        to_native(from, n, size, to);
}

/* Bools of other bytes than 0 and 1, which C has none of. */
static bool are_odd_bools(const tfl_tensor *t)
{
    size_t n = t->type.elem.kind == ASSAY_KIND_BOOL ? (size_t)assay_shape_count(&t->type) : 0;

    for (size_t i = 0; i < n && i < t->bytes; ++i)
        if (t->data[i] > 1)
            return true;
    return false;
}

static bool little_endian(void)
{
    const uint16_t one = 1;
    unsigned char first;
    memcpy(&first, &one, 1);
    return first == 1;
}

assay_status tfl_elements(tfl_import *m, tfl_tensor *t, const void **out)
{
    size_t size = assay_elem_size(t->type.elem), bytes = assay_type_bytes(&t->type);
    bool sparse = tfl_flat_present(tfl_flat_child(t->table, TENSOR_SPARSITY));
    bool in_place = !sparse && t->raw != TFL_INT4 && t->raw != TFL_FLOAT16 &&
                    (size == 1 || little_endian()) && (uintptr_t)t->data % size == 0 &&
                    !are_odd_bools(t);
    const unsigned char *from = t->data;
    void *to;
    assay_status s = tfl_flat_status(&m->file, m->err);

    *out = t->data;
    if (s || t->is_native || (s = tfl_charge(m, sparse ? 0 : packed_bytes(t))))
        return s;
    if (sparse && (bytes / DENSE_MAX > t->bytes + 16 || t->raw == TFL_INT4))
        return fail(m, t, "a sparse tensor of int4, or of hardly any elements for its shape");
    if (!sparse && t->bytes < packed_bytes(t))
        return fail(m, t, "its buffer is too small for its shape");
    if (in_place)
        return ASSAY_OK;
    to = assay_arena_alloc(m->g->arena, bytes);
    if (!to)
        return tfl_no_memory(m);
    if (sparse) {
        unsigned char *dense = assay_arena_alloc(m->temp, packed_bytes(t));
        if (!dense)
            return tfl_no_memory(m);
        s = tfl_densify(m, t, t->raw == TFL_FLOAT16 ? 2 : size, dense);
        from = dense;
    }
    if (!s)
        convert(t, from, to);
    *out = to;
    return s;
}

/* The tensor that a field of the blockwise parameters names, with an element a block of t; NULL
 * where there is none. */
static assay_status block_tensor(tfl_import *m, const tfl_tensor *t, int slot, int64_t n_blocks,
                                 tfl_tensor **out)
{
    int32_t index = tfl_flat_has(t->blockwise, slot) ? tfl_flat_i32(t->blockwise, slot, 0) : -1;

    *out = index >= 0 && index < m->tensors.n ? &m->tensors.at[index] : NULL;
    if (*out && ((*out)->why || !(*out)->data || assay_shape_count(&(*out)->type) != n_blocks))
        return fail(m, t, "the parameters of its blocks are not constants, one a block");
    return tfl_flat_status(&m->file, m->err);
}

/* real[i] = scale * (code - zero point) of the block that element i lies in: runs of `size`
 * elements of the last axis (schema.fbs, BlockwiseQuantization). */
static assay_status blocks_to_real(tfl_import *m, tfl_tensor *t, float *real)
{
    const int64_t n = assay_shape_count(&t->type),
                  size = tfl_flat_i32(t->blockwise, BLOCKWISE_SIZE, 0);
    const int64_t depth = t->type.rank ? t->type.dim[t->type.rank - 1] : 1;
    tfl_tensor *scales, *zeros;
    const void *code, *scale, *zero = NULL;
    assay_status s;

    if (size < 1 || depth % size != 0)
        return fail(m, t, "its last axis does not divide into blocks");
    if ((s = block_tensor(m, t, BLOCKWISE_SCALES, n / size, &scales)) ||
        (s = block_tensor(m, t, BLOCKWISE_ZERO_POINTS, n / size, &zeros)))
        return s;
    if (!scales || scales->type.elem.kind != ASSAY_KIND_F32 ||
        (zeros && zeros->type.elem.kind != ASSAY_KIND_INT))
        return fail(m, t, "its blocks have no scales, or zero points that are no integers");
    if ((s = tfl_elements(m, t, &code)) || (s = tfl_elements(m, scales, &scale)) ||
        (zeros && (s = tfl_elements(m, zeros, &zero))))
        return s;
    for (int64_t i = 0; i < n; ++i) {
        const size_t block = (size_t)(i / size);
        const int64_t offset = zero ? assay_elem_get(zeros->type.elem, zero, block) : 0;
        const float f = ((const float *)scale)[block];
        if (!isfinite(f))
            return fail(m, t, "a scale is not finite");
        real[i] = f * (float)(assay_elem_get(t->type.elem, code, (size_t)i) - offset);
    }
    t->why = NULL;
    return ASSAY_OK;
}

/* The same with parameters for the tensor or for each index of an axis. */
static assay_status codes_to_real(tfl_import *m, tfl_tensor *t, float *real)
{
    const assay_qparams *q = &t->type.q;
    size_t n = (size_t)assay_shape_count(&t->type), stride = n;
    const void *code;
    assay_status s = tfl_elements(m, t, &code);

    if (q->granularity == ASSAY_Q_AXIS) {
        stride = 1;
        for (int i = q->axis + 1; i < t->type.rank; ++i)
            stride *= (size_t)t->type.dim[i];
    }
    for (size_t i = 0; !s && i < n; ++i) {
        size_t c = i / stride % q->count;
        real[i] = q->scale[c] *
                  (float)(assay_elem_get(t->type.elem, code, i) - (int64_t)q->zero_point[c]);
    }
    return s;
}

assay_status tfl_to_real(tfl_import *m, tfl_tensor *t)
{
    const bool blocks = tfl_flat_present(t->blockwise);
    size_t n = (size_t)assay_shape_count(&t->type);
    float *real;
    assay_status s = t->why && !blocks ? fail(m, t, t->why) : tfl_charge(m, n);

    if (s)
        return s;
    real = assay_arena_array(m->g->arena, n + 1, sizeof *real);
    if (!real)
        return tfl_no_memory(m);
    if ((s = blocks ? blocks_to_real(m, t, real) : codes_to_real(m, t, real)))
        return s;
    t->data = (const unsigned char *)real;
    t->bytes = n * sizeof *real;
    t->is_native = true;
    t->raw = TFL_FLOAT32;
    t->type.elem = apply_f32();
    t->type.q = (assay_qparams){0};
    return ASSAY_OK;
}
