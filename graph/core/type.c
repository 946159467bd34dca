/* Element kinds, shapes and parameters: sizes, ranges, comparison, text of kinds. */
#include "graph/core/type.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_BYTES (INT64_C(1) << 40)

#define FLOAT(kind, name, bits) [ASSAY_KIND_##kind] = {name, bits},
static const struct {
    const char *name;
    uint8_t bits;
} floats[] = {ASSAY_FLOATS(FLOAT)};
#undef FLOAT

assay_elem assay_small_float(assay_kind k)
{
    assert(k > ASSAY_KIND_BOOL && k <= ASSAY_KIND_INT8MX);
    return (assay_elem){(uint8_t)k, floats[k].bits, false};
}

size_t assay_elem_size(assay_elem e)
{
    if (e.kind == ASSAY_KIND_BOOL || e.bits <= 8)
        return 1;
    return e.bits <= 16 ? 2 : e.bits <= 32 ? 4 : 8;
}

bool assay_elem_valid(assay_elem e)
{
    switch (e.kind) {
    case ASSAY_KIND_INT:
        return (e.bits >= 1 && e.bits <= 32) || (e.bits == 64 && e.is_signed);
    case ASSAY_KIND_F32:
        return assay_elem_equal(e, assay_f32());
    case ASSAY_KIND_BOOL:
        return assay_elem_equal(e, assay_bool());
    default:
        return e.kind > ASSAY_KIND_BOOL && e.kind <= ASSAY_KIND_INT8MX &&
               assay_elem_equal(e, assay_small_float((assay_kind)e.kind));
    }
}

int64_t assay_elem_min(assay_elem e)
{
    assert(!e.is_signed || (e.bits >= 1 && e.bits <= 64));
    if (!e.is_signed)
        return 0;
    return e.bits == 64 ? INT64_MIN : -(INT64_C(1) << (e.bits - 1));
}

int64_t assay_elem_max(assay_elem e)
{
    assert(e.bits >= e.is_signed && (e.bits < 64 || e.is_signed));
    if (e.bits == 64)
        return INT64_MAX;
    return (INT64_C(1) << (e.is_signed ? e.bits - 1 : e.bits)) - 1;
}

int64_t assay_elem_wrap(assay_elem e, int64_t v)
{
    assert(e.bits >= 1 && e.bits <= 64);
    const unsigned lost = 64 - e.bits;
    const uint64_t up = (uint64_t)v << lost;
    return e.is_signed ? (int64_t)up >> lost : (int64_t)(up >> lost);
}

bool assay_elem_equal(assay_elem a, assay_elem b)
{
    return a.kind == b.kind && a.bits == b.bits && a.is_signed == b.is_signed;
}

int64_t assay_elem_get(assay_elem e, const void *data, size_t i)
{
    switch (assay_elem_size(e)) {
    case 1:
        return e.is_signed ? ((const int8_t *)data)[i] : ((const uint8_t *)data)[i];
    case 2:
        return e.is_signed ? ((const int16_t *)data)[i] : ((const uint16_t *)data)[i];
    case 4:
        return e.is_signed ? ((const int32_t *)data)[i] : (int64_t)((const uint32_t *)data)[i];
    default:
        return ((const int64_t *)data)[i];
    }
}

void assay_elem_set(assay_elem e, void *data, size_t i, int64_t v)
{
    switch (assay_elem_size(e)) {
    case 1:
        ((uint8_t *)data)[i] = (uint8_t)v;
        break;
    case 2:
        ((uint16_t *)data)[i] = (uint16_t)v;
        break;
    case 4:
        ((uint32_t *)data)[i] = (uint32_t)v;
        break;
    default:
        ((int64_t *)data)[i] = v;
    }
}

const char *assay_elem_print(assay_elem e, char buf[8])
{
    switch (e.kind) {
    case ASSAY_KIND_INT:
        snprintf(buf, 8, "%c%u", e.is_signed ? 'i' : 'u', (unsigned)e.bits);
        break;
    case ASSAY_KIND_F32:
        snprintf(buf, 8, "f32");
        break;
    case ASSAY_KIND_BOOL:
        snprintf(buf, 8, "bool");
        break;
    default:
        if (assay_elem_valid(e))
            return floats[e.kind].name;
        snprintf(buf, 8, "none");
    }
    return buf;
}

/* A small float by its name; ASSAY_KIND_NONE when it is none. */
static assay_kind float_named(const char *text)
{
    for (int k = ASSAY_KIND_F16; k <= ASSAY_KIND_INT8MX; k++)
        if (strcmp(floats[k].name, text) == 0)
            return (assay_kind)k;
    return ASSAY_KIND_NONE;
}

assay_status assay_elem_parse(const char *text, assay_elem *e, assay_error *err)
{
    char again[8];
    if (strcmp(text, "f32") == 0)
        *e = assay_f32();
    else if (strcmp(text, "bool") == 0)
        *e = assay_bool();
    else if (float_named(text))
        *e = assay_small_float(float_named(text));
    else {
        unsigned long bits = (*text == 'i' || *text == 'u') ? strtoul(text + 1, NULL, 10) : 0;
        *e = assay_int(bits <= 64 ? (unsigned)bits : 0, *text == 'i');
        if (!assay_elem_valid(*e) || strcmp(assay_elem_print(*e, again), text) != 0)
            return assay_fail(err, ASSAY_ERR_INPUT,
                              "expected an element kind (f32, bool, i1..i32, u1..u32, i64, f16, "
                              "bf16, f8e4m3fn, ...), "
                              "found '%.40s'",
                              text);
    }
    return ASSAY_OK;
}

