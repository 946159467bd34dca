/* Tensors of the model as constants: raw bytes, typed lists, external files, packed codes. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/memory.h"
#include "graph/onnx/value/value.h"
#include "graph/text/packed.h"

static const char *external_entry(const pb_tensor *t, const char *key)
{
    for (size_t i = 0; i < t->n_external_data; i++)
        if (t->external_data[i]->key && strcmp(t->external_data[i]->key, key) == 0)
            return t->external_data[i]->value;
    return NULL;
}

static bool parse_u64(const char *text, uint64_t *v)
{
    char *end;
    if (!text || *text < '0' || *text > '9')
        return false;
    *v = strtoull(text, &end, 10);
    return *end == '\0' && *v <= (uint64_t)INT64_MAX;
}

static assay_status read_external(onnx_import *im, const pb_tensor *t, const char *what,
                                  onnx_const *out, uint64_t bytes, assay_error *err)
{
    char where[300];
    const char *location = external_entry(t, "location");
    const char *offset_text = external_entry(t, "offset");
    const char *length_text = external_entry(t, "length");
    uint64_t offset = 0, length = bytes;

    if (!location || (offset_text && !parse_u64(offset_text, &offset)) ||
        (length_text && !parse_u64(length_text, &length)))
        return assay_fail(err, ASSAY_ERR_INPUT,
                          "%s: %s: external data needs a location and decimal offset and length",
                          im->file, what);
    if (length != bytes)
        return assay_fail(err, ASSAY_ERR_INPUT,
                          "%s: %s: its shape needs %llu bytes, its external data has %llu",
                          im->file, what, (unsigned long long)bytes, (unsigned long long)length);
    if (!im->folder)
        return assay_fail(err, ASSAY_ERR_UNSUPPORTED,
                          "%s: %s: external data of a model that is not a file", im->file, what);
    snprintf(where, sizeof where, "%.120s: %.170s", im->file, what);
    return onnx_read_external(im, location, offset, length, where, out, err);
}

#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
static bool to_native(onnx_import *im, onnx_const *c, size_t size)
{
    char *swapped = onnx_alloc(im, (size_t)c->count * size);
    if (!swapped)
        return false;
    for (size_t i = 0; i < (size_t)c->count; i++)
        for (size_t b = 0; b < size; b++)
            swapped[i * size + b] = ((const char *)c->data)[i * size + size - 1 - b];
    c->data = swapped;
    c->lasts = false;
    return true;
}
#else
static bool to_native(onnx_import *im, onnx_const *c, size_t size)
{
    (void)im, (void)c, (void)size;
    return true;
}
#endif

/* Elements that share a byte, the first one lowest; a byte each for us. */
static void unpack_byte(onnx_const *wide, int64_t byte, unsigned packed)
{
    const unsigned bits = onnx_dtype_packed(wide->dtype);
    assert(bits >= 1 && bits < 8);
    const int64_t each = 8 / bits;
    for (int64_t i = 0; i < each && each * byte + i < wide->count; i++)
        onnx_set_int(wide, each * byte + i, packed >> (unsigned)i * bits & ((1U << bits) - 1));
}

/* Bytes of so many elements that share bytes. */
static int64_t packed_bytes(int dtype, int64_t count)
{
    const int64_t each = 8 / (int64_t)onnx_dtype_packed(dtype);
    return count / each + (count % each != 0);
}

static assay_status unpack(onnx_import *im, onnx_const *c, assay_error *err)
{
    onnx_const *wide = onnx_new_const(im, c->dtype, c->rank, c->dim);
    assay_type type = {.rank = c->rank};

    if (!wide)
        return assay_out_of_memory(err);
    memcpy(type.dim, c->dim, sizeof type.dim);
    if (!onnx_dtype_elem(c->dtype, &type.elem))
        return assay_fail(err, ASSAY_ERR_INTERNAL, "packed elements of no type");
    text_unpack(&type, c->data, (void *)(uintptr_t)wide->data);
    onnx_forget(im, c);
    *c = *wide;
    return ASSAY_OK;
}

