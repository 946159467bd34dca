/* Tensors stored in files beside the model. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "graph/core/slurp.h"
#include "graph/onnx/value/value.h"

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

assay_status onnx_read_external(const char *folder, const char *location, uint64_t offset,
                                uint64_t length, void *into, const char *what, assay_error *err)
{
    char *path = path_inside(folder, location);
    int file;
    size_t size;
    assay_status s = path ? assay_open_regular(path, &file, &size, NULL) : ASSAY_ERR_INPUT;

    free(path);
    if (s)
        return assay_fail(err, ASSAY_ERR_INPUT,
                          "%s: external data '%s' is not a readable file inside the model's folder",
                          what, location);
    if (offset > size || length > size - offset)
        s = assay_fail(err, ASSAY_ERR_INPUT,
                       "%s: external data '%s' has %zu bytes, bytes %llu to %llu are wanted", what,
                       location, size, (unsigned long long)offset,
                       (unsigned long long)(offset + length));
    else if (into && (lseek(file, (off_t)offset, SEEK_SET) < 0 ||
                      assay_read_whole(file, location, into, (size_t)length, NULL)))
        s = assay_fail(err, ASSAY_ERR_IO, "%s: cannot read external data '%s'", what, location);
    close(file);
    return s;
}
