/* Reading .npy: whole arrays and their elements. */
#include "graph/text/npy.h"
#include "graph/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "graph/core/slurp.h"

size_t text_npy_count(const assay_npy *a)
{
    size_t count = 1;
    for (int i = 0; i < a->rank; i++)
        count *= (size_t)a->shape[i];
    return count;
}

size_t text_npy_bytes(const assay_npy *a)
{
    return text_npy_count(a) * text_npy_type_size(a->type);
}

/* IEEE binary16 to double, exactly. */
static double half_value(uint16_t h)
{
    int exponent = h >> 10 & 31;
    double fraction = h & 1023;
    double magnitude = exponent == 0    ? ldexp(fraction, -24)
                       : exponent == 31 ? (fraction == 0 ? (double)INFINITY : (double)NAN)
                                        : ldexp(1024 + fraction, exponent - 25);
    return h >> 15 ? -magnitude : magnitude;
}

double text_npy_get(const void *data, assay_npy_type type, size_t i)
{
    switch (type) {
    case ASSAY_NPY_BOOL:
    case ASSAY_NPY_U1:
        return ((const uint8_t *)data)[i];
    case ASSAY_NPY_I1:
        return ((const int8_t *)data)[i];
    case ASSAY_NPY_I2:
        return ((const int16_t *)data)[i];
    case ASSAY_NPY_U2:
        return ((const uint16_t *)data)[i];
    case ASSAY_NPY_I4:
        return ((const int32_t *)data)[i];
    case ASSAY_NPY_U4:
        return ((const uint32_t *)data)[i];
    case ASSAY_NPY_I8:
        return (double)((const int64_t *)data)[i];
    case ASSAY_NPY_U8:
        return (double)((const uint64_t *)data)[i];
    case ASSAY_NPY_F2:
        return half_value(((const uint16_t *)data)[i]);
    case ASSAY_NPY_F4:
        return ((const float *)data)[i];
    case ASSAY_NPY_F8:
        return ((const double *)data)[i];
    }
    return 0;
}

bool text_npy_is_integer(assay_npy_type type)
{
    return type <= ASSAY_NPY_I8;
}

int64_t text_npy_integer(const void *data, assay_npy_type type, size_t i)
{
    if (type == ASSAY_NPY_I8)
        return ((const int64_t *)data)[i];
    return (int64_t)text_npy_get(data, type, i);
}

void text_npy_swap(void *data, size_t count, size_t size)
{
    unsigned char *p = data;
    for (size_t i = 0; i < count; i++, p += size) {
        for (size_t a = 0, b = size - 1; a < b; a++, b--) {
            unsigned char t = p[a];
            p[a] = p[b];
            p[b] = t;
        }
    }
}

/* ---- whole arrays ------------------------------------------------------------------------- */

static assay_status check_payload(const assay_npy_header *h, size_t size, const char *name,
                                  assay_error *err)
{
    if (size - h->offset == h->bytes)
        return ASSAY_OK;
    return assay_fail(err, ASSAY_ERR_INPUT,
                      "%s: npy header promises %zu bytes of data, the file has %zu", name, h->bytes,
                      size - h->offset);
}

/* Elements in C order, from those whose first index runs fastest; a new array, NULL: no memory. */
static void *transposed(const assay_npy_header *h, const char *data)
{
    const size_t element = text_npy_type_size(h->type), n = h->bytes / element;
    char *out = malloc(h->bytes + 1);
    int64_t at[ASSAY_NPY_MAX_RANK] = {0}; /* of element i of C order */
    for (size_t i = 0; i < n && out; i++) {
        size_t from = 0;
        for (int d = h->rank - 1; d >= 0; d--)
            from = from * (size_t)h->shape[d] + (size_t)at[d];
        memcpy(out + i * element, data + from * element, element);
        for (int d = h->rank - 1; d >= 0 && ++at[d] == h->shape[d]; d--)
            at[d] = 0;
    }
    return out;
}

/* Takes over `data`, which holds h->bytes as they came. */
static assay_status adopt(const assay_npy_header *h, void *data, const char *name, assay_npy *out,
                          assay_error *err)
{
    size_t element = text_npy_type_size(h->type);
    if (h->swap)
        text_npy_swap(data, h->bytes / element, element);
    for (size_t i = 0; h->type == ASSAY_NPY_BOOL && i < h->bytes; i++) {
        if (((unsigned char *)data)[i] > 1) {
            assay_fail(err, ASSAY_ERR_INPUT, "%s: element %zu of a bool array is %d", name, i,
                       ((unsigned char *)data)[i]);
            free(data);
            return ASSAY_ERR_INPUT;
        }
    }
    out->data = h->fortran ? transposed(h, data) : data;
    if (out->data != data)
        free(data);
    if (!out->data)
        return assay_out_of_memory_for(err, "%s: %zu bytes", name, h->bytes);
    out->type = h->type;
    out->rank = h->rank;
    memcpy(out->shape, h->shape, sizeof out->shape);
    return ASSAY_OK;
}

assay_status text_npy_read_memory(const void *bytes, size_t size, const char *name, assay_npy *out,
                                  assay_error *err)
{
    assay_npy_header h;
    memset(out, 0, sizeof *out);
    assay_status status = text_npy_parse_header(bytes, size, name, &h, err);
    if (!status)
        status = check_payload(&h, size, name, err);
    if (status)
        return status;
    void *data = malloc(h.bytes ? h.bytes : 1);
    if (!data)
        return assay_out_of_memory_for(err, "%s: %zu bytes", name, h.bytes);
    memcpy(data, (const char *)bytes + h.offset, h.bytes);
    return adopt(&h, data, name, out, err);
}

assay_status text_npy_read_file(const char *path, assay_npy *out, assay_error *err)
{
    assay_npy_header h;
    unsigned char *bytes;
    size_t size;
    memset(out, 0, sizeof *out);
    assay_status status = assay_slurp(path, &bytes, &size, err);
    if (status)
        return status;
    status = text_npy_parse_header(bytes, size, path, &h, err);
    if (!status)
        status = check_payload(&h, size, path, err);
    if (status) {
        free(bytes);
        return status;
    }
    memmove(bytes, bytes + h.offset, h.bytes);
    return adopt(&h, bytes, path, out, err);
}

void text_npy_free(assay_npy *a)
{
    free(a->data);
    a->data = NULL;
}

static assay_status to_float32(assay_npy *a, assay_error *err)
{
    const size_t n = text_npy_count(a);
    float *y = malloc(n * sizeof *y + 1);

    if (!y)
        return assay_out_of_memory(err);
    for (size_t i = 0; i < n; i++)
        y[i] = (float)text_npy_get(a->data, a->type, i);
    free(a->data);
    a->data = y;
    a->type = ASSAY_NPY_F4;
    return ASSAY_OK;
}

assay_status text_npy_widen(assay_npy *a, assay_error *err)
{
    return a->type == ASSAY_NPY_F2 ? to_float32(a, err) : ASSAY_OK;
}

assay_status text_npy_round(assay_npy *a, assay_error *err)
{
    return a->type == ASSAY_NPY_F8 ? to_float32(a, err) : ASSAY_OK;
}