/* A typed list of them: its elements are the packed bytes. */
static assay_status read_typed_packed(onnx_import *im, const pb_tensor *t, const char *what,
                                      onnx_const *out, assay_error *err)
{
    int64_t bytes = packed_bytes(out->dtype, out->count);
    const char *each = onnx_dtype_packed(out->dtype) == 4 ? "two" : "four";
    onnx_const *wide;

    if (t->n_int32_data != (size_t)bytes)
        return assay_fail(err, ASSAY_ERR_INPUT,
                          "%s: %s: its shape needs %lld elements of %s codes, it has %zu", im->file,
                          what, (long long)bytes, each, t->n_int32_data);
    wide = onnx_new_const(im, out->dtype, out->rank, out->dim);
    if (!wide)
        return assay_out_of_memory(err);
    for (int64_t i = 0; i < bytes; i++) {
        int32_t v = t->int32_data[i];
        if (v < INT8_MIN || v > UINT8_MAX)
            return assay_fail(err, ASSAY_ERR_INPUT,
                              "%s: %s: element %lld is %d, expected a byte of %s codes", im->file,
                              what, (long long)i, v, each);
        unpack_byte(wide, i, (unsigned)v & 255);
    }
    *out = *wide;
    return ASSAY_OK;
}

/* The typed list that holds the elements when there is no raw_data. */
static assay_status read_typed(onnx_import *im, const pb_tensor *t, const char *what,
                               onnx_const *out, assay_error *err)
{
    size_t n;
    onnx_const *c;

    switch (out->dtype) {
    case ONNX_FLOAT:
        n = t->n_float_data, out->data = t->float_data;
        break;
    case ONNX_DOUBLE:
        n = t->n_double_data, out->data = t->double_data;
        break;
    case ONNX_INT64:
        n = t->n_int64_data, out->data = t->int64_data;
        break;
    case ONNX_UINT32:
    case ONNX_UINT64:
        n = t->n_uint64_data, out->data = t->uint64_data;
        break;
    default:
        n = t->n_int32_data, out->data = t->int32_data;
    }
    if (n != (size_t)out->count)
        return assay_fail(err, ASSAY_ERR_INPUT, "%s: %s: its shape needs %lld elements, it has %zu",
                          im->file, what, (long long)out->count, n);
    if (n == 0)
        out->data = "";
    if (out->dtype == ONNX_FLOAT || out->dtype == ONNX_DOUBLE || out->dtype == ONNX_INT64 ||
        out->dtype == ONNX_UINT64 || out->dtype == ONNX_INT32)
        return ASSAY_OK;
    c = onnx_new_const(im, out->dtype, out->rank, out->dim); /* narrower than the list's elements */
    if (!c)
        return assay_out_of_memory(err);
    for (size_t i = 0; i < n; i++) {
        int64_t v = out->dtype == ONNX_UINT32 ? (int64_t)t->uint64_data[i] : t->int32_data[i];
        onnx_set_int(c, (int64_t)i, v);
        if (!onnx_is_narrow(out->dtype) && onnx_get_int(c, (int64_t)i) != v)
            return assay_fail(err, ASSAY_ERR_INPUT, "%s: %s: element %zu is %lld, outside %s",
                              im->file, what, i, (long long)v, onnx_dtype_name(out->dtype));
    }
    *out = *c;
    return ASSAY_OK;
}

