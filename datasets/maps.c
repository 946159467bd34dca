/* Labels by pixel: a map a sample, as a PNG of class numbers (of gray, or of a palette, whose
 * indices they are) or an array of integers. The maps are a data set of their own. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "datasets/internal.h"
#include "graph/memory.h"

/* ---- which file holds the labels of which sample ---- */

static bool is_folder(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* Is it an array of maps, rather than of a label a sample? */
static bool is_array_of_maps(const char *path)
{
    unsigned char head[ASSAY_NPY_MAX_HEADER];
    assay_npy_header h;
    FILE *f = fopen(path, "rb");
    if (!f)
        return false;
    const size_t n = fread(head, 1, sizeof head, f);
    fclose(f);
    return n >= 6 && memcmp(head, "\x93NUMPY", 6) == 0 &&
           !text_npy_parse_header(head, n, path, &h, NULL) && h.rank > 2;
}

bool dataset_are_label_maps(const char *labels)
{
    struct stat st;
    return stat(labels, &st) == 0 &&
           (S_ISDIR(st.st_mode) || (S_ISREG(st.st_mode) && is_array_of_maps(labels)));
}

/* The map of a sample has the name of its file, and ends in .png or .npy. */
static assay_status find_map(const char *folder, const char *sample, char **map, assay_error *err)
{
    static const char *const ends[] = {".png", ".npy"};
    const char *slash = strrchr(sample, '/'), *base = slash ? slash + 1 : sample;
    const int stem = (int)(strlen(base) - strlen(".png"));

    for (int e = 0; e < 2; e++) {
        if (asprintf(map, "%s/%.*s%s", folder, stem, base, ends[e]) < 0) {
            *map = NULL;
            return assay_out_of_memory_for(err, "%s", folder);
        }
        if (access(*map, F_OK) == 0)
            return ASSAY_OK;
        free(*map);
        *map = NULL;
    }
    return assay_fail(err, ASSAY_ERR_INPUT, "%s: no label map %.*s.png or %.*s.npy for %s", folder,
                      stem, base, stem, base, sample);
}

static assay_status list_maps(const assay_dataset *d, assay_dataset *maps, assay_error *err)
{
    assay_status status = ASSAY_OK;
    maps->files = calloc((size_t)d->count, sizeof *maps->files);
    if (!maps->files)
        return assay_out_of_memory_for(err, "%s: label maps", maps->path);
    for (int64_t i = 0; !status && i < d->count; i++, maps->count += !status)
        status = find_map(maps->path, d->files[i], &maps->files[i], err);
    return status ? status : dataset_take_type(maps, err);
}

/* ---- what a map is ---- */

/* [H,W] but for 1s; of integers. */
static assay_status check_type(assay_dataset *maps, assay_error *err)
{
    assay_sample_type *t = &maps->type;
    char text[160];
    const bool integers = t->type != ASSAY_NPY_F2 && t->type != ASSAY_NPY_F4 &&
                          t->type != ASSAY_NPY_F8 && t->type != ASSAY_NPY_BOOL;
    int first = 0, rank = t->rank;

    while (rank - first > 2 && t->shape[first] == 1)
        first++;
    while (rank - first > 2 && t->shape[rank - 1] == 1)
        rank--;
    if (!integers || rank - first != 2)
        return assay_fail(
            err, ASSAY_ERR_INPUT,
            "%s: a label map is %s; expected one class per pixel, as integers [H,W] or "
            "a gray or palette PNG",
            maps->path, dataset_sample_print(t, text, sizeof text));
    maps->map[0] = t->shape[first];
    maps->map[1] = t->shape[first + 1];
    return ASSAY_OK;
}

assay_status dataset_open_maps(assay_dataset *d, const char *labels, assay_error *err)
{
    const assay_dataset_options none = {0};
    assay_dataset *maps = d->maps = calloc(1, sizeof *maps);
    assay_status status = ASSAY_OK;

    if (maps) {
        maps->fd = -1;
        maps->indices = true;
        maps->path = strdup(labels);
    }
    if (!maps || !maps->path)
        return assay_out_of_memory_for(err, "%s", labels);
    if (!is_folder(labels))
        status = dataset_open_file(maps, &none, err);
    else if (d->files)
        status = list_maps(d, maps, err);
    else
        status = dataset_open_folder(maps, NULL, err);
    if (!status && maps->count != d->count)
        status = assay_fail(err, ASSAY_ERR_INPUT,
                            "%s: %" PRId64 " label maps for %" PRId64 " samples of %s", labels,
                            maps->count, d->count, d->path);
    return status ? status : check_type(maps, err);
}

/* ---- reading ---- */

bool dataset_map_size(const assay_dataset *d, int64_t size[2])
{
    size[0] = d->maps ? d->maps->map[0] : 0;
    size[1] = d->maps ? d->maps->map[1] : 0;
    return d->maps != NULL;
}

assay_status dataset_read_map(const assay_dataset *d, int64_t i, int64_t ignored, int64_t *label,
                              assay_error *err)
{
    const assay_dataset *maps = d->maps;
    const size_t n = dataset_sample_count(&maps->type);
    void *stored = malloc(dataset_sample_bytes(&maps->type));
    char name[300];
    assay_status status = stored ? dataset_read(maps, i, stored, err)
                                 : assay_out_of_memory_for(err, "%s", maps->path);

    for (size_t k = 0; !status && k < n; k++) {
        const double value = text_npy_get(stored, maps->type.type, k);
        if (value == (double)ignored)
            label[k] = -1;
        else if (value >= 0 && value <= INT32_MAX)
            label[k] = (int64_t)value;
        else
            status = assay_fail(err, ASSAY_ERR_INPUT,
                                "%s: the label in row %zu, column %zu is %.0f; expected 0 or more",
                                dataset_sample_name(maps, i, name, sizeof name),
                                k / (size_t)maps->map[1], k % (size_t)maps->map[1], value);
    }
    free(stored);
    return status;
}
