/* Constants: from the model's tensors, and element by element for folding. */
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "graph/onnx/import.h"

/* Element types with their storage in raw_data; f16 and wide types serve folding only. */
static const struct {
    const char *name;
    uint8_t size;
    bool in_graph;
    assay_elem elem;
} dtype_table[] = {
    [ONNX_FLOAT] = {"float32", 4, true, {ASSAY_KIND_F32, 32, true}},
    [ONNX_UINT8] = {"uint8", 1, true, {ASSAY_KIND_INT, 8, false}},
    [ONNX_INT8] = {"int8", 1, true, {ASSAY_KIND_INT, 8, true}},
    [ONNX_UINT16] = {"uint16", 2, true, {ASSAY_KIND_INT, 16, false}},
    [ONNX_INT16] = {"int16", 2, true, {ASSAY_KIND_INT, 16, true}},
    [ONNX_INT32] = {"int32", 4, true, {ASSAY_KIND_INT, 32, true}},
    [ONNX_INT64] = {"int64", 8, true, {ASSAY_KIND_INT, 64, true}},
    [ONNX_STRING] = {"string", 0, false, {0}},
    [ONNX_BOOL] = {"bool", 1, true, {ASSAY_KIND_BOOL, 8, false}},
    [ONNX_FLOAT16] = {"float16", 2, false, {0}},
    [ONNX_DOUBLE] = {"float64", 8, false, {0}},
    [ONNX_UINT32] = {"uint32", 4, true, {ASSAY_KIND_INT, 32, false}},
    [ONNX_UINT64] = {"uint64", 8, false, {0}},
    [14] = {"complex64", 0, false, {0}},
    [15] = {"complex128", 0, false, {0}},
    [16] = {"bfloat16", 0, false, {0}},
    [17] = {"float8e4m3fn", 0, false, {0}},
    [18] = {"float8e4m3fnuz", 0, false, {0}},
    [19] = {"float8e5m2", 0, false, {0}},
    [20] = {"float8e5m2fnuz", 0, false, {0}},
    [ONNX_UINT4] = {"uint4", 1, true, {ASSAY_KIND_INT, 4, false}}, /* a byte a code here */
    [ONNX_INT4] = {"int4", 1, true, {ASSAY_KIND_INT, 4, true}},
    [23] = {"float4e2m1", 0, false, {0}},
};
#define N_DTYPES ((int)(sizeof dtype_table / sizeof dtype_table[0]))

size_t onnx_dtype_size(int dtype)
{
    return dtype > 0 && dtype < N_DTYPES ? dtype_table[dtype].size : 0;
}

const char *onnx_dtype_name(int dtype)
{
    return dtype > 0 && dtype < N_DTYPES ? dtype_table[dtype].name : "of an unknown type";
}

bool onnx_dtype_elem(int dtype, assay_elem *elem)
{
    if (dtype <= 0 || dtype >= N_DTYPES || !dtype_table[dtype].in_graph)
        return false;
    *elem = dtype_table[dtype].elem;
    return true;
}

int onnx_elem_dtype(assay_elem elem)
{
    for (int i = 1; i < N_DTYPES; i++)
        if (dtype_table[i].in_graph && assay_elem_equal(dtype_table[i].elem, elem))
            return i;
    return ONNX_UNDEFINED;
}

bool onnx_is_float(int dtype)
{
    return dtype == ONNX_FLOAT || dtype == ONNX_FLOAT16 || dtype == ONNX_DOUBLE;
}

onnx_const *onnx_new_const(onnx_import *im, int dtype, int rank, const int64_t *dim)
{
    assay_type shape = {.elem = {ASSAY_KIND_INT, 64, true}, .rank = rank};
    onnx_const *c;

    memcpy(shape.dim, dim, (size_t)rank * sizeof *dim);
    if (assay_shape_check(&shape, "", NULL))
        return NULL;
    c = onnx_alloc(im, sizeof *c);
    if (!c)
        return NULL;
    c->dtype = dtype;
    c->rank = rank;
    memcpy(c->dim, dim, (size_t)rank * sizeof *dim);
    c->count = assay_shape_count(&shape);
    c->data = onnx_alloc(im, (size_t)c->count * onnx_dtype_size(dtype));
    return c->data ? c : NULL;
}

