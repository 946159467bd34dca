/* Reading of one sample, as it is stored. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "datasets/internal.h"
#include "datasets/png.h"
#include "datasets/resize.h"
#include "graph/memory.h"

/* Image i as it is; *data is malloc'd. */
static assay_status read_image(const assay_dataset *d, int64_t i, assay_sample_type *type,
                               void **data, assay_error *err)
{
    assay_image image;
    const assay_status status = d->indices ? dataset_png_read_indices(d->files[i], &image, err)
                                           : dataset_png_read_file(d->files[i], &image, err);
    if (status)
        return status;
    *data = image.pixels;
    *type = (assay_sample_type){image.bytes == 2 ? ASSAY_NPY_U2 : ASSAY_NPY_U1,
                                3,
                                {image.height, image.width, image.channels},
                                false};
    return ASSAY_OK;
}

/* Whether a sample may have this type in a data set of that one. */
static bool may_be(const assay_sample_type *own, const assay_sample_type *set, bool any_size,
                   bool any_channels)
{
    assay_extent a, b;
    if (own->type != set->type)
        return false;
    if (own->rank == set->rank &&
        memcmp(own->shape, set->shape, (size_t)own->rank * sizeof own->shape[0]) == 0)
        return true;
    return (any_size || any_channels) && dataset_extent_of(own, &a) && dataset_extent_of(set, &b) &&
           (any_size || (a.height == b.height && a.width == b.width)) &&
           (any_channels || a.channels == b.channels);
}

static assay_status is_other(const assay_dataset *d, int64_t i, const assay_sample_type *own,
                             assay_error *err)
{
    char found[160], expected[160];
    assay_extent s;
    return assay_fail(
        err, ASSAY_ERR_INPUT, "%s: holds %s; expected %s as the first of the data set%s",
        d->files[i], dataset_sample_print(own, found, sizeof found),
        dataset_sample_print(&d->type, expected, sizeof expected),
        own->type == d->type.type && dataset_extent_of(own, &s)
            ? " (resize in preprocess.yaml gives images one size, channel_order the same channels)"
            : "");
}

assay_status dataset_read_own(const assay_dataset *d, int64_t i, bool any_size, bool any_channels,
                              assay_sample_type *type, void **data, assay_error *err)
{
    *data = NULL;
    if (d->stream || !d->files || i < 0 || i >= d->count) {
        *type = d->type;
        *data = malloc(dataset_sample_bytes(type));
        return *data ? dataset_read(d, i, *data, err)
                     : assay_out_of_memory_for(err, "a sample of %zu bytes",
                                               dataset_sample_bytes(type));
    }
    const assay_status status = dataset_has_arrays(d) ? dataset_read_array(d, i, type, data, err)
                                                      : read_image(d, i, type, data, err);
    if (status)
        return status;
    type->planar = d->type.planar && type->rank == 3;
    return may_be(type, &d->type, any_size, any_channels) ? ASSAY_OK : is_other(d, i, type, err);
}

assay_status dataset_read(const assay_dataset *d, int64_t i, void *out, assay_error *err)
{
    if (i < 0 || i >= d->count)
        return assay_fail(err, ASSAY_ERR_INPUT, "%s: there is no sample %" PRId64 " among %" PRId64,
                          d->path, i, d->count);
    if (d->stream)
        return dataset_read_window(d, i, out, err);
    if (!d->files)
        return dataset_read_record(d, i, out, err);
    assay_sample_type type;
    void *data;
    const assay_status status = dataset_read_own(d, i, false, false, &type, &data, err);
    if (!status)
        memcpy(out, data, dataset_sample_bytes(&type));
    free(data);
    return status;
}
