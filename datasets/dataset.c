/* Data sets: what a path is, and reading one sample. */
#include "datasets/dataset.h"
#include "graph/memory.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "datasets/internal.h"
#include "datasets/png.h"

size_t dataset_sample_count(const assay_sample_type *t)
{
    size_t count = 1;
    for (int i = 0; i < t->rank; i++)
        count *= (size_t)t->shape[i];
    return count;
}

size_t dataset_sample_bytes(const assay_sample_type *t)
{
    return dataset_sample_count(t) * text_npy_type_size(t->type);
}

const char *dataset_sample_print(const assay_sample_type *t, char *buf, size_t size)
{
    int n = snprintf(buf, size, "%s [", text_npy_type_name(t->type));
    for (int i = 0; i < t->rank && (size_t)n < size; i++)
        n += snprintf(buf + n, size - (size_t)n, "%s%" PRId64, i ? "," : "", t->shape[i]);
    if ((size_t)n < size)
        snprintf(buf + n, size - (size_t)n, "]");
    return buf;
}

static assay_status open_samples(assay_dataset *d, bool folder, const assay_dataset_options *o,
                                 assay_error *err)
{
    if (folder)
        return dataset_open_folder(d, o->labels, err);
    return dataset_is_png_name(d->path) ? dataset_open_image(d, err) : dataset_open_file(d, o, err);
}

static assay_status open_path(assay_dataset *d, const assay_dataset_options *options,
                              assay_error *err)
{
    struct stat st;
    assay_status status;
    if (stat(d->path, &st) != 0)
        return assay_fail(err, ASSAY_ERR_IO, "%s: cannot open data set: %s", d->path,
                          strerror(errno));
    if (options->labels && dataset_are_label_maps(options->labels)) {
        const assay_dataset_options rest = {.raw = options->raw, .planar = options->planar};
        status = open_samples(d, S_ISDIR(st.st_mode), &rest, err);
        return status ? status : dataset_open_maps(d, options->labels, err);
    }
    status = open_samples(d, S_ISDIR(st.st_mode), options, err);
    return status ? status : dataset_read_classes(d, err);
}

assay_status dataset_open(const char *path, const assay_dataset_options *options,
                          assay_dataset **out, assay_error *err)
{
    static const assay_dataset_options none = {0};
    assay_dataset *d = calloc(1, sizeof *d);
    *out = NULL;
    if (d) {
        d->fd = -1;
        d->path = strdup(path);
    }
    if (!d || !d->path) {
        free(d);
        return assay_out_of_memory_for(err, "%s", path);
    }
    assay_status status = open_path(d, options ? options : &none, err);
    if (status)
        dataset_close(d);
    else
        *out = d;
    return status;
}

void dataset_close(assay_dataset *d)
{
    if (!d)
        return;
    dataset_close(d->maps);
    if (d->fd >= 0)
        close(d->fd);
    for (int64_t i = 0; d->files && i < d->count; i++)
        free(d->files[i]);
    for (int64_t i = 0; i < d->class_count; i++)
        free(d->class_names[i]);
    free(d->files);
    free(d->class_names);
    free(d->labels);
    free(d->path);
    free(d);
}

int64_t dataset_count(const assay_dataset *d)
{
    return d->count;
}

const assay_sample_type *dataset_sample_type(const assay_dataset *d)
{
    return &d->type;
}

int64_t dataset_label(const assay_dataset *d, int64_t i)
{
    return d->labels ? d->labels[i] : -1;
}

int64_t dataset_class_count(const assay_dataset *d)
{
    return d->class_count;
}

const char *dataset_class_name(const assay_dataset *d, int64_t label)
{
    return d->class_names[label];
}

const char *dataset_sample_name(const assay_dataset *d, int64_t i, char *buf, size_t size)
{
    if (d->files)
        snprintf(buf, size, "%s", d->files[i]);
    else
        snprintf(buf, size, "%s[%" PRId64 "]", d->path, i);
    return buf;
}

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
    if (!d->files)
        return dataset_read_record(d, i, out, err);
    return dataset_has_arrays(d) ? dataset_read_array(d, i, out, err) : read_image(d, i, out, err);
}
