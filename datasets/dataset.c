/* Data sets: opening, closing, and their counts and labels. */
#include "datasets/dataset.h"
#include "graph/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "datasets/internal.h"

static assay_status open_samples(assay_dataset *d, bool folder, const assay_dataset_options *o,
                                 const char *list, assay_error *err)
{
    const bool image = !folder && dataset_is_png_name(d->path);
    if (o->raw && (folder || image))
        return assay_fail(err, ASSAY_ERR_INPUT,
                          "%s: `raw` %.40s applies to a file of raw samples, and this is a %s",
                          d->path, o->raw, folder ? "folder" : "PNG");
    if (folder)
        return dataset_open_folder(d, list, err);
    return image ? dataset_open_image(d, err) : dataset_open_file(d, o, err);
}

/* The labels of an opened file of samples: those that are named, or that lie beside it. */
static assay_status open_labels(assay_dataset *d, const char *named, assay_error *err)
{
    char *beside = NULL;
    assay_status status = ASSAY_OK;
    if (!named && !d->labels)
        status = dataset_labels_beside(d->path, &beside, err);
    const char *labels = named ? named : beside;
    if (!status && labels)
        status = dataset_are_label_maps(labels) ? dataset_open_maps(d, labels, err)
                                                : dataset_read_labels(d, labels, err);
    free(beside);
    return status;
}

static assay_status open_path(assay_dataset *d, const assay_dataset_options *options,
                              assay_error *err)
{
    const bool maps = options->labels && dataset_are_label_maps(options->labels);
    struct stat st;
    if (stat(d->path, &st) != 0)
        return assay_fail(err, ASSAY_ERR_IO, "%s: cannot open: %s", d->path, strerror(errno));
    const bool folder = S_ISDIR(st.st_mode);
    const bool list = folder && options->labels && !maps && !dataset_is_array(options->labels);
    assay_status status = open_samples(d, folder, options, list ? options->labels : NULL, err);
    if (!status)
        status = dataset_cut_windows(d, options, err);
    if (!status && maps)
        return dataset_open_maps(d, options->labels, err);
    if (!status && (!d->files || (options->labels && !list)))
        status = open_labels(d, options->labels, err);
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
        d->array = options && options->array ? strdup(options->array) : NULL;
    }
    if (!d || !d->path || (options && options->array && !d->array)) {
        dataset_close(d);
        return assay_out_of_memory_for(err, "%s", path);
    }
    assay_status status = open_path(d, options ? options : &none, err);
    if (status)
        dataset_close(d);
    else
        *out = d;
    return status;
}

assay_status dataset_open_tokens(const int64_t *token, int64_t n, const char *of,
                                 const assay_dataset_options *options, assay_dataset **out,
                                 assay_error *err)
{
    assay_dataset *d = calloc(1, sizeof *d);

    *out = NULL;
    if (!d)
        return assay_out_of_memory_for(err, "%s", of);
    d->fd = -1;
    d->path = strdup(of);
    d->tokens = malloc(((size_t)n + 1) * sizeof *d->tokens);
    assay_status status = d->path && d->tokens ? ASSAY_OK : assay_out_of_memory_for(err, "%s", of);
    if (!status) {
        memcpy(d->tokens, token, (size_t)n * sizeof *token);
        d->type = (assay_sample_type){.type = ASSAY_NPY_I8};
        d->count = n;
        status = dataset_cut_windows(d, options, err);
    }
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
    free(d->tokens);
    free(d->array);
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
