/* Reading a whole file into memory. */
#include "graph/core/slurp.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static assay_status slurp_open(FILE *f, const char *path, unsigned char **bytes, size_t *size,
                               assay_error *err)
{
    struct stat st;
    if (fstat(fileno(f), &st) != 0)
        return assay_fail(err, ASSAY_ERR_IO, "%s: %s", path, strerror(errno));
    if (!S_ISREG(st.st_mode))
        return assay_fail(err, ASSAY_ERR_IO, "%s: not a regular file", path);
    if (st.st_size > (off_t)1 << 40)
        return assay_fail(err, ASSAY_ERR_LIMIT, "%s: larger than 2^40 bytes", path);
    unsigned char *b = malloc((size_t)st.st_size + 1);
    if (!b)
        return assay_fail(err, ASSAY_ERR_MEMORY, "%s: no memory for %lld bytes", path,
                          (long long)st.st_size);
    size_t n = fread(b, 1, (size_t)st.st_size, f);
    if (n != (size_t)st.st_size) {
        free(b);
        return assay_fail(err, ASSAY_ERR_IO, "%s: read %zu of %lld bytes", path, n,
                          (long long)st.st_size);
    }
    b[n] = 0;
    *bytes = b;
    *size = n;
    return ASSAY_OK;
}

assay_status assay_slurp(const char *path, unsigned char **bytes, size_t *size, assay_error *err)
{
    *bytes = NULL;
    *size = 0;
    FILE *f = fopen(path, "rb");
    if (!f)
        return assay_fail(err, ASSAY_ERR_IO, "%s: cannot open: %s", path, strerror(errno));
    assay_status status = slurp_open(f, path, bytes, size, err);
    fclose(f);
    return status;
}
