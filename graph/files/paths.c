/* Names of files; where none can be; removing trees. */
#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "graph/files/files.h"

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *walk)
{
    (void)st;
    (void)kind;
    (void)walk;
    remove(path);
    return 0;
}

const char *file_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

assay_status file_no_place(const char *path, const char *verb, int cause, assay_error *err)
{
    char above[4096];
    struct stat st;
    const size_t n = (size_t)(file_base_name(path) - path);
    if (cause == ENOENT && n > 1 && n <= sizeof above) {
        snprintf(above, sizeof above, "%.*s", (int)n - 1, path);
        if (stat(above, &st) != 0)
            return assay_fail(err, ASSAY_ERR_IO, "%s: cannot %s: there is no folder '%s'", path,
                              verb, above);
    }
    return assay_fail(err, ASSAY_ERR_IO, "%s: cannot %s: %s", path, verb, strerror(cause));
}

void file_remove_tree(const char *path)
{
    nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}