int64_t assay_shape_count(const assay_type *t)
{
    int64_t n = 1;
    for (int i = 0; i < t->rank; ++i)
        n *= t->dim[i];
    return n;
}

size_t assay_type_bytes(const assay_type *t)
{
    return (size_t)assay_shape_count(t) * assay_elem_size(t->elem);
}

assay_status assay_shape_check(const assay_type *t, const char *what, assay_error *err)
{
    /* Zero extents count as one, so that strides cannot overflow either. */
    int64_t n = (int64_t)assay_elem_size(t->elem);
    if (t->rank < 0 || t->rank > ASSAY_MAX_RANK)
        return assay_fail(err, ASSAY_ERR_LIMIT, "%s: rank %d is outside 0..%d", what, t->rank,
                          ASSAY_MAX_RANK);
    for (int i = 0; i < t->rank; ++i) {
        if (t->dim[i] < 0)
            return assay_fail(err, ASSAY_ERR_LIMIT, "%s: dimension %d is negative (%lld)", what, i,
                              (long long)t->dim[i]);
        if (t->dim[i] > 1 && n > MAX_BYTES / t->dim[i])
            return assay_fail(err, ASSAY_ERR_LIMIT, "%s: more than 2^40 bytes", what);
        n *= t->dim[i] ? t->dim[i] : 1;
    }
    return ASSAY_OK;
}

bool assay_shape_equal(const assay_type *a, const assay_type *b)
{
    if (a->rank != b->rank)
        return false;
    for (int i = 0; i < a->rank; ++i)
        if (a->dim[i] != b->dim[i])
            return false;
    return true;
}

const char *assay_shape_print(const assay_type *t, char *buf, size_t size)
{
    size_t n = (size_t)snprintf(buf, size, "[");
    for (int i = 0; i < t->rank && n < size; ++i)
        n += (size_t)snprintf(buf + n, size - n, "%s%lld", i ? "," : "", (long long)t->dim[i]);
    if (n < size)
        snprintf(buf + n, size - n, "]");
    return buf;
}

bool assay_qparams_one_zero_point(const assay_qparams *q)
{
    for (size_t i = 1; i < q->count; i++)
        if (q->zero_point[i] != q->zero_point[0])
            return false;
    return true;
}

bool assay_qparams_equal(const assay_qparams *a, const assay_qparams *b)
{
    if (a->granularity != b->granularity)
        return false;
    if (a->granularity == ASSAY_Q_NONE)
        return true;
    if (a->granularity != ASSAY_Q_TENSOR && a->axis != b->axis)
        return false;
    if (a->granularity == ASSAY_Q_BLOCK && a->block != b->block)
        return false;
    return a->count == b->count && memcmp(a->scale, b->scale, a->count * sizeof *a->scale) == 0 &&
           memcmp(a->zero_point, b->zero_point, a->count * sizeof *a->zero_point) == 0;
}

bool assay_type_equal(const assay_type *a, const assay_type *b)
{
    return assay_elem_equal(a->elem, b->elem) && assay_shape_equal(a, b) &&
           assay_qparams_equal(&a->q, &b->q);
}

assay_type assay_type_permuted(const assay_type *t, const int *perm)
{
    assay_type to = *t;
    for (int i = 0; i < t->rank; ++i) {
        to.dim[i] = t->dim[perm[i]];
        if (t->q.granularity > ASSAY_Q_TENSOR && t->q.axis == perm[i])
            to.q.axis = i;
    }
    return to;
}

void assay_elements_permuted(const assay_type *t, const void *data, const int *perm, void *out)
{
    const assay_type to = assay_type_permuted(t, perm);
    const size_t size = assay_elem_size(t->elem);
    const int64_t count = assay_shape_count(t);
    int64_t stride[ASSAY_MAX_RANK], at[ASSAY_MAX_RANK] = {0}, place = 0;

    for (int i = 0; i < t->rank; ++i) {
        stride[i] = 1;
        for (int k = perm[i] + 1; k < t->rank; ++k)
            stride[i] *= t->dim[k];
    }
    for (int64_t i = 0; i < count; ++i) {
        memcpy((char *)out + (size_t)i * size, (const char *)data + (size_t)place * size, size);
        for (int k = to.rank - 1; k >= 0; --k) {
            place += stride[k];
            if (++at[k] < to.dim[k])
                break;
            place -= stride[k] * to.dim[k];
            at[k] = 0;
        }
    }
}

bool assay_is_power_of_two(float scale)
{
    int exponent;
    return frexpf(scale, &exponent) == 0.5F;
}

int64_t assay_qparams_count(const assay_type *t)
{
    int64_t n = 1;
    switch (t->q.granularity) {
    case ASSAY_Q_NONE:
        return 0;
    case ASSAY_Q_TENSOR:
        return 1;
    default:
        break;
    }
    if (t->q.axis < 0 || t->q.axis >= t->rank)
        return -1;
    if (t->q.granularity == ASSAY_Q_AXIS)
        return t->dim[t->q.axis];
    if (t->q.block < 1)
        return -1;
    for (int i = 0; i < t->rank; ++i)
        n *= i == t->q.axis ? t->dim[i] / t->q.block + (t->dim[i] % t->q.block != 0) : t->dim[i];
    return n;
}
