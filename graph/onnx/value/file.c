/* Tensors stored in files beside the model. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "graph/core/map.h"
#include "graph/core/slurp.h"
#include "graph/memory.h"
#include "graph/onnx/value/value.h"

#define MAPPED ((uint64_t)1 << 16) /* bytes from which on a tensor is not copied */

/* The canonical path of folder/location when that lies inside the folder, else NULL. */
static char *path_inside(const char *folder, const char *location)
{
    char *joined = NULL, *base = realpath(folder, NULL), *full = NULL;
    size_t n;

    if (base && location[0] != '/' && asprintf(&joined, "%s/%s", base, location) < 0)
        joined = NULL;
    if (joined)
        full = realpath(joined, NULL);
    free(joined);
    n = base ? strlen(base) : 0;
    if (n == 1)
        n = 0; /* the root folder: its path already ends in the separator */
    if (full && (strncmp(full, base, n) != 0 || full[n] != '/')) {
        free(full);
        full = NULL;
    }
    free(base);
    return full;
}

/* Opens a file of external data that has these bytes. */
static assay_status open_external(const onnx_import *im, const char *location, uint64_t offset,
                                  uint64_t length, const char *what, int *file, assay_error *err)
{
    char *path = path_inside(im->folder, location);
    size_t size;
    assay_status s = path ? assay_open_regular(path, file, &size, NULL) : ASSAY_ERR_INPUT;

    free(path);
    if (s)
        return assay_fail(err, ASSAY_ERR_INPUT,
                          "%s: external data '%s' is not a readable file inside the model's folder",
                          what, location);
    if (offset <= size && length <= size - offset)
        return ASSAY_OK;
    close(*file);
    return assay_fail(
        err, ASSAY_ERR_INPUT, "%s: external data '%s' has %zu bytes, bytes %llu to %llu are wanted",
        what, location, size, (unsigned long long)offset, (unsigned long long)(offset + length));
}

/* Large ones stay in the file, which the graph then has mapped. */
static assay_status map_external(const onnx_import *im, int file, const char *location,
                                 uint64_t offset, uint64_t length, onnx_const *out,
                                 assay_error *err)
{
    assay_map *map;
    const void *at;
    assay_status s = assay_map_part(file, location, offset, (size_t)length, &map, &at, err);

    if (s)
        return s;
    if (assay_arena_own(im->graph->arena, assay_unmap, map)) {
        assay_unmap(map);
        return assay_out_of_memory(err);
    }
    out->data = at;
    out->mapped = true;
    return ASSAY_OK;
}

static assay_status copy_external(const onnx_import *im, int file, const char *location,
                                  uint64_t offset, uint64_t length, onnx_const *out,
                                  assay_error *err)
{
    void *data = assay_arena_alloc(im->graph->arena, (size_t)length);

    out->data = data;
    if (!data)
        return assay_out_of_memory(err);
    return lseek(file, (off_t)offset, SEEK_SET) < 0
               ? assay_fail(err, ASSAY_ERR_IO, "%s: cannot be read", location)
               : assay_read_whole(file, location, data, (size_t)length, err);
}

/* Bytes beside the model count as its own do in what the import may allocate; those of a file are
 * counted up to the last one that was, so none is counted twice. */
static void count(onnx_import *im, int file, uint64_t offset, uint64_t length)
{
    const uint64_t end = offset + length;
    struct stat is;
    onnx_beside *b = im->beside;

    if (fstat(file, &is))
        return;
    while (b && (b->device != is.st_dev || b->node != is.st_ino))
        b = b->next;
    if (!b) {
        if (!(b = onnx_alloc(im, sizeof *b)))
            return;
        *b = (onnx_beside){im->beside, is.st_dev, is.st_ino, 0};
        im->beside = b;
    }
    if (end <= b->counted)
        return;
    im->left += onnx_memory_more((size_t)(end - (offset > b->counted ? offset : b->counted)));
    b->counted = end;
}

assay_status onnx_read_external(onnx_import *im, const char *location, uint64_t offset,
                                uint64_t length, const char *what, onnx_const *out,
                                assay_error *err)
{
    const uint64_t unit = onnx_dtype_packed(out->dtype) ? 1 : onnx_dtype_size(out->dtype);
    int file;
    assay_status s = open_external(im, location, offset, length, what, &file, err);

    if (s)
        return s;
    s = length >= MAPPED && offset % unit == 0
            ? map_external(im, file, location, offset, length, out, err)
            : copy_external(im, file, location, offset, length, out, err);
    if (!s)
        count(im, file, offset, length);
    close(file);
    out->lasts = !s;
    return s;
}
