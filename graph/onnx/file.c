/* Tensors stored in files beside the model. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "graph/onnx/import.h"

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
    FILE *f = path ? fopen(path, "rb") : NULL;
    struct stat st;
    assay_status s = ASSAY_OK;

    free(path);
    if (!f)
        return assay_fail(err, ASSAY_ERR_INPUT,
                          "%s: external data '%s' is not a readable file inside the model's folder",
                          what, location);
    if (fstat(fileno(f), &st) != 0 || !S_ISREG(st.st_mode))
        s = assay_fail(err, ASSAY_ERR_INPUT, "%s: external data '%s' is not a regular file", what,
                       location);
    else if (offset > (uint64_t)st.st_size || length > (uint64_t)st.st_size - offset)
        s = assay_fail(err, ASSAY_ERR_INPUT,
                       "%s: external data '%s' has %lld bytes, bytes %llu to %llu are wanted", what,
                       location, (long long)st.st_size, (unsigned long long)offset,
                       (unsigned long long)(offset + length));
    else if (into && (fseeko(f, (off_t)offset, SEEK_SET) != 0 ||
                      fread(into, 1, (size_t)length, f) != (size_t)length))
        s = assay_fail(err, ASSAY_ERR_IO, "%s: cannot read external data '%s'", what, location);
    fclose(f);
    return s;
}
