/* Tensors as .npy files. */
#include "graph/text/constant.h"
#include "graph/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "graph/core/arena.h"
#include "graph/text/packed.h"

assay_npy_type text_elem_npy(assay_elem e)
{
    if (e.kind == ASSAY_KIND_F32)
        return ASSAY_NPY_F4;
    if (e.kind == ASSAY_KIND_BOOL)
        return ASSAY_NPY_BOOL;
    switch (assay_elem_size(e)) {
    case 1:
        return e.is_signed ? ASSAY_NPY_I1 : ASSAY_NPY_U1;
    case 2:
        return e.is_signed ? ASSAY_NPY_I2 : ASSAY_NPY_U2;
    case 4:
        return e.is_signed ? ASSAY_NPY_I4 : ASSAY_NPY_U4;
    default:
        return ASSAY_NPY_I8;
    }
}

bool text_constant_is_packed(const assay_type *t)
{
    return text_is_packable(t->elem) && assay_shape_count(t) >= ASSAY_TEXT_PACKED;
}

/* The array of a constant's file; *packed, where its elements are that, is the caller's to free. */
static assay_status array_of(const assay_type *t, const void *data, assay_npy *a,
                             unsigned char **packed, assay_error *err)
{
    *a = (assay_npy){.type = text_elem_npy(t->elem), .rank = t->rank, .data = (void *)data};
    memcpy(a->shape, t->dim, sizeof t->dim);
    *packed = NULL;
    if (!text_constant_is_packed(t))
        return ASSAY_OK;
    const size_t size = text_packed_bytes(t);
    *a = (assay_npy){.type = ASSAY_NPY_U1, .rank = 1, .shape = {(int64_t)size}};
    a->data = *packed = malloc(size);
    if (!*packed)
        return assay_out_of_memory(err);
    text_pack(t, data, *packed);
    return ASSAY_OK;
}

assay_status text_constant_write(const char *path, const assay_type *t, const void *data,
                                 assay_error *err)
{
    assay_npy a;
    unsigned char *packed;
    assay_status s = array_of(t, data, &a, &packed, err);
    if (!s)
        s = text_npy_put(path, &a, err);
    free(packed);
    return s;
}

assay_status text_constant_render(const assay_type *t, const void *data, void **bytes, size_t *size,
                                  assay_error *err)
{
    assay_npy a;
    unsigned char *packed;
    assay_status s = array_of(t, data, &a, &packed, err);
    *bytes = NULL;
    if (!s)
        s = text_npy_write_memory(&a, bytes, size, err);
    free(packed);
    return s;
}

/* Whether *a may be t's elements, packed; a few elements may fill as many bytes as they are, which
 * are then their containers. */
static bool may_be_packed(const assay_npy *a, const assay_type *t)
{
    return text_is_packable(t->elem) && a->type == ASSAY_NPY_U1 && a->rank == 1 &&
           a->shape[0] < assay_shape_count(t) && a->shape[0] == (int64_t)text_packed_bytes(t);
}

assay_status text_constant_unpack(const char *path, assay_npy *a, const assay_type *t,
                                  assay_error *err)
{
    void *wide;
    if (!may_be_packed(a, t))
        return ASSAY_OK;
    if (!text_packed_ends(t, a->data))
        return assay_fail(err, ASSAY_ERR_INPUT, "%.300s: bits after the last element are not zero",
                          path);
    wide = malloc((size_t)assay_shape_count(t));
    if (!wide)
        return assay_out_of_memory(err);
    text_unpack(t, a->data, wide);
    free(a->data);
    *a = (assay_npy){.type = text_elem_npy(t->elem), .rank = t->rank, .data = wide};
    memcpy(a->shape, t->dim, sizeof t->dim);
    return ASSAY_OK;
}

/* Takes the elements over from *a, which must be of t's container and shape. */
static assay_status take(const char *path, assay_npy *a, const assay_type *t, void **data,
                         assay_error *err)
{
    assay_type found = {.rank = 0};
    char expected_shape[128], found_shape[128];
    assay_status s = text_constant_unpack(path, a, t, err);

    if (s) {
        text_npy_free(a);
        return s;
    }
    found.rank = a->rank < ASSAY_MAX_RANK ? a->rank : ASSAY_MAX_RANK;
    memcpy(found.dim, a->shape, (size_t)found.rank * sizeof *found.dim);
    if (a->type == text_elem_npy(t->elem) && a->rank <= ASSAY_MAX_RANK &&
        assay_shape_equal(&found, t)) {
        *data = a->data;
        return ASSAY_OK;
    }
    s = assay_fail(err, ASSAY_ERR_INPUT, "%.300s: holds %s%s, expected %s%s", path,
                   text_npy_type_name(a->type),
                   assay_shape_print(&found, found_shape, sizeof found_shape),
                   text_npy_type_name(text_elem_npy(t->elem)),
                   assay_shape_print(t, expected_shape, sizeof expected_shape));
    text_npy_free(a);
    return s;
}

assay_status text_constant_read(const char *path, const assay_type *t, void **data,
                                assay_error *err)
{
    assay_npy a;
    assay_status s = text_npy_read_file(path, &a, err);

    *data = NULL;
    return s ? s : take(path, &a, t, data, err);
}

assay_status text_constant_parse(const char *path, const unsigned char *bytes, size_t size,
                                 const assay_type *t, void **data, assay_error *err)
{
    assay_npy a;
    assay_status s = text_npy_read_memory(bytes, size, path, &a, err);

    *data = NULL;
    return s ? s : take(path, &a, t, data, err);
}

static void print_digest(XXH128_hash_t h, char hex[33])
{
    snprintf(hex, 33, "%016llx%016llx", (unsigned long long)h.high64, (unsigned long long)h.low64);
}

assay_status text_constant_digest(const assay_type *t, const void *data, char hex[33],
                                  assay_error *err)
{
    const uint16_t one = 1;
    const size_t size = assay_elem_size(t->elem), n = (size_t)assay_shape_count(t);
    void *swapped;

    if (size == 1 || *(const unsigned char *)&one == 1) {
        print_digest(XXH3_128bits(data, n * size), hex);
        return ASSAY_OK;
    }
    swapped = malloc(n * size + 1);
    if (!swapped)
        return assay_out_of_memory(err);
    memcpy(swapped, data, n * size);
    text_npy_swap(swapped, n, size);
    print_digest(XXH3_128bits(swapped, n * size), hex);
    free(swapped);
    return ASSAY_OK;
}