/* IEEE binary16 to double; exact. */
static double half_to_double(uint16_t h)
{
    int exponent = (h >> 10) & 31;
    double mantissa = h & 1023;
    double magnitude = exponent == 31  ? (mantissa != 0 ? (double)NAN : (double)INFINITY)
                       : exponent == 0 ? ldexp(mantissa, -24)
                                       : ldexp(mantissa + 1024, exponent - 25);
    return h & 0x8000 ? -magnitude : magnitude;
}

#define LOAD(type)                                                                                 \
    type v;                                                                                        \
    memcpy(&v, (const char *)c->data + (size_t)i * sizeof v, sizeof v)

int64_t onnx_get_int(const onnx_const *c, int64_t i)
{
    switch (c->dtype) {
    case ONNX_UINT8:
    case ONNX_UINT4:
    case ONNX_BOOL:
        return ((const uint8_t *)c->data)[i];
    case ONNX_INT8:
    case ONNX_INT4:
        return ((const int8_t *)c->data)[i];
    case ONNX_UINT16: {
        LOAD(uint16_t);
        return v;
    }
    case ONNX_INT16: {
        LOAD(int16_t);
        return v;
    }
    case ONNX_INT32: {
        LOAD(int32_t);
        return v;
    }
    case ONNX_UINT32: {
        LOAD(uint32_t);
        return v;
    }
    case ONNX_UINT64:
    case ONNX_INT64: {
        LOAD(int64_t);
        return v;
    }
    default: { /* a float: toward zero, saturating; NaN is 0 */
        double v = onnx_get_real(c, i);
        if (!(v == v))
            return 0;
        return v >= 9223372036854775807.0    ? INT64_MAX
               : v <= -9223372036854775808.0 ? INT64_MIN
                                             : (int64_t)v;
    }
    }
}

double onnx_get_real(const onnx_const *c, int64_t i)
{
    switch (c->dtype) {
    case ONNX_FLOAT: {
        LOAD(float);
        return (double)v;
    }
    case ONNX_DOUBLE: {
        LOAD(double);
        return v;
    }
    case ONNX_FLOAT16: {
        LOAD(uint16_t);
        return half_to_double(v);
    }
    default:
        return (double)onnx_get_int(c, i);
    }
}
#undef LOAD

void onnx_set_int(onnx_const *c, int64_t i, int64_t v)
{
    /* Constants under construction were allocated by onnx_new_const, which returns them writable.
     */
    char *at = (char *)(uintptr_t)c->data + (size_t)i * onnx_dtype_size(c->dtype);
    uint64_t u = (uint64_t)v;

    switch (onnx_dtype_size(c->dtype)) {
    case 1: {
        uint8_t x = c->dtype == ONNX_BOOL ? v != 0 : (uint8_t)u;
        memcpy(at, &x, 1);
        break;
    }
    case 2: {
        uint16_t x = (uint16_t)u;
        memcpy(at, &x, 2);
        break;
    }
    case 4: {
        uint32_t x = (uint32_t)u;
        memcpy(at, &x, 4);
        break;
    }
    default:
        memcpy(at, &u, 8);
    }
}

void onnx_set_real(onnx_const *c, int64_t i, double v)
{
    char *at = (char *)(uintptr_t)c->data + (size_t)i * onnx_dtype_size(c->dtype);

    if (c->dtype == ONNX_FLOAT) {
        float f = (float)v;
        memcpy(at, &f, sizeof f);
    } else if (c->dtype == ONNX_DOUBLE) {
        memcpy(at, &v, sizeof v);
    } else if (c->dtype == ONNX_BOOL) {
        *at = v != 0;
    } else {
        onnx_const one = {.dtype = ONNX_DOUBLE, .data = &v};
        onnx_set_int(c, i, onnx_get_int(&one, 0));
    }
}

/* ---- tensors of the model ---- */

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
    const char *location = external_entry(t, "location");
    const char *offset_text = external_entry(t, "offset");
    const char *length_text = external_entry(t, "length");
    uint64_t offset = 0, length = bytes;
    void *data;

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
    /* The file's size is checked before anything is allocated. */
    if (onnx_read_external(im->folder, location, offset, length, NULL, what, err))
        return err ? err->status : ASSAY_ERR_IO;
    data = assay_arena_alloc(im->temp, (size_t)bytes);
    if (!data)
        return assay_out_of_memory(err);
    out->data = data;
    return onnx_read_external(im->folder, location, offset, length, data, what, err);
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
    return true;
}
#else
static bool to_native(onnx_import *im, onnx_const *c, size_t size)
{
    (void)im, (void)c, (void)size;
    return true;
}
#endif

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
        if (out->dtype != ONNX_FLOAT16 && onnx_get_int(c, (int64_t)i) != v)
            return assay_fail(err, ASSAY_ERR_INPUT, "%s: %s: element %zu is %lld, outside %s",
                              im->file, what, i, (long long)v, onnx_dtype_name(out->dtype));
    }
    *out = *c;
    return ASSAY_OK;
}

