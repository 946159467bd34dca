/* A folder of PNG images or of .npy files with a sample each, listed by its labels file or, without
 * one, by name; or one image. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "datasets/internal.h"
#include "datasets/npz.h"
#include "datasets/png.h"
#include "graph/memory.h"

bool dataset_is_png_name(const char *name)
{
    size_t n = strlen(name);
    return n > 4 && strcasecmp(name + n - 4, ".png") == 0;
}

static bool is_npy_name(const char *name)
{
    size_t n = strlen(name);
    return n > 4 && strcasecmp(name + n - 4, ".npy") == 0;
}

static bool is_npz_name(const char *name)
{
    size_t n = strlen(name);
    return n > 4 && strcasecmp(name + n - 4, ".npz") == 0;
}

/* Takes over `file` (NULL: no memory). */
static assay_status append(assay_dataset *d, int64_t *room, char *file, int64_t label,
                           assay_error *err)
{
    if (file && d->count == *room) {
        int64_t more = *room ? 2 * *room : 64;
        char **files = realloc(d->files, (size_t)more * sizeof *files);
        d->files = files ? files : d->files;
        int64_t *labels = realloc(d->labels, (size_t)more * sizeof *labels);
        d->labels = labels ? labels : d->labels;
        if (files && labels)
            *room = more;
    }
    if (!file || d->count == *room) {
        free(file);
        return assay_out_of_memory_for(err, "%s: list of images", d->path);
    }
    d->files[d->count] = file;
    d->labels[d->count++] = label;
    return ASSAY_OK;
}

static char *join(const char *folder, const char *name)
{
    char *path;
    return asprintf(&path, "%s/%s", folder, name) < 0 ? NULL : path;
}

/* One line, "NAME LABEL"; NAME may hold blanks. */
static assay_status list_line(assay_dataset *d, int64_t *room, char *line, const char *labels,
                              int number, assay_error *err)
{
    int64_t label;
    char *blank = strrchr(line, ' ');
    char *tab = strrchr(line, '\t');
    if (!blank || (tab && tab > blank))
        blank = tab;
    if (!blank || blank == line || !dataset_parse_label(blank + 1, &label))
        return assay_fail(err, ASSAY_ERR_INPUT,
                          "%s:%d: expected \"NAME LABEL\" with a label from 0, found \"%.60s\"",
                          labels, number, line);
    while (blank > line && (blank[-1] == ' ' || blank[-1] == '\t'))
        blank--;
    *blank = 0;
    char *file = join(d->path, line);
    if (file && access(file, F_OK) != 0) {
        free(file);
        return assay_fail(err, ASSAY_ERR_INPUT, "%s:%d: there is no image \"%s\" in %s", labels,
                          number, line, d->path);
    }
    return append(d, room, file, label, err);
}

static assay_status list_labels(assay_dataset *d, const char *labels, assay_error *err)
{
    char *text, *rest, *line;
    int64_t room = 0;
    int number = 0;
    assay_status status = dataset_read_text(labels, &text, err);
    rest = text;
    while (!status && (line = dataset_next_line(&rest))) {
        number++;
        if (*line && *line != '#')
            status = list_line(d, &room, line, labels, number, err);
    }
    free(text);
    return status;
}

