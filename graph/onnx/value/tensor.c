/* Constants: made, read and written element by element. */
#include <limits.h>
#include <math.h>
#include <string.h>

#include "graph/onnx/value/value.h"

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
    return onnx_give_room(im, c, (size_t)c->count * onnx_dtype_size(dtype)) ? c : NULL;
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
    case ONNX_UINT2:
    case ONNX_BOOL:
    case ONNX_FLOAT8E4M3FN: /* patterns */
    case ONNX_FLOAT8E4M3FNUZ:
    case ONNX_FLOAT8E5M2:
    case ONNX_FLOAT8E5M2FNUZ:
    case ONNX_FLOAT4E2M1:
    case ONNX_FLOAT8E8M0:
        return ((const uint8_t *)c->data)[i];
    case ONNX_INT8:
    case ONNX_INT4:
    case ONNX_INT2:
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
    case ONNX_BFLOAT16: {
        LOAD(uint16_t);
        uint32_t bits = (uint32_t)v << 16;
        float f;
        memcpy(&f, &bits, sizeof f);
        return (double)f;
    }
    default:
        return (double)onnx_get_int(c, i);
    }
}
#undef LOAD

/* The type of codes that share bytes; false for others. */
static bool packed_elem(int dtype, assay_elem *e)
{
    return onnx_dtype_packed(dtype) > 0 && onnx_dtype_elem(dtype, e) && e->kind == ASSAY_KIND_INT;
}

void onnx_set_int(onnx_const *c, int64_t i, int64_t v)
{
    /* Constants under construction were allocated by onnx_new_const, which returns them writable.
     */
    char *at = (char *)(uintptr_t)c->data + (size_t)i * onnx_dtype_size(c->dtype);
    assay_elem e;
    uint64_t u = (uint64_t)(packed_elem(c->dtype, &e) ? assay_elem_wrap(e, v) : v);

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