/* Codes of 4 bits, two a byte, the low half first; a byte each for us. */
static assay_status unpack(onnx_import *im, onnx_const *c, assay_error *err)
{
    const uint8_t *packed = c->data;
    onnx_const *wide = onnx_new_const(im, c->dtype, c->rank, c->dim);

    if (!wide)
        return assay_out_of_memory(err);
    for (int64_t i = 0; i < c->count; i++) {
        int code = packed[i / 2] >> (i % 2 ? 4 : 0) & 15;
        onnx_set_int(wide, i, c->dtype == ONNX_INT4 && code >= 8 ? code - 16 : code);
    }
    *c = *wide;
    return ASSAY_OK;
}

assay_status onnx_read_tensor(onnx_import *im, const pb_tensor *t, const char *what,
                              onnx_const *out, assay_error *err)
{
    size_t size = onnx_dtype_size(t->data_type);
    bool packed = t->data_type == ONNX_UINT4 || t->data_type == ONNX_INT4;
    assay_type shape = {.elem = {ASSAY_KIND_INT, 8, false}, .rank = (int)t->n_dims};
    uint64_t bytes;

    if (size == 0)
        return assay_fail(err, ASSAY_ERR_UNSUPPORTED, "%s: %s: element type %d (%s)", im->file,
                          what, (int)t->data_type, onnx_dtype_name(t->data_type));
    if (t->n_dims > ASSAY_MAX_RANK)
        return assay_fail(err, ASSAY_ERR_UNSUPPORTED, "%s: %s: rank %zu, at most %d is supported",
                          im->file, what, t->n_dims, ASSAY_MAX_RANK);
    if (t->has_segment)
        return assay_fail(err, ASSAY_ERR_UNSUPPORTED, "%s: %s: stored in segments", im->file, what);
    for (size_t d = 0; d < t->n_dims; d++)
        shape.dim[d] = t->dims[d];
    if (assay_shape_check(&shape, what, err))
        return ASSAY_ERR_LIMIT;
    *out = (onnx_const){.dtype = t->data_type, .rank = (int)t->n_dims};
    memcpy(out->dim, shape.dim, sizeof out->dim);
    out->count = assay_shape_count(&shape);
    bytes = (uint64_t)out->count * size; /* count is at most 2^40 */
    if (packed)
        bytes = (bytes + 1) / 2;

    if (t->data_location == 1) {
        assay_error local;
        assay_status s = read_external(im, t, what, out, bytes, err ? err : &local);
        if (s)
            return s;
        if (packed)
            return unpack(im, out, err);
        return to_native(im, out, size) ? ASSAY_OK : assay_out_of_memory(err);
    }
    if (packed && !t->has_raw_data && !t->has_raw_length)
        return assay_fail(err, ASSAY_ERR_UNSUPPORTED, "%s: %s: 4-bit codes that are not raw data",
                          im->file, what);
    if (t->has_raw_data || t->has_raw_length) {
        uint64_t length = t->has_raw_length ? t->raw_length : t->raw_data.len;
        if (length != bytes)
            return assay_fail(err, ASSAY_ERR_INPUT,
                              "%s: %s: its shape needs %llu bytes, its data has %llu", im->file,
                              what, (unsigned long long)bytes, (unsigned long long)length);
        if (t->has_raw_length && (length > im->length || t->raw_offset > im->length - length))
            return assay_fail(err, ASSAY_ERR_INPUT, "%s: %s: data outside the file", im->file,
                              what);
        out->data = t->has_raw_length ? (const void *)(im->bytes + t->raw_offset)
                    : bytes > 0       ? (const void *)t->raw_data.data
                                      : "";
        if (packed)
            return unpack(im, out, err);
        return to_native(im, out, size) ? ASSAY_OK : assay_out_of_memory(err);
    }
    return read_typed(im, t, what, out, err);
}
