/* Elements of constants: as they are in memory, and as real numbers. */
#include <math.h>
#include <string.h>

#include "graph/tflite/model/model.h"

#define DENSE_MAX 256 /* times the stored bytes: how much a sparse tensor may grow */

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
        return tfl_tensor_fail(
            m, t, "a sparse tensor of int4, or with too few stored elements for its shape");
    if (!sparse && t->bytes < packed_bytes(t))
        return tfl_tensor_fail(m, t, "its buffer is too small for its shape");
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
        return tfl_tensor_fail(m, t,
                               "the parameters of its blocks are not constants, one per block");
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
        return tfl_tensor_fail(m, t, "its last axis does not divide into blocks");
    if ((s = block_tensor(m, t, BLOCKWISE_SCALES, n / size, &scales)) ||
        (s = block_tensor(m, t, BLOCKWISE_ZERO_POINTS, n / size, &zeros)))
        return s;
    if (!scales || scales->type.elem.kind != ASSAY_KIND_F32 ||
        (zeros && zeros->type.elem.kind != ASSAY_KIND_INT))
        return tfl_tensor_fail(m, t,
                               "its blocks have no scales, or zero points that are not integers");
    if ((s = tfl_elements(m, t, &code)) || (s = tfl_elements(m, scales, &scale)) ||
        (zeros && (s = tfl_elements(m, zeros, &zero))))
        return s;
    for (int64_t i = 0; i < n; ++i) {
        const size_t block = (size_t)(i / size);
        const int64_t offset = zero ? assay_elem_get(zeros->type.elem, zero, block) : 0;
        const float f = ((const float *)scale)[block];
        if (!isfinite(f))
            return tfl_tensor_fail(m, t, "a scale is not finite");
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
    assay_status s = t->why && !blocks ? tfl_tensor_fail(m, t, t->why) : tfl_charge(m, n);

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
    t->type.elem = assay_f32();
    t->type.q = (assay_qparams){0};
    return ASSAY_OK;
}