static int compare_paths(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static assay_status list_folder(assay_dataset *d, bool (*is_sample)(const char *), assay_error *err)
{
    assay_status status = ASSAY_OK;
    const struct dirent *entry;
    int64_t room = 0;
    DIR *dir = opendir(d->path);
    if (!dir)
        return assay_fail(err, ASSAY_ERR_IO, "%s: cannot list: %s", d->path, strerror(errno));
    while (!status && (entry = readdir(dir))) {
        if (is_sample(entry->d_name))
            status = append(d, &room, join(d->path, entry->d_name), -1, err);
    }
    closedir(dir);
    if (d->files)
        qsort(d->files, (size_t)d->count, sizeof *d->files, compare_paths);
    free(d->labels);
    d->labels = NULL;
    return status;
}

/* A sample's array without the 1s that a tensor's dump has in front of an image. */
static assay_status read_array(const assay_dataset *d, int64_t i, assay_npy *a, assay_error *err)
{
    const char *path = d->files[i];
    assay_status status = is_npz_name(path)
                              ? dataset_npz_read(path, d->array ? d->array : "", a, err)
                              : text_npy_read_file(path, a, err);
    while (!status && a->rank > 3 && a->shape[0] == 1) {
        a->rank--;
        memmove(a->shape, a->shape + 1, (size_t)a->rank * sizeof a->shape[0]);
    }
    return status;
}

static assay_status take_array_type(assay_dataset *d, assay_error *err)
{
    assay_npy first;
    const assay_status status = read_array(d, 0, &first, err);
    if (status)
        return status;
    d->type = (assay_sample_type){.type = first.type, .rank = first.rank};
    memcpy(d->type.shape, first.shape, (size_t)first.rank * sizeof first.shape[0]);
    text_npy_free(&first);
    return ASSAY_OK;
}

assay_status dataset_read_array(const assay_dataset *d, int64_t i, assay_sample_type *type,
                                void **data, assay_error *err)
{
    assay_npy a;
    const assay_status status = read_array(d, i, &a, err);
    if (status)
        return status;
    *type = (assay_sample_type){.type = a.type, .rank = a.rank};
    memcpy(type->shape, a.shape, (size_t)a.rank * sizeof a.shape[0]);
    *data = a.data;
    return ASSAY_OK;
}

bool dataset_has_arrays(const assay_dataset *d)
{
    return is_npy_name(d->files[0]) || is_npz_name(d->files[0]);
}

/* The first sample says what all must be. */
assay_status dataset_take_type(assay_dataset *d, assay_error *err)
{
    assay_image first;
    if (dataset_has_arrays(d))
        return take_array_type(d, err);
    assay_status status = d->indices ? dataset_png_read_indices(d->files[0], &first, err)
                                     : dataset_png_read_file(d->files[0], &first, err);
    if (status)
        return status;
    free(first.pixels);
    d->type = (assay_sample_type){first.bytes == 2 ? ASSAY_NPY_U2 : ASSAY_NPY_U1,
                                  3,
                                  {first.height, first.width, first.channels},
                                  false};
    return ASSAY_OK;
}

assay_status dataset_open_image(assay_dataset *d, assay_error *err)
{
    int64_t room = 0;
    assay_status status = append(d, &room, strdup(d->path), -1, err);
    free(d->labels);
    d->labels = NULL;
    return status ? status : dataset_take_type(d, err);
}

assay_status dataset_open_folder(assay_dataset *d, const char *labels, assay_error *err)
{
    assay_status status;
    char *own = labels ? strdup(labels) : join(d->path, "labels.txt");
    if (!own)
        return assay_out_of_memory_for(err, "%s", d->path);
    if (labels || access(own, F_OK) == 0)
        status = list_labels(d, own, err);
    else
        status = list_folder(d, dataset_is_png_name, err);
    if (!status && d->count == 0 && access(own, F_OK) != 0)
        status = list_folder(d, is_npy_name, err);
    if (!status && d->count == 0 && access(own, F_OK) != 0)
        status = list_folder(d, is_npz_name, err);
    if (!status && d->count == 0)
        status = access(own, F_OK) == 0
                     ? assay_fail(err, ASSAY_ERR_INPUT, "%s: lists no sample", own)
                     : assay_fail(err, ASSAY_ERR_INPUT,
                                  "%s: no PNG images, and no .npy or .npz files", d->path);
    free(own);
    return status ? status : dataset_take_type(d, err);
}

bool dataset_is_npz(const char *path)
{
    bool npz = false, other = false;
    const struct dirent *entry;
    DIR *dir = opendir(path);

    if (!dir)
        return is_npz_name(path);
    while ((entry = readdir(dir))) {
        npz |= is_npz_name(entry->d_name);
        other |= is_npy_name(entry->d_name) || dataset_is_png_name(entry->d_name);
    }
    closedir(dir);
    return npz && !other;
}
