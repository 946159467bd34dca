/* Tensors as .npy files. */
#include "graph/core/constant.h"

#include <string.h>

assay_npy_type assay_elem_npy(assay_elem e)
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

assay_status assay_constant_write(const char *path, const assay_type *t, const void *data,
                                  assay_error *err)
{
    assay_npy a = {.type = assay_elem_npy(t->elem), .rank = t->rank, .data = (void *)data};
    memcpy(a.shape, t->dim, sizeof t->dim);
    return assay_npy_write_file(path, &a, err);
}

assay_status assay_constant_read(const char *path, const assay_type *t, void **data,
                                 assay_error *err)
{
    assay_npy a;
    assay_type found = {.rank = 0};
    char expected_shape[128], found_shape[128];
    assay_status s = assay_npy_read_file(path, &a, err);

    *data = NULL;
    if (s)
        return s;
    found.rank = a.rank;
    for (int i = 0; i < a.rank && i < ASSAY_MAX_RANK; ++i)
        found.dim[i] = a.shape[i];
    if (a.type != assay_elem_npy(t->elem) || a.rank > ASSAY_MAX_RANK ||
        !assay_shape_equal(&found, t)) {
        found.rank = a.rank < ASSAY_MAX_RANK ? a.rank : ASSAY_MAX_RANK;
        s = assay_fail(err, ASSAY_ERR_INPUT, "%.300s: holds %s%s, expected %s%s", path,
                       assay_npy_type_name(a.type),
                       assay_shape_print(&found, found_shape, sizeof found_shape),
                       assay_npy_type_name(assay_elem_npy(t->elem)),
                       assay_shape_print(t, expected_shape, sizeof expected_shape));
        assay_npy_free(&a);
        return s;
    }
    *data = a.data;
    return ASSAY_OK;
}
