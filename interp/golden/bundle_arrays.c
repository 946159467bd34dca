/* Arrays in files of a bundle, and lists of numbers wherever they are. */
#include <stdlib.h>

#include "graph/core/slurp.h"
#include "graph/memory.h"
#include "graph/text/constant.h"
#include "interp/golden/bundle.h"

assay_status golden_bundle_read_array(const assay_bundle *b, const char *file,
                                      const assay_type *type, void **data, assay_error *err)
{
    unsigned char *bytes;
    size_t size;
    assay_status status = assay_slurp_inside(b->folder, b->dir, file, &bytes, &size, err);

    *data = NULL;
    if (!status)
        status = text_constant_parse(file, bytes, size, type, data, err);
    free(bytes);
    return status;
}

assay_status golden_bundle_read_numbers(const assay_bundle *b, const json_t *array, assay_type *t,
                                        void **data, assay_error *err)
{
    const char *file = json_string_value(json_object_get(array, "file"));
    unsigned char *bytes;
    size_t size;
    assay_npy a = {0};
    *data = NULL;
    *t = (assay_type){.rank = 1};
    if (!file)
        return assay_fail(err, ASSAY_ERR_INPUT, "%s: a list was kept as a digest only", b->dir);
    assay_status status = assay_slurp_inside(b->folder, b->dir, file, &bytes, &size, err);
    if (!status)
        status = text_npy_read_memory(bytes, size, file, &a, err);
    free(bytes);
    if (status)
        return status;
    t->elem = a.type == ASSAY_NPY_F4   ? assay_f32()
              : a.type == ASSAY_NPY_I8 ? assay_int(64, true)
                                       : assay_int(32, true);
    t->dim[0] = a.shape[0];
    *data = a.data;
    if (a.rank == 1 && a.type == text_elem_npy(t->elem))
        return ASSAY_OK;
    text_npy_free(&a);
    *data = NULL;
    return assay_fail(err, ASSAY_ERR_INPUT, "%s: holds no list of numbers", file);
}

static assay_status no_integers(const assay_bundle *b, const char *name, assay_error *err)
{
    return assay_fail(err, ASSAY_ERR_INPUT, "%s: parameter '%.60s' is not a list of integers",
                      b->dir, name);
}

assay_status golden_bundle_integers(const assay_bundle *b, const char *name, const json_t *list,
                                    int64_t **value, size_t *n, assay_error *err)
{
    const bool is_file = json_is_object(list);
    assay_type t = {0};
    void *data = NULL;
    assay_status status = is_file ? golden_bundle_read_numbers(b, list, &t, &data, err) : ASSAY_OK;
    *value = NULL;
    *n = is_file ? (size_t)t.dim[0] : json_array_size(list);
    if (!status && (is_file ? t.elem.kind != ASSAY_KIND_INT : !json_is_array(list)))
        status = no_integers(b, name, err);
    if (!status && !(*value = calloc(*n + 1, sizeof **value)))
        status = assay_out_of_memory(err);
    for (size_t i = 0; i < *n && !status; i++) {
        const json_t *one = is_file ? NULL : json_array_get(list, i);
        if (!is_file && !json_is_integer(one))
            status = no_integers(b, name, err);
        (*value)[i] = is_file ? assay_elem_get(t.elem, data, i) : json_integer_value(one);
    }
    free(data);
    if (status) {
        free(*value);
        *value = NULL;
    }
    return status;
}

assay_type golden_bundle_parameter_type(const int64_t *value, size_t n)
{
    assay_type t = {.elem = assay_int(32, true), .rank = 1, .dim = {(int64_t)n}};
    for (size_t i = 0; i < n; i++)
        if (value[i] < INT32_MIN || value[i] > INT32_MAX)
            t.elem = assay_int(64, true);
    return t;
}

assay_status golden_bundle_parameter_data(const assay_type *type, const int64_t *value, void **data,
                                          assay_error *err)
{
    const size_t n = (size_t)type->dim[0];
    *data = malloc(n * assay_elem_size(type->elem) + 1);
    if (!*data)
        return assay_out_of_memory(err);
    for (size_t i = 0; i < n; i++)
        assay_elem_set(type->elem, *data, i, value[i]);
    return ASSAY_OK;
}

assay_status golden_bundle_parameter(const assay_bundle *b, const char *name, const json_t *list,
                                     assay_type *type, void **data, assay_error *err)
{
    int64_t *value;
    size_t n;
    *data = NULL;
    assay_status status = golden_bundle_integers(b, name, list, &value, &n, err);
    if (status)
        return status;
    *type = golden_bundle_parameter_type(value, n);
    status = golden_bundle_parameter_data(type, value, data, err);
    free(value);
    return status;
}