/* What kind of tensor it is, and of what shape. */
static assay_status read_type(onnx_import *im, const pb_tensor *t, const char *what,
                              onnx_const *out, assay_error *err)
{
    assay_type shape = {.elem = {ASSAY_KIND_INT, 8, false}, .rank = (int)t->n_dims};
    char where[300];

    if (onnx_dtype_size(t->data_type) == 0)
        return assay_fail(err, ASSAY_ERR_UNSUPPORTED, "%s: %s: element type %d (%s)", im->file,
                          what, (int)t->data_type, onnx_dtype_name(t->data_type));
    if (t->n_dims > ASSAY_MAX_RANK)
        return assay_fail(err, ASSAY_ERR_UNSUPPORTED, "%s: %s: rank %zu, at most %d is supported",
                          im->file, what, t->n_dims, ASSAY_MAX_RANK);
    if (t->has_segment)
        return assay_fail(err, ASSAY_ERR_UNSUPPORTED, "%s: %s: stored in segments", im->file, what);
    for (size_t d = 0; d < t->n_dims; d++)
        shape.dim[d] = t->dims[d];
    snprintf(where, sizeof where, "%.120s: %.170s", im->file, what);
    if (assay_shape_check(&shape, where, err))
        return ASSAY_ERR_LIMIT;
    *out = (onnx_const){.dtype = t->data_type, .rank = (int)t->n_dims};
    memcpy(out->dim, shape.dim, sizeof out->dim);
    out->count = assay_shape_count(&shape);
    return ASSAY_OK;
}

/* Its bytes as they stand in the file. */
static assay_status read_raw(const onnx_import *im, const pb_tensor *t, const char *what,
                             onnx_const *out, uint64_t bytes, assay_error *err)
{
    const uint64_t length = t->has_raw_length ? t->raw_length : t->raw_data.len;

    if (length != bytes)
        return assay_fail(err, ASSAY_ERR_INPUT,
                          "%s: %s: its shape needs %llu bytes, its data has %llu", im->file, what,
                          (unsigned long long)bytes, (unsigned long long)length);
    if (t->has_raw_length && (length > im->length || t->raw_offset > im->length - length))
        return assay_fail(err, ASSAY_ERR_INPUT, "%s: %s: data outside the file", im->file, what);
    out->data = t->has_raw_length ? (const void *)(im->bytes + t->raw_offset)
                : bytes > 0       ? (const void *)t->raw_data.data
                                  : "";
    out->lasts =
        t->has_raw_length && im->lasts && (uintptr_t)out->data % onnx_dtype_size(t->data_type) == 0;
    return ASSAY_OK;
}

static assay_status read_tensor(onnx_import *im, const pb_tensor *t, const char *what,
                                onnx_const *out, assay_error *err)
{
    const bool packed = onnx_dtype_packed(t->data_type) > 0;
    assay_error local;
    assay_status s = read_type(im, t, what, out, err);

    if (s)
        return s;
    const size_t size = onnx_dtype_size(t->data_type);
    uint64_t bytes = (uint64_t)out->count * size; /* count is at most 2^40 */
    if (packed)
        bytes = (uint64_t)packed_bytes(t->data_type, out->count);
    if (t->data_location == 1)
        s = read_external(im, t, what, out, bytes, err ? err : &local);
    else if (t->has_raw_data || t->has_raw_length)
        s = read_raw(im, t, what, out, bytes, err);
    else
        return packed ? read_typed_packed(im, t, what, out, err)
                      : read_typed(im, t, what, out, err);
    if (s)
        return s;
    if (packed)
        return unpack(im, out, err);
    return to_native(im, out, size) ? ASSAY_OK : assay_out_of_memory(err);
}

/* Narrow floats as float32. */
static assay_status widen(onnx_import *im, onnx_const *c, assay_error *err)
{
    onnx_const *wide = onnx_new_const(im, ONNX_FLOAT, c->rank, c->dim);

    if (!wide)
        return assay_out_of_memory(err);
    for (int64_t i = 0; i < c->count; i++)
        onnx_set_real(wide, i, onnx_get_real(c, i));
    *c = *wide;
    return ASSAY_OK;
}

assay_status onnx_read_tensor(onnx_import *im, const pb_tensor *t, const char *what,
                              onnx_const *out, assay_error *err)
{
    assay_status s = read_tensor(im, t, what, out, err);
    return s || !onnx_is_narrow(out->dtype) ? s : widen(im, out, err);
}
