/* Reading of one sample, as it is stored. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "datasets/internal.h"
#include "datasets/png.h"

static assay_status read_image(const assay_dataset *d, int64_t i, void *out, assay_error *err)
{
    assay_image image;
    char expected[160];
    assay_status status = d->indices ? dataset_png_read_indices(d->files[i], &image, err)
                                     : dataset_png_read_file(d->files[i], &image, err);
    if (status)
        return status;
    if (image.height != d->type.shape[0] || image.width != d->type.shape[1] ||
        image.channels != d->type.shape[2])
        status = assay_fail(err, ASSAY_ERR_INPUT,
                            "%s: the image is [%d,%d,%d] (height, width, channels); expected %s "
                            "as the first of the data set; nothing is resized",
                            d->files[i], image.height, image.width, image.channels,
                            dataset_sample_print(&d->type, expected, sizeof expected));
    else if ((size_t)image.bytes != text_npy_type_size(d->type.type))
        status = assay_fail(err, ASSAY_ERR_INPUT,
                            "%s: the image has %d bits; expected %s as the first of the data set",
                            d->files[i], 8 * image.bytes,
                            dataset_sample_print(&d->type, expected, sizeof expected));
    else
        memcpy(out, image.pixels, dataset_sample_bytes(&d->type));
    free(image.pixels);
    return status;
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
    return dataset_has_arrays(d) ? dataset_read_array(d, i, out, err) : read_image(d, i, out, err);
}
