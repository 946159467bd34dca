/* Reading a golden bundle back. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/text/npy.h"
#include "interp/golden/bundle.h"

static assay_status read_entry(const json_t *o, const char *where, assay_bundle_tensor *t,
                               assay_error *err)
{
    t->name = json_string_value(json_object_get(o, "name"));
    t->op = json_string_value(json_object_get(o, "op"));
    t->digest = json_string_value(json_object_get(o, "xxh3"));
    t->file = json_string_value(json_object_get(o, "file"));
    t->sample = json_integer_value(json_object_get(o, "sample"));
    t->index = (int)json_integer_value(json_object_get(o, "index"));
    if (!t->name || !t->digest || !json_is_integer(json_object_get(o, "index")))
        return assay_fail(err, ASSAY_ERR_INPUT,
                          "%s: an entry of \"tensors\" lacks name, index or xxh3", where);
    if (t->file && (t->file[0] == '/' || strstr(t->file, "..")))
        return assay_fail(err, ASSAY_ERR_INPUT, "%s: file '%s' leaves the bundle", where, t->file);
    return assay_json_type_read(o, t->name, &t->type, err);
}

assay_status assay_bundle_open(const char *dir, assay_bundle **out, assay_error *err)
{
    char path[4096];
    json_error_t json_error;
    const json_t *tensors;
    assay_bundle *b;
    assay_status status = ASSAY_OK;

    *out = NULL;
    if ((size_t)snprintf(path, sizeof path, "%s/manifest.json", dir) >= sizeof path)
        return assay_fail(err, ASSAY_ERR_LIMIT, "%s: the path is too long", dir);
    b = calloc(1, sizeof *b);
    if (!b || !(b->dir = strdup(dir))) {
        free(b);
        return assay_fail(err, ASSAY_ERR_MEMORY, "out of memory");
    }
    FILE *file = fopen(path, "rb");
    if (!file) {
        status = assay_fail(err, ASSAY_ERR_IO, "%s: no golden bundle: %s", path, strerror(errno));
        goto done;
    }
    b->manifest = json_loadf(file, JSON_REJECT_DUPLICATES, &json_error);
    fclose(file);
    if (!b->manifest) {
        status = assay_fail(err, ASSAY_ERR_INPUT, "%s:%d:%d: %s", path, json_error.line,
                            json_error.column, json_error.text);
        goto done;
    }
    tensors = json_object_get(b->manifest, "tensors");
    if (!json_is_array(tensors)) {
        status =
            assay_fail(err, ASSAY_ERR_INPUT, "%s: no \"tensors\" list: not a golden bundle", path);
        goto done;
    }
    b->tensor = calloc(json_array_size(tensors) + 1, sizeof *b->tensor);
    if (!b->tensor) {
        status = assay_fail(err, ASSAY_ERR_MEMORY, "out of memory");
        goto done;
    }
    for (size_t i = 0; i < json_array_size(tensors) && status == ASSAY_OK; i++) {
        status = read_entry(json_array_get(tensors, i), path, &b->tensor[i], err);
        if (status == ASSAY_OK)
            b->n_tensors++;
    }
done:
    if (status != ASSAY_OK) {
        assay_bundle_free(b);
        return status;
    }
    *out = b;
    return ASSAY_OK;
}

void assay_bundle_free(assay_bundle *b)
{
    if (!b)
        return;
    for (int i = 0; i < b->n_tensors; i++)
        assay_json_type_free(&b->tensor[i].type);
    free(b->tensor);
    json_decref(b->manifest);
    free(b->dir);
    free(b);
}

assay_status assay_bundle_read(const assay_bundle *b, int i, void **data, assay_error *err)
{
    const assay_bundle_tensor *t = &b->tensor[i];
    char path[4096];
    assay_npy a;
    assay_status status;
    bool fits;

    *data = NULL;
    if (!t->file)
        return assay_fail(err, ASSAY_ERR_INPUT, "%s: tensor '%s' was kept as a digest only", b->dir,
                          t->name);
    if ((size_t)snprintf(path, sizeof path, "%s/%s", b->dir, t->file) >= sizeof path)
        return assay_fail(err, ASSAY_ERR_LIMIT, "%s: the path is too long", b->dir);
    status = assay_npy_read_file(path, &a, err);
    if (status != ASSAY_OK)
        return status;
    fits = a.rank == t->type.rank &&
           strcmp(assay_npy_type_name(a.type), assay_dtype_name(t->type.elem)) == 0;
    for (int d = 0; d < t->type.rank && fits; d++)
        fits = a.shape[d] == t->type.dim[d];
    if (!fits) {
        assay_npy_free(&a);
        return assay_fail(err, ASSAY_ERR_INPUT,
                          "%s: shape or dtype is not what the manifest says of '%s'", path,
                          t->name);
    }
    *data = a.data;
    return ASSAY_OK;
}
